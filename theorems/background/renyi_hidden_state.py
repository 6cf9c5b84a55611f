r"""Two Renyi analyses of the last iterate, Chourasia, Ye and Shokri's (2021) and Ye and Shokri's (2022), by shifts.

Neither text was at hand, and their proofs (by log-Sobolev inequalities) are not needed. Let h = eta lambda, c = 1 - h.

Chourasia et al., in units of S^2/(lambda sigma^2 n^2): NoisyGD's exact value R_alpha/alpha = mu^2/2 (background/bok-gd)
with drift eta S/n and noise of variance 2 eta sigma^2 is g(K) = (2-h)/4 (1-c^K)/(1+c^K). It is concave in K, being a
multiple of tanh(-log(c) K/2), with g(0) = 0 and g(1) = h/4: so g(K) <= hK/4 for K >= 1, and g < 1/2. With v = hK/2, the
claimed 1 - e^{-v} is at least min(v/2, 1/2), since it is concave and 1 - 1/e > 1/2 at v = 1.

Ye and Shokri: rho_t and v_t from 0 by v' = c^2 v + tau^2 and, at a step with the record, rho' = rho + s^2/(2 tau^2), at
one without rho' = rho c^2 v/v'. Let a_i be shifts that pay off the first t drifts at the cost sum a_i^2/(2 tau^2) <=
rho_t. A step with the record pays s itself. Before one without, multiply all shifts by k = c^2 v/v': they stay
feasible, for the distances are k z_i plus 1 - k times the unpaid drift, and leave (1-k) D_t, D_t = sum c^{t-i} a_i
being the whole drift; the last step pays c (1-k) D_t. By Cauchy and Schwarz D_t^2 <= v_t/tau^2 sum a_i^2, so the new
cost is at most (k^2 + (1-k)^2 c^2 v_t/tau^2) rho_t = k rho_t = rho_{t+1}.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive_integer
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.exact_shift_programme import exact_linear, optimum
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Forgetting = Callable[[Any, Any, Callable[[Any], Any]], Any]
"""The claimed R_alpha lambda sigma^2 n^2 / (alpha S^2) of (h = eta lambda, K, exp)."""

def langevin(h: Any, steps: Any, exp: Callable[[Any], Any]) -> Any:
    """Chourasia et al.'s value."""
    return 1 - exp(-h * steps / 2)


def exact_langevin(h: Fraction, steps: int) -> Fraction:
    """The value of lambda-strongly convex quadratics: eta = h/lambda and the law of a linear recursion."""
    # mu^2/2 of drift s and noise tau is (s/tau)^2/2 that of unit ones; (eta S/n)^2/(2 eta sigma^2) is h/2 units.
    return h / 4 * exact_linear(1 - h, [1] * steps)


def judge_langevin(says: Forgetting, given: Domain) -> Finding:
    """Hold the value against the exact law of quadratics at points, and prove that it is never below."""
    tried = 0
    for h, steps in itertools.product(given.values("drop"), given.values("steps", most=100)):
        tried += 1
        with ctx.workprec(100):
            claimed, true = says(ball(h), steps, arb.exp), ball(exact_langevin(h, steps))
            if claimed < true:
                return refuted(
                    "strongly convex quadratics have a larger divergence, certified",
                    {"eta lambda": h, "K": steps, "claimed": claimed.str(12), "quadratic loss": true.str(12)},
                )
    h, k, y, v = sympy.symbols("h K y v", positive=True)  # c = e^{-y}, v = hK/2
    value, c, of_v = sympy.tanh(y * k / 2), 1 - h, sympy.simplify(says(h, 2 * v / h, sympy.exp))
    concave = sympy.diff(value, k, 2) + value * (1 - value**2) * y**2 / 2
    as_tanh = (1 - sympy.exp(-y * k)) / (1 + sympy.exp(-y * k)) - value.rewrite(sympy.exp)
    with ctx.workprec(64):
        at_one = bool(says(arb(2), 1, arb.exp) > arb(1) / 2)  # v = 1
    return proof(
        argued("NoisyGD's exact value is g(K) = (2-h)/4 (1-c^K)/(1+c^K), c = 1 - h, by background/bok-gd"),
        computed("g is a multiple of tanh(-log(c) K/2), concave in K; 0 < h <= 1",
                 vanishes(concave, as_tanh) and signed_positive(given.chart("drop"))
                 and never_negative(1 - given.chart("drop"))),
        computed("g(1) = h/4, so g(K) <= K g(1) = hK/4 for K >= 1; and g < 1/2, since 2 - h < 2",
                 vanishes((2 - h) / 4 * (1 - c) / (1 + c) - h / 4) and given["steps"].low == 1),
        computed("the claimed value is a function of v = hK/2 alone, 0 at v = 0, rising and concave, and above 1/2 at "
                 "v = 1: so it is at least min(v/2, 1/2)",
                 h not in of_v.free_symbols and vanishes(of_v.subs(v, 0)) and at_one
                 and never_negative(sympy.diff(of_v, v), -sympy.diff(of_v, v, 2))),
        tried=tried,
    )


Step = Callable[[Any, Any, Any, Any], Any]
"""rho' of (rho, v, c, s), unit noise."""

Steps = tuple[Step, Step]
"""A step with the record, and one without it."""


