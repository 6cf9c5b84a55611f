r"""Attacks: what is computed of a released model to tell on which of the two data sets it was trained.

An attack looks at releases of both data sets that are kept for choosing, and returns a fitted `Score`: one number a
model, large where the second data set is the likelier one. It returns None where it does not apply: where the pair has
no law, no direction or no canary, or where the release is not shaped like the records.

- likelihood-ratio: the score of the pair's exact law;
- projection: along the direction in which theory expects the releases to differ;
- canary-margin, canary-loss: how well a released linear model fits the differing record of either data set;
- linear-discriminant, quadratic-discriminant: learned, with shrunk covariances (`empirical.attacks.discriminants`);
- mean-distance: which of the two mean releases is nearer;
- coordinate-scan: the best single coordinate;
- value-table: how often each value was seen on either side, for releases that take few values.

Everything here is chosen on models that are never judged: `choose` fits each attack on the first half of the selection
models, ranks the attacks by the epsilon certified on the second half, and fits the best one again on all of them. The
evaluation models are others, so neither the choice nor the number of attacks needs to be paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from empirical.attacks.discriminants import linear, quadratic, scan, spread
from empirical.estimators.binomial import epsilon_from_rates, rate_bounds
from empirical.pairs.laws import Law
from empirical.pairs.pair import Array, Pair
from oracle.core.errors import DomainError, TargetError

Attack = Callable[[Array, Array, Pair], "Score | None"]
Merit = Callable[[Array, Array], float]

LEAST_MODELS = 40
_FEW_VALUES = 256
_CANDIDATES = 128
_CLOSE = 0.9
_BLOCK = 2048


@dataclass(frozen=True)
class Score:
    """A fitted attack: a name and arrays, and for the likelihood ratio the law, which belongs to the pair."""

    attack: str
    arrays: Mapping[str, Array]
    law: Law | None = field(default=None, compare=False)

    @np.errstate(over="ignore", invalid="ignore")  # the estimators refuse scores that are not finite, and say so
    def __call__(self, releases: Array) -> Array:
        """The scores of a block of released models, [M, ...] -> [M]."""
        flat = flatten(releases)
        sign = float(self.arrays["sign"]) if "sign" in self.arrays else 1.0
        if self.attack == "likelihood-ratio":
            if self.law is None:
                raise DomainError("a likelihood ratio was loaded without the law of its pair")
            return sign * np.asarray(self.law.score(releases), dtype=np.float64).reshape(len(flat))
        scores: Array = sign * _FORMS[self.attack](flat, self.arrays)
        return scores


def restore(attack: str, arrays: Mapping[str, Array], pair: Pair) -> Score:
    """A stored score: its name and arrays, with the law of the pair it was fitted for."""
    if attack not in ATTACKS:
        raise DomainError(f"attack = {attack} is outside its domain: one of {', '.join(ATTACKS)}")
    return Score(attack, arrays, pair.law if attack == "likelihood-ratio" else None)


def flatten(releases: Array) -> Array:
    """Releases of any shape as rows."""
    array = np.asarray(releases, dtype=np.float64)
    if array.ndim == 0:
        raise TargetError("the releases have shape (), expected one row a model")
    return array.reshape(len(array), -1)


# The forms of the scores: functions of the flattened releases and the fitted arrays.


def _sized(flat: Array, size: int) -> Array:
    if flat.shape[1] != size:
        raise TargetError(f"a model has {flat.shape[1]} numbers, expected {size} as when the attack was chosen")
    return flat


def _linear_form(flat: Array, arrays: Mapping[str, Array]) -> Array:
    return _sized(flat, arrays["direction"].size) @ arrays["direction"]


def _quadratic_form(flat: Array, arrays: Mapping[str, Array]) -> Array:
    """<b, x> + x'Ax/2 around a centre, A full or, as a vector, diagonal; in blocks that stay in the cache."""
    centre, matrix, scores = arrays["centre"], arrays["matrix"], np.empty(len(flat))
    _sized(flat, centre.size)
    for first in range(0, len(flat), _BLOCK):
        centred = flat[first : first + _BLOCK] - centre
        half = centred * matrix if matrix.ndim == 1 else centred @ matrix
        half *= 0.5
        half += arrays["direction"]
        scores[first : first + _BLOCK] = np.einsum("md,md->m", half, centred)
    return scores


