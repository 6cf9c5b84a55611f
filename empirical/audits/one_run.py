r"""Auditing in one run: many canaries, each in or out by its own fair coin, and one trained model (or a few).

Both bounds need the coins S_1, ..., S_m to be independent and fair, and the guesses to be a function of the release,
not of the coins. The canaries may interact through the training as they like; the coins may not. With r guesses,
fixed beforehand, of which v are right:

*(epsilon, delta)* (Steinke, Nasr and Jagielski 2023, Thm 5.2 and Cor. 5.4). W ~ Bin(r, 1/(1 + e^-epsilon)) is what
randomised response would score, and

    Pr[right >= v] <= Pr[W >= v] + 2 m delta max_{1 <= i <= v} Pr[v - i <= W < v] / i.

This p-value need not be monotone in epsilon, so epsilons are rejected from the bottom of a fixed grid upwards, up to
the first that is not: the hypotheses are nested, so the first grid point above the truth must be rejected wrongly.

*f-DP* (after Mahloujifar, Melis and Chaudhuri 2024), for f = mu-GDP, inverse(x) = Phi(Phi^-1(x) - mu). Let a random
canary j be guessed rightly while at least v - 1 others are: probability R_v = sum_{i >= v} i p_i / m, p_i the law of
the number of right guesses. Flip coin j: neighbours, the same law of coins, and guess j is now wrong: H_{v-1} with
H_v = sum_{i >= v} (r - i) p_i / m. The trade-off of one pair, averaged over coins by concavity, gives

    H_{v-1} >= inverse(R_v)  for all v,      R_0 + H_0 = r / m.

If Pr[right >= v] were at least alpha, then going down from r_v = alpha v/m, h_v = alpha (r - v)/m by
h_{i} = max(h_{i+1}, inverse(r_{i+1})), r_i = r_{i+1} + i/(r - i) (h_i - h_{i+1}), two inequalities hold at every i:
R_i + H_i >= r_i + h_i and R_i - r_i >= i/(r - i) (H_i - h_i) (by induction: mass at or above i has R : H of at least
i : (r - i)). So r_0 + h_0 > r/m refutes it: the p-value is below alpha. Gaussian f-DP is a property of the mechanism;
who does not know it must not use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from empirical.audits.foreign.foreign import Foreign
from empirical.audits.targets import AuditTarget
from empirical.estimators.binomial import Array
from empirical.estimators.estimate import check_confidence
from empirical.estimators.estimators import epsilon_of_mu
from oracle.core.domain import positive_integer
from oracle.core.errors import DomainError, TargetError
from oracle.core.tape import Tape

_STEP = 0.005
_LARGEST_MU = 20.0
_ROUNDS = 5
_GRID = 40


@dataclass(frozen=True)
class Canaries:
    """Canaries and, where neighbours replace a record, what stands in the place of one that is left out.

    `directions` [m, D]: where the flattened release is expected to move when a canary is in.
    """

    features: Array
    labels: Array
    directions: Array
    instead: tuple[Array, Array] | None = None

    def __post_init__(self) -> None:
        sizes = {len(self.features), len(self.labels), len(self.directions)}
        if self.instead is not None:
            sizes |= {len(part) for part in self.instead}
        if len(sizes) != 1 or 0 in sizes:
            raise DomainError(f"canaries of lengths {sorted(sizes)} are outside their domain: one length >= 1")

    def __len__(self) -> int:
        return len(self.features)

    def among(self, features: Array, labels: Array, included: Array) -> tuple[Array, Array]:
        """The data set of some records and of the canaries that are in."""
        if self.instead is None:
            chosen = included.astype(np.bool_)
            extra = self.features[chosen], self.labels[chosen]
        else:
            wide = included.astype(np.bool_).reshape(-1, *[1] * (self.features.ndim - 1))
            extra = np.where(wide, self.features, self.instead[0]), np.where(included > 0, self.labels, self.instead[1])
        return np.concatenate([features, extra[0]]), np.concatenate([labels, extra[1]])


@dataclass(frozen=True)
class OneRun:
    """A lower bound on epsilon from guesses in one or a few runs."""

    epsilon: float
    canaries: int
    guesses: int
    correct: int


def axis_canaries(canaries: int, dimension: int, *, norm: float, neighbours: str = "replace") -> Canaries:
    """Orthogonal canaries, norm e_i with label 1; one that is left out has its opposite in its place, or nothing."""
    if not 1 <= canaries <= dimension:
        raise DomainError(f"canaries = {canaries} is outside its domain: an integer in [1, {dimension}], the dimension")
    if neighbours not in ("replace", "add_remove"):
        raise DomainError(f"neighbours = {neighbours} is outside its domain: replace or add_remove")
    if not 0 < norm < math.inf:
        raise DomainError(f"feature_norm = {norm} is outside its domain: a finite real number > 0")
    features, labels = norm * np.eye(dimension)[dimension - canaries:], np.ones(canaries)
    return Canaries(features, labels, features, (-features, labels) if neighbours == "replace" else None)


def p_value(*, canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    """An upper bound on the probability of so many right guesses under (epsilon, delta)-DP."""
    _check(canaries, guesses, correct)
    rate = 1 / (1 + math.exp(-epsilon))
    beta = float(special.betainc(correct, guesses - correct + 1, rate)) if correct else 1.0
    if delta == 0 or correct == 0:
        return min(1.0, beta)
    below = np.arange(correct - 1, -1, -1, dtype=np.float64)
    masses = np.exp(
        special.gammaln(guesses + 1) - special.gammaln(below + 1) - special.gammaln(guesses - below + 1)
        + below * math.log(rate) + (guesses - below) * math.log1p(-rate)
    )
    slack = float((np.cumsum(masses) / np.arange(1, correct + 1)).max())
    return min(1.0, beta + 2 * canaries * delta * slack)


def epsilon_low(*, canaries: int, guesses: int, correct: int, delta: float, confidence: float) -> float:
    """The lower confidence bound on epsilon of (epsilon, delta)-DP from right guesses."""
    check_confidence(confidence)
    step = 0
    while p_value(
        canaries=canaries, guesses=guesses, correct=correct, epsilon=step * _STEP, delta=delta
    ) < 1 - confidence:
        step += 1
    return max(0.0, (step - 1) * _STEP)


def mu_low(*, canaries: int, guesses: int, correct: int, confidence: float) -> float:
    """The lower confidence bound on mu of mu-GDP from right guesses; the refutation is monotone in mu."""
    check_confidence(confidence)
    _check(canaries, guesses, correct)
    low, high = 0.0, _LARGEST_MU
    for _ in range(_ROUNDS):
        grid = np.linspace(low, high, _GRID)
        refuted = _refuted(grid, canaries, guesses, correct, 1 - confidence)
        if refuted.all():
            return high
        first = int(np.argmin(refuted))
        if first == 0:
            return low
        low, high = float(grid[first - 1]), float(grid[first])
    return low


def _refuted(mu: Array, canaries: int, guesses: int, correct: int, alpha: float) -> Array:
    """Whether each mu-GDP makes so many right guesses less likely than alpha."""
    wrong = np.full_like(mu, alpha * (guesses - correct) / canaries)
    right = np.full_like(mu, alpha * correct / canaries)
    for index in range(correct - 1, -1, -1):
        least = np.maximum(wrong, special.ndtr(special.ndtri(np.minimum(right, 1.0)) - mu))
        right = right + index / (guesses - index) * (least - wrong)
        wrong = least
    return np.asarray(right + wrong > guesses / canaries * (1 + 1e-12))


def guess(scores: Array, included: Array, guesses: int) -> int:
    """How many are right of `guesses` guesses: the highest scores are said to be in, the lowest out."""
    if not 1 <= guesses <= len(scores):
        raise DomainError(f"guesses = {guesses} is outside its domain: an integer in [1, {len(scores)}]")
    order = np.argsort(scores, kind="stable")
    out, into = order[: guesses // 2], order[len(scores) - (guesses - guesses // 2):]
    return int(np.count_nonzero(included[out] == 0) + np.count_nonzero(included[into] == 1))


def judge_guesses(
    scores: Array, included: Array, *, guesses: int, delta: float, confidence: float, gaussian: bool = False
) -> OneRun:
    """The bound from a score for each canary; `gaussian`: the f-DP version, for mechanisms known to be Gaussian-DP."""
    if not np.isfinite(scores).all():
        raise TargetError("canaries have scores that are not finite")
    correct = guess(scores, included, guesses)
    if gaussian:
        mu = mu_low(canaries=len(scores), guesses=guesses, correct=correct, confidence=confidence)
        epsilon = epsilon_of_mu(mu, delta)
    else:
        epsilon = epsilon_low(
            canaries=len(scores), guesses=guesses, correct=correct, delta=delta, confidence=confidence
        )
    return OneRun(epsilon, len(scores), guesses, correct)


def one_run_audit(
    target: AuditTarget, features: Array, labels: Array, canaries: Canaries, *, delta: float, confidence: float = 0.95,
    guesses: int | None = None, runs: int = 1, seed: int = 0, gaussian: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> OneRun:
    """A lower bound on epsilon from `runs` models, each trained with its own coins for all canaries.

    Runs with coins of their own are one mechanism on disjoint inputs, no less private than each of them, so the bound
    counts runs * m canaries. `guesses` (of all runs together; a third if not given) are fixed before anything is seen.
    The score of a canary is the released model's component along the canary's direction.
    """
    positive_integer("models").parse(runs)
    scores, coins = [], []
    for run in range(runs):
        included = Tape(seed, 1, run).bernoulli("one-run/coins", 0, len(canaries), 0.5)[0].astype(np.float64)
        data = canaries.among(features, labels, included)
        released = target.releases(*data, Tape(seed, 1, run)).reshape(-1)
        if released.size != canaries.directions.shape[1]:
            raise DomainError(
                f"directions of length {canaries.directions.shape[1]} are outside their domain: {target.name} releases "
                f"{released.size} numbers"
            )
        if run == 0 and isinstance(target, Foreign):  # one model more: what ignores its seed is no sample of a law
            other = target.releases(*data, Tape(seed, 1, runs)).reshape(-1)
            if np.array_equal(released, other):
                raise TargetError(f"{target.name} ignores its seed: another one gave the same release")
        scores.append(canaries.directions @ released / np.linalg.norm(canaries.directions, axis=1))
        coins.append(included)
        progress(1)
    total = runs * len(canaries)
    return judge_guesses(
        np.concatenate(scores), np.concatenate(coins), guesses=max(1, total // 3) if guesses is None else guesses,
        delta=delta, confidence=confidence, gaussian=gaussian,
    )


def _check(canaries: int, guesses: int, correct: int) -> None:
    if not 0 <= correct <= guesses <= canaries:
        raise DomainError(
            f"correct = {correct}, guesses = {guesses}, canaries = {canaries} are outside their domain: integers with "
            "0 <= correct <= guesses <= canaries"
        )
