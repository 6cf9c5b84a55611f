"""An audit: train many models on two neighbouring data sets, attack what is released, and judge the claimed epsilon.

The verdict is VIOLATION when the lower confidence bound exceeds the claim, CONSISTENT when it does not, and INVALID,
with the reason, when the target gives nothing that can be judged. An error is an error: it never becomes epsilon = 0.
Every draw comes from counter-based streams (`tape`), so a plan gives the same result bit for bit, wherever and
in how many sittings it is carried out.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from empirical.attacks.attacks import LINEAR, choose
from empirical.audits.audit_plan import DELTA, EPSILON, AuditPlan
from empirical.audits.campaign import Campaign, Progress, Scores
from empirical.audits.compute import Elsewhere, Here, one_thread
from empirical.audits.plan_code import code_of
from empirical.audits.shard_store import Shards
from empirical.audits.targets import Array, AuditTarget, make_target
from empirical.audits.trial import check_variation, try_out
from empirical.estimators.estimators import ESTIMATORS, Estimate, Estimator
from empirical.estimators.limits import binomial_limit
from empirical.pairs.pair import Pair, builders, make_pair
from oracle.core import planning
from oracle.core.algorithm import Algorithm, Values
from oracle.core.domain import Number
from oracle.core.errors import DomainError, TargetError
from oracle.core.plain import by_fields
from oracle.core.registry import algorithm, named
from oracle.core.tape import Tape
from oracle.running.places import PATIENCE, place_for

SEQUENTIAL = "sequential"


@dataclass(frozen=True)
class Audit:
    """The result of an audit: a lower confidence bound beside the claimed, the proved and the exact epsilon.

    `exact` is the true epsilon of this pair and `limit` what its best test, known in advance, would certify with as
    many models; both are None where the law is not known. `models` are those used on each side, selection included.
    """

    plan: AuditPlan
    verdict: str
    reason: str
    epsilon_lower: float | None
    claimed: float
    proved: tuple[str, str] | None
    exact: tuple[str, str] | None
    limit: float | None
    attack: str | None
    threshold: float | None
    models: int | None
    tightness: float | None

    def to_json(self) -> dict[str, Any]:
        """The stable JSON object of `dp-oracle audit`."""
        found = by_fields(self)
        return {"plan": found.pop("plan"), "plan_hash": self.plan.hash(), **found}


def run(
    plan: AuditPlan, *, store: Path | None = None, workers: int = 1, cluster: str | None = None,
    patience: Number = PATIENCE, progress: Progress = lambda _: None, target: AuditTarget | None = None,
) -> Audit:
    """Carry out a plan: here, in worker processes, or on the Dask cluster of an address.

    With a store, finished shards are kept there and never trained again. `target` takes the place of the plan's own
    (that is how bugs are planted); it is no part of the plan, so nothing is stored and all is trained here.
    """
    if target is not None and (store is not None or cluster is not None or workers != 1):
        raise DomainError(f"target = {target.name} is planted: it takes no store, one worker and no cluster")
    described = make_target(plan.target)
    with one_thread(described):
        pair = make_pair(plan.pair, described)
    judge = _estimator(plan, pair)
    known = _known(plan, pair)
    proved = None if known is None or known.best is None else known.best.epsilon
    claim = _claim(plan, known)
    truth = None if pair.law is None else pair.law.epsilon(plan.delta)
    trainee = described if target is None else target
    found: _Found | None = None
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(one_thread(trainee))
            here = stack.enter_context(Here(trainee, pair))
            shape = try_out(trainee, pair.features, pair.labels, seed=plan.seed)
            kept = None if store is None else stack.enter_context(Shards(store))
            workshop = here if workers == 1 and cluster is None else stack.enter_context(
                Elsewhere(place_for(
                    workers=workers, cluster=cluster, items=len(plan.shards("evaluation")), patience=patience
                ))
            )
            if kept is not None:
                kept.register(plan)
            # That of a foreign program is of all our code, which takes seconds to read; nobody asks for it here.
            code = "" if kept is None and workshop is here else code_of(plan)
            campaign = Campaign(plan, workshop, kept, progress, code)
            found = _found(campaign, judge, pair, shape, claim)
    except TargetError as error:
        verdict, reason = "INVALID", str(error)
    else:
        verdict = "VIOLATION" if found.estimate.epsilon > claim else "CONSISTENT"
        sure = "confidence" if judge.guarantee == "confidence" else "credible probability"
        reason = (
            f"epsilon >= {found.estimate.epsilon:.4f} with {sure} {plan.confidence:g}, claimed {float(claim):.4f}"
        )
    lower, law = None if found is None else found.estimate.epsilon, pair.law
    return Audit(
        plan=plan, verdict=verdict, reason=reason, epsilon_lower=lower, claimed=float(claim),
        proved=None if proved is None else proved.to_decimals(),
        exact=None if truth is None else truth.to_decimals(),
        limit=None if law is None else binomial_limit(
            law, models=plan.budget, delta=_delta(plan), confidence=plan.confidence
        ),
        attack=None if found is None else found.attack,
        threshold=None if found is None else found.estimate.threshold,
        models=None if found is None else found.models,
        tightness=None if lower is None or claim == 0 else lower / float(claim),
    )


class _Lost:
    """In place of a target whose training cannot be finished: why it has released nothing."""

    name = "the target"

    def __init__(self, why: str) -> None:
        self._why = why

    def spec(self) -> dict[str, Any]:
        """It can be made nowhere else."""
        return {}

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """Nothing."""
        raise TargetError(self._why)


def lost(plan: AuditPlan, why: str) -> Audit:
    """The audit of a plan whose training could not be finished: INVALID, for that reason."""
    return run(plan, target=_Lost(why))


def _delta(plan: AuditPlan) -> float:
    """The least double that is not below delta: epsilon falls in delta, so a bound at a larger one is a bound."""
    value = DELTA.rational(plan.delta)
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, 1.0)


@dataclass(frozen=True)
class _Found:
    """What a campaign found: the estimate, the attack it was made with, and the models used on each side."""

    estimate: Estimate
    attack: str
    models: int


def _found(
    campaign: Campaign, judge: Estimator, pair: Pair, shape: tuple[int, ...], claim: Fraction
) -> _Found:
    """Choose an attack on the selection models, score the others, and estimate."""
    plan = campaign.plan
    levels: dict[str, Any] = {"delta": _delta(plan), "confidence": plan.confidence}
    releases = campaign.selection(shape)
    check_variation("the target", *releases)
    merit = (lambda *scores: judge.estimate(scores, scores, **levels).epsilon) if judge.gaussian_only else None
    score = choose(*releases, pair, attacks=_attacks(plan, judge), merit=merit, **levels)
    held = (score(releases[0]), score(releases[1]))

    def estimate(judged: Scores) -> Estimate:
        return judge.estimate(held, judged, **levels)

    enough = (lambda lower: lower > claim) if judge.name == SEQUENTIAL else None
    judged = campaign.evaluation(shape, score, lambda scores: estimate(scores).epsilon, enough)
    return _Found(estimate(judged), score.attack, plan.selection + len(judged[0]))


def _attacks(plan: AuditPlan, judge: Estimator) -> tuple[str, ...]:
    """The plan's attacks whose scores the estimator may read."""
    allowed = tuple(name for name in plan.attacks if name in LINEAR or not judge.linear_only)
    if not allowed:
        raise DomainError(
            f"attacks = {', '.join(plan.attacks)} is outside its domain: {judge.name} needs one of {', '.join(LINEAR)}"
        )
    return allowed


