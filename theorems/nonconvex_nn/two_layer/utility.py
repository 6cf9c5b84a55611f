r"""The excess risk of Algorithm 9 of document 002 (Theorem 8), as printed and improved, with constants.

By `lem-7-strong` the excess risk is at most 2G S + G^2 M^2, S a bound of E L^l(w) - L^l(w*). The proof of Theorem 1
never uses that w* minimises L^l: in phase i, of n_i >= n/2^(i+1) records and step eta_i = eta/4^i, the regret against
any comparison point chosen before the phase is at most its squared distance from the start over 2 eta_i n_i, plus
eta_i |gradient|^2/2, |gradient| <= 1. Compared are w* in the first phase and the average before the noise in later
ones, so that distances are |w_0 - w*| <= W (w_0 = 0) and noise, tau_{i-1}^2 theta in the mean. With tau_i =
8 eta_i l/epsilon, l^2 = log(1/delta), k = floor(log2 n) phases and 4^k >= n^2/4, the sums are geometric:

    S <= 8 W^2/(eta n) + 512 theta l^2 eta/(n epsilon^2) + eta/6 + 32 eta l/(n^2 epsilon).

Projected, tau_i = 16 eta_i l'/epsilon with l'^2 = log(2/delta) <= 2 l^2 (delta <= 1/2), theta is m, E|Phi psi|^2 <= 1
and E|Phi w*|^2 <= W^2 keep the rest, and the projection costs G W^2/m (`rem-9-repaired`):

    S <= 8 W^2/(eta n) + 4096 m l^2 eta/(n epsilon^2) + eta/6 + 128 eta l/(n^2 epsilon) + G W^2/m.

Put eta = min{epsilon/(sqrt(theta) l), 1/sqrt(n)}, or with m for theta: eta is at most each of the two, and 1/eta at
most the sum of their inverses. Term by term, S <= C (sqrt(theta) l/(n epsilon) + 1/sqrt(n)), or
C (sqrt(m) l/(n epsilon) + 1/sqrt(n)) + G W^2/m. With m = lambda n epsilon, lambda = log(n/delta), as printed, the
latter is of order sqrt(lambda) l (n epsilon)^(-1/2) + n^(-1/2); with m = lambda (n epsilon)^(2/3) of order sqrt(lambda)
l (n epsilon)^(-2/3) + n^(-1/2). Both are for n epsilon >= 1 and delta <= 1/2; O~ omits lambda. m is rounded up to a
whole number, which at most doubles it.

Read literally, "eta = O(.)" allows steps that are as small as one likes, with which w stays where it started.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

Rates = tuple[Callable[..., Any], Callable[..., Any], Any, Callable[..., Any]]
"""Rates of Algorithm 2, of (theta, l, n, epsilon), and 3, of (l, n, n epsilon); p of m = (n epsilon)^p; a cost.

