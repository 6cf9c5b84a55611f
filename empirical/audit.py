"""An audit: train many models on two neighbouring data sets, attack what is released, and judge the claimed epsilon.

The verdict is VIOLATION when the lower confidence bound exceeds the claim, CONSISTENT when it does not, and INVALID,
with the reason, when the releases cannot be judged. An error is an error: it never becomes epsilon = 0.
Every draw comes from counter-based streams (`oracle.tape`), so a seed gives the same result bit for bit, whatever the
shard size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirical.estimators import ESTIMATORS, Estimate, check_confidence
from empirical.neighbours import Pair, linear_loss_law, opposite_canary
from oracle import accounting
from oracle.domain import Number, exact, probability
from oracle.enclosure import Enclosure, ball
from oracle.errors import DomainError, TargetError
from oracle.privacy.gaussian import epsilon_of_mu
from oracle.registry import Algorithm, Values, algorithm, bound
from oracle.tape import Tape

Array = NDArray[np.float64]
Train = Callable[[Array, Array, Values, Tape], Any]

SHARD = 20_000
_WIDTH = Fraction(1, 10**12)


@dataclass(frozen=True)
class Plan:
    """All that determines an audit's result."""

    target: str
    config: Mapping[str, Any]
    records: int
    dimension: int
    delta: str = "1e-5"
    budget: int = 100_000
    confidence: float = 0.95
    estimator: str = "gdp"
    seed: int = 0
    claimed: str | None = None


@dataclass(frozen=True)
class Audit:
    """The result of an audit: a lower confidence bound beside the claimed and the proved epsilon."""

    plan: Plan
    verdict: str
    reason: str
    epsilon_lower: float | None
    claimed: float
    proved: tuple[str, str]
    exact: tuple[str, str] | None
    tightness: float | None
    threshold: float | None

    def to_json(self) -> dict[str, Any]:
        """The stable JSON object of `dp-oracle audit`."""
        return asdict(self)


def proved_epsilon(item: Algorithm, config: Values, records: int, delta: Number) -> Enclosure:
    """The enclosure of the epsilon that the algorithm's accounting bound proves for a configuration."""
    if item.accounted_by is None or item.account is None:
        raise DomainError(f"target = {item.name} is outside its domain: an algorithm with a guarantee")
    if bound(item.accounted_by).unit != "mu":  # the pairs that are audited were made for a Gaussian mu
        raise DomainError(f"target = {item.name} is outside its domain: an algorithm whose account is a Gaussian mu")
    return accounting.proved_epsilon(item, config, records=records, delta=delta)


def exact_epsilon(config: Values, records: int, delta: Number) -> Enclosure:
    """The enclosure of the true epsilon on the audited pair, for the linear loss (an exactly Gaussian release)."""
    squared = linear_loss_law(config, records=records).squared_mu
    return epsilon_of_mu(lambda: ball(squared).sqrt(), exact("delta", delta, "a probability"), _WIDTH)


def releases(item: Algorithm, config: Values, pair: Pair, plan: Plan, train: Train, progress: Any) -> list[Array]:
    """The scores of `budget` models on each data set: the projection of what is released on the canary direction."""
    result = []
    for side in (0, 1):
        scores = []
        for first in range(0, plan.budget, SHARD):
            # Models on the two sides must be independent: side 1 takes the models after side 0's.
            tape = Tape(plan.seed, min(SHARD, plan.budget - first), side * plan.budget + first)
            released = np.asarray(train(pair.features[side], pair.labels[side], config, tape), dtype=np.float64)
            expected = (tape.models, pair.direction.size)
            if released.shape != expected:
                raise TargetError(f"{item.name} released shape {released.shape}, expected {expected}")
            scores.append(released @ pair.direction)
            progress(tape.models)
        result.append(np.concatenate(scores))
    return result


def run(plan: Plan, *, train: Train | None = None, progress: Callable[[int], None] = lambda _: None) -> Audit:
    """Carry out a plan; `train` replaces the algorithm's own batched training (that is how mutants are planted)."""
    item = algorithm(plan.target)
    config = item.parse(plan.config)
    delta = probability("delta").rational(plan.delta)
    if plan.estimator not in ESTIMATORS:
        raise DomainError(f"estimator = {plan.estimator} is outside its domain: one of {', '.join(ESTIMATORS)}")
    if plan.estimator == "gdp" and not item.gaussian_release(config):
        raise DomainError("estimator = gdp is outside its domain: the released law must be Gaussian by theory")
    check_confidence(plan.confidence)
    if plan.budget < 100:
        raise DomainError(f"budget = {plan.budget} is outside its domain: an integer >= 100")
    proved = proved_epsilon(item, config, plan.records, plan.delta)
    claimed = _claimed(plan, proved)
    pair = opposite_canary(config, records=plan.records, dimension=plan.dimension)
    scores = releases(item, config, pair, plan, train or item.train_batched, progress)
    known = exact_epsilon(config, plan.records, plan.delta).to_decimals() if item.gaussian_release(config) else None
    if not all(np.isfinite(side).all() for side in scores):
        return _audit(plan, "INVALID", "a released model is not finite", None, claimed, proved, known)
    estimate = ESTIMATORS[plan.estimator](*scores, delta=float(delta), confidence=plan.confidence)
    verdict = "VIOLATION" if estimate.epsilon > claimed else "CONSISTENT"
    reason = f"epsilon >= {estimate.epsilon:.4f} with confidence {plan.confidence:g}, claimed {claimed:.4f}"
    return _audit(plan, verdict, reason, estimate, claimed, proved, known)


def _claimed(plan: Plan, proved: Enclosure) -> float:
    if plan.claimed is None:
        return proved.to_floats()[1]
    value = float(exact("epsilon", plan.claimed, "a real number >= 0"))
    if value < 0:
        raise DomainError(f"epsilon = {plan.claimed} is outside its domain: a real number >= 0")
    return value


def _audit(
    plan: Plan, verdict: str, reason: str, estimate: Estimate | None, claimed: float, proved: Enclosure,
    known: tuple[str, str] | None,
) -> Audit:
    lower = None if estimate is None else estimate.epsilon
    return Audit(
        plan=plan, verdict=verdict, reason=reason, epsilon_lower=lower, claimed=claimed,
        proved=proved.to_decimals(), exact=known,
        tightness=None if lower is None or claimed == 0 else lower / claimed,
        threshold=None if estimate is None else estimate.threshold,
    )


DEFAULT_AUDITS: dict[str, Plan] = {
    "noisy-gd on quadratics": Plan(
        target="noisy-cgd",
        config={
            "loss": "linear", "eta": "0.5", "lam": "0.2", "clip_norm": "1", "sigma": "0.15", "batch_size": 50,
            "epochs": 20, "feature_norm": "1",
        },
        records=50,
        dimension=4,
    ),
    "noisy-cgd on quadratics": Plan(
        target="noisy-cgd",
        config={
            "loss": "linear", "eta": "0.5", "lam": "0.1", "clip_norm": "1", "sigma": "0.2", "batch_size": 10,
            "epochs": 10, "feature_norm": "1",
        },
        records=40,
        dimension=4,
    ),
}
"""The audits of `nox -s audit`; both release exactly Gaussian models, so the exact epsilon stands beside the audit."""
