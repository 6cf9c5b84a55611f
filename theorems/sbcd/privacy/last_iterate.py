r"""Sections 1 and 4 of document 001: composition against the last iterate, steps that contract, noise that grows.

For F = T = identity, K epochs of N batches, constant noise and one touch an epoch, the last iterate has its mean moved
by K touches' shifts at N K times a step's variance: it loses K/N touches, composition says K. So the loss grows with
the epochs even if no internal state is revealed. Two epochs of two batches, the record last, the second with s times
the noise: the loss falls by (s - 1 - q)(s + q)/(o s (s + q + q^2)), so exactly for s > 1 + q.

A record that stands in another batch in each epoch has N^K histories, not the N of the first display of Theorem 4.6.
Definition 4.3 for g = e^{ax/2} under N(0, v): E e^{ax} = e^{a^2 v/2} =: M(a), so its left side is a M'(a) - M log M =
M a^2 v/2, and its right side M a^2/(2c).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, positive, positive_integer
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.network.algebra import never_negative
from theorems.sbcd.privacy.accounting import STEP, BlockSetting, exact_law
from theorems.sbcd.privacy.orders import shares
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, at_points, computed, proof, refuted

_ONE = Fraction(1)


def judge_identity(touches: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the last iterate of F = T = identity loses touches(K, N) touches, exactly."""
    tried = 0
    for at in led(given, most={"epochs": 7, "batches": 4}, epochs=3, batches=2):
        epochs, batches = at["epochs"], at["batches"]
        true = 8 * exact_law(BlockSetting((_ONE,) * epochs, batches, batches - 1, _ONE, _ONE))
        tried += 1
        if touches(epochs, batches) != true:
            return refuted("the last iterate alone loses another number of touches, exactly", {
                "F": "identity", "T": "identity", **at, "touches": true, "claimed": touches(epochs, batches),
            })
    K, N, (m, v) = given.symbol("epochs"), given.symbol("batches"), sympy.symbols("m v", positive=True)
    moved, wide = K * m, K * N * v  # one shift m an epoch and one variance v a step, none at the start
    return proof(
        computed("an epoch more adds one shift and N variances: induction from no epoch", vanishes(
            moved.subs(K, K + 1) - moved - m) and vanishes(wide.subs(K, K + 1) - wide - N * v)
            and not any(part.subs(K, 0) for part in (moved, wide))),
        computed("so m^2/(2 v) of the law is the touches claimed times m^2/(2 v) of one, on symbols",
                 vanishes(moved**2 / (2 * wide) - touches(K, N) * m**2 / (2 * v))),
        tried=tried,
    )


