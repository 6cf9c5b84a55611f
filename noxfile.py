"""The jobs of dp-oracle: `nox -s audit` is the main one, `nox -s tests` passes the tests, `nox -l` lists them.

The tests come in three tiers, each inside the next: `quick` before a commit, `tests`, and `thorough` at night. A test
is in all of them unless it, or one of its cases, is marked `full` (from `tests` on) or `thorough`.
"""

import os
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["tests"]
nox.options.reuse_existing_virtualenvs = True

LOCKED = bool(os.environ.get("DP_ORACLE_LOCKED"))
"""Whether the sessions install the exact versions of `requirements/` in place of the newest in pyproject's ranges."""
CONSTRAINTS = ("-c", "requirements/dev.txt" if LOCKED else "constraints.txt")
PEERS = ("-c", "requirements/peers.txt" if LOCKED else "constraints.txt")  # some of them need older libraries
BOTH = ("--quick", "--docs")  # options of accountants.py that trainings.py takes, too
REPORT, FINDINGS, AUDITS, LEAGUE = (
    Path("out") / name for name in ("report", "findings.sqlite", "shards.sqlite", "league.json")
)
KEPT = ("--findings", str(FINDINGS), "--store", str(AUDITS))  # what is there and not stale is not computed again


TIERS = {"quick": "not full and not thorough", "tests": "not thorough", "thorough": ""}


def _tier(session: nox.Session, name: str) -> None:
    """Run the tests of a tier on all cores, with its number of examples, and tell the slowest twenty."""
    session.install(*CONSTRAINTS, "-e", ".[dev]")
    chosen = ("-m", TIERS[name], "--hypothesis-profile", name)
    shared = ("-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder")  # in the order of tests/conftest.py
    words = (*shared, "-q", "--durations", "20", *chosen, *session.posargs)
    # One thread a worker: the workers share the cores. Compiled files are kept, whatever the environment says, since
    # tests start many processes, each of which would compile our modules again.
    session.run("pytest", *words, env={"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""})


@nox.session
def quick(session: nox.Session) -> None:
    """Run the quick tests, before every commit: some two minutes on two idle cores, something of every room."""
    _tier(session, "quick")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests: some nine minutes on two idle cores, all but what only the nightly run can afford."""
    _tier(session, "tests")


@nox.session
def thorough(session: nox.Session) -> None:
    """Run all tests, as every night: every generic property of every bound as well."""
    _tier(session, "thorough")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style (ruff), types (mypy strict) and the one-way dependency of the four rooms (import-linter)."""
    session.install(*CONSTRAINTS, "-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("mypy")
    session.run("lint-imports")


@nox.session
def audit(session: nox.Session) -> None:
    """The main job: a bound, every claim, the default audits, false claims, rates, planted bugs, and the report."""
    session.install(*CONSTRAINTS, ".[report]")
    session.run("dp-oracle", "bound", "gaussian.epsilon", "sigma=1", "sensitivity=1", "delta=1e-5")
    FINDINGS.unlink(missing_ok=True)  # every claim is checked, once, and the report reads what was found
    workers = ("--workers", str(os.cpu_count() or 1))
    session.run("dp-oracle", "check", "--all", *workers, "--store", str(FINDINGS))
    # Interrupted, it goes on where it was; the report reads what the audits have left, and trains nothing again.
    session.run("dp-oracle", "audit", "--all", *workers, "--store", str(AUDITS))
    session.run("dp-oracle", "false-claims", *workers, "--store", str(AUDITS))
    session.run("dp-oracle", "rates", "--all", *workers, "--store", str(AUDITS))
    session.run("dp-oracle", "mutants")
    session.run("dp-oracle", "report", "--out", str(REPORT), *workers, *KEPT, *session.posargs)


@nox.session
def gate(session: nox.Session) -> None:
    """Judge the real peer libraries and write the league table; `-- --docs` puts it into docs and report."""
    session.install(*PEERS, "-e", ".[dev,peers]")
    session.run("pytest", "-q", "-rA", "tests/peers")
    LEAGUE.parent.mkdir(exist_ok=True)
    options = [word for word in session.posargs if word != "--docs"]
    # Interrupted, it goes on where it was; what has not changed since the last run is not judged again.
    session.run(
        "dp-oracle", "league", "--workers", str(os.cpu_count() or 1), "--store", str(LEAGUE.with_suffix(".sqlite")),
        "--json", str(LEAGUE), *options,
    )
    if "--docs" in session.posargs:
        session.run("python", "benchmarks/league.py", str(LEAGUE))


@nox.session
def holes(session: nox.Session) -> None:
    """Plant holes in an accountant of every bound, and write how many the gate finds; what is measured stays."""
    session.install(*CONSTRAINTS, "-e", ".")
    pages = ("--json", "reports/holes.json", "--markdown", "reports/holes.md")
    workers = ("--workers", str(os.cpu_count() or 1))
    session.run("dp-oracle", "holes", *workers, *pages, *session.posargs)
    session.run("python", "benchmarks/holes.py", pages[1])


@nox.session
def variants(session: nox.Session) -> None:
    """Judge machine-made false variants of every claim that holds, and write how many survive (some ten minutes)."""
    session.install(*CONSTRAINTS, "-e", ".[training,theory]")
    session.run("dp-oracle", "check", "--all", "--variants", "--json", "reports/variants.json", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure speed as ratios in one run: fast paths against references, batched training, peers (takes options)."""
    session.install(*PEERS, "-e", ".[training,peers]")
    session.run("python", "benchmarks/start.py")
    session.run("python", "benchmarks/run.py")
    session.run("python", "benchmarks/accountants.py", *session.posargs)
    session.run("python", "benchmarks/trainings.py", *(word for word in session.posargs if word in BOTH))


@nox.session
def report(session: nox.Session) -> None:
    """Write the HTML and JSON report and print where it is."""
    session.install(*CONSTRAINTS, ".[report]")
    session.run("dp-oracle", "report", "--out", str(REPORT), *KEPT, *session.posargs)


@nox.session
def lock(session: nox.Session) -> None:
    """Choose the exact versions of `requirements/` anew, with pip's own resolver, from the ranges of pyproject.toml."""
    session.install("pip>=23.2")
    for name, extras in (("dev", "dev"), ("peers", "dev,peers")):
        report = Path(session.create_tmp()) / f"{name}.json"
        session.run(
            "python", "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed", "-c", "constraints.txt",
            "--report", str(report), f".[{extras}]",
        )
        files = (f"requirements/{folder}{name}.txt" for folder in ("", "hashed/"))
        session.run("python", ".ci/lock.py", str(report), *files)


@nox.session
def sbom(session: nox.Session) -> None:
    """Write the software bill of materials of a whole installation, out/sbom.json (CycloneDX)."""
    session.install(*CONSTRAINTS, ".[all]")
    Path("out").mkdir(exist_ok=True)
    session.run("python", ".ci/sbom.py", "dp-oracle", "out/sbom.json")
