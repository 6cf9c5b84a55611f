r"""Definitions 1 to 5 of document 002: what they leave open, where it matters.

Definition 1, "differ by only one data record": a record replaced, or a record more. The proof of Theorem 1 needs that
only one phase sees different records. With a record more, n changes, and with it the sizes of all phases.

Definition 4 bounds a function from above only, so that a concave function is 0-smooth however fast its gradient turns;
for a convex function it is the same as a beta-Lipschitz gradient, which non-expansive steps need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def judge_neighbours(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether only one phase sees other records, if a neighbour of n records has says(n) of them (phases in order)."""
    tried = 0
    for n in (3, *given.values("n")):
        other = says(n)
        sizes = [[k >> i for i in range(1, max(n, other).bit_length() + 1)] for k in (n, other)]
        moved = sum(a != b for a, b in zip(*sizes, strict=True))
        tried += 1
        if moved:
            return refuted("the sizes of the phases change, so that records move from phase to phase", {
                "n": n, "neighbour's n": other, "sizes": ", ".join(map(str, sizes[0])),
                "neighbour's sizes": ", ".join(map(str, sizes[1])), "phases of another size": moved})
    n_ = given.symbol("n")
    return proof(
        computed("neighbours have the same number of records, and so the same phases", vanishes(says(n_) - n_)),
        argued("a replaced record stays at its place, which is in one phase, or in none"),
        tried=tried,
    )