The cost is that of the model error, of G and M.
"""


_NAMES = ("n", "log", "theta", "budget", "W", "G", "M")


@functools.cache
def phase_sums() -> tuple[ProofStep, ...]:
    """The sums over phases are geometric; n_i >= n/2^(i + 1)."""
    i, n, eta, noise, rank = sympy.symbols("i n eta nu r", positive=True)
    step, size = eta / 4**i, n / 2 ** (i + 1)
    before = (noise * eta / 4 ** (i - 1)) ** 2 * rank / (2 * step * size)
    total = sympy.summation(sympy.powsimp(sympy.expand(before), force=True), (i, 2, sympy.oo))
    return (
        computed("the first phase costs 8 W^2/(eta n) at distance W", vanishes(
            (1 / (2 * step * size)).subs(i, 1) - 8 / (eta * n))),
        computed("noise nu eta_i costs at most 8 nu^2 r eta/n: 512 at nu = 8 l/epsilon, and projected 4096 at nu = 16 "
                 "sqrt(2) l/epsilon", vanishes(total - 8 * noise**2 * rank * eta / n)
                 and vanishes(8 * (8 * noise) ** 2 - 512 * noise**2)
                 and vanishes(8 * (16 * sympy.sqrt(2) * noise) ** 2 - 4096 * noise**2)),
        computed("the gradients' part sums to eta/6",
                 vanishes(sympy.summation(step / 2, (i, 1, sympy.oo)) - eta / 6)),
    )


def surrogate_gap(w: Any, eta: Any, n: Any, epsilon: Any, root_rank_log: Any, log_root: Any, *, projected: bool) -> Any:
    """The bound of the docstring without the loss of the projection; root_rank_log is sqrt(theta) l or sqrt(m) l."""
    noise, last = (4096, 128) if projected else (512, 32)
    start, spread = 8 * w**2 / (eta * n), noise * root_rank_log**2 * eta / (n * epsilon**2)
    return start + spread + eta / 6 + last * eta * log_root / (n**2 * epsilon)


def judge_rates(says: Rates, given: Domain) -> Finding:
    """Whether excess risks are of the claimed orders, with constants that depend on G and W alone."""
    plain, projected, power, cost = says
    small = sympy.Symbol("M", positive=True)
    if sympy.limit(cost(sympy.Integer(1), small) / small**2, small, 0, "+") == 0:
        return refuted("a sign that the features do not show costs G^2 M^2", {
            "G": 1, "M": "1/1000", "cost": Fraction(1, 10**6), "claimed": cost(1, Fraction(1, 1000))})
    tried = 0
    for point in given.points(at_most=60):
        n, log, theta, budget, w, g, m_ = (float(point[name]) for name in _NAMES)
        root, epsilon, tried = log**0.5, budget / n, tried + 1
        eta = min(epsilon / (theta**0.5 * root), n**-0.5)
        bound = surrogate_gap(w, eta, n, epsilon, theta**0.5 * root, root, projected=False)
        width = budget ** float(power)
        eta_p = min(epsilon / (width**0.5 * root), n**-0.5)
        other = surrogate_gap(w, eta_p, n, epsilon, width**0.5 * root, root, projected=True) + g * w * w / width
        if (bound > 1.001 * (600 + 8 * w * w) * float(plain(theta, root, n, epsilon))
                or other > 1.001 * (4400 + (8 + 2 * g) * w * w) * float(projected(root, n, budget))
                or g * g * m_ * m_ > 1.001 * (1 + g * g) * float(cost(g, m_))):
            return undecided(f"the derivation gives no such bound at n = {n:g}, n epsilon = {budget:g}", tried)
    return proof(
        *phase_sums(), *order_steps(plain, projected, power, given),
        computed("G^2 M^2 is at most 1 + G^2 times what the model error is said to cost, on symbols", never_negative(
            (1 + given.symbol("G") ** 2) * cost(given.symbol("G"), given.symbol("M"))
            - given.symbol("G") ** 2 * given.symbol("M") ** 2)),
        argued("regret bounds of SGD against a comparison point that no phase's own records chose, whether it is a "
               "minimiser or not, and means over the noise and the projection, as in the docstring"),
        tried=tried,
    )


def orders(w: Any, root_rank_log: Any, log_root: Any, n: Any, epsilon: Any, *, projected: bool) -> tuple[Any, Any]:
    """The coefficients' sums of S in front of root_rank_log/(n epsilon) and of 1/sqrt(n), from the two steps' terms."""
    noise, last = (4096, 128) if projected else (512, 32)
    short, root_n = epsilon / root_rank_log, sympy.sqrt(n)  # the two numbers whose smaller one is eta
    private, statistical = root_rank_log / (n * epsilon), 1 / root_n
    first = 8 * w**2 / n * (1 / short) / private + noise * root_rank_log**2 * short / (n * epsilon**2) / private
    second = 8 * w**2 / n * root_n / statistical + statistical / 6 / statistical + last  # the last noise: see below
    return sympy.simplify(first), sympy.simplify(second)


def order_steps(plain: Callable[..., Any], projected: Callable[..., Any], power: Any, given: Domain) -> list[ProofStep]:
    """S against the two rates, on symbols."""
    w, g = given.symbol("W"), given.symbol("G")
    n, epsilon, scaled, log_root = sympy.symbols("n epsilon Q l", positive=True)
    q, b, r = sympy.symbols("q b r", nonnegative=True)
    kappa, v, long = 1 + q, 1 + r, sympy.Rational(4, 5) + b  # sqrt(lambda), (n epsilon)^(1/6), l
    half = kappa * v ** (3 * sympy.Rational(str(Fraction(power))))  # sqrt(m)
    first, second = orders(w, scaled, log_root, n, epsilon, projected=False)
    first_p, second_p = orders(w, scaled, log_root, n, epsilon, projected=True)
    root_n = sympy.Symbol("N", positive=True)
    gap = (600 + 8 * w**2) * plain((scaled / log_root) ** 2, log_root, root_n**2, epsilon) - (
        first * scaled / (root_n**2 * epsilon) + second / root_n)
    gap_p = (4400 + (8 + 2 * g) * w**2) * kappa * projected(long, root_n**2, v**6) - (
        first_p * half * long / v**6 + second_p / root_n + g * w**2 / half**2)
    return [
        computed("S is at most (8 W^2 + 512) sqrt(theta) l/(n epsilon) + (8 W^2 + 33)/sqrt(n), projected with 4096 and "
                 "129 for m: 1/eta is at most the sum of both inverses, eta at most each of the two", vanishes(
                     first - 8 * w**2 - 512, first_p - 8 * w**2 - 4096) and never_negative(
                     8 * w**2 + 33 - second, 8 * w**2 + 129 - second_p)),
        computed("the last noise, 32 eta l/(n^2 epsilon) <= 32/(sqrt(theta) n^2), is at most 32/sqrt(n), theta >= 1",
                 vanishes(32 * (epsilon / scaled) * log_root / (n**2 * epsilon) - 32 * log_root / scaled / n**2)),
        computed("that is at most 600 + 8 W^2 times the first rate", never_negative(gap)),
        computed("projected, at most 4400 + (8 + 2G) W^2 times sqrt(log(n/delta)) times the second, for n epsilon >= 1 "
                 "and l >= 4/5", never_negative(gap_p)),
        computed("l >= 4/5 where delta <= 1/2, as e^(16/25) < 2", bool(sympy.exp(sympy.Rational(16, 25)) < 2)),
    ]


def judge_step_order(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the step size says(n)/sqrt(n) (epsilon = 1, theta = 1, l = 1) gives an excess of order 1/sqrt(n)."""
    n = sympy.Symbol("n", positive=True)
    sizes = given.values("n")
    scale = sympy.sympify(says(n))
    moved = sympy.limit(scale * sympy.sqrt(n), n, sympy.oo)  # the whole way of all steps is at most eta n/7
    if moved == 0:
        many = 10**12
        eta = sympy.sympify(says(sympy.Integer(many))) / 10**6
        way = eta * many / 7 + 3 * eta  # and the noise, E|zeta_1| + ... <= 3 eta
        least = (sympy.Rational(1, 4) - way) ** 2
        return refuted_by("the steps are so short that w stays at its start", {
            "link": "min(1, max(0, 1/2 + z))", "psi": 1, "w*": "1/4", "start": 0, "n": many, "eta": eta,
            "E|w| at most": way, "excess at least": least, "1/sqrt(n)": "1/1000000"},
            computed("the way of all steps tends to 0, so that the excess tends to 1/16 and not to 0",
                     moved == 0 and bool(least > sympy.Rational(1, 20))),
            argued("E (3/4 - link(w))^2 >= (1/4 - E|w|)^2 by Jensen, for a ramp of slope 1"))
    below = sympy.limit(scale, n, sympy.oo)
    if below.is_finite is not True or below.is_positive is not True:
        return undecided("the derivation covers steps of the exact order only", len(sizes))
    return proof(
        *phase_sums(),
        computed("8/(eta n) and eta are of order 1/sqrt(n)", all(
            sympy.limit(part, n, sympy.oo).is_finite is True for part in (8 / scale, scale / 6))),
        argued("S is the sum of these and of smaller ones"),
        tried=len(sizes),
    )


