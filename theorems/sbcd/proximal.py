r"""Lemma 4.2 of document 001 and its three examples: proximal maps and their Lipschitz constants.

For u = Prox(x), v = Prox(y) the vectors (x - u)/eta and (y - v)/eta are subgradients of r at u and v, and subgradients
of a convex function are monotone: <u - v, (x - u) - (y - v)> >= 0, so |u - v|^2 <= <u - v, x - y> <= |u - v| |x - y|.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, vector
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

Prox = Callable[[Any, Any], Any]
Slope = Callable[[Fraction], tuple[Fraction, Fraction]]

_GRID = tuple(Fraction(n, 2) for n in range(-6, 7))
_STEPS = (Fraction(1, 100), Fraction(1, 2), Fraction(2))

SUBGRADIENTS: dict[str, Slope] = {
    "0": lambda t: (Fraction(0), Fraction(0)),
    "l2": lambda t: (t, t),
    "l1": lambda t: (Fraction(1 if t > 0 else -1), Fraction(-1 if t < 0 else 1)),
}
"""The subgradients of r = 0, |.|^2/2 and |.|_1 at a coordinate, as an interval."""


def soft(eta: Any, t: Any) -> Any:
    """The proximal map of the l1 norm, sign(t) max(0, |t| - eta): towards zero by eta."""
    return (1 if t > 0 else -1) * max(Fraction(0), abs(t) - eta)


TRUE: dict[str, Prox] = {"0": lambda eta, t: t, "l2": lambda eta, t: t / (1 + eta), "l1": soft}


def judge_map(says: tuple[str, Prox], given: Domain) -> Finding:
    """Whether (t - u)/eta is a subgradient of r at u = prox(t): necessary and sufficient, since r is convex."""
    name, prox = says
    for eta in _STEPS:
        for t in _GRID:
            u = prox(eta, t)
            low, high = SUBGRADIENTS[name](u)
            if not low <= (t - u) / eta <= high:
                return refuted(
                    "the point is not the minimiser of r + |. - theta|^2/(2 eta)",
                    {"r": name, "eta": str(eta), "theta": str(t), "claimed": str(u),
                     "minimiser": str(TRUE[name](eta, t))},
                )
    if not _identically(name, prox):
        return undecided("no point fails; not proved", len(_GRID) * len(_STEPS))
    return proof(argued("the optimality condition holds for every eta and theta, by cases"))


def _identically(name: str, prox: Prox) -> bool:
    """Whether the optimality condition, true on the grid, holds for symbols: for l1 by the cases of |theta| and eta."""
    eta, less, more = sympy.symbols("eta s x", positive=True)
    t = sympy.symbols("t", real=True)
    if name != "l1":
        u = prox(eta, t)
        return bool(sympy.simplify((t - u) / eta - (u if name == "l2" else 0)) == 0)
    # theta beyond eta by x; at eta; inside, where eta = s + x and theta = s; at 0. The values they must have:
    cases = [(eta, eta + more, more), (eta, eta, 0), (less + more, less, 0), (eta, sympy.Integer(0), 0)]
    return all(
        sympy.simplify(prox(step, sign * theta) - sign * value) == 0 for step, theta, value in cases for sign in (1, -1)
    )


def judge_constants(constants: Callable[[Any], dict[str, Any]], given: Domain) -> Finding:
    """Whether the three maps have exactly these Lipschitz constants at every eta."""
    for eta in _STEPS:
        for name, constant in constants(eta).items():
            steepest = max(
                abs(TRUE[name](eta, a) - TRUE[name](eta, b)) / abs(a - b) for a in _GRID for b in _GRID if a != b
            )
            if steepest != constant:
                return refuted(
                    "the map has another Lipschitz constant, exactly",
                    {"r": name, "eta": str(eta), "constant": str(steepest), "claimed": str(constant)},
                )
    eta_ = sympy.symbols("eta", positive=True)
    exact = {"0": 1, "l2": 1 / (1 + eta_), "l1": 1}
    if any(sympy.simplify(constant - exact[name]) != 0 for name, constant in constants(eta_).items()):
        return undecided("right at three step sizes only", len(_STEPS))
    return proof(argued(
        "identity and soft thresholding move points equally far where they are affine with slope 1; the l2 "
        "map is linear with slope 1/(1 + eta); none is steeper by Lemma 4.2 with 1"
    ))


def judge_bound(constant: Fraction, given: Domain) -> Finding:
    """Whether every proximal map of a convex function is Lipschitz with that constant; r = 0 has exactly 1."""
    if constant < 1:
        return refuted(
            "the identity is the proximal map of r = 0",
            {"r": "0", "constant": "1", "claimed": str(constant)},
        )
    for name, prox in TRUE.items():
        for eta in _STEPS:
            for a in _GRID:
                for b in _GRID:
                    u, v = prox(eta, a), prox(eta, b)
                    assert (u - v) * ((a - u) - (b - v)) >= 0, f"{name} is not monotone"
    inner, outer = sympy.symbols("p q", nonnegative=True)  # p = |u - v|, q = |x - y|: p^2 <= p q gives p <= q
    if sympy.solve(inner**2 - inner * outer, inner) != [0, outer]:
        return undecided("not shown", 1)
    return proof(argued(
        "monotone subgradients give |u - v|^2 <= <u - v, x - y> (module docstring), so every proximal map is "
        f"1-Lipschitz{'' if constant == 1 else ': the constant is valid but larger than needed'}"
    ))


def judge_sharp(constant: Fraction, given: Domain) -> Finding:
    """Whether that constant serves every proximal map, and no smaller one does."""
    if constant > 1:
        return refuted(
            "a smaller constant serves all, too",
            {"r": "any convex function", "constant": "1", "claimed": str(constant)},
        )
    return judge_bound(constant, given)


_HYPOTHESES = (positive("eta"), vector("theta"))

lemma_4_2 = Claim(
    id="sbcd/lem-4.2", source="001, Lemma 4.2",
    quote=r"is Lipschitz continuous with a constant $L_T \leq 2$.",
    whose=Whose.PRINTED,
    severity=Severity.PROOF,
    statement=r"r \text{ convex} \implies L_T \le 2",
    words="the proximal map of a convex function is 2-Lipschitz",
    hypotheses=_HYPOTHESES, says=Fraction(2), check=judge_bound,
    flips=(Flip("1/2", Fraction(1, 2), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
lemma_4_2_sharp = Claim(
    id="sbcd/lem-4.2-sharp", source="001, Lemma 4.2, with its best constant",
    severity=Severity.PROOF,
    statement=r"r \text{ convex} \implies L_T \le 1, \text{ and no smaller constant serves all}",
    words="the proximal map of a convex function is 1-Lipschitz",
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
    severity=Severity.UTILITY,
    statement=r"\mathrm{Prox}_{\eta, \frac12\lVert\cdot\rVert^2}(\theta) = \frac{\eta}{1+\eta}\theta",
    words="the proximal map of |.|^2/2 multiplies by eta/(1 + eta)",
    hypotheses=_HYPOTHESES, says=("l2", lambda eta, t: eta * t / (1 + eta)), check=judge_map,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathrm{Prox}_{\eta, \frac12\lVert\cdot\rVert^2}(\theta) = \frac{1}{1+\eta}\theta",
        words="the proximal map of |.|^2/2 divides by 1 + eta",
        says=("l2", lambda eta, t: t / (1 + eta)),
        expected="HOLDS ARGUED",
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
    severity=Severity.UTILITY,
    statement=r"\mathrm{Prox}_{\eta, \lVert\cdot\rVert_1}(\theta) = \mathrm{sign}(\theta)\max(0, |\theta| - \eta)",
    words="the proximal map of the l1 norm is soft thresholding",
    hypotheses=_HYPOTHESES, says=("l1", soft), check=judge_map,
    flips=(
        Flip("by eta/2", ("l1", lambda eta, t: soft(eta / 2, t)), Verdict.REFUTED),
        Flip("written as a difference of two positive parts",
             ("l1", lambda eta, t: max(0 * t, t - eta) - max(0 * t, -t - eta)), Verdict.HOLDS),
    ),
    expected="HOLDS ARGUED",
)
prox_0 = Claim(
    id="sbcd/prox-0", source="001, Section 4.2, example 1",
    quote=r"1) no regularization: $r(\theta) = 0$, and then $\text{Prox}_{\eta,r}(\theta) = \theta$",
    whose=Whose.PRINTED,
    statement=r"\mathrm{Prox}_{\eta, 0}(\theta) = \theta",
    words="the proximal map of r = 0 is the identity",
    hypotheses=_HYPOTHESES, says=("0", lambda eta, t: t), check=judge_map,
    flips=(Flip("theta/2", ("0", lambda eta, t: t / 2), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
all_one = Claim(
    id="sbcd/prox-all-1", source="001, Section 4.2, after the examples",
    quote=(
        "In all these three cases, the proximal function is Lipschitz continuous and the Lipschitz constant is 1."
    ),
    whose=Whose.READING,
    statement=r"L_T = 1 \text{ for } r = 0,\ \tfrac12\lVert\cdot\rVert^2,\ \lVert\cdot\rVert_1",
    words="the three proximal maps all have the Lipschitz constant 1",
    hypotheses=_HYPOTHESES, says=lambda eta: dict.fromkeys(TRUE, Fraction(1)), check=judge_constants,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=(
            r"L_T = 1,\ \frac{1}{1+\eta},\ 1 \text{ for } r = 0,\ \tfrac12\lVert\cdot\rVert^2,"
            r"\ \lVert\cdot\rVert_1"
        ),
        words="the proximal maps have the Lipschitz constants 1, 1/(1 + eta) and 1",
        says=lambda eta: {"0": Fraction(1), "l2": 1 / (1 + eta), "l1": Fraction(1)},
        expected="HOLDS ARGUED",
        rests_on=("sbcd/lem-4.2-sharp",),
    ),
)
