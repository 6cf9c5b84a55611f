r"""Figure 1 of document 000, from first principles: NoisyCGD's epsilons, DP-SGD's, and where they cross.

N = 60,000, b = 1000 (k = 60 batches), sigma = 15, delta = 1e-5, up to 400 epochs. The document plots curves and prints
no values; the register's table has the values that Theorem 2.8 gives with sensitivity L = 2C and the noise of (2.2).
With the noise of (2.4) taken literally (N(0, sigma^2) on the mean gradient) epsilon would be below 0.001: that cannot
be the figure, whose axis runs from 0.2 to 1.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Number, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from oracle.engines.gaussian_curve import epsilon_of_mu
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.certified_tables import all_round
from theorems.tools.cyclic_value import squared
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, computed, instance, proof, refuted, undecided

_DELTA = Fraction(1, 10**5)
_WIDTH = Fraction(1, 10**9)

# (eta lambda, sigma, batches k, epochs E) -> what the register prints
_TABLE: Mapping[tuple[str, int, int, int], str] = {
    ("5.4e-5", 15, 60, 400): "1.3357", ("5.4e-5", 5, 60, 400): "4.6113",
    ("5.4e-5", 15, 50, 400): "1.4837", ("5.4e-5", 5, 50, 400): "5.1514",
    ("1e-4", 15, 60, 400): "1.1963", ("1e-4", 5, 60, 400): "4.1076",
    ("1e-4", 15, 50, 400): "1.3589", ("1e-4", 5, 50, 400): "4.6957",
    ("2e-4", 15, 60, 400): "0.9526", ("2e-4", 5, 60, 400): "3.2395",
    ("2e-4", 15, 50, 400): "1.1012", ("2e-4", 5, 50, 400): "3.7670",
    ("0", 15, 60, 400): "1.4212", ("0", 5, 60, 400): "4.9226",
    ("0", 15, 50, 400): "1.5531", ("0", 5, 50, 400): "5.4064",
    **{
        (drop, 15, 60, epochs): text
        for drop, texts in {
            "5.4e-5": ".4661 .6446 .7903 1.0208 1.1979", "1e-4": ".4661 .6434 .7842 .9881 1.1176",
            "2e-4": ".4661 .6392 .7622 .8923 .9381",
        }.items()
        for epochs, text in zip((1, 50, 100, 200, 300), texts.split(), strict=True)
    },
}


def noisy_cgd_epsilon(drop: str, ratio: Fraction, batches: int, epochs: int) -> Enclosure:
    """Epsilon at delta = 1e-5 by the formula of Theorem 2.8 with c = 1 - drop and L/(b sigma) = ratio, in balls."""
    def mu() -> arb:
        c = 1 - ball(Fraction(drop))
        if Fraction(drop) == 0:
            return ball(ratio) * (1 + ball(Fraction(epochs - 1, batches))).sqrt()
        return ball(ratio) * arb(squared(c, c**batches, c ** (batches * (epochs - 1)))).sqrt()

    with ctx.workprec(128):
        return epsilon_of_mu(mu, _DELTA, _WIDTH)


def judge_table(table: Mapping[tuple[str, int, int, int], str], given: Domain) -> Finding:
    """Whether every entry is the rounded epsilon; the formula here and the registered bound must overlap."""
    entries = []
    for (drop, sigma, batches, epochs), text in table.items():
        value = noisy_cgd_epsilon(drop, Fraction(2, sigma), batches, epochs)
        registered = bound("noisy-cgd.epsilon").reference(
            sensitivity=2, batch_size=1, noise_on_mean=sigma, contraction=1 - Fraction(drop), batches=batches,
            epochs=epochs, delta=_DELTA,
        )
        if not value.overlaps(registered):
            return undecided("formula and registered bound differ", len(table))
        entries.append(({"eta lambda": drop, "sigma": sigma, "batches": batches, "epochs": epochs}, value, text))
    return all_round(entries, f"all {len(table)} entries certified to their last digit")


def dp_sgd_epsilon(
    sigma: Number, *, batches: int = 60, epochs: int = 400, delta: Number = _DELTA, neighbours: str = "replace"
) -> Enclosure:
    """DP-SGD's epsilon, certified; under substitution by the document's own pair (2.3)."""
    return bound("poisson-gaussian.epsilon").reference(
        sigma=sigma, sampling_rate=Fraction(1, batches), steps=batches * epochs, delta=delta, neighbours=neighbours
    )


def judge_crossing(drops: tuple[str, ...], given: Domain) -> Finding:
    """Whether at 400 epochs NoisyCGD's epsilon is below DP-SGD's for each eta lambda."""
    sampled = dp_sgd_epsilon(15)
    values = {drop: noisy_cgd_epsilon(drop, Fraction(2, 15), 60, 400) for drop in drops}
    for drop, value in values.items():
        if not value.possibly_le(sampled):
            return refuted(
                "NoisyCGD's epsilon is above DP-SGD's, certified (and above 1.33, which the text prints for DP-SGD)",
                {"eta lambda": drop, "NoisyCGD": str(value), "DP-SGD, pair (2.3)": str(sampled)},
            )
        if not value.certainly_le(sampled):
            return undecided("the enclosures overlap", len(drops))
    return instance(
        "; ".join(f"eta lambda = {drop}: {value}" for drop, value in values.items()) + f"; DP-SGD: {sampled}"
    )


def judge_scale(reading: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether a reading of sigma gives L/(b s) for L = 2C, s = C sigma/b, and epsilons that Figure 1 can show."""
    ratio = reading(Fraction(15), Fraction(1000))
    values = {drop: noisy_cgd_epsilon(drop, ratio, 60, 400) for drop in ("5.4e-5", "1e-4", "2e-4")}
    shown = {
        drop: value.lower.compare(Fraction(1, 10)) >= 0 and value.certainly_le(Fraction(2))
        for drop, value in values.items()
    }
    for drop, value in values.items():
        if not shown[drop]:
            return refuted(
                "the curve is far off the figure, whose axis is marked from 0.2 to 1.2",
                {"eta lambda": drop, "L/(b sigma)": ratio, "epsilon at 400 epochs": value},
            )
    points = list(given.points("sigma", "batch_size"))
    for point in points:
        sigma, batch = point["sigma"], point["batch_size"]
        if reading(sigma, batch) != Fraction(2) / (batch * (sigma / batch)):
            return refuted(
                "not what (2.2) gives",
                {"sigma": sigma, "b": batch, "C": 1, "2C/(b C sigma/b)": 2 / sigma, "claimed": reading(sigma, batch)},
            )
    clip, sigma, batch = sympy.symbols("C", positive=True), given.symbol("sigma"), given.symbol("batch_size")
    return proof(
        computed("2C/(b C sigma/b) is the claimed ratio for all C, sigma and b, which are positive",
                 vanishes(2 * clip / (batch * (clip * sigma / batch)) - reading(sigma, batch))
                 and sigma.is_positive and batch.is_positive),
        computed("at sigma = 15 the curves end between 0.1 and 2, as in the figure: "
                 + ", ".join(f"{drop}: {value}" for drop, value in values.items()), all(shown.values())),
        tried=len(points),
    )


