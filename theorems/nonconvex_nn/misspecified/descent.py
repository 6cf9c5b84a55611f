r"""One step of Algorithm 8 of document 002: Lemmas 13 to 15 and the displays (12) to (15).

Write u = w_(i-1) - w_l, Delta = gradient(w_(i-1)) - gradient(w_l) on batch D_i, g = gradient(w_l) on it, zeta the
noise, a = g + zeta: w_i - w_l = u - eta (Delta + a), so

    |w_i - w_l|^2 = |u|^2 - 2 eta <Delta + a, u> + eta^2 |Delta + a|^2            (the text has eta for 2 eta).

With Lemma 14, <Delta,u> >= tau |u|^2 + beta |Delta|^2, and |a|^2 <= 2 (|g|^2 + |zeta|^2), the right form of (12) is

    |w_i - w_l|^2 <= (1 - tau eta) |u|^2 + eta (4 eta + 2/tau)(|g|^2 + |zeta|^2),        eta <= beta,

as the difference is at least eta times (tau |u|^2 + 2 <a,u> + |a|^2/tau) + ((2 beta - eta) |Delta|^2 - 2 eta <Delta,a>
+ eta |a|^2), two forms that are not negative. The printed one, (1 - tau eta/2) and eta (4 eta + 1/tau), fails where
Lemma 14 is an equality: one dimension, Delta = lambda u with lambda = tau + beta lambda^2, g = zeta.

Lemma 14. For every sample, in the notation of `surrogate`, <Delta,u> = mean D g >= mean D^2, and |Delta|^2 = |mean D
x|^2 <= l mean D^2, l the largest eigenvalue of the sample's second moment matrix. So if l <= 4 and mean D g >= (2/3) mu
|u|^2 for all w, then <Delta,u> = half + half >= (mu/3)|u|^2 + |Delta|^2/8: the lemma, and for all w, not only on the
shell. Both events hold with probability 1 - zeta for n >= C d log^c(d/(mu zeta))/mu^2: (i) l <= 4 by a matrix Chernoff
bound, as |x|^2 <= C d, once n >= C' d log(d/zeta). (ii) Let h = D g/|u|^2 <= <u^,x>^2, u^ = u/|u|, and cut it off: h_K
= min(h, K^2). E(h - h_K) <= E[<u^,x>^2; |<u^,x>| > K] <= mu/6 for K = c log(1/mu), as log-concave marginals have
exponential tails. The functions h_K are made from d + 2 parameters by finitely many comparisons of polynomials of
bounded degree, so their pseudo-dimension is O(d), and n >= C K^4 (d log n + log(1/zeta))/mu^2 records bring all their
means within mu/6 of their expectations. So mean h >= mean h_K >= mu - mu/6 - mu/6.

Lemma 13. For a fixed w the mean of n records' gradients has E|mean - gradient|^2 <= E (relu(<w,x>) - y)^2 |x|^2/n <=
R^2 (2 |w|^2 + 2 B^2)/n, so by Chebyshev's inequality it is within alpha with probability 1 - zeta once n >= R^2 (2
|w|^2 + 2 B^2)/(zeta alpha^2). What the text bounds is the mean itself, which tends to the gradient at w and not to 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from oracle.core.enclosure import Enclosure
from theorems.given import Domain
from theorems.nonconvex_nn.misspecified.laws import UNIFORM, share
from theorems.nonconvex_nn.misspecified.surrogate import below_its_argument
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, argued, computed, proof, refuted, undecided

Pair = tuple[Callable[..., Any], Callable[..., Any]]


def judge_expansion(factor: Any, given: Domain) -> Finding:
    """Whether |u - eta v|^2 = |u|^2 - factor eta <v,u> + eta^2 |v|^2."""
    eta = sympy.Symbol("eta", positive=True)
    u, v = sympy.symbols("u v", real=True)
    gap = sympy.expand((u - eta * v) ** 2 - (u**2 - factor * eta * v * u + eta**2 * v**2))
    if gap != 0:
        return refuted("one dimension, u = v = eta = 1", {
            "u": 1, "v": 1, "eta": 1, "|u - eta v|^2": 0, "claimed": 2 - factor})
    return proof(computed("the square of a difference, coordinate by coordinate", gap == 0),
                 tried=len(given.values("eta")))


def judge_twelve(says: Pair, given: Domain) -> Finding:
    """Whether |w_i - w_l|^2 <= kept(tau, eta) |u|^2 + added(tau, eta) (|g|^2 + |zeta|^2) follows from Lemma 14."""
    kept, added = says
    tau, beta, eta = Fraction(1, 6), Fraction(1, 8), Fraction(1, 16)  # mu = 1/2
    slope = Fraction(1703, 10000)  # tau + beta slope^2 is a little below slope
    for at in (Fraction(1, 3), Fraction(1), Fraction(0), Fraction(5)):
        left = (1 - eta * slope + eta * at) ** 2  # u = 1, Delta = slope, g = zeta = -at/2
        right = kept(tau, eta) + added(tau, eta) * at**2 / 2
        if left > right and slope >= tau + beta * slope**2:
            return refuted("one dimension, gradients that rise as slowly as Lemma 14 lets them", {
                "tau": tau, "beta": beta, "eta": eta, "u": 1, "Delta": slope, "g": -at / 2, "zeta": -at / 2,
                "|w_i - w_l|^2": left, "claimed": right})
    t, e, b = sympy.symbols("tau eta s", positive=True)
    u, d, a = sympy.symbols("u Delta a", real=True)
    beta_ = e + b  # eta <= beta
    after = u**2 - 2 * e * (t * u**2 + beta_ * d**2) - 2 * e * a * u + e**2 * (d + a) ** 2
    squares = e * ((sympy.sqrt(t) * u + a / sympy.sqrt(t)) ** 2 + e * (d - a) ** 2 + 2 * b * d**2)
    room = kept(t, e) * u**2 + added(t, e) * a**2 / 2 - after - squares
    x, y = (sympy.expand(sympy.diff(room, v, 2) / 2) for v in (u, a))
    mixed = sympy.expand(room - x * u**2 - y * a**2)
    tried = [given.values(name) for name in ("tau", "eta")]
    return proof(
        computed("what is left beside squares has no mixed terms and no negative ones",
                 vanishes(mixed) and never_negative(x, y)),
        argued("<Delta,u> >= tau |u|^2 + beta |Delta|^2, eta <= beta, and |g + zeta|^2 <= 2 |g|^2 + 2 |zeta|^2; inner "
               "products are sums over coordinates"),
        tried=sum(map(len, tried)) + 4,
    )


def judge_nonexpansive(step: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether |u - eta Delta| <= |u| for eta <= 1/16 and all Delta with <Delta,u> >= step(beta, |Delta|^2)."""
    beta, eta = Fraction(1, 8), Fraction(1, 16)
    for slope in (Fraction(100), Fraction(40), Fraction(8), Fraction(1)):
        if slope >= step(beta, slope**2) and abs(1 - eta * slope) > 1:
            return refuted("the quadratic of that curvature is convex, and the step overshoots", {
                "loss": f"{slope} t^2/2", "eta": eta, "u": 1, "Delta": slope, "<Delta, u>": slope,
                "|u - eta Delta|": abs(1 - eta * slope)})
    eta_, more, d = sympy.symbols("eta t D", positive=True)
    beta_ = eta_ / 2 + more  # eta <= 2 beta
    return proof(
        computed("|u|^2 - |u - eta Delta|^2 = 2 eta <Delta,u> - eta^2 |Delta|^2 is not negative", never_negative(
            2 * eta_ * step(beta_, d**2) - eta_**2 * d**2)),
        tried=4 + len(given.values("eta")),
    )


