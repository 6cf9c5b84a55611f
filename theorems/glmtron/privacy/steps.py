r"""One step of DP-GLMtron: which data sets are neighbours, the clip, its sensitivity, and Lemma D.1.

The relation. Definition 3.1 says "differ by only one element". Algorithm 1 has noise 2 f gamma, f times the distance of
two clipped vectors: a record is replaced. Algorithm 4 has noise f Gamma, f times the length of one: a record is removed
(its leaf is zero). Two clipped vectors are at most 2 gamma apart, one of them and 0 at most gamma, since the distance
is convex in both and the ball is the hull of its ends. So one relation makes one of the noises too small by half.

The clip. v min{1, gamma/|v|} is v inside the ball and v shortened to gamma outside. With max in its place nothing is
shortened, and short vectors become longer.

The display of the proof goes from |clip(v') - clip(v)| to 2 |clip(v)|, v the vector of one of the two records: where
that one is 0 the other is not. The ends of the chain are right: 2 eta gamma is enough.

Lemma D.1. Given what was released before, a step is N(m, (2 eta f gamma)^2 I) with m within 2 eta gamma for the two
data sets: a Gaussian release at mu = 1/f, exactly (`lemma-D.1-gaussian`). The classical calibration f = c/epsilon0 is
good for epsilon0 <= 1 and not for all (`theorems.tools.classical_calibration`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive, probability
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.classical_calibration import calibration
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

After = Callable[[Any, Any], Any]
"""What stands in a record's place in the other data set: from its own clipped vector and another one."""


def judge_relation(after: After, given: Domain) -> Finding:
    """Whether the noises 2 f gamma and f gamma are at least f times what a step moves under a relation (d = 1)."""
    tried = 0
    for point in led(given, clip_norm="1", multiplier="1"):
        gamma, f = point["clip_norm"], point["multiplier"]
        tried += 1
        moved = max(abs(own - after(own, other)) for own in (gamma, -gamma) for other in (gamma, -gamma))
        for name, noise in (("Algorithm 1", 2 * f * gamma), ("Algorithm 4", f * gamma)):
            if noise < f * moved:
                return refuted(f"the noise of {name} is below f times what one record moves", {
                    "algorithm": name, "gamma": gamma, "f": f, "noise": noise, "moved": moved, "f moved": f * moved})
    gamma_, f_, share = given.symbol("clip_norm"), given.symbol("multiplier"), sympy.Symbol("u", nonnegative=True)
    outer = 2 * share / (1 + share) - 1  # runs through [-1, 1)
    return proof(
        computed("f gamma is at least f |l - l'|, l at an end of the ball and l' anywhere, on symbols", all(
            never_negative(f_ * gamma_ - sign * f_ * (end * gamma_ - after(end * gamma_, outer * gamma_)))
            for end in (1, -1) for sign in (1, -1))),
        argued("|l - l'| is convex in l, so that its ends decide; 2 f gamma is above f gamma; in more dimensions the "
               "triangle inequality gives the same two numbers"),
        tried=tried,
    )


Factor = Callable[[Any, Any], Any]
"""What a vector is multiplied by, from its length and gamma."""


def judge_clip(factor: Factor, given: Domain) -> Finding:
    """Whether clipped vectors are no longer than gamma, and those that are short enough stay as they are."""
    tried = 0
    for point in led(given, length="100", clip_norm="1"):
        length, gamma = point["length"], point["clip_norm"]
        tried += 1
        after = factor(length, gamma) * length
        if after > gamma or (length <= gamma and after != length):
            return refuted("a clipped vector is longer than gamma, or a short one is changed", {
                "|v|": length, "gamma": gamma, "|clip(v)|": after})
    gamma_, more = given.symbol("clip_norm"), sympy.Symbol("s", nonnegative=True)
    length_ = given.symbol("length")
    long, short = gamma_ + more, (length_, length_ + more)
    return proof(
        computed("a vector longer than gamma, or as long, comes out with the length gamma, on symbols",
                 vanishes(factor(long, gamma_) * long - gamma_)),
        computed("a vector no longer than gamma stays as it is, on symbols",
                 vanishes(factor(*short) - 1) and length_.is_positive is True),
        tried=tried,
    )


