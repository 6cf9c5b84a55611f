r"""Document 003, Remark 7 and the last sentence of Remark 8: the tree's noise, and which budgets need which noise.

Remark 7 repeats Theorem 5.1, and falls with it. It also says that noise is added to the aggregate. Algorithm 4 adds it
to the nodes, and that matters: leaf 0 is in all N prefix sums, so fresh noise f Gamma on each of them is worth
mu^2 = N/f^2 per unit that the leaf moves, and not the ceil(lg(N + 1))/f^2 of the nodes.

Remark 8: the tree does not need epsilon = O(1/sqrt(N)). True: its mu is sqrt(ceil(lg(N + 1)))/f = epsilon/sqrt(2
log(1/delta)), without N, and that is (epsilon, delta)-DP for epsilon up to 7/2 (a record removed, delta <= 1/100;
Lemma E.1, repaired). But "in contrast to Algorithm 1" is not true of Algorithm 1, only of Theorem 4.1, which has
amplification by shuffling: a record enters one step, whose release is Gaussian with mu = 1/f; the steps before do not
depend on it, those after are computed from the noisy iterate and other records. So, whatever N is, f = sqrt(2
log(1.25/delta))/epsilon is enough for every epsilon <= 1, a record replaced (Lemma D.1, repaired).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball
from theorems.claim import Checker, Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.privacy import tree
from theorems.tools.either import root
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as positive_sign
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

_PRECISION = 120


def levels(records: int) -> int:
    """ceil(lg(N + 1)): the nodes of a leaf that are released."""
    return records.bit_length()


def judge_fresh(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether says(N) is (mu f)^2 of leaf 0 where every prefix sum has a noise of its own: the sums it is in."""
    tried = 0
    for records in given.values("records"):
        true = sum(0 in range(last + 1) for last in range(records))
        tried += 1
        if says(records) != true:
            return refuted("leaf 0 is in every prefix sum", {
                "N": records, "sums with leaf 0": true, "claimed": says(records)})
    n = given.symbol("records")
    return proof(computed("one sum more for every leaf, from one on", vanishes(
        says(n + 1) - says(n) - 1, says(sympy.Integer(1)) - 1) and given["records"].low == 1), tried=tried)


