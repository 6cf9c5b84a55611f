"""The checks that flag planted bugs without the tests' second opinions: each plants a bug, looks, and tells.

An audit has error probability 5 % for a false alarm on what is equivalent (fixed seed); an auditor that claims too much
is caught by counting how often its bound exceeds the truth of exactly known pairs (`coverage`; false alarm probability
1e-6), others by what they make of scores that are no numbers and of a leak whose binomial limit is known.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from empirical.audits import one_run
from empirical.audits.audit import run
from empirical.audits.audit_plan import AuditPlan
from empirical.audits.campaigns import DEFAULT
from empirical.audits.foreign.releases import as_numbers, check_releases
from empirical.audits.targets import Array
from empirical.estimators.coverage import Coverage, Leak, allowed, coverage, power
from empirical.gate import gate_run, vector_files
from empirical.gate.gate_targets import LocalTarget
from empirical.gate.making.points import Point, fixed_points
from empirical.mutants.mutant import Check, Detection, Mutant
from oracle.core.algorithm import Values
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import OracleError
from oracle.core.registry import Bound, algorithm, bound
from oracle.core.tape import Tape

TWINS = 1e-9
"""How far apart the twins may be, relative."""

_DELTA = 1e-3
_LEAST_POWER = 0.5
_NOISE_OF_FLOATS = Fraction(1, 10**9)
POINTS = 12


@dataclass(frozen=True)
class Planted:
    """The algorithm of a plan with a wrong training in its place, `train(features, labels, config, tape)`: a target."""

    plan: AuditPlan
    train: Callable[..., Any]

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return str(self.plan.target["name"])

    def spec(self) -> dict[str, Any]:
        """The algorithm's own: that is what the bug pretends to be."""
        return dict(self.plan.target)

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """What the wrong training releases."""
        config = algorithm(self.name).parse(self.plan.target["config"])
        released = as_numbers(self.train(features, labels, config, tape))
        check_releases(self.name, released, models=tape.models, entry_shape=None)
        return released


def audited(name: str, *, config: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, AuditPlan]:
    """Where an audit looks: a default audit with other parts of its plan, and of its algorithm's configuration."""
    plan = DEFAULT[name]
    target = {**plan.target, "config": {**plan.target["config"], **(config or {})}}
    return {"plan": replace(plan, target=target, **changes)}


def _audited(item: Mutant) -> Detection:
    """An audit at the epsilon that the plan claims."""
    with item.planted() as wrong:
        result = run(item.at["plan"], target=Planted(item.at["plan"], getattr(wrong, "train_batched", wrong)))
    return Detection(result.verdict == "VIOLATION", f"audit: {result.reason}")


@dataclass(frozen=True, eq=False)
class Setting:
    """Where the twins of an algorithm are compared."""

    values: Values
    data: tuple[Any, Any]
    tape: Tape


def _literal(name: str, setting: Setting) -> list[Any]:
    """What the literal reference releases, model by model."""
    train, models = algorithm(name).reference, range(setting.tape.models)
    if train is None:
        raise OracleError(f"algorithm {name} is planned only: it has no twins to compare")
    return [train(*setting.data, setting.values, setting.tape.one(model)) for model in models]


_honest_literal = functools.cache(_literal)


def disagreement(together: Any, alone: Sequence[Any]) -> str:
    """Where the models of a batched training are not those of the literal one; empty if they agree."""
    releases = np.asarray(together)
    for model, literal in enumerate(map(np.asarray, alone)):
        if releases.shape != (len(alone), *literal.shape):
            return f"{releases.shape} is not {len(alone)} of {literal.shape}"
        if not float(np.linalg.norm(releases[model] - literal)) <= TWINS * float(np.linalg.norm(literal)):
            return f"model {model}: {releases[model]} is not {literal}"
    return ""


def _twins(item: Mutant) -> Detection:
    """The agreement of the twins; the literal results are computed once, before the bug, unless it is in them."""
    setting = item.at["setting"]
    shared = item.changes.what in ("reference", "both twins")
    kept = None if shared else _honest_literal(item.of, setting)
    with item.planted() as wrong:
        alone = _literal(item.of, setting) if kept is None else kept
        together = getattr(wrong, "train_batched", wrong)(*setting.data, setting.values, setting.tape)
        found = disagreement(together, alone)
    return Detection(bool(found), found or "the twins agree")


def _answers(wrong: Any) -> Callable[..., Any]:
    """A bound's fast path as an accountant, or the accountant that stands in its place."""
    return (lambda **given: float(wrong.fast(**given))) if isinstance(wrong, Bound) else wrong


@functools.cache
def _points(name: str) -> list[Point]:
    """The points at which a bound is judged."""
    return list(fixed_points(bound(name), POINTS, seed=1))


@functools.cache
def _truth(name: str, number: int) -> Enclosure:
    """The certified truth at one of these points, for all the bugs of a bound."""
    return bound(name).reference(**_points(name)[number])


