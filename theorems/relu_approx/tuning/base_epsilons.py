r"""The base epsilons of document 000's Section 6.1: (1.33, 1e-5) and (4.76, 1e-5), and what accounting gives.

b = 1000, 400 epochs, delta = 1e-5; MNIST has n = 60,000 (q = 1/60, T = 24,000), CIFAR-10 50,000 (q = 1/50, T = 20,000).
Every value is certified: the document's own pair (2.3), both relations at sensitivity 1 and 2, and the two central
limit formulas that appear in code for this paper's methods. None gives both printed numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from oracle.engines.gaussian_curve import epsilon_of_mu
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.tools.printed import rounds_to
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

_DELTA = Fraction(1, 10**5)
_MNIST, _CIFAR = 60, 50


def sampled(sigma: Fraction, *, neighbours: str, batches: int = _MNIST) -> Enclosure:
    """The certified epsilon of 400 epochs of Poisson-sampled Gaussian steps."""
    return bound("poisson-gaussian.epsilon").reference(
        sigma=sigma, sampling_rate=Fraction(1, batches), steps=400 * batches, delta=_DELTA, neighbours=neighbours
    )


def central_limit(sigma: Fraction, mu: Callable[[arb, arb], arb]) -> Enclosure:
    """The epsilon of a central-limit mu(q sqrt T, sigma); an approximation by its nature, here to 12 digits."""
    with ctx.workprec(128):
        scale = ball(Fraction(1, _MNIST)) * arb(400 * _MNIST).sqrt()
        return epsilon_of_mu(lambda: mu(scale, ball(sigma)), _DELTA, Fraction(1, 10**12))


ACCOUNTINGS: Mapping[str, Callable[[Fraction], Enclosure]] = {
    "substitution, the document's pair (2.3)": lambda sigma: sampled(sigma, neighbours="replace"),
    "add/remove, sensitivity 1": lambda sigma: sampled(sigma, neighbours="add_remove"),
    "add/remove, sensitivity 2": lambda sigma: sampled(sigma / 2, neighbours="add_remove"),
    "central limit, e^{4/s^2}": lambda sigma: central_limit(
        sigma, lambda scale, s: scale * ((4 / s**2).exp() - 1).sqrt()
    ),
    "central limit, 2 q sqrt(T (e^{1/s^2} - 1))": lambda sigma: central_limit(
        sigma, lambda scale, s: 2 * scale * ((1 / s**2).exp() - 1).sqrt()
    ),
}


def judge_values(printed: tuple[str, str], given: Domain) -> Finding:
    """Whether one accounting gives both printed epsilons, for sigma = 15 and sigma = 5."""
    table = {name: (of(Fraction(15)), of(Fraction(5))) for name, of in ACCOUNTINGS.items()}
    for name, values in table.items():
        if all(rounds_to(value, text) is True for value, text in zip(values, printed, strict=True)):
            return proof(argued(f"both numbers come from: {name}"))
    return refuted(
        "none of the five accountings gives both numbers, certified",
        {"printed": " and ".join(printed), **{
            name: " and ".join(f"{value.to_floats()[0]:.4f}" for value in values) for name, values in table.items()
        }},
    )


def judge_order(order: Mapping[int, str], given: Domain) -> Finding:
    """Whether more noise goes with the smaller epsilon, and each epsilon is within 0.3 of the certified one."""
    for sigma, text in order.items():
        value = sampled(Fraction(sigma), neighbours="replace")
        if not (value.lower.compare(Fraction(text) - Fraction(3, 10)) >= 0
                and value.certainly_le(Fraction(text) + Fraction(3, 10))):
            return refuted(
                "the epsilon that is printed for this sigma belongs to the other one",
                {"sigma": str(sigma), "printed": text, "epsilon by (2.3)": str(value)},
            )
    return proof(argued("each within 0.3 of the certified epsilon"))


def judge_guarantee(guarantees: Mapping[int, str], given: Domain) -> Finding:
    """Whether DP-SGD on MNIST is (epsilon, 1e-5)-DP for each sigma: the certified epsilon is at most the printed."""
    for sigma, text in guarantees.items():
        value = sampled(Fraction(sigma), neighbours="replace")
        if not value.certainly_le(Fraction(text)) and value.possibly_le(Fraction(text)):
            return undecided(f"{text} lies within {value}", 1)
        if not value.possibly_le(Fraction(text)):
            return refuted(
                "the pair (2.3), which a clipped gradient attains, needs "
                "a larger epsilon",
                {"sigma": str(sigma), "printed": text, "epsilon": str(value)},
            )
    return proof(argued("at least the certified epsilon of the pair (2.3)"))


def judge_cifar(values: tuple[str, str], given: Domain) -> Finding:
    """Whether DP-SGD on CIFAR-10, with the same sigma, b and epochs, has these epsilons."""
    for sigma, text in zip((15, 5), values, strict=True):
        value = sampled(Fraction(sigma), neighbours="replace", batches=_CIFAR)
        if rounds_to(value, text) is not True:
            return refuted(
                "n = 50,000 gives another epsilon, certified",
                {"sigma": str(sigma), "claimed": text, "epsilon": str(value)},
            )
    return proof(argued("certified to the last digit"))


def judge_factor(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether substitution's epsilon is that factor, up to the relative error, times that of add/remove."""
    factor, tolerance = says
    ratios = {}
    for sigma in (Fraction(5), Fraction(15)):
        both = [sampled(sigma, neighbours=relation) for relation in ("replace", "add_remove")]
        with ctx.workprec(80):
            ratios[sigma] = Enclosure.of_ball(both[0].ball / both[1].ball)
    for sigma, ratio in ratios.items():
        if not (ratio.certainly_le(factor * (1 + tolerance)) and ratio.lower.compare(factor * (1 - tolerance)) >= 0):
            return refuted(
                "the ratio is farther off",
                {"sigma": str(sigma), "ratio": str(ratio), "claimed": f"{factor} within {float(tolerance):.0%}"},
            )
    return at_points(
        "; ".join(f"sigma = {sigma}: {ratio}" for sigma, ratio in ratios.items()),
        Scope("points", 2, 2, {"sigma": "5, 15", "q": "1/60", "T": "24000", "delta": "1e-5"}),
    )


