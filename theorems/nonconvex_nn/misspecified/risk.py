r"""From the surrogate's gradient to the risk (document 002, (11), Theorem 7): with a square, and with 1/mu.

(11). By Lemma 12 with a constant c (1/mu will do) and Lemma 11,

    E(relu(<w,x>) - relu(<w*,x>))^2 <= c |chi_w - chi_w*|^2 <= 2c |grad L^l(w)|^2 + 2c L(w*).

The text drops the square of the gradient. For y = 0 and symmetric x it is w* = 0, L(w*) = 0, |grad| = |w|/2 and the
left side is |w|^2/2, which no multiple of |w| bounds.

The limit of the algorithm. Let r = y - relu(<w*,x>), L* = E r^2, D = relu(<w_l,x>) - relu(<w*,x>), g = <w_l - w*, x>,
r_l = r - D. At w_l the gradient vanishes: E r_l x = 0, so r_l is orthogonal to g. Let rho^2 = E r_l^2 = L(w_l), p = E D
g/|g| (norms in mean square), and s^2 = E D^2 - p^2 the part of D that is orthogonal to g. Then L* = E(r_l + D)^2 >=
(rho - s)^2 + p^2, and

    ((rho - s)^2 + p^2)(p^2 + s^2) - p^2 rho^2 = (rho s - s^2 - p^2)^2 >= 0,   so   L* >= rho^2 p^2/(p^2 + s^2).

p^2 + s^2 = E D^2 <= E D g = p |g|, and E D g >= mu |g|^2 gives p >= mu |g|: L* >= rho^2 p/|g| >= mu L(w_l). So

    L(w_l) <= L(w*)/mu,

for every isotropic law of strong convexity mu, and it is attained: in one dimension with y = -max(0, x) the best w* is
0, w_l = -(1-p)/p with p = E[x^2; x < 0] = mu, and L(w_l)/L(w*) = 1/p. The text promises 2 (1 + 2 mu), which is less
than 1/mu if and only if mu < (sqrt(5) - 1)/4 = 0.309; the law of falling powers with k = 7 has mu = 0.3071 and is
bounded, |x|^2 <= 80. In d dimensions take it for the first coordinate and the uniform law on the ball of radius
sqrt(d + 1) for the others: relu >= 0 still makes w* = 0 best, w_l and both risks are the same, mu is no larger, and
|x|^2 <= 80 + d + 1, which is at most C^2 d for d >= 81/(C^2 - 1). So it fails for |x| <= C sqrt(d), whatever C > 1 is.

Symmetric x. relu(a) = (a + |a|)/2, so with u = w - w*: relu(<w,x>) - relu(<w*,x>) = <u,x>/2 + q, q even and |q| <=
|u|/2 in mean square; r = <v,x>/2 + t, t orthogonal to the linear functions, w_l = w* + v, L* = |v|^2/4 + |t|^2; with
e = |w - w_l|^2 = |u - v|^2: L(w) = e/4 + |q - t|^2 <= e/4 + (sqrt(e)/2 + |v|/2 + |t|)^2, and |v|/2 + |t| <= sqrt(2 L*).

Distance in mean square. Records and noise of a step are fresh: E|w_i - w_l|^2 <= q^2 E|w_(i-1) - w_l|^2 + eta^2 (rho^2
E L(w_(i-1))/m + d E s_i^2), where |x| <= rho, q = max(|1 - eta mu|, |1 - eta|) (the gradient of a mu-strongly convex
and 1-smooth function), or |1 - eta/2| for symmetric x: the mean gradient of a batch has variance at most
E|gradient|^2/m. With noise s_i = nu rho (rho |w_(i-1)| + 2B)/m, E s_i^2 <= (nu rho/m)^2 (rho (sqrt(e) + |w_l|) + 2B)^2
where e bounds E|w_(i-1) - w_l|^2, as E(sqrt(X) + c)^2 <= (sqrt(E X) + c)^2; likewise E R(X) <= R(E X). All terms rise
in e, so that upper bounds propagate.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from oracle.core.domain import Parameter, non_negative
from oracle.core.enclosure import ball
from theorems.given import Domain
from theorems.nonconvex_nn.misspecified.laws import UNIFORM, law_steps, limit_of, one_sided_risk, reach, share
from theorems.nonconvex_nn.misspecified.surrogate import below_its_argument
from theorems.tools.refutations import refuted_by
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, argued, computed, proof, refuted

Bound = Callable[[Any, Any, Any], Any]
_POWERS = (7, 0, 1, 10)


def _judge_gradient(bound: Bound, given: Domain, total: bool) -> Finding:
    """Whether bound(c, L*, |gradient|) is above E(relu - relu*)^2, or above L(w) if `total`, by Lemmas 11 and 12."""
    tried = 0
    for c in given.values("constant"):
        w = 8 * c  # x uniform on [-sqrt(3), sqrt(3)], y = 0: w* = 0, L(w) = w^2/2, gradient w/2
        tried += 1
        if w**2 / 2 > bound(c, Fraction(0), w / 2):
            return refuted("y = 0 and x symmetric", {
                "x": UNIFORM, "y": 0, "constant": c, "w": w, "L(w*)": 0, "|gradient|": w / 2, "left side": w**2 / 2,
                "claimed": bound(c, Fraction(0), w / 2)})
    for best in given.values("best"):
        for g in given.values("gradient"):
            tried += 1
            c = Fraction(2)
            chain = 2 * c * best + 2 * c * g**2
            if bound(c, best, g) < (2 * best + 2 * chain if total else chain):
                return refuted("less than the lemmas give", {
                    "constant": c, "L(w*)": best, "|gradient|": g, "claimed": bound(c, best, g), "the lemmas": chain})
    c_ = given.chart("constant")
    best_, g_ = sympy.symbols("L g", nonnegative=True)
    one, other = sympy.symbols("a b", real=True)
    chain_ = 2 * c_ * best_ + 2 * c_ * g_**2
    return proof(
        computed("|chi_w - chi_w*|^2 <= 2 |chi_w - chi_P|^2 + 2 |chi_w* - chi_P|^2: the rest is a square",
                 vanishes(2 * one**2 + 2 * other**2 - (one - other) ** 2 - (one + other) ** 2)),
        computed("the bound is at least what Lemmas 11 and 12 give"
                 + (", doubled and added to 2 L(w*)" if total else ""),
                 never_negative(bound(c_, best_, g_) - (2 * best_ + 2 * chain_ if total else chain_))),
        argued("Lemma 12 bounds the left side by c |chi_w - chi_w*|^2, Lemma 11 the last part by L(w*)"),
        tried=tried,
    )


def judge_difference(bound: Bound, given: Domain) -> Finding:
    """(11)."""
    return _judge_gradient(bound, given, total=False)


def judge_total(bound: Bound, given: Domain) -> Finding:
    """(11) with the triangle inequality."""
    return _judge_gradient(bound, given, total=True)


def limit_steps(constant: Callable[[Any], Any]) -> tuple[ProofStep, ...]:
    """The proof that L(w_l) <= constant(mu) L(w*)."""
    rho, p, s = sympy.symbols("rho p s", real=True)
    mu, more, length = sympy.symbols("mu t g", positive=True)
    gap = ((rho - s) ** 2 + p**2) * (p**2 + s**2) - p**2 * rho**2
    long = mu * length + more  # p, at least mu |g|
    return (
        below_its_argument(),
        computed("((rho - s)^2 + p^2)(p^2 + s^2) - p^2 rho^2 is the square of rho s - s^2 - p^2",
                 vanishes(gap - (rho * s - s**2 - p**2) ** 2)),
        computed("p^2/(p |g|) is at least mu where p >= mu |g|", never_negative(long**2 / (long * length) - mu)),
        computed("1/mu is within the constant", never_negative(constant(mu) - 1 / mu)),
        argued("at w_l the residual is orthogonal to linear functions; E D^2 <= E D g = p |g| and E D g >= mu |g|^2"),
    )


def judge_limit(constant: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether L(w_l) <= constant(mu) L(w*) where the surrogate's minimiser is w_l, the algorithm's limit."""
    for power in _POWERS:
        mu = share(power)
        w = limit_of(mu)
        best, reached = one_sided_risk(mu, Fraction(0)), one_sided_risk(mu, w)
        if reached > constant(mu) * best:
            return refuted_by(
                "one dimension, y = -max(0, x), a bounded log-concave law: the density of t is (k+1)(1-t)^k",
                {"k": power, "mu": mu, "|x|^2 at most": reach(power), "w_l": w, "L(w*)": best, "L(w_l)": reached,
                 "claimed factor": constant(mu), "L(w_l)/L(w*)": reached / best},
                *law_steps(power),
            )
    for mu in given.values("mu"):  # shares that some law has, log-concave or not
        if constant(mu) < 1 / mu:
            return refuted("x = -sqrt(mu/(1-mu)) or sqrt((1-mu)/mu), y = -max(0, x)", {
                "mu": mu, "claimed factor": constant(mu), "L(w_l)/L(w*)": 1 / mu})
    return proof(*limit_steps(constant), tried=len(_POWERS))