def _coordinate_form(flat: Array, arrays: Mapping[str, Array]) -> Array:
    return _sized(flat, int(arrays["size"]))[:, int(arrays["coordinate"])]


def _loss_form(flat: Array, arrays: Mapping[str, Array]) -> Array:
    """The loss of the first data set's canary minus that of the second's; a weight of 0 says that there is none."""
    total = np.zeros(len(flat))
    for side, sign in ((0, 1.0), (1, -1.0)):
        if arrays["weight"][side]:
            value, label = _sized(flat, arrays["features"].shape[1]) @ arrays["features"][side], arrays["labels"][side]
            logistic = arrays["logistic"]
            total += sign * (np.logaddexp(0.0, -label * value) if logistic else 0.5 * (value - label) ** 2)
    return total


def _table_form(flat: Array, arrays: Mapping[str, Array]) -> Array:
    """The log ratio of each value's counts; a value never seen scores 0."""
    keys, ratios = arrays["values"], arrays["ratios"]
    rows, inverse = np.unique(np.concatenate([keys, _sized(flat, keys.shape[1])]), axis=0, return_inverse=True)
    table = np.zeros(len(rows))
    table[inverse.reshape(-1)[: len(keys)]] = ratios
    return np.asarray(table[inverse.reshape(-1)[len(keys) :]])


_FORMS: dict[str, Callable[[Array, Mapping[str, Array]], Array]] = {
    "projection": _linear_form,
    "canary-margin": _linear_form,
    "canary-loss": _loss_form,
    "linear-discriminant": _linear_form,
    "quadratic-discriminant": _quadratic_form,
    "mean-distance": _linear_form,
    "coordinate-scan": _coordinate_form,
    "value-table": _table_form,
}


# The attacks: from the releases kept for choosing to a score.


def likelihood_ratio(negatives: Array, positives: Array, pair: Pair) -> Score | None:
    """The exact law's own score."""
    return None if pair.law is None else Score("likelihood-ratio", {}, pair.law)


def projection(negatives: Array, positives: Array, pair: Pair) -> Score | None:
    """The pair's direction."""
    if pair.direction is None or pair.direction.size != flatten(negatives).shape[1]:
        return None
    return Score("projection", {"direction": np.asarray(pair.direction, dtype=np.float64).reshape(-1)})


def canary_margin(negatives: Array, positives: Array, pair: Pair) -> Score | None:
    """The margin of the second data set's canary minus that of the first's, for a released linear model."""
    canaries = _canaries(negatives, pair)
    if canaries is None:
        return None
    features, labels, weight, logistic = canaries
    signs = np.where(labels < 0, -1.0, 1.0) if logistic else np.ones(2)
    direction = weight[1] * signs[1] * features[1] - weight[0] * signs[0] * features[0]
    return Score("canary-margin", {"direction": direction}) if direction.any() else None


def canary_loss(negatives: Array, positives: Array, pair: Pair) -> Score | None:
    """The loss of the canaries under a released linear model: logistic for two classes, else squared."""
    canaries = _canaries(negatives, pair)
    if canaries is None or not canaries[0].any():
        return None
    features, labels, weight, logistic = canaries
    arrays = {"features": features, "labels": labels, "weight": weight, "logistic": np.array(float(logistic))}
    return Score("canary-loss", arrays)


