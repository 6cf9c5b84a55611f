r"""The base epsilons of document 000's Section 6.1: (1.33, 1e-5) and (4.76, 1e-5), and what accounting gives.

b = 1000, 400 epochs, delta = 1e-5; MNIST has n = 60,000 (q = 1/60, T = 24,000), CIFAR-10 50,000 (q = 1/50, T = 20,000).
Every value is certified: the document's own pair (2.3), both relations at sensitivity 1 and 2, and the two central
limit formulas that appear in code for this paper's methods. None gives both printed numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from flint import arb, ctx

from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import epsilon_of_mu
from theorems.claim import Checker, Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.certified_tables import all_round
from theorems.relu_approx.experiments.figure_1 import dp_sgd_epsilon
from theorems.tools.printed import rounds_to
from theorems.verdict import Finding, Verdict, instance, refuted, undecided

_DELTA = Fraction(1, 10**5)
_MNIST, _CIFAR = 60, 50


def central_limit(sigma: Fraction, mu: Callable[[arb, arb], arb]) -> Enclosure:
    """The epsilon of a central-limit mu(q sqrt T, sigma); an approximation by its nature, here to 12 digits."""
    with ctx.workprec(128):
        scale = ball(Fraction(1, _MNIST)) * arb(400 * _MNIST).sqrt()
        return epsilon_of_mu(lambda: mu(scale, ball(sigma)), _DELTA, Fraction(1, 10**12))


ACCOUNTINGS: Mapping[str, Callable[[Fraction], Enclosure]] = {
    "substitution, the document's pair (2.3)": dp_sgd_epsilon,
    "add/remove, sensitivity 1": lambda sigma: dp_sgd_epsilon(sigma, neighbours="add_remove"),
    "add/remove, sensitivity 2": lambda sigma: dp_sgd_epsilon(sigma / 2, neighbours="add_remove"),
    "central limit, e^{4/s^2}": lambda sigma: central_limit(
        sigma, lambda scale, s: scale * ((4 / s**2).exp() - 1).sqrt()
    ),
    "central limit, 2 q sqrt(T (e^{1/s^2} - 1))": lambda sigma: central_limit(
        sigma, lambda scale, s: 2 * scale * ((1 / s**2).exp() - 1).sqrt()
    ),
}


def guarantee(batches: int) -> Checker:
    """Whether DP-SGD is (epsilon, 1e-5)-DP for each sigma: the certified epsilon is at most the printed one."""
    def judge(guarantees: Mapping[int, str], given: Domain) -> Finding:
        for sigma, text in guarantees.items():
            value = dp_sgd_epsilon(sigma, batches=batches)
            if not value.possibly_le(Fraction(text)):
                return refuted(
                    "the pair (2.3), which a clipped gradient attains, needs a larger epsilon",
                    {"sigma": sigma, "batches": batches, "printed": text, "epsilon": value},
                )
            if not value.certainly_le(Fraction(text)):
                return undecided(f"{text} lies within {value}", 1)
        return instance("at least the certified epsilon of (2.3)") if guarantees else undecided("nothing is claimed", 1)

    return judge


def rounded(batches: int) -> Checker:
    """Whether the epsilons of the document's pair (2.3) at sigma = 15 and sigma = 5 round to the printed ones."""
    return lambda printed, given: all_round(
        ({"sigma": sigma, "batches": batches}, dp_sgd_epsilon(sigma, batches=batches), text)
        for sigma, text in zip((15, 5), printed, strict=True)
    )


def judge_excess(says: Mapping[int, tuple[str, str]], given: Domain) -> Finding:
    """Whether each printed epsilon is that many per cent above the certified one."""
    return all_round(
        ({"sigma": sigma, "printed": text},
         Enclosure.of_ball(100 * (ball(Fraction(text)) / dp_sgd_epsilon(sigma).ball - 1)), excess)
        for sigma, (text, excess) in says.items()
    )