def judge_symmetric_limit(factor: Fraction, given: Domain) -> Finding:
    """Whether L(w_l) <= factor L(w*) for symmetric features, where mu = 1/2."""
    mu = share(0)
    best, reached = one_sided_risk(mu, Fraction(0)), one_sided_risk(mu, limit_of(mu))
    if reached > factor * best:
        return refuted("x uniform, y = -max(0, x)", {"L(w*)": best, "L(w_l)": reached, "claimed factor": factor})
    v, t = sympy.symbols("v t", nonnegative=True)
    room = sympy.Rational(str(factor)) * (v**2 / 4 + t**2) - (v / 2 + t) ** 2 - (v / 2 - t) ** 2
    return proof(
        computed("(|v|/2 + |t|)^2 <= factor (|v|^2/4 + |t|^2)", never_negative(room)),
        argued("L(w_l) <= (|v|/2 + |t|)^2, L(w*) = |v|^2/4 + |t|^2, as even and linear functions of x are orthogonal"),
        study_step("misspecified-promise"),
    )


def judge_bounded(constant: Callable[[Any], Any], given: Domain) -> Finding:
    """The same for |x| <= C sqrt(d): a bounded law as the first coordinate, a uniform ball for the others."""
    mu, wide = share(7), reach(7)
    for c in (Fraction(2), *given.values("C")):
        dimension = -(-(wide + 1) // (c**2 - 1))
        if wide + dimension + 1 <= c**2 * dimension and constant(mu) < 1 / mu:
            return refuted_by(
                "the law of falling powers as first coordinate, y = -max(0, x_1): mu is at most its share",
                {"C": c, "d": dimension, "|x|^2 at most": wide + dimension + 1, "C^2 d": c**2 * dimension, "k": 7,
                 "E[x_1^2; x_1 < 0]": mu, "claimed factor at most": constant(mu), "L(w_l)/L(w*)": 1 / mu},
                *law_steps(7),
                argued("the others, uniform on a ball of radius sqrt(d + 1), are independent of x_1 and isotropic: w*, "
                       "w_l "
                       "and the risks stay, and mu is a least value over more directions"),
            )
    return proof(*limit_steps(constant), tried=1)


def judge_lemma_constant(factor: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether L(w_l) <= factor(c) L(w*) for the constant c >= 1/mu of Lemma 12."""
    for c in given.values("constant"):
        if factor(c) < c:
            return refuted("1/mu = c is attained", {"c": c, "claimed factor": factor(c), "L(w_l)/L(w*)": c})
    c_ = given.chart("constant")
    return proof(computed("the factor is at least c >= 1/mu", never_negative(factor(c_) - c_)), tried=6)


def judge_utility(promised: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether L(w_T) <= promised(mu) L(w*) + alpha without noise, at alpha = 1/100 and 10^4 steps of 1/16."""
    w_l, keep, eta, m_ = sympy.symbols("w_l k eta mu", real=True)  # 1 - mu = -mu w_l
    for power in _POWERS:
        mu, alpha, steps = share(power), Fraction(1, 100), 10**4
        w = limit_of(mu)
        with_steps = one_sided_risk(ball(mu), ball(w) * (1 - (1 - ball(mu) / 16) ** steps))
        best = one_sided_risk(mu, Fraction(0))
        if with_steps > ball(promised(mu) * best + alpha):
            return refuted_by(
                "the risk settles above what is promised: one dimension, y = -max(0, x), without noise",
                {"k": power, "mu": mu, "eta": "1/16", "T": steps, "alpha": alpha, "|w_l|": -w, "L(w*)": best,
                 "promised": promised(mu) * best + alpha, "L(w_T) above": with_steps.str(12)},
                *law_steps(power),
                computed("a step takes w_l (1 - q^t) to w_l (1 - q^(t+1)), q = 1 - eta mu", vanishes(
                    w_l * (1 - keep) - eta * (m_ * w_l * (1 - keep) - m_ * w_l) - w_l * (1 - keep * (1 - eta * m_)))),
                argued("as n grows at this T the batches' gradients tend to the population's and the noise to 0, so "
                       "that the iterates of Algorithm 8 tend to these in probability"),
            )
    return proof(*limit_steps(promised), argued("the iterates come as near to w_l as one likes: "
                                                "thm-7-utility-repaired"),
                 tried=len(_POWERS) + len(given.values("mu")))


Explicit = tuple[Callable[[Any, Any, Any], Any], Callable[[Any, Any], Any]]
"""(sqrt(e), sqrt(L*), mu) and (sqrt(e), sqrt(L*)) -> R: the risk at that distance, in general and for symmetric x."""


def judge_explicit(says: Explicit, given: Domain) -> Finding:
    """Whether both bounds R hold where L is known, and follow from the proof of the module docstring."""
    general, symmetric = says
    tried = 0
    for far in given.values("distance"):
        for power in _POWERS:
            mu = share(power)
            best = ball(one_sided_risk(mu, Fraction(0))).sqrt()
            reached = one_sided_risk(ball(mu), ball(limit_of(mu) - far))
            found = [general(ball(far), best, ball(mu)), *([symmetric(ball(far), best)] if mu * 2 == 1 else [])]
            tried += len(found)
            for one in found:
                if reached > one + arb("1e-12"):
                    return refuted("one dimension, y = -max(0, x)", {
                        "k": power, "distance": far, "L(w)": reached.str(12), "claimed": one.str(12)})
    s, b, mu_ = sympy.symbols("s b mu", positive=True)
    v, t = sympy.symbols("v t", nonnegative=True)
    return proof(
        *limit_steps(lambda mu: 1 / mu),
        computed("in general, sqrt(L(w)) <= sqrt(L*/mu) + |w - w_l|",
                 never_negative(general(s, b, mu_**2) - (s + b / mu_) ** 2)),
        computed("1/mu <= (1 + 1/mu)^2", never_negative((1 + 1 / mu_) ** 2 - 1 / mu_)),
        computed("symmetric: e/4 + (sqrt(e)/2 + sqrt(2 L*))^2", never_negative(
            symmetric(s, b) - s**2 / 4 - (s / 2 + sympy.sqrt(2) * b) ** 2)),
        computed("(|v|/2 + |t|)^2 <= 2 (|v|^2/4 + |t|^2): the rest is a square",
                 vanishes(2 * (v**2 / 4 + t**2) - (v / 2 + t) ** 2 - (v / 2 - t) ** 2)),
        argued("even and linear functions of x are orthogonal; the recursion of the distance is in the docstring"),
        study_step("misspecified-risk"),
        tried=tried,
    )


def judge_projected(constant: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether constant(mu, least eigenvalue of Phi Phi^T) is the strong convexity of the law of Phi x.

    <Phi chi_{Phi^T w} - Phi chi_{Phi^T v}, w - v> = <chi_{Phi^T w} - chi_{Phi^T v}, Phi^T (w - v)>.
    """
    tried = 0
    for row in ((Fraction(1), Fraction(1)), (Fraction(1), Fraction(0)), (Fraction(3), Fraction(-1, 2))):
        square = row[0] ** 2 + row[1] ** 2  # Phi is 1 x 2, x uniform on the signs: chi = w/2
        true = square / 2
        tried += 1
        if constant(Fraction(1, 2), square) != true:
            return refuted("one row, two symmetric coordinates", {
                "Phi": f"({row[0]}, {row[1]})", "strong convexity before": "1/2",
                "claimed after": constant(Fraction(1, 2), square), "after": true})
    mu, least, length = sympy.symbols("mu l u", positive=True)
    for point in given.points("mu", "least"):
        tried += 1
        if constant(point["mu"], point["least"]) != point["mu"] * point["least"]:
            return refuted("a multiple of a matrix with orthonormal rows", {
                "strong convexity before": point["mu"], "Phi Phi^T": f"{point['least']} I",
                "claimed after": constant(point["mu"], point["least"]), "after": point["mu"] * point["least"]})
    return proof(
        computed("mu |Phi^T u|^2 >= mu l |u|^2", vanishes(mu * least * length**2 - constant(mu, least) * length**2)),
        argued("<chi_{Phi^T w} - chi_{Phi^T v}, Phi^T u> >= mu |Phi^T u|^2, and |Phi^T u|^2 >= l |u|^2; linear images "
               "of "
               "log-concave laws are log-concave; l > 0 for a Gaussian Phi with no more rows than columns"),
        tried=tried,
    )


_CONSTANT = Parameter("constant", low=Fraction(2), meaning="of Lemma 12: at least 1/mu >= 2")
_PARTS = (_CONSTANT, non_negative("best"), non_negative("gradient"))
