"""Witnesses against what document 003 says of DP-GLMtron's utility, again: floats, quadrature, matrices, simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from scipy import stats

from tests.theorems.witness_text import Witness, number


def numbers(witness: Witness, name: str) -> list[float]:
    return [float(Fraction(part)) for part in witness[name].strip("()").split(",")]


def one_hot_fourth(witness: Witness) -> bool:
    lam, alpha = number(witness, "lambda_i"), number(witness, "alpha")
    e = np.array([1.0, 0.0])
    moment = lam * np.outer(e, e) @ np.outer(e, e) @ np.outer(e, e)  # x = +-e_1 with probability lam
    return bool(moment[0, 0] > alpha * lam * lam * (1 + 1e-12))


def signs_have_no_beta(witness: Witness) -> bool:
    lam, beta = number(witness, "lambda_1"), number(witness, "beta")
    draws = np.array([math.sqrt(lam), -math.sqrt(lam)])
    left = np.mean(draws**4) - np.mean(draws**2) ** 2
    return bool(left < beta * lam * lam - 1e-30)


def no_multiple_of_identity(witness: Witness) -> bool:
    first, second = numbers(witness, "variances")
    return first != second and numbers(witness, "claimed") != [first, second]


def larger_more_often(witness: Witness) -> bool:
    b, a = number(witness, "b"), number(witness, "a")
    return bool(stats.chi2.sf(math.log(1 / b) ** (2 * a), df=1) > b)


def larger_moment(witness: Witness) -> bool:
    square = number(witness, "C^2")
    moment = mpmath.quad(lambda x: mpmath.npdf(x) * mpmath.exp(x * x / square), [-40, -5, 0, 5, 40])
    return bool(moment > number(witness, "claimed") + 1e-6)


def tail_of_a_small_direction(witness: Witness) -> bool:
    """<x,v>^2 = 1 with probability p > b, above C^2 v^T H v log(2/b), C = 2."""
    p, b = number(witness, "p = v^T H v"), number(witness, "b")
    return p > b and 4 * p * math.log(2 / b) < 1 and math.exp(0.5) < 2


def not_half(witness: Witness) -> bool:
    u = np.array(numbers(witness, "u"))
    total, part = np.zeros((2, 2)), np.zeros((2, 2))
    for entry in witness["law"].split():
        share, point = entry.split(":")
        x = np.array(numbers({"x": point}, "x"))
        total += float(Fraction(share)) * np.outer(x, x)
        part += float(Fraction(share)) * np.outer(x, x) * (x @ u > 0)
    return not np.allclose(part, total / 2)


def _f(n: int, x: float) -> float:
    t = np.arange(n)
    return float(np.sum((1 - (1 - x) ** (n - t - 1)) * (1 - (1 - x) ** t)))


def smaller_series(witness: Witness) -> bool:
    claimed = witness["claimed"]
    return _f(int(witness["N"]), number(witness, "x")) < float(Fraction(claimed)) * (1 - 1e-9)


def tail_is_longer(witness: Witness) -> bool:
    """At two lengths: the bound's terms fall, and N times the tail sum rises."""
    h = float(Fraction(witness["eta"].removeprefix("N^-")))

    def at(n: float) -> tuple[float, float]:
        reach = n ** (1 - h)
        k = math.floor(math.sqrt(reach))
        i = np.arange(1.0, 2e5)
        head, rest = i[:k], i[k:]
        tail = float(np.sum(rest**-2.0)) + 1 / i[-1]
        private = (np.sum(head**2) + reach**2 * tail) / n
        return float(max(1 / reach, (k + reach**2 * np.sum(rest**-4.0)) / n, private if h > 0.34 else 0.0)), n * tail

    (bound, tail), (later, longer) = at(1e4), at(1e10)
    return later < bound and longer > tail and number(witness, "exponent of the tail") > number(witness, "claimed")


def clipped_less(witness: Witness) -> bool:
    eta, kept = Fraction(witness["eta"]), Fraction(witness["share of the gradient kept"])
    w, after = Fraction(3), []
    for x in (1, -1):
        gradient = max(x * w, Fraction(0)) * x
        after.append((w - eta * kept * gradient) ** 2)
    return sum(after) / 2 / w**2 > Fraction(witness["claimed"])


