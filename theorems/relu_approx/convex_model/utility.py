r"""Theorem 4.1 (= D.4) of document 000 and what it is made of: Theorem D.3 and Algorithm 1.

Rate. Theorem D.3's right side is L |theta_0 - theta*| sqrt(p log(1/delta) log(1/beta)) / (n epsilon). With p = n log(n/
gamma) that is n^{-1/2} epsilon^{-1} up to logarithms, not (n epsilon)^{-1/2}: at epsilon = n^{-1/2} the two differ by
the factor n^{1/4}, however large the constant that O hides. (That |theta_0 - theta*| is bounded is plausible:
for lambda = 0 the shortest solution has |theta*|^2 = y^T S^{-1} y, S of relu-approx/lem-D.1, of the order P d >= n.)

Floor. For lambda > 0 the loss (3.6) of any output is at least its minimum, lambda |y|^2 / (2 (P |X|^2 + n lambda))
(relu-approx/zero-optimum-3.6-repaired); with |X|^2 <= 9 n (but for e^{-n/2}) and labels +-1 that is lambda / (2 (9 P +
lambda)), of the order 1/log n for the P of the theorem: it does not fall like n^{-1/2}.

Gradients. "Assume the gradients stay bounded by a constant": at theta_0 = 0 record j has the gradient -y_j (D_1 x_j,
..., D_P x_j), of mean square y_j^2 d P / 2 for Gaussian data. With L^2 of that order the bound is of the order
p / (n epsilon) = log(n/gamma) / epsilon and does not fall at all.

Theorem D.3 as printed has no constant, and a step size that must not depend on the data. Take C = [-1, 1], all records
with the loss G|theta|, or all with G|theta - 1|; theta_0 = 0. In the first case the printed bound is 0, so that theta
may not move, though noise is added: the step size is 0. Then in the second case the excess is G, above the bound for
large n. With the diameter of C in place of the distance it is true in expectation (dp_gd_risk.py proves it).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

_N, _EPSILON = sympy.symbols("n epsilon", positive=True)


def substituted() -> sympy.Expr:
    """Theorem D.3's right side with p = n, all logarithms and the constants L and |theta_0 - theta*| left out."""
    p = sympy.symbols("p", positive=True)
    return (sympy.sqrt(p) / (_N * _EPSILON)).subs(p, _N)


def judge_rate(exponents: tuple[sympy.Rational, sympy.Rational], given: Domain) -> Finding:
    """Whether the substituted bound is at most a constant times n^a epsilon^b, for all n and epsilon."""
    a, b = exponents
    ratio = sympy.powsimp(substituted() / (_N**a * _EPSILON**b), force=True)
    powers = ratio.as_powers_dict()
    in_n, in_epsilon = powers.get(_N, 0), powers.get(_EPSILON, 0)
    if in_n > 0 or in_epsilon != 0:
        n = sympy.Integer(10) ** 12
        for epsilon in (sympy.Rational(1, 10**6), sympy.Integer(10) ** 6, sympy.Integer(1)):
            value = ratio.subs({_N: n, _EPSILON: epsilon})
            if value >= 1000:
                return refuted(
                    f"the two rates differ by the factor {ratio}, without bound",
                    {
                        "n": str(n), "epsilon": str(epsilon),
                        "substituted bound": str(substituted().subs({_N: n, _EPSILON: epsilon})),
                        "claimed rate": str((_N**a * _EPSILON**b).subs({_N: n, _EPSILON: epsilon})),
                        "exponents": f"{a}, {b}",
                    },
                )
    if in_n > 0 or in_epsilon != 0:
        return undecided(f"factor {ratio}", 3)
    return proof(argued(
        f"sqrt(p) / (n epsilon) at p = n is {substituted()}, the claimed rate times {ratio} (computer algebra); given "
        "D.3 with its constants, lambda = 0 and gradients bounded by a constant"
    ))


def floor(n: int, patterns: Fraction, lam: Fraction) -> Fraction:
    """What (3.6) is at least for labels +-1 and |X|^2 <= 9 n."""
    return lam / (2 * (9 * patterns + lam))


