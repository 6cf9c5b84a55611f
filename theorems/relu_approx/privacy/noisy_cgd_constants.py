r"""What document 000 says around Theorem 2.8: step sizes, the constant c, monotonicity, tightness.

The theorem's value is the cost of shifts along a chord, which is feasible only for c <= 1 (for c > 1 the curve that
must stay above the chord is convex and lies below it). |1 - eta beta| <= |1 - eta lambda| is eta (beta - lambda)
(eta (beta + lambda) - 2) <= 0. The value grows with c, from L/(b sigma) at c = 0: so no regularisation makes the
guarantee better than that of a single epoch, and one epoch does not depend on c at all.

Why it grows: with x = 1/c the second term of mu^2 is (sum_e x^{ke})^2 / sum_i x^{2i}, e = 1..E-1 and i = k..kE-1. Write
i = ke + r with 0 <= r < k. Its logarithmic slope in x is twice E_1[ke] - E_2[ke] - E_2[r], with weights x^{ke} and
x^{2ke} x^{2r}. For x >= 1 the second weights lean to larger e (their ratio x^{ke} grows), so E_2[ke] >= E_1[ke].
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx
from hypothesis import strategies as st

from oracle.core.domain import positive, positive_integer, unit_interval
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.tools.counterexamples import search
from theorems.tools.cyclic_value import squared, value
from theorems.tools.exact_shift_programme import optimum, touched_steps
from theorems.tools.printed import rounds_to
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_RATIONALS = tuple(Fraction(v) for v in ("1", "1/2", "2", "4"))


def judge_step_sizes(limit: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether every step size below limit(beta, patterns) leaves the theorem's value reachable by shifts.

    For c > 1 no sequence of shifts costs as little as the formula: the programme's exact optimum is above it.
    """
    tried = 0
    for patterns in (2, 4):
        for smooth in _RATIONALS:
            for convex in (r for r in _RATIONALS if r <= smooth):
                for share in (Fraction(1, 2), Fraction(9, 10)):
                    tried += 1
                    eta = share * limit(smooth, patterns)
                    c = max(abs(1 - eta * convex), abs(1 - eta * smooth))
                    if c == 0:
                        continue
                    claimed = value(squared, c, 2, 3)
                    needed = optimum(c, touched_steps(batches=2, epochs=3, position=2))
                    if claimed < needed:
                        return refuted(
                            "the step is expansive and the theorem's value is below every feasible sequence of shifts",
                            {
                                "M = |D_X|": str(patterns), "beta": str(smooth), "lambda": str(convex),
                                "eta": str(eta), "c": str(c), "mu^2 claimed (k = 2, E = 3)": str(claimed),
                                "least cost of shifts": str(needed),
                            },
                        )
    eta, beta = sympy.symbols("eta beta", positive=True)
    # |1 - eta x| < 1 is eta x (2 - eta x) > 0, true for both curvatures when eta beta < 2 and lambda <= beta.
    if sympy.factor(1 - (1 - eta * beta) ** 2) != sympy.factor(eta * beta * (2 - eta * beta)):
        return undecided("identity", tried)
    count = sympy.symbols("M", integer=True, positive=True)
    if sympy.simplify(2 / beta - limit(beta, count)).is_nonnegative is not True:
        return undecided("no point fails; larger than 2/beta", tried)
    return proof(argued(
        "1 - (1 - eta x)^2 = eta x (2 - eta x) > 0 for lambda <= x <= beta: c < 1, and then thm-2.8-formula applies"
    ))


