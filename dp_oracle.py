"""dp-oracle for its users: everything that is public under one name, the command, and the pytest plugin.

    import dp_oracle
    dp_oracle.bound("gaussian.epsilon").reference(sigma=1, sensitivity=1, delta="1e-5")

`bound` and `bounds` are certified values, `compose` those of any sequence of mechanisms; `algorithm`, `algorithms` and
`plan` are trainings, and what is proved of a configuration; `audit` is what runs of a training show; `claims` are those
of papers, and `check` checks one. What is refused is an `OracleError`. `conformance` holds a library to a bound, one
test for every certified case:

    from mylib import epsilon
    test_epsilon = dp_oracle.conformance("gaussian.epsilon", epsilon, slack=1.05, xfail="dp-oracle-xfail.toml")

or, where the names or the order of the arguments differ,

    @pytest.mark.dp_oracle(bound="gaussian.epsilon", slack=1.05)
    def test_epsilon(sigma, sensitivity, delta):
        return mylib.epsilon(noise=sigma, delta=delta, clip=sensitivity)

pytest loads this module in every run in whose environment dp-oracle is installed, so that it imports nothing but the
standard library; what a name stands for is loaded when it is asked for.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from empirical.audits.audited import audit as audit
    from empirical.gate.suite import conformance as conformance
    from oracle.core.errors import OracleError as OracleError
    from oracle.core.planning.planned import plan as plan
    from oracle.core.registry import algorithm as algorithm
    from oracle.core.registry import algorithms as algorithms
    from oracle.core.registry import bound as bound
    from oracle.core.registry import bounds as bounds
    from oracle.engines.composed_pairs import compose as compose
    from theorems.claim import check as check
    from theorems.claim import claims as claims

    __version__: str

__all__ = [
    "OracleError", "__version__", "algorithm", "algorithms", "audit", "bound", "bounds", "check", "claims", "compose",
    "conformance", "plan",
]
_HOMES = {
    "OracleError": "oracle.core.errors",
    "algorithm": "oracle.core.registry", "algorithms": "oracle.core.registry", "audit": "empirical.audits.audited",
    "bound": "oracle.core.registry", "bounds": "oracle.core.registry", "check": "theorems.claim",
    "claims": "theorems.claim", "compose": "oracle.engines.composed_pairs", "conformance": "empirical.gate.suite",
    "plan": "oracle.core.planning.planned",
}
_BAD_USAGE, _BROKEN, _INTERRUPTED = 2, 70, 130  # as `oracle.running.console` has them, which takes time to load


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib import metadata

        return metadata.version("dp-oracle")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_loaded(_HOMES[name]), name)


def __dir__() -> list[str]:
    # pytest looks for fixtures in everything that a plugin lists, which would load all there is in anybody's tests.
    return sorted({*globals(), *(() if _sessions else __all__)})


@functools.cache
def _placed(name: str) -> ModuleType:
    """A module of `oracle/core`, found by its place: a user's own package may have the name of one of ours."""
    place = Path(__file__).resolve().parent / "oracle" / "core" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"dp_oracle_{name}", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _loaded(module: str) -> ModuleType:
    """A module of ours; where a user's package has the name of one that it needs, one line says so."""
    rooms = _placed("rooms")
    for room in rooms.ROOMS[: rooms.ROOMS.index(module.partition(".")[0]) + 1]:
        theirs = rooms.hidden_by(room)
        if theirs is not None:
            if module == _HOMES["OracleError"]:
                return _placed("errors")  # so that whoever has both can name what is raised below
            if _sessions:
                import pytest

                raise pytest.Collector.CollectError(f"dp-oracle: {rooms.complaint(room, theirs)}")
            # `oracle` may be theirs, or ours with another room hidden: then this is what OracleError is.
            errors = _loaded(_HOMES["OracleError"])
            raise errors.NameTakenError(rooms.complaint(room, theirs), name=room, path=theirs)
    with importlib.import_module("oracle.core.extras").told():
        return importlib.import_module(module)


def main() -> None:
    """The dp-oracle command; modules take a second or two to load, and Ctrl-C is no failure then either."""
    rooms = _placed("rooms")
    rooms.ours_first()
    for room in rooms.ROOMS:
        theirs = rooms.hidden_by(room)
        if theirs is not None:  # it is loaded already
            print(f"error: {rooms.complaint(room, theirs)}", file=sys.stderr)
            sys.exit(_BAD_USAGE)
    try:
        from reports.cli import main as command
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(_INTERRUPTED)
    except Exception as error:  # a broken installation: nothing of ours can tell it, and it must be no verdict's code
        what = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"error: dp-oracle cannot be loaded, and there is no verdict: {ascii(what)[1:-1]}", file=sys.stderr)
        sys.exit(_BROKEN)
    command()


MARKER = "dp_oracle"
_BUDGET = "--dp-oracle-budget"
_SUITE = _HOMES["conformance"]


@dataclass(frozen=True)
class Session:
    """What a run of pytest says to all its tests: where it is rooted, and how many cases a bound it wants."""

    root: Path
    budget: int | None = None


_sessions: list[Session] = []  # the last is the running one: a test of a plugin runs pytest inside pytest


def session() -> Session:
    """The running session; without the plugin, one in the current folder that has no budget."""
    return _sessions[-1] if _sessions else Session(Path.cwd())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the one option."""
    parser.getgroup("dp-oracle").addoption(
        _BUDGET, metavar="N", type=_count,
        help="ask at most N cases a bound, of all kinds; beyond the vectors there are, the rest is searched",
    )


def _count(text: str) -> int:
    """A whole number from 1 on; argparse turns the ValueError into a usage error."""
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


_count.__name__ = "budget (an integer >= 1)"  # what argparse says it expected


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and remember the session for `conformance`, which is called while modules are imported."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(bound, slack=None, xfail=None, unsupported=None, rounding=None, ...): one test a certified case "
        "of a bound; what the function returns, or the ValueError or TypeError that it raises, is judged",
    )
    _sessions.append(Session(config.rootpath, config.getoption(_BUDGET)))


def pytest_unconfigure() -> None:
    """Forget the session."""
    _sessions.pop()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test a case of a marked function."""
    if metafunc.definition.get_closest_marker(MARKER) is not None:
        _loaded(_SUITE).generate(metafunc)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a marked test that got no case (a method of unittest.TestCase): it would pass without being judged."""
    if item.get_closest_marker(MARKER) is not None:
        _loaded(_SUITE).subject(item)


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Judge what a marked function returns."""
    if pyfuncitem.get_closest_marker(MARKER) is None:
        return None
    _loaded(_SUITE).call(pyfuncitem)
    return True


if __name__ == "__main__":
    main()
