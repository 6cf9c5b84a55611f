r"""How document 000 sets up its tuning (end of Section 5, Section 6): equal bases for DP-SGD and NoisyCGD.

DP-SGD has an epsilon* at delta* = 1e-5; NoisyCGD's lambda is chosen so that it has the same; the two curves are then
taken for those of one Gaussian mechanism. At the document's settings this is right to five digits: the curve of 24,000
sampled steps by the pair (2.3), certified, against the Gaussian curve through (epsilon*, 1e-5).

What the text calls c = eta lambda is, in Theorem 2.8, c = 1 - eta lambda.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from oracle.engines.gaussian_curve import epsilon_of_mu
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.relu_approx.experiments.figure_1 import noisy_cgd_epsilon
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

_DELTA, _MEAN, _STEPS, _RATE = Fraction(1, 10**5), 20, 24_000, Fraction(1, 60)
_SIGMAS = (15, 5)


def sgd_epsilon(sigma: int, delta: Fraction) -> Enclosure:
    """DP-SGD on MNIST by the pair (2.3), certified."""
    return bound("poisson-gaussian.epsilon").reference(
        sigma=sigma, sampling_rate=_RATE, steps=_STEPS, delta=delta, neighbours="replace"
    )


def sgd_distance(sigma: int) -> Enclosure:
    """Its total variation distance, delta(0)."""
    return bound("poisson-gaussian.delta").reference(
        sigma=sigma, sampling_rate=_RATE, steps=_STEPS, epsilon=0, neighbours="replace"
    )


def matched_mu(sigma: int) -> Fraction:
    """mu of the Gaussian curve through DP-SGD's (epsilon*, 1e-5), to 15 digits."""
    star = sgd_epsilon(sigma, _DELTA).upper.to_fraction()
    noise = bound("gaussian.sigma").reference(epsilon=star, delta=_DELTA, sensitivity=1)
    return Fraction(int(10**15 / noise.lower.to_fraction()), 10**15)


def gaussian_side(mu: Fraction, delta: Fraction) -> Enclosure:
    """The Gaussian curve's epsilon."""
    return epsilon_of_mu(lambda: ball(mu), delta, Fraction(1, 10**12))


def judge_profiles(tolerance: Fraction, given: Domain) -> Finding:
    """Whether the two curves' epsilons differ by at most the tolerance at other deltas than 1e-5."""
    deltas, shown = tuple(Fraction(v) for v in ("1/1000", "5e-7", "1e-9")), []
    with ctx.workprec(100):
        for sigma in _SIGMAS:
            mu = matched_mu(sigma)
            for delta in deltas:
                gap = Enclosure.of_ball(abs(sgd_epsilon(sigma, delta).ball - gaussian_side(mu, delta).ball))
                if not gap.possibly_le(tolerance):
                    return refuted(
                        "the curves are farther apart, certified",
                        {"sigma": str(sigma), "delta": f"{float(delta):g}", "difference of epsilons": str(gap),
                         "tolerance": f"{float(tolerance):g}"},
                    )
                shown.append(f"sigma = {sigma}, delta = {float(delta):g}: {gap.to_floats()[1]:.1e}")
    return at_points(
        "; ".join(shown),
        Scope("points", len(shown), len(shown), {"sigma": "15, 5", "delta": "1e-3, 5e-7, 1e-9", "T": "24000"}),
    )