def _safe_side(item: Mutant) -> Detection:
    """What a bound certifies, or an accountant says, against the truth: whether it is ever on the unsafe side."""
    given = item.at.get("points")
    for number, point in enumerate(_points(item.of) if given is None else given):
        truth = _truth(item.of, number) if given is None else bound(item.of).reference(**point)
        with item.planted() as wrong:
            said = wrong.reference(**point) if isinstance(wrong, Bound) else _about(wrong(**point))
        if not (truth.possibly_le(said) if bound(item.of).safe == "upper" else said.possibly_le(truth)):
            at = ", ".join(f"{name} {value}" for name, value in point.items())
            return Detection(True, f"says {said}, certified is {truth}, at {at}")
    return Detection(False, "never on the unsafe side of the truth")


def _about(value: float) -> Enclosure:
    """A float, give or take the rounding of a formula in floats."""
    low, high = (ball(Fraction(value) * (1 + sign * _NOISE_OF_FLOATS)) for sign in (-1, 1))
    return Enclosure.between(low, high)


def _gated(item: Mutant, *, search: int) -> Detection:
    """An accountant held to the shipped vectors of its bound (those that `cases` chooses), or to the search alone."""
    chosen = item.at.get("cases", lambda case: True)
    cases = [] if search else [case for case in vector_files.load(item.of).cases if chosen(case)]
    with item.planted() as wrong:
        result = gate_run.run(
            LocalTarget(_answers(wrong), item.of), bound(item.of), cases, search=search, search_seconds=math.inf
        )
    seen = sorted({outcome.judgement.verdict.value for outcome in result.failures})
    wanted = item.at.get("verdict")
    return Detection(wanted in seen if wanted else bool(seen), ", ".join(seen) or "no failure")


def judge_coverage(
    estimate: Callable[..., Any], pair: Any, *, delta: float = _DELTA, repetitions: int = 300, judged: int = 400
) -> Detection:
    """Flag an estimator whose bound exceeds the truth too often, at confidence 0.5, which shows it best."""
    found = coverage(estimate, pair, delta=delta, confidence=0.5, repetitions=repetitions, judged=judged)
    return Detection(not found.valid, f"{pair.name} at confidence 0.5: {found}")


def judge_failure(estimate: Callable[..., Any]) -> Detection:
    """Flag an estimator that makes an epsilon out of scores that are no numbers."""
    good, bad = np.linspace(0.0, 1.0, 100), np.full(100, np.nan)
    try:
        found = estimate((good, good), (good, bad), delta=_DELTA, confidence=0.95)
    except OracleError as error:
        return Detection(False, f"refused: {error}")
    return Detection(True, f"scores that are no numbers gave epsilon >= {found.epsilon:g}")


def judge_power(estimate: Callable[..., Any]) -> Detection:
    """Flag an estimator that does not see a leak of ten times delta, though the best threshold certifies it."""
    share = power(estimate, Leak(10 * _DELTA), delta=_DELTA, confidence=0.95, models=20_000)
    return Detection(share < _LEAST_POWER, f"a leak with probability 10 delta: {share:.2f} of the binomial limit")


def _estimated(item: Mutant, judge: Callable[..., Detection], **how: Any) -> Detection:
    with item.planted() as wrong:
        return judge(getattr(wrong, "estimate", wrong), **how)


def fair_coins(rng: np.random.Generator, canaries: int) -> Array:
    """A coin for each canary: what the theorem on one run needs."""
    return rng.integers(0, 2, canaries).astype(np.float64)


def one_run_coverage(
    coins: Callable[[np.random.Generator, int], Array] = fair_coins, *, repetitions: int = 200, canaries: int = 100,
    seed: int = 0,
) -> Coverage:
    """Audits in one run of noisy sums, one for each ten canaries, with Laplace noise 1: the mechanism is 1-DP."""
    rng = np.random.default_rng(seed)
    failures = 0
    for _ in range(repetitions):
        included = coins(rng, canaries)
        sums = included.reshape(-1, 10).sum(axis=1) + rng.laplace(size=canaries // 10)
        found = one_run.judge_guesses(
            np.repeat(sums, 10), included, guesses=canaries // 2, delta=0.0, confidence=0.95
        )
        failures += found.epsilon > 1.0
    return Coverage(failures, allowed(repetitions, 0.05), repetitions)


def _one_run(item: Mutant) -> Detection:
    with item.planted() as wrong:
        found = one_run_coverage(wrong if callable(wrong) else fair_coins)
    return Detection(not found.valid, f"one run of a 1-DP sum of ten canaries: {found}")


audit = Check("audit", _audited, ("plan",))
twins = Check("twins", _twins, ("setting",))
safe_side = Check("safe side", _safe_side, ("points",))
vectors = Check("vectors", functools.partial(_gated, search=0), ("cases", "verdict"))
search = Check("search", lambda item: _gated(item, search=item.at.get("search", 100)), ("search", "verdict"))
covers = Check(
    "coverage", lambda item: _estimated(item, judge_coverage, **item.at["known"]), ("known",)
)
refuses = Check("scores that are no numbers", lambda item: _estimated(item, judge_failure))
sees = Check("rare leak", lambda item: _estimated(item, judge_power))
one_run_covers = Check("coverage of one run", _one_run)
