r"""Theorem 4.6 of document 001: the closed form (11) of the accounting of one block, its indices wrong and set right.

Write V = 1/c and q = (L_F L_T)^2. A step without the record multiplies R/alpha by 1/(1 + 2 eta o c/L_F^2) = q V/V',
where V' = L_T^2 (L_F^2 V + 2 eta o) is the spread after it (computer algebra below). So what the touch of epoch k is
multiplied by until the end of epoch K - 1 is q to the number of the steps without the record after it, times the ratios
V/V' of these steps, in which all cancels but where a touch interrupts:

    D(k, K) = q^{(N-1)(K-k)-j} V_k^{j+1} / V_K^0 prod_{l=k+1}^{K-1} V_l^{j+1} / V_l^j,    N = n/b, j = j_0.

Induction on K, which is what `proved` carries out on the symbols of a claimed form: D(k, k+1) = q^{N-1-j} V_k^{j+1} /
V_{k+1}^0, and one epoch more multiplies by q^{N-1} (V_K^0 / V_K^j) (V_K^{j+1} / V_{K+1}^0).

As printed (11) is an upper bound, so it is refuted by a loss that is larger. Such are the exact laws of linear maps,
and for a record in the last batch F(theta_1, theta_2) = (0, L_F theta_2) on the plane, T = L_T: the touch of the very
last step is all that is left of theta_1, and counts in full, while the spread of theta_2 is that of Lemma 4.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, schedule
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.privacy.accounting import BlockSetting, exact_law, recursion, settings, spread
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, sampled

Index = Callable[[Any, Any, Any, Any], Any]
"""An index of (k, K, N, j): epoch of the touch, epochs, batches an epoch, batches before the record (j_0)."""


@dataclass(frozen=True)
class Form:
    """(V_k^{j+1} / V at `last`) q^`exponent` prod_{l=`low`}^{`high`} V_l^{j+1} / V_l^j, to a power of L_T: (11).

    `last` is (epoch, step). The indices are evaluated at numbers, and at symbols for the proof.
    """

    last: tuple[Index, Index]
    low: Index
    high: Index
    exponent: Index
    power: Callable[[Any], Any]

    def decay(self, there: BlockSetting, epoch: int) -> Fraction | None:
        """What the touch of an epoch is multiplied by, exactly; None where the form divides by zero.

        The printed form asks for laws of an epoch K that is not run; its noise is taken to be the last epoch's.
        """
        at = (epoch, len(there.noise), there.batches, there.before)
        longer = replace(there, noise=(*there.noise, there.noise[-1]))
        value = spread(longer, epoch, there.before + 1) / spread(longer, self.last[0](*at), self.last[1](*at))
        value *= (there.gradient * there.prox) ** (2 * self.exponent(*at))
        for index in range(self.low(*at), self.high(*at) + 1):
            if spread(longer, index, there.before) == 0:
                return None
            value *= spread(longer, index, there.before + 1) / spread(longer, index, there.before)
        return Fraction(value ** int(self.power(there.prox)))

    def loss(self, there: BlockSetting) -> Fraction | None:
        """R/alpha: the sum over the epochs of a touch, 1/(8 o), times its decay."""
        total = Fraction(0)
        for epoch, noise in enumerate(there.noise):
            share = self.decay(there, epoch)
            if share is None:
                return None
            total += share / (8 * noise)
        return total


def steps_without(k: Any, K: Any, N: Any, j: Any) -> Any:
    """(n/b - 1)(K - k) - j_0."""
    return (N - 1) * (K - k) - j


PRINTED = Form(
    (lambda k, K, N, j: K, lambda k, K, N, j: N - 1), lambda k, K, N, j: k, lambda k, K, N, j: K, steps_without,
    lambda prox: 1 / prox**2,
)
REPAIRED = Form(
    (lambda k, K, N, j: K, lambda k, K, N, j: 0), lambda k, K, N, j: k + 1, lambda k, K, N, j: K - 1, steps_without,
    lambda prox: Fraction(1),
)


def proved(form: Form) -> bool:
    """Whether the induction of the module docstring goes through for the symbols of a form: for all k < K, N and j."""
    k, K, N, j = sympy.symbols("k K N j", integer=True, nonnegative=True)
    now, more, first = (k, K, N, j), (k, K + 1, N, j), (k, k + 1, N, j)

    def same(one: Any, other: Any) -> bool:
        return bool(sympy.expand(one - other) == 0)

    def last(at: tuple[Any, ...]) -> tuple[Any, Any]:
        epoch, step = (index(*at) for index in form.last)
        # Step N of an epoch is step 0 of the next: the same law under two names.
        return (epoch + 1, 0) if same(step, N) else (epoch, step)

    begins = (
        same(last(first)[0], k + 1) and same(last(first)[1], 0) and same(form.exponent(*first), N - 1 - j)
        and same(form.high(*first) - form.low(*first), -1)
    )
    continues = (
        same(last(more)[0], last(now)[0] + 1) and same(last(more)[1], 0) and same(last(now)[1], 0)
        and same(form.exponent(*more) - form.exponent(*now), N - 1)
        and same(form.low(*more), form.low(*now)) and same(form.high(*more), K) and same(form.high(*now), K - 1)
    )
    prox = sympy.symbols("L_T", positive=True)
    return begins and continues and vanishes(form.power(prox) - 1)


def telescoping_gap() -> sympy.Expr:
    """The factor of a step, 1/(1 + 2 eta o c / L_F^2), minus L_F^2 L_T^2 c'/c for the next constant c'; zero."""
    before, added, gradient, prox = sympy.symbols("v s L_F L_T", positive=True)
    after = prox**2 * (gradient**2 * before + added)
    factor = 1 / (1 + added / (before * gradient**2))
    return sympy.simplify(factor - gradient**2 * prox**2 * before / after)


def induction(form: Form) -> tuple[ProofStep, ProofStep]:
    """The proof that a form is what the recursion gives, which is linear in the touches."""
    return (
        computed("a step without the record multiplies by q V/V', q = (L_F L_T)^2, so the factors of consecutive steps "
                 "telescope", telescoping_gap() == 0),
        computed("induction on K over the indices of the form, as symbols, closes for all k < K, n/b and j_0",
                 proved(form)),
    )


def tried_settings(given: Domain) -> Iterator[BlockSetting]:
    """The small settings, without a proximal map and with L_T = 1/2, and those at the ends of the hypotheses."""
    for prox in (Fraction(1), Fraction(1, 2)):
        yield from (replace(setting, prox=prox) for setting in settings() if len(setting.noise) < 5)
    for noise in given.values("noise"):
        names = ("batches", "lipschitz_gradient", "lipschitz_prox")
        for point in given.points(*names, at_most=8, most={"batches": 3}):
            yield BlockSetting(noise[:3], point["batches"], point["batches"] - 1, *(point[name] for name in names[1:]))


def judge_form(form: Form, given: Domain) -> Finding:
    """Hold a closed form against Corollary 4.5 (repaired) applied step by step, and prove it by induction."""
    tried = 0
    for setting in tried_settings(given):
        claimed, true = form.loss(setting), recursion(setting)
        tried += 1
        if claimed != true:
            return refuted(
                "the closed form is not what Corollary 4.5, applied step by step, gives",
                {**setting.witness(), "closed form": "division by zero" if claimed is None else claimed,
                 "recursion": true},
            )
    return proof(*induction(form), tried=tried)


def judge_bound(form: Form, given: Domain) -> Finding:
    """Whether a closed form bounds the loss of one block: no exact law is above it, and it is the recursion."""
    tried = 0
    for setting in tried_settings(given):
        claimed = form.loss(setting)
        laws = {"F(theta) = L_F theta, T(theta) = L_T theta": exact_law(setting)}
        if setting.before == setting.batches - 1:
            laws["F(theta) = (0, L_F theta_2), T(theta) = L_T theta"] = 1 / (8 * setting.noise[-1])
        maps, true = max(laws.items(), key=lambda law: law[1])
        tried += 1
        if claimed is not None and claimed < true:
            return refuted(
                "a block whose maps have these Lipschitz constants loses more, exactly",
                {**setting.witness(), "maps": maps, "closed form": claimed, "exact R/alpha": true},
            )
    there = BlockSetting((Fraction(1), Fraction(3, 2)), 3, 1, Fraction(9, 10), Fraction(1, 2))
    registered = bound("sbcd.rdp").at({
        "alpha": 2, "sensitivity": 1, "batch_size": 1, "learning_rate": Fraction(1, 2), "noise_variances": there.noise,
        "batches": there.batches, "batch_position": there.before + 1, "lipschitz_gradient": there.gradient,
        "lipschitz_prox": there.prox,
    })
    value = form.loss(there)
    return proof(
        *induction(form),
        argued("Corollary 4.5, repaired, taken step by step, bounds the loss of one block whose other inputs do not "
               "depend on the data, with the constants of Lemma 4.7"),
        sampled("the registered bound encloses it at a setting", value is not None and registered.contains(2 * value)),
        tried=tried,
    )


HYPOTHESES = (
    schedule("noise", "o(eta, k, j), constant in an epoch"), positive_integer("batches"),
    positive("lipschitz_gradient"), positive("lipschitz_prox"),
)
_FIXED = (
    r"\varepsilon_K(\alpha, j_0) = \alpha \sum_{k=0}^{K-1} \frac{\eta S_g^2}{4b^2 o_k} \left(\frac{c_k^{j_0+1}}"
    r"{c_K^0} \left(\frac{1}{L_F^2 L_T^2}\right)^{(n/b-1)(K-k)-j_0} \prod_{l=k+1}^{K-1}"
    r" \frac{c_l^{j_0+1}}{c_l^{j_0}}\right)^{-1}"
)
_WRONG = (
    Flip("the exponent of q one more", replace(REPAIRED, exponent=lambda k, K, N, j: steps_without(k, K, N, j) + 1),
         Verdict.REFUTED),
    Flip("the power -1/L_T^2", replace(REPAIRED, power=PRINTED.power), Verdict.REFUTED),
)
_SAME = {
    "[[]last] [[]1] sign": "0 is its negative", "[[]last] [[]1] 1 % *": "0 is 0 multiplied by anything",
    "[[]last] [[]1] squared": "0 is its square",
    "any lipschitz_gradient": "only its square enters", "[[]power] squared": "1 is its square",
}

theorem_4_6 = Claim(
    id="sbcd/thm-4.6-eq-11",
    source="001, Theorem 4.6, inequality (11), for one block",
    quote=(
        r"\left(\frac{c_k^{j_0+1}}{c_K^{n/b-1}} \left(\frac{1}{L_F^2 L_T^2} \right)^{(n/b-1)(K-k)-j_0} "
        r"\prod_{l=k}^K \frac{c_l^{j_0+1}}{c_l^{j_0}} \right)^{-1/L_T^2} \quad (11)"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=(
        r"\varepsilon_K(\alpha, j_0) \le \alpha \sum_{k=0}^{K-1} \frac{\eta S_g^2}{4b^2 o_k} \left(\frac{c_k^{j_0+1}}"
        r"{c_K^{n/b-1}} \left(\frac{1}{L_F^2 L_T^2}\right)^{(n/b-1)(K-k)-j_0} \prod_{l=k}^{K}"
        r" \frac{c_l^{j_0+1}}{c_l^{j_0}}\right)^{-1/L_T^2}"
    ),
    words="the loss of one block is at most the closed form (11)",
    hypotheses=HYPOTHESES,
    says=PRINTED,
    check=judge_bound,
    flips=(
        Flip("its indices set right", REPAIRED, Verdict.HOLDS),
        Flip("only the last constant set right", replace(PRINTED, last=REPAIRED.last), Verdict.REFUTED),
    ),
    uses=(
        "sbcd/cor-4.5-case1", "sbcd/cor-4.5-case2", "sbcd/lem-4.7", "sbcd/lem-3.2", "sbcd/assump-4.4",
        "sbcd/norm-nonexpansive", "sbcd/one-batch-per-epoch",
    ),
    repaired_by="sbcd/thm-4.6-repaired",
    expected="REFUTED PROVED",
)

theorem_4_6_repaired = Claim(
    id="sbcd/thm-4.6-repaired",
    source="001, Theorem 4.6, inequality (11), its indices set right, for one block",
    severity=Stake.PRIVACY,
    statement=_FIXED.replace(" = ", r" \le ", 1),
    words="the loss of one block, all else that it reads independent of the data, is at most (11) with the product "
          "over k < l < K, the last constant c_K^0 and the power -1",
    hypotheses=HYPOTHESES,
    says=REPAIRED,
    check=judge_bound,
    flips=(
        Flip("the last constant under its other name, c_{K-1}^{n/b}", replace(
            REPAIRED, last=(lambda k, K, N, j: K - 1, lambda k, K, N, j: N),
        ), Verdict.HOLDS), *_WRONG,
    ),
    rests_on=("sbcd/cor-4.5-case1-repaired", "sbcd/cor-4.5-case2", "sbcd/lem-4.7", "sbcd/thm-4.6-form"),
    true_variants=_SAME,
    expected="HOLDS ARGUED",
)

form_4_6 = Claim(
    id="sbcd/thm-4.6-form",
    source="001, Theorem 4.6, inequality (11), its indices set right, as a formula",
    severity=Stake.PROOF,
    statement=_FIXED,
    words="the recursion of Corollary 4.5, repaired, has the closed form (11) with the product over k < l < K, the "
          "last constant c_K^0 and the power -1",
    hypotheses=HYPOTHESES,
    says=REPAIRED,
    check=judge_form,
    flips=(*_WRONG, Flip("the product up to K", replace(REPAIRED, high=PRINTED.high), Verdict.REFUTED),
           Flip("as printed", PRINTED, Verdict.REFUTED)),
    true_variants=_SAME,
    expected="HOLDS PROVED",
)