def _canaries(releases: Array, pair: Pair) -> tuple[Array, Array, Array, bool] | None:
    """The differing records of both data sets, their labels and presence, and whether the labels are two classes."""
    size = flatten(releases).shape[1]
    if pair.canary is None or any(side.ndim != 2 or side.shape[1] != size for side in pair.features):
        return None
    counts = [len(side) for side in pair.features]
    weight = np.array([float(count == max(counts)) for count in counts])  # add/remove: the larger data set has it
    features, labels = np.zeros((2, size)), np.zeros(2)
    for side in (0, 1):
        if weight[side]:
            features[side], labels[side] = pair.features[side][pair.canary], pair.labels[side][pair.canary]
    values = set(np.unique(np.concatenate([side.reshape(-1) for side in pair.labels])).tolist())
    if values == {0.0, 1.0}:
        return features, 2 * labels - 1, weight, True
    return features, labels, weight, values == {-1.0, 1.0}


def linear_discriminant(negatives: Array, positives: Array, pair: Pair) -> Score | None:
    """The difference of the means, seen through the inverse of the shrunk covariance."""
    direction = linear(flatten(negatives), flatten(positives))
    return None if direction is None else Score("linear-discriminant", {"direction": direction})


def quadratic_discriminant(negatives: Array, positives: Array, pair: Pair) -> Score | None:
    """The log ratio of two fitted normal laws."""
    fitted = quadratic(flatten(negatives), flatten(positives))
    return None if fitted is None else Score("quadratic-discriminant", fitted)


def mean_distance(negatives: Array, positives: Array, pair: Pair) -> Score | None:
    """|x - m_0|^2 - |x - m_1|^2, which is linear in x."""
    first, second = flatten(negatives), flatten(positives)
    direction = second.mean(axis=0) - first.mean(axis=0)
    direction[spread(first, second) == 0] = 0.0
    return Score("mean-distance", {"direction": direction}) if direction.any() else None


def coordinate_scan(negatives: Array, positives: Array, pair: Pair) -> Score | None:
    """The single coordinate, upwards or downwards, that tells the two sides apart best."""
    first, second = flatten(negatives), flatten(positives)
    coordinate, sign = scan(first, second, lambda a, b: certified(a, b, 0.0, 0.95))
    place = {"coordinate": np.array(float(coordinate)), "size": np.array(float(first.shape[1]))}
    return Score("coordinate-scan", {**place, "sign": np.array(sign)})