def judge_none(printed: tuple[str, str], given: Domain) -> Finding:
    """Whether none of five accountings gives both epsilons, for sigma = 15 and sigma = 5."""
    table = {name: (of(Fraction(15)), of(Fraction(5))) for name, of in ACCOUNTINGS.items()}
    for name, values in table.items():
        if all(rounds_to(value, text) is not False for value, text in zip(values, printed, strict=True)):
            return refuted("this one does", {"accounting": name, "epsilons": " and ".join(map(str, values))})
    return instance("; ".join(
        f"{name}: " + " and ".join(f"{value.to_floats()[0]:.4f}" for value in values) for name, values in table.items()
    ))


def judge_factor(printed: Mapping[int, str], given: Domain) -> Finding:
    """Whether substitution's epsilon over that of add/remove rounds to the number of each sigma."""
    return all_round(
        ({"sigma": sigma}, Enclosure.of_ball(
            dp_sgd_epsilon(sigma).ball / dp_sgd_epsilon(sigma, neighbours="add_remove").ball), text)
        for sigma, text in printed.items()
    )


_USES = ("relu-approx/lem-2.6", "relu-approx/thm-2.4")
_RESTS = ("relu-approx/lem-2.6-repaired", "relu-approx/thm-2.4")
_QUOTE = (
    r"With the noise scale values $\sigma=5.0$ and $\sigma=15.0$ , the DP-SGD trained models are "
    "$(1.33,10^{-5})$ -DP and $(4.76,10^{-5})$ -DP, respectively."
)
_EXCHANGED = {15: "1.33", 5: "4.76"}

order = Claim(
    id="relu-approx/eps-base",
    source="000, Section 6.1: sigma = 5 and sigma = 15 give (1.33, 1e-5) and (4.76, 1e-5), respectively",
    quote=_QUOTE,
    whose=Whose.TYPO,
    severity=Stake.PRIVACY,
    statement=r"\sigma = 5 \mapsto \varepsilon = 1.33,\quad \sigma = 15 \mapsto \varepsilon = 4.76",
    words="with sigma = 5 the models are (1.33, 1e-5)-DP and with sigma = 15 they are (4.76, 1e-5)-DP",
    hypotheses=(),
    says={5: "1.33", 15: "4.76"},
    check=guarantee(_MNIST),
    flips=(Flip("the two exchanged", _EXCHANGED, Verdict.HOLDS),),
    uses=_USES,
    rests_on=_RESTS,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"1.33 = 1.010\,\varepsilon(\sigma = 15),\quad 4.76 = 1.048\,\varepsilon(\sigma = 5)",
        words="sigma = 15 goes with 1.33, 1.0 per cent above its epsilon, and sigma = 5 with 4.76, 4.8 per cent above",
        says={15: ("1.33", "1.0"), 5: ("4.76", "4.8")},
        check=judge_excess,
        expected="HOLDS ARGUED",
        source="000, Section 6.1, the two exchanged",
        flips=(Flip("as printed", {5: ("1.33", "1.0"), 15: ("4.76", "4.8")}, Verdict.REFUTED),
               Flip("1.03 and 4.25", {15: ("1.03", "1.0"), 5: ("4.25", "4.8")}, Verdict.REFUTED)),
        rests_on=_RESTS,
    ),
)