figure_1 = Claim(
    id="relu-approx/fig-1-noisycgd",
    source="the register's values of Theorem 2.8's formula, L = 2C, at the settings of 000 (Figure 1 prints none)",
    statement=r"\varepsilon_{\mathrm{NoisyCGD}}(\eta\lambda, \sigma, k, E)\text{ at } \delta = 10^{-5}",
    words="NoisyCGD's epsilons by Theorem 2.8 are those of the register's table, 31 entries",
    hypotheses=(),
    says=_TABLE,
    check=judge_table,
    flips=(Flip("one entry's last digit changed", {**_TABLE, ("1e-4", 15, 60, 400): "1.1964"}, Verdict.REFUTED),),
    uses=("relu-approx/thm-2.8-formula", "relu-approx/thm-2.8-c"),
    expected="HOLDS PROVED",
)

crossing = Claim(
    id="relu-approx/fig-1-crossing",
    source="000, Figure 1 and its caption",
    quote=(
        r"Figure 1: Values of the product of the learning rate $\eta$ and the $L_2$ -regularization constant "
        r"$\lambda$ that lead to tighter privacy bounds for the final model using Thm. 2.8 than for the whole "
        "sequence of updates using the DP-SGD analysis."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{NoisyCGD}} < \varepsilon_{\mathrm{DP\text{-}SGD}}"
              r" \text{ at } E = 400,\ \eta\lambda \in \{5.4, 10, 20\} \cdot 10^{-5}",
    words="at 400 epochs NoisyCGD's epsilon is below DP-SGD's for each of the figure's three eta lambda",
    hypotheses=(),
    says=("5.4e-5", "1e-4", "2e-4"),
    check=judge_crossing,
    flips=(Flip("without 5.4e-5", ("1e-4", "2e-4"), Verdict.HOLDS),),
    uses=("relu-approx/thm-2.8-formula", "relu-approx/lem-2.6", "relu-approx/thm-2.4"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\varepsilon_{\mathrm{NoisyCGD}} < \varepsilon_{\mathrm{DP\text{-}SGD}}"
                  r" \text{ at } E = 400,\ \eta\lambda \in \{6.1, 10, 20\} \cdot 10^{-5}",
        words="at 400 epochs NoisyCGD's epsilon is below DP-SGD's for eta lambda = 6.1e-5, 1e-4 and 2e-4",
        says=("6.1e-5", "1e-4", "2e-4"),
        expected="HOLDS ARGUED",
        source="000, Figure 1, with 6.1e-5 for 5.4e-5",
        flips=(Flip("6e-5 as well", ("6e-5", "1e-4"), Verdict.REFUTED),),
        rests_on=("relu-approx/thm-2.8-formula", "relu-approx/lem-2.6-repaired", "relu-approx/thm-2.4"),
        true_variants={"*a digit more": "a larger eta lambda only lowers NoisyCGD's epsilon",
                       "[[]2] a digit less": "1e-4, which holds, too"},
    ),
)

