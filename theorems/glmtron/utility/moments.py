r"""Lemmas D.4 to D.6 and the induction on C_t of document 003: second moments of DP-GLMtron's iterates.

A step that clips nothing: d' = d - eta (relu(a) - relu(b) - z) x - eta xi, a = <w,x>, b = <w*,x>, xi of covariance
4 Gamma^2 f^2 I. Its second moments are those of d, minus eta/2 (H dd^T + dd^T H) by the drift identity, plus eta^2
E[(relu(a) - relu(b))^2 xx^T] + eta^2 sigma^2 H + 4 eta^2 Gamma^2 f^2 I. Averaged over x and -x, (relu(a) - relu(b))^2
is at most (a - b)^2/2 and at least (a - b)^2/4 (`symmetry`), and E[(a - b)^2 xx^T] = M o dd^T: so the term is between a
quarter and a half of eta^2 M o A. The document's upper recursion has the whole of it. A step that clips drifts less: in
one dimension, x = +-1, w* = 0, no noise, with the share kappa of the gradient kept, A' = (1 - eta kappa + eta^2
kappa^2/2) A, and the recursion is false.

Lemma D.5. E[d_k | d_t] = (I - eta H/2)^{k-t} d_t, so N^2 E<H, mean^2> = sum_t <H (I + 2 sum_{j=1}^{N-1-t} Q^j), A_t>,
Q = I - eta H/2 >= 0. With S = sum_{j >= 1} Q^j >= 0: I + S <= I + 2S <= 2 (I + S). The constants are damaged in the
scan; 2/N^2 above and 1/N^2 below are true, and no smaller, no larger ones are.

The induction. M o H^{-1} <= alpha tr(H) I is false: (A) gives alpha tr(H H^{-1}) H = alpha d H, and for Gaussian x it
is (d + 2) H. So is its conclusion, for the recursion (7) itself. Lemma D.6. With H = I_d, Gaussian x and w* = 0 a step
multiplies E|d|^2 by 1 - eta + eta^2 (d + 2)/2 exactly, above 1 for eta > 2/(d + 2), while eta < 1/lambda_1 allows
eta < 1. The mean's second moment is at least the last one over N^2, as correlations are >= 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.enclosure import Enclosure, ball
from theorems.given import Domain
from theorems.glmtron.utility.ground import LAWS, LINES, Law, averaged, chain, dot, is_psd, moments, relu, scores
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, argued, computed, proof, refuted, undecided

Terms = Callable[[Any, Any, Any, Any], tuple[Any, ...]]
"""(eta, sigma^2, Gamma, f) -> the coefficients of A, HA + AH, M o A, H and I."""
_NAMES = ("eta", "variance", "clip", "multiplier")


def _square(a: Any, b: Any) -> Any:
    return (relu(a) - relu(b)) ** 2


def _cases() -> Iterator[tuple[Law, tuple[Fraction, ...], tuple[Fraction, ...]]]:
    for law in LAWS:
        for w in LINES:
            for v in ((Fraction(1), Fraction(-2)), (Fraction(0), Fraction(0))):
                yield law, w, v


def _one_step(law: Law, w: Any, v: Any, eta: Any, variance: Any, noise: Any) -> list[Any]:
    """Entries 11, 12, 22 of E d'd'^T."""
    d = [a - b for a, b in zip(w, v, strict=True)]
    entries = []
    for i, j in ((0, 0), (0, 1), (1, 1)):
        total = Fraction(0)
        for share, x in law:
            push = relu(dot(x, w)) - relu(dot(x, v))
            total += share * ((d[i] - eta * push * x[i]) * (d[j] - eta * push * x[j]) + eta**2 * variance * x[i] * x[j])
        entries.append(total + (eta**2 * noise if i == j else 0))
    return entries


def _claimed(law: Law, w: Any, v: Any, terms: tuple[Any, ...]) -> list[Any]:
    d = [a - b for a, b in zip(w, v, strict=True)]
    h11, h12, h22 = moments(law, lambda x: Fraction(1))
    fourth = moments(law, lambda x: dot(x, d) ** 2)
    a11, a12, a22 = d[0] * d[0], d[0] * d[1], d[1] * d[1]
    crossed = (2 * (h11 * a11 + h12 * a12), h11 * a12 + h12 * a22 + a11 * h12 + a12 * h22, 2 * (h12 * a12 + h22 * a22))
    parts = ((a11, a12, a22), crossed, fourth, (h11, h12, h22), (1, 0, 1))
    return [sum((c * part[k] for c, part in zip(terms, parts, strict=True)), Fraction(0)) for k in range(3)]


def relu_steps(high: Any, low: Any) -> tuple[ProofStep, ...]:
    """The averaged square of relu(a) - relu(b) against multiples of (a - b)^2."""
    pairs = [(averaged(_square, a, b), a, b) for a, b in scores()]
    return (
        computed(f"scores of one sign: (a - b)^2/2 on average over x and -x; {high} and {low} are above and below 1/2",
                 all(vanishes(pairs[k][0] - (pairs[k][1] - pairs[k][2]) ** 2 / 2) for k in (0, 3)) and low <= Fraction(
                     1, 2) <= high),
        computed(f"of two signs: (a^2 + b^2)/2, at most (a - b)^2/2, at least (a - b)^2/4; {low} <= 1/4", all(
            vanishes(value - (a - b) ** 2 / 4 - (a + b) ** 2 / 4) and never_negative((a - b) ** 2 / 2 - value)
            for value, a, b in pairs[1:3]) and low <= Fraction(1, 4)),
    )


def judge_recursion(upper: bool) -> Callable[[Terms, Domain], Finding]:
    """Whether A_t is at most (or at least) the recursion with these coefficients, in the order of matrices."""
    word, order, exact = ("most", "no less than", Fraction(1, 2)) if upper else ("least", "no more than", Fraction(1,
        4))

    def judge(says: Terms, given: Domain) -> Finding:
        tried = 0
        for point in given.points(*_NAMES, at_most=16):
            eta, variance, clip, f = (point[name] for name in _NAMES)
            for law, w, v in _cases():
                true = _one_step(law, w, v, eta, variance, 4 * clip**2 * f**2)
                claimed = _claimed(law, w, v, says(eta, variance, clip, f))
                gap = [c - t if upper else t - c for c, t in zip(claimed, true, strict=True)]
                tried += 1
                if not is_psd(gap):
                    return refuted(f"after one step the second moments are not at {word} what is claimed", {
                        "eta": eta, "sigma^2": variance, "law": law, "w": w, "w*": v, "true": true, "claimed": claimed})
        eta_, variance_, clip_, f_ = (given.symbol(name) for name in _NAMES)
        terms = says(eta_, variance_, clip_, f_)
        half = sympy.Rational(exact.numerator, exact.denominator) * eta_**2
        own = (sympy.Integer(1), -eta_ / 2, half, eta_**2 * variance_, 4 * eta_**2 * clip_**2 * f_**2)
        gaps = [(c - t) if upper else (t - c) for c, t in zip(terms, own, strict=True)]
        return proof(
            *relu_steps(Fraction(1, 2), Fraction(1, 4)),
            computed("the coefficients of A and of HA + AH are 1 and -eta/2", vanishes(*gaps[:2])),
            computed(f"those of M o A, H and I are {order} {exact} eta^2, eta^2 sigma^2 and 4 eta^2 Gamma^2 f^2",
                     never_negative(*gaps[2:])),
            argued("expectations over x, z and the noise are linear; M, H and I keep the order of matrices"),
            tried=tried,
        )

    return judge


def judge_clipped(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether says(eta) bounds A'/A in one dimension, x = +-1, w* = 0, where the share `kept` of a gradient is kept."""
    tried = 0
    for point in given.points("kept", "eta"):
        eta, kept = point["eta"], point["kept"]
        true = ((1 - eta * kept) ** 2 + 1) / 2  # x = 1 has the gradient w, and x = -1 none
        tried += 1
        if true > says(eta):
            return refuted("a clipped step contracts less", {
                "x": "+-1", "w*": 0, "eta": eta, "share of the gradient kept": kept, "A'/A": true, "claimed": says(
                    eta)})
    eta_, kept_ = given.chart("eta"), given.chart("kept")
    return proof(computed("((1 - eta kappa)^2 + 1)/2 is at most what is claimed, on symbols", never_negative(
        sympy.expand(says(eta_) - ((1 - eta_ * kept_) ** 2 + 1) / 2))), tried=tried)