def judge_reach(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the surrogate's gap is of order W/sqrt(n) for every W, with the step says(W)/sqrt(n), epsilon = 1.

    A link that is 0 up to W - 1 and rises to 1 at W + 1, psi = 1, w* = W: up to W - 1 the surrogate falls by 1/2 a
    unit, and all steps together reach eta n/7 at most.
    """
    w, n = sympy.Symbol("W", positive=True), sympy.Symbol("n", positive=True)
    tried = len(list(given.points("W", "n")))
    if sympy.limit(says(w) / w, w, sympy.oo) == 0:
        size, many = 10**8, 10**4
        eta = sympy.sympify(says(sympy.Integer(size))) / 100
        least = (size - 1 - eta * many / 7 - 3 * eta) / 2
        i = sympy.Symbol("i", positive=True, integer=True)
        return refuted_by("the steps are too short for a target that far", {
            "link": "min(1, max(0, (z - W + 1)/2))", "psi": 1, "w*": size, "n": many, "eta": eta,
            "gap of the surrogate at least": least, "W/sqrt(n)": Fraction(size, 100),
            "their quotient": "grows like sqrt(n)/2"},
            computed("all steps reach eta n/7", vanishes(7 * sympy.summation(8**-i, (i, 1, sympy.oo)) - 1)),
            computed("the gap is far above W/sqrt(n)", bool(least > 10 * size / sympy.sqrt(many))),
            argued("the gap at w is at least (W - 1 - w)/2 for every w, so that its mean is at least that of E w"))
    scale = sympy.cancel(says(w) / w)
    if scale.has(w):
        return undecided("the derivation covers steps proportional to W", tried)
    first = 8 * w**2 / (says(w) / sympy.sqrt(n) * n) + says(w) / sympy.sqrt(n) / 6
    return proof(
        *phase_sums(),
        computed("8 W^2/(eta n) + eta/6 is a constant times W/sqrt(n)", not sympy.simplify(
            first / (w / sympy.sqrt(n))).free_symbols and scale.is_positive is True),
        argued("and the noise's terms have the factor eta, hence W"), tried=tried,
    )


_DISPLAY = (
    r"\mathbb{E}L_{\mathcal{P}}(w) - \min_h L_{\mathcal{P}}(h) &\leq "
    r"\tilde{O}\left(\min\left\{\frac{\sqrt{\theta \log \frac{1}{\delta}}}{n\epsilon}, \frac{\sqrt{\log "
    r"\frac{1}{\delta}}}{\sqrt{n\epsilon}}\right\}\right)"
)
_SETTING = (
    positive_integer("n"), positive("log", "log(1/delta)").at_least("16/25"), positive("theta").at_least(1),
    positive("budget", "n epsilon").at_least(1), positive("W"), positive("G"), non_negative("M"),
)
_MORE = "a larger bound is a bound, too"
_ORDER = "of the same order"


def plain_rate(theta: Any, log_root: Any, n: Any, epsilon: Any) -> Any:
    """sqrt(theta) l/(n epsilon) + 1/sqrt(n), of Algorithm 2."""
    return sympy.sqrt(theta) * log_root / (n * epsilon) + 1 / sympy.sqrt(n)


def printed_rate(log_root: Any, n: Any, budget: Any) -> Any:
    """l (n epsilon)^(-1/2) + 1/sqrt(n), as printed."""
    return log_root / sympy.sqrt(budget) + 1 / sympy.sqrt(n)


def improved_rate(log_root: Any, n: Any, budget: Any) -> Any:
    """l (n epsilon)^(-2/3) + 1/sqrt(n)."""
    return log_root / budget ** sympy.Rational(2, 3) + 1 / sympy.sqrt(n)


def no_statistics(theta: Any, log_root: Any, n: Any, epsilon: Any) -> Any:
    """The first rate without its statistical term."""
    return sympy.sqrt(theta) * log_root / (n * epsilon)


_REASONS = {"*1 % more": _MORE, "*(constant *": _MORE, "*(operator *": _MORE, "any ?": "only its square enters"}
_RESTS = ("nonconvex-nn/lem-7-strong", "nonconvex-nn/rem-9-repaired", "nonconvex-nn/lem-8-repaired",
          "nonconvex-nn/lem-9-averaged")

utility = Claim(
    id="nonconvex-nn/thm-8-utility",
    source="002, Theorem 8: the excess risk, with Theta for O in eta and m, delta <= 1/2 and n epsilon >= 1",
    quote=_DISPLAY, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\mathbb{E}L(w) - \min_h L(h) \le \tilde{O}\left(\min\left\{\frac{\sqrt{\theta L}}{n\epsilon}, "
              r"\frac{\sqrt L}{\sqrt{n\epsilon}}\right\} + \frac{1}{\sqrt n} + M^2 + M\right),\ L = \log(1/\delta)",
    words="Algorithm 9 has the two printed rates, and the model error costs the order M^2 + M; it is not tight",
    hypotheses=_SETTING,
    says=(plain_rate, printed_rate, Fraction(1), lambda g, m: m**2 + m), check=judge_rates,
    flips=(
        Flip("M^3 for the model error", (plain_rate, printed_rate, Fraction(1), lambda g, m: m**3), Verdict.REFUTED),
        Flip("no statistical term", (no_statistics, printed_rate, Fraction(1), lambda g, m: m**2 + m),
             Verdict.UNDECIDED),
        Flip("the improved rate, with the printed m", (plain_rate, improved_rate, Fraction(1), lambda g, m: m**2 + m),
             Verdict.UNDECIDED),
    ),
    uses=("nonconvex-nn/lem-7", "nonconvex-nn/thm-8-proof-lipschitz", "nonconvex-nn/thm-1-utility",
          "nonconvex-nn/thm-2-utility"),
    rests_on=_RESTS, expected="HOLDS ARGUED",
    true_variants={**_REASONS, "[[]3] squared": "(M^2 + M)^2 is at least M^2, which is enough"},
)
improved = Claim(
    id="nonconvex-nn/thm-8-improved",
    source="a finding of ours: 002, Theorem 8 with m of order log(n/delta) (n epsilon)^(2/3), and G^2 M^2",
    severity=Stake.UTILITY,
    statement=r"\mathbb{E}L(w) - \min_h L(h) \le \tilde{O}\left(\min\left\{\frac{\sqrt{\theta L}}{n\epsilon}, "
              r"\frac{\sqrt L}{(n\epsilon)^{2/3}}\right\} + \frac{1}{\sqrt n}\right) + G^2 M^2",
    words="Algorithm 9 has the rate (n epsilon)^(-2/3) of Theorem 2, and the model error costs G^2 M^2",
    hypotheses=_SETTING,
    says=(plain_rate, improved_rate, Fraction(2, 3), lambda g, m: g**2 * m**2), check=judge_rates,
    flips=(
        Flip("the printed m", (plain_rate, improved_rate, Fraction(1), lambda g, m: g**2 * m**2), Verdict.UNDECIDED),
        Flip("G^2 M^3", (plain_rate, improved_rate, Fraction(2, 3), lambda g, m: g**2 * m**3), Verdict.REFUTED),
    ),
    rests_on=_RESTS, true_variants=_REASONS,
    expected="HOLDS ARGUED",
)
literal = Claim(
    id="nonconvex-nn/big-O-parameters-thm-8", source="002, Theorem 8: eta = O(.), read as an upper bound only",
    quote=r"if $\eta = O(\min\{\frac{\epsilon}{\sqrt{\theta \log \frac{1}{\delta}}}, \frac{1}{\sqrt{n}}\}) \leq "
          r"\frac{1}{G}$ in Algorithm 2",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\eta = O(\min\{\cdot\}) \Rightarrow \mathbb{E}L(w) - \min_h L(h) = O(1/\sqrt n + \dots)",
    words="any step size up to the order of the printed one will do, 1/n of it say",
    hypotheses=(positive_integer("n"),), says=lambda n: 1 / n, check=judge_step_order, expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\eta = \Theta(\min\{\cdot\}) \Rightarrow \dots", words="the step must be of that order exactly",
        says=lambda n: 1 + 0 * n, expected="HOLDS ARGUED", source="002, Theorem 8 with eta = Theta(.)",
        true_variants=dict.fromkeys(("1 % *", "squared", "*constant*", "*operator*", "any n"), _ORDER),
    ),
)
reach = Claim(
    id="nonconvex-nn/thm-8-proof-W", source="002, proof of Theorem 8, the last display, with the step of the theorem",
    quote=r"L_{\mathcal{P}}^\ell(w) - L_{\mathcal{P}}^\ell(w^*) \leq \tilde{O}(W \frac{1}{\sqrt{m}} + "
          r"W(\frac{\sqrt{m \log \frac{1}{\delta}}}{n\epsilon} + \frac{1}{\sqrt{n}})).",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"L^\ell(w) - L^\ell(w^*) = \tilde{O}(W/\sqrt n + \dots) \text{ with } "
              r"\eta = \Theta(\min\{\cdot, 1/\sqrt n\})",
    words="the surrogate's gap is linear in W with a step that does not know W, as Theorems 10 and 11 need",
    hypotheses=(positive("W"), positive_integer("n")), says=lambda w: 1 + 0 * w, check=judge_reach,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"L^\ell(w) - L^\ell(w^*) = \tilde{O}(W/\sqrt n + \dots) \text{ with } "
                  r"\eta = \Theta(W\min\{\cdot\})",
        words="the gap is linear in W if the step is proportional to W; with the printed step it is of order W^2",
        says=lambda w: w, expected="HOLDS ARGUED", source="002, proof of Theorem 8, with a step proportional to W",
        flips=(Flip("the root of W", lambda w: sympy.sqrt(w), Verdict.REFUTED),),
        true_variants={"1 % *": _ORDER, "any *": "growth is at infinity"},
    ),
)
