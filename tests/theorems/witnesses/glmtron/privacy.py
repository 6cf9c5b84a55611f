"""Privacy in document 003 again: Gaussian curves by integrals, Laplace races by sums, order by explicit laws."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from scipy import stats

from tests.theorems.witness_text import Witness


def value(witness: Witness, name: str) -> mpmath.mpf:
    """A number of a witness; of an enclosure its middle."""
    text = witness[name]
    if text.startswith("["):
        low, high = (mpmath.mpf(word) for word in text.strip("[]").split(","))
        return (low + high) / 2
    part = Fraction(text)
    return mpmath.mpf(part.numerator) / part.denominator


def gaussian_delta(epsilon: mpmath.mpf, mu: mpmath.mpf) -> mpmath.mpf:
    """The hockey-stick integral of N(mu, 1) against N(0, 1), by quadrature from the crossing on."""
    start = epsilon / mu + mu / 2
    stops = [start + k for k in (0, 1, 2, 4, 8, 16, 30)]
    return mpmath.quad(lambda x: mpmath.npdf(x, mu, 1) - mpmath.exp(epsilon) * mpmath.npdf(x, 0, 1), stops)


def calibration_fails(witness: Witness) -> bool:
    """The classical noise at that epsilon, by the integral."""
    epsilon, delta = value(witness, "epsilon"), mpmath.mpf(witness["claimed delta"])
    true = gaussian_delta(epsilon, epsilon / mpmath.sqrt(2 * mpmath.log(mpmath.mpf("1.25") / delta)))
    return bool(true > delta and abs(true - value(witness, "true delta")) < 1e-9)


def tree_fails(witness: Witness) -> bool:
    """N = 1: the average is one noisy leaf with f = sqrt(2 log(1/delta))/epsilon, moved by 1 or 2."""
    epsilon, delta = value(witness, "epsilon"), value(witness, "delta")
    moved = 2 if witness["relation"] == "replace" else 1
    return bool(gaussian_delta(epsilon, moved * epsilon / mpmath.sqrt(2 * mpmath.log(1 / delta))) > delta * (1 + 1e-9))


def small_delta_fails(witness: Witness) -> bool:
    """Two nodes of noise C, by the tail of the normal law; the delta asked is far below."""
    mu = mpmath.sqrt(2) / value(witness, "f")
    near, far = (mpmath.erfc((1 / mu + sign * mu / 2) / mpmath.sqrt(2)) / 2 for sign in (-1, 1))
    return bool(mpmath.log(near - mpmath.e * far) > value(witness, "log of the delta asked"))


def not_shortened(witness: Witness) -> bool:
    """A vector of that length through v max{1, gamma/|v|}, in numpy."""
    length, gamma = float(value(witness, "|v|")), float(value(witness, "gamma"))
    v = np.array([0.6, 0.8]) * length
    after = float(np.linalg.norm(v * max(1.0, gamma / float(np.linalg.norm(v)))))
    return after > gamma + 1e-12 or (length <= gamma and abs(after - length) > 1e-12)


def further_apart(witness: Witness) -> bool:
    one, other = float(value(witness, "|clip(v)|")), float(value(witness, "|clip(v')|"))
    return abs(one + other) > float(value(witness, "claimed")) and max(one, other) <= float(value(witness, "gamma"))


def noise_too_small(witness: Witness) -> bool:
    """Two opposite leaves on the sphere, against the noise over f."""
    gamma, f = float(value(witness, "gamma")), float(value(witness, "f"))
    factor = {"Algorithm 1": 2, "Algorithm 4": 1}[witness["algorithm"]]
    return factor * f * gamma < f * float(np.linalg.norm(np.array([gamma, 0.0]) - np.array([-gamma, 0.0])))


def exponential_is_larger(witness: Witness) -> bool:
    x, slope = value(witness, "epsilon0"), value(witness, "slope")
    left = {"first": 2 * mpmath.sinh(x / 2), "second": mpmath.expm1(x)}[witness["part"]]
    return bool(left > slope * x)


def more_noise_breaks_it(witness: Witness) -> bool:
    f, logs, root = (value(witness, name) for name in ("f", "c A", "sqrt(N)"))
    return bool(f > logs / root and logs / (f * root) > 0)


def order_tells(witness: Witness) -> bool:
    """All places of the one record, without noise: how often its share of the average is above 1/2."""
    records = int(witness["N"])
    shares = [np.mean([t < k for k in range(records)]) for t in range(records)]  # w_k holds the steps before k
    above = np.mean([share > 0.5 for share in shares])
    return bool(above > np.exp(float(value(witness, "epsilon"))) * 0 + float(value(witness, "delta")))


def no_local_epsilon(witness: Witness) -> bool:
    n = int(witness["N"])
    return bool(n / (16 * np.log(2 * n**1.1)) < 1)


def epsilon_too_large(witness: Witness) -> bool:
    n = int(witness["N"])
    return bool(float(Fraction(witness["epsilon"])) > np.sqrt(np.log(n * n**1.1) / n))


def wins(first: int, second: int, scale: float, noisy: tuple[bool, bool]) -> float:
    """P(the second bin's value is larger), by an integral over the first one's noise."""
    law = stats.laplace(scale=scale)
    if not noisy[0]:
        return float(law.sf(-second)) if noisy[1] else 0.0
    if not noisy[1]:
        return float(law.cdf(-first))
    grid = np.linspace(-60 * scale, 60 * scale, 400_001)
    return float(np.trapezoid(law.pdf(grid) * law.sf(first - second + grid), grid))


def printed_counts(witness: Witness, name: str) -> float:
    epsilon, delta = float(value(witness, "epsilon'")), float(value(witness, "delta'"))
    bar = 1 + 2 / epsilon * np.log(1 / delta)
    first, second = (int(word) for word in witness[name].split(","))
    return wins(first, second, 2 / epsilon, (first < bar, second < bar))


def winner_tells(witness: Witness) -> bool:
    epsilon, delta = float(value(witness, "epsilon'")), float(value(witness, "delta'"))
    left, right = (printed_counts(witness, name) for name in ("counts", "counts of the neighbour"))
    return bool(left > np.exp(epsilon) * right * (1 + 1e-3) + delta)


def smaller_wins(witness: Witness) -> bool:
    first, second = (int(word) for word in witness["counts"].split(","))
    return first > second and printed_counts(witness, "counts") > 0.5


def calls_tell(witness: Witness) -> bool:
    """The four records of a batch and its neighbour's; then three histograms a call, each won by one count."""
    squares = np.array([[(u - y) ** 2, y**2, u**2] for u, y in ((1, 1), (1, 1), (1, 1), (1, -1))])
    moved = np.array([[(u - y) ** 2, y**2, u**2] for u, y in ((1, 1), (1, 1), (1, 1), (0.9, -0.9))])
    before, after = squares.mean(axis=0), moved.mean(axis=0)
    crosses = bool(np.all(before >= 1) and np.all(after < 1) and np.all(after >= 0.5))
    epsilon, calls = float(value(witness, "epsilon'")), int(witness["N"])
    q = wins(1, 0, 2 / epsilon, (True, True))
    bound = np.exp(float(value(witness, "claimed epsilon"))) * q ** (3 * calls) + float(value(witness, "claimed delta"))
    bar = 1 + 2 / epsilon * np.log(1 / float(value(witness, "delta'")))
    speaks = stats.laplace(scale=2 / epsilon).sf(bar - int(witness["K"]) // 2) > 1 - 1e-12
    return crosses and bool(speaks) and (1 - q) ** (3 * calls) > bound + 1e-6


def parts_add_up(witness: Witness) -> bool:
    """Two worst mechanisms, outcome by outcome."""
    odds, delta = Fraction(witness["e^epsilon"]), Fraction(witness["delta"])
    p = [delta, (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds), Fraction(0)]
    q = [Fraction(0), p[2], p[1], delta]
    times = Fraction(witness["claimed, times epsilon and delta"])
    larger = float(odds) ** float(times)
    pairs = itertools.product(range(4), repeat=2)
    both = sum(max(0.0, float(p[i] * p[j]) - larger * float(q[i] * q[j])) for i, j in pairs)
    return both > float(times * delta) * (1 + 1e-9)


def too_few_batches(witness: Witness) -> bool:
    n, epsilon = int(witness["N"]), float(Fraction(witness["epsilon"]))
    delta = n**-1.1
    small, tiny = epsilon / np.sqrt(8 * n * np.log(2 / delta)), delta / (2 * n)
    passes = stats.laplace(loc=int(witness["batches"]), scale=2 / small).sf(1 + 2 / small * np.log(1 / tiny))
    return bool(passes < 0.5)


def scale_is_larger(witness: Witness) -> bool:
    a, b, c, v, logs = (float(value(witness, name)) for name in (
        "|w - w*|^2", "|w*|^2", "|w|^2", "sigma^2", "log^2a(1/b)"))
    return 2 * (2 * c + v * logs) > 4 * (max(a, b, c) + v) + 1e-9


def no_probability(witness: Witness) -> bool:
    b = float(value(witness, "b"))
    found = {"Definition 3.5": 1 - b, "Lemma D.3": 1 - 1 / b}[witness["where"]]
    return not 0 < found < 1


def late_leaf(witness: Witness) -> bool:
    """The noise of all nodes has the first norm."""
    norms = [Fraction(word) for word in witness["gamma_t"].split(",")]
    first, last = (int(word) for word in witness["node"].split(" to "))
    return max(norms[first:last + 1]) > norms[0]


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "glmtron/lemma-D.1": calibration_fails,
    "glmtron/lemma-E.1": tree_fails,
    "glmtron/thm-5.1": tree_fails,
    "glmtron/prose-noise-logt-reading-any": small_delta_fails,
    "glmtron/clip": not_shortened,
    "glmtron/lemma-D.1-sensitivity": further_apart,
    "glmtron/def-3.1-dp-reading-replace": noise_too_small,
    "glmtron/eq-4-no-range": exponential_is_larger,
    "glmtron/eq-6-sign-reading-f": more_noise_breaks_it,
    "glmtron/thm-4.1-reading-any": order_tells,
    "glmtron/thm-4.1-experiment-range": no_local_epsilon,
    "glmtron/thm-4.1-experiment-range-one": epsilon_too_large,
    "glmtron/alg-2": winner_tells,
    "glmtron/alg-2-winner": smaller_wins,
    "glmtron/alg-2-call": calls_tell,
    "glmtron/lemma-D.1-thresholds": calls_tell,
    "glmtron/budget-twice-reading-reused": parts_add_up,
    "glmtron/alg-2-sample-size": too_few_batches,
    "glmtron/lemma-D.3-reading-absolute": scale_is_larger,
    "glmtron/b-conflict": no_probability,
    "glmtron/alg-4-gamma": late_leaf,
}
NOT_WITNESSES: dict[str, Witness] = {
    "glmtron/lemma-D.1": {"epsilon": "1", "claimed delta": "1e-05", "true delta": "0"},
    "glmtron/lemma-E.1": {"relation": "add_remove", "epsilon": "1", "delta": "1/100000"},
    "glmtron/thm-5.1": {"relation": "add_remove", "epsilon": "1", "delta": "1/100000"},
    "glmtron/clip": {"|v|": "1", "gamma": "1"},
    "glmtron/eq-4-no-range": {"epsilon0": "1", "part": "second", "slope": "2"},
    "glmtron/thm-4.1-experiment-range": {"N": "91"},
    "glmtron/thm-4.1-experiment-range-one": {"N": "550", "epsilon": "1/20"},
    "glmtron/alg-2": {"epsilon'": "1", "delta'": "1/100000", "counts": "20, 10", "counts of the neighbour": "19, 11"},
    "glmtron/alg-2-winner": {"epsilon'": "1", "delta'": "1/100000", "counts": "20, 10"},
    "glmtron/b-conflict": {"b": "1/2", "where": "Definition 3.5"},
    "glmtron/alg-4-gamma": {"gamma_t": "2, 1", "node": "0 to 1"},
}