def judge_average(says: tuple[Any, Any], given: Domain) -> Finding:
    """Whether 1 + 2S is between says[1] and says[0] times 1 + S, S = q + ... + q^later: the weight of A_t."""
    high, low = says
    tried = 0
    for point in given.points("q", "later"):
        q, later = point["q"], point["later"]
        rest = sum((q**j for j in range(1, later + 1)), Fraction(0))
        tried += 1
        if not low * (1 + rest) <= 1 + 2 * rest <= high * (1 + rest):
            return refuted("the weight of A_t in the mean lies outside", {
                "q": q, "later iterates": later, "weight": 1 + 2 * rest, "lower": low * (1 + rest), "upper": high * (
                    1 + rest)})
    s = sympy.Symbol("S", nonnegative=True)
    top, bottom = (sympy.Rational(one.numerator, one.denominator) for one in says)
    return proof(
        computed("low (1 + S) <= 1 + 2S <= high (1 + S) for all S >= 0",
                 never_negative(1 + 2 * s - bottom * (1 + s), top * (1 + s) - 1 - 2 * s)),
        argued("E[d_k | d_t] = (I - eta H/2)^(k-t) d_t by the drift identity, and all matrices commute with H"),
        tried=tried,
    )


def judge_inverse_moment(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether M o H^{-1} <= diag(says(alpha, tr H, d, lambda_i)), Gaussian: (d + 2) lambda_i, alpha = 3."""
    tried = 0
    for point in given.points("low", "d"):
        low, d = point["low"], point["d"]
        spectrum = [Fraction(1), *[low] * (d - 1)]
        for lam in spectrum:
            claimed = says(Fraction(3), sum(spectrum), d, lam)
            tried += 1
            if (d + 2) * lam > claimed:
                return refuted("Gaussian features: M o H^(-1) = (d + 2) H", {
                    "spectrum": f"1, {low} ({d - 1} times)", "lambda_i": lam, "entry": (d + 2) * lam,
                    "claimed": claimed})
    alpha, trace, d_, lam_ = sympy.symbols("alpha T d l", positive=True)
    return proof(
        computed("tr(H H^{-1}) = d: what is claimed is at least alpha d lambda_i",
                 never_negative(says(alpha, trace, d_, lam_) - alpha * d_ * lam_)),
        argued("Assumption 3.4(A) at A = H^{-1}"), tried=tried,
    )


def judge_variance(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether C_N of (7), Gaussian, sigma = 0, 4 Gamma^2 f^2 = 1, is below says(eta, alpha, tr H, lambda)."""
    tried = 0
    for low in given.values("low"):
        spectrum = [Fraction(1), *[low] * 49]
        eta, trace = Fraction(1, 5), sum(spectrum)
        if 3 * eta * trace >= 1:
            continue
        with ctx.workprec(80):
            _, last = chain(spectrum, [Fraction(0)] * 50, 300, eta, Fraction(1), Fraction(0), Fraction(1))
            bound = says(eta, 3, trace, Fraction(1))
            tried += 1
            if last[0] > ball(bound):
                return refuted("the recursion itself goes beyond", {
                    "spectrum": f"1, {low} (49 times)", "eta": eta, "N": 300, "first entry of C_N": Enclosure.of_ball(
                        last[0]),
                    "claimed": bound})
    return undecided("no spectrum tried is against it", max(tried, 1))


def judge_step_size(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether the bias stays bounded for every eta < says(alpha, tr H, lambda_1), at H = I_d, Gaussian, w* = 0."""
    tried = 0
    for d in (100, *given.values("d")):
        eta = Fraction(9, 10) * says(Fraction(3), Fraction(d), Fraction(1))
        factor = 1 - eta + eta**2 * (d + 2) / 2
        tried += 1
        if factor > 1:
            steps = 20
            claimed = 1 / (eta * steps) ** 2 + 1 + 3 * (1 / (eta * steps) + 1) * Fraction(d, steps)
            return refuted("second moments grow from step to step, and with them the mean's", {
                "H": f"I_{d}", "eta": eta, "growth of E|w - w*|^2 in a step": factor, "N": steps,
                "bias of the mean, at least": f"{float(factor ** (steps - 1) / (4 * steps**2)):.3g}",
                "the lemma's terms": f"{float(claimed):.3g}"})
    d_ = given.chart("d")
    eta_ = says(sympy.Integer(3), d_, sympy.Integer(1))
    return proof(
        computed("1 - eta + eta^2 (d + 2)/2 is at most 1 at the largest step size, hence at all smaller ones",
                 never_negative(sympy.together(1 - eta_ * (d_ + 2) / 2))),
        argued("for every spectrum: the first and last terms of thm-4.2-private-repaired without noise are the bias "
               "bound"),
        tried=tried,
    )


def judge_order(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(alpha, tr H) >= lambda_1 for alpha >= 1: eta < 1/says implies eta < 1/lambda_1."""
    tried = 0
    for point in given.points("alpha", "rest", "first"):
        alpha, rest, first = point["alpha"], point["rest"], point["first"]
        tried += 1
        if says(alpha, first + rest) < first:
            return refuted("smaller than lambda_1", {"alpha": alpha, "lambda_1": first, "tr H": first + rest,
                                                     "claimed": says(alpha, first + rest)})
    first_, rest_ = given.symbol("first"), given.symbol("rest")
    return proof(computed("alpha (lambda_1 + rest) >= lambda_1", never_negative(
        says(given.chart("alpha"), first_ + rest_) - first_)), tried=tried)