def judge_sum(touches: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether composition of K epochs, all iterates released, says touches(K) touches."""
    tried = given.values("epochs", most=8)
    for epochs in tried:
        total = sum((_ONE for _ in range(epochs)), Fraction(0))
        if touches(epochs) != total:
            return refuted("another sum", {"epochs": epochs, "touches": total, "claimed": touches(epochs)})
    K = given.symbol("epochs")
    return proof(
        computed("no epoch, no touch, and one touch an epoch: induction",
                 vanishes(touches(sympy.Integer(0))) and vanishes(touches(K + 1) - touches(K) - 1)),
        tried=len(tried),
    )


def judge_contracts(limit: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether max |1 - eta h|, h from omega to beta = omega + width, is below 1 for eta < limit(omega, beta) only."""
    def constant(eta: Any, omega: Any, beta: Any) -> Any:
        return max(abs(1 - eta * omega), abs(1 - eta * beta))

    tried = 0
    for at in led(given, omega="1", width="1"):
        omega, beta = at["omega"], at["omega"] + at["width"]
        for part in (Fraction(1, 100), Fraction(99, 100), _ONE, Fraction(101, 100)):
            eta = part * limit(omega, beta)
            tried += 1
            if (constant(eta, omega, beta) < 1) is not (part < 1):
                told = {"omega": omega, "beta": beta, "eta": eta, "L_F": constant(eta, omega, beta)}
                return refuted("a step of that size does otherwise, exactly", told)
    omega_, beta_ = given.symbol("omega"), given.symbol("omega") + given.symbol("width")
    p, more = sympy.symbols("p s", positive=True)
    below, beyond = limit(omega_, beta_) * p / (1 + p), limit(omega_, beta_) * (1 + more)
    return proof(
        computed("1 - (1 - eta h)^2 is positive at h = omega and at h = beta for eta below the limit, on symbols",
                 all(sympy.factor(1 - (1 - below * h) ** 2).is_positive for h in (omega_, beta_))),
        computed("at the limit |1 - eta beta| is 1, and beyond it more",
                 vanishes((1 - limit(omega_, beta_) * beta_) ** 2 - 1)
                 and sympy.factor((1 - beyond * beta_) ** 2 - 1).is_positive),
        tried=tried,
    )


def judge_increase(threshold: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether a second epoch with s times the noise lowers the loss exactly for s > threshold(q): N = 2, j_0 = 1."""
    tried = 0
    for at in led(given, noise="1", product="1"):
        o, q = at["noise"], at["product"]
        for part in (Fraction(1, 2), _ONE, Fraction(101, 100), Fraction(2)):
            s = part * threshold(q)
            one, two = (sum(shares(noise, 2, 1, q)) for noise in ((o,), (o, s * o)))
            tried += 1
            if (two < one) is not (part > 1):
                told = {"noise": f"{o}, {s * o}", "q": q, "loss after one epoch": one, "after two": two}
                return refuted("the loss does otherwise, exactly", told)
    o_, q_ = given.symbol("noise"), given.symbol("product")
    r = sympy.Symbol("r", nonnegative=True)

    def fallen(s: Any) -> Any:
        one, two = (sum(shares(noise, 2, 1, q_)) for noise in ((o_,), (o_, s * o_)))
        return sympy.factor(sympy.together(one - two))

    return proof(
        computed("the loss falls for s = threshold + r, r > 0, on symbols", never_negative(fallen(threshold(q_) + r))
                 and fallen(threshold(q_) + sympy.Symbol("r", positive=True)).is_positive is True),
        computed("and not for s = threshold/(1 + r), r >= 0", never_negative(-fallen(threshold(q_) / (1 + r)))),
        tried=tried,
    )


Histories = Callable[[int, int], Iterable[tuple[int, ...]]]
"""The positions of the record in K epochs of N batches over which is averaged, of (K, N)."""


def same(epochs: int, batches: int) -> Iterable[tuple[int, ...]]:
    """One position for all epochs."""
    return ((j,) * epochs for j in range(batches))


def anew(epochs: int, batches: int) -> Iterable[tuple[int, ...]]:
    """A position of its own for each epoch."""
    return itertools.product(range(batches), repeat=epochs)


def lost(history: tuple[int, ...], batches: int, product: Fraction) -> Fraction:
    """R/alpha in touches for a record in these positions, noise 1."""
    spread = total = Fraction(0)
    for position, batch in itertools.product(history, range(batches)):
        moved = product * spread
        total = total + 1 if batch == position else total * moved / (moved + 1)
        spread = moved + 1
    return total


def judge_positions(histories: Histories, given: Domain) -> Finding:
    """Whether the mean of e^{u loss} over these histories is no less than over all; u is (alpha - 1) alpha touches."""
    tried = 0
    for at in led(given, most={"epochs": 3, "batches": 3}, at_most=60, unit="1/10", product="1", epochs=2, batches=2):
        with ctx.workprec(100):
            claimed, true = (
                sum(((ball(at["unit"]) * ball(one)).exp() for one in found), arb(0)) / len(found)
                for found in ([lost(history, at["batches"], at["product"]) for history in every]
                              for every in (histories(at["epochs"], at["batches"]), anew(at["epochs"], at["batches"])))
            )
            tried += 1
            if claimed < true:
                return refuted("the average over all histories is larger, certified", {
                    "u": at["unit"], "q": at["product"], "epochs": at["epochs"], "batches": at["batches"],
                    "claimed": claimed.str(8), "over all histories": true.str(8),
                })
    return at_points("no less than the average over all histories", tried)


def judge_gaussian(constant: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the best constant of N(0, v) in (10) is constant(v): g = e^{ax/2} allows none above 1/v."""
    tried = given.values("v")
    for v in tried:
        left, right = v / 2, 1 / (2 * constant(v))  # over a^2 E g^2
        if left > right:
            return refuted("the inequality fails for g = e^(ax/2), exactly", {
                "v": v, "claimed c": constant(v), "left side over a^2 E g^2": left, "right side over a^2 E g^2": right,
            })
    a, v_ = sympy.symbols("a", positive=True), given.symbol("v")
    moment = sympy.exp(a**2 * v_ / 2)
    left_ = a * sympy.diff(moment, a) - moment * sympy.log(moment)
    return proof(
        computed("for g = e^(ax/2) both sides of (10) are equal at the constant claimed, so none larger serves",
                 vanishes(sympy.expand_log(left_, force=True) - 2 / constant(v_) * a**2 / 4 * moment)),
        argued("that 1/v serves all g is Gross's inequality"),
        tried=len(tried),
    )


_RUN = (positive_integer("epochs"), positive_integer("batches"))
_PRODUCT = positive("product", "q, the square of L_F L_T")

grows = Claim(
    id="sbcd/composition-grows", source="001, Section 1, second paragraph",
    quote="As a result, the total privacy loss of the algorithm significantly increases with the number of training "
          "iterations, because more internal states will be revealed with more training iterations.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\varepsilon_K \text{ increases with } K \text{ because the iterates are revealed}",
    words="the loss grows with the iterations, because internal states are revealed: composition's sum, or only then",
    hypotheses=_RUN, says=None, check=None,
    readings=("sbcd/composition-grows-reading-sum", "sbcd/composition-grows-reading-revealed"),
    expected="AMBIGUOUS PROVED",
)
grows_sum = reading(
    grows, "sum", source="001, Section 1, what composition says",
    statement=r"\frac{R_\alpha}{\alpha} \le K\,\frac{\eta S_g^2}{4b^2 o} \text{ by composition}",
    words="what composition says grows with the epochs, by a touch each", hypotheses=_RUN[:1],
    says=lambda epochs: epochs, check=judge_sum, rests_on=("sbcd/composition-identical-noise-repaired",),
    flips=(Flip("half a touch", lambda epochs: Fraction(1, 2) * epochs, Verdict.REFUTED),), expected="HOLDS PROVED",
)
grows_revealed = reading(
    grows, "revealed", source="001, Section 1, as the cause: hidden, the states would keep the loss from growing",
    statement=r"\frac{R_\alpha(\theta_K)}{\alpha} = \frac{1}{N}\,\frac{\eta S_g^2}{4b^2 o} \text{ for every } K"
              r" \quad (F = T = \mathrm{id})",
    words="if only the last iterate is revealed, the loss does not grow with the epochs",
    says=lambda epochs, batches: Fraction(1) / batches, check=judge_identity,
    flips=(Flip("K/N touches", lambda epochs, batches: Fraction(1) * epochs / batches, Verdict.HOLDS),),
    repaired_by="sbcd/composition-loose", expected="REFUTED PROVED",
)
loose = Claim(
    id="sbcd/composition-loose", source="001, Section 1, second paragraph; for F = T = identity",
    quote="Such assumptions lead to a very loose privacy estimation of the algorithm, because, in practice, most "
          "internal states are usually not even recorded during training.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\frac{R_\alpha(\theta_K)}{\alpha} = \frac{K}{N}\,\frac{\eta S_g^2}{4b^2 o} \quad (F = T = \mathrm{id})",
    words="composition is loose by the number of batches: without contraction the last iterate loses K/N touches of K",
    hypotheses=_RUN, says=lambda epochs, batches: Fraction(1) * epochs / batches, check=judge_identity,
    flips=(Flip("K touches", lambda epochs, batches: Fraction(1) * epochs, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
contracts = Claim(
    id="sbcd/strongly-convex-converges", source="001, Section 1, fourth paragraph; for steps below 2/beta",
    quote="privacy loss could *converge* under the hidden state assumption in learning problems with strongly convex "
          "and β -smooth loss function.",
    whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\omega > 0 \implies (L_F < 1 \iff \eta < 2/\beta), \text{ and then, for } n/b \ge 2, \varepsilon_K"
              r"\text{ converges}",
    words="for a strongly convex, smooth loss the step contracts, and the loss converges, exactly for eta < 2/beta",
    hypotheses=(positive("omega"), non_negative("width", "beta - omega")), says=lambda omega, beta: 2 / beta,
    check=judge_contracts, rests_on=("sbcd/lem-4.1", "sbcd/convergence-const-repaired"),
    flips=(Flip("2/(omega + beta), which is too small", lambda omega, beta: 2 / (omega + beta), Verdict.REFUTED),
           Flip("2/omega", lambda omega, beta: 2 / omega, Verdict.REFUTED)),
    expected="HOLDS ARGUED",
)
increase = Claim(
    id="sbcd/increase-decreases", source="001, Section 4.3; two epochs of two batches, the record in the last",
    quote="In contrast, increasing the noise magnitude can even lead to a decrease in privacy loss.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"o_1 = s\,o_0: \quad \varepsilon_2 < \varepsilon_1 \iff s > 1 + q \quad (n/b = 2,\ j_0 = 1)",
    words="noise that grows by more than 1 + q from the first epoch to the second, and no less, lowers the loss",
    hypotheses=(positive("noise"), _PRODUCT), says=lambda q: 1 + q, check=judge_increase,
    flips=(Flip("any growth", lambda q: 1 + 0 * q, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
positions = Claim(
    id="sbcd/same-position", source="001, after Lemma 4.7, and the first display of Theorem 4.6",
    quote=r"represents the privacy loss when the only different instance of the two neighboring datasets is in the "
          "j_0 -th mini-batch of each epoch.",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\varepsilon_K(\alpha) \text{ averages over one } j_0 \text{ for all epochs}",
    words="the average over one j_0 for all epochs: for batches fixed once, or shuffled anew in every epoch",
    hypotheses=_RUN, says=None, check=None, readings=("sbcd/thm-4.6-mix", "sbcd/same-position-reading-anew"),
    uses=("sbcd/thm-4.6-mix",),
    expected="AMBIGUOUS ARGUED",
)
positions_anew = reading(
    positions, "anew", source="001, Theorem 4.6, first display, for batches shuffled anew in every epoch",
    statement=r"\frac{1}{N} \sum_{j} e^{(\alpha-1)\varepsilon_K(\alpha, (j, \dots, j))} \ge \frac{1}{N^K} \sum_{j_1,"
              r" \dots, j_K} e^{(\alpha-1)\varepsilon_K(\alpha, (j_1, \dots, j_K))}",
    words="the average over one j_0 is no less than what the accounting gives for batches shuffled anew",
    hypotheses=(positive("unit", "(alpha - 1) alpha touches"), _PRODUCT, *_RUN), says=same, check=judge_positions,
    flips=(Flip("over all histories", anew, Verdict.HOLDS),), repaired_by="sbcd/thm-4.6-mix",
    expected="REFUTED PROVED",
)
gaussian = Claim(
    id="sbcd/def-4.3-gaussian", source="001, Definition 4.3, for the law of one step's noise (finding)",
    severity=Stake.PROOF,
    statement=r"\mathcal{N}(0, v) \text{ has the constant } c = 1/v \text{ in (10), and none larger}",
    words="in Definition 4.3 the best constant of N(0, v) is 1/v, as the accounting takes it",
    hypotheses=(positive("v"),), says=lambda v: 1 / v, check=judge_gaussian,
    flips=(Flip("2/v", lambda v: 2 / v, Verdict.REFUTED),
           Flip("half of it, which serves, too", lambda v: 1 / (2 * v), Verdict.UNDECIDED)),
    expected="HOLDS ARGUED",
)
benign = Claim(
    id="sbcd/lsi-benign", source="001, Section 4.2, before Definition 4.3",
    quote="Now we assume that θ for each subproblem satisfies the log-Sobolev inequality (LSI), which is a benign "
          "assumption used in Vempala and Wibisono [30], Ye and Shokri [32].",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\theta \text{ satisfies (10) with the } c \text{ that the accounting uses}",
    words="that theta satisfies a log-Sobolev inequality is a benign assumption: for fixed maps, or for Algorithm 2",
    hypotheses=STEP[1:], says=None, check=None,
    readings=("sbcd/lem-4.7-law-repaired", "sbcd/lem-4.7-law-reading-algorithm"),
    expected="AMBIGUOUS ARGUED",
)
