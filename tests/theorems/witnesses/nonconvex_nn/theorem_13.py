"""Witnesses against Theorem 13 of document 002 and what goes with it, again: floats, numpy, mpmath and small runs."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
from scipy import stats

from tests.theorems.witness_text import Witness, number


def _numbers(witness: Witness, *keys: str) -> list[float]:
    return [number(witness, key) for key in keys]


def step_is_another(witness: Witness) -> bool:
    """The proof's step, S = 1: L^2 R^2/(C T sqrt(m) Delta) with Delta = L^(3/2) R/sqrt(T)."""
    layers, radius, clip, m, t = _numbers(witness, "L", "R", "C", "m", "T")
    delta = layers**1.5 * radius / t**0.5
    true = layers**2 * radius**2 / (clip * t * m**0.5 * delta)
    return bool(abs(true - number(witness, "claimed")) > 1e-6 * true)


def step_has_delta_outside(witness: Witness) -> bool:
    radius, delta, m = _numbers(witness, "R", "delta", "m")
    return bool(abs(radius**2 / (m**0.5 * delta) - number(witness, "claimed")) > 1e-6 * number(witness, "claimed"))


def widths_differ(witness: Witness) -> bool:
    s, radius = _numbers(witness, "S", "R")
    return bool(np.log(radius) * 16 - 2 * np.log(s) < np.log(radius) * 24 - 8 * np.log(s))


def both_terms_are_more(witness: Witness) -> bool:
    logarithm, t = _numbers(witness, "log", "T")
    return bool(t**-0.5 + (logarithm / t) ** 0.5 > number(witness, "claimed") * (1 + 1e-9))


def events_are_more(witness: Witness) -> bool:
    xi, gamma, other = _numbers(witness, "xi", "gamma", "gamma_1")
    return 4 * xi + gamma + other > number(witness, "claimed") * (1 + 1e-9)


def mean_says_little(witness: Witness) -> bool:
    """A loss that is 1/p with probability p and else 0: its mean, and how often it is more than the factor."""
    xi, factor, loss, share = _numbers(witness, "xi", "factor", "loss", "with probability")
    return loss * share <= 1 + 1e-9 and loss > factor and share > xi


def fewer_records_are_asked_for(witness: Witness) -> bool:
    layers, m, d, constant = _numbers(witness, "L", "m", "d", "constant")
    return bool(constant * ((layers * m) ** 0.5 + (m * d) ** 0.5) < number(witness, "claimed"))


def start_is_far(witness: Witness) -> bool:
    """Hidden layers drawn as the text says: none is in the ball that keeps R/sqrt(m) around it within R of 0."""
    m, radius, rng = int(witness["m"]), number(witness, "R"), np.random.default_rng(3)
    norms = [np.linalg.norm(rng.normal(scale=(2 / m) ** 0.5, size=(m, m))) for _ in range(200)]
    return bool(min(norms) + radius / m**0.5 > radius)


def projection_moves_far(witness: Witness) -> bool:
    """The same layers, projected: how far they are from where they were."""
    m, radius, rng = int(witness["m"]), number(witness, "R"), np.random.default_rng(4)
    for _ in range(200):
        layer = rng.normal(scale=(2 / m) ** 0.5, size=(m, m))
        moved = layer * min(1.0, radius / float(np.linalg.norm(layer)))
        if float(np.linalg.norm(moved - layer)) <= radius / m**0.5:
            return False
    return True


def network_becomes_zero(witness: Witness) -> bool:
    """The bound at the witness in mpmath, and the shrinking of operator norms by a first projection in a small draw."""
    layers, radius, steps, kappa = (mpmath.mpf(witness[name]) for name in ("L", "R", "T", "kappa"))
    m, constant = mpmath.mpf(witness["m"]), mpmath.mpf(witness["hidden constant"])
    inner = 21 + 2 * kappa * mpmath.sqrt(layers * steps)
    output = radius**layers * inner ** (layers - 2) * m ** ((3 - layers) / 2)
    promised = constant * layers ** mpmath.mpf("1.5") * radius * mpmath.sqrt(mpmath.log(10) / steps)
    draw = np.random.default_rng(6).normal(scale=(2 / 64) ** 0.5, size=(64, 64))
    shrunk = np.linalg.norm(draw * (1 / np.linalg.norm(draw)), 2)
    return bool(shrunk <= 21 / 8 and promised < mpmath.sqrt(2) - 1 - output)


