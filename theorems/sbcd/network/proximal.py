r"""Lemma 4.2 of document 001 and its three examples: proximal maps and their Lipschitz constants.

For u = Prox(x), v = Prox(y) the vectors g = (x - u)/eta and h = (y - v)/eta are subgradients of r at u and v (Fermat's
rule). The two subgradient inequalities add up to <u - v, g - h> >= 0, so D = <u - v, x - y> - |u - v|^2 >= 0, and
|x - y|^2 - |u - v|^2 = |(x - y) - (u - v)|^2 + 2D >= 0: inner products only, so in every dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, vector
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.network.algebra import never_negative
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted

Prox = Callable[[Any, Any], Any]
Slope = Callable[[Any], tuple[Any, Any]]

_GRID = tuple(Fraction(n, 2) for n in range(-6, 7))

SUBGRADIENTS: dict[str, Slope] = {
    "0": lambda t: (Fraction(0), Fraction(0)),
    "l2": lambda t: (t, t),
    "l1": lambda t: (Fraction(1 if t > 0 else -1), Fraction(-1 if t < 0 else 1)),
}
"""The subgradients of r = 0, |.|^2/2 and |.|_1 at a coordinate, as an interval."""


def soft(eta: Any, t: Any) -> Any:
    """The proximal map of the l1 norm, sign(t) max(0, |t| - eta): towards zero by eta."""
    return (1 if t > 0 else -1) * max(0 * t, abs(t) - eta)


TRUE: dict[str, Prox] = {"0": lambda eta, t: t, "l2": lambda eta, t: t / (1 + eta), "l1": soft}


def judge_map(says: tuple[str, Prox], given: Domain) -> Finding:
    """Whether (t - u)/eta is a subgradient of r at u = prox(t): necessary and sufficient, since r is convex."""
    name, prox = says
    tried = 0
    for eta in (Fraction(1, 2), *given.values("eta")):
        for t in (*_GRID, eta, -eta):
            u = prox(eta, t)
            low, high = SUBGRADIENTS[name](u)
            tried += 1
            if not low <= (t - u) / eta <= high:
                return refuted(
                    "the point is not the minimiser of r + |. - theta|^2/(2 eta)",
                    {"r": name, "eta": eta, "theta": t, "claimed": u, "minimiser": TRUE[name](eta, t)},
                )
    return proof(
        computed("(theta - u)/eta is a subgradient of r at the claimed u, which is what makes u the minimiser of a "
                 "convex function, for all symbols eta and theta, in every coordinate; r and the square are sums over "
                 "the coordinates", _optimal(name, prox, given)),
        tried=tried,
    )


def _optimal(name: str, prox: Prox, given: Domain) -> bool:
    """The optimality condition for symbols: for l1 by the cases of theta against eta."""
    eta = given.symbol("eta")
    less, more = sympy.symbols("s x", positive=True)
    t = sympy.symbols("t", real=True)
    if name != "l1":
        u = prox(eta, t)
        return vanishes((t - u) / eta - SUBGRADIENTS[name](u)[0])
    # theta beyond eta; at eta; inside, where eta = s + x and theta = s; at 0; and their mirror images.
    for step, size in ((eta, eta + more), (eta, eta), (less + more, less), (eta, sympy.Integer(0))):
        for sign in (1, -1):
            u, slope = prox(step, sign * size), sign * size / step
            low, high = SUBGRADIENTS["l1"](sympy.simplify(u))
            slope -= u / step
            if not (never_negative(slope - low) and never_negative(high - slope)):
                return False
    return True


def judge_constants(says: Callable[[Any], dict[str, Any]], given: Domain) -> Finding:
    """Whether these are the best Lipschitz constants of the three maps at every eta."""
    return _constants(says, given, lambda steepest, constant: bool(steepest == constant), vanishes)


def judge_bounds(says: Callable[[Any], dict[str, Any]], given: Domain) -> Finding:
    """Whether these are Lipschitz constants, the best or not, of the three maps at every eta."""
    return _constants(says, given, lambda steepest, constant: bool(steepest <= constant), never_negative)


def _constants(
    says: Callable[[Any], dict[str, Any]], given: Domain, right: Callable[[Any, Any], bool],
    shown: Callable[[Any], bool],
) -> Finding:
    values = (Fraction(1, 2), *given.values("eta"))
    for eta in values:
        points = sorted({*_GRID, 2 * eta, 3 * eta})
        for name, constant in says(eta).items():
            steepest = max(
                abs(TRUE[name](eta, a) - TRUE[name](eta, b)) / abs(a - b) for a in points for b in points if a != b
            )
            if not right(steepest, constant):
                return refuted(
                    "the map has another Lipschitz constant, exactly",
                    {"r": name, "eta": eta, "constant": steepest, "claimed": constant},
                )
    eta_, more = given.symbol("eta"), sympy.symbols("x", positive=True)
    claimed = says(eta_)
    slopes = {  # between theta and theta + 1 the maps move points so far
        name: TRUE[name](eta_, eta_ + more + 1) - TRUE[name](eta_, eta_ + more) for name in claimed
    }
    return proof(
        computed("the slopes of the three maps, on symbols beyond eta, are the constants claimed, or no larger where "
                 "they are only claimed to bound", all(shown(claimed[name] - slopes[name]) for name in claimed)),
        argued("the first two maps are linear, and soft thresholding is nowhere steeper than 1 (Lemma 4.2 with 1)"),
        tried=len(values),
    )


def nonexpansive() -> tuple[ProofStep, ...]:
    """The proof of the module docstring that every proximal map of a convex function is 1-Lipschitz."""
    r_u, r_v, uv_g, uv_h = sympy.symbols("r_u r_v g h", real=True)  # g = <u - v, g>, h = <u - v, h>
    added = (r_v - r_u + uv_g) + (r_u - r_v - uv_h)  # both >= 0: r(v) >= r(u) + <g, v - u>, r(u) >= r(v) + <h, u - v>
    xx, uu, ux = sympy.symbols("X U W", real=True)  # |x - y|^2, |u - v|^2 and <u - v, x - y>
    gap = xx - uu - ((xx - 2 * ux + uu) + 2 * (ux - uu))
    return (
        argued("(x - u)/eta is a subgradient of r at u = Prox(x) (Fermat's rule; r closed, proper and convex)"),
        computed("the two subgradient inequalities add up to <u - v, g - h> >= 0", vanishes(added - (uv_g - uv_h))),
        computed("|x - y|^2 - |u - v|^2 = |(x - y) - (u - v)|^2 + 2(<u - v, x - y> - |u - v|^2), both terms >= 0",
                 vanishes(gap)),
    )


def judge_bound(constant: Fraction, given: Domain) -> Finding:
    """Whether every proximal map of a convex function is Lipschitz with that constant; r = 0 has exactly 1."""
    tried = 0
    for eta in given.values("eta"):
        for name, prox in TRUE.items():
            tried += 1
            for a, b in ((a, b) for a in _GRID for b in _GRID):
                if abs(prox(eta, a) - prox(eta, b)) > constant * abs(a - b):
                    return refuted(
                        "a proximal map is steeper", {"r": name, "eta": eta, "x": a, "y": b, "claimed": constant}
                    )
    return proof(*nonexpansive(), computed("the constant is at least 1", constant >= 1), tried=tried)


def judge_sharp(constant: Fraction, given: Domain) -> Finding:
    """Whether that constant serves every proximal map, and no smaller one does."""
    found = judge_bound(constant, given)
    if found.verdict is Verdict.HOLDS and constant > 1:  # 1 serves, too, by the steps of that proof
        return refuted("a smaller constant serves all, too", {"r": "any convex function", "constant": "1",
                                                              "claimed": constant})
    return found


_HYPOTHESES = (positive("eta"), vector("theta"))

lemma_4_2 = Claim(
    id="sbcd/lem-4.2", source="001, Lemma 4.2",
    quote=r"is Lipschitz continuous with a constant $L_T \leq 2$.",
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"r \text{ convex} \implies L_T \le 2",
    words="the proximal map of a closed proper convex function is 2-Lipschitz",
    hypotheses=_HYPOTHESES, says=Fraction(2), check=judge_bound,
    flips=(Flip("1/2", Fraction(1, 2), Verdict.REFUTED),),
    true_variants={"1 % *": "every constant from 1 on serves", "one more": "every constant from 1 on serves"},
    expected="HOLDS ARGUED",
)
lemma_4_2_sharp = Claim(
    id="sbcd/lem-4.2-sharp", source="001, Lemma 4.2, with its best constant",
    severity=Stake.PROOF,
    statement=r"r \text{ convex} \implies L_T \le 1, \text{ and no smaller constant serves all}",
    words="the proximal map of a closed proper convex function is 1-Lipschitz, and no smaller constant serves all",
    hypotheses=_HYPOTHESES, says=Fraction(1), check=judge_sharp,
    flips=(
        Flip("99/100", Fraction(99, 100), Verdict.REFUTED),
        Flip("2, which is true but not the best", Fraction(2), Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)
prox_l2 = Claim(
    id="sbcd/prox-l2", source="001, Section 4.2, example 2",
    quote=(
        r"r(\theta) = \frac{1}{2} \|\theta\|_2^2$, and then $\text{Prox}_{\eta,r}(\theta) = "
        r"\frac{\eta}{1+\eta} \theta$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathrm{Prox}_{\eta, \frac12\lVert\cdot\rVert^2}(\theta) = \frac{\eta}{1+\eta}\theta",
    words="the proximal map of |.|^2/2 multiplies by eta/(1 + eta)",
    hypotheses=_HYPOTHESES, says=("l2", lambda eta, t: eta * t / (1 + eta)), check=judge_map,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathrm{Prox}_{\eta, \frac12\lVert\cdot\rVert^2}(\theta) = \frac{1}{1+\eta}\theta",
        words="the proximal map of |.|^2/2 divides by 1 + eta",
        says=("l2", lambda eta, t: t / (1 + eta)),
        expected="HOLDS PROVED",
        flips=(Flip("1 - eta", ("l2", lambda eta, t: t * (1 - eta)), Verdict.REFUTED),),
    ),
)
prox_l1 = Claim(
    id="sbcd/prox-l1", source="001, Section 4.2, example 3",
    quote=(
        r"r(\theta) = \|\theta\|_1$, and then $\text{Prox}_{\eta,r}(\theta) = \text{sign}(\theta) \cdot "
        r"\max(0, |\theta| - \eta)$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathrm{Prox}_{\eta, \lVert\cdot\rVert_1}(\theta) = \mathrm{sign}(\theta)\max(0, |\theta| - \eta)",
    words="the proximal map of the l1 norm is soft thresholding",
    hypotheses=_HYPOTHESES, says=("l1", soft), check=judge_map,
    flips=(
        Flip("by eta/2", ("l1", lambda eta, t: soft(eta / 2, t)), Verdict.REFUTED),
        Flip("written as a difference of two positive parts",
             ("l1", lambda eta, t: max(0 * t, t - eta) - max(0 * t, -t - eta)), Verdict.HOLDS),
    ),
    expected="HOLDS PROVED",
)
prox_0 = Claim(
    id="sbcd/prox-0", source="001, Section 4.2, example 1",
    quote=r"1) no regularization: $r(\theta) = 0$, and then $\text{Prox}_{\eta,r}(\theta) = \theta$",
    whose=Whose.PRINTED,
    statement=r"\mathrm{Prox}_{\eta, 0}(\theta) = \theta",
    words="the proximal map of r = 0 is the identity",
    hypotheses=_HYPOTHESES, says=("0", lambda eta, t: t), check=judge_map,
    flips=(Flip("theta/2", ("0", lambda eta, t: t / 2), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)


def _each(constant: Fraction) -> dict[str, Fraction]:
    """One constant for the three maps."""
    return {"0": constant, "l2": constant, "l1": constant}


_ALL = "In all these three cases, the proximal function is Lipschitz continuous and the Lipschitz constant is 1."

all_one = Claim(
    id="sbcd/prox-all-1", source="001, Section 4.2, after the examples",
    quote=_ALL,
    whose=Whose.PRINTED,
    statement=r"L_T = 1 \text{ for } r = 0,\ \tfrac12\lVert\cdot\rVert^2,\ \lVert\cdot\rVert_1",
    words="the three proximal maps are Lipschitz with the constant 1: the best one, or one that serves",
    hypotheses=_HYPOTHESES, says=None, check=None,
    readings=("sbcd/prox-all-1-reading-best", "sbcd/prox-all-1-reading-serves"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=(
            r"L_T = 1,\ \frac{1}{1+\eta},\ 1 \text{ for } r = 0,\ \tfrac12\lVert\cdot\rVert^2,"
            r"\ \lVert\cdot\rVert_1"
        ),
        words="the best Lipschitz constants of the three proximal maps are 1, 1/(1 + eta) and 1",
        says=lambda eta: {"0": Fraction(1), "l2": 1 / (1 + eta), "l1": Fraction(1)}, check=judge_constants,
        expected="HOLDS ARGUED",
        flips=(Flip("1 for all", lambda eta: _each(Fraction(1)), Verdict.REFUTED),),
        rests_on=("sbcd/lem-4.2-sharp",),
    ),
)
all_one_best = reading(
    all_one, "best", source="001, Section 4.2, after the examples: 1 is the best constant of all",
    statement=r"L_T = 1 \text{ is the best constant for } r = 0,\ \tfrac12\lVert\cdot\rVert^2,\ \lVert\cdot\rVert_1",
    words="1 is the best Lipschitz constant of each of the three proximal maps",
    says=lambda eta: _each(Fraction(1)), check=judge_constants,
    flips=(Flip("1/(1 + eta) for l2", lambda eta: {"0": Fraction(1), "l2": 1 / (1 + eta), "l1": Fraction(1)},
                Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
all_one_serves = reading(
    all_one, "serves", source="001, Section 4.2, after the examples: 1 is a constant that serves all",
    statement=r"L_T \le 1 \text{ for } r = 0,\ \tfrac12\lVert\cdot\rVert^2,\ \lVert\cdot\rVert_1",
    words="each of the three proximal maps is 1-Lipschitz", says=lambda eta: _each(Fraction(1)),
    check=judge_bounds, flips=(Flip("99/100", lambda eta: _each(Fraction(99, 100)), Verdict.REFUTED),),
    rests_on=("sbcd/lem-4.2-sharp",),
    true_variants={"1 % more": "a larger constant serves, too", "1 -> 2*": "a larger constant serves, too",
                   "squared": "the square of 1 is 1"},
    expected="HOLDS ARGUED",
)