def judge_contraction(threshold: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether max(|1 - eta lambda|, |1 - eta beta|) is |1 - eta lambda| for every eta up to threshold(lambda, beta)."""
    whole = st.integers(min_value=1, max_value=8)

    def fails(lam: int, beta: int, eighths: int) -> bool:
        eta = Fraction(eighths, 8) * threshold(Fraction(lam), Fraction(beta))
        return bool(abs(1 - eta * beta) > abs(1 - eta * lam))

    found = search(
        {"lam": whole, "beta": whole, "eighths": whole}, fails, meets=lambda lam, beta, eighths: lam <= beta,
    )
    if found.counterexample is not None:
        point = found.counterexample
        eta = Fraction(point["eighths"], 8) * threshold(Fraction(point["lam"]), Fraction(point["beta"]))
        return refuted(
            "the other term of the maximum is larger, exactly",
            {
                "lambda": str(point["lam"]), "beta": str(point["beta"]), "eta": str(eta),
                "|1 - eta lambda|": str(abs(1 - eta * point["lam"])),
                "|1 - eta beta|": str(abs(1 - eta * point["beta"])),
            },
        )
    eta, lam, beta = sympy.symbols("eta lambda beta", positive=True)
    gap = (1 - eta * beta) ** 2 - (1 - eta * lam) ** 2 - eta * (beta - lam) * (eta * (beta + lam) - 2)
    if sympy.expand(gap) != 0 or sympy.simplify(threshold(lam, beta) * (lam + beta) - 2) != 0:
        return undecided("no point fails; not proved", found.scope)
    return proof(argued(
        "(1 - eta beta)^2 - (1 - eta lambda)^2 = eta (beta - lambda)(eta (beta + lambda) - 2) (computer algebra), at "
        "most 0 exactly when eta <= 2/(lambda + beta)"
    ))


def second_term_gap() -> sympy.Expr:
    """(sum of x^{ke}, e = 1..E-1)^2 / (sum of x^{2i}, i = k..kE-1), x = 1/c, minus the theorem's second term."""
    c, q, big_q = sympy.symbols("c q Q", positive=True)  # q = c^k, Q = c^{k(E-1)}
    touched = (1 / q) * (1 / big_q - 1) / (1 / q - 1)
    weights = (1 / q**2) * (1 / big_q**2 - 1) / (1 / c**2 - 1)
    return sympy.simplify(touched**2 / weights - (squared(c, q, big_q) - 1))


def mean_gap(x: Fraction, k: int, epochs: int) -> Fraction:
    """Half the derivative of log(second term) in log x: the mean of ke under x^{ke} minus that of i under x^{2i}."""
    touches, steps = range(1, epochs), range(k, k * epochs)
    return _mean({k * e: x ** (k * e) for e in touches}) - _mean({i: x ** (2 * i) for i in steps})


def _mean(weights: dict[int, Fraction]) -> Fraction:
    total = sum(weights.values(), Fraction(0))
    return sum((place * weight for place, weight in weights.items()), Fraction(0)) / total


def judge_monotone(sign: int, given: Domain) -> Finding:
    """Whether the theorem's value grows (1) or falls (-1) strictly with c for k >= 2 and E >= 2."""
    tried = 0
    for k, epochs in ((2, 2), (2, 5), (3, 3), (5, 4)):
        for c in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)):
            tried += 1
            before, after = value(squared, c, k, epochs), value(squared, (1 + c) / 2, k, epochs)
            if sign * (after - before) <= 0 or sign * mean_gap(1 / c, k, epochs) >= 0:
                return refuted(
                    "the value moves the other way, in exact rationals",
                    {
                        "batches": str(k), "epochs": str(epochs), "c": str(c), "larger c": str((1 + c) / 2),
                        "mu^2 at c": str(before), "mu^2 at the larger c": str(after),
                    },
                )
    if second_term_gap() != 0:
        return undecided("no point fails; the identity was not shown", tried)
    return proof(argued(
        "the second term is (sum x^{ke})^2 / sum x^{2i} (computer algebra); its logarithmic slope in x = 1/c is "
        "twice a difference of means, at most -2 E[r] < 0 for k >= 2: so a mu fixes c. For one epoch, or one batch and "
        f"two epochs, mu does not depend on c at all; exact at {tried} points"
    ))


_DROPS = (Fraction("5.4e-5"), Fraction("1e-4"), Fraction("2e-4"))
_FACTORS = (("2.615", "2.366", "1.923"), ("2.426", "2.158", "1.663"))


def factors(batches: int, epochs: int) -> tuple[list[Enclosure], list[Enclosure]]:
    """The theorem's factor and the exact one of a quadratic loss at the three eta lambda of Figure 1, in balls."""
    upper, lower = [], []
    with ctx.workprec(200):
        for drop in _DROPS:
            c = 1 - ball(drop)
            q, whole = c**batches, c ** (batches * epochs)
            rest = c ** (batches * (epochs - 1))
            square = 1 + q**2 / c**2 * (1 - c**2) / (1 - q) ** 2 * (1 - rest) / (1 + rest)
            exact = ((1 - whole) / (1 - q)) ** 2 * (1 - c**2) / (1 - whole**2)
            upper.append(Enclosure.of_ball(square.sqrt()))
            lower.append(Enclosure.of_ball(exact.sqrt()))
    return upper, lower