def _estimator(plan: AuditPlan, pair: Pair) -> Estimator:
    """The plan's estimator, refused where the theory that it needs does not hold."""
    judge = named(ESTIMATORS, "estimator", plan.estimator)
    if judge.gaussian_only and not gaussian_release(plan, pair):
        raise DomainError(
            f"estimator = {judge.name} is outside its domain: the released law must be Gaussian by theory, with one "
            "covariance on both data sets"
        )
    return judge


def gaussian_release(plan: AuditPlan, pair: Pair) -> bool:
    """Whether theory (the pair's law, or the algorithm) says that releases are Gaussian, with one covariance."""
    if pair.law is not None:
        return pair.law.gaussian
    subject = _algorithm(plan)
    return subject is not None and subject[0].gaussian_release(subject[1])


def _algorithm(plan: AuditPlan) -> tuple[Algorithm, Values] | None:
    """The registered algorithm of a plan with its configuration; None for a foreign target."""
    if plan.target.get("kind") != "algorithm":
        return None
    item = algorithm(str(plan.target["name"]))
    return item, item.parse(plan.target["config"])


def _known(plan: AuditPlan, pair: Pair) -> planning.Plan | None:
    """What theorems say of the plan's target, under the pair's relation; None where they say nothing.

    With a claim of its own, a target without a guarantee can be audited all the same; without one it cannot.
    """
    subject = _algorithm(plan)
    if subject is None:
        return None
    item, config = subject
    try:
        if not item.guarantees:
            raise DomainError(f"target = {item.name} is outside its domain: an algorithm with a guarantee")
        relation = vars(config).get("neighbours", item.neighbours)
        if relation not in ("any", pair.neighbours) and not _made_for(plan, item):
            raise DomainError(
                f"neighbours = {pair.neighbours} is outside its domain: {item.name} is accounted for by {relation}"
            )
        known = planning.plan_of_training(item, config, records=max(map(len, pair.features)), delta=plan.delta)
        planning.epsilon_of_exact_arithmetic(known)
        return known
    except DomainError:
        if plan.claimed is None:
            raise
        return None


def _made_for(plan: AuditPlan, item: Algorithm) -> bool:
    """Whether the pair's builder knows what the algorithm's relation means (an absent record may be a zero)."""
    return plan.pair.get("kind") == "built" and item.name in builders()[str(plan.pair["name"])].algorithms


def _claim(plan: AuditPlan, known: planning.Plan | None) -> Fraction:
    """The claim that is judged: the plan's, or what is proved, exactly; the target's arithmetic is taken for exact."""
    if plan.claimed is not None:
        return EPSILON.rational(plan.claimed)
    if known is None:
        raise DomainError("epsilon is needed: nothing is proved of this target, so there must be a claim to judge")
    return planning.epsilon_of_exact_arithmetic(known).upper.to_fraction()