def judge_leaves(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the last release leaves the ball of radius R with probability says(tail of R/tau) at least."""
    tried = 0
    with ctx.workprec(100):
        for point in given.points("R", "tau"):
            tail = normal_upper_tail(ball(point["R"]) / ball(point["tau"]))
            tried += 1
            if 2 * tail < says(tail) or not says(tail) > 0:
                return refuted("the release leaves the ball with another probability", {
                    "d": 1, "R": point["R"], "tau": point["tau"], "wbar": 0, "claimed": Enclosure.of_ball(says(tail)),
                    "probability": Enclosure.of_ball(2 * tail)})
    tail_ = sympy.symbols("q", positive=True)
    return proof(
        computed("P(|N(0, 1)| > R/tau) = 2 Q(R/tau) is what is claimed", vanishes(says(tail_) - 2 * tail_)),
        argued("in one coordinate the release is N(wbar, tau^2), which leaves [-R, R] least often for wbar = 0; Q > 0"),
        tried=tried,
    )


def judge_smooth(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether Definition 4, for the curvatures that says allows, is a gradient that is beta-Lipschitz: f = s w^2/2."""
    tried = 0
    for beta in given.values("beta"):
        for s in (-2 * beta, -beta / 2, Fraction(0), beta / 2, beta):
            defined, lipschitz = s <= beta, abs(s) <= beta
            tried += 1
            if bool(says(s)) and defined != lipschitz:
                return refuted("a concave parabola lies below its tangents, however fast its gradient turns", {
                    "f": "s w^2/2", "s": s, "beta": beta, "Definition 4": defined,
                    "gradient's Lipschitz constant": abs(s)})
    below, above = sympy.symbols("p", positive=True), sympy.symbols("q", nonnegative=True)
    return proof(
        computed("convex curvatures are allowed, and no others", not bool(says(-below)) and bool(says(above))),
        computed("for s = beta/(1 + t) >= 0 the gradient is beta-Lipschitz",
                 never_negative(given.symbol("beta") - given.symbol("beta") / (1 + above))),
        argued("for every convex function: Definition 4 at the minimiser of f - <grad f(w), .> gives co-coercivity, "
               "hence |grad f(w) - grad f(w')| <= beta |w - w'|"),
        tried=tried,
    )


_DEFINED = "a definition states nothing that could be false"
_SIZE = (positive_integer("n").at_least(2),)

neighbours = Claim(
    id="nonconvex-nn/def-1-dp", source="002, Definition 1: a record replaced, or a record more",
    quote=r"two datasets $D, D' \subseteq \mathcal{X}$ are neighbors if they differ by only one data record",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"D \sim D' \Rightarrow \text{one phase of Algorithm 2 has other records}",
    words="on neighbouring data sets only one phase of Algorithm 2 sees other records, as the proof of Theorem 1 needs",
    hypotheses=_SIZE, says=None, check=None,
    readings=("nonconvex-nn/def-1-dp-reading-replace", "nonconvex-nn/def-1-dp-reading-add"),
    expected="AMBIGUOUS ARGUED",
)
replaced = Claim(
    id="nonconvex-nn/def-1-dp-reading-replace", source="002, Definition 1, a record replaced",
    quote=neighbours.quote, whose=Whose.READING, severity=Stake.PRIVACY, statement=neighbours.statement,
    words="if a record is replaced, only one phase of Algorithm 2 sees other records",
    hypotheses=_SIZE, says=lambda n: n, check=judge_neighbours,
    flips=(Flip("a record more", lambda n: n + 1, Verdict.REFUTED),),
    true_variants={"any n": "a data set has records"},
    expected="HOLDS ARGUED",
)
added = replace(
    replaced, id="nonconvex-nn/def-1-dp-reading-add", source="002, Definition 1, a record more",
    words="if there is a record more, only one phase of Algorithm 2 sees other records",
    says=lambda n: n + 1, flips=(Flip("a record replaced", lambda n: n, Verdict.HOLDS),), true_variants={},
    repaired_by="nonconvex-nn/def-1-dp-reading-replace", expected="REFUTED PROVED",
)
improper = Claim(
    id="nonconvex-nn/def-2-improper", source="002, footnote 1: what comes out may lie outside of W",
    quote=(
        r"Note that in this paper, we consider the improper learning case, that is w^{priv} may not be in \mathcal{W} ."
    ),
    whose=Whose.PRINTED,
    statement=r"\mathbb{P}[\lVert w_k\rVert > R] \ge 2Q(R/\tau_k) > 0 \text{ for every } R",
    words="the last release of Algorithm 2 lies outside of every ball about 0 with probability at least 2 Q(R/tau_k)",
    hypotheses=(positive("R"), positive("tau")), says=lambda tail: 2 * tail, check=judge_leaves,
    flips=(Flip("never", lambda tail: 0 * tail, Verdict.REFUTED),),
    true_variants={"any R": "a ball of negative radius is empty"},
    expected="HOLDS ARGUED",
)
problem = Claim(
    id="nonconvex-nn/def-2", source="002, Definition 2: DP stochastic optimisation and its excess population risk",
    quote=r"Differentially Private Stochastic Optimization (DP-SO) is to find a model w^{priv} to minimize",
    whose=Whose.PRINTED,
    statement=r"\mathbb{E} L_{\mathcal{P}}(w^{priv}) - \min_{w \in \mathcal{W}} L_{\mathcal{P}}(w)",
    words="the utility of a model is its expected excess population risk",
    hypotheses=(), says=None, check=citing(Verdict.NOT_CHECKABLE, _DEFINED), expected="NOT_CHECKABLE CITED",
)
lipschitz = replace(
    problem, id="nonconvex-nn/def-3", source="002, Definition 3: Lipschitz functions",
    quote=r"A function $f(\cdot)$ is G -Lipschitz if for all $w, w' \in \mathcal{W}$",
    statement=r"|f(w) - f(w')| \le G\lVert w - w'\rVert_2", words="what a G-Lipschitz function is",
)
convex = replace(
    problem, id="nonconvex-nn/def-5", source="002, Definition 5: strongly convex functions",
    quote=r"A function $f(\cdot)$ is α -strongly convex on \mathcal{W} if for all $w, w' \in \mathcal{W}$",
    statement=r"f(w') \ge f(w) + \langle\nabla f(w), w' - w\rangle + \tfrac{\alpha}{2}\lVert w' - w\rVert_2^2",
    words="what an alpha-strongly convex function is",
)
smooth = Claim(
    id="nonconvex-nn/def-4", source="002, Definition 4, read as a beta-Lipschitz gradient, for every function",
    quote=r"A function $f(\cdot)$ is β -smooth on \mathcal{W} if for all $w, w' \in \mathcal{W}$", whose=Whose.READING,
    statement=r"f(w') \le f(w) + \langle\nabla f(w), w' - w\rangle + \tfrac{\beta}{2}\lVert w' - w\rVert^2 \iff"
              r" \nabla f\ \beta\text{-Lipschitz}",
    words="Definition 4 says that the gradient is beta-Lipschitz, for every function",
    hypotheses=(positive("beta"),), says=lambda s: s <= abs(s), check=judge_smooth,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"f \text{ convex}:\ f(w') \le f(w) + \langle\nabla f(w), w' - w\rangle +"
                  r" \tfrac{\beta}{2}\lVert w' - w\rVert^2 \iff \nabla f\ \beta\text{-Lipschitz}",
        words="Definition 4 says that the gradient is beta-Lipschitz, for a convex function",
        says=lambda s: s >= 0, expected="HOLDS ARGUED", source="002, Definition 4, for convex functions",
    ),
)
