r"""Output and objective perturbation in document 004: how far a minimiser moves, and what the noise is worth.

Output. F = mean of the losses + R, G that of a neighbour, theta and theta' their minimisers, each loss convex and
L-Lipschitz, R lambda-strongly convex, n a constant. F(theta') - F(theta) and G(theta) - G(theta') are both at least
(lambda/2) |theta - theta'|^2, and their sum is (F - G)(theta') - (F - G)(theta) <= (k L/n) |theta - theta'|, k = 2
for a replaced record, 1 for one added or removed. So |theta - theta'| <= k L/(n lambda), and linear losses reach it.
A solver that is within tau of the minimiser adds 2 tau. Noise of density exp(-|v|/b) then has epsilon = s/b: its log
density changes by at most s/b over a shift of length s, and by that much along it. No strict convexity is asked for.

Objective. theta minimises sum l_i(<x_i, theta>) + (n lambda/2) |theta|^2 + <b, theta>, l_i convex and twice
continuously differentiable, |l_i'| |x_i| <= L, l_i'' |x_i|^2 <= c. Where the gradient vanishes, b = -n lambda theta -
sum l_i' x_i is a one-to-one function of theta, so that theta has the density nu(b(theta)) det(n lambda I + sum l_i''
x_i x_i^T). Between neighbours, at the same theta, b moves by at most k L, and the log density of b, -|b|/s, by k L/s.
The determinants are det M (1 + a x^T M^-1 x) with M >= n lambda I for the common records, 0 <= a |x|^2 <= c: their
ratio is at most 1 + c/(n lambda). Together epsilon = k L/s + log(1 + c/(n lambda)); with 2 log(..) = log(1 + 2t +
t^2), t = c/(n lambda), it is the published one, which is larger. Ridge c/(n (e^(epsilon/2) - 1)) makes the logarithm
half of epsilon.

Without the logarithm it is false: one record, logistic loss, lambda = 1/20, s = 2: b(theta) = 1 - sigma(theta) -
theta/20 for (x, y) = (1, 1), and -theta/20 for x = 0. As b falls in theta, theta in [0, 1] has the probabilities
(e^{-b(1)/2} - e^{-b(0)/2})/2, b(0) = 1/2, and (1 - e^{-1/40})/2.

Gaussian b, N(0, sigma^2 I), mu = L/sigma. A record added or removed moves b by l' x, along the direction of x
whatever theta is: with Z standard normal the log ratio of the densities is at most log(1 + c/(n lambda)) + mu |Z| +
mu^2/2, so that delta(epsilon) <= T(mu, e), e = epsilon - log(1 + c/(n lambda)), T(nu, e) = E max(0, 1 - e^{e - nu|Z|
- nu^2/2}) = 2 (Phi(-a) - e^e Phi(-a - nu)), a = max(0, e/nu - nu/2). Replaced: b moves by the difference of two such
gradients, |.| convex in their two slopes, so largest where both have length L: along v = x^ - x'^ or x^ + x'^, whose
squared lengths add up to 4; one is at most sqrt 2 long, the other at most 2: delta <= T(2 mu, e) + T(sqrt 2 mu, e),
as T rises in nu.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, non_negative, positive, positive_integer, real
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball, normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import Formula
from theorems.given import Domain
from theorems.tools.either import log
from theorems.tools.leading_points import led
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def judge_output(says: tuple[Formula, Formula], given: Domain) -> Finding:
    """Whether (sensitivity, epsilon) = says: linear losses reach the one, a shift along the line the other."""
    names = ("terms", "lipschitz", "size", "convexity", "error", "scale")
    tried = 0
    for point in given.points(*names, at_most=100):
        k, slope, n, lam, tau, scale = (Fraction(point[name]) for name in names)
        before, after = slope / (n * lam), -slope / (n * lam) if k == 2 else Fraction(0)  # minimisers of linear losses
        moved = before - after + 2 * tau  # a solver that errs along the line
        tried += 1
        if says[0](k, slope, n, lam, tau) != moved or says[1](moved, scale) != moved / scale:
            return refuted("linear losses with a quadratic regulariser move otherwise, or cost otherwise", {
                **point, "claimed sensitivity": says[0](k, slope, n, lam, tau), "moved": moved,
                "claimed epsilon": says[1](moved, scale), "epsilon": moved / scale})
    slope, n, lam, scale = (given.symbol(name) for name in ("lipschitz", "size", "convexity", "scale"))
    tau, k = given.symbol("error"), given.chart("terms")
    d, t = sympy.symbols("d t", positive=True)
    bound = k * slope / (n * lam)
    return proof(
        computed("lambda d^2 <= (k L/n) d only for d <= k L/(n lambda): beyond it the left side is larger",
                 signed_positive(sympy.expand((lam * (bound + t) ** 2 - k * slope / n * (bound + t)) * n))),
        computed("with the solver's errors that is what is claimed", vanishes(
            says[0](k, slope, n, lam, tau) - bound - 2 * tau)),
        computed("a shift by s along a ray changes the log density -|v|/b by s/b",
                 vanishes(says[1](d, scale) - ((t + d) / scale - t / scale)) and never_negative(tau)),
        argued("strong convexity gives the first inequality; | |v + s| - |v| | <= |s| is the triangle inequality"),
        study_step("output-perturbation"), tried=tried,
    )


def judge_ols(says: Formula, given: Domain) -> Finding:
    """Whether least squares on (0, 0), (t, 0) and on (0, 0), (t, 1) have slopes says(t) apart, unbounded as t falls."""
    for t in given.values("distance"):
        slopes = [(t * y) / (t * t) for y in (0, 1)]  # sum xy / sum x^2, through the first point
        if says(t) != slopes[1] - slopes[0]:
            return refuted("the slopes are otherwise apart",
                           {"t": t, "claimed": says(t), "apart": slopes[1] - slopes[0]})
    t = given.chart("distance")
    a, b = sympy.symbols("a b", real=True)
    loss = b**2 + (a * t + b - 1) ** 2
    best = sympy.solve([sympy.diff(loss, a), sympy.diff(loss, b)], [a, b], dict=True)
    return proof(
        computed("the line through (0, 0) and (t, 1) minimises the squares, with the claimed slope; through (t, 0) it "
                 "has the slope 0", len(best) == 1 and vanishes(best[0][a] - says(t), best[0][b])),
        computed("as t falls to 0 that is beyond every bound",
                 t.is_positive is True and sympy.limit(1 / t, sorted(t.free_symbols, key=str)[0], 0) == sympy.oo),
    )


def lower_well(m: Fraction) -> Fraction:
    """Where min((theta-1)^2, (theta+1)^2) + m theta is least."""
    return min((w - m / 2 for w in (1, -1)), key=lambda at: min((at - 1) ** 2, (at + 1) ** 2) + m * at)


def judge_two_wells(says: Formula, given: Domain) -> Finding:
    """Whether min((theta-1)^2, (theta+1)^2) + m theta has its minimiser says(n) away for m = 1/n and m = -1/n."""
    for n in given.values("size"):
        tilt = Fraction(1, n)
        if says(Fraction(n)) != lower_well(-tilt) - lower_well(tilt):
            return refuted("the minimisers are otherwise apart", {"n": n, "claimed": says(Fraction(n)),
                                                                  "apart": lower_well(-tilt) - lower_well(tilt)})
    n, theta = given.symbol("size"), sympy.symbols("theta", real=True)
    m = 1 / n
    left = sympy.solve(sympy.diff((theta + 1) ** 2 + m * theta, theta), theta)[0]
    right = sympy.solve(sympy.diff((theta - 1) ** 2 - m * theta, theta), theta)[0]
    return proof(
        computed("for m = 1/n the left well is lower, by 2m, and for m = -1/n the right one: they are 2 + 1/n apart",
                 vanishes(right - left - says(n)) and signed_positive(2 * m)),
    )


def event_epsilon(ridge: Fraction, scale: Fraction, size: int) -> arb:
    """log of P(theta in [0, 1] | (1, 1)) / P(.. | x = 0), n - 1 records with x = 0 beside; n lambda = size ridge."""
    total = ball(ridge * size)
    slope = 1 / (1 + arb(1).exp())  # 1 - sigma(1)
    first = (-(slope - total) / ball(scale)).exp() - (-ball(Fraction(1, 2)) / ball(scale)).exp()
    return (first / (1 - (-total / ball(scale)).exp())).log()


def judge_objective(says: Formula, given: Domain) -> Finding:
    """Whether epsilon = says(k L/s, c/(n lambda)), for densities and determinants of the module docstring.

    The record (1, 1) against x = 0, logistic loss: L = 1 moves b by at most 1, c = 1/4; b(1) must be positive.
    """
    tried = 0
    for point in led(given, 80, noise="1/2", ratio=5):
        noise, ratio = point["noise"], point["ratio"]  # L/s with one gradient, and c/(n lambda)
        with ctx.workprec(120):
            claimed = says(ball(noise), ball(ratio))
            tried += 1
            if claimed < ball(noise):
                return refuted("a shifted linear term alone costs more", {**point, "claimed": claimed.str(10)})
            if ratio > 0 and noise > 0 and Fraction(1, 4) / ratio < Fraction(1, 4) and noise < 100:
                least = event_epsilon(Fraction(1, 4) / ratio, 1 / noise, 1)
                if least > claimed:
                    return refuted("the event theta in [0, 1] tells the two data sets better, certified", {
                        **point, "record": "(1, 1) or x = 0", "n lambda": Fraction(1, 4) / ratio,
                        "claimed epsilon": claimed.str(10), "epsilon at least": Enclosure.of_ball(least)})
    noise, ratio = (given.symbol(name) for name in ("noise", "ratio"))
    a, q, more = sympy.symbols("a q m", nonnegative=True)
    p, r, s, x, y = sympy.symbols("p r s x y", real=True)
    m = sympy.Matrix([[p, r], [r, s]])
    v = sympy.Matrix([x, y])
    lemma = (m + a * v * v.T).det() - m.det() - a * (v.T * m.adjugate() * v)[0]
    gap = sympy.exp(says(noise, ratio) - noise) - 1 - ratio
    return proof(
        computed("det(M + a x x^T) = det M (1 + a x^T M^-1 x), in two dimensions", vanishes(lemma)),
        computed("(1 + a)/(1 + q) <= 1 + ratio for 0 <= a <= ratio = a + m and q >= 0",
                 never_negative((1 + a + more) * (1 + q) - (1 + a))),
        computed("what is claimed is at least k L/s + log(1 + c/(n lambda))",
                 noise.is_nonnegative is True and ratio.is_nonnegative is True and never_negative(sympy.expand(gap))),
        argued("the same in every dimension; x^T M^-1 x <= |x|^2/(n lambda); the density of the minimiser by the "
               "change of variables, and the triangle inequality for |b|"),
        tried=tried,
    )


def two_sided(e: arb, nu: arb) -> arb:
    """T(nu, e) in closed form."""
    start = (e / nu - nu / 2).max(arb(0))
    return 2 * (normal_upper_tail(start) - e.exp() * normal_upper_tail(start + nu))


def judge_gaussian(says: tuple[Fraction, Fraction, Fraction], given: Domain) -> Finding:
    """Whether delta(epsilon) <= T(says[0] mu, e) + T(sqrt(says[1]) mu, e), a record replaced; T(says[2] mu, e) else.

    For linear losses, c = 0, theta has a Gaussian law: delta is the Gaussian curve at 2 mu for opposite records, and at
    mu for one added or removed.
    """
    tried = 0
    for point in given.points("mu", "e", at_most=60):
        with ctx.workprec(200):
            mu, e = ball(point["mu"]), ball(point["e"])
            if min(says) <= 0:
                return refuted("no difference at all", {"claimed": ", ".join(map(str, says))})
            opposite, one = delta_ball(e, 2 * mu), delta_ball(e, mu)
            claimed = two_sided(e, ball(says[0]) * mu) + two_sided(e, ball(says[1]).sqrt() * mu)
            alone = two_sided(e, ball(says[2]) * mu)
            tried += 1
            if opposite > claimed or one > alone:
                return refuted("linear losses have a larger delta, certified", {
                    **point, "claimed, replaced": claimed.str(10), "opposite records": opposite.str(10),
                    "claimed, added": alone.str(10), "one record": one.str(10)})
    nu, e, z, angle = sympy.symbols("nu e z theta", positive=True)
    square = (2 - 2 * sympy.cos(angle)) + (2 + 2 * sympy.cos(angle))  # |x^ - x'^|^2 + |x^ + x'^|^2
    start = e / nu - nu / 2
    return proof(
        computed("1 - e^(e - nu z - nu^2/2) is 0 at z = e/nu - nu/2; e^(e - nu z - nu^2/2) phi(z) = e^e phi(z + nu)",
                 vanishes(e - nu * start - nu**2 / 2, e - nu * z - nu**2 / 2 - z**2 / 2 - e + (z + nu) ** 2 / 2)),
        computed("the squared lengths of x^ - x'^ and x^ + x'^ add up to 4: one is at most sqrt 2, the other at most 2",
                 vanishes(square - 4) and says[0] >= 2 and says[1] >= 2),
        computed("a record added or removed moves b by at most L, along one line", says[2] >= 1),
        argued("the log ratio of densities is at most that of the docstring; E max(0, 1 - e^(e - loss)) rises with the "
               "loss; a maximum's T is at most the sum of the two"),
        tried=tried,
    )


_TERMS = Parameter("terms", kind="integer", low=Fraction(1), high=Fraction(2), meaning="k: 2 (replace) or 1")
_BOUNDED = (
    "Even analyzing local sensitivity seems to require unique global optimum and using an optimizer that is guaranteed "
    "to succeed."
)
_NOISE = (
    r"[CMS11] use $R_{\text{priv}}(\theta, v) = \langle \theta, v \rangle + c \|\theta\|^2$ where v is sampled with "
    r"probability density $\propto \exp(-c' \varepsilon \|v\|)$."
)
_PAIR = (non_negative("noise", "k L/s"), non_negative("ratio", "c/(n lambda)"))

output = Claim(
    id="cs208/output-perturbation", source="004, Output Perturbation: a bounded sensitivity, and the noise for it",
    quote="and R is strongly convex.", whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"|\theta(D) - \theta(D')| \le s = \frac{kL}{n\lambda} + 2\tau,\quad v \propto e^{-|v|/b}\colon"
              r" \varepsilon = \frac sb",
    words="the minimiser of convex L-Lipschitz losses with a lambda-strongly convex regulariser, up to tau, moves "
          "by at most k L/(n lambda) + 2 tau, and noise of density exp(-|v|/b) has epsilon = s/b, both exactly",
    hypotheses=(_TERMS, positive("lipschitz", "L"), positive_integer("size", "n"), positive("convexity", "lambda"),
                non_negative("error", "tau"), positive("scale", "b")),
    says=(lambda k, slope, n, lam, tau: k * slope / (n * lam) + 2 * tau, lambda s, b: s / b), check=judge_output,
    flips=(Flip("half", (lambda k, slope, n, lam, tau: k * slope / (2 * n * lam) + 2 * tau, lambda s, b: s / b),
                Verdict.REFUTED),),
    true_variants={"[[]0[]] beyond argument 0 *": "k is 1 or 2"}, expected="HOLDS ARGUED",
)
ols = Claim(
    id="cs208/ols-sensitivity", source="004, Output Perturbation: least squares",
    quote="Global sensitivity can be infinite (e.g. OLS regression)", whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"|\hat a(D) - \hat a(D')| = \frac1t \to \infty", hypotheses=(positive("distance", "t"),),
    words="one label moves the slope of least squares by 1/t for features t apart, beyond every bound",
    says=lambda t: 1 / t, check=judge_ols, flips=(Flip("1", lambda t: t / t, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
wells = Claim(
    id="cs208/local-sensitivity-optimum", source="004, Output Perturbation: a unique global optimum", quote=_BOUNDED,
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"|\theta(D) - \theta(D')| = 2 + \frac1n,\quad L = \min((\theta-1)^2, (\theta+1)^2) + \bar y \theta",
    words="with two wells one record moves the global minimiser by 2 + 1/n: it does not vanish as n grows",
    hypotheses=(positive_integer("size", "n"),), says=lambda n: 2 + 1 / n, check=judge_two_wells,
    flips=(Flip("1/n", lambda n: 1 / n, Verdict.REFUTED),), expected="HOLDS PROVED",
)
objective = Claim(
    id="cs208/objective-perturbation", source="004, Objective Perturbation: constants c and c' left open", quote=_NOISE,
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"v \propto e^{-c'\varepsilon |v|},\ R_{\mathrm{priv}} = \langle\theta, v\rangle + c|\theta|^2\colon"
              r" \varepsilon\text{-DP}",
    words="a random linear term makes the minimiser private: without a price for the change of variables, or with one",
    hypotheses=_PAIR, says=None, check=None,
    readings=("cs208/objective-perturbation-reading-no-jacobian", "cs208/objective-perturbation-repaired"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=r"\varepsilon = \frac{kL}s + m\log\Big(1 + \frac c{n\lambda}\Big),\quad m = 1 \text{ or } 2",
        words="the minimiser with a linear term of density exp(-|b|/s) on the summed objective has epsilon = k L/s + "
              "log(1 + c/(n lambda)), and so with twice the logarithm",
        says=lambda noise, ratio: noise + log(1 + ratio), check=judge_objective, expected="HOLDS ARGUED",
        source="004, Objective Perturbation, with the price of the change of variables",
        flips=(Flip("without the logarithm", lambda noise, ratio: noise, Verdict.REFUTED),
               Flip("twice the logarithm", lambda noise, ratio: noise + 2 * log(1 + ratio), Verdict.HOLDS)),
        true_variants={"1 -> 2 *": "a larger epsilon will do, too"},
    ),
)
no_jacobian = Claim(
    id="cs208/objective-perturbation-reading-no-jacobian", quote=_NOISE, whose=Whose.READING, severity=Stake.PRIVACY,
    source="004, Objective Perturbation, constants without a price for the change of variables",
    statement=r"\varepsilon = \frac{kL}s", hypotheses=_PAIR,
    words="a linear term of density exp(-|b|/s) makes the minimiser k L/s-DP, whatever n lambda is",
    says=lambda noise, ratio: noise, check=judge_objective, repaired_by="cs208/objective-perturbation-repaired",
    flips=(Flip("with the logarithm", lambda noise, ratio: noise + log(1 + ratio), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
gaussian = Claim(
    id="cs208/objective-perturbation-gaussian", source="004, Objective Perturbation, with a Gaussian linear term",
    severity=Stake.PRIVACY,
    statement=r"\delta(\varepsilon) \le T(2\mu, e) + T(\sqrt2\mu, e),\ T(\mu, e) \text{ for add or remove},\quad e ="
              r" \varepsilon - \log\Big(1 + \frac c{n\lambda}\Big),\ \mu = \frac L\sigma",
    words="with a Gaussian linear term delta is at most T(2 mu, e) + T(sqrt 2 mu, e) for a replaced record, and "
          "T(mu, e) for one added or removed, of either sign of e",
    hypotheses=(Parameter("mu", low=Fraction(0), low_open=True), real("e", "epsilon - log(1 + c/(n lambda))")),
    says=(Fraction(2), Fraction(2), Fraction(1)), check=judge_gaussian,
    flips=(Flip("half as much", (Fraction(1), Fraction(1, 2), Fraction(1)), Verdict.REFUTED),),
    rests_on=("cs208/objective-perturbation-repaired",),
    true_variants={"[[]*[]] 1 % more": "T rises in nu", "[[]*[]] one more": "T rises in nu"},
    expected="HOLDS ARGUED",
)