_NOISE = (
    r"where $Z_j \sim \mathcal{N}(0, \sigma^2 I_d)$ and the data D, |D| = n, is divided into disjoint "
    "batches"
)
_SCALE = (positive("sigma"), positive_integer("batch_size"))

sigma_entry = Claim(
    id="relu-approx/thm-2.8-sigma",
    source="000, equations (2.2) and (2.4), Theorem 2.8 and Figure 1: which noise has sigma = 15.0",
    quote=_NOISE,
    whose=Whose.PRINTED,
    statement=r"\sigma = 15.0 \text{ of Figure 1}",
    words="the sigma = 15.0 of Figure 1 is the sigma of Theorem 2.8, or the multiplier of (2.2): the text fits both",
    hypotheses=(),
    says=None,
    check=None,
    readings=("relu-approx/thm-2.8-sigma-reading-mean", "relu-approx/thm-2.8-sigma-repaired"),
    uses=("relu-approx/fig-1-noisycgd",),
    expected="AMBIGUOUS PROVED",
)

sigma_of_mean = Claim(
    id="relu-approx/thm-2.8-sigma-reading-mean",
    source="000, (2.4) and Figure 1, read: sigma = 15.0 is the deviation of the noise on the mean gradient",
    quote=_NOISE,
    whose=Whose.READING,
    statement=r"\frac{L}{b\sigma} = \frac{2}{1000 \cdot 15}",
    words="the sigma = 15.0 of Figure 1 is that of (2.4) and Theorem 2.8, with L = 2C, C = 1 and b = 1000",
    hypotheses=_SCALE,
    says=lambda sigma, batch: 2 / (batch * sigma),
    check=judge_scale,
    flips=(Flip("the multiplier of (2.2)", lambda sigma, batch: 2 / sigma, Verdict.HOLDS),),
    repaired_by="relu-approx/thm-2.8-sigma-repaired",
    uses=("relu-approx/fig-1-noisycgd",),
    expected="REFUTED PROVED",
)

sigma_of_sum = Claim(
    id="relu-approx/thm-2.8-sigma-repaired",
    source="000, Theorem 2.8 with the noise of (2.2): standard deviation C sigma / b, L = 2C",
    quote=_NOISE,
    whose=Whose.READING,
    statement=r"\frac{L}{b\,(C\sigma/b)} = \frac{2}{\sigma}",
    words="with sigma in units of C/b, as in (2.2), and L = 2C, L/(b sigma) is 2/sigma: Figure 1's curves fit its axis",
    hypotheses=_SCALE,
    says=lambda sigma, batch: 2 / sigma,
    check=judge_scale,
    flips=(
        Flip("ten times the noise", lambda sigma, batch: Fraction(1, 5) / sigma, Verdict.REFUTED),
        Flip("2.00002/sigma, which the axis does not tell apart", lambda sigma, batch: Fraction("2.00002") / sigma,
             Verdict.REFUTED),
    ),
    rests_on=("relu-approx/fig-1-noisycgd",),
    expected="HOLDS PROVED",
)