values = Claim(
    id="relu-approx/eps-base-values",
    source="000, Section 6.1, read as values of the pair (2.3), sigma exchanged",
    quote=_QUOTE,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\varepsilon(\sigma=15) = 1.33,\quad \varepsilon(\sigma=5) = 4.76 \quad (q = 1/60,\ T = 24000)",
    words="DP-SGD's epsilons by the pair (2.3), as Section 2.1 computes them, round to 1.33 and 4.76",
    hypotheses=(),
    says=("1.33", "4.76"),
    check=rounded(_MNIST),
    flips=(Flip("1.32 and 4.54", ("1.32", "4.54"), Verdict.HOLDS),),
    uses=_USES,
    rests_on=_RESTS,
    expected="REFUTED ARGUED",
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

accountings = Claim(
    id="relu-approx/eps-base-accountings",
    source="000, Section 6.1: where its two epsilons may come from (ours)",
    quote=_QUOTE,
    severity=Stake.UTILITY,
    statement=r"\text{none of five accountings gives both } 1.33 \text{ and } 4.76",
    words="none of five accountings in use, both relations and two central limits among them, gives 1.33 and 4.76",
    hypotheses=(),
    says=("1.33", "4.76"),
    check=judge_none,
    flips=(Flip("1.32 and 4.54", ("1.32", "4.54"), Verdict.REFUTED),),
    true_variants={"*digit *": "the changed pair of numbers does not come out of any of the five, either"},
    rests_on=_RESTS,
    expected="HOLDS ARGUED",
)

valid = Claim(
    id="relu-approx/eps-base-valid",
    source="000, Section 6.1, read as guarantees on MNIST, sigma exchanged: (1.33, 1e-5)-DP and (4.76, 1e-5)-DP",
    quote=_QUOTE,
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\delta_{\sigma=15}(1.33) \le 10^{-5},\quad \delta_{\sigma=5}(4.76) \le 10^{-5}",
    words="as guarantees the two epsilons are right for DP-SGD on MNIST, 1.33 with sigma = 15 and 4.76 with sigma = 5",
    hypotheses=(),
    says=_EXCHANGED,
    check=guarantee(_MNIST),
    flips=(
        Flip("1.31 with sigma = 15", {15: "1.31", 5: "4.76"}, Verdict.REFUTED),
        Flip("as printed, 1.33 with sigma = 5", {5: "1.33", 15: "4.76"}, Verdict.REFUTED),
        Flip("nothing", {}, Verdict.UNDECIDED),
    ),
    true_variants={"*digit*": "still at least the certified epsilon: a guarantee may be weaker than needed"},
    uses=_USES,
    rests_on=_RESTS,
    expected="HOLDS ARGUED",
)

factor_two = Claim(
    id="relu-approx/addremove-factor-2",
    source="000, Section 6.2: approximately a factor of 2 between the relations; the numbers are ours",
    quote=(
        "which can be compared using the fact that there is approximately a multiplicative difference of 2 "
        "between the two relations"
    ),
    whose=Whose.READING,
    statement=r"\varepsilon_{\mathrm{substitute}} / \varepsilon_{\mathrm{add/remove}} = 2.13\ (\sigma = 15),\ 2.17"
              r"\ (\sigma = 5)",
    words="at the document's settings substitution's epsilon is 2.13 or 2.17 times add/remove's",
    hypotheses=(),
    says={15: "2.13", 5: "2.17"},
    check=judge_factor,
    flips=(Flip("exactly 2", {15: "2.00", 5: "2.00"}, Verdict.REFUTED),),
    rests_on=_RESTS,
    expected="HOLDS ARGUED",
)

cifar = Claim(
    id="relu-approx/eps-cifar",
    source="000, Section 6.1 and Table 2: the same guarantees for CIFAR-10, sigma exchanged as they are meant",
    quote=_QUOTE,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\delta_{\sigma=15}(1.33) \le 10^{-5},\quad \delta_{\sigma=5}(4.76) \le 10^{-5} \quad (q = 1/50,"
              r"\ T = 20000)",
    words="on CIFAR-10, with n = 50,000, the models are (1.33, 1e-5)-DP and (4.76, 1e-5)-DP, too",
    hypotheses=(),
    says=_EXCHANGED,
    check=guarantee(_CIFAR),
    flips=(Flip("1.46 and 5.06", {15: "1.46", 5: "5.06"}, Verdict.HOLDS),),
    uses=_USES,
    rests_on=_RESTS,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\varepsilon(\sigma=15) = 1.4567,\quad \varepsilon(\sigma=5) = 5.0512",
        words="for CIFAR-10 the document's pair (2.3) gives the base epsilons 1.4567 and 5.0512",
        says=("1.4567", "5.0512"),
        check=rounded(_CIFAR),
        expected="HOLDS ARGUED",
        source="000, Table 2, base epsilons with q = 1/50 and T = 20,000",
        flips=(Flip("those of MNIST", ("1.3171", "4.5429"), Verdict.REFUTED),),
        rests_on=_RESTS,
    ),
)