_SETTING = (positive("sigma"), probability("sampling_rate"), positive_integer("steps"))
_USES = ("relu-approx/lem-2.6", "relu-approx/thm-2.4")
_RESTS = ("relu-approx/lem-2.6-repaired", "relu-approx/thm-2.4")

order = Claim(
    id="relu-approx/eps-base",
    source="000, Section 6.1: sigma = 5 and sigma = 15 give (1.33, 1e-5) and (4.76, 1e-5), respectively",
    quote=(
        r"With the noise scale values $\sigma=5.0$ and $\sigma=15.0$ , the DP-SGD trained models are "
        "$(1.33,10^{-5})$ -DP and $(4.76,10^{-5})$ -DP, respectively."
    ),
    whose=Whose.TYPO,
    severity=Severity.PRIVACY,
    statement=r"\sigma = 5 \mapsto \varepsilon = 1.33,\quad \sigma = 15 \mapsto \varepsilon = 4.76",
    words="with sigma = 5 the models are (1.33, 1e-5)-DP and with sigma = 15 they are (4.76, 1e-5)-DP",
    hypotheses=_SETTING,
    says={5: "1.33", 15: "4.76"},
    check=judge_order,
    uses=_USES,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sigma = 15 \mapsto \varepsilon \approx 1.33,\quad \sigma = 5 \mapsto \varepsilon \approx 4.76",
        words="sigma = 15 goes with about 1.33 and sigma = 5 with about 4.76",
        says={15: "1.33", 5: "4.76"},
        expected="HOLDS ARGUED",
        source="000, Section 6.1, the two exchanged",
        rests_on=_RESTS,
    ),
)