def size_undoes_amplification(witness: Witness) -> bool:
    """A full batch and a loss above 2 epsilon, in mpmath; the size is told by the weights but for a small error."""
    with mpmath.workdps(400):
        n, exponent = int(witness["n"]), mpmath.mpf(witness["log(1/delta)"])
        (top, bottom), (over, under) = _ratio(witness["epsilon"]), _ratio(witness["c_2"])
        epsilon, q = mpmath.mpf(top) / bottom, mpmath.mpf(int(witness["M"])) / n
        mu = 2 * epsilon / (mpmath.mpf(over) / under * q * mpmath.sqrt(exponent))
        above, below = mpmath.ncdf(mu / 2 - 2 * epsilon / mu), mpmath.ncdf(-mu / 2 - 2 * epsilon / mu)
        r, half = mpmath.mpf(n) / (n - 1), int(witness["weights"]) // 2
        missed = (r * mpmath.exp(1 - r)) ** half + (mpmath.exp(1 - 1 / r) / r) ** half
        reached = q**n * ((1 - missed) * above - mpmath.exp(epsilon) * below) - mpmath.exp(epsilon) * missed
        return bool(reached > mpmath.exp(-exponent))


def scale_is_seen(witness: Witness) -> bool:
    """Power and alarm of the sum of squares by scipy's chi square."""
    least, largest = (float(word) for word in witness["variances"].split(" and "))
    size, at = int(witness["weights"]), number(witness, "threshold")
    power, alarm = stats.chi2.sf(size * at / largest, size), stats.chi2.sf(size * at / least, size)
    return bool(power > np.exp(number(witness, "epsilon")) * alarm + number(witness, "delta"))


def exponent_leaks(witness: Witness) -> bool:
    """The best test between N(C, sigma^2) and N(-C, sigma^2), sigma = c_2 sqrt(log(1/delta)) C, by scipy."""
    sigma = number(witness, "c_2") * number(witness, "log(1/delta)") ** 0.5
    epsilon, delta = number(witness, "epsilon"), np.exp(-number(witness, "log(1/delta)"))
    power, alarm = stats.norm.sf(-1 / sigma), stats.norm.sf(1 / sigma)
    return bool(power > np.exp(epsilon) * alarm + delta)


def large_delta_leaks(witness: Witness) -> bool:
    """1 - delta(epsilon) of the Gaussian step in mpmath."""
    with mpmath.workdps(40):
        ratios = [_ratio(witness[key]) for key in ("1 - delta", "epsilon", "c_2")]
        gap, epsilon, factor = (mpmath.mpf(top) / bottom for top, bottom in ratios)
        mu = 2 * epsilon / (factor * mpmath.sqrt(-mpmath.log1p(-gap)))
        kept = mpmath.ncdf(epsilon / mu - mu / 2) + mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)
        return bool(kept < gap)


def _ratio(text: str) -> tuple[int, int]:
    top, _, bottom = text.partition("/")
    return int(top), int(bottom or 1)


def batch_may_be_empty(witness: Witness) -> bool:
    return bool(stats.binom.pmf(0, int(witness["n"]), number(witness, "q")) > 0) and witness["divisor"] == "0"