def weight_of_the_mean(witness: Witness) -> bool:
    """N^2 times the squared mean of the iterates 1, q, q^2, ...: what a unit start adds, against the bounds."""
    q, later = number(witness, "q"), int(witness["later iterates"])
    correlations = [q ** abs(j - k) if j != k else 1.0 for j in range(later + 1) for k in range(later + 1) if j == 0
        or k == 0]
    weight = sum(correlations)
    return weight > number(witness, "upper") + 1e-12 or weight < number(witness, "lower") - 1e-12


def inverse_moment(witness: Witness) -> bool:
    """E[xx^T H^-1 xx^T] by quadrature over two normal variables."""
    low = Fraction(witness["spectrum"].split(",")[1].split("(")[0].strip())
    copies = int(witness["spectrum"].split("(")[1].split()[0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(8)
    weights = weights / weights.sum()
    fourth, second = float(weights @ nodes**4), float(weights @ nodes**2)
    entry = fourth + copies * second * second  # lambda_1 = 1: E x_1^2 (x_1^2 + sum x_j^2/lambda_j)
    return low > 0 and entry > number(witness, "claimed") + 1e-9


def chain_beyond(witness: Witness) -> bool:
    """The recursion (7) on full matrices."""
    low, eta = Fraction(witness["spectrum"].split(",")[1].split("(")[0].strip()), number(witness, "eta")
    h = np.diag([1.0] + [float(low)] * 49)
    c = np.zeros_like(h)
    for _ in range(int(witness["N"])):
        c = c - eta / 2 * (h @ c + c @ h) + eta**2 * (2 * h @ c @ h + np.trace(h @ c) * h) + eta**2 * np.eye(50)
    claimed = eta / (1 - 3 * eta * np.trace(h))
    return bool(c[0, 0] > claimed and abs(claimed - number(witness, "claimed")) < 1e-9)


def bias_grows(witness: Witness) -> bool:
    """Second moments of w for H = I, w* = 0: E (relu(<w,x>))^2 |x|^2 by the moments of a chi-square variable."""
    d, eta = int(witness["H"].removeprefix("I_")), number(witness, "eta")
    factor = 1 - eta + eta**2 / 2 * (3 + (d - 1))
    return bool(factor > 1 and factor**19 / 1600 > 1e6 * number(witness, "the lemma's terms"))


def no_absolute_constant(witness: Witness) -> bool:
    gammas = np.array([1.0, number(witness, "Gamma over the smallest clipping norm")])
    return bool(gammas.max() ** 2 / gammas.min() ** 2 > number(witness, "claimed"))


def budget_too_large(witness: Witness) -> bool:
    n = 10.0**12
    return number(witness, "exponent of epsilon") > -0.5 and 1000 * math.sqrt(2.1 * math.log(
        n) / n) < 1 and witness["N"] == "10^12"


def logarithm_missing(witness: Witness) -> bool:
    """The lower chain of second moments for lambda_i = e^-i, run at two lengths: N times the risk rises."""
    def risk(n: int) -> float:
        lam = np.exp(-np.arange(1.0, 41))
        eta, a, b, total = float(Fraction(witness["eta"])), np.zeros(40), np.zeros(40), 0.0
        for _ in range(n):
            energy = lam @ a
            total += energy + 2 * lam @ b
            b = (1 - eta * lam / 2) * (a + b)
            a = (1 - eta * lam + (eta * lam) ** 2 / 2) * a + eta**2 * lam * energy / 4 + eta**2 * lam
        return total / 8 / n

    early, later = risk(200), risk(20000)
    return later > 1.5 * early


def gamma_grows(witness: Witness) -> bool:
    n, eta = int(witness["N"]), number(witness, "eta")
    f = 2.1 * math.log(n) / (number(witness, "epsilon") * math.sqrt(n))
    trace = sum(1 / i**2 for i in range(1, 1025))
    growth = 1 - 2 * eta + 24 * eta**2 * f**2 * trace**2 * math.log(n) ** 2
    return growth > 1 and (n - 2) * math.log(growth) > math.log(number(witness, "claimed"))


def other_sum(witness: Witness) -> bool:
    y, t = number(witness, "eta lambda"), int(witness["t"])
    total = y * float(np.sum((1 - y / 2) ** (int(witness["power"]) * np.arange(t))))
    return abs(total - number(witness, "claimed")) > 1e-9 * total


def ends_apart(witness: Witness) -> bool:
    """Both chains by matrices and the mean by its weights, in floats: a quarter of one over an eighth of the other."""
    count, n, eta = int(witness["directions"]), int(witness["N"]), number(witness, "eta")
    lam = np.array([number(witness, "largest eigenvalue"), *[number(witness, "others")] * (count - 1)])
    rest = [number(witness, "start along the others")] * (count - 1)
    start = np.array([number(witness, "start along the first"), *rest])
    fresh = eta**2 * (number(witness, "sigma^2") * lam + number(witness, "s^2"))
    totals = []
    for share in (0.25, 0.5):
        step = np.diag(1 - eta * lam + 2 * share * (eta * lam) ** 2) + share * eta**2 * np.outer(lam, lam)
        moments, total = start, 0.0
        for t in range(n):
            memory = np.array([1 + 2 * np.sum((1 - eta * v / 2) ** np.arange(1, n - t)) for v in np.unique(lam)])
            total += float(np.sum(lam * moments * memory[np.searchsorted(np.unique(lam), lam)]))
            moments = step @ moments + fresh
        totals.append(total)
    return 2 * totals[1] / totals[0] > number(witness, "claimed") * (1 + 1e-9)


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "glmtron/assumption-3.4A-onehot": one_hot_fourth,
    "glmtron/assumption-3.4B-rademacher": signs_have_no_beta,
    "glmtron/prose-gaussian-cov-identity": no_multiple_of_identity,
    "glmtron/def-3.5-norm-tail-reading-half": larger_more_often,
    "glmtron/def-3.5-tail": larger_moment,
    "glmtron/tail-mismatch": tail_of_a_small_direction,
    "glmtron/lemma-C.2": not_half,
    "glmtron/lemma-f-x": smaller_series,
    "glmtron/lemma-f-2-15": smaller_series,
    "glmtron/eq-14-half-step": smaller_series,
    "glmtron/eq-14-series-reading-half": smaller_series,
    "glmtron/prose-necessary-tail": tail_is_longer,
    "glmtron/lemma-D.4-clipping": clipped_less,
    "glmtron/lemma-D.5-reading-one": weight_of_the_mean,
    "glmtron/lemma-D.5-reading-eta": weight_of_the_mean,
    "glmtron/variance-induction": inverse_moment,
    "glmtron/variance-induction-conclusion": chain_beyond,
    "glmtron/lemma-D.6": bias_grows,
    "glmtron/remark-6": no_absolute_constant,
    "glmtron/remark-5": budget_too_large,
    "glmtron/cor-4.3-exp-reading-O": logarithm_missing,
    "glmtron/thm-4.2-reading-adaptive": gamma_grows,
    "glmtron/eq-10-sum": other_sum,
    "glmtron/exact-sandwich-factor": ends_apart,
}
NOT_WITNESSES: dict[str, Witness] = {
    "glmtron/exact-sandwich-factor": {
        "largest eigenvalue": "1", "others": "1", "directions": "1", "start along the first": "1",
        "start along the others": "0", "sigma^2": "0", "s^2": "0", "N": "20", "eta": "1/3", "claimed": "25/3"},
    "glmtron/prose-gaussian-cov-identity": {"variances": "2, 2", "claimed": "2, 2"},
    "glmtron/def-3.5-norm-tail-reading-half": {"a": "1", "b": "1/100"},
    "glmtron/def-3.5-tail": {"C^2": "8/3", "claimed": "2"},
    "glmtron/lemma-f-x": {"N": "100", "x": "1/100", "claimed": "10"},
    "glmtron/lemma-D.6": {"H": "I_100", "eta": "1/300", "the lemma's terms": "1"},
    "glmtron/lemma-D.4-clipping": {"eta": "1/2", "share of the gradient kept": "1", "claimed": "3/4"},
}
