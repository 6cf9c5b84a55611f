"""Witnesses against what document 004 says of learning, again: descents run, samples listed, moments by quadrature."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np

from tests.theorems.witness_text import Witness, number


def additive_not_convex(witness: Witness) -> bool:
    """On numbers x + y sqrt 2 the map to -x keeps the weight's means, and lies above the chord at sqrt(2)/2."""
    if witness["L"] != "x + y sqrt 2 -> -x":
        return False
    w = Fraction(witness["weight"])
    rng = np.random.default_rng(4)
    draws = [[Fraction(int(v), 7) for v in row] for row in rng.integers(-50, 50, (40, 4))]
    kept = all(-((1 - w) * x + w * p) == (1 - w) * -x + w * -p for x, _, p, _ in draws)
    return kept and 0.0 > -(2**0.5) / 2 and witness["at t"] == "sqrt(2)/2"


def has_a_minimum(witness: Witness) -> bool:
    """The square is lower at the point than around it."""
    at = number(witness, "at")
    around = at + np.linspace(-0.01, 0.01, 21)
    return witness["L"] == "x^2" and bool(np.all(around**2 >= at**2)) and (at + 1) ** 2 > at**2


def keeps_falling(witness: Witness) -> bool:
    """log(1 + e^-theta) plus the ridge falls from each of many points to the next."""
    theta = np.arange(0.0, 30.0)
    values = np.logaddexp(0, -theta) + number(witness, "ridge") * theta**2 / 2
    return bool(np.all(np.diff(values) < 0))


def step_rises(witness: Witness) -> bool:
    start = number(witness, "from")
    after = start - number(witness, "step size") * start  # the gradient of x^2/2 is x
    return after**2 / 2 >= start**2 / 2


def sum_is_no_mean(witness: Witness) -> bool:
    """Descent on (theta - 1)^2/2 with step size 1, so many steps: every iterate is 1."""
    theta, iterates = 0.0, []
    for _ in range(int(witness["numbers"])):
        theta -= theta - number(witness, "each")
        iterates.append(theta)
    return abs(number(witness, "claimed") - float(np.mean(iterates))) > 1e-9


def empty_batch_weighs(witness: Witness) -> bool:
    n, p = int(witness["n"]), number(witness, "p")
    drawn = np.array(list(itertools.product((0, 1), repeat=n)))
    law = np.prod(np.where(drawn == 1, p, 1 - p), axis=1)
    weight = np.sum(law * drawn[:, 0] / np.maximum(drawn.sum(axis=1), 1))
    return bool(abs(weight - number(witness, "claimed")) > 1e-9)


def clipping_biases(witness: Witness) -> bool:
    gradients = np.array([float(word) for word in witness["gradients"].split(",")])
    cut = np.clip(gradients, -number(witness, "C"), number(witness, "C"))
    return bool(abs(cut.mean() - gradients.mean()) > 1e-9)


def noise_shifts_the_gradient(witness: Witness) -> bool:
    """E (theta + s Z)^3 for normal Z by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    theta, spread = number(witness, "noiseless iterate"), number(witness, "noise of the iterate")
    mean = np.sum(weights * (theta + spread * nodes) ** 3) / np.sqrt(2 * np.pi)
    return bool(abs(mean - number(witness, "gradient there")) > 1e-9)


def vector_stays_long(witness: Witness) -> bool:
    z = np.array([3.0, 4.0]) / 5 * number(witness, "|z|")
    clipped = z * max(1.0, number(witness, "C") / float(np.linalg.norm(z)))
    wanted = min(number(witness, "|z|"), number(witness, "C"))
    return abs(float(np.linalg.norm(clipped)) - wanted) > 1e-9


def one_record_is_no_law(witness: Witness) -> bool:
    return bool(abs(np.mean([0.0, 1.0]) - number(witness, "record's loss")) > 1e-9)


def flat_loss_loses(witness: Witness) -> bool:
    """Both excesses on a parabola, in three dimensions, from the second moment of the noise by quadrature."""
    h, lam, e, c = (number(witness, key) for key in ("h", "lambda", "epsilon", "c"))
    n = number(witness, "n")
    left = e - 2 * np.log1p(c / (n * lam))
    fourth, second = (mpmath.quad(lambda r, power=power: r**power * mpmath.exp(-r), [0, 60]) for power in (4, 2))
    square = fourth / second
    output = (h + lam) / 2 * square * (2 / (n * lam * e)) ** 2
    objective = (h + lam) / 2 * square * (2 / left / (n * (h + lam))) ** 2
    return bool(objective > output)


def scale_stays(witness: Witness) -> bool:
    return number(witness, "c' at n = 100") <= 0.5 and number(witness, "scale of v times epsilon") > 1e-9


def range_shrinks_enough(witness: Witness) -> bool:
    """At the claimed threshold n times the noise's variance, of range sqrt(k/n), falls already."""
    kappa = number(witness, "claimed threshold")

    def share(n: float) -> float:
        k = n**kappa
        return float(n * (k / n if witness["w^2"] == "k/n" else 1.0) / k**2)

    return share(1e8) < share(1e4) / 2