values = Claim(
    id="relu-approx/eps-base-values",
    source="000, Section 6.1: the two epsilons",
    quote=(
        r"With the noise scale values $\sigma=5.0$ and $\sigma=15.0$ , the DP-SGD trained models are "
        "$(1.33,10^{-5})$ -DP and $(4.76,10^{-5})$ -DP, respectively."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\varepsilon(\sigma=15) = 1.33,\quad \varepsilon(\sigma=5) = 4.76 \quad (q = 1/60,\ T = 24000)",
    words="one of five accountings in use gives both base epsilons, 1.33 and 4.76",
    hypotheses=_SETTING,
    says=("1.33", "4.76"),
    check=judge_values,
    flips=(Flip("1.32 and 4.54", ("1.32", "4.54"), Verdict.HOLDS),),
    uses=_USES,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\varepsilon(\sigma=15) = 1.3171,\quad \varepsilon(\sigma=5) = 4.5429",
        words="the document's pair (2.3) gives the base epsilons 1.3171 and 4.5429",
        says=("1.3171", "4.5429"),
        expected="HOLDS ARGUED",
        source="000, Section 6.1, by the document's own pair (2.3)",
        flips=(Flip("1.3260 and 4.7849, of two different calls", ("1.3260", "4.7849"), Verdict.REFUTED),),
        rests_on=_RESTS,
    ),
)

valid = Claim(
    id="relu-approx/eps-base-valid",
    source="000, Section 6.1, as a guarantee: the models are (1.33, 1e-5)-DP and (4.76, 1e-5)-DP, sigma exchanged",
    quote=(
        r"With the noise scale values $\sigma=5.0$ and $\sigma=15.0$ , the DP-SGD trained models are "
        "$(1.33,10^{-5})$ -DP and $(4.76,10^{-5})$ -DP, respectively."
    ),
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\delta_{\sigma=15}(1.33) \le 10^{-5},\quad \delta_{\sigma=5}(4.76) \le 10^{-5}",
    words="as guarantees the two epsilons are right for DP-SGD on MNIST, 1.33 with sigma = 15 and 4.76 with sigma = 5",
    hypotheses=_SETTING,
    says={15: "1.33", 5: "4.76"},
    check=judge_guarantee,
    flips=(
        Flip("1.31 with sigma = 15", {15: "1.31", 5: "4.76"}, Verdict.REFUTED),
        Flip("as printed, 1.33 with sigma = 5", {5: "1.33", 15: "4.76"}, Verdict.REFUTED),
    ),
    uses=_USES,
    rests_on=_RESTS,
    expected="HOLDS ARGUED",
)

factor_two = Claim(
    id="relu-approx/addremove-factor-2",
    source="000, Section 6.2: approximately a multiplicative difference of 2 between the relations",
    quote=(
        "which can be compared using the fact that there is approximately a multiplicative difference of 2 "
        "between the two relations"
    ),
    whose=Whose.READING,
    statement=r"\varepsilon_{\mathrm{substitute}} \approx 2\, \varepsilon_{\mathrm{add/remove}}",
    words="substitution's epsilon is 2 times add/remove's, within a tenth, at the document's settings",
    hypotheses=_SETTING,
    says=(Fraction(2), Fraction(1, 10)),
    check=judge_factor,
    flips=(Flip("within a twentieth", (Fraction(2), Fraction(1, 20)), Verdict.REFUTED),),
    expected="HOLDS CHECKED_AT_POINTS",
)

cifar = Claim(
    id="relu-approx/eps-cifar",
    source="000, Table 2: the epsilons of Table 1 again, for CIFAR-10",
    quote=(
        r"With the noise scale values $\sigma=5.0$ and $\sigma=15.0$ , the DP-SGD trained models are "
        "$(1.33,10^{-5})$ -DP and $(4.76,10^{-5})$ -DP, respectively."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\varepsilon(n = 5 \cdot 10^4) = \varepsilon(n = 6 \cdot 10^4) \text{ at equal } \sigma, b, E",
    words="CIFAR-10, with n = 50,000, has the same base epsilons as MNIST with n = 60,000",
    hypotheses=_SETTING,
    says=("1.3171", "4.5429"),
    check=judge_cifar,
    uses=_USES,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\varepsilon(\sigma=15) = 1.4567,\quad \varepsilon(\sigma=5) = 5.0512",
        words="for CIFAR-10 the document's pair (2.3) gives the base epsilons 1.4567 and 5.0512",
        says=("1.4567", "5.0512"),
        expected="HOLDS ARGUED",
        source="000, Table 2, base epsilons with q = 1/50 and T = 20,000",
        rests_on=_RESTS,
    ),
)