def judge_maximum(choose: Callable[[arb, arb], arb], given: Domain) -> Finding:
    """Whether m choose(delta, delta_hat) + epsilon_Gaussian(delta/m), at epsilon_1 = 0, covers both methods' tuning."""
    shown = []
    with ctx.workprec(100):
        for sigma in _SIGMAS:
            mu, share = matched_mu(sigma), _DELTA / _MEAN
            distances = (ball(mu) / arb(8).sqrt()).erf(), sgd_distance(sigma).ball
            rests = gaussian_side(mu, share).ball, sgd_epsilon(sigma, share).ball
            claimed = _MEAN * choose(*distances) + rests[0]
            for name, distance, rest in zip(("NoisyCGD", "DP-SGD"), distances, rests, strict=True):
                needed = _MEAN * distance + rest
                if needed > claimed:
                    return refuted(
                        "Theorem 5.1 needs more for this method, certified",
                        {"sigma": str(sigma), "method": name, "claimed": claimed.str(12), "needed": needed.str(12)},
                    )
                if not needed <= claimed + ball(Fraction(1, 10**10)):
                    return undecided("the enclosures overlap", 2)
            shown.append(f"sigma = {sigma}: {claimed.str(7, radius=False)}")
    return at_points("; ".join(shown), Scope("points", 2, 2, {"sigma": "15, 5", "m": "20", "delta": "1e-5"}))


def judge_match(targets: Mapping[tuple[int, int], str], given: Domain) -> Finding:
    """Whether some eta lambda in [0, 1] gives NoisyCGD that epsilon at 400 epochs, by (sigma, batches)."""
    shown = []
    for (sigma, batches), text in targets.items():
        ratio, target = Fraction(2, sigma), Fraction(text)
        most = noisy_cgd_epsilon("0", ratio, batches, 400)
        least = gaussian_side(ratio, _DELTA)  # c = 0: one step's mu
        if not least.possibly_le(target) or most.upper.compare(target) < 0:
            return refuted(
                "outside what regularisation can reach, certified",
                {"sigma": str(sigma), "batches": str(batches), "epsilon": text, "at c = 0": str(least),
                 "at c = 1": str(most)},
            )
        if not least.certainly_le(target) or most.lower.compare(target) < 0:
            return undecided(f"{target} lies within {least} or {most}", 1)
        low, high = Fraction(0), Fraction(1, 1000)
        for _ in range(16):
            middle = (low + high) / 2
            above = not noisy_cgd_epsilon(str(middle), ratio, batches, 400).possibly_le(target)
            low, high = (middle, high) if above else (low, middle)
        shown.append(f"sigma = {sigma}, {batches} batches, {text}: eta lambda = {float(high):.3g}")
    return proof(argued(
        "epsilon is continuous in c and takes smaller and larger values; "
        + "; ".join(shown)
    ))


