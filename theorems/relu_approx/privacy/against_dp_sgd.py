r"""From which epoch on NoisyCGD's guarantee is better than DP-SGD's (document 000, Sections 1 and 2.2, Figure 1).

Both at b = 1000, N = 60,000, sigma = 15, delta = 1e-5 under substitution: Theorem 2.8 with L/(b sigma) = 2/15 and
c = 1 - eta lambda against 60 E Poisson-sampled steps by the pair (2.3). At E = 1 the former does not depend on c.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from fractions import Fraction

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, positive
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.experiments.figure_1 import dp_sgd_epsilon, noisy_cgd_epsilon
from theorems.relu_approx.privacy.gdp import symbolic_tail
from theorems.tools import exact_gaussian_curve as curves
from theorems.tools.finite_laws import Law, hockey_stick, laws
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, undecided

_EPOCHS = 400
_RESTS = ("relu-approx/thm-2.8-formula", "relu-approx/lem-2.6-repaired", "relu-approx/thm-2.4")


def compared(places: Iterable[tuple[str, int, bool]]) -> Finding:
    """Whether NoisyCGD's epsilon is below DP-SGD's, or not, at each eta lambda and number of epochs, as it is said."""
    tried = 0
    for drop, epochs, better in places:
        tried += 1
        noisy, other = noisy_cgd_epsilon(drop, Fraction(2, 15), 60, epochs), dp_sgd_epsilon(15, epochs=epochs)
        if noisy.certainly_le(other) == noisy.possibly_le(other) != better:
            return refuted(f"NoisyCGD is {'worse' if better else 'better'} there, certified",
                           {"eta lambda": drop, "epochs": epochs, "NoisyCGD": noisy, "DP-SGD": other})
        if noisy.certainly_le(other) != noisy.possibly_le(other):
            return undecided("the enclosures overlap", 1)
    return instance(f"certified at {tried} places") if tried else undecided("nothing is claimed", 1)


def judge_first(says: Mapping[str, int], given: Domain) -> Finding:
    """Whether NoisyCGD is worse one epoch before these and better from there, by eta lambda, and at 400 epochs."""
    return compared((drop, epochs, better) for drop, first in says.items()
                    for epochs, better in ((first - 1, False), (first, True), (_EPOCHS, first <= _EPOCHS)))


def judge_start(says: int, given: Domain) -> Finding:
    """Whether after so many epochs NoisyCGD is still worse, at the three eta lambda of Figure 1."""
    return compared((drop, says, False) for drop in ("2e-4", "1e-4", "5.4e-5"))


def judge_least(says: tuple[str, str], given: Domain) -> Finding:
    """Whether at 400 epochs NoisyCGD is worse at the first eta lambda, hence below it, and better at the second."""
    return compared(((says[0], _EPOCHS, False), (says[1], _EPOCHS, True)))


def through(law: Law, *kernel: Law) -> Law:
    """A law's image under a kernel, a law for each of its points."""
    return tuple(sum((a * b for a, b in zip(law, column, strict=True)), Fraction(0))
                 for column in zip(*kernel, strict=True))


def judge_forgets(says: curves.Curve, given: Domain) -> Finding:
    """Whether a noisy step on a set multiplies delta by that curve at mu = reach, whatever the loss, and by no less.

    reach = (diameter + 2 eta G) / (eta sigma): how far apart a step with gradients clipped to G can bring two points of
    the set, in units of its noise; then it projects. Held against every kernel on two points, in rationals.
    """
    gamma, over = 1 + sympy.Symbol("g", nonnegative=True), sympy.Symbol("s", nonnegative=True)
    mass = 1 / (1 + over)  # of the positive part of P - gamma Q; that of the negative one is mass + gamma - 1
    steps = (
        computed("delta(PK, QK) <= delta(P, Q) max delta(K_x, K_y) for the laws and kernels on two points in thirds",
                 all(hockey_stick(through(p, k, m), through(q, k, m), growth) <= hockey_stick(p, q, growth)
                     * max(hockey_stick(k, m, growth), hockey_stick(m, k, growth))
                     for p, q, k, m in itertools.product(laws(2, 3), repeat=4) for growth in map(Fraction, (1, 2, 4)))),
        computed("the negative part of P - gamma Q is at least gamma times the positive one, gamma = e^epsilon >= 1",
                 sympy.factor((mass + gamma - 1) / mass - gamma).is_nonnegative and given["epsilon"].low == 0),
        argued("so (PK - gamma QK)_+ is at most the positive part's mass times that of two laws' images, hence of two "
               "points' (joint convexity); these are moved apart by at most reach; projecting is post-processing"),
    )
    points = sorted(given.points("reach", "epsilon", at_most=24, most={"reach": 20, "epsilon": 20}),
                    key=lambda point: abs(point["reach"] - 1))
    for point in points:
        at = ball(point["epsilon"]), ball(point["reach"])
        with ctx.workprec(160):
            claimed, true = (Enclosure.of_ball(arb(of(*at, normal_upper_tail, arb.exp))) for of in (says, curves.curve))
        if not claimed.overlaps(true):
            return refuted_by("a step multiplies delta by another factor", {
                **point, "claimed factor": claimed, "factor": true}, *steps)
    at_symbols = given.symbol("epsilon"), given.symbol("reach"), symbolic_tail, sympy.exp
    exact = sympy.simplify(says(*at_symbols) - curves.curve(*at_symbols)) == 0
    return proof(*steps, computed("for two points at that distance it is the claimed factor, Lemma 2.5's curve", exact),
                 tried=len(points))