def value_table(negatives: Array, positives: Array, pair: Pair) -> Score | None:
    """The log ratio of how often each value was seen, one added to every count."""
    first, second = flatten(negatives), flatten(positives)
    if first.shape[1] > 1 and len(np.unique(first[:1000], axis=0)) > _FEW_VALUES:
        return None  # a look at a few rows spares sorting them all
    values, inverse = np.unique(np.concatenate([first, second]), axis=0, return_inverse=True)
    if not 1 < len(values) <= min(_FEW_VALUES, len(first) // 8):
        return None
    sides = inverse.reshape(-1)[: len(first)], inverse.reshape(-1)[len(first) :]
    counts = [np.bincount(side, minlength=len(values)) + 1.0 for side in sides]
    ratios = np.log(counts[1] / counts[1].sum()) - np.log(counts[0] / counts[0].sum())
    return Score("value-table", {"values": values, "ratios": ratios})


ATTACKS: dict[str, Attack] = {
    "likelihood-ratio": likelihood_ratio,
    "projection": projection,
    "canary-margin": canary_margin,
    "canary-loss": canary_loss,
    "linear-discriminant": linear_discriminant,
    "quadratic-discriminant": quadratic_discriminant,
    "mean-distance": mean_distance,
    "coordinate-scan": coordinate_scan,
    "value-table": value_table,
}

LINEAR = (
    "likelihood-ratio", "projection", "canary-margin", "linear-discriminant", "mean-distance", "coordinate-scan",
)
"""The attacks whose score is affine in a Gaussian release (whose likelihood ratio is), and so Gaussian itself."""


def certified(negatives: Array, positives: Array, delta: float, confidence: float) -> float:
    """The merit of scores: the largest epsilon that any one threshold would certify on them (Clopper-Pearson).

    Too large, being a maximum, but alike for scores of every law; the smooth laws of `thresholds` favour normal ones.
    """
    pooled = np.sort(np.concatenate([negatives, positives]))
    ranks = np.unique(np.geomspace(1, len(pooled) / 2, _CANDIDATES).astype(int))
    thresholds = np.unique(np.concatenate([pooled[ranks - 1], pooled[-ranks]]))
    hits = len(positives) - np.searchsorted(np.sort(positives), thresholds, side="right")
    alarms = len(negatives) - np.searchsorted(np.sort(negatives), thresholds, side="right")
    low, high = rate_bounds(hits, alarms, (len(positives), len(negatives)), ((1 - confidence) / 2,) * 2)
    return float(epsilon_from_rates(low, high, delta).max())


@np.errstate(over="ignore", invalid="ignore")  # of releases next to the largest double; what is not finite is refused
def choose(
    negatives: Array, positives: Array, pair: Pair, *, attacks: Iterable[str] = tuple(ATTACKS), delta: float,
    confidence: float, merit: Merit | None = None,
) -> Score:
    """The attack that certifies most on models it was not fitted on, fitted again on all selection models.

    `merit` ranks (by default what Clopper-Pearson certifies). It hangs on few counts in the tails; so where merits are
    within a tenth of the best one, the far less noisy rank-sum statistic decides, and then the order of the names.
    """
    names = list(attacks)
    unknown = [name for name in names if name not in ATTACKS]
    if unknown or not names:
        raise DomainError(f"attacks = {unknown or names} is outside its domain: some of {', '.join(ATTACKS)}")
    least = min(len(negatives), len(positives))
    if least < LEAST_MODELS:
        raise DomainError(f"selection models = {least} is outside its domain: an integer >= {LEAST_MODELS}")
    worth = merit or (lambda first, second: certified(first, second, delta, confidence))
    half = least // 2
    ranked: list[tuple[float, float, str]] = []
    for name in names:
        score = fit(name, negatives[:half], positives[:half], pair, worth)
        if score is not None:
            first, second = score(negatives[half:]), score(positives[half:])
            ranked.append((worth(first, second), rank_sum(first, second), name))
    if not ranked:
        raise DomainError(f"attacks = {', '.join(names)} is outside its domain: none of them applies to this pair")
    least_merit = _CLOSE * max(row[0] for row in ranked)
    best = max((row for row in ranked if row[0] >= least_merit), key=lambda row: row[1])[2]  # the first of equals
    chosen = fit(best, negatives, positives, pair, worth)
    if chosen is None:
        raise TargetError(f"the attack {best} applies to half of the selection models, but not to all of them")
    return chosen


def fit(name: str, negatives: Array, positives: Array, pair: Pair, merit: Merit) -> Score | None:
    """An attack fitted and pointed the right way: large scores must mean the second data set. None: not applicable."""
    score = ATTACKS[name](negatives, positives, pair)
    if score is None:
        return None
    first, second = score(negatives), score(positives)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return None  # of releases next to the largest double; a single coordinate can always be read
    if (merit(-first, -second), -rank_sum(first, second)) <= (merit(first, second), rank_sum(first, second)):
        return score
    sign = float(score.arrays.get("sign", np.array(1.0)))
    return replace(score, arrays={**score.arrays, "sign": np.array(-sign)})


def rank_sum(negatives: Array, positives: Array) -> float:
    """P(positive > negative) - P(positive < negative) over all pairs of scores: the Mann-Whitney statistic."""
    ordered = np.sort(negatives)
    below = np.searchsorted(ordered, positives, side="left").sum()
    above = len(ordered) * len(positives) - np.searchsorted(ordered, positives, side="right").sum()
    return float((below - above) / (len(ordered) * len(positives)))