def judge_constant(constant: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the c that tuning fixes is the c of Theorem 2.8, max(|1 - eta lambda|, |1 - eta beta|), eta beta <= 1."""
    for product in (Fraction(1, 4), Fraction(1, 2), Fraction(1, 10**4)):
        true = max(abs(1 - product), abs(1 - Fraction(1)))  # eta beta = 1
        if constant(product) != true:
            return refuted(
                "not the constant of Theorem 2.8",
                {"eta lambda": str(product), "eta beta": "1", "claimed c": str(constant(product)), "c": str(true)},
            )
    product = sympy.symbols("x", positive=True)
    if sympy.expand(constant(product) - (1 - product)) != 0:
        return undecided("at points", 3)
    return proof(argued("|1 - eta beta| <= 1 - eta lambda for eta lambda <= eta beta <= 1"))


_SETTING = (positive("sigma"), positive_integer("batches"), probability("delta"))
_TARGETS = {(15, 60): "1.33", (5, 60): "4.76", (15, 50): "1.33", (5, 50): "4.76"}

profiles = Claim(
    id="relu-approx/tuning-profiles",
    source="000, Section 5: DP-SGD's curves are approximately those of the Gaussian mechanism (Sommer et al. 2019)",
    quote=(
        "we use the fact that DP-SGD privacy profiles are approximately those of the Gaussian mechanism for "
        "large compositions (Sommer et al., 2019)"
    ),
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"|\varepsilon_{\mathrm{SGD}}(\delta) - \varepsilon_{\mathrm{GDP}(\mu^*)}(\delta)| \le 10^{-3}",
    words="at the document's settings DP-SGD's epsilons are those of a Gaussian mechanism, within 0.001",
    hypotheses=_SETTING,
    says=Fraction(1, 1000),
    check=judge_profiles,
    flips=(Flip("within 1e-7", Fraction(1, 10**7), Verdict.REFUTED),),
    uses=("relu-approx/lem-2.6", "relu-approx/thm-2.4"),
    rests_on=("relu-approx/lem-2.6-repaired", "relu-approx/thm-2.4"),
    expected="HOLDS CHECKED_AT_POINTS",
)

maximum = Claim(
    id="relu-approx/tuning-max",
    source="000, Section 5: the larger of delta(epsilon_1) and delta_hat(epsilon_1) bounds the tuning of both methods",
    quote=(
        r"Taking the maximum of $\delta(\varepsilon_1)$ and $\widehat{\delta}(\varepsilon_1)$ for the "
        r"evaluation of $\widehat{\varepsilon}$ in the bound of Eq. (5.1) will then give a privacy profile that "
        "bounds the DP-guarantees of the hyperparameter tuning of both DP-SGD and NoisyCGD."
    ),
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\hat\varepsilon = \varepsilon - m(e^{\varepsilon_1} - 1) - m\max(\delta, \hat\delta)(\varepsilon_1)"
              r" \text{ serves both}",
    words="at the document's settings the bound with the larger delta(epsilon_1) covers DP-SGD and NoisyCGD",
    hypotheses=_SETTING,
    says=lambda first, second: first.max(second),
    check=judge_maximum,
    flips=(Flip("the smaller one", lambda first, second: first.min(second), Verdict.REFUTED),),
    uses=("relu-approx/thm-5.1", "relu-approx/tuning-profiles"),
    rests_on=("relu-approx/thm-5.1", "relu-approx/thm-5.1-eps1"),
    expected="HOLDS CHECKED_AT_POINTS",
)

matching = Claim(
    id="relu-approx/tuning-lambda",
    source="000, Sections 5 and 6.1: lambda is adjusted so that NoisyCGD has DP-SGD's (1.33, 1e-5) and (4.76, 1e-5)",
    quote=(
        "To have similar privacy guarantees for the base models trained using NoisyCGD, we adjust the "
        r"regularization constant $\lambda$ accordingly (as depicted in Section 5)"
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\exists\, \eta\lambda:\ \varepsilon_{\mathrm{NoisyCGD}} = 1.33\ (\sigma = 15),\ 4.76\ (\sigma = 5)",
    words="some regularisation gives NoisyCGD the base epsilons 1.33 and 4.76, on MNIST and on CIFAR-10",
    hypotheses=_SETTING,
    says=_TARGETS,
    check=judge_match,
    flips=(
        Flip("1.5 on MNIST", {(15, 60): "1.5"}, Verdict.REFUTED), Flip("0.4", {(15, 60): "0.4"}, Verdict.REFUTED),
    ),
    uses=("relu-approx/thm-2.8-formula", "relu-approx/tuning-monotone"),
    rests_on=("relu-approx/thm-2.8-formula",),
    expected="HOLDS ARGUED",
)

constant = Claim(
    id="relu-approx/tuning-c",
    source="000, Section 5: we fix the value of the constant c = eta lambda for NoisyCGD",
    quote=r"Then, we fix the value of the constant $c=\eta\cdot\lambda$ for NoisyCGD",
    whose=Whose.READING,
    statement=r"c = \eta\lambda",
    words="the constant c of Theorem 2.8 is eta lambda",
    hypotheses=(positive("eta_lam"),),
    says=lambda product: product,
    check=judge_constant,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"c = 1 - \eta\lambda \quad (\eta\beta \le 1)",
        words="the constant c of Theorem 2.8 is 1 - eta lambda, for eta beta <= 1",
        says=lambda product: 1 - product,
        expected="HOLDS ARGUED",
        source="000, Section 5, with Theorem 2.8's c for eta beta <= 1",
    ),
)