first_epoch = Claim(
    id="relu-approx/fig-1-first-epoch",
    source="000, Section 2.2 and Figure 1: where the guarantees become smaller than DP-SGD's; the epochs are ours",
    quote=(
        r"where the $(\varepsilon,\delta)$ -DP guarantees given by Thm. 2.8 become smaller than those given by the "
        r"Poisson subsampled DP-SGD with an equal batch size b=1000 when $\sigma=15.0$ when training for 400 epochs."
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{NoisyCGD}}(E) < \varepsilon_{\mathrm{SGD}}(E) \text{ from } E = 294\ (\eta\lambda"
              r" = 10^{-4}),\ 196\ (2 \cdot 10^{-4})",
    words="at eta lambda = 1e-4 NoisyCGD's bound falls below DP-SGD's at epoch 294, at 2e-4 at epoch 196",
    hypotheses=(),
    says={"1e-4": 294, "2e-4": 196},
    check=judge_first,
    flips=(Flip("within 400 epochs at 5.4e-5", {"5.4e-5": 400}, Verdict.REFUTED),
           Flip("at epoch 430 at 5.4e-5", {"5.4e-5": 430}, Verdict.HOLDS)),
    rests_on=_RESTS,
    expected="HOLDS ARGUED",
)

many_iterations = Claim(
    id="relu-approx/intro-many-iterations",
    source="000, Section 1: iteration analyses need many iterations to beat DP-SGD; here at Figure 1's setting",
    quote=(
        "as it typically requires a large number of training iterations for obtaining tighter DP guarantees than those "
        "of DP-SGD"
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{NoisyCGD}}(E) > \varepsilon_{\mathrm{SGD}}(E) \quad (E = 195)",
    words="at Figure 1's three eta lambda DP-SGD still has the better bound after 195 epochs, 11,700 iterations",
    hypotheses=(),
    says=195,
    check=judge_start,
    flips=(Flip("one epoch more", 196, Verdict.REFUTED),),
    rests_on=_RESTS,
    expected="HOLDS ARGUED",
)

not_too_small = Claim(
    id="relu-approx/eta-lambda-not-small",
    source="000, Section 2.2, for the benefit over DP-SGD's bound at Figure 1's setting after 400 epochs",
    quote=(
        r"in order to benefit from the bound of Thm. 2.8, the product $\eta\lambda$ should not be too small."
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{NoisyCGD}} > \varepsilon_{\mathrm{SGD}} \text{ for } \eta\lambda \le"
              r" 6.0 \cdot 10^{-5},\ < \text{ for } \eta\lambda \ge 6.1 \cdot 10^{-5} \quad (E = 400)",
    words="NoisyCGD's bound is worse than DP-SGD's up to eta lambda = 6.0e-5 and better from 6.1e-5 on",
    hypotheses=(),
    says=("6.0e-5", "6.1e-5"),
    check=judge_least,
    flips=(Flip("from 5.4e-5 on", ("5.3e-5", "5.4e-5"), Verdict.REFUTED),),
    true_variants={"[[]0] a digit less": "worse there, too", "[[]1] a digit more": "better there, too"},
    rests_on=(*_RESTS, "relu-approx/tuning-monotone"),
    expected="HOLDS ARGUED",
)

convex_only = Claim(
    id="relu-approx/intro-convex-only",
    source="000, Section 1 and abstract, read as: without convexity the steps after a record's last use forget nothing",
    quote=(
        r"existing $(\varepsilon, \delta)$ -DP analyses in the literature are only applicable for convex problems such "
        "as the logistic regression"
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\delta_{t+1}(\varepsilon) \le \delta_t(\varepsilon) \text{ and no better, for non-convex losses}",
    words="for losses that are not convex a further noisy step lowers no guarantee of the last iterate",
    hypotheses=(positive("reach", "(diameter + 2 eta G) / (eta sigma)"), non_negative("epsilon")),
    says=lambda epsilon, reach, tail, exp: 1,
    check=judge_forgets,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\delta_{t+1}(\varepsilon) \le \delta_{\mathrm{GDP}(r)}(\varepsilon)\, \delta_t(\varepsilon),\quad"
                  r" r = \frac{\mathrm{diam} + 2\eta G}{\eta\sigma}",
        words="on a bounded set, gradients clipped to G, a further noisy step multiplies delta by the Gaussian curve "
              "at mu = (diameter + 2 eta G) / (eta sigma), whatever the loss",
        says=curves.curve,
        expected="HOLDS ARGUED",
        source="000, Section 1, for bounded sets: no convexity is needed (ours)",
        flips=(Flip("half the reach", lambda e, reach, tail, exp: curves.curve(e, reach / 2, tail, exp),
                    Verdict.REFUTED),),
        rests_on=("relu-approx/lem-2.5",),
    ),
)