def judge_any_size(share: Fraction, most: Fraction, rests: str) -> Checker:
    """A checker of f = says(L, epsilon, t), t = sqrt(2 log(share/delta)): L releases of mu = 1/f each are enough."""

    def judge(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
        tried = 0
        for point in given.points("levels", "epsilon", "delta", at_most=150):
            with ctx.workprec(_PRECISION):
                t, epsilon = (2 * (ball(share) / ball(point["delta"])).log()).sqrt(), ball(point["epsilon"])
                f = says(ball(point["levels"]), epsilon, t)
                mu = ball(point["levels"]).sqrt() / f
                tried += 1
                if f <= 0:
                    return refuted("no noise has a negative deviation", {**point, "f": Enclosure.of_ball(f)})
                if delta_ball(epsilon, mu) > ball(point["delta"]):
                    return refuted("the releases have more delta, certified", {
                        **point, "mu": Enclosure.of_ball(mu), "true delta": Enclosure.of_ball(delta_ball(epsilon, mu))})
        count, epsilon_, t_ = given.symbol("levels"), given.symbol("epsilon"), sympy.Symbol("t", positive=True)
        f_ = says(count, epsilon_, t_)
        ends = given["epsilon"].high, given["epsilon"].low, given["delta"].low, given["levels"].low
        return proof(
            computed("f > 0, and sqrt(L)/f is at most epsilon/t, whatever L is", positive_sign(f_) and never_negative(
                sympy.simplify(epsilon_ / t_ - sympy.sqrt(count) / f_))),
            computed(f"0 < epsilon <= {most}, 0 < delta, L >= 1",
                     ends == (most, Fraction(0), Fraction(0), Fraction(1))),
            argued(f"mu = epsilon/t is enough for these epsilon and delta ({rests}), and N does not enter"),
            tried=tried,
        )

    return judge


def judge_necessary(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether Algorithm 1 is private at no epsilon above says(C, sqrt(N)): it is at epsilon = 1, f = 4, at every N."""
    tried = 0
    for constant in given.values("constant"):
        side = 2 * int(constant) + 3
        tried += 1
        with ctx.workprec(_PRECISION):
            true = delta_ball(ball(1), ball(Fraction(1, 4)))
            if says(constant, side) < 1:
                return refuted_by("(1, 1/100000)-DP at every N with f = 4", {
                    "C": constant, "N": side**2, "epsilon": 1, "delta": Fraction(1, 10**5), "f": 4,
                    "true delta": Enclosure.of_ball(true), "claimed largest epsilon": says(constant, side)},
                    computed("mu = 1/4 has less than 1/100000 at epsilon = 1, certified",
                             bool(true < ball(Fraction(1, 10**5)))),
                    argued("a record enters one step, Gaussian with mu = 1/f (glmtron/lemma-D.1-gaussian); what is "
                           "before does not depend on it, what is after is computed from the noisy iterate"))
    return undecided("the epsilon of the example is within the range", tried)


_EVEN = (
    "Based on [22], Algorithm [4] achieves (e, 9)-differential privacy with appropriate noise multiplier f = Y "
    "2Mlg(N+1)]1n(1/5) Algorlthml 3also upholds (¢, 6)-DP under similar settings with ', §’ as Algonthml"
)
_ORDER = (
    'which involves aggregating the "gradients" collected in a bi- nary tree and then adding Gaussian noise to this '
    "aggregate."
)
_BROADER = (
    "Moreover, in contrast to Algorithm DP-TAGLMtron does not necessitate ¢ = O(1/v/N) to maintain differential "
    "privacy, allowing a broader range of privacy budget settings in terms of flexibility and applicability."
)
_MORE = dict.fromkeys(("1 % more", "beyond *"), "more noise is as private")
_DELTA = Parameter("delta", low=Fraction(0), high=Fraction(1, 100), low_open=True)


def _up_to(most: Fraction) -> Parameter:
    return Parameter("epsilon", low=Fraction(0), high=most, low_open=True)


remark_7 = replace(
    tree.theorem, id="glmtron/remark-7", source="003, Remark 7: Algorithms 4 and 3 with the f of Theorem 5.1 (scanned)",
    quote=_EVEN, words="with the f of Theorem 5.1 Algorithm 4, and so Algorithm 3, is (epsilon, delta)-DP",
    repair=None, repaired_by="glmtron/thm-5.1-repaired", uses=("glmtron/lemma-E.1", "glmtron/thm-5.1"),
)
aggregate = Claim(
    id="glmtron/remark-7-aggregate", source="003, Remark 7, read as noise of its own on every prefix sum",
    quote=_ORDER, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"(\mu f)^2 = \lceil\lg(N+1)\rceil \text{ with fresh noise } f\Gamma \text{ on every prefix sum}",
    words="with noise added to each aggregate a leaf costs what it does with noise on the nodes",
    hypotheses=(positive_integer("records", "N"),), says=lambda n: levels(n), check=judge_fresh,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"(\mu f)^2 = N \text{ with fresh noise } f\Gamma \text{ on every prefix sum}",
        words="with noise added to each aggregate the first leaf costs mu^2 = N/f^2: the noise must be on the nodes",
        says=lambda n: n, expected="HOLDS PROVED",
        flips=(Flip("one more", lambda n: n + 1, Verdict.REFUTED),),
    ),
)
broader = Claim(
    id="glmtron/remark-8-budgets", source="003, Remark 8, last sentence: the tree, a record removed (scanned)",
    quote=_BROADER, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"f = \frac{\sqrt{2\lceil\lg(N+1)\rceil\ln(1/\delta)}}{\varepsilon} \text{ gives } (\varepsilon,"
              r" \delta)\text{-DP for all } N,\ \varepsilon \le \tfrac72,\ \delta \le \tfrac{1}{100}",
    words="DP-TAGLMtron is private without epsilon = O(1/sqrt(N)): for epsilon up to 7/2 at every N",
    hypotheses=(positive_integer("levels", "ceil(lg(N + 1))"), _up_to(Fraction(7, 2)), _DELTA),
    says=lambda count, epsilon, t: root(count) * t / epsilon,
    check=judge_any_size(Fraction(1), Fraction(7, 2), "glmtron/lemma-E.1-repaired"),
    flips=(Flip("the noise of one node", lambda count, epsilon, t: t / epsilon, Verdict.REFUTED),
           Flip("half the noise, as for a replaced leaf",
                lambda count, epsilon, t: root(count) * t / epsilon / 2, Verdict.REFUTED)),
    uses=("glmtron/thm-5.1",), rests_on=("glmtron/lemma-E.1-repaired", "glmtron/thm-5.1-repaired"),
    true_variants=_MORE,
    expected="HOLDS ARGUED",
)
contrast = Claim(
    id="glmtron/remark-8-budgets-contrast", source="003, Remark 8, last sentence, read as a need of Algorithm 1",
    quote=_BROADER, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\text{Algorithm 1 is } (\varepsilon, \delta)\text{-DP only for } \varepsilon \le \frac{C}{\sqrt N}",
    words="Algorithm 1 needs epsilon = O(1/sqrt(N)) to be private",
    hypotheses=(positive("constant", "C"),), says=lambda constant, side: constant / side, check=judge_necessary,
    flips=(Flip("every epsilon up to 1", lambda constant, side: 1 + 0 * constant, Verdict.UNDECIDED),),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"f = \frac{\sqrt{2\log(1.25/\delta)}}{\varepsilon} \text{ makes Algorithm 1 } (\varepsilon, \delta)"
                  r"\text{-DP for all } N,\ \varepsilon \le 1",
        words="with the f of one step Algorithm 1 is private for every epsilon up to 1, at every N; only the f of "
              "Theorem 4.1 needs epsilon of the order 1/sqrt(N)",
        source="003, Algorithm 1 without amplification, with a clip that shortens and thresholds known before a step",
        hypotheses=(Parameter("levels", kind="integer", low=Fraction(1), high=Fraction(1), meaning="steps of a record"),
                    _up_to(Fraction(1)), _DELTA),
        says=lambda count, epsilon, t: root(count) * t / epsilon,
        check=judge_any_size(Fraction(5, 4), Fraction(1), "glmtron/lemma-D.1-repaired, the rest is computed from it"),
        flips=(Flip("half the noise", lambda count, epsilon, t: root(count) * t / epsilon / 2, Verdict.REFUTED),),
        rests_on=("glmtron/lemma-D.1-repaired", "glmtron/lemma-D.1-gaussian"), true_variants=_MORE,
        expected="HOLDS ARGUED",
    ),
)
