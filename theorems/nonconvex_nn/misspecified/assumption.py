r"""Assumption 2 of document 002: isotropic, log-concave, with a density, and |x| <= sqrt(d). No law meets it.

As printed. E|x|^2 = tr E xx^T = d, and |x|^2 <= d: so |x|^2 = d almost surely, and a sphere has no volume, so that
there is no density.

The least radius. Let R^2 bound |x|^2, and let a be a point where the density f is largest. The level sets K of f are
convex and contain a, and f is an average of their indicator functions. On each of them, by the divergence theorem for
the field (x - a)(R^2 - |x|^2), whose flux out of K is not negative (<x - a, normal> >= 0, as a is in the convex K),

    0 <= int_K d (R^2 - |x|^2) - 2 <x, x - a> dx.

Averaged over the level sets, with E x = 0 and E|x|^2 = d: 0 <= d R^2 - d^2 - 2d, that is R^2 >= d + 2. The uniform law
on the ball of radius sqrt(d + 2) has it: E|x|^2 = R^2 d/(d + 2) = d. So |x| <= C sqrt(d) can be met in dimension d if
and only if C^2 >= 1 + 2/d; C = sqrt(3) will do for all d.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided


def judge_radius(square: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether an isotropic log-concave law with a density can have |x|^2 <= square(d), in every dimension d."""
    dimensions = given.values("dimension")
    for d in dimensions:
        if square(d) < d + 2:
            return refuted_by(
                "all of |x|^2 must sit at its bound, where there is no volume" if square(d) <= d else
                "no log-concave law fits into so small a ball",
                {"d": d, "bound on |x|^2": square(d), "E|x|^2": d, "least bound with a density": d + 2},
                computed("E|x|^2 = d, so that E(bound - |x|^2) = bound - d, and d (bound - d - 2) < 0",
                         d * (square(d) - d - 2) < 0),
                argued("a bound up to d leaves |x|^2 = d almost surely, a sphere; one below d + 2 contradicts the "
                       "divergence theorem on the level sets"),
            )
    d_ = given.chart("dimension")
    s, n = sympy.symbols("s n", positive=True)
    share = sympy.integrate(s ** (n + 1), (s, 0, 1)) / sympy.integrate(s ** (n - 1), (s, 0, 1))
    return proof(
        computed("on a ball of radius R, E|x|^2 = R^2 n/(n + 2), which is n for R^2 = n + 2",
                 vanishes((n + 2) * share - n)),
        computed("the bound is at least d + 2", never_negative(square(d_) - d_ - 2)),
        argued("the ball is symmetric in every coordinate and under exchanging them, so E x = 0 and E xx^T is a "
               "multiple of I; a constant on a convex set is log-concave"),
        tried=len(dimensions),
    )


def judge_uniform(ends: Sequence[Any], given: Domain) -> Finding:
    """Whether independent coordinates, uniform between the ends, are isotropic and log-concave."""
    low, high = (sympy.sympify(end) for end in ends)
    mean, second = (low + high) / 2, (low**2 + low * high + high**2) / 3
    if not vanishes(mean, second - 1):
        return refuted(
            "its mean is not 0, or its second moment is not 1",
            {"low": low, "high": high, "E x_i": mean, "E x_i^2": second, "E x_i x_j": mean**2},
        )
    x = sympy.Symbol("x")
    first, square = (sympy.integrate(x**i, (x, low, high)) / (high - low) for i in (1, 2))
    return proof(
        computed("E x_i = 0 and E x_i^2 = 1, by integration", vanishes(first, square - 1)),
        argued("independent coordinates of mean 0 have E x_i x_j = 0; a constant on a convex set is log-concave"),
        tried=len(given.values("dimension")),
    )


def judge_atoms(atoms: Sequence[tuple[Fraction, Fraction]], given: Domain) -> Finding:
    """Whether a law with these atoms (point, weight) can have a density."""
    weight = sum((one for _, one in atoms), Fraction(0))
    if weight > 0:
        return refuted(
            "finitely many points have weight, and under a density they have none",
            {"points": ", ".join(str(at) for at, _ in atoms), "their probability": weight, "under a density": 0},
        )
    return undecided("no atom is against a density, and nothing shows that there is one", 1)


