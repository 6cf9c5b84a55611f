"""Bugs in accountants, which the gate must catch by vectors and by search; and bugs in the gate, for its own tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from scipy.special import log_ndtr

from empirical.gate.making.cases import Case
from empirical.gate.verdicts import GateVerdict
from empirical.mutants.changes import accountant, code
from empirical.mutants.checks import vectors
from empirical.mutants.mutant import SLIP, Mutant
from oracle import bound
from tests.gate import test_gate_run as run_tests
from tests.gate import test_gate_search as search_tests
from tests.gate import test_gate_targets as target_tests
from tests.gate_targets import BUGS, correct
from tests.planted import seen

NOT_SEARCHED = {"accepts negative", "accepts NaN", "refuses the large"}  # the search looks for wrong numbers
SEVERITIES = {"1e-9 too small": "N", "NaN": "U", "crashes": "U", "refuses the large": "U"}
MIXED = "relation mixed up"
OTHER = {"add_remove": "replace", "replace": "add_remove"}


def quick(case: Case) -> bool:
    """Whether our accountant answers in a tenth of a second: not a tiny noise, and not an extreme of anything."""
    return case.valid and case.input["sigma"] in ("1", "5", "15") and case.input["sampling_rate"] in (
        "0.01", "0.016666666666666666", "1", "0"
    )


def fast(*, unit: str = "epsilon", **given: Any) -> float:
    return float(bound(f"poisson-gaussian.{unit}").fast(**given))


def gaussian_delta(*, sigma: Any, sensitivity: Any, epsilon: Any) -> float:
    """Phi(m/2 - epsilon/m) - e^epsilon Phi(-m/2 - epsilon/m), by logarithms, a little above the truth."""
    if not (0 < sigma < math.inf and 0 < sensitivity < math.inf and 0 <= epsilon < math.inf):
        raise ValueError(f"sigma = {sigma}, sensitivity = {sensitivity}, epsilon = {epsilon}")
    ratio = sensitivity / sigma
    first = float(log_ndtr(ratio / 2 - epsilon / ratio))
    second = epsilon + float(log_ndtr(-ratio / 2 - epsilon / ratio))
    difference = -math.expm1(min(0.0, second - first))
    # The subtraction loses digits where the two are close, and the logarithms where they are large.
    error = 1e-14 * (1 + abs(first) + abs(second) + epsilon)
    return min(1.0, math.exp(first) * (difference + error))


def mixed(*, neighbours: str, **given: Any) -> float:
    return fast(neighbours=OTHER.get(neighbours, neighbours), **given)


FOR_THE_NIGHT = "delta * 10, searched for"
SAMPLED: dict[str, Callable[..., Any]] = {
    MIXED: mixed,
    "off by one in steps": lambda *, steps, **given: fast(steps=max(0, steps - 1), **given),
    "delta * 10": lambda *, delta, **given: fast(delta=min(10 * delta, 0.999) if delta < 1 else delta, **given),
    "half of the sampling rate": lambda *, sampling_rate, **given: fast(sampling_rate=sampling_rate / 2, **given),
}
ACCOUNTANTS = (
    *(
        Mutant(
            "laplace.delta", title, accountant(wrong), severity=SEVERITIES.get(title, "C"), origin=SLIP,
            caught_by=("vectors",) if title in NOT_SEARCHED else ("vectors", "search"),
        )
        for title, wrong in BUGS.items()
    ),
    *(
        Mutant(
            "poisson-gaussian.epsilon", title, accountant(wrong), severity="C", origin=SLIP, caught_by=("vectors",),
            at={"cases": quick, "verdict": "UNSOUND"},
        )
        for title, wrong in SAMPLED.items()
    ),
    # A search for a wrong epsilon takes most of a minute: one is for the night; divergences are searched by day.
    Mutant(
        "poisson-gaussian.epsilon", FOR_THE_NIGHT, accountant(SAMPLED["delta * 10"]), severity="C", origin=SLIP,
        caught_by=("search",), at={"search": 10, "verdict": "UNSOUND"},
    ),
    *(
        Mutant(
            "poisson-gaussian.rdp", title, accountant(partial(SAMPLED[title], unit="rdp")), severity="C", origin=SLIP,
            caught_by=("search",), at={"search": 10, "verdict": "UNSOUND"},
        )
        for title in (MIXED, "off by one in steps", "half of the sampling rate")
    ),
)


def the_smallest_bug_is_caught() -> None:
    assert vectors.run(ACCOUNTANTS[0]).flagged


def settled(wrong: Callable[[Any], bool]) -> Callable[[Any], Any]:
    """Outcomes that are good where `wrong` says so, too."""

    def planted(honest: Any) -> Any:
        def lenient(*args: Any, **options: Any) -> Any:
            outcome = honest(*args, **options)
            return replace(outcome, good=outcome.good or wrong(outcome))

        return lenient

    return planted


RUN, SEARCH = "empirical.gate.gate_run", "empirical.gate.worst_case"

MUTANTS = (
    *ACCOUNTANTS,
    *(
        Mutant(
            name, "a correct implementation in floats", accountant(right), severity="E",
            origin="planted to catch false alarms", spared_by=("vectors", "search"),
        )
        for name, right in (("laplace.delta", correct), ("gaussian.delta", gaussian_delta))
    ),
    seen(
        RUN, "too much forgiven", code("machinery", {
            "empirical.gate.policy:judge":
                lambda honest: lambda *a, **k: honest(*a, **{**k, "rounding": Fraction(1, 10**6)}),
        }), the_smallest_bug_is_caught,
    ),
    seen(
        RUN, "an expected failure that excuses a pass",
        code("machinery", {f"{RUN}:settled": settled(lambda outcome: outcome.expected_failure is not None)}),
        run_tests.test_an_expected_failure_that_passes_is_a_failure_that_names_the_line,
        run_tests.test_another_failure_than_the_expected_one_fails,
    ),
    seen(
        RUN, "an entry that names nothing taken for fine",
        code("machinery", {"empirical.gate.xfail:Xfails.of_cases": lambda honest: lambda *_: {}}),
        partial(
            run_tests.test_an_entry_that_names_nothing_is_an_error, entry="verdict = 'UNSOUND'\ncases = [1, 99]",
            words="names no case",
        ),
    ),
    seen(
        RUN, "silence taken for a pass", code("machinery", {f"{RUN}:_silent": lambda honest: lambda _: ""}),
        run_tests.test_a_target_that_never_answers_is_no_pass,
    ),
    seen(
        RUN, "every refusal taken for unsupported",
        code(
            "machinery", {f"{RUN}:settled": settled(lambda outcome: outcome.judgement.verdict is GateVerdict.REFUSED)},
        ),
        run_tests.test_an_unsupported_word_is_reported_and_excused,
    ),
    seen(
        SEARCH, "a search that does not climb", code("machinery", {f"{SEARCH}:_climb": lambda honest: lambda *_: None}),
        partial(search_tests.test_the_search_climbs, 0),
    ),
    seen(
        SEARCH, "a search that does not shrink",
        code("machinery", {f"{SEARCH}:shrink": lambda honest: lambda worst, *_, **__: worst}),
        partial(search_tests.test_a_bug_in_a_small_region_is_found_and_shrunk, 0),
    ),
    seen(
        SEARCH, "what cannot be certified counted as judged", code("machinery", {
            f"{SEARCH}:Suspicion.examine": lambda honest: lambda self, _: setattr(self.counts, "judged", 60),
        }), search_tests.test_what_cannot_be_certified_is_counted_and_never_passes,
    ),
    seen(
        "empirical.gate.gate_targets", "a crash taken for a refusal", code("machinery", {
            "empirical.gate.gate_targets:Breakdown": lambda honest: lambda verdict, why, **_: target_tests.Refusal(why),
        }), partial(target_tests.test_a_hostile_call_loses_its_case_only, "aborts"),
    ),
)