def clipped_run_ends_at_the_median(witness: Witness) -> bool:
    """The network itself, 1024 units, 1500 clipped steps on all data: what the mean of its weights loses, by numpy."""
    share, radius, clip, m, steps = number(witness, "p"), number(witness, "R"), number(witness, "C"), 1024, 1500
    rng = np.random.default_rng(12)
    start = [rng.normal(scale=(2 / m) ** 0.5, size=m), rng.normal(scale=m**-0.5, size=m)]  # W_1 x and W_2
    layers, sums = [one.copy() for one in start], [np.zeros(m), np.zeros(m)]
    eta = 2**0.5 * radius / (clip * (m * steps) ** 0.5)

    def loss(u: float) -> float:
        return u**4 if abs(u) <= 1 else 4 * abs(u) - 3

    for _ in range(steps):
        h = np.maximum(layers[0], 0.0)
        f = m**0.5 * float(layers[1] @ h)
        slopes = [m**0.5 * layers[1] * (layers[0] > 0), m**0.5 * h]
        length, push = float(np.hypot(*map(np.linalg.norm, slopes))), 0.0
        for label, weight in ((0.0, 1 - share), (1.0, share)):
            slope = 4 * np.clip(f - label, -1, 1) ** 3
            push += weight * slope / max(1.0, abs(slope) * length / clip)
        for layer, own, total, first in zip(layers, slopes, sums, start, strict=True):
            layer -= eta * push * own
            away = float(np.linalg.norm(layer - first)) * m**0.5 / radius
            if away > 1:
                layer[:] = first + (layer - first) / away
            total += layer / steps
    f = m**0.5 * float(sums[1] @ np.maximum(sums[0], 0.0))
    risk = (1 - share) * loss(f) + share * loss(f - 1)
    best = min((1 - share) * loss(z) + share * loss(z - 1) for z in np.linspace(0, 1, 101))
    return bool(risk - best > max(loss(0.5), number(witness, "claimed at most") / 2))


def label_is_out_of_reach(witness: Witness) -> bool:
    """Two-layer networks at random starts: the largest value of f_ntk in the ball, in most draws below the label."""
    m, radius, rng = int(witness["m"]), number(witness, "R"), np.random.default_rng(7)
    short = 0
    for _ in range(400):
        first, last = rng.normal(scale=(2 / m) ** 0.5, size=m), rng.normal(scale=m**-0.5, size=m)  # x is a unit vector
        h = np.maximum(first, 0.0)
        reach = radius * (np.linalg.norm(h) + np.linalg.norm(last * (first > 0)))
        short += m**0.5 * float(last @ h) + reach < number(witness, "label") - 0.5
    return bool(short > 0.8 * 400)


def risk_is_more_than_the_first_term(witness: Witness) -> bool:
    s, c = _numbers(witness, "S", "c")
    apart = max(abs(15.0 - float(label)) for label in witness["labels"].split(" or "))
    return bool(s * ((1 + apart**2) ** 0.5 - 1) > c * np.log(10) ** 0.5)


def unseen_labels_cost(witness: Witness) -> bool:
    """The unseen half with random labels against the best constant guesses, and the first term in floats."""
    n, t, rng = int(witness["n"]), float(witness["T"]), np.random.default_rng(8)
    radius = (n / (1 - 1 / np.pi)) ** 0.5 * (1 + 3 * (2 * np.log(20 * n)) ** 0.5)
    promised = (8 * np.log(10) / t) ** 0.5 * radius
    guesses = rng.choice([-1.0, 1.0], size=(2000, n))
    labels = rng.choice([-1.0, 1.0], size=(2000, n))
    risks = np.sum(np.sqrt(1 + (guesses - labels) ** 2) - 1, axis=1) / (2 * n)
    return bool(np.mean(risks > promised) > 0.7) and promised < number(witness, "risk at least")


def last_layer_alone_moves_more(witness: Witness) -> bool:
    s, layers, radius, m = _numbers(witness, "S", "L", "R", "m")
    return bool(s * radius > s * layers * radius / m**0.5 * (1 + 1e-9))


def learner_remembers(witness: Witness) -> bool:
    """A learner that keeps labels, run over T steps on n records in turn."""
    n, t = int(witness["n"]), int(witness["T"])
    labels, losses = np.random.default_rng(9).choice([-1.0, 1.0], size=n), []
    kept: dict[int, float] = {}
    for step in range(t):
        losses.append(abs(kept.get(step % n, 0.0) - labels[step % n]))
        kept[step % n] = labels[step % n]
    return bool(1.0 - np.mean(losses) > (2 / t) ** 0.5)


