"""Definition 2.7 of document 000 and the remark after it: gradient sensitivity of Lipschitz losses and of k outputs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.finite_laws import shown
from theorems.tools.two_vectors import never_negative, opposite, two_vectors
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Sensitivity = tuple[str, Fraction]
"""How the gradient sensitivity compares ("=" for every family, "<=" and attained by some) with a multiple of L."""


def judge_sensitivity(says: Sensitivity, given: Domain) -> Finding:
    """Hold a sensitivity of L-Lipschitz h_i + r against families of linear functions, and prove an upper bound."""
    relation, factor = says
    families = ((Fraction(1), Fraction(1, 2)), (Fraction(1), Fraction(-1)), (Fraction(1), Fraction(0), Fraction(-1)))
    for lipschitz in given.values("L"):
        for shares in families:
            slopes = [share * lipschitz for share in shares]
            sensitivity = max(slopes) - min(slopes)
            if sensitivity > factor * lipschitz or (relation == "=" and sensitivity != factor * lipschitz):
                return refuted(
                    "a family of L-Lipschitz losses has another sensitivity",
                    {"L": lipschitz, "slopes of h_i": shown(slopes), "sensitivity": sensitivity,
                     "claimed": factor * lipschitz},
                )
    lipschitz = given.symbol("L")
    gg, gh, hh = two_vectors(lipschitz)
    room = (sympy.Rational(factor.numerator, factor.denominator) * lipschitz) ** 2 - (gg - 2 * gh + hh)
    return proof(
        computed("it is an upper bound that is claimed", relation == "<=" and factor > 0),
        computed("two gradients of norm at most L differ by at most the claimed multiple of L, in any dimension",
                 never_negative(room)),
        computed("opposite gradients of norm L differ by as much, so no smaller bound holds", opposite(room) == 0),
        argued("an L-Lipschitz differentiable loss has gradients of norm at most L, and the regulariser's cancel"),
        tried=len(families) * len(given.values("L")),
    )


def judge_outputs(squared: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the gradients of k outputs, each clipped to norm 1, have together the squared sensitivity squared(k)."""
    points = list(given.points("C", "k"))
    for point in points:
        clip, outputs = point.values()
        moved, claimed = sum((clip - (-clip)) ** 2 for _ in range(outputs)), squared(outputs) * clip**2
        if claimed < moved:
            return refuted(
                "all outputs' gradients turn round at once",
                {"outputs": outputs, "C": clip, "squared distance": moved, "claimed": claimed},
            )
    k, clip = given.symbol("k"), given.symbol("C")
    gg, gh, hh = two_vectors(clip)
    room = squared(1) * clip**2 - (gg - 2 * gh + hh)
    return proof(
        computed("one output's gradient moves by at most 2C, which opposite ones reach",
                 clip.is_positive is True and never_negative(room) and opposite(room) == 0),
        computed("one output more adds as much to the square as the first: squares of blocks add up, by induction",
                 sympy.simplify(squared(k + 1) - squared(k) - squared(1)) == 0),
        tried=len(points),
    )


def judge_whole(says: Fraction, given: Domain) -> Finding:
    """Whether one gradient of all outputs, clipped to norm C, has that multiple of C as its sensitivity.

    Whatever is added to the gradients of both data sets, as lambda v, cancels.
    """
    clip, (g, h, common) = given.symbol("C"), sympy.symbols("g h w", real=True)
    gg, gh, hh = two_vectors(clip)
    room = (sympy.Rational(says.numerator, says.denominator) * clip) ** 2 - (gg - 2 * gh + hh)
    for norm in given.values("C"):
        if says * norm < norm - (-norm):
            return refuted("opposite gradients are farther apart", {"C": norm, "distance": 2 * norm})
    return proof(
        computed("what both gradients share cancels", sympy.expand((g + common) - (h + common) - (g - h)) == 0),
        computed("two vectors of norm at most C differ by at most the claimed multiple of C, in any dimension",
                 says > 0 and clip.is_positive is True and never_negative(room)),
        computed("opposite ones differ by as much", opposite(room) == 0),
        tried=len(given.values("C")),
    )


_FAMILY = (
    "As an example relevant to our analysis, for a family of loss functions of the form $h_i+r$ , where "
    "$h_i$ 's are L-Lipschitz loss functions and r is a regularization function, the sensitivity equals 2L."
)
_OUTPUTS = (
    "In case of k-dimensional outputs and k-dimensional labels, we will simply use k independent linear "
    "models parallely meaning that the overall model has a dimension"
)
_LIPSCHITZ, _MODELS = (positive("L"),), (positive("C"), positive_integer("k"))

definition_2_7 = Claim(
    id="relu-approx/def-2.7",
    source="000, the sentence after Definition 2.7",
    quote=_FAMILY,
    whose=Whose.PRINTED,
    statement=r"\sup_{i, j} \lVert \nabla (h_i + r) - \nabla (h_j + r) \rVert = 2L \quad (h_i\ L\text{-Lipschitz})",
    words="losses h_i + r with L-Lipschitz h_i have gradient sensitivity 2L: exactly, or as the definition's bound",
    hypotheses=_LIPSCHITZ,
    says=None,
    check=None,
    readings=("relu-approx/def-2.7-reading-exact", "relu-approx/def-2.7-repaired"),
    expected="AMBIGUOUS ARGUED",
)