def judge_induction(added: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether (1 - tau eta/4) |u|^2 + added(tau, eta, alpha) <= 4 |w_l|^2 for |u| <= 2 |w_l|, alpha < |w_l| = 1."""
    tried = 0
    for point in led(given, share="9/10", tau="1/6", eta="1/16"):
        tau, eta, alpha = point["tau"], point["eta"], point["share"]
        tried += 1
        reached = (1 - tau * eta / 4) * 4 + added(tau, eta, alpha)
        if reached > 4:
            return refuted("at |u| = 2 |w_l| the sum is above 4 |w_l|^2", {
                "|w_l|": 1, "alpha": alpha, "tau": tau, "eta": eta, "|u|": 2, "sum": reached, "claimed at most": 4})
    tau_, eta_ = given.symbol("tau"), given.symbol("eta")
    alpha_ = given.chart("share")
    return proof(
        computed("tau eta - added is not negative", never_negative(tau_ * eta_ - added(tau_, eta_, alpha_))),
        argued("the sum is largest at |u| = 2 |w_l|"),
        tried=tried,
    )


def judge_square(target: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether (1/tau)(4 eta + 1/tau) g^2 <= alpha^2/9 for g^2 = target(tau, beta, alpha), beta = 1/8, eta <= 1/16."""
    beta, tried = Fraction(1, 8), 0
    for point in led(given, alpha="3", tau="1/6", eta="1/16"):
        alpha, tau, eta = point["alpha"], point["tau"], point["eta"]
        tried += 1
        term = (4 * eta + 1 / tau) * target(tau, beta, alpha) / tau
        if not 0 <= term <= alpha**2 / 9:
            return refuted("the term is larger than alpha^2/9, or no square", {
                "alpha": alpha, "tau": tau, "beta": beta, "eta": eta, "g^2": target(tau, beta, alpha), "term": term,
                "claimed at most": alpha**2 / 9})
    tau_, alpha_, eta_ = given.chart("tau"), given.symbol("alpha"), given.chart("eta")
    term_ = (4 * eta_ + 1 / tau_) * target(tau_, sympy.Rational(1, 8), alpha_) / tau_
    return proof(
        computed("alpha^2/9 minus the term is not negative, for eta <= 1/16", never_negative(alpha_**2 / 9 - term_)),
        tried=tried,
    )


def judge_geometric(total: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether steps e <- (1 - tau eta/2) e + eta c add up to at most total(tau, eta) c, however many there are."""
    tried = 0
    for point in led(given, tau="1/6", eta="1/16"):
        tau, eta = point["tau"], point["eta"]
        tried += 1
        most = 2 / tau  # the sum of all powers of 1 - tau eta/2, times eta
        if total(tau, eta) < most:
            return refuted("the sum of a geometric series of ratio 1 - tau eta/2", {
                "tau": tau, "eta": eta, "sum": most, "claimed": total(tau, eta)})
    tau_, eta_ = given.symbol("tau"), given.symbol("eta")
    return proof(
        computed("eta/(1 - (1 - tau eta/2)) = 2/tau is within it",
                 vanishes(eta_ / (1 - (1 - tau_ * eta_ / 2)) - 2 / tau_)
                 and never_negative(total(tau_, eta_) - 2 / tau_)),
        tried=tried,
    )


def judge_cases(sums: tuple[Fraction, Fraction, Fraction], given: Domain) -> Finding:
    """Whether (14) and (15) add up: parts of alpha^2 in Case 1, of alpha after a step of Case 2, of alpha^2 in (15)."""
    one, step, two = sums
    for alpha in given.values("alpha"):
        if 2 * alpha**2 / 9 + 2 * alpha**2 / 9 > one * alpha**2 or alpha / 3 + alpha / 3 > step * alpha:
            return refuted("the parts are more", {"alpha": alpha, "Case 1": Fraction(4, 9), "step": Fraction(2, 3)})
        if (step * alpha) ** 2 + 2 * alpha**2 / 9 > two * alpha**2:
            return refuted("the parts are more", {"alpha": alpha, "(15)": step**2 + Fraction(2, 9), "claimed": two})
    if max(one, two) > 1 or step > 1:
        return refuted("more than alpha", {"alpha": 1, "largest": max(one, two, step)})
    exact = (one, step, two) == (Fraction(4, 9), Fraction(2, 3), Fraction(2, 3))
    if not exact:
        return undecided("a weaker sum than the parts give", 1)
    return proof(computed("2/9 + 2/9 = 4/9, 1/3 + 1/3 = 2/3, (2/3)^2 + 2/9 = 2/3, all at most 1", exact))


def judge_lemma_13(limit: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the mean of gradients tends to limit(gradient at w); the text's sigmoid, w = 1, y = 0, x uniform."""
    root = arb(3).sqrt()
    least = (root / 2).tanh() / (2 * root)  # E x tanh(x/2)/2 >= E x^2 tanh(T)/(4T), T = sqrt(3)/2: tanh is concave
    for gradient in (Fraction(1, 5), *given.values("gradient")):
        if limit(gradient) != gradient:
            return refuted_by(
                "however many records there are, the mean stays at the gradient at w",
                {"x": UNIFORM, "y": 0, "w": 1, "link": "sigmoid",
                 "gradient above": Enclosure.of_ball(least), "claimed limit": limit(gradient)},
                computed("the gradient there is above 1/5", bool(least > arb(1) / 5)),
                argued("the law of large numbers; tanh(t)/t falls in t > 0, and sigmoid(x) = 1/2 + tanh(x/2)/2"),
            )
    free = sympy.Symbol("g", real=True)
    return proof(
        computed("the mean is compared with the gradient itself", vanishes(limit(free) - free)),
        argued("its mean square deviation is at most R^2 (2 |w|^2 + 2 B^2)/n: lem-13-size"),
        tried=6,
    )


def judge_size(size: Callable[..., Any], given: Domain) -> Finding:
    """Whether n = size(R^2, |w|, B, alpha, zeta) records bring the mean within alpha of the gradient, by Chebyshev."""
    tried = 0
    names = ("square", "weight", "label", "alpha", "zeta")
    for point in given.points(*names, at_most=60):
        square, w, label, alpha, zeta = (Fraction(point[name]) for name in names)
        tried += 1
        variance = square * (2 * w**2 + 2 * label**2)
        if size(square, w, label, alpha, zeta) * zeta * alpha**2 < variance:
            return refuted("Chebyshev's inequality does not give it", {
                "R^2": square, "|w|": w, "B": label, "alpha": alpha, "zeta": zeta,
                "n": size(square, w, label, alpha, zeta), "needed": variance / (zeta * alpha**2)})
    square_, w_, label_, alpha_, zeta_ = (given.symbol(name) for name in names)
    p, q = sympy.symbols("p q", real=True)
    return proof(
        computed("(p - q)^2 <= 2 p^2 + 2 q^2", vanishes(2 * p**2 + 2 * q**2 - (p - q) ** 2 - (p + q) ** 2)),
        computed("variance/(n alpha^2) is at most zeta", never_negative(
            size(square_, w_, label_, alpha_, zeta_) * zeta_ * alpha_**2 - square_ * (2 * w_**2 + 2 * label_**2))),
        argued("independent records: E|mean - gradient|^2 <= E|gradient of one|^2/n, and E relu(<w,x>)^2 <= |w|^2"),
        tried=tried,
    )


def judge_coercive(says: tuple[Callable[[Any], Any], Fraction], given: Domain) -> Finding:
    """Whether <Delta,u> >= tau(mu) |u|^2 + beta |Delta|^2 for large samples, (tau, beta) = says."""
    tau, beta = says
    for mu in (Fraction(1, 2), share(1), share(7)):  # the population, one dimension, w and w_l below 0
        if mu < tau(mu) + beta * mu**2:
            return refuted("one dimension, both negative: Delta = mu u", {
                "mu": mu, "u": 1, "<Delta, u>": mu, "tau": tau(mu), "beta": beta, "right side": tau(mu) + beta * mu**2})
        if 1 - mu < tau(mu) + beta * (1 - mu) ** 2:
            return refuted("one dimension, both positive: Delta = (1 - mu) u", {
                "mu": mu, "u": 1, "<Delta, u>": 1 - mu, "tau": tau(mu), "beta": beta,
                "right side": tau(mu) + beta * (1 - mu) ** 2})
    mu_ = given.symbol("mu")
    b = sympy.Rational(str(beta))
    first = 3 * tau(mu_) / (2 * mu_)  # this part of <Delta,u> >= (2/3) mu |u|^2, and 4 beta of it >= |Delta|^2/4
    return proof(
        below_its_argument(),
        computed("3 tau/(2 mu) + 4 beta <= 1: the two lower bounds of <Delta,u>, mixed",
                 never_negative(1 - first - 4 * b) and beta >= 0 and never_negative(tau(mu_))),
        argued("with high probability the sample's second moments are at most 4 and its curvature at least 2 mu/3, for "
               "all w at once: matrix Chernoff, and uniform convergence of a cut-off class of pseudo-dimension O(d)"),
        tried=len(given.values("mu")) + 3,
    )


def judge_noise_size(size: Callable[..., Any], given: Domain) -> Finding:
    """Whether m >= size(d, |w|, B, epsilon, alpha, log) and |noise|^2 = d s^2 keep |w_1 - w_l| <= 2 |w_l|.

    w_0 = 0, tau = 1/6, eta = 1/16, no error of the batch, s = sqrt(8) B log/(m epsilon), the text's noise at w_0; log
    is sqrt(log(1/delta) log(1/zeta)), all hidden factors 1.
    """
    tried = 0
    for point in led(given, at_most=60, dimension=10**8, label="1", epsilon="1/2", log="10"):
        d = sympy.Integer(point["dimension"])
        label, eps, log = (sympy.Rational(str(point[name])) for name in ("label", "epsilon", "log"))
        w = label / sympy.sqrt(d)  # |w_l|: the two parts of the noise are alike
        m = sympy.sympify(size(d, w, label, eps, w / 2, log))
        noise = 8 * d * label**2 * log**2 / sympy.expand((m * eps) ** 2)  # |zeta|^2; the gradient at 0 is -w_l/2
        far = (16 * (2 + 1 + sympy.Rational(1, 32)) * w) ** 2  # eta |zeta| > 3 |w_l| + eta |w_l|/2 is too long
        tried += 1
        if m.is_positive is not True or noise > far:
            return refuted_by(
                "the noise of the first step alone is too long",
                {"d": d, "B": label, "epsilon": eps, "|w_l|": w, "alpha": w / 2, "log factors": log, "m^2": m**2,
                 "|noise|^2": noise, "eta": "1/16", "too long beyond |noise|^2": far},
                computed("|w_1 - w_l| >= |noise|/16 - |w_l| - |w_l|/32 > 2 |w_l|, in squares", bool(noise > far)),
                argued("a hidden constant K is made up for by a dimension larger by K^2, a power of log d likewise"),
            )
    r, w_, label_, eps_, alpha_, log_ = sympy.symbols("r w B epsilon alpha l", positive=True)
    tau, eta = sympy.Rational(1, 6), sympy.Rational(1, 16)
    m_ = size(r**2, w_, label_, eps_, alpha_, log_)
    square = 8 * r**2 * (3 * r * w_ + label_) ** 2 * log_**2 / (m_ * eps_) ** 2  # |zeta|^2, as |w_(i-1)| <= 3 |w_l|
    return proof(
        computed("eta (4 eta + 2/tau) |zeta|^2 is at most a multiple of eta tau alpha^2", never_negative(
            288 * tau * eta * alpha_**2 - sympy.expand(eta * (4 * eta + 2 / tau) * square))),
        argued("so a constant times that m keeps the induction going, as in lem-15-induction-repaired"),
        tried=tried,
    )
