r"""How document 000 sets up its tuning (end of Section 5, Section 6): equal bases for DP-SGD and NoisyCGD.

DP-SGD has an epsilon* at delta* = 1e-5; NoisyCGD's lambda is chosen so that it has the same; the two curves are then
taken for those of one Gaussian mechanism. At the document's settings this is right to four digits: the curve of 24,000
sampled steps by the pair (2.3), certified, against the Gaussian curve through (epsilon*, 1e-5). Below delta = 1e-5
DP-SGD's is the larger one, so the Gaussian curve does not bound it.

What the text calls c = eta lambda is, in Theorem 2.8, c = 1 - eta lambda.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, real
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from oracle.engines.gaussian_curve import epsilon_of_mu
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.certified_tables import all_round
from theorems.relu_approx.experiments.figure_1 import dp_sgd_epsilon, noisy_cgd_epsilon
from theorems.tools.printed import rounding_interval
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, undecided

_DELTA, _MEAN, _STEPS, _RATE = Fraction(1, 10**5), 20, 24_000, Fraction(1, 60)
_RESTS = ("relu-approx/lem-2.6-repaired", "relu-approx/thm-2.4")
_SIGMAS = (15, 5)


def sgd_distance(sigma: int) -> Enclosure:
    """Its total variation distance, delta(0)."""
    return bound("poisson-gaussian.delta").reference(
        sigma=sigma, sampling_rate=_RATE, steps=_STEPS, epsilon=0, neighbours="replace"
    )


def matched_mu(sigma: int) -> Fraction:
    """mu of the Gaussian curve through DP-SGD's (epsilon*, 1e-5), to 15 digits."""
    star = dp_sgd_epsilon(sigma).upper.to_fraction()
    noise = bound("gaussian.sigma").reference(epsilon=star, delta=_DELTA, sensitivity=1)
    return Fraction(int(10**15 / noise.lower.to_fraction()), 10**15)


def gaussian_side(mu: Fraction, delta: Fraction) -> Enclosure:
    """The Gaussian curve's epsilon."""
    return epsilon_of_mu(lambda: ball(mu), delta, Fraction(1, 10**12))


def tuned(sigma: int, share: Fraction) -> dict[str, arb]:
    """m delta(0) + epsilon(share), what Theorem 5.1 needs at delta = m share with epsilon_1 = 0, of both methods.

    With the Gaussian's outer curve and the larger of both delta(0) it is the bound of the text, under "claimed".
    """
    mu = matched_mu(sigma)
    distances = {"NoisyCGD": (ball(mu) / arb(8).sqrt()).erf(), "DP-SGD": sgd_distance(sigma).ball}
    rests = {"NoisyCGD": gaussian_side(mu, share).ball, "DP-SGD": dp_sgd_epsilon(sigma, delta=share).ball}
    needed = {name: _MEAN * distances[name] + rests[name] for name in distances}
    return {**needed, "claimed": _MEAN * distances["NoisyCGD"].max(distances["DP-SGD"]) + rests["NoisyCGD"]}


def judge_profiles(says: Mapping[tuple[int, str], str], given: Domain) -> Finding:
    """Whether DP-SGD's epsilon minus the matched Gaussian's rounds to these numbers, by sigma and delta."""
    with ctx.workprec(100):
        return all_round((
            ({"sigma": sigma, "delta": delta}, Enclosure.of_ball(
                dp_sgd_epsilon(sigma, delta=delta).ball - gaussian_side(matched_mu(sigma), Fraction(delta)).ball), text)
            for (sigma, delta), text in says.items()
        ), "certified; DP-SGD's epsilon is the larger one below delta = 1e-5")


def judge_maximum(share: Fraction, given: Domain) -> Finding:
    """Whether the text's bound, with the Gaussian's outer curve, covers DP-SGD's tuning at delta = m share."""
    shown = []
    with ctx.workprec(100):
        for sigma in _SIGMAS:
            needs = tuned(sigma, share)
            if needs["DP-SGD"] > needs["claimed"]:
                return refuted(
                    "Theorem 5.1 needs more for DP-SGD, certified",
                    {"sigma": sigma, "tuned delta": f"{float(_MEAN * share):g}",
                     "claimed": needs["claimed"].str(14), "needed": needs["DP-SGD"].str(14)},
                )
            if not needs["DP-SGD"] <= needs["claimed"]:
                return undecided("the enclosures overlap", 2)
            shown.append(f"sigma = {sigma}: {needs['claimed'].str(7, radius=False)}")
    return instance("; ".join(shown))