def one_number_is_no_median(witness: Witness) -> bool:
    """The variance of the median of 401 normal numbers, by the law of the middle one, is near c/m; of one it is 1."""
    m = 401

    def density(x: mpmath.mpf) -> mpmath.mpf:
        below = mpmath.ncdf(x)
        return mpmath.npdf(x) * mpmath.exp((m // 2) * mpmath.log(4 * below * (1 - below)))

    points = [-1, -0.3, 0, 0.3, 1]
    spread = mpmath.quad(lambda x: x**2 * density(x), points) / mpmath.quad(density, points)
    near = abs(1 / (m * spread) - number(witness, "n variance/c")) < 0.01
    return bool(witness["k"] == "n" and m * spread > 1.5 and near)


def bias_stays(witness: Witness) -> bool:
    """n times the squared relative bias of exp(-mean) over blocks of n^(1 - kappa) normal numbers grows."""
    kappa = number(witness, "kappa")

    def squared(n: float) -> float:
        size = n ** (1 - kappa)
        mean = float(mpmath.quad(lambda z: mpmath.exp(-z / mpmath.sqrt(size)) * mpmath.npdf(z), [-12, -3, 0, 3, 12]))
        return float(n * (mean - 1) ** 2)

    return squared(1e8) > 10 * squared(1e4) and squared(1e4) > 1


def sizes_vary(witness: Witness) -> bool:
    n, p = int(witness["size"]), number(witness, "rate")
    drawn = np.array(list(itertools.product((0, 1), repeat=n)))
    law = np.prod(np.where(drawn == 1, p, 1 - p), axis=1)
    sizes = drawn.sum(axis=1)
    variance = np.sum(law * sizes**2) - np.sum(law * sizes) ** 2
    return bool(abs(variance - number(witness, "claimed variance")) > 1e-9)


def no_row_function(witness: Witness) -> bool:
    found = np.var([0.0, 0.0]) + np.var([1.0, 1.0]), 2 * np.var([0.0, 1.0])
    told = number(witness, "F(0, 0) + F(1, 1)"), number(witness, "2 F(0, 1)")
    return bool(np.allclose(found, told) and abs(found[0] - found[1]) > 1e-9)


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "cs208/convexity-midpoint-reading-any": additive_not_convex,
    "cs208/convex-no-local-minima-reading-none": has_a_minimum,
    "cs208/logistic-minimum-exists": keeps_falling,
    "cs208/moves-towards-minima": step_rises,
    "cs208/gd-output": sum_is_no_mean,
    "cs208/minibatch-unbiased-reading-poisson": empty_batch_weighs,
    "cs208/noise-unbiased-clipped": clipping_biases,
    "cs208/noise-unbiased-iterate": noise_shifts_the_gradient,
    "cs208/clip": vector_stays_long,
    "cs208/erm-overfit": one_record_is_no_law,
    "cs208/objective-better": flat_loss_loses,
    "cs208/objective-v-scale-reading-number": scale_stays,
    "cs208/sa-clip-range-reading-shrinking": range_shrinks_enough,
    "cs208/sa-k-upper": one_number_is_no_median,
    "cs208/sa-variance-risk": bias_stays,
    "cs208/subsample-batch-size-reading-poisson": sizes_vary,
    "cs208/linreg-suffstats-reading-centred": no_row_function,
}
NOT_WITNESSES: dict[str, Witness] = {
    "cs208/logistic-minimum-exists": {"ridge": "1/10"},
    "cs208/moves-towards-minima": {"from": "1", "step size": "1"},
    "cs208/gd-output": {"numbers": "10", "each": "1", "claimed": "1"},
    "cs208/minibatch-unbiased-reading-poisson": {"n": "1", "p": "1", "claimed": "1"},
    "cs208/noise-unbiased-clipped": {"gradients": "10, -1, -1", "C": "10"},
    "cs208/noise-unbiased-iterate": {"noiseless iterate": "1/2", "noise of the iterate": "0", "gradient there": "1/8"},
    "cs208/clip": {"|z|": "1", "C": "1"},
    "cs208/erm-overfit": {"record's loss": "1/2"},
    "cs208/objective-better": {"h": "1/4", "lambda": "1/100", "epsilon": "1", "c": "1", "n": "40000"},
    "cs208/sa-clip-range-reading-shrinking": {"claimed threshold": "1/2", "w^2": "1"},
    "cs208/sa-variance-risk": {"kappa": "2/5"},
    "cs208/subsample-batch-size-reading-poisson": {"size": "2", "rate": "1/2", "claimed variance": "1/2"},
}