def judge_floor(exponent: Fraction, given: Domain) -> Finding:
    """Whether n^exponent times (log n)^10 can bound (3.6) at lambda = 1: compare with the loss's own minimum."""
    points = tuple(10**power for power in (40, 80, 160, 320))
    with ctx.workprec(2200):
        for n in points:
            # The document's P at c = 1 and gamma = 1/10, rounded up; 114 > 80 sqrt 2.
            patterns = Fraction(114 * len(str(10 * n)) * 7, 3)  # log x < 7/3 times the number of its digits
            rate = (ball(exponent) * arb(n).log()).exp() * arb(n).log() ** 10
            if rate < ball(floor(n, patterns, Fraction(1))):
                return refuted(
                    "below the minimum of the loss: no algorithm reaches it",
                    {
                        "n": f"1e{len(str(n)) - 1}", "lambda": "1", "P": str(patterns), "exponent": str(exponent),
                        "least loss": f"{float(floor(n, patterns, Fraction(1))):.6g}", "claimed rate": rate.str(6),
                    },
                )
    if exponent < 0:
        return undecided("not below the minimum at the n tried", len(points))
    return proof(argued(
        "the minimum lies between lambda / (2 (9 P + lambda)), of the order 1/log n, and the loss 1/2 of v = 0"
    ))


def judge_gradients(mean_square: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the mean squared norm of a record's gradient at 0 is at most that function of d and P (label 1)."""
    x = sympy.symbols("x", real=True)
    density = sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)
    square = sympy.integrate(x**2 * density, (x, -sympy.oo, sympy.oo))
    active = sympy.integrate(density, (x, 0, sympy.oo))  # x^T u given x is a centred Gaussian
    for d in (1, 10, 100, 1000):
        for patterns in (1, 16, 128):
            true = Fraction(str(square * active)) * d * patterns
            claimed = mean_square(d, patterns)
            if true > claimed:
                return refuted(
                    "the mean square exceeds it, so some gradients do",
                    {"d": str(d), "P": str(patterns), "mean squared norm": str(true), "claimed": str(claimed)},
                )
    d_, patterns_ = sympy.symbols("d P", positive=True)
    if sympy.expand(mean_square(d_, patterns_) - square * active * d_ * patterns_) != 0:
        return undecided("larger than needed", 12)
    return proof(argued(
        "E |D_i x|^2 = d E x^2 P(x^T u >= 0) = d/2 for each of the P blocks (computer algebra): L grows like "
        "sqrt(p/2), and Theorem D.3 then gives log(n/gamma) / epsilon, which does not fall with n"
    ))


Excess = Callable[[arb, arb, int, int, arb, arb, arb], arb]
"""(distance, diameter, p, n, epsilon, delta, beta) -> bound on the excess risk, at gradient norm 1."""


def printed_excess(distance: arb, diameter: arb, p: int, n: int, epsilon: arb, delta: arb, beta: arb) -> arb:
    """Theorem D.3 as printed."""
    return distance * (p * (1 / delta).log() * (1 / beta).log()).sqrt() / (n * epsilon)


def repaired_excess(distance: arb, diameter: arb, p: int, n: int, epsilon: arb, delta: arb, beta: arb) -> arb:
    """In expectation, T = n^2 steps: the diameter instead of the distance, and constants."""
    return diameter * (arb(2).sqrt() + 2 * (2 * p * (arb(5) / (4 * delta)).log()).sqrt() / epsilon) / n


