"""Witnesses against what document 003 says of the utility of its tree, again: matrices of second moments in floats.

The tree is a state here: the sum of the iterates, the iterate, and one place for each live node. Its second moments
move by the matrix of the mean step, plus what the randomness of the record adds to the iterate's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import linalg, stats

from tests.theorems.witness_text import Witness, number


def spectrum_of(witness: Witness) -> np.ndarray:
    return np.array([float(Fraction(word)) for word in witness["spectrum"].split(", ")])


def tree_risk(spectrum: np.ndarray, eta: float, records: int) -> float:
    """A quarter of E|mean|_H^2 over s^2, Gaussian features, w* = 0."""
    levels = records.bit_length()
    size = levels + 2
    states = [np.zeros((size, size)) for _ in spectrum]
    for count in range(1, records + 1):
        born = (count & -count).bit_length() - 1
        second = np.array([state[1, 1] for state in states])
        energy = float(spectrum @ second)
        for i, value in enumerate(spectrum):
            move = np.eye(size)
            move[1, 1] = 1 - eta * value / 2
            for level in range(born):  # these nodes leave the answer
                move[1, 2 + level] += eta
                move[2 + level, 2 + level] = 0.0
            noise = np.zeros(size)
            noise[1], noise[2 + born] = -eta, 1.0
            after = move @ states[i] @ move.T + np.outer(noise, noise)
            after[1, 1] += eta**2 * (value**2 * second[i] + energy * value / 2 - value**2 * second[i] / 4)
            gather = np.eye(size)
            gather[0, 1] = 1.0
            states[i] = gather @ after @ gather.T
    return float(sum(v * s[0, 0] for v, s in zip(spectrum, states, strict=True))) / (4 * records**2)


def answers(records: int) -> np.ndarray:
    """Which nodes (block by block) are in which answer: the binary digits of the count from the top."""
    blocks: dict[tuple[int, int], int] = {}
    rows = []
    for count in range(1, records + 1):
        start, row = 0, set()
        for bit in reversed(range(count.bit_length())):
            if count >> bit & 1:
                row.add(blocks.setdefault((start, 1 << bit), len(blocks)))
                start += 1 << bit
        rows.append(row)
    return np.array([[column in row for column in range(len(blocks))] for row in rows], float)


def increments(records: int) -> np.ndarray:
    """E[Gamma_j Gamma_t] over s^2, counts from 1."""
    changes = np.diff(answers(records), axis=0, prepend=0.0)
    return changes @ changes.T


def operator(spectrum: np.ndarray, eta: float) -> np.ndarray:
    """(I - (eta/2) T(2 eta)) on diagonals, Gaussian features."""
    fourth = 2 * np.diag(spectrum**2) + np.outer(spectrum, spectrum)
    return np.eye(len(spectrum)) - eta * np.diag(spectrum) + eta**2 * fourth


def trace_too_large(witness: Witness) -> bool:
    spectrum, eta, records = spectrum_of(witness), number(witness, "eta"), int(witness["N"])
    moments = np.linalg.matrix_power(operator(spectrum, eta), int(witness["t"])) @ np.ones(len(spectrum))
    cut = int(witness["k*"])
    allowed = 4 * 3 * eta * spectrum.sum() * math.log(records) < 1
    return bool(allowed and spectrum @ moments > 2 * (cut / (eta * records) + spectrum[cut:].sum()) + 1e-9)


def other_way(witness: Witness) -> bool:
    return bool(2 / (1 - number(witness, "alpha eta tr(H)")) > number(witness, "right") * (1 + 1e-12))


def chain(witness: Witness, start: float, noise: float, records: int) -> list[np.ndarray]:
    spectrum, eta = spectrum_of(witness), number(witness, "eta")
    found = [np.full(len(spectrum), start)]
    for _ in range(records):
        found.append(operator(spectrum, eta) @ found[-1] + noise * eta**2)
    return found


def averaged(witness: Witness, moments: list[np.ndarray]) -> float:
    """A quarter of E|mean|_H^2 from the full matrix of covariances between steps."""
    spectrum, eta, n = spectrum_of(witness), number(witness, "eta"), len(moments)
    total = 0.0
    for i, value in enumerate(spectrum):
        q = 1 - eta * value / 2
        matrix = [[moments[min(s, t)][i] * q ** abs(s - t) for s in range(n)] for t in range(n)]
        total += value * float(np.sum(matrix))
    return total / (4 * n**2)


def chain_above(witness: Witness) -> bool:
    spectrum, eta, n = spectrum_of(witness), number(witness, "eta"), int(witness["N"])
    kept = 1 - (1 - eta * spectrum / 2) ** n
    free = eta**2 * sum((1 - eta * spectrum + (eta * spectrum) ** 2) ** t for t in range(n))
    bound = 8 * 3 * eta**2 / (1 - 3 * eta * spectrum.sum()) * kept.sum() * kept + free
    allowed = eta * spectrum.sum() * math.log(n) < 1
    return bool(allowed and (chain(witness, 0.0, 1.0, n)[n] > bound + 1e-9).any())


def noise_above(witness: Witness) -> bool:
    spectrum, eta, n = spectrum_of(witness), number(witness, "eta"), int(witness["N"])
    z = n * eta * spectrum
    first = 3 * eta / (n * (1 - 3 * eta * spectrum.sum())) * np.where(z >= 1, 1, z / 2).sum() * np.where(
        z >= 1, 1, z**2 / 4).sum()
    second = (np.where(z >= 1, 1, z**2 / 4) / spectrum).sum() / n
    allowed = eta * spectrum.sum() * math.log(n) < 1
    return bool(allowed and averaged(witness, chain(witness, 0.0, 1.0, n - 1)) > 4 * first + 2 * second + 1e-9)


def start_above(witness: Witness) -> bool:
    spectrum, eta, n = spectrum_of(witness), number(witness, "eta"), int(witness["N"])
    z = n * eta * spectrum
    weight = np.where(z >= 1, 1, z).sum()
    third = 3 * weight / (eta * n**2 * (1 - 3 * eta * spectrum.sum())) * np.minimum(1, z**2).sum()
    bound = (np.where(z >= 1, 1 / spectrum, 0)).sum() / (eta * n) ** 2 + np.where(z < 1, spectrum, 0).sum() + third
    return bool(eta * spectrum.max() < 1 and averaged(witness, chain(witness, 1.0, 0.0, n - 1)) > bound + 1e-9)


def larger_variance(witness: Witness) -> bool:
    f, gamma, levels = number(witness, "f"), number(witness, "gamma"), math.log2(int(witness["N"]))
    least = increments(int(witness["N"])).diagonal().min() * f**4 * gamma**2
    return bool(least > f**2 * (levels + 1) * (gamma**4 + gamma**2))


def smaller_moment(witness: Witness) -> bool:
    """E w_t^2 over eta^2 s^2 for small eta is the number of nodes of the answer, up to a term of order eta."""
    t, eta = int(witness["answer"]), number(witness, "eta")
    alive = answers(t)[-1].sum()
    return bool(eta * t < 1e-3 and alive + 1e-2 < number(witness, "claimed at least"))


def wrong_covariance(witness: Witness) -> bool:
    j, t = int(witness["j"]), int(witness["t"])
    return bool(increments(t)[j - 1, t - 1] != number(witness, "claimed"))


def no_indicator(witness: Witness) -> bool:
    """R at w by quadrature over x ~ N(0, 1)."""
    x = np.linspace(-8, 8, 16001)
    weight = stats.norm.pdf(x) * (x[1] - x[0])
    mean = 1 - number(witness, "eta") * float(weight @ (x**2 * (x * number(witness, "w") > 0)))
    return abs(mean - number(witness, "claimed")) > number(witness, "eta") / 4


def no_number(witness: Witness) -> bool:
    w = np.arange(1.0, int(witness["d"]) + 1)
    return bool(np.ndim(w @ w) == 0 and np.outer(w, w).shape[0] == int(witness["claimed rows"]) != 1)


def above_rate(witness: Witness) -> bool:
    n = int(witness["N"])
    risk = tree_risk(spectrum_of(witness), number(witness, "eta"), n)
    return risk > number(witness, "constant") * math.log2(n) * number(witness, "D_pri") / n**2


def grows_too_long(witness: Witness) -> bool:
    spectrum, eta, n = spectrum_of(witness), number(witness, "eta"), int(witness["N"])
    moments = linalg.fractional_matrix_power(operator(spectrum, eta), n) @ np.ones(1)
    return bool(3 * eta * spectrum.sum() < 1 and spectrum @ moments > 2 / (eta * n))


def multipliers(witness: Witness) -> float:
    """f_t^2/f_s^2 at epsilon = 1/10."""
    n, epsilon = int(witness["N"]), 0.1
    delta = n**-1.1
    tree = math.sqrt(2 * math.ceil(math.log2(n + 1)) * math.log(1 / delta)) / epsilon
    passed = number(witness, "c") * math.log(n / delta) / (epsilon * math.sqrt(n))
    return (tree / passed) ** 2


def bounds_differ(witness: Witness) -> bool:
    return math.log2(int(witness["N"])) * multipliers(witness) > number(witness, "claimed at most")


def equal_differ(witness: Witness) -> bool:
    lg = int(witness["lg N"])
    ratio = lg * (number(witness, "alpha eta tr(H)") * lg + 1) * (1 + number(witness, "D_eff/D_pri"))
    return ratio > number(witness, "claimed") * lg


def tree_costs_more(witness: Witness) -> bool:
    spectrum, eta, n = spectrum_of(witness), number(witness, "eta"), int(witness["N"])
    moments = [np.zeros(1)]
    for _ in range(n - 1):
        moments.append((1 - eta + 1.5 * eta**2) * moments[-1] + eta**2)
    ratio = tree_risk(spectrum, eta, n) / averaged(witness, moments) * multipliers(witness)
    return ratio > number(witness, "claimed")


def below_floor(witness: Witness) -> bool:
    spectrum, eta, n = spectrum_of(witness), number(witness, "eta"), int(witness["N"])
    pri = (np.minimum(1, (n * eta * spectrum) ** 2) / spectrum).sum()
    return bool(tree_risk(spectrum, eta, n) < number(witness, "claimed") * pri / n)


def loses_more(witness: Witness) -> bool:
    epsilon, delta = number(witness, "epsilon"), number(witness, "delta")
    mu = 2 * epsilon / (number(witness, "noise over f Gamma") * math.sqrt(2 * math.log(1 / delta)))
    true = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    return bool(true > delta)


def tree_costs_more_than_one(witness: Witness) -> bool:
    """Second moments in floats, the tree's noise given by its nodes: as matrices of all answers."""
    n, eta = int(witness["N"]), number(witness, "eta")
    lam = 1 / np.arange(1, 9) ** 2.0
    own, fed, total = np.zeros(8), np.zeros(8), np.zeros(8)  # the shuffled pass: moments, with later ones, their sum
    for _ in range(n):
        total += own + 2 * fed
        fed = (1 - eta * lam / 2) * (own + fed)
        own = (1 - eta * lam + (eta * lam) ** 2) * own + eta**2 * lam * (lam @ own) / 2 + eta**2
    shuffled = float(lam @ total) / (4 * n**2)
    alive = answers(n).astype(float)  # answers by nodes
    q = 1 - eta * lam / 2
    mean = np.zeros((8, alive.shape[1]))  # u_t by nodes
    rest, cost, before = np.zeros(8), np.zeros(8), np.zeros(alive.shape[1])
    gathered = np.zeros_like(mean)
    for t in range(n):
        both = (mean**2).sum(axis=1) + rest
        spread = eta**2 * (float(lam @ both) * lam / 2 + 3 * lam**2 * both / 4)
        cost += spread * ((1 - q ** (n - t)) / (1 - q)) ** 2
        rest = q**2 * rest + spread
        mean = q[:, None] * mean - eta * (alive[t] - before)
        before, gathered = alive[t], gathered + mean
    tree = float(lam @ ((gathered**2).sum(axis=1) + cost)) / (4 * n**2)
    noise = 2 * math.ceil(math.log2(n + 1)) * 1.1 * math.log(n) * n / (2.1 * math.log(n)) ** 2
    return tree * noise / shuffled > number(witness, "claimed") * 1.01