def judge_log_concave(bound: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether f(lx + (1-l)y) >= bound(f(x), f(y), l) is what concavity of log f says."""
    one, other, lam = (given.symbol(name) for name in ("f_x", "f_y", "lam"))
    tried = 0
    for point in given.points():
        a, b, t = (sympy.Rational(str(point[name])) for name in ("f_x", "f_y", "lam"))
        tried += 1
        true = a**t * b ** (1 - t)
        if abs(sympy.N(bound(a, b, t) - true, 30)) > sympy.Rational(1, 10**20):
            return refuted("this is another condition than concavity of log f",
                           {"f(x)": a, "f(y)": b, "lambda": t, "claimed": bound(a, b, t), "geometric mean": true})
    log = sympy.expand_log(sympy.log(bound(one, other, lam)))
    return proof(
        computed("its logarithm is lambda log f(x) + (1 - lambda) log f(y)",
                 vanishes(log - lam * sympy.log(one) - (1 - lam) * sympy.log(other))),
        tried=tried,
    )


_DIMENSION = (positive_integer("dimension"),)
_EXAMPLES = (
    "we will concentrate on the following isotropic log-concave distributions, which include uniform distribution over "
    r"$[0, 1]^d$ and Bernoulli distribution."
)

vacuous = Claim(
    id="nonconvex-nn/asm-2-vacuous",
    source="002, Assumption 2: there are laws that meet it",
    quote=(
        r"Assumption 2. We assume the marginal distribution of x is isotropic log-concave, i.e., "
        r"$\mathbb{E}_{\mathcal{P}_x}[x] = 0$ and $\mathbb{E}_{\mathcal{P}_x}[xx^T] = \mathbb{I}_d$, and its density "
        r"function f satisfies $f(\lambda x + (1-\lambda)y) \geq f(x)^\lambda f(y)^{1-\lambda}$ for every "
        r"$x, y \in \text{Supp}(\mathcal{P}_x)$ and $\lambda \in [0, 1]$. Moreover, we assume $\|x\|_2 \leq \sqrt{d}$ "
        r"and $y \in [-B, B]$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\exists\,\mathcal{P}_x:\ \mathbb{E}x = 0,\ \mathbb{E}xx^T = I_d,\ f \text{ log-concave},"
              r"\ \lVert x \rVert_2^2 \le d",
    words="there is an isotropic log-concave law with a density and |x| <= sqrt(d)",
    hypotheses=_DIMENSION, says=lambda d: d, check=judge_radius,
    flips=(Flip("|x|^2 <= d + 1", lambda d: d + 1, Verdict.REFUTED),
           Flip("|x|^2 <= 3d", lambda d: 3 * d, Verdict.HOLDS)),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\exists\,\mathcal{P}_x \text{ with } \lVert x \rVert_2^2 \le R^2 \iff R^2 \ge d + 2",
        words="there is an isotropic log-concave law with a density and |x| <= sqrt(d + 2), and none with less",
        says=lambda d: d + 2,
        expected="HOLDS ARGUED",
        source="002, Assumption 2 with |x| <= C sqrt(d), C^2 >= 1 + 2/d",
        flips=(Flip("1 % less than d + 2", lambda d: (d + 2) * Fraction(99, 100), Verdict.REFUTED),),
        true_variants={
            "1 % more": "a larger ball has the law, too", "2 -> 3*": "a larger ball has the law, too",
            "squared": "(d + 2)^2 is larger still", "any dimension": "a dimension is a count, whatever is said of it",
        },
    ),
)
examples = Claim(
    id="nonconvex-nn/asm-2-examples",
    source="002, Section 4.2: the uniform law on [0, 1]^d is isotropic log-concave",
    quote=_EXAMPLES,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"x \sim U[0, 1]^d \Rightarrow \mathbb{E}x = 0,\ \mathbb{E}xx^T = I_d",
    words="the uniform law on the cube [0, 1]^d is isotropic and log-concave",
    hypotheses=_DIMENSION, says=(0, 1), check=judge_uniform,
    flips=(Flip("[-1, 1]^d", (-1, 1), Verdict.REFUTED),),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"x \sim U[-\sqrt3, \sqrt3]^d \Rightarrow \mathbb{E}x = 0,\ \mathbb{E}xx^T = I_d",
        words="the uniform law on the cube [-sqrt(3), sqrt(3)]^d is isotropic and log-concave, with |x| <= sqrt(3d)",
        says=(-sympy.sqrt(3), sympy.sqrt(3)),
        expected="HOLDS ARGUED",
        source="002, Section 4.2, its cube moved and stretched",
        true_variants={"any dimension": "the coordinates are independent, however many there are"},
    ),
)
bernoulli = Claim(
    id="nonconvex-nn/asm-2-examples-bernoulli",
    source="002, Section 4.2: Bernoulli laws are among those with a log-concave density",
    quote=_EXAMPLES,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"x_i \in \{0, 1\} \text{ has a density}",
    words="a Bernoulli law, or one of independent signs, has a density",
    hypotheses=(), says=((Fraction(0), Fraction(1, 2)), (Fraction(1), Fraction(1, 2))), check=judge_atoms,
    flips=(Flip("signs", ((Fraction(-1), Fraction(1, 2)), (Fraction(1), Fraction(1, 2))), Verdict.REFUTED),
           Flip("no atom at all", (), Verdict.UNDECIDED)),
    repaired_by="nonconvex-nn/asm-2-examples-repaired",
    expected="REFUTED PROVED",
)
log_concave = Claim(
    id="nonconvex-nn/asm-2-lambda",
    source="002, Assumption 2: the inequality that defines log-concave densities",
    quote=(
        r"its density function f satisfies $f(\lambda x + (1-\lambda)y) \geq f(x)^\lambda f(y)^{1-\lambda}$ for every "
        r"$x, y \in \text{Supp}(\mathcal{P}_x)$ and $\lambda \in [0, 1]$"
    ),
    whose=Whose.PRINTED,
    statement=r"f(\lambda x + (1-\lambda) y) \ge f(x)^\lambda f(y)^{1-\lambda} \iff \log f \text{ is concave}",
    words="the inequality of Assumption 2 is that log f is concave",
    hypotheses=(positive("f_x"), positive("f_y"), unit_interval("lam")),
    says=lambda one, other, lam: one**lam * other ** (1 - lam), check=judge_log_concave,
    flips=(Flip("the arithmetic mean", lambda one, other, lam: lam * one + (1 - lam) * other, Verdict.REFUTED),),
    true_variants={"any lam": "the two conditions are one expression for every lambda"},
    expected="HOLDS PROVED",
)
