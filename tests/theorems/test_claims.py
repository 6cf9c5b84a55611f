"""The claims: every verdict as established, findings that explain themselves, and the command around them."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from oracle.registry import bounds
from theorems.claim import Evidence, Verdict, check, claim, claims
from theorems.classical_gaussian import proved_up_to, true_delta
from theorems.relu_approx.gdp import hockey_stick_integral
from theorems.shift_programme import convex_minorant, exact_linear, optimum, touched_steps


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "reports.cli", *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", list(claims()))
def test_verdict_is_as_established(name: str) -> None:
    checked = check(claim(name))
    assert checked.as_expected, f"{name}: {checked.finding}"
    assert checked.finding.summary
    if checked.finding.verdict is Verdict.REFUTED:
        assert checked.finding.witness
        assert claim(name).repaired_by is not None


@pytest.mark.parametrize("name", [name for name, item in claims().items() if item.repaired_by])
def test_repair_holds(name: str) -> None:
    repaired = claim(name).repaired_by
    assert repaired is not None
    finding = check(claim(repaired)).finding
    assert finding.verdict is Verdict.HOLDS
    assert finding.evidence is not Evidence.CITED


def test_only_the_background_lemma_is_cited() -> None:
    cited = [name for name, item in claims().items() if check(item).finding.evidence is Evidence.CITED]
    assert cited == ["background/shifted-interpolation"]


def test_sources_of_bounds_that_name_a_registered_paper_section_are_claims() -> None:
    # A bound's source may be a claim still to be written; what it must not do is name a paper that does not exist.
    papers = {"relu-approx", "sbcd", "nonconvex-nn", "glmtron", "cs208", "background"}
    assert {item.paper for item in claims().values()} <= papers
    for item in bounds().values():
        assert item.source
        for source in item.source:
            assert source.split("/")[0] in papers


def test_classical_calibration_against_known_crossings() -> None:
    # By bisection in mpmath the first failing epsilon at delta = 1e-5 is 8.41977...
    for epsilon, fails in ((Fraction("8.419"), False), (Fraction("8.42"), True)):
        actual = true_delta(epsilon, Fraction(1, 10**5), Fraction(5, 4))
        assert (not actual.possibly_le(Fraction(1, 10**5))) is fails


def test_one_inequality_proof_has_a_range() -> None:
    assert proved_up_to(Fraction(1), Fraction(5, 4))
    assert not proved_up_to(Fraction(3), Fraction(5, 4))
    assert not proved_up_to(Fraction(1), Fraction(1))


def test_quadrature_encloses_a_known_value() -> None:
    # delta(0) at mu = 1 is 2 Phi(1/2) - 1 = 0.38292492254802620728...
    enclosure = hockey_stick_integral(Fraction(1), Fraction(0))
    assert enclosure.width() < 1e-20
    assert enclosure.certainly_le(Fraction("0.3829249225480262073"))
    assert Fraction("0.3829249225480262072") < enclosure.lower.to_fraction()


def test_convex_minorant_of_a_known_set() -> None:
    points = [(Fraction(x), Fraction(y)) for x, y in ((0, 0), (1, 3), (2, 1), (3, 4), (4, 4))]
    assert convex_minorant(points) == [points[0], points[2], points[4]]


def test_programme_optimum_is_feasible_and_no_grid_point_beats_it() -> None:
    # Two steps, both touched, c = 1/2: minimise a1^2 + a2^2 with a1 <= 1 and a1/2 + a2 = 3/2; optimum 9/5.
    best = optimum(Fraction(1, 2), [1, 1])
    assert best == Fraction(9, 5)
    grid = [Fraction(i, 100) for i in range(101)]
    assert min(a**2 + (Fraction(3, 2) - a / 2) ** 2 for a in grid) == best
    assert exact_linear(Fraction(1, 2), [1, 1]) == best


def test_touched_steps() -> None:
    assert touched_steps(batches=3, epochs=2, position=2) == [0, 1, 0, 0, 1, 0]


def test_check_command_writes_json_and_exits_0(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "findings.json"
    done = command("check", "relu-approx/lem-3.2", "relu-approx/lem-3.2-repaired", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "REFUTED" in done.stdout
    assert "2 of 2 verdicts as expected" in done.stdout
    rows = json.loads(file.read_text())
    assert [row["id"] for row in rows] == ["relu-approx/lem-3.2", "relu-approx/lem-3.2-repaired"]
    for row in rows:
        assert {"id", "verdict", "expected", "evidence", "witness", "repaired_by"} <= set(row)
    assert rows[0]["repaired_by"] == "relu-approx/lem-3.2-repaired"
    assert rows[0]["witness"]["largest curvature"] == "3"


@pytest.mark.parametrize(
    "words",
    [("check",), ("check", "no/such"), ("check", "--all", "relu-approx/lem-3.2"), ("claims", "--paper", "none"),
     ("check", "relu-approx/lem-3.2", "--json", "/proc/none/x.json")],
)
def test_bad_usage_exits_2_with_one_line(words: tuple[str, ...]) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_claims_command_lists_every_claim() -> None:
    rows = json.loads(command("claims", "--json").stdout)
    assert [row["id"] for row in rows] == list(claims())
    table = command("claims", "--paper", "cs208").stdout
    assert "cs208/gaussian-mechanism" in table
    assert "relu-approx" not in table
