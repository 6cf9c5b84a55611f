r"""Lemmas 21 and 22 of document 002 at a given depth: products of operator norms, and no logarithm.

Let a be at least |W_1 x| for the record x, |x| <= 1, and at least the operator norms of W_2, ..., W_L, at the start and
in the whole ball of radius omega around it. At the start of Algorithm 10 a = 10 + omega will do but for e^{-cm}:
hidden-hidden layers have operator norms of at most 10 (`theorem_13.shrinking`, (1)), |W_1 x| and |W_L| are at most 2 (a
chi square of m degrees). The ReLU does not expand, so |h_l| <= a^l, and

    |h_l - h_l(0)| <= |W_l| |h_{l-1} - h_{l-1}(0)| + omega |h_{l-1}(0)|,   hence   |h_l - h_l(0)| <= l omega a^{l-1},

by induction. The gradient in W_l is sqrt(m) times the outer product of W_L D_{L-1} ... W_{l+1} D_l, at most a^{L-l}
long, and h_{l-1}, at most a^{l-1} long: at most sqrt(m) a^{L-1}. A network with one unit a layer and all weights a
attains both. So at a given depth Lemma 21 holds with O(omega) in place of O(omega sqrt(log m)), and Lemma 22 as it
stands; what is asked beyond that is that the constants grow no faster than L^{5/2}, or not at all, as L does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.theorem_13.shrinking import start_steps
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Formula = Callable[..., Any]


def judge_move(says: Formula, given: Domain) -> Finding:
    """Whether |h_l - h_l(0)| <= says(l, omega, a), a >= |W_1 x| and all other operator norms in the ball."""
    tried = 0
    for point in given.points("layer", "share", "a"):
        layer, a = point["layer"], point["a"]
        omega = point["share"] * a
        moved = a**layer - (a - omega) ** layer  # one unit a layer, weights a - omega moved to a
        tried += 1
        if says(layer, omega, a) < moved:
            return refuted("a network with one unit a layer moves further", {
                "l": layer, "omega": omega, "a": a, "moved": moved, "claimed": says(layer, omega, a)})
    layer_, a_, before = given.chart("layer"), given.symbol("a"), given.symbol("a") ** (given.chart("layer") - 1)
    omega_ = a_ * given.chart("share")
    step = a_ * (layer_ * omega_ * before) + omega_ * a_ * before  # the recursion from the l-th layer to the next
    return proof(
        computed("the first layer moves by at most omega", never_negative(says(1, omega_, a_) - omega_)),
        computed("a times l omega a^{l-1}, and omega a^l, are (l + 1) omega a^l",
                 vanishes(step - (layer_ + 1) * omega_ * a_ * before)),
        computed("l omega a^{l-1} is at most what is claimed, on symbols",
                 never_negative((says(layer_, omega_, a_) - layer_ * omega_ * before) / before)),
        *start_steps()[:1],
        argued("the ReLU does not expand, and has relu(0) = 0: the recursion of the module's text"),
        tried=tried,
    )


def judge_gradient(says: Formula, given: Domain) -> Finding:
    """Whether |grad_{W_l} f|/sqrt(m) <= says(L, a) for every layer."""
    tried = 0
    for point in given.points("depth", "a"):
        depth, a = point["depth"], point["a"]
        tried += 1
        if says(depth, a) < a ** (depth - 1):
            return refuted("one unit a layer, all weights a", {
                "L": depth, "a": a, "|gradient|/sqrt(m)": a ** (depth - 1), "claimed": says(depth, a)})
    depth_, a_ = given.chart("depth"), given.symbol("a")
    return proof(
        computed("a^{L-l} a^{l-1} is at most what is claimed, on symbols",
                 never_negative(says(depth_, a_) / a_ ** (depth_ - 1) - 1)),
        *start_steps()[:1],
        argued("|W_L D_{L-1} ... D_l| <= a^{L-l} and |h_{l-1}| <= a^{l-1}, gates being projections"),
        tried=tried,
    )


moves = Claim(
    id="nonconvex-nn/lem-21", source="002, Lemma 21, at a given depth: hidden constants that may depend on L",
    quote=r"\|h_{i,j} - h_{i,j}^{(0)}\| \leq O(\omega L^{5/2} \sqrt{\log m}) \quad (18)",
    whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\|h_l - h_l^{(0)}\| \le l\,\omega\,a^{l-1},\quad a \le 10 + \omega",
    words="within omega the l-th hidden layer moves by at most l omega a^{l-1}, a bounding the layers' norms: O(omega)",
    hypotheses=(positive_integer("layer", "l"), positive("share", "omega/a").at_most(1), positive("a")),
    says=lambda layer, omega, a: layer * omega * a ** (layer - 1), check=judge_move,
    flips=(Flip("without l", lambda layer, omega, a: omega * a ** (layer - 1), Verdict.REFUTED),
           Flip("a^{l-2}", lambda layer, omega, a: layer * omega * a ** (layer - 2), Verdict.REFUTED)),
    true_variants={"1 % more": "a larger bound"}, expected="HOLDS ARGUED",
)
gradient = Claim(
    id="nonconvex-nn/lem-22", source="002, Lemma 22, at a given depth: hidden constants that may depend on L",
    quote=r"1. $\|\nabla_{\mathbf{W}_i} f(\mathbf{W}; \mathbf{x}_i)\|_F = O(\sqrt{m})$",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\|\nabla_{\mathbf{W}_l} f\|_F \le \sqrt m\,a^{L-1},\ \|\nabla_{\mathbf{W}_l} L_i\|_F \le "
              r"S\sqrt m\,a^{L-1},\quad a \le 10 + R",
    words="within R/sqrt(m) every layer's gradient of f is at most sqrt(m) a^{L-1}, and of the loss S times that",
    hypotheses=(positive_integer("depth", "L").at_least(2), positive("a")),
    says=lambda depth, a: a ** (depth - 1), check=judge_gradient,
    uses=("nonconvex-nn/lem-20", "nonconvex-nn/lem-21", "nonconvex-nn/lem-22-backward", "nonconvex-nn/lem-22-ntk"),
    rests_on=("nonconvex-nn/lem-22-backward-repaired",),
    flips=(Flip("a^{L-2}", lambda depth, a: a ** (depth - 2), Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound", "any *": "tried at points where nothing is negative"},
    expected="HOLDS ARGUED",
)