def judge_sensitivity(most: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether |clip(v') - clip(v)| <= most(|clip(v)|, gamma) for all vectors in the ball of radius gamma."""
    tried = 0
    for point in led(given, own="0", clip_norm="1"):
        own, gamma = point["own"] * point["clip_norm"], point["clip_norm"]
        tried += 1
        if own + gamma > most(own, gamma):
            return refuted("the other record's clipped vector is at the other end of the ball", {
                "|clip(v)|": own, "|clip(v')|": gamma, "gamma": gamma, "claimed": most(own, gamma),
                "distance": own + gamma})
    share, gamma_ = given.chart("own"), given.symbol("clip_norm")
    return proof(
        computed("|clip(v)| + gamma is at most what is claimed, for |clip(v)| in [0, gamma], on symbols",
                 never_negative(most(share * gamma_, gamma_) - share * gamma_ - gamma_)),
        argued("|a - b| <= |a| + |b| with |a| <= gamma, and opposite vectors reach it"),
        tried=tried,
    )


def judge_gaussian(mu: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether mu(f) is the distance 2 eta gamma of the two means of a step over its noise 2 eta f gamma."""
    tried = 0
    for point in given.points("multiplier", "eta", "clip_norm", at_most=60):
        f, eta, gamma = point["multiplier"], point["eta"], point["clip_norm"]
        true = (2 * eta * gamma) / (2 * eta * f * gamma)
        tried += 1
        if mu(f) != true:
            return refuted("the distance over the noise is another", {
                "f": f, "eta": eta, "gamma": gamma, "mu": true, "claimed mu": mu(f)})
    f_, eta_, gamma_ = (given.symbol(name) for name in ("multiplier", "eta", "clip_norm"))
    return proof(
        computed("2 eta gamma over 2 eta f gamma is 1/f, on symbols",
                 vanishes(mu(f_) - 2 * eta_ * gamma_ / (2 * eta_ * f_ * gamma_))),
        argued("given the iterates before, the two steps are Gaussians of one variance with means up to that far "
               "apart: background/balle-wang gives delta(epsilon; mu), and two opposite clipped vectors reach it"),
        tried=tried,
    )


_BALL = (positive("clip_norm", "gamma"), positive("multiplier", "f"))
_STEP = (
    "Each update step of DP-GLMtron (Algorithm 1)ensures (eg, o )-differential privacy, provided that f = - where "
    r"¢ > /2 log(1.25/0¢), and ~y; denotes the clipping norm."
)

relation = Claim(
    id="glmtron/def-3.1-dp", source="003, Definition 3.1, with the noises of Algorithms 1 and 4",
    quote="are neighbors if they differ by only one element, which is denoted as D ~ D’.",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"2 f\gamma \ge f\Delta_1,\quad f\Gamma \ge f\Delta_4",
    words="neighbours differ by one element, replaced or removed, and the noises 2 f gamma and f Gamma are f times "
          "what that moves",
    hypotheses=_BALL, says=None, check=None,
    readings=("glmtron/def-3.1-dp-reading-replace", "glmtron/def-3.1-dp-reading-add-remove"),
    expected="AMBIGUOUS ARGUED",
)
add_remove = reading(
    relation, "add-remove", source="003, Definition 3.1, an element added or removed (its vector is 0)",
    words="one record is added or removed: the noises 2 f gamma and f Gamma are at least f times what that moves",
    says=lambda own, other: 0 * other, check=judge_relation,
    flips=(Flip("replaced by another", lambda own, other: other, Verdict.REFUTED),),
    true_variants={"sign": "minus nothing is nothing", "1 % *": "one per cent of nothing",
                   "squared": "nothing, squared"},
    expected="HOLDS ARGUED",
)
replace_one = reading(
    relation, "replace", source="003, Definition 3.1, an element replaced by another",
    words="one record is replaced: the noises 2 f gamma and f Gamma are at least f times what that moves",
    says=lambda own, other: other, check=judge_relation,
    flips=(Flip("removed", lambda own, other: 0 * other, Verdict.HOLDS),),
    repaired_by="glmtron/def-3.1-dp-reading-add-remove",
    expected="REFUTED PROVED",
)
clip = Claim(
    id="glmtron/clip", source="003, proof of Lemma D.1",
    quote=r"where clip,, (v) = v - max{1, H;’ﬁ} Consequently, the local Lo sensitivity of w1 is determined",
    whose=Whose.TYPO, severity=Stake.PRIVACY,
    statement=r"\lVert \mathrm{clip}_\gamma(v) \rVert \le \gamma,\quad"
              r" \mathrm{clip}_\gamma(v) = v \max\{1, \gamma/\lVert v \rVert\}",
    words="v max{1, gamma/|v|} is no longer than gamma, and is v where v is no longer than that",
    hypotheses=(positive("length", "|v|"), positive("clip_norm", "gamma")),
    says=lambda length, gamma: gamma / sympy.Min(gamma, length), check=judge_clip,  # max{1, gamma/|v|}
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert \mathrm{clip}_\gamma(v) \rVert \le \gamma,\quad"
                  r" \mathrm{clip}_\gamma(v) = v \min\{1, \gamma/\lVert v \rVert\},\ \mathrm{clip}_\gamma(0) = 0",
        words="v min{1, gamma/|v|} is no longer than gamma, and is v where v is no longer than that",
        says=lambda length, gamma: gamma / sympy.Max(gamma, length),  # min{1, gamma/|v|}
        expected="HOLDS PROVED",
        flips=(Flip("always the length gamma", lambda length, gamma: gamma / length, Verdict.REFUTED),),
        true_variants={"any clip_norm": "both cases are the same expressions for every number gamma"},
    ),
)
sensitivity = Claim(
    id="glmtron/lemma-D.1-sensitivity", source="003, proof of Lemma D.1, the display of the sensitivity (scanned)",
    quote="< 20| clip,, (x:(ReLU(x; we) — )|",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\lVert \mathrm{clip}(v') - \mathrm{clip}(v) \rVert \le 2 \lVert \mathrm{clip}(v) \rVert",
    words="two clipped vectors differ by at most twice the length of the one",
    hypotheses=(Parameter("own", low=Fraction(0), high=Fraction(1), meaning="|clip(v)| / gamma"),
                positive("clip_norm", "gamma")),
    says=lambda own, gamma: 2 * own, check=judge_sensitivity,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert \mathrm{clip}(v') - \mathrm{clip}(v) \rVert \le 2\gamma",
        words="two clipped vectors differ by at most 2 gamma, as the display ends",
        says=lambda own, gamma: 2 * gamma,
        expected="HOLDS ARGUED", rests_on=("glmtron/clip-repaired",),
        flips=(Flip("gamma", lambda own, gamma: gamma, Verdict.REFUTED),),
        true_variants={"1 % more": "a larger bound is one, too", "2 -> 3 *": "a larger bound is one, too"},
    ),
)
one_step = Claim(
    id="glmtron/lemma-D.1", source="003, Lemma D.1 (noise 2 f gamma eta on a step that moves 2 gamma eta)",
    quote=_STEP, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"f = c/\varepsilon_0,\ c > \sqrt{2\log(1.25/\delta_0)} \text{ makes a step }"
              r" (\varepsilon_0, \delta_0)\text{-DP}",
    words="a step with f = sqrt(2 log(1.25/delta0))/epsilon0 is (epsilon0, delta0)-DP, whatever epsilon0 is",
    hypotheses=(positive("epsilon"), probability("delta"), positive("sensitivity")),
    says=Fraction(5, 4), check=calibration,
    flips=(Flip("so much noise that no point tried fails", Fraction(10**600), Verdict.UNDECIDED),),
    uses=("glmtron/clip", "glmtron/lemma-D.1-sensitivity"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"f = c/\varepsilon_0,\ c \ge \sqrt{2\log(1.25/\delta_0)},\ \varepsilon_0 \le 1 \text{ makes a step }"
                  r" (\varepsilon_0, \delta_0)\text{-DP}",
        words="a step with f = sqrt(2 log(1.25/delta0))/epsilon0 is (epsilon0, delta0)-DP for epsilon0 up to 1",
        says=Fraction(5, 4), check=calibration,
        expected="HOLDS ARGUED",
        source="003, Lemma D.1 for epsilon0 <= 1, with a clip that shortens, one record replaced",
        hypotheses=(Parameter("epsilon", low=Fraction(0), high=Fraction(1), low_open=True), probability("delta"),
                    positive("sensitivity")),
        flips=(Flip("1.25 replaced by 0.8", Fraction(4, 5), Verdict.REFUTED),),
        rests_on=("background/balle-wang", "glmtron/clip-repaired", "glmtron/lemma-D.1-sensitivity-repaired"),
        untested={"sensitivity": "the noise is a multiple of it, so that it cancels: a step of the proof"},
        true_variants={"one more": "more noise is enough, too", "1 % *": "the proof has room: 1.2375 is enough, too"},
    ),
)
gaussian = Claim(
    id="glmtron/lemma-D.1-gaussian", source="003, Lemma D.1: what a step is, with a clip that shortens",
    quote=_STEP, whose=Whose.OURS, severity=Stake.PRIVACY,
    statement=r"\text{a step is } (\varepsilon, \delta_G(\varepsilon; 1/f))\text{-DP for every } \varepsilon,"
              r" \text{ and no better}",
    words="a step with noise 2 f gamma is a Gaussian release whose means are 1/f of the noise apart",
    hypotheses=(*_BALL, positive("eta")), says=lambda f: 1 / f, check=judge_gaussian,
    flips=(Flip("two of the noise", lambda f: 2 / f, Verdict.REFUTED),),
    rests_on=("background/balle-wang", "glmtron/clip-repaired", "glmtron/lemma-D.1-sensitivity-repaired"),
    expected="HOLDS ARGUED",
)
