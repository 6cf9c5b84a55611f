r"""From which epoch on NoisyCGD's guarantee is better than DP-SGD's (document 000, Sections 1 and 2.2, Figure 1).

Both at b = 1000, N = 60,000, sigma = 15, delta = 1e-5 under substitution: Theorem 2.8 with L/(b sigma) = 2/15 and
c = 1 - eta lambda against 60 E Poisson-sampled steps by the pair (2.3). At E = 1 the former does not depend on c.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from oracle.core.enclosure import Enclosure
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Stake, Whose, citing
from theorems.given import Domain
from theorems.relu_approx.experiments.figure_1 import noisy_cgd_epsilon
from theorems.verdict import Finding, Verdict, instance, refuted, undecided

_EPOCHS = 400


def sampled(epochs: int) -> Enclosure:
    """DP-SGD's epsilon after so many epochs, certified."""
    return bound("poisson-gaussian.epsilon").reference(
        sigma=15, sampling_rate=Fraction(1, 60), steps=60 * epochs, delta=Fraction(1, 10**5), neighbours="replace"
    )


def below(drop: str, epochs: int) -> bool | None:
    """Whether NoisyCGD's epsilon is below DP-SGD's after so many epochs; None where the enclosures overlap."""
    noisy, other = noisy_cgd_epsilon(drop, Fraction(2, 15), 60, epochs), sampled(epochs)
    if noisy.certainly_le(other):
        return True
    return None if noisy.possibly_le(other) else False


def judge_first(says: Mapping[str, int], given: Domain) -> Finding:
    """Whether NoisyCGD is worse one epoch before these and better from there, by eta lambda, and at 400 epochs."""
    for drop, first in says.items():
        for epochs, wanted in ((first - 1, False), (first, True), (_EPOCHS, first <= _EPOCHS)):
            found = below(drop, epochs)
            if found is None:
                return undecided("the enclosures overlap", 1)
            if found is not wanted:
                return refuted(
                    f"NoisyCGD is {'better' if found else 'worse'} there, certified",
                    {"eta lambda": drop, "epochs": epochs, "claimed first epoch": first,
                     "NoisyCGD": noisy_cgd_epsilon(drop, Fraction(2, 15), 60, epochs), "DP-SGD": sampled(epochs)},
                )
    return instance("certified one epoch before, at it, and at 400") if says else undecided("nothing is claimed", 1)


def judge_start(says: int, given: Domain) -> Finding:
    """Whether after so many epochs NoisyCGD is still worse, at the three eta lambda of Figure 1."""
    for drop in ("2e-4", "1e-4", "5.4e-5"):
        found = below(drop, says)
        if found is None:
            return undecided("the enclosures overlap", 1)
        if found:
            return refuted("NoisyCGD is better", {"eta lambda": drop, "epochs": says})
    return instance("worse at all three eta lambda, certified")


first_epoch = Claim(
    id="relu-approx/fig-1-first-epoch",
    source="000, Section 2.2 and Figure 1: where the guarantees become smaller than DP-SGD's; the epochs are ours",
    quote=(
        r"where the $(\varepsilon,\delta)$ -DP guarantees given by Thm. 2.8 become smaller than those given by the "
        r"Poisson subsampled DP-SGD with an equal batch size b=1000 when $\sigma=15.0$ when training for 400 epochs."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{NoisyCGD}}(E) < \varepsilon_{\mathrm{SGD}}(E) \text{ from } E = 294\ (\eta\lambda"
              r" = 10^{-4}),\ 196\ (2 \cdot 10^{-4})",
    words="at eta lambda = 1e-4 NoisyCGD's bound falls below DP-SGD's at epoch 294, at 2e-4 at epoch 196",
    hypotheses=(),
    says={"1e-4": 294, "2e-4": 196},
    check=judge_first,
    flips=(Flip("within 400 epochs at 5.4e-5", {"5.4e-5": 400}, Verdict.REFUTED),
           Flip("at epoch 430 at 5.4e-5", {"5.4e-5": 430}, Verdict.HOLDS)),
    rests_on=("relu-approx/thm-2.8-formula", "relu-approx/lem-2.6-repaired", "relu-approx/thm-2.4"),
    expected="HOLDS ARGUED",
)

many_iterations = Claim(
    id="relu-approx/intro-many-iterations",
    source="000, Section 1: iteration analyses need many iterations to beat DP-SGD; here at Figure 1's setting",
    quote=(
        "as it typically requires a large number of training iterations for obtaining tighter DP guarantees than those "
        "of DP-SGD"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{NoisyCGD}}(E) > \varepsilon_{\mathrm{SGD}}(E) \quad (E = 195)",
    words="at Figure 1's three eta lambda DP-SGD still has the better bound after 195 epochs, 11,700 iterations",
    hypotheses=(),
    says=195,
    check=judge_start,
    flips=(Flip("one epoch more", 196, Verdict.REFUTED),),
    rests_on=("relu-approx/thm-2.8-formula", "relu-approx/lem-2.6-repaired", "relu-approx/thm-2.4"),
    expected="HOLDS ARGUED",
)

performance = Claim(
    id="relu-approx/eta-lambda-performance",
    source="000, Section 2.2: eta lambda = 2e-4 affects the performance considerably, 1e-4 weakly",
    quote=(
        r"in experiments we observe that $\eta\lambda=2\cdot 10^{-4}$ is experimentally found to already affect the "
        "model performance considerably"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\text{accuracy}(\eta\lambda = 2 \cdot 10^{-4}) \ll \text{accuracy}(10^{-4}) \approx \text{accuracy}(0)",
    words="eta lambda = 2e-4 harms the model's accuracy considerably and 1e-4 weakly",
    hypotheses=(),
    says=None,
    check=citing(Verdict.NOT_CHECKABLE, "a training run on MNIST: neither its data nor its numbers are at hand"),
    expected="NOT_CHECKABLE CITED",
)

plateaus = Claim(
    id="relu-approx/plateaus-coincide",
    source="000, Section 2.2: accuracy and privacy guarantees plateau at about the same time",
    quote=(
        "We experimentally observe that the plateauing of the model accuracy and privacy guarantees happens "
        "approximately at the same time."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"E_{\mathrm{accuracy\ plateau}} \approx E_{\varepsilon\ \mathrm{plateau}}",
    words="the model's accuracy and its epsilon stop changing at about the same epoch",
    hypotheses=(),
    says=None,
    check=citing(
        Verdict.NOT_CHECKABLE,
        "the accuracies by epoch are not among the documents; how epsilon converges is relu-approx/forgetting",
    ),
    uses=("relu-approx/forgetting",),
    expected="NOT_CHECKABLE CITED",
)
