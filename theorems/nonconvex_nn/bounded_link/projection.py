r"""Random projections in document 002: Definition 6 and the norms of projected records.

Phi has m rows of independent N(0, 1/m) entries. For a unit x, |Phi x|^2 is chi^2_m/m.

Inner products. Let u, v be unit vectors and c = <u, v>. u + v and u - v are orthogonal, so A = |Phi(u+v)|^2/(2 + 2c)
and B = |Phi(u-v)|^2/(2 - 2c) are independent chi^2_m/m, and <Phi u, Phi v> - c = ((1+c)(A - 1) - (1-c)(B - 1))/2. With
E e^{t(A-1)} = e^{-t} (1 - 2t/m)^{-m/2}, and with -log(1-x)/2 - x/2 <= x^2/(4(1-x)) for 0 <= x < 1 and <= x^2/4 for
x < 0, the logarithm of the moment generating function at s is at most (t_1^2 + t_2^2)/(m - 2s) <= s^2/(m - 2s), where
t_1 = s(1+c)/2 and t_2 = s(1-c)/2. At s = m alpha/(2 (1+alpha)) Chernoff's bound gives, for both sides together,

    P(|<Phi u, Phi v> - <u, v>| > alpha) <= 2 e^{-m alpha^2/(4 (1+alpha))}.

So m >= 4 (1+alpha) log(2/beta)/alpha^2 rows are enough for every alpha > 0. m = C log(1/beta)/alpha^2 are not, whatever
C is: with alpha = 8C + 8 and beta = e^{-alpha^2/C} that is one row, u = v gives P(g^2 > 1 + alpha) > e^{-7.3 - 6.5 C}
(by P(|g| > x) >= sqrt(2/pi) x/(1+x^2) e^{-x^2/2}, x^2 = 9 + 8C), and beta < e^{-64 C - 128}. For alpha <= 1 they are.

Norms. P(|Phi x| > 1 + t) <= e^{-m (t + t^2/2 - log(1+t))} <= e^{-m t^2/2} by Chernoff. At t = 1, more exactly,
P(|Phi x| > 2) <= e^{-m (3 - log 4)/2}/(3 sqrt(pi m)): with a = m/2, Gamma(a, x) = x^{a-1} e^{-x} int_0^inf
(1 + s/x)^{a-1} e^{-s} ds <= x^a e^{-x}/(x - a + 1) for a >= 1, at x = 4a, over Gamma(a) >= sqrt(2 pi a) a^{a-1} e^{-a}
(Stirling); for m = 1 a number.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.either import log, root
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as certainly_positive
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted

_PRECISION = 160
_MOST_ROWS = 10**12


def longer(rows: Any, square: arb) -> arb:
    """P(|Phi x|^2 > square) for a unit x, in balls: the upper tail of chi^2 with so many degrees of freedom."""
    half = ball(rows) / 2
    return (half * square).gamma_upper(half, regularized=1)


def off(rows: int, alpha: arb) -> arb:
    """P(||Phi u|^2 - 1| > alpha) for a unit u."""
    below = arb(0) if alpha >= 1 else 1 - longer(rows, 1 - alpha)
    return longer(rows, 1 + alpha) + below


def whole(rows: Any) -> int:
    """The least integer, at least 1, that is certainly not below a ball or number of rows; 0 where it is too large."""
    upper = rows.upper() if isinstance(rows, arb) else ball(rows)
    return max(1, int(upper.ceil().unique_fmpz() or 0)) if upper < _MOST_ROWS else 0


def chernoff_steps() -> tuple[ProofStep, ...]:
    """The steps from the moment generating function to 2 exp(-m alpha^2/(4 (1 + alpha)))."""
    t, m, alpha, y = sympy.symbols("t m alpha y", positive=True)
    one, two = sympy.symbols("t_1 t_2", nonnegative=True)
    x = t / (1 + t)  # runs through (0, 1)
    z = sympy.Symbol("z", positive=True)
    above = z**2 / (4 * (1 - z)) + sympy.log(1 - z) / 2 + z / 2
    below = y**2 / 4 + sympy.log(1 + y) / 2 - y / 2
    s = m * alpha / (2 * (1 + alpha))
    return (
        computed("-log(1-x)/2 - x/2 <= x^2/(4(1-x)) on [0, 1): equal at 0, and the difference rises",
                 never_negative(sympy.simplify(sympy.diff(above, z)).subs(z, x)) and vanishes(above.subs(z, 0))),
        computed("and <= x^2/4 for x < 0", never_negative(sympy.simplify(sympy.diff(below, y)))
                 and vanishes(below.subs(y, 0))),
        computed("t_1^2 + t_2^2 <= (t_1 + t_2)^2 = s^2", never_negative((one + two) ** 2 - one**2 - two**2)),
        computed("at s = m alpha/(2 (1 + alpha)), -s alpha + s^2/(m - 2s) is -m alpha^2/(4 (1 + alpha)), and s < m/2",
                 vanishes(-s * alpha + s**2 / (m - 2 * s) + m * alpha**2 / (4 * (1 + alpha)))
                 and certainly_positive(m / 2 - s)),
        argued("<Phi u, Phi v> - <u, v> is half the difference of (1+c)(A-1) and (1-c)(B-1), A and B independent "
               "chi^2_m/m; the other side by -v"),
    )


def judge_rows(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether ceil(says(C, alpha, beta)) rows are (alpha, beta)-JL for every alpha > 0, for some constant C."""
    tried, failed = 0, []
    with ctx.workprec(_PRECISION):
        for constant in (Fraction(8), *given.values("C")):
            alpha = 8 * constant + 8
            beta = (-ball(alpha**2 / constant)).exp()
            rows = whole(says(ball(constant), ball(alpha), beta) * (1 - arb(2) ** -100))  # it is a whole number here
            tried += 1
            if rows and off(rows, ball(alpha)) > beta:
                failed.append((constant, alpha, rows, Enclosure.of_ball(off(rows, ball(alpha))),
                               Enclosure.of_ball(beta)))
        for point in given.points("alpha", "beta", at_most=60):
            rows = whole(says(ball(1), ball(point["alpha"]), ball(point["beta"])))
            tried += 1
            if rows and not failed and off(rows, ball(point["alpha"])) > ball(point["beta"]):
                failed.append((Fraction(1), point["alpha"], rows, Enclosure.of_ball(off(rows, ball(point["alpha"]))),
                               Enclosure.exactly(point["beta"])))
    c = sympy.symbols("C", positive=True)
    if failed:
        constant, alpha, rows, true, beta_ = failed[0]
        return refuted_by(
            "one row is asked for, and u = v is off by more than alpha more often than beta", {
                "C": constant, "alpha": alpha, "beta": beta_, "rows": rows, "P(|Phi u|^2 - 1 > alpha)": true},
            computed(f"so for {len(failed)} constants C, certified", len(failed) >= 1),
            computed("for every C: (8C+8)^2/C = 64C + 128 + 64/C is more than 7.3 + 6.5 C",
                     certainly_positive((8 * c + 8) ** 2 / c - sympy.Rational(73, 10) - sympy.Rational(13, 2) * c)),
            argued("P(g^2 > 9 + 8C) > e^(-7.3 - 6.5 C), by the lower bound of a Gaussian tail"),
        )
    alpha_, beta_s = given.symbol("alpha"), given.symbol("beta")
    exponent = says(c, alpha_, beta_s) * alpha_**2 / (4 * (1 + alpha_))
    return proof(
        *chernoff_steps(),
        computed("2 e^(-m alpha^2/(4 (1 + alpha))) is beta at the claimed number of rows, whatever C",
                 vanishes(sympy.simplify(2 * sympy.exp(-sympy.simplify(exponent))) - beta_s)),
        tried=tried,
    )