def judge_tightness(printed: tuple[tuple[str, ...], tuple[str, ...]], given: Domain) -> Finding:
    """Whether the factors of the theorem and of a quadratic loss round to those numbers (k = 60, E = 400)."""
    for row, (texts, values) in enumerate(zip(printed, factors(60, 400), strict=True)):
        for drop, text, factor in zip(_DROPS, texts, values, strict=True):
            if rounds_to(factor, text) is not True:
                return refuted(
                    "another number",
                    {"row": ("theorem", "quadratic")[row], "eta lambda": f"{float(drop):g}", "printed": text,
                     "value": str(factor)},
                )
    registered = bound("noisy-cgd.mu").reference(
        sensitivity=1, batch_size=1, noise_on_mean=1, contraction=1 - _DROPS[0], batches=60, epochs=400
    )
    if not registered.overlaps(factors(60, 400)[0][0]):
        return undecided("not the registered bound", 6)
    return proof(argued(
        "all six factors certified; a quadratic loss attains the second row, so the true mu lies between the two"
    ))


def judge_reach(target: Fraction, given: Domain) -> Finding:
    """Whether some c in [0, 1] brings NoisyCGD's epsilon down to a target at sigma = 15, L = 2, delta = 1e-5."""
    least = bound("noisy-cgd.epsilon").reference(
        sensitivity=2, batch_size=1, noise_on_mean=15, contraction=0, batches=60, epochs=400, delta="1e-5"
    )
    if not least.possibly_le(target):
        return refuted(
            "even c = 0, which forgets everything at each step, has a larger epsilon",
            {"desired epsilon": str(target), "epsilon at c = 0": str(least), "sigma": "15", "delta": "1e-5"},
        )
    if not least.certainly_le(target):
        return undecided(f"{target} lies within {least}", 1)
    return proof(argued(
        f"reachable: at c = 0 epsilon is {least}, and it is continuous in c "
        "and grows with it"
    ))


_HYPOTHESES = (positive("lam"), positive("beta"), positive("eta"))
_SETTING = (unit_interval("contraction"), positive_integer("batches"), positive_integer("epochs"))

step_sizes = Claim(
    id="relu-approx/thm-2.8-eta",
    source="000, Theorem 2.8: eta in (0, 2/M), with M = |D_X| as in Section 3.1, the only M of the document",
    quote=r"Then, for any $\eta \in (0, 2/M)$ , NoisyCGD is $\mu$ -GDP",
    whose=Whose.TYPO,
    severity=Severity.PRIVACY,
    statement=r"\eta \in (0, 2/M) \implies \text{NoisyCGD is } \mu\text{-GDP for the } \mu \text{ of Theorem 2.8}",
    words="Theorem 2.8 holds for every step size below 2/M, M the number of activation patterns",
    hypotheses=_HYPOTHESES,
    says=lambda beta, patterns: 2 / (patterns * Fraction(1)),
    check=judge_step_sizes,
    uses=("relu-approx/thm-2.8-formula",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta \in (0, 2/\beta) \implies c < 1",
        words="Theorem 2.8 holds for every step size below 2/beta",
        says=lambda beta, patterns: 2 / beta,
        expected="HOLDS ARGUED",
        source="000, Theorem 2.8 with eta in (0, 2/beta)",
        flips=(Flip("3/beta", lambda beta, patterns: 3 / beta, Verdict.REFUTED),),
        rests_on=("relu-approx/thm-2.8-formula",),
    ),
)