def judge_excess(says: Excess, given: Domain) -> Finding:
    """The two data sets of the module's text, then the proved bound of the expected excess, by points."""
    epsilon, delta, beta = Fraction(1), Fraction(1, 10**5), Fraction(1, 20)
    with ctx.workprec(128):
        common = (ball(epsilon), ball(delta), ball(beta))
        at_rest, away = says(arb(0), arb(2), 1, 1000, *common), says(arb(1), arb(2), 1, 1000, *common)
        if at_rest == 0 and away < 1:
            return refuted(
                "the bound 0 forces the step size 0, and then the second data set has the excess 1",
                {
                    "C": "[-1, 1]", "p": "1", "n": "1000", "epsilon": "1", "delta": "1e-5", "beta": "0.05",
                    "bound for |theta|": "0", "bound for |theta - 1|": away.str(12), "excess at step size 0": "1",
                },
            )
        tried = 0
        for p in (1, 10, 1000):
            for n in (10, 100, 1000):
                tried += 1
                proved = bound("dp-gd-calibrated.risk").reference(
                    distance=1, lipschitz=1, dimension=p, dataset_size=n, steps=n**2, epsilon=epsilon, delta=delta
                )
                claimed = Enclosure.of_ball(says(arb(1), arb(1), p, n, *common))
                if not proved.certainly_le(claimed):
                    return undecided(f"below what is proved at p = {p}", tried)
    return at_points(
        "at least the proved bound D sqrt((T+1)/T^2 + 4 p s^2/n^2)",
        Scope("points", tried, tried, {"p": "1, 10, 1000", "n": "10, 100, 1000", "epsilon": "1", "T": "n^2"}),
    )