def node_grows(witness: Witness) -> bool:
    """One new node a step, in floats: the logarithm of the growth over the run."""
    n, eta, epsilon = int(witness["N"]), number(witness, "eta"), number(witness, "epsilon")
    square = 2 * math.ceil(math.log2(n + 1)) * 1.1 * math.log(n) / epsilon**2
    trace = sum(1 / i**2 for i in range(1, 1025))
    step = eta**2 * square * trace * 2 * number(witness, "alpha") * trace * math.log(n) ** 2
    return step > 1 and (n - 2) * math.log(step) > math.log(number(witness, "claimed"))


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "glmtron/lemma-E.2": trace_too_large,
    "glmtron/lemma-E.3-last": other_way,
    "glmtron/lemma-E.6": chain_above,
    "glmtron/lemma-E.6-E.7": chain_above,
    "glmtron/thm-5.2-reading-adaptive": node_grows,
    "glmtron/remark-8-reading-errors-one": tree_costs_more_than_one,
    "glmtron/lemma-E.7": noise_above,
    "glmtron/lemma-E.8": start_above,
    "glmtron/lemma-E.5-upper-reading-proof": larger_variance,
    "glmtron/lemma-E.5-lower": smaller_moment,
    "glmtron/E.5-covariance": wrong_covariance,
    "glmtron/E.5-conditional-R": no_indicator,
    "glmtron/E.5-scalar-matrix": no_number,
    "glmtron/thm-5.2-sharp-every-spectrum": above_rate,
    "glmtron/thm-5.2-stepsize": grows_too_long,
    "glmtron/remark-8-reading-bounds": bounds_differ,
    "glmtron/remark-8-reading-equal-noise": equal_differ,
    "glmtron/remark-8-reading-errors-flat": tree_costs_more,
    "glmtron/remark-8-lower": below_floor,
    "glmtron/remark-7-replaced": loses_more,
}
NOT_WITNESSES: dict[str, Witness] = {
    "glmtron/lemma-E.2": {"spectrum": "1", "eta": "1/100", "N": "8", "t": "8", "k*": "1"},
    "glmtron/lemma-E.6": {"spectrum": "1", "eta": "1/4", "N": "4"},
    "glmtron/lemma-E.7": {"spectrum": "1", "eta": "1/4", "N": "4"},
    "glmtron/lemma-E.8": {"spectrum": "1", "eta": "1/4", "N": "4"},
    "glmtron/lemma-E.5-upper-reading-proof": {"f": "1/2", "gamma": "1", "N": "4"},
    "glmtron/E.5-covariance": {"j": "1", "t": "2", "claimed": "-1"},
    "glmtron/E.5-conditional-R": {"w": "1", "eta": "1/10", "claimed": "19/20"},
    "glmtron/thm-5.2-sharp-every-spectrum": {
        "spectrum": "1", "eta": "1/3", "N": "16", "D_pri": "1", "constant": "40"},
    "glmtron/thm-5.2-stepsize": {"spectrum": "1", "eta": "1/6", "N": "8"},
    "glmtron/remark-8-reading-bounds": {"N": "16", "c": "6", "claimed at most": "40"},
    "glmtron/remark-8-reading-errors-flat": {"spectrum": "1", "eta": "1/3", "N": "16", "c": "6", "claimed": "3"},
    "glmtron/remark-8-lower": {"spectrum": "1", "eta": "1/3", "N": "16", "claimed": "3/512"},
    "glmtron/remark-7-replaced": {"epsilon": "1", "delta": "1/100", "noise over f Gamma": "2"},
}