def start_knows_no_label(witness: Witness) -> bool:
    w_1, w_2, x = _numbers(witness, "w_1", "w_2", "x")
    return abs(w_2 * max(0.0, w_1 * x) - number(witness, "label")) > 1e-6


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "nonconvex-nn/thm-13-eta": step_is_another,
    "nonconvex-nn/thm-13-eta-proof": step_has_delta_outside,
    "nonconvex-nn/thm-13-m-displays": widths_differ,
    "nonconvex-nn/thm-13-last-display": both_terms_are_more,
    "nonconvex-nn/thm-13-prob-reading-counted": events_are_more,
    "nonconvex-nn/thm-13-expectation": mean_says_little,
    "nonconvex-nn/rem-16-reading-printed": fewer_records_are_asked_for,
    "nonconvex-nn/asm-4": start_is_far,
    "nonconvex-nn/alg-10-projection": projection_moves_far,
    "nonconvex-nn/thm-13-utility": network_becomes_zero,
    "nonconvex-nn/thm-13-privacy": size_undoes_amplification,
    "nonconvex-nn/thm-13-privacy-reading-add-remove": scale_is_seen,
    "nonconvex-nn/thm-13-privacy-reading-exponent": exponent_leaks,
    "nonconvex-nn/thm-13-privacy-reading-every-delta": large_delta_leaks,
    "nonconvex-nn/alg-10-empty-batch": batch_may_be_empty,
    "nonconvex-nn/rem-15-approx-zero": label_is_out_of_reach,
    "nonconvex-nn/rem-14": label_is_out_of_reach,
    "nonconvex-nn/thm-13-printed-constant": risk_is_more_than_the_first_term,
    "nonconvex-nn/rem-14-nonprivate": unseen_labels_cost,
    "nonconvex-nn/rem-14-terms-reading-nonprivate": unseen_labels_cost,
    "nonconvex-nn/thm-13-utility-start": clipped_run_ends_at_the_median,
    "nonconvex-nn/intro-three-elements": clipped_run_ends_at_the_median,
    "nonconvex-nn/lem-25-inequality": clipped_run_ends_at_the_median,
    "nonconvex-nn/thm-13-I": last_layer_alone_moves_more,
    "nonconvex-nn/thm-13-multi-pass": learner_remembers,
    "nonconvex-nn/rem-15-fntk-W0": start_knows_no_label,
}
NOT_WITNESSES: dict[str, Witness] = {
    "nonconvex-nn/thm-13-eta": {"L": "4", "R": "1", "C": "1", "m": "4", "T": "4", "claimed": "0.5"},
    "nonconvex-nn/thm-13-m-displays": {"S": "1", "R": "1/2"},
    "nonconvex-nn/thm-13-expectation": {"xi": "1/2", "factor": "2", "loss": "2", "with probability": "1/2"},
    "nonconvex-nn/asm-4": {"m": "16", "R": "100"},
    "nonconvex-nn/alg-10-projection": {"m": "16", "R": "100"},
    "nonconvex-nn/thm-13-utility": {
        "L": "4", "R": "28", "T": "4", "kappa": "1", "m": "1e60", "hidden constant": "1"},
    "nonconvex-nn/thm-13-privacy": {
        "c_2": "10", "n": "11", "M": "1", "epsilon": "1/242", "log(1/delta)": "5", "weights": "262144"},
    "nonconvex-nn/thm-13-privacy-reading-add-remove": {
        "variances": "5 and 5", "weights": "64", "threshold": "5", "epsilon": "1/2", "delta": "1/4"},
    "nonconvex-nn/thm-13-privacy-reading-every-delta": {"1 - delta": "3/4", "epsilon": "1/2", "c_2": "1000"},
    "nonconvex-nn/rem-15-approx-zero": {"m": "64", "R": "5", "label": "5"},
    "nonconvex-nn/rem-14-nonprivate": {"n": "21", "T": "100", "risk at least": "0.05"},
    "nonconvex-nn/thm-13-utility-start": {"p": "2/5", "R": "16", "C": "100000", "claimed at most": "0.19"},
    "nonconvex-nn/thm-13-multi-pass": {"n": "100", "T": "100"},
    "nonconvex-nn/rem-15-fntk-W0": {"w_1": "1", "w_2": "1", "x": "1", "label": "1"},
}