exact = Claim(
    id="relu-approx/def-2.7-reading-exact",
    source="000, the sentence after Definition 2.7, read of every family: its supremum is 2L",
    quote=_FAMILY,
    whose=Whose.READING,
    statement=r"\sup_{i, j} \lVert \nabla (h_i + r) - \nabla (h_j + r) \rVert = 2L \text{ for every family}",
    words="every family of losses h_i + r with L-Lipschitz h_i has gradient sensitivity equal to 2L",
    hypotheses=_LIPSCHITZ,
    says=("=", Fraction(2)),
    check=judge_sensitivity,
    flips=(Flip("at most", ("<=", Fraction(2)), Verdict.HOLDS),),
    repaired_by="relu-approx/def-2.7-repaired",
    expected="REFUTED PROVED",
)

bounded = Claim(
    id="relu-approx/def-2.7-repaired",
    source="000, the sentence after Definition 2.7, read as that definition reads: the supremum is at most 2L",
    quote=_FAMILY,
    whose=Whose.READING,
    statement=r"\sup_{i, j} \lVert \nabla (h_i + r) - \nabla (h_j + r) \rVert \le 2L, \text{ and no smaller bound}",
    words="losses h_i + r with L-Lipschitz h_i have gradient sensitivity at most 2L, attained by some families",
    hypotheses=_LIPSCHITZ,
    says=("<=", Fraction(2)),
    check=judge_sensitivity,
    flips=(
        Flip("equal to", ("=", Fraction(2)), Verdict.REFUTED),
        Flip("at most 3L, which nobody attains", ("<=", Fraction(3)), Verdict.UNDECIDED),
    ),
    expected="HOLDS ARGUED",
)

outputs = Claim(
    id="relu-approx/clip-per-output",
    source="000, Sections 3.3 and 3.4: how the gradients of k independent models are clipped is not said",
    quote=_OUTPUTS,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\sup \lVert (g_1 - g_1', \dots, g_k - g_k') \rVert = 2C",
    words="the clipped gradients of k independent models have the sensitivity 2C together",
    hypotheses=_MODELS,
    says=None,
    check=None,
    readings=("relu-approx/clip-per-output-reading-each", "relu-approx/clip-per-output-reading-whole"),
    expected="AMBIGUOUS PROVED",
)

each = Claim(
    id="relu-approx/clip-per-output-reading-each",
    source="000, Sections 3.3 and 3.4, read as one clip for each of the k models: the clipped losses stay convex",
    quote=_OUTPUTS,
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\lVert g_i \rVert, \lVert g_i' \rVert \le C\ (i \le k) \implies"
              r" \sup \lVert (g_1 - g_1', \dots, g_k - g_k') \rVert = 2C",
    words="k independent models, each with its gradient clipped to C, have the gradient sensitivity 2C together",
    hypotheses=_MODELS,
    says=lambda k: 4,
    check=judge_outputs,
    flips=(Flip("2C sqrt(k)", lambda k: 4 * k, Verdict.HOLDS),),
    repaired_by="relu-approx/clip-per-output-repaired",
    expected="REFUTED PROVED",
)

each_repaired = Claim(
    id="relu-approx/clip-per-output-repaired",
    source="000, Sections 3.3 and 3.4, one clip for each output: the reading that keeps the clipped losses convex",
    severity=Stake.PRIVACY,
    statement=r"\lVert g_i \rVert, \lVert g_i' \rVert \le C\ (i \le k) \implies"
              r" \sup \lVert (g_1 - g_1', \dots, g_k - g_k') \rVert = 2C\sqrt{k}",
    words="k independent models, each with its gradient clipped to C, have the sensitivity 2C sqrt(k) together",
    hypotheses=_MODELS,
    says=lambda k: 4 * k,
    check=judge_outputs,
    flips=(
        Flip("2C sqrt(k - 1)", lambda k: 4 * (k - 1), Verdict.REFUTED), Flip("2C", lambda k: 4, Verdict.REFUTED),
        Flip("a little more", lambda k: 4 * k + 1, Verdict.UNDECIDED),
    ),
    expected="HOLDS PROVED",
)

whole = Claim(
    id="relu-approx/clip-per-output-reading-whole",
    source="000, Sections 3.3 and 3.4, read as one clip for the gradient of all k models",
    quote=_OUTPUTS,
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\lVert (g_1, \dots, g_k) \rVert \le C \implies \sup \lVert (g_1 - g_1', \dots, g_k - g_k') \rVert = 2C",
    words="k independent models whose joint gradient is clipped to C have the gradient sensitivity 2C together",
    hypotheses=_MODELS[:1],
    says=Fraction(2),
    check=judge_whole,
    flips=(Flip("C", Fraction(1), Verdict.REFUTED), Flip("3C", Fraction(3), Verdict.UNDECIDED)),
    expected="HOLDS PROVED",
)

clipped = Claim(
    id="relu-approx/sec-3.4-sensitivity", source="000, Section 3.4 (the clipping constant is L here, C in (2.2))",
    quote=r"the loss function $\ell$ becomes 2L-sensitive (see Def. 2.7).",
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\sup \lVert \mathrm{clip}_C(g) + \lambda v - \mathrm{clip}_C(g') - \lambda v \rVert = 2C",
    words="with gradients of h clipped to C and the regulariser's left alone, two records' gradients differ by at most "
          "2C, which is attained",
    hypotheses=_MODELS[:1],
    says=Fraction(2),
    check=judge_whole,
    flips=(Flip("C", Fraction(1), Verdict.REFUTED), Flip("3C", Fraction(3), Verdict.UNDECIDED)),
    expected="HOLDS PROVED",
)