def judge_any_alpha(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether inner products are off by more than alpha with probability at most says(alpha, m), for every alpha."""
    tried = 0
    with ctx.workprec(_PRECISION):
        for point in given.points("alpha", "m"):
            true, claimed = off(point["m"], ball(point["alpha"])), says(ball(point["alpha"]), ball(point["m"]), arb.exp)
            tried += 1
            if true > claimed:
                return refuted("a small alpha is exceeded almost surely, whatever beta < 1", {
                    "alpha": point["alpha"], "m": point["m"], "claimed": Enclosure.of_ball(claimed),
                    "P": Enclosure.of_ball(true)})
    alpha_, m_ = given.symbol("alpha"), given.symbol("m")
    bound = 2 * sympy.exp(-m_ * alpha_**2 / (4 * (1 + alpha_)))
    return proof(
        *chernoff_steps(),
        computed("the claimed probability is that bound", vanishes(says(alpha_, m_, sympy.exp) / bound - 1)),
        tried=tried,
    )


def judge_norm(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether all n projected unit records are at most says(m, n, delta) long with probability at least 1 - delta."""
    tried = 0
    with ctx.workprec(_PRECISION):
        for point in ({"m": 100, "n": 1, "delta": Fraction(1, 1000)}, *given.points("m", "n", "delta")):
            m, n, delta = point["m"], point["n"], point["delta"]
            bound = says(ball(m), ball(n), ball(delta))
            tail = longer(m, bound * bound) if bound > 0 else arb(1)
            tried += 1
            if tail > ball(delta):
                return refuted("one record alone is longer, and more often than delta", {
                    "m": m, "n": n, "delta": delta, "claimed length": Enclosure.of_ball(bound),
                    "P(longer), one record": Enclosure.of_ball(tail)})
    m_, n_, delta_, t = given.symbol("m"), given.symbol("n"), given.symbol("delta"), sympy.symbols("t", positive=True)
    excess = says(m_, n_, delta_) - 1
    rate = t + t**2 / 2 - sympy.log(1 + t)
    return proof(
        computed("Chernoff's exponent t + t^2/2 - log(1+t) is at least t^2/2: equal at 0, and t - log(1+t) rises",
                 never_negative(sympy.simplify(sympy.diff(rate - t**2 / 2, t)))),
        computed("n e^(-m t^2/2) is delta at the claimed length",
                 vanishes(n_ * sympy.exp(-sympy.simplify(m_ * excess**2 / 2)) - delta_)),
        argued("P(chi^2_m > m (1+t)^2) <= e^(-m (t + t^2/2 - log(1+t))), and a union bound over the records"),
        tried=tried,
    )


def judge_stretch(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether P(|Phi x| > 2) is at most says(m) for a unit x."""
    tried = 0
    with ctx.workprec(_PRECISION):
        for m in (*given.values("m"), 10**3, 10**6):
            tried += 1
            if longer(m, arb(4)) > says(ball(m), arb.exp, arb.pi()):
                return refuted("a record is stretched to more than twice its length more often", {
                    "m": m, "claimed": Enclosure.of_ball(says(ball(m), arb.exp, arb.pi())),
                    "P": Enclosure.of_ball(longer(m, arb(4)))})
        one_row = bool(longer(1, arb(4)) < says(ball(1), arb.exp, arb.pi()))
    a, x, s = sympy.symbols("a x s", positive=True)
    m_ = given.symbol("m")
    integral = sympy.integrate(sympy.exp(-s * (x - a + 1) / x), (s, 0, sympy.oo), conds="none")
    tail = (4 * a) ** a * sympy.exp(-4 * a) / (4 * a - a + 1) / (sympy.sqrt(2 * sympy.pi * a) * a ** (a - 1)
                                                                  * sympy.exp(-a))
    claimed = says(m_, sympy.exp, sympy.pi).subs(m_, 2 * a)
    return proof(
        computed("int_0^inf e^((a-1)s/x) e^(-s) ds = x/(x - a + 1)", vanishes(integral - x / (x - a + 1))),
        computed("at x = 4a, over Stirling's lower bound, the claimed bound is (3a + 1)/(3a) times as large",
                 vanishes(sympy.simplify(sympy.expand_log(sympy.log(claimed / tail), force=True)
                                         - sympy.log((3 * a + 1) / (3 * a))))),
        computed("and for m = 1 the probability is below it", one_row),
        argued("(1 + s/x)^(a-1) <= e^((a-1)s/x) for a >= 1; Gamma(a+1) >= sqrt(2 pi a) a^a e^-a (Stirling)"),
        tried=tried,
    )


_JL = (
    r"when $R \in \mathbb{R}^{k \times d}$ is a random Gaussian matrix with $k = O(\frac{\log 1/\beta}{\alpha^2})$ "
    r"each entry is i.i.d. sampled from $\mathcal{N}(0, 1)$. Then the matrix $A = \frac{1}{\sqrt{k}} R$ satisfies "
    r"(α, β) -JL property."
)
_ALPHA = (positive("alpha"), probability("beta"))

rows = Claim(
    id="nonconvex-nn/def-6-jl", source="002, Section 3: k = O(log(1/beta)/alpha^2) rows, for every alpha > 0",
    quote=_JL, whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\exists C\ \forall \alpha > 0, \beta:\ k = \lceil C\log(1/\beta)/\alpha^2\rceil \text{ Gaussian rows"
              r" are } (\alpha, \beta)\text{-JL}",
    words="for some constant C, C log(1/beta)/alpha^2 Gaussian rows are (alpha, beta)-JL for every alpha > 0",
    hypotheses=(positive("C"), *_ALPHA), says=lambda c, alpha, beta: c * log(1 / beta) / alpha**2, check=judge_rows,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"k \ge 4(1+\alpha)\log(2/\beta)/\alpha^2 \Rightarrow (\alpha, \beta)\text{-JL}",
        words="4 (1 + alpha) log(2/beta)/alpha^2 Gaussian rows are (alpha, beta)-JL for every alpha > 0: 8 log(2/beta)/"
              "alpha^2 for alpha <= 1",
        says=lambda c, alpha, beta: 4 * (1 + alpha) * log(2 / beta) / alpha**2, expected="HOLDS ARGUED",
        source="002, Definition 6, with the number of rows that is enough",
        flips=(Flip("a tenth of them", lambda c, alpha, beta: (1 + alpha) * log(2 / beta) / alpha**2 * 4 / 40,
                    Verdict.REFUTED),),
    ),
)
any_alpha = Claim(
    id="nonconvex-nn/def-6-jl-any-alpha", source="002, Definition 6: alpha is in the name, and any alpha > 0 inside",
    quote=(
        r"satisfies (α, β) -Johnson-Lindentrauss (JL) property if for any $u, v \in \mathbb{R}^d$ and any $\alpha > 0$ "
        r"we have $\mathbb{P}[|\langle \Phi u, \Phi v \rangle - \langle u, v \rangle| > \alpha \|u\|_2 \|v\|_2] \leq "
        r"\beta$"
    ),
    whose=Whose.TYPO,
    statement=r"\exists \beta < 1\ \forall \alpha > 0:\ \mathbb{P}[|\langle\Phi u,\Phi v\rangle - \langle u,v\rangle| >"
              r" \alpha] \le \beta",
    words="one beta below 1, here 99/100, does for every alpha > 0 at once, as the definition asks",
    hypotheses=(positive("alpha"), positive_integer("m")), says=lambda alpha, m, exp: alpha / alpha * 99 / 100,
    check=judge_any_alpha,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{P}[|\langle\Phi u,\Phi v\rangle - \langle u,v\rangle| > \alpha\lVert u\rVert\lVert v\rVert]"
                  r" \le 2e^{-m\alpha^2/(4(1+\alpha))}",
        words="an inner product is off by more than alpha |u| |v| with probability at most "
              "2 e^(-m alpha^2/(4 (1 + alpha)))",
        says=lambda alpha, m, exp: 2 * exp(-m * alpha**2 / (4 * (1 + alpha))), expected="HOLDS ARGUED",
        source="002, Definition 6, with beta for one alpha",
        true_variants={"any m": "without rows the bound is 2 or more"},
    ),
)


norms = Claim(
    id="nonconvex-nn/thm-2-concentration", source="002, proof of Theorem 2: the norms of projected records",
    quote=(
        r"Note that the previous bound only holds when $\|\Phi x_i\| \leq (1 + \frac{\log \sqrt{n/\delta}}{m})$ which "
        r"holds with probability at least $1 - \delta$."
    ),
    whose=Whose.TYPO, severity=Stake.PROOF,
    statement=r"\mathbb{P}\left[\max_i \lVert\Phi x_i\rVert \le 1 + \frac{\log\sqrt{n/\delta}}{m}\right] \ge 1 -"
              r" \delta",
    words="all projected records are at most 1 + log(sqrt(n/delta))/m long with probability 1 - delta",
    hypotheses=(positive_integer("m"), positive_integer("n"), probability("delta")),
    says=lambda m, n, delta: 1 + log(root(n / delta)) / m, check=judge_norm,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{P}\left[\max_i \lVert\Phi x_i\rVert \le 1 + \sqrt{2\log(n/\delta)/m}\right] \ge 1 - \delta",
        words="all projected records are at most 1 + sqrt(2 log(n/delta)/m) long with probability 1 - delta",
        says=lambda m, n, delta: 1 + root(2 * log(n / delta) / m), expected="HOLDS ARGUED",
        source="002, proof of Theorem 2, with the square root around the quotient",
        flips=(Flip("a tenth of the excess", lambda m, n, delta: 1 + root(log(n / delta) / m) / 10,
                    Verdict.REFUTED),),
    ),
)
stretch = Claim(
    id="nonconvex-nn/thm-2-stretch", source="a finding of ours: how often a Gaussian projection doubles a length",
    statement=r"\mathbb{P}[\lVert\Phi x\rVert > 2] \le \frac{e^{-m(3 - \log 4)/2}}{3\sqrt{\pi m}},\ \lVert x\rVert \le"
              r" 1",
    words="a Gaussian projection to m dimensions stretches a record to more than 2 with probability at most "
          "e^(-m (3 - log 4)/2)/(3 sqrt(pi m))",
    severity=Stake.PRIVACY,
    hypotheses=(positive_integer("m"),),
    says=lambda m, exp, pi: 2**m * exp(-3 * m / 2) / (3 * root(pi * m)), check=judge_stretch,
    flips=(Flip("without the power of 2", lambda m, exp, pi: exp(-3 * m / 2) / (3 * root(pi * m)), Verdict.REFUTED),),
    true_variants={"beyond argument 2*": "pi is handed to the formula, and is one number"},
    expected="HOLDS ARGUED",
)