contraction = Claim(
    id="relu-approx/thm-2.8-c",
    source="000, Section 2.2: c generally equals |1 - eta lambda|",
    quote=(
        "This is reflected in the GDP bound of Thm. 2.8 in the constant c which generally equals "
        r"$|1-\eta\lambda|$ ."
    ),
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\max\{|1-\eta\lambda|, |1-\eta\beta|\} = |1-\eta\lambda| \quad (0 < \eta < 2/\beta)",
    words="for every admissible step size the constant c of Theorem 2.8 is |1 - eta lambda|",
    hypotheses=_HYPOTHESES,
    says=lambda lam, beta: 2 / beta,
    check=judge_contraction,
    uses=("relu-approx/lem-3.2", "relu-approx/thm-2.8-eta"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\max\{|1-\eta\lambda|, |1-\eta\beta|\} = |1-\eta\lambda| \iff \eta \le \frac{2}{\lambda+\beta}",
        words="the constant c of Theorem 2.8 is |1 - eta lambda| exactly for eta <= 2/(lambda + beta)",
        says=lambda lam, beta: 2 / (lam + beta),
        expected="HOLDS ARGUED",
        source="000, Section 2.2, with the range of step sizes for which it is true",
    ),
)

monotone = Claim(
    id="relu-approx/tuning-monotone",
    source="000, Section 6: the bound depends monotonically on c = 1 - eta lambda, so mu fixes c",
    quote=(
        r"bound of Thm. (2.8) depends monotonoysly on the parameter $c = 1 - \eta \cdot \lambda$ . In case the "
        r"hyperparameters b noise scale $\sigma$ are fixed, fixing the GDP parameter $\mu$ will also fix the "
        "value of c."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\frac{\partial \mu}{\partial c} > 0 \quad (E \ge 2)",
    words="the bound of Theorem 2.8 grows strictly with c, so that fixing mu fixes c",
    hypotheses=_SETTING,
    says=1,
    check=judge_monotone,
    flips=(Flip("falls with c", -1, Verdict.REFUTED),),
    uses=("relu-approx/thm-2.8-formula", "relu-approx/thm-2.8-c"),
    expected="HOLDS ARGUED",
)

tightness = Claim(
    id="relu-approx/thm-2.8-tightness",
    source="000, Theorem 2.8 (how far from the truth it can be, k = 60, E = 400)",
    severity=Severity.UTILITY,
    statement=(
        r"\left(\frac{1-c^{kE}}{1-c^k}\right)^2 \frac{1-c^2}{1-c^{2kE}} \le \left(\frac{b\sigma\mu}{L}\right)^2 \le"
        r" 1 + c^{2k-2}\frac{1-c^2}{(1-c^k)^2}\,\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}"
    ),
    words="the true factor lies between 2.426, 2.158, 1.663 and 2.615, 2.366, 1.923 at Figure 1's three eta lambda",
    hypotheses=_SETTING,
    says=_FACTORS,
    check=judge_tightness,
    flips=(
        Flip("the rows exchanged", _FACTORS[::-1], Verdict.REFUTED),
        Flip("one digit changed", (("2.615", "2.366", "1.924"), _FACTORS[1]), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/thm-2.8-formula",),
    expected="HOLDS ARGUED",
)

reach = Claim(
    id="relu-approx/lambda-adjusts",
    source="000, Section 2.2: for a given eta we can always adjust lambda to have desirable guarantees",
    quote=(
        r"For a given value of the learning $\eta$ , we can always adjust the value of $\lambda$ to have "
        r"desirable $(\varepsilon,\delta)$ -DP guarantees."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\forall \varepsilon^* > 0\ \exists \lambda:\ \varepsilon(\lambda) \le \varepsilon^*",
    words="at Figure 1's setting some regularisation brings epsilon down to any desired value, such as 0.4",
    hypotheses=_SETTING,
    says=Fraction(2, 5),
    check=judge_reach,
    flips=(Flip("0.47 instead of 0.4", Fraction(47, 100), Verdict.HOLDS),),
    uses=("relu-approx/thm-2.8-formula",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\varepsilon^* \ge \varepsilon(\mu = L/(b\sigma)) \implies"
            r" \exists c \in [0, 1]:\ \varepsilon(c) \le \varepsilon^*",
        words="at Figure 1's setting regularisation reaches every epsilon from 0.467 on, the value of one epoch",
        says=Fraction("0.467"),
        expected="HOLDS ARGUED",
        source="000, Section 2.2, for what one epoch allows",
        flips=(Flip("0.466", Fraction("0.466"), Verdict.REFUTED),),
        rests_on=("relu-approx/tuning-monotone",),
    ),
)
