r"""Lemmas 4 and 5 of document 002: the Moreau envelope of a convex Lipschitz function of one number.

Let f be convex and G-Lipschitz on an interval M, e(x) = min_{u in M} f(u) + beta (u - x)^2/2, p(x) the unique minimiser
and s(x) = beta (x - p(x)).

- Derivative. p(x) is a candidate at x', so e(x') - e(x) <= beta/2 ((p - x')^2 - (p - x)^2) = s(x) (x' - x) + beta/2
  (x' - x)^2. With x and x' exchanged, e(x') - e(x) >= s(x') (x' - x) - beta/2 (x' - x)^2. As s is continuous (next
  item), e'(x) = s(x).
- Convex and beta-smooth. s(x) is a subgradient at p(x) of f plus the indicator of M, which is convex, so
  (s(x) - s(x')) (p(x) - p(x')) >= 0. With p = x - s/beta: (s - s')(x - x') >= (s - s')^2/beta, hence s is nondecreasing
  and (s - s')/(x - x') <= beta.
- G-Lipschitz on M. If p(x) is inside M, s(x) is a subgradient of f there, at most G. If p(x) is the right end r of M
  and x is in M, then x <= r, so s(x) <= 0, while s(x) is at least the left slope of f at r, so at least -G. The left
  end is the mirror image. Outside M nothing bounds s: at x = r + t it is at least beta t - G.
- Sandwich. u = x is a candidate, so e <= f. With t = |x - p|, f(x) - e(x) = f(x) - f(p) - beta t^2/2 <= G t - beta
  t^2/2 <= G^2/(2 beta). For G|u| and |x| >= G/beta it is an equality, and the slope is G.

Lemma 5 is the case f = g^y, whose slopes are link - label, in [-2B, 2B], at the score <w, x>, |x| <= 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.smoothing.polyhedral import Polyhedral, examples, places
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

One = Callable[[Any], Any]
Two = Callable[[Any, Any], Any]


def _slopes(size: Fraction, beta: Fraction) -> list[tuple[Polyhedral, Fraction, Fraction, Fraction]]:
    """(f, x, x', (e(x') - e(x))/(x' - x)) for the examples."""
    return [
        (f, x, other, (f.envelope(other, beta) - f.envelope(x, beta)) / (other - x))
        for f in examples(size) for x, other in itertools.pairwise(places(size, beta))
    ]


def lipschitz(unit: str, factor: int, *, sharp: bool = False) -> Callable[[One, Domain], Finding]:
    """A checker: is says(unit) a Lipschitz constant of the envelope of functions with slopes up to factor * unit?"""

    def judge(says: One, given: Domain) -> Finding:
        tried = 0
        for point in given.points(unit, "beta", at_most=40):
            size, beta = factor * point[unit], point["beta"]
            for f, x, other, slope in _slopes(size, beta):
                tried += 1
                if abs(slope) > says(point[unit]):
                    return refuted("the envelope is steeper, exactly", {
                        unit: point[unit], "beta": beta, "kinks": ", ".join(map(str, f.kinks)) or "none",
                        "slopes": ", ".join(map(str, f.slopes)), "x": x, "x'": other, "slope": slope,
                        "claimed": says(point[unit])})
            if sharp and says(point[unit]) > size:
                return refuted("the envelope is never so steep", {
                    unit: point[unit], "beta": beta, "least constant": size, "claimed": says(point[unit])})
        size_, beta_ = factor * given.symbol(unit), given.symbol("beta")
        u, t = sympy.symbols("u t", nonnegative=True)
        far = size_ * u + beta_ * (u - size_ / beta_ - t) ** 2 / 2  # the objective of size |u| at x = size/beta + t
        steps: tuple[ProofStep, ...] = (
            argued("the derivative is a subgradient of f at the prox, or between one and 0 at an end of M"),
            computed("the claimed constant is at least the largest subgradient",
                     never_negative(says(given.symbol(unit)) - size_) and size_.is_positive is True),
        )
        if sharp:
            steps += (computed(
                "and no larger: the envelope of size |u| has that slope beyond size/beta, its prox being t > 0 there",
                vanishes(sympy.diff(far, u).subs(u, t), sympy.diff(far.subs(u, t), t) - size_,
                         says(given.symbol(unit)) - size_)),)
        return proof(*steps, tried=tried)

    return judge


def judge_domain(says: One, given: Domain) -> Finding:
    """Whether says(G) bounds the envelope's slope at every number, for functions on M = [0, 1]."""
    for point in given.points("G", "beta", at_most=40):
        size, beta = point["G"], point["beta"]
        f = Polyhedral((), (size,), Fraction(0), Fraction(1))
        x = 1 + 10 * size / beta
        slope = (f.envelope(x + 1, beta) - f.envelope(x, beta))
        if slope > says(size):
            return refuted("outside M the envelope grows like a square", {
                "G": size, "beta": beta, "M": "[0, 1]", "f(u)": f"{size} u", "x": x, "x'": x + 1, "slope": slope,
                "claimed": says(size)})
    return undecided("not steeper at the points tried", 1)


def judge_smooth(says: One, given: Domain) -> Finding:
    """Whether says(beta) = (least, largest) bounds every difference quotient of the envelope's derivative."""
    tried = 0
    for point in given.points("G", "beta", at_most=30):
        size, beta = point["G"], point["beta"]
        least, largest = says(beta)
        for f in examples(size):
            for x, other in itertools.pairwise(places(size, beta)):
                rise = beta * (other - f.prox(other, beta) - x + f.prox(x, beta)) / (other - x)
                tried += 1
                if not least <= rise <= largest:
                    return refuted("the derivative rises otherwise, exactly", {
                        "G": size, "beta": beta, "kinks": ", ".join(map(str, f.kinks)) or "none",
                        "slopes": ", ".join(map(str, f.slopes)), "x": x, "x'": other, "quotient": rise,
                        "claimed": f"{least} to {largest}"})
    beta_ = given.symbol("beta")
    down, up = says(beta_)
    ds, dx = sympy.symbols("ds dx", real=True)
    return proof(
        argued("s = beta (x - p) is a subgradient at p of f plus the indicator of M: ds (dx - ds/beta) >= 0"),
        computed("that is ds dx >= ds^2/beta >= 0, so ds/dx lies between 0 and beta",
                 vanishes(sympy.expand(ds * (dx - ds / beta_) - ds * dx + ds**2 / beta_))
                 and beta_.is_positive is True),
        computed("the claimed ends are no tighter", never_negative(up - beta_, -sympy.sympify(down))
                 and given.symbol("G").is_positive is True),
        tried=tried,
    )


def judge_derivative(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether the envelope's derivative at x is says(beta, x, prox)."""
    tried = 0
    for point in given.points("G", "beta", at_most=30):
        size, beta = point["G"], point["beta"]
        for f, x in itertools.product(examples(size), places(size, beta)):
            step = size / beta / 10**6
            left, right = ((f.envelope(x + side, beta) - f.envelope(x, beta)) / side for side in (-step, step))
            told = says(beta, x, f.prox(x, beta))
            tried += 1
            if not left <= told <= right:  # the envelope is convex: its derivative lies between the quotients
                return refuted("no slope of the envelope at x", {
                    "G": size, "beta": beta, "kinks": ", ".join(map(str, f.kinks)) or "none",
                    "slopes": ", ".join(map(str, f.slopes)), "x": x, "prox": f.prox(x, beta), "claimed": told,
                    "quotients": f"{left} and {right}"})
    beta_, (x_, new, p_) = given.symbol("beta"), sympy.symbols("x x' p", real=True)
    above = beta_ / 2 * ((p_ - new) ** 2 - (p_ - x_) ** 2)
    return proof(
        computed("the prox at x is a candidate at x': e(x') - e(x) <= s (x' - x) + beta (x' - x)^2/2, s as claimed",
                 vanishes(above - says(beta_, x_, p_) * (new - x_) - beta_ / 2 * (new - x_) ** 2)
                 and beta_.is_positive is True and given.symbol("G").is_positive is True),
        argued("with x and x' exchanged it is the bound from below; s is continuous, so the derivative is s"),
        tried=tried,
    )


def sandwich(unit: str, factor: int) -> Callable[[Two, Domain], Finding]:
    """A checker: does says(unit, beta) bound f - e >= 0 for functions with slopes up to factor * unit?"""

    def judge(says: Two, given: Domain) -> Finding:
        tried = 0
        for point in given.points(unit, "beta", at_most=40):
            size, beta = factor * point[unit], point["beta"]
            for f, x in itertools.product(examples(size), places(size, beta)):
                gap, tried = f.value(x) - f.envelope(x, beta), tried + 1
                if not 0 <= gap <= says(point[unit], beta):
                    return refuted("function and envelope are further apart, exactly", {
                        unit: point[unit], "beta": beta, "kinks": ", ".join(map(str, f.kinks)) or "none",
                        "slopes": ", ".join(map(str, f.slopes)), "x": x, "gap": gap,
                        "claimed": says(point[unit], beta)})
        size_, beta_, t = factor * given.symbol(unit), given.symbol("beta"), sympy.symbols("t", nonnegative=True)
        room = says(given.symbol(unit), beta_) - size_**2 / (2 * beta_)
        return proof(
            argued("u = x is a candidate, so e <= f; f(x) - f(p) <= G t with t = |x - p|, as f is G-Lipschitz"),
            computed("G t - beta t^2/2 is G^2/(2 beta) minus a square",
                     vanishes(size_**2 / (2 * beta_) - size_ * t + beta_ * t**2 / 2
                              - (size_ - beta_ * t) ** 2 / (2 * beta_))),
            computed("the claimed gap is at least that", never_negative(room)),
            *((study_step("envelope-bias"),) if unit == "B" else ()),
            tried=tried,
        )

    return judge


def judge_prox(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether u |-> f(u) + beta/2 says(u, x, m)^2 has its minimum where the envelope at x is attained; f = 0."""
    tried = 0
    for point in given.points("x", "m", at_most=60):
        x, m = point["x"], point["m"]
        tried += 1
        if says(x, x, m) != 0:
            return refuted("f = 0: the envelope at x is attained at u = x, and this objective is not", {
                "f": 0, "x": x, "m": m, "u": x, "objective at u, over beta/2": says(x, x, m) ** 2,
                "minimum": 0})
    u, x_, m_ = sympy.symbols("u x m", real=True)
    return proof(computed("the objective is that of the envelope", vanishes(says(u, x_, m_) ** 2 - (u - x_) ** 2)),
                 tried=tried)


def judge_inferred(says: One, given: Domain) -> Finding:
    """Whether Lemma 4 with the Lipschitz constant says(G), at G = 2B, gives 2B."""
    tried = 0
    for size in given.values("B"):
        tried += 1
        if says(2 * size) > 2 * size:
            return refuted("Lemma 4 gives a larger constant", {
                "B": size, "Lemma 4 at G = 2B": says(2 * size), "claimed": 2 * size})
        if says(2 * size) < 2 * size:
            return refuted("a constant that Lemma 4 cannot have: G |u| is steeper", {
                "B": size, "Lemma 4 at G = 2B": says(2 * size), "slope of 2B |u|": 2 * size})
    return proof(computed("Lemma 4's constant at 2B is 2B",
                          vanishes(2 * given.symbol("B") - says(2 * given.symbol("B")))), tried=tried)


_GB = (positive("G"), positive("beta"))
_BB = (positive("B"), positive("beta"))
_LEMMA_4 = (
    r"a) ℓ_β is convex, $2G$ -Lipschitz and β -smooth. b) $\ell'_\beta(x) = \beta[x - \text{prox}_\ell^\beta(x)]$. "
    r"c) For all $x \in \mathcal{M}$, $\ell_\beta(x) \leq \ell(x) \leq \ell_\beta(x) + \frac{G^2}{2\beta}$."
)
_LEMMA_5 = (
    r"then we have f_β is $2B$ -Lipschitz, β -smooth and $|f_\beta(w; x, y) - \ell(w; x, y)| \leq "
    r"\frac{2B^2}{\beta}$ for all $w \in \mathbb{R}^d$."
)
_LARGER = {"1 % more": "a larger bound is a bound, too"}

lipschitz_2g = Claim(
    id="nonconvex-nn/lem-4", source="002, Lemma 4 a): Lipschitz, for x in M", quote=_LEMMA_4, whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"|\ell_\beta(x) - \ell_\beta(x')| \le 2G |x - x'|,\ x, x' \in \mathcal{M}",
    words="the Moreau envelope of a convex G-Lipschitz function is 2G-Lipschitz on M",
    hypotheses=_GB, says=lambda size: 2 * size, check=lipschitz("G", 1),
    flips=(Flip("G", lambda size: size, Verdict.HOLDS), Flip("G/2", lambda size: size / 2, Verdict.REFUTED)),
    true_variants={"1 % *": "G is enough", "2 -> 3*": "G is enough", "* -> +*": "2 + G is more than G"},
    expected="HOLDS ARGUED",
)
lipschitz_sharp = Claim(
    id="nonconvex-nn/lem-4-sharp", source="a finding of ours: the constant of 002, Lemma 4 a)",
    severity=Stake.PROOF, statement=r"\sup \frac{|\ell_\beta(x) - \ell_\beta(x')|}{|x - x'|} = G",
    words="the least Lipschitz constant of the Moreau envelope that is right for all G-Lipschitz functions is G",
    hypotheses=_GB, says=lambda size: size, check=lipschitz("G", 1, sharp=True),
    flips=(Flip("2G, as printed", lambda size: 2 * size, Verdict.REFUTED),), expected="HOLDS ARGUED",
)
lipschitz_outside = Claim(
    id="nonconvex-nn/lem-4-domain", source="002, Lemma 4 a), read at every number x and not only in M",
    quote=_LEMMA_4, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"|\ell_\beta(x) - \ell_\beta(x')| \le 2G |x - x'|,\ x, x' \in \mathbb{R}",
    words="the envelope of a function on a bounded interval is 2G-Lipschitz on the whole line",
    hypotheses=_GB, says=lambda size: 2 * size, check=judge_domain,
    flips=(Flip("more than the point tried can tell", lambda size: 10**9 * size + 10**9, Verdict.UNDECIDED),),
    repaired_by="nonconvex-nn/lem-4", expected="REFUTED PROVED",
)
smooth = Claim(
    id="nonconvex-nn/lem-4-smooth", source="002, Lemma 4 a): convex and smooth", quote=_LEMMA_4, whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"0 \le \frac{\ell_\beta'(x) - \ell_\beta'(x')}{x - x'} \le \beta",
    words="the Moreau envelope of a convex function is convex and beta-smooth",
    hypotheses=_GB, says=lambda beta: (0, beta), check=judge_smooth,
    flips=(Flip("strongly convex", lambda beta: (beta / 100, beta), Verdict.REFUTED),
           Flip("beta/2-smooth", lambda beta: (0, beta / 2), Verdict.REFUTED)),
    true_variants=_LARGER, expected="HOLDS ARGUED",
)
derivative = Claim(
    id="nonconvex-nn/lem-4-derivative", source="002, Lemma 4 b)", quote=_LEMMA_4, whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"\ell_\beta'(x) = \beta (x - \mathrm{prox}_\ell^\beta(x))",
    words="the derivative of the Moreau envelope is beta (x - prox(x))",
    hypotheses=_GB, says=lambda beta, x, p: beta * (x - p), check=judge_derivative,
    flips=(Flip("prox - x", lambda beta, x, p: beta * (p - x), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
gap = Claim(
    id="nonconvex-nn/lem-4-sandwich", source="002, Lemma 4 c)", quote=_LEMMA_4, whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"\ell_\beta \le \ell \le \ell_\beta + \frac{G^2}{2\beta}",
    words="the Moreau envelope lies below the function, by at most G^2/(2 beta)",
    hypotheses=_GB, says=lambda size, beta: size**2 / (2 * beta), check=sandwich("G", 1),
    flips=(Flip("G^2/(4 beta)", lambda size, beta: size**2 / (4 * beta), Verdict.REFUTED),),
    true_variants=_LARGER, expected="HOLDS ARGUED",
)
prox = Claim(
    id="nonconvex-nn/lem-4-prox", source="002, Section 4.1.2, the proximal operator: m, which stands nowhere, for x",
    quote=r"\text{prox}_\ell^\beta(x) = \arg \min_{u \in \mathcal{M}} [\ell(u) + \frac{\beta}{2} |u - m|^2].",
    whose=Whose.TYPO,
    statement=r"\mathrm{prox}_\ell^\beta(x) = \mathop{argmin}_u [\ell(u) + \tfrac{\beta}{2} |u - m|^2]",
    words="the prox at x is the minimiser of f(u) + beta |u - m|^2/2, whatever m is",
    hypotheses=(real("x"), real("m")), says=lambda u, x, m: u - m, check=judge_prox, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathrm{prox}_\ell^\beta(x) = \mathop{argmin}_u [\ell(u) + \tfrac{\beta}{2} |u - x|^2]",
        words="the prox at x is the minimiser of f(u) + beta |u - x|^2/2", says=lambda u, x, m: u - x,
        expected="HOLDS PROVED",
        true_variants={"sign": "only the square enters"},
    ),
)
surrogate = Claim(
    id="nonconvex-nn/lem-5", source="002, Lemma 5: Lipschitz", quote=_LEMMA_5, whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"|f_\beta(w) - f_\beta(w')| \le 2B \lVert w - w' \rVert",
    words="the smoothed surrogate loss is 2B-Lipschitz", hypotheses=_BB, says=lambda b: 2 * b,
    check=lipschitz("B", 2, sharp=True), uses=("nonconvex-nn/lem-4",), rests_on=("nonconvex-nn/lem-4-sharp",),
    flips=(Flip("B", lambda b: b, Verdict.REFUTED),
           Flip("4B, what Lemma 4 as printed gives, is not the least", lambda b: 4 * b, Verdict.REFUTED)),
    expected="HOLDS ARGUED",
)
surrogate_smooth = Claim(
    id="nonconvex-nn/lem-5-smooth", source="002, Lemma 5: smooth", quote=_LEMMA_5, whose=Whose.PRINTED,
    severity=Stake.PRIVACY, statement=r"0 \preceq \nabla^2 f_\beta \preceq \beta I",
    words="the smoothed surrogate loss is convex and beta-smooth in the score, hence in w for |x| <= 1",
    hypotheses=_GB, says=lambda beta: (0, beta), check=judge_smooth,
    flips=(Flip("beta/2", lambda beta: (0, beta / 2), Verdict.REFUTED),), uses=("nonconvex-nn/lem-4",),
    rests_on=("nonconvex-nn/lem-4-smooth",), true_variants=_LARGER, expected="HOLDS ARGUED",
)
surrogate_gap = Claim(
    id="nonconvex-nn/lem-5-error", source="002, Lemma 5: how far the envelope is from the loss", quote=_LEMMA_5,
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"|f_\beta - \ell| \le \frac{2B^2}{\beta}",
    words="smoothing changes the surrogate loss by at most 2 B^2/beta",
    hypotheses=_BB, says=lambda b, beta: 2 * b**2 / beta, check=sandwich("B", 2),
    flips=(Flip("B^2/beta", lambda b, beta: b**2 / beta, Verdict.REFUTED),),
    uses=("nonconvex-nn/lem-4",), rests_on=("nonconvex-nn/lem-4-sandwich",),
    true_variants=_LARGER, expected="HOLDS ARGUED",
)
inferred = Claim(
    id="nonconvex-nn/lem-5-from-lem-4", source="002, Section 4.1.2: Lemma 5's constant from Lemma 4's",
    quote=r"By Lemma 4 and since ℓ is Lipschitz and convex, we have g_β^y is $2B$ -Lipschitz and β -smooth.",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"2G|_{G = 2B} \le 2B",
    words="Lemma 4 as printed, for the 2B-Lipschitz surrogate, gives the Lipschitz constant 2B",
    hypotheses=(positive("B"),), says=lambda size: 2 * size, check=judge_inferred, uses=("nonconvex-nn/lem-4",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"G|_{G = 2B} \le 2B", words="Lemma 4 with its least constant, G, gives 2B", says=lambda size: size,
        expected="HOLDS ARGUED", rests_on=("nonconvex-nn/lem-4-sharp",),
        flips=(Flip("3G/2", lambda size: size * 3 / 2, Verdict.REFUTED),),
        true_variants={"any B": "the constants are the same expression for all numbers"},
    ),
)