Larger = Callable[[Any, Any], Any]


def judge_both(larger: Larger, given: Domain) -> Finding:
    """Whether (5.1) with larger(delta, delta_hat) for both curves bounds the tuning of both methods, for all bases."""
    m, by, first = given.symbol("m"), sympy.Symbol("by", nonnegative=True), sympy.Symbol("delta", nonnegative=True)
    for point in given.points("m", "growth"):
        for one, other in ((Fraction(1, 2), Fraction(1, 4)), (Fraction(0), Fraction(1, 3))):
            hats = [-point["m"] * (point["growth"] - 1) - point["m"] * at for at in (one, other, larger(one, other))]
            if hats[2] > min(hats[:2]):
                return refuted("epsilon_hat is larger than a method's own", {**point, "deltas": f"{one}, {other}"})
    both = (larger(first, first + by), larger(first + by, first))
    return proof(
        computed("the curve that is used is the larger one of both, at every epsilon",
                 all(sympy.simplify(value - (first + by)) == 0 for value in both)),
        computed("epsilon_hat falls as delta(epsilon_1) grows",
                 sympy.diff(-m * first, first).is_negative),
        argued("so it is at most each method's own, where that method's curve, which never rises, and the larger curve "
               "are at least what Theorem 5.1 gives it"),
    )


def judge_equal(says: Mapping[int, str], given: Domain) -> Finding:
    """Whether both methods' tuned epsilons at delta = 1e-5 round to the same number."""
    with ctx.workprec(100):
        return all_round((
            ({"sigma": sigma, "method": method}, Enclosure.of_ball(needs), text) for sigma, text in says.items()
            for method, needs in tuned(sigma, _DELTA / _MEAN).items()
        ), "both methods alike, to the last digit")


def judge_match(says: Mapping[tuple[int, int], tuple[str, str]], given: Domain) -> Finding:
    """Whether the eta lambda that gives NoisyCGD this epsilon at 400 epochs rounds to that, by (sigma, batches)."""
    for (sigma, batches), (text, product) in says.items():
        ratio, target = Fraction(2, sigma), Fraction(text)
        ends = [noisy_cgd_epsilon(str(end), ratio, batches, 400) for end in rounding_interval(product)]
        least, most = gaussian_side(ratio, _DELTA), noisy_cgd_epsilon("0", ratio, batches, 400)
        if not (ends[0].lower.compare(target) > 0 and ends[1].certainly_le(target)):
            return refuted(
                "not there, certified",
                {"sigma": sigma, "batches": batches, "epsilon": text, "eta lambda": product,
                 "epsilons at the ends of its rounding": f"{ends[0]}, {ends[1]}", "at c = 0": least, "at c = 1": most},
            )
    if not says:
        return undecided("nothing is claimed", 1)
    return instance("epsilon is above at one end of each rounding and below at the other, and continuous")