def touched(rho: Any, v: Any, c: Any, s: Any) -> Any:
    """Ye and Shokri's recursion for a step with the record."""
    return rho + s**2 / 2


def untouched(rho: Any, v: Any, c: Any, s: Any) -> Any:
    """Ye and Shokri's recursion for a step without the record."""
    return rho * c**2 * v / (c**2 * v + 1)


def recursion(says: Steps, c: Fraction, steps: tuple[int, ...]) -> Fraction:
    """rho after some steps at unit sensitivity and noise, exactly."""
    rho, v = Fraction(0), Fraction(0)
    for record in steps:
        rho, v = says[0 if record else 1](rho, v, c, Fraction(1)), c * c * v + 1
    return rho


def judge_recursion(says: Steps, given: Domain) -> Finding:
    """Never below the optimal shifts, nor below the exact law of quadratics; a step without the record is exact."""
    tried = 0
    for c, length in itertools.product(given.values("contraction"), given.values("steps", most=6)):
        for steps in itertools.product((0, 1), repeat=length):
            tried += 1
            claimed = recursion(says, c, steps)
            needed = max(optimum(c, list(steps)), exact_linear(c, list(steps))) / 2
            if claimed < needed:
                return refuted(
                    "below what the worst losses have",
                    {"c": c, "steps with the record": steps, "claimed": claimed, "needed": needed},
                )
    rho, v, s = sympy.symbols("rho v s", positive=True)
    c, kept = given.chart("contraction"), sympy.symbols("k", positive=True)
    scaled = (kept**2 + (1 - kept) ** 2 * c**2 * v) * rho  # unit noise
    return proof(
        computed("a step with the record pays its drift itself: rho + s^2/2 is enough",
                 never_negative(says[0](rho, v, c, s) - rho - s**2 / 2) and given["steps"].low == 1),
        argued("before a step without it all shifts may be multiplied by k = c^2 v/v': they stay feasible and leave "
               "(1-k) D, and D^2 <= v sum a_i^2 (Cauchy and Schwarz), for c in (0, 1]"),
        computed("so the cost becomes at most (k^2 + (1-k)^2 c^2 v) rho, which is at most the claimed one",
                 never_negative(says[1](rho, v, c, s) - scaled.subs(kept, c**2 * v / (c**2 * v + 1)))
                 and signed_positive(c) and never_negative(1 - c)),
        tried=tried,
    )


chourasia = Claim(
    id="background/chourasia21",
    source="Chourasia, Ye and Shokri 2021 (the register's formula; text not at hand, proved here)",
    severity=Stake.PRIVACY,
    statement=(
        r"R_\alpha \le \frac{\alpha S^2}{\lambda\sigma^2 n^2}\left(1 - e^{-\lambda\eta K/2}\right),\quad"
        r" \eta \le \frac{2}{\lambda + \beta},\ \lambda \le \beta"
    ),
    words="noisy gradient descent on strongly convex losses has a Renyi divergence that stays bounded",
    hypotheses=(
        Parameter("drop", low=Fraction(0), high=Fraction(1), low_open=True, meaning="h = eta lambda"),
        positive_integer("steps"),
    ),
    says=langevin,
    check=judge_langevin,
    flips=(
        Flip("half as large", lambda h, k, exp: langevin(h, k, exp) / 2, Verdict.REFUTED),
        Flip("e^{-lambda eta K/5}", lambda h, k, exp: 1 - exp(-h * k / 5), Verdict.REFUTED),
    ),
    rests_on=("background/bok-gd",),
    true_variants={"1 % more": "a larger bound is valid, too", "1 % less": "the bound is up to twice what is needed",
                   "/ -> * (operator 2)": "a larger bound is valid, too"},
    expected="HOLDS ARGUED",
)

ye_shokri = Claim(
    id="background/ye-shokri22",
    source="after Ye and Shokri 2022, a recursion of ours over mini-batches from a point mass; text not at hand",
    severity=Stake.PRIVACY,
    statement=(
        r"\rho_{t+1} = \rho_t + \frac{s^2}{2\tau^2} \text{ (record)},\ \rho_{t+1} = \rho_t \frac{c^2 v_t}{v_{t+1}}"
        r" \text{ (else)},\ v_{t+1} = c^2 v_t + \tau^2 \implies R_\alpha(\theta_T \| \theta'_T) \le \alpha\rho_T"
    ),
    words="the recursion over steps with and without the record bounds the Renyi divergence of the last iterate",
    hypotheses=(
        Parameter("contraction", low=Fraction(0), high=Fraction(1), low_open=True), positive_integer("steps"),
    ),
    says=(touched, untouched),
    check=judge_recursion,
    flips=(
        Flip("a step forgets c^2 times as much", (touched, lambda rho, v, c, s: untouched(rho, v, c, s) * c**2),
             Verdict.REFUTED),
        Flip("the record's step costs half", (lambda rho, v, c, s: touched(rho, v, c, s / 2), untouched),
             Verdict.REFUTED),
    ),
    rests_on=("background/fmit18",),
    true_variants=dict.fromkeys(
        ("* 1 % more", "* / -> * (operator 2)", "* [*][*] -> * (operator 1)", "* [*] -> + (operator 2)"),
        "a larger bound is valid, too"),
    expected="HOLDS ARGUED",
)