def judge_average(factor: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether D^2/(2 eta T) + eta/2 (factor(T) G^2 + p sigma^2) bounds the average iterate's excess.

    Tried without noise from the minimum of |theta| (D = 0, G = 1), with every choice of subgradients at 0, exactly.
    """
    eta, tried = Fraction(1), 0
    for steps in (1, 2, 3, 4):
        paths: list[tuple[tuple[Fraction, ...], Fraction, Fraction]] = [((), Fraction(0), Fraction(0))]
        for _ in range(steps):
            paths = [
                ((*path, g), theta - eta * g, total + theta - eta * g)
                for path, theta, total in paths
                for g in ((Fraction(-1), Fraction(0), Fraction(1)) if theta == 0 else (theta / abs(theta),))
            ]
        for path, _, total in paths:
            tried += 1
            if abs(total / steps) > eta / 2 * factor(Fraction(steps)):
                return refuted(
                    "the average that Algorithm 1 returns has a larger loss, exactly",
                    {
                        "loss": "|theta|", "T": str(steps), "eta": str(eta),
                        "factor of G^2": str(factor(Fraction(steps))), "subgradients": ", ".join(map(str, path)),
                        "excess": str(abs(total / steps)), "bound": str(eta / 2 * factor(Fraction(steps))),
                    },
                )
    t = sympy.symbols("T", positive=True)
    if sympy.simplify(factor(t) - 1 - 1 / t).is_nonnegative is not True:
        return undecided("no path fails; below what is proved", tried)
    return proof(argued(
        "the steps' inequalities, summed over t = 0, ..., T with an imagined last step, give (T+1)/T G^2; attained at "
        f"T = 1; {tried} paths followed exactly"
    ))


def judge_dimension(noise: Callable[[int, int], int], given: Domain) -> Finding:
    """Whether the noise has the dimension p = d P of the gradient of (3.6) that it is added to."""
    for d in range(1, 5):
        for patterns in range(1, 5):
            if noise(d, patterns) != d * patterns:
                return refuted(
                    "noise and gradient have different dimensions",
                    {"d": str(d), "P": str(patterns), "gradient": str(d * patterns),
                     "noise": str(noise(d, patterns))},
                )
    d, patterns = sympy.symbols("d P", positive=True, integer=True)
    if sympy.expand(noise(d, patterns) - d * patterns) != 0:
        return undecided("at points", 16)
    return proof(argued("p = d P: one block of d for each pattern"))


_MODEL = (positive_integer("n"), positive_integer("d"), positive("epsilon"), probability("gamma"))
_HALF = sympy.Rational(-1, 2)
_RATE_USES = tuple(
    f"relu-approx/{name}" for name in ("thm-D.3", "P-order", "zero-optimum-3.6", "alg-1", "thm-4.1-gradients")
)

theorem_4_1 = Claim(
    id="relu-approx/thm-4.1",
    source="000, Theorem 4.1 = Theorem D.4",
    quote=(
        "Consider applying the private gradient descent (Alg. 1) to the practical stochastic strongly convex "
        "problem (3.6) and assume the gradients stay bounded by a constant L > 0."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\mathcal{L}(\theta^{priv}, D) \le \widetilde{O}\Big(\frac{1}{\sqrt{n\varepsilon}}\Big)",
    words="substituting p = O(n log(n/gamma)) in Theorem D.3 gives the rate (n epsilon)^(-1/2)",
    hypotheses=_MODEL,
    says=(_HALF, _HALF),
    check=judge_rate,
    uses=_RATE_USES,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathcal{L}(\theta^{priv}, D) - \min \mathcal{L} \le"
                  r" \widetilde{O}\Big(\frac{1}{\sqrt{n}\,\varepsilon}\Big)",
        words="substituting p = O(n log(n/gamma)) in Theorem D.3 gives the rate n^(-1/2) / epsilon",
        says=(_HALF, sympy.Integer(-1)),
        expected="HOLDS CHECKED_AT_POINTS",
        source="000, Theorem 4.1, for the excess risk at lambda = 0",
        flips=(Flip("1 / (n epsilon)", (sympy.Integer(-1), sympy.Integer(-1)), Verdict.REFUTED),),
        rests_on=("relu-approx/thm-D.3-repaired", "relu-approx/P-order"),
    ),
)

regularised = Claim(
    id="relu-approx/thm-4.1-regularised",
    source="000, Theorem 4.1, stated for the strongly convex problem (3.6), here with lambda = 1 and labels +-1",
    quote=(
        "Consider applying the private gradient descent (Alg. 1) to the practical stochastic strongly convex "
        "problem (3.6) and assume the gradients stay bounded by a constant L > 0."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\mathcal{L}(\theta^{priv}, D) = O\big(n^{-1/2}\log^{10} n\big), \quad \lambda = 1",
    words="for the strongly convex problem (3.6) the loss itself falls like n^(-1/2) up to logarithms",
    hypotheses=(*_MODEL, positive("lam")),
    says=Fraction(-1, 2),
    check=judge_floor,
    flips=(Flip("n^(-1/4)", Fraction(-1, 4), Verdict.REFUTED),),
    uses=("relu-approx/zero-optimum-3.6",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{\lambda}{2(9P + \lambda)} \le \min \mathcal{L} \le \frac12",
        words=(
            "the optimum of (3.6) neither vanishes faster than 1/log n nor exceeds 1/2: only the excess risk can "
            "fall"
        ),
        says=Fraction(0),
        expected="HOLDS CITED",
        source="000, Theorem 4.1 with lambda > 0: what the loss can be",
        rests_on=("relu-approx/zero-optimum-3.6-repaired", "background/gaussian-matrix-norm"),
    ),
)

gradients = Claim(
    id="relu-approx/thm-4.1-gradients",
    source="000, Theorem 4.1: gradients stay bounded by a constant L, for Gaussian data (here L = 10)",
    severity=Severity.UTILITY,
    statement=r"\|\nabla \ell(\theta_0, x_j, y_j)\| \le L \text{ for all } d,\quad X_{ij} \sim N(0, 1),\ |y_j| = 1",
    words="in the random data model the gradients of (3.8) at the start are bounded by a constant that d does not move",
    hypotheses=(*_MODEL, positive_integer("P")),
    says=lambda d, patterns: Fraction(100),
    check=judge_gradients,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E}\, \|\nabla \ell(0, x_j, y_j)\|^2 = y_j^2\, \frac{dP}{2}",
        words="at the start a record's gradient has the mean square y^2 d P / 2 under Gaussian data",
        says=lambda d, patterns: d * patterns * Fraction(1, 2),
        expected="HOLDS ARGUED",
        source="000, Theorem 4.1: what the gradients at theta_0 = 0 are",
        flips=(Flip("d P / 4", lambda d, patterns: d * patterns * Fraction(1, 4), Verdict.REFUTED),),
    ),
)

theorem_d_3 = Claim(
    id="relu-approx/thm-D.3",
    source="000, Theorem D.3 (Bassily et al. 2014, Talwar et al. 2014), as printed, without a constant",
    quote=(
        "under appropriate choices of the learning rate and the number of iterations in the gradient descent "
        r"algorithm (Alg. 1), we have with probability at least $1 - \beta$ ,"
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=(
        r"\mathcal{L}(\theta^{priv}) - \mathcal{L}(\theta^*) \le"
        r" \frac{L \|\theta_0 - \theta^*\| \sqrt{p \log(1/\delta)\log(1/\beta)}}{n\varepsilon}"
    ),
    words="for one choice of step size the excess risk is at most L |theta_0 - theta*| sqrt(p log log) / (n epsilon)",
    hypotheses=(positive_integer("n"), positive_integer("p"), positive("epsilon"), probability("delta"),
                probability("beta")),
    says=printed_excess,
    check=judge_excess,
    uses=("relu-approx/alg-1",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E}\,\mathcal{L}(\theta^{priv}) - \mathcal{L}(\theta^*) \le"
            r" \frac{L\,\mathrm{diam}(C)}{n}\Big(\sqrt2 + \frac{2\sqrt{2 p \log(1.25/\delta)}}{\varepsilon}\Big)",
        words=(
            "in expectation the excess risk is at most L diam(C) (sqrt 2 + 2 sqrt(2 p log(1.25/delta)) / "
            "epsilon) / n"
        ),
        says=repaired_excess,
        expected="HOLDS CHECKED_AT_POINTS",
        source="000, Theorem D.3 in expectation, T = n^2 steps, epsilon <= 1",
        hypotheses=(positive_integer("n"), positive_integer("p"), positive("epsilon"), probability("delta")),
        flips=(Flip("a hundredth of it: no checker can refute an upper bound by another one",
                 lambda *given: repaired_excess(*given) / 100, Verdict.UNDECIDED),),
        rests_on=("cs208/gaussian-mechanism-repaired",),
    ),
)

algorithm_1 = Claim(
    id="relu-approx/alg-1",
    source="000, Algorithm 1, line 4: b_t ~ N(0, sigma^2 I_d), for (3.6) with theta in R^p, p = d P",
    quote=(
        r"\leftarrow \frac{1}{n} \sum_{i=1}^n \partial_{\theta} \ell(\theta_t, d_i) + b_t$ , where $b_t "
        r"\sim \mathcal{N}(0, \sigma^2 I_d)$ ."
    ),
    whose=Whose.TYPO,
    statement=r"b_t \sim N(0, \sigma^2 I_d), \quad \nabla \mathcal{L} \in \mathbb{R}^{p},\ p = dP",
    words="the noise of Algorithm 1 has the dimension d of the features",
    hypotheses=(positive_integer("d"), positive_integer("P")),
    says=lambda d, patterns: d,
    check=judge_dimension,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"b_t \sim N(0, \sigma^2 I_p)",
        words="the noise of Algorithm 1 has the dimension p = d P of the parameters",
        says=lambda d, patterns: d * patterns,
        expected="HOLDS ARGUED",
        source="000, Algorithm 1 with I_p",
    ),
)

average = Claim(
    id="relu-approx/alg-1-average",
    source="000, Algorithm 1, line 7, with the usual analysis of gradient descent: the mean of theta_1, ..., theta_T",
    severity=Severity.PROOF,
    statement=r"\mathbb{E}\,\mathcal{L}(\theta^{priv}) - \mathcal{L}(\theta^*) \le \frac{D^2}{2\eta T} +"
              r" \frac{\eta}{2}(G^2 + p\sigma^2)",
    words="the textbook bound of gradient descent holds for the average of theta_1, ..., theta_T",
    hypotheses=(positive_integer("T"), positive("eta")),
    says=lambda steps: Fraction(1),
    check=judge_average,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E}\,\mathcal{L}(\theta^{priv}) - \mathcal{L}(\theta^*) \le \frac{D^2}{2\eta T} +"
                  r" \frac{\eta}{2}\Big(\frac{T+1}{T} G^2 + p\sigma^2\Big)",
        words="for the average of theta_1, ..., theta_T the bound of gradient descent holds with (T+1)/T G^2",
        says=lambda steps: 1 + 1 / steps,
        expected="HOLDS ARGUED",
        source="000, Algorithm 1, line 7 (for the mean of theta_0, ..., theta_{T-1} the textbook's G^2 is right)",
        flips=(
            Flip("1 + 50/T^2, which is smaller from T = 51 on", lambda steps: 1 + 50 / steps**2, Verdict.UNDECIDED),
        ),
    ),
)