def judge_constant(constant: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the c that tuning fixes is the c of Theorem 2.8, max(|1 - eta lambda|, |1 - eta beta|), eta beta <= 1."""
    points = list(given.points("eta_beta", "share"))
    for point in points:
        product = point["eta_beta"] * point["share"]
        true = max(abs(1 - product), abs(1 - point["eta_beta"]))
        if constant(product) != true:
            return refuted(
                "not the constant of Theorem 2.8",
                {"eta lambda": product, "eta beta": point["eta_beta"], "claimed c": constant(product), "c": true},
            )
    whole, share = given.chart("eta_beta"), given.chart("share")
    product = whole * share
    return proof(
        computed("1 - eta lambda >= 1 - eta beta >= 0 for eta lambda <= eta beta <= 1: it is the maximum",
                 sympy.factor(whole - product).is_nonnegative and sympy.factor(1 - whole).is_nonnegative),
        computed("the claimed constant is 1 - eta lambda", sympy.simplify(constant(product) - (1 - product)) == 0),
        tried=len(points),
    )


def judge_determined(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether c and eta determine lambda as says(c, eta), c being Theorem 2.8's at eta beta <= 1."""
    points = list(given.points("eta_beta", "share", "eta"))
    for point in points:
        product = point["eta_beta"] * point["share"]
        c, lam = max(abs(1 - product), abs(1 - point["eta_beta"])), product / point["eta"]
        claimed = says(c, point["eta"])
        if claimed != lam:
            return refuted("another lambda", {"c": c, "eta": point["eta"], "lambda": lam, "claimed": claimed})
    product, eta = given.chart("eta_beta") * given.chart("share"), given.symbol("eta")
    return proof(computed("with c = 1 - eta lambda (tuning-c-repaired) it is lambda",
                          sympy.simplify(says(1 - product, eta) - product / eta) == 0), tried=len(points))


_MATCHED = {
    (15, 60): ("1.33", "5.606e-5"), (5, 60): ("4.76", "3.757e-5"), (15, 50): ("1.33", "1.099e-4"),
    (5, 50): ("4.76", "9.392e-5"),
}
_APART = {
    (15, "1/1000"): "-2.5e-7", (15, "5e-7"): "2.8e-7", (15, "1e-9"): "1.1e-6",
    (5, "1/1000"): "-1.1e-5", (5, "5e-7"): "1.0e-5", (5, "1e-9"): "3.8e-5",
}
_LARGER = (
    r"Taking the maximum of $\delta(\varepsilon_1)$ and $\widehat{\delta}(\varepsilon_1)$ for the "
    r"evaluation of $\widehat{\varepsilon}$ in the bound of Eq. (5.1) will then give a privacy profile that "
    "bounds the DP-guarantees of the hyperparameter tuning of both DP-SGD and NoisyCGD."
)
_NAME = r"Then, we fix the value of the constant $c=\eta\cdot\lambda$ for NoisyCGD"
_PRODUCTS = (positive("eta_beta").at_most(1), positive("share", "lambda / beta").at_most(1))

profiles = Claim(
    id="relu-approx/tuning-profiles",
    source="000, Section 5: DP-SGD's curves are approximately those of the Gaussian mechanism; the numbers are ours",
    quote=(
        "we use the fact that DP-SGD privacy profiles are approximately those of the Gaussian mechanism for "
        "large compositions (Sommer et al., 2019)"
    ),
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\varepsilon_{\mathrm{SGD}}(\delta) - \varepsilon_{\mathrm{GDP}(\mu^*)}(\delta) = -1.1 \cdot 10^{-5},\ "
              r"1.0 \cdot 10^{-5},\ 3.8 \cdot 10^{-5} \quad (\sigma = 5,\ \delta = 10^{-3}, 5 \cdot 10^{-7}, 10^{-9})",
    words="on MNIST DP-SGD's epsilons are a Gaussian mechanism's to within 0.00004, below it at 1e-3, above it at 1e-9",
    hypotheses=(),
    says=_APART,
    check=judge_profiles,
    flips=(Flip("never above", {(5, "1e-9"): "-3.8e-5"}, Verdict.REFUTED),),
    uses=("relu-approx/lem-2.6", "relu-approx/thm-2.4"),
    rests_on=_RESTS,
    expected="HOLDS ARGUED",
)

maximum = Claim(
    id="relu-approx/tuning-max",
    source="000, Section 5: the larger of delta(epsilon_1) and delta_hat(epsilon_1); the outer curve is not said",
    quote=_LARGER,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\hat\varepsilon = \varepsilon - m(e^{\varepsilon_1} - 1) - m\max(\delta, \hat\delta)(\varepsilon_1)"
              r" \text{ serves both}",
    words="the bound (5.1) with the larger delta(epsilon_1) covers the tuning of DP-SGD and of NoisyCGD",
    hypotheses=(),
    says=None,
    check=None,
    readings=("relu-approx/tuning-max-profile", "relu-approx/tuning-max-once", "relu-approx/tuning-max-both"),
    uses=("relu-approx/thm-5.1", "relu-approx/tuning-profiles"),
    expected="AMBIGUOUS ARGUED",
)

profile = Claim(
    id="relu-approx/tuning-max-profile",
    source="000, Section 5, read as: outer curve of NoisyCGD's Gaussian, for every delta (a profile)",
    quote=_LARGER,
    whose=Whose.READING,
    severity=Stake.PROOF,
    statement=r"m \max(\delta, \hat\delta)(0) + \varepsilon_{\mathrm{GDP}}(\delta/m) \ge m \hat\delta(0) +"
              r" \varepsilon_{\mathrm{SGD}}(\delta/m) \quad (\delta = 2 \cdot 10^{-9})",
    words="with NoisyCGD's outer curve the bound is what Theorem 5.1 gives DP-SGD, or more, at every delta, as at 2e-9",
    hypotheses=(),
    says=Fraction(1, 10**10),
    check=judge_maximum,
    flips=(Flip("at delta = 1e-5", _DELTA / _MEAN, Verdict.HOLDS),),
    repaired_by="relu-approx/tuning-max-both",
    rests_on=("relu-approx/thm-5.1-eps1",),
    expected="REFUTED PROVED",
)

once = Claim(
    id="relu-approx/tuning-max-once",
    source="000, Section 5, read as: outer curve of NoisyCGD's Gaussian, at the document's delta = 1e-5",
    quote=_LARGER,
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"m \max(\delta, \hat\delta)(0) + \varepsilon_{\mathrm{GDP}}(\delta/m) \ge m \hat\delta(0) +"
              r" \varepsilon_{\mathrm{SGD}}(\delta/m) \quad (\delta = 10^{-5})",
    words="with NoisyCGD's outer curve the bound is what Theorem 5.1 gives DP-SGD, or more, at delta = 1e-5",
    hypotheses=(),
    says=_DELTA / _MEAN,
    check=judge_maximum,
    flips=(Flip("at delta = 2e-9", Fraction(1, 10**10), Verdict.REFUTED),),
    true_variants={"* %*": "the bound covers DP-SGD at nearby deltas, too"},
    rests_on=("relu-approx/thm-5.1", "relu-approx/thm-5.1-eps1", *_RESTS),
    expected="HOLDS ARGUED",
)

both_curves = Claim(
    id="relu-approx/tuning-max-both",
    source="000, Section 5, read as: the larger of both curves inside (5.1) and outside",
    quote=_LARGER,
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"H_{e^\varepsilon}(A \| A') \le m \max(\delta, \hat\delta)(\hat\varepsilon) \text{ for both methods}",
    words="with the larger of both curves, inside and outside, (5.1) bounds the tuning of any two methods",
    hypotheses=(positive("m"), real("growth", "e^epsilon_1").at_least(1)),
    says=lambda first, second: (first + second + abs(first - second)) / 2,
    check=judge_both,
    flips=(Flip("the smaller one", lambda first, second: (first + second - abs(first - second)) / 2, Verdict.REFUTED),),
    true_variants={"any growth": "e^epsilon_1 - 1 is the same for all three and drops out"},
    rests_on=("relu-approx/thm-5.1",),
    expected="HOLDS ARGUED",
)

equal = Claim(
    id="relu-approx/tuning-equal-final",
    source="000, Section 6.1: equal final guarantees for both tuning algorithms",
    quote=(
        r"which leads to equal final $(\varepsilon,\delta)$ -DP guarantees for the hyperparameter tuning algorithms"
    ),
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\varepsilon_{\mathrm{tuned}} = 4.284\ (\sigma = 15),\ 13.104\ (\sigma = 5) \text{ for both methods}",
    words="bases with equal (epsilon, 1e-5) are tuned at equal cost, 4.284 and 13.104 by Theorem 5.1 with m = 20",
    hypotheses=(),
    says={15: "4.284", 5: "13.104"},
    check=judge_equal,
    flips=(Flip("the printed 2.88 and 8.91", {15: "2.88", 5: "8.91"}, Verdict.REFUTED),),
    uses=("relu-approx/thm-5.1", "relu-approx/tuning-profiles"),
    rests_on=("relu-approx/thm-5.1", "relu-approx/thm-5.1-eps1", *_RESTS),
    expected="HOLDS ARGUED",
)

matching = Claim(
    id="relu-approx/tuning-lambda",
    source="000, Sections 5 and 6.1: lambda is adjusted so that NoisyCGD has DP-SGD's (1.33, 1e-5) and (4.76, 1e-5)",
    quote=(
        "To have similar privacy guarantees for the base models trained using NoisyCGD, we adjust the "
        r"regularization constant $\lambda$ accordingly (as depicted in Section 5)"
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{NoisyCGD}} = 1.33\ (\sigma = 15),\ 4.76\ (\sigma = 5) \text{ at } \eta\lambda ="
              r" 5.606 \cdot 10^{-5},\ 3.757 \cdot 10^{-5} \quad (k = 60)",
    words="eta lambda = 5.606e-5 or 3.757e-5 on MNIST, 1.099e-4 or 9.392e-5 on CIFAR-10, gives NoisyCGD 1.33 or 4.76",
    hypotheses=(),
    says=_MATCHED,
    check=judge_match,
    flips=(
        Flip("1.5 on MNIST", {(15, 60): ("1.5", "1e-9")}, Verdict.REFUTED),
        Flip("0.4", {(15, 60): ("0.4", "0.999")}, Verdict.REFUTED),
    ),
    uses=("relu-approx/thm-2.8-formula", "relu-approx/tuning-monotone"),
    rests_on=("relu-approx/thm-2.8-formula", "relu-approx/tuning-monotone"),
    expected="HOLDS ARGUED",
)

constant = Claim(
    id="relu-approx/tuning-c",
    source="000, Section 5: we fix the value of the constant c = eta lambda for NoisyCGD",
    quote=_NAME,
    whose=Whose.PRINTED,
    statement=r"c = \eta\lambda",
    words="the constant c that tuning fixes is eta lambda",
    hypotheses=(),
    says=None,
    check=None,
    readings=("relu-approx/tuning-c-reading-name", "relu-approx/tuning-c-reading-theorem"),
    expected="AMBIGUOUS CITED",
)

theorem_constant = Claim(
    id="relu-approx/tuning-c-reading-theorem",
    source="000, Section 5, c read as the constant of Theorem 2.8",
    quote=_NAME,
    whose=Whose.READING,
    statement=r"\max\{|1-\eta\lambda|, |1-\eta\beta|\} = \eta\lambda",
    words="the constant c of Theorem 2.8 is eta lambda",
    hypotheses=_PRODUCTS,
    says=lambda product: product,
    check=judge_constant,
    flips=(Flip("1 - eta lambda", lambda product: 1 - product, Verdict.HOLDS),),
    repaired_by="relu-approx/tuning-c-repaired",
    expected="REFUTED PROVED",
)

constant_repaired = Claim(
    id="relu-approx/tuning-c-repaired",
    source="000, Section 5, with Theorem 2.8's c for eta beta <= 1",
    statement=r"c = 1 - \eta\lambda \quad (\eta\lambda \le \eta\beta \le 1)",
    words="the constant c of Theorem 2.8 is 1 - eta lambda, for eta beta <= 1",
    hypotheses=_PRODUCTS,
    says=lambda product: 1 - product,
    check=judge_constant,
    flips=(Flip("eta lambda", lambda product: product, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)

determined = Claim(
    id="relu-approx/lambda-from-eta",
    source="000, Section 6: the grid of step sizes determines the lambdas, for eta beta <= 1",
    quote=r"a grid of learning rate candidates those will also determine the values of $\lambda$ 's as well.",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\lambda = (1 - c)/\eta \quad (\eta\beta \le 1)",
    words="the constant c and the step size determine lambda, as (1 - c)/eta, for eta beta <= 1",
    hypotheses=(*_PRODUCTS, positive("eta")),
    says=lambda c, eta: (1 - c) / eta,
    check=judge_determined,
    flips=(Flip("c/eta, as if c were eta lambda", lambda c, eta: c / eta, Verdict.REFUTED),),
    uses=("relu-approx/tuning-monotone", "relu-approx/thm-2.8-c"),
    rests_on=("relu-approx/tuning-c-repaired",),
    expected="HOLDS PROVED",
)
