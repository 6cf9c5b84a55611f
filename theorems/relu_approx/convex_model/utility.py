r"""Algorithm 1 of document 000 and its excess risk, Theorem D.3, with the set that it projects onto.

Theorem D.3 as printed has no constant, and one choice of step size for all data. Take C = R, all records with the loss
|theta|, or all with |theta - 1|; theta_0 = 0. In the first case the printed bound is 0. But with a step size eta > 0
the average that is returned depends on the last noise b_{T-1} with the slope -eta/T, so it has no atom and is 0 with
probability 0. With eta = 0 the second data set has the excess 1, above its bound for large n. (On C = [-1, 1] that
would be no counterexample: a huge eta throws theta from one end to the other, and an even number of steps averages to
0.) With the diameter of C in place of the distance it is true in expectation.

Average. Projecting does not increase distances, so with x = theta_t - theta*, u = x - eta g and noise b

    |theta_{t+1} - theta*|^2 <= |u - eta b|^2 = |x|^2 - 2 eta <g, x> + eta^2 |g|^2 - 2 eta <b, u> + eta^2 |b|^2,

<g, x> >= L(theta_t) - L(theta*), and <b, u> has mean 0. Summed over t = 0, ..., T, the step T only imagined and without
noise, that bounds the average of theta_1, ..., theta_T with (T+1)/T G^2 (`dp_gd_risk.py` has the same in words).

Set. Projecting onto (3.5), as Algorithm 1 on problem (3.4) must, is not private: u = (1, 1), x = (1, 0), theta_0 = 0,
one record. The gradient, a multiple of x, never moves v_2; so v_2 is noise, and the projection onto {v_1 >= 0} leaves
it alone: v_2 < 0 has the probability 1/2. For the record (0, 1) the projection is onto {v_2 >= 0}. Problem (3.6) has no
constraints; on a ball |v| <= R, which no record moves, its gradients are bounded by |t| (|t| R + |y|) + lambda R.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.convex_model.reformulation import judge_dimension
from theorems.tools.either import log, root
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

# --- Theorem D.3

Excess = Callable[[Any, Any, Any, Any, Any, Any, Any], Any]
"""(distance, diameter, p, n, epsilon, delta, beta) -> bound on the excess risk, at gradient norm 1."""


def printed_excess(distance: Any, diameter: Any, p: Any, n: Any, epsilon: Any, delta: Any, beta: Any) -> Any:
    """Theorem D.3 as printed."""
    return distance * root(p * log(1 / delta) * log(1 / beta)) / (n * epsilon)


def repaired_excess(distance: Any, diameter: Any, p: Any, n: Any, epsilon: Any, delta: Any, beta: Any) -> Any:
    """In expectation, T = n^2 steps: the diameter instead of the distance, and constants."""
    return diameter * (root(0 * delta + 2) + 2 * root(2 * p * log(5 / (4 * delta))) / epsilon) / n


def judge_excess(says: Excess, given: Domain) -> Finding:
    """The two data sets of the module's text, then the bound of the expected excess, at points and by algebra."""
    with ctx.workprec(128):
        far, common = arb("inf"), (ball(1), ball(Fraction(1, 10**5)), ball(Fraction(1, 20)))
        at_rest, away = (says(arb(distance), far, arb(1), arb(1000), *common) for distance in (0, 1))
        if at_rest == 0 and away < 1:
            eta, steps, noise, rest = sympy.symbols("eta T b r", positive=True)
            return refuted_by("a step size above 0 fails for the first data set, 0 for the second", {
                "C": "R", "p": 1, "n": 1000, "epsilon": 1, "delta": "1e-5", "beta": "0.05",
                "bound for |theta|": 0, "bound for |theta - 1|": away.str(12), "excess at step size 0": 1},
                computed("the average depends on the last noise with the slope -eta/T, not 0",
                         sympy.simplify(sympy.diff((rest - eta * noise) / steps, noise) + eta / steps) == 0),
                argued("so for eta > 0 it has no atom, and the excess of |theta| is 0 with probability 0 < 1 - beta"),
                computed("at eta = 0 theta stays 0, and |0 - 1| = 1 is above the second bound", bool(away < 1)))
        tried = 0
        refuting = {"n": 1000, "p": 1, "epsilon": Fraction(1), "delta": Fraction(1, 10**5)}
        for point in (refuting, *given.points("n", "p", "epsilon", "delta", at_most=24, most={"n": 50, "p": 1000})):
            tried += 1
            proved = bound("dp-gd-calibrated.risk").reference(
                distance=1, lipschitz=1, dimension=point["p"], dataset_size=point["n"], steps=point["n"] ** 2,
                epsilon=point["epsilon"], delta=point["delta"],
            )
            at_p, at_n, at_epsilon, at_delta = (ball(Fraction(point[name])) for name in ("p", "n", "epsilon", "delta"))
            for distance, beta in itertools.product((arb(0), arb(1)), (common[2], arb("0.5"))):
                claimed = says(distance, arb(1), at_p, at_n, at_epsilon, at_delta, beta)
                if not proved.certainly_le(Enclosure.of_ball(claimed)):
                    return undecided(f"below what is proved at {point}", tried)
    n, p, epsilon, delta = given.chart("n"), given.symbol("p"), given.symbol("epsilon"), given.symbol("delta")
    first, second, diameter, noise = sympy.symbols("a b D s", positive=True)
    steps = n**2
    most = sympy.sqrt(2) / n + sympy.sqrt(4 * p / n**2) * sympy.sqrt(2 * log(5 / (4 * delta))) / epsilon
    claimed = says(sympy.Symbol("r"), diameter, p, n, epsilon, delta, sympy.Symbol("beta"))
    return proof(
        argued("the expected excess is at most D G sqrt((T+1)/T^2 + 4 p s^2/n^2) at the best step, s the noise of one "
               "Gaussian release"),
        computed("(T+1)/T^2 <= 2/n^2 for T = n^2 and n >= 1",
                 sympy.expand(sympy.numer(sympy.together(2 / n**2 - (steps + 1) / steps**2))).is_nonnegative),
        computed("sqrt(a + b) <= sqrt a + sqrt b",
                 sympy.expand((sympy.sqrt(first) + sympy.sqrt(second)) ** 2 - first - second).is_positive),
        computed("with s <= sqrt(2 log(1.25/delta)) / epsilon, true for epsilon <= 1, the sum is the claimed bound",
                 sympy.simplify(claimed - diameter * most) == 0 and given["epsilon"].high == 1),
        tried=tried,
    )


# --- Algorithm 1's average, noise and set


def judge_average(factor: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether D^2/(2 eta T) + eta/2 (factor(T) G^2 + p sigma^2) bounds the average iterate's excess.

    Tried without noise from the minimum of |theta| (D = 0, G = 1), with every choice of subgradients at 0, exactly.
    """
    tried = 0
    for point in given.points("T", "eta", most={"T": 4}):
        steps, eta = point["T"], point["eta"]
        paths: list[tuple[tuple[int, ...], Fraction, Fraction]] = [((), Fraction(0), Fraction(0))]
        for _ in range(steps):
            paths = [
                ((*path, g), theta - eta * g, total + theta - eta * g)
                for path, theta, total in paths
                for g in ((-1, 0, 1) if theta == 0 else (1 if theta > 0 else -1,))
            ]
        for path, _, total in paths:
            tried += 1
            if abs(total / steps) > eta / 2 * factor(Fraction(steps)):
                return refuted("the average that Algorithm 1 returns has a larger loss, exactly", {
                    "loss": "|theta|", "T": steps, "eta": eta, "factor of G^2": factor(Fraction(steps)),
                    "subgradients": ", ".join(map(str, path)), "excess": abs(total / steps),
                    "bound": eta / 2 * factor(Fraction(steps))})
    x, g, b, eta_ = sympy.symbols("x g b eta", real=True)
    count, rate, start, slope, noise, excess = sympy.symbols("T h D G N R", positive=True)
    moved = (x - eta_ * g - eta_ * b) ** 2 - (
        x**2 - 2 * eta_ * g * x + eta_**2 * g**2 - 2 * eta_ * b * (x - eta_ * g) + eta_**2 * b**2
    )
    # 0 <= D^2 - 2 h (T R) + (T+1) h^2 G^2 + T h^2 N, R the mean excess of theta_1, ..., theta_T and N = p sigma^2
    solved = sympy.solve(start**2 - 2 * rate * count * excess + (count + 1) * rate**2 * slope**2
                         + count * rate**2 * noise, excess)[0]
    ours = start**2 / (2 * rate * count) + rate / 2 * (factor(count) * slope**2 + noise)
    return proof(
        computed("|x - eta g - eta b|^2 expands as in the module's text, coordinate by coordinate",
                 sympy.expand(moved) == 0),
        argued("projecting onto C does not increase distances; <g, x> >= L(theta_t) - L(theta*) by convexity; the "
               "noise has mean 0 and is independent of u; the loss of the average is at most the average loss"),
        computed("T + 1 steps, the last without noise and L(theta_0) - L(theta*) >= 0 left out, leave a mean excess of "
                 "at most the claimed bound", sympy.factor(ours - solved).is_nonnegative),
        tried=tried,
    )


def judge_noise(noise: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the noise has the dimension of the gradient of (3.6) that it is added to: the model's, one output."""
    return judge_dimension(lambda d, patterns, outputs: noise(d, patterns), given)


def judge_private(below_this: Fraction, given: Domain) -> Finding:
    """Whether Algorithm 1, projecting onto (3.5), can be private for a delta below that; n = 1, one step."""
    u, records = (1, 1), ((1, 0), (0, 1))
    signs = [2 * int(sum(a * b for a, b in zip(x, u, strict=True)) >= 0) - 1 for x in records]
    # (3.5) for the records: v_1 >= 0 alone, or v_2 >= 0 alone, so that v_2 is free under the first.
    free = [sign * x[1] == 0 for sign, x in zip(signs, records, strict=True)]
    noise = sympy.symbols("b", real=True)
    density = sympy.exp(-(noise**2) / 2) / sympy.sqrt(2 * sympy.pi)
    below = sympy.integrate(density, (noise, -sympy.oo, 0))  # v_2 = -eta sigma b, whatever eta, sigma > 0
    if free == [True, False] and Fraction(str(below)) >= below_this:
        return refuted_by("v_2 < 0 has probability 1/2 for one record and 0 for the other", {
            "n": 1, "P": 1, "u": list(u), "record": list(records[0]), "other record": list(records[1]), "T": 1,
            "event": "v_2 < 0", "probability": below, "probability for the other": 0, "delta below": below_this},
            computed("the constraint of the first record does not mention v_2, that of the second is v_2 >= 0",
                     free == [True, False] and signs == [1, 1]),
            computed("its gradient, a multiple of (1, 0), does not move v_2, which is Gaussian noise of mean 0",
                     records[0][1] == 0 and below == sympy.Rational(1, 2)))
    return undecided("no event of this pair is so likely", 1)


def judge_depends(below_this: Fraction, given: Domain) -> Finding:
    """Whether the constraints move with a record so far that projecting is private for no delta below that."""
    found = judge_private(below_this, given)
    if found.verdict is not Verdict.REFUTED:
        return found
    eta, sigma = given.symbol("eta"), given.symbol("sigma")
    return proof(
        *found.steps,
        computed("v_2 = -eta sigma b is negative where b > 0, whatever eta and sigma", (eta * sigma).is_positive),
        argued("an event of probability 1/2 for one record and 0 for the other needs delta >= 1/2 at every epsilon"),
        tried=sum(len(given.values(name)) for name in given.parameters), witness=found.witness,
    )


def judge_ball(largest: Callable[[Any, Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether largest(|t|, R, |y|, lambda) is the largest gradient norm of (3.8) over |v| <= R.

    Tried where v is a multiple of t: there the gradient is a number, (t v - y) t + lambda v.
    """
    tried = 0
    for point in given.points("t", "R", "y", "lam"):
        t, radius, y, lam = (point[name] for name in ("t", "R", "y", "lam"))
        tried += 1
        most = max(abs((t * v - y) * t + lam * v) for v in (-radius, Fraction(0), radius))
        if most != largest(t, radius, y, lam):
            return refuted("another gradient norm is reached on the ball", {
                **point, "largest along t": most, "claimed": largest(t, radius, y, lam)})
    t_, radius_, y_, lam_ = (given.symbol(name) for name in ("t", "R", "y", "lam"))
    inner, length = sympy.symbols("i v", nonnegative=True)  # |t.v| and |v|
    bound_ = (inner + y_) * t_ + lam_ * length  # by the triangle inequality
    return proof(
        argued("|(t.v - y) t + lambda v| <= (|t.v| + |y|) |t| + lambda |v| and |t.v| <= |t| |v|"),
        computed("that grows with |t.v| and with |v|, so it is largest at |t.v| = |t| R, |v| = R",
                 sympy.diff(bound_, inner).is_nonnegative and sympy.diff(bound_, length).is_nonnegative),
        computed("there it is the claimed number",
                 sympy.expand(bound_.subs({inner: t_ * radius_, length: radius_})
                              - largest(t_, radius_, y_, lam_)) == 0),
        computed("and v = -R t/|t| reaches it",
                 sympy.expand(((-t_ * radius_ - y_) * t_ - lam_ * radius_) + largest(t_, radius_, y_, lam_)) == 0),
        tried=tried,
    )


_COUNTS = (positive_integer("n"), positive_integer("p"))

theorem_d_3 = Claim(
    id="relu-approx/thm-D.3",
    source="000, Theorem D.3 (Bassily et al. 2014, Talwar et al. 2014), as printed, without a constant; step size and "
           "noise > 0 do not depend on the records",
    quote=(
        "under appropriate choices of the learning rate and the number of iterations in the gradient descent "
        r"algorithm (Alg. 1), we have with probability at least $1 - \beta$ ,"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=(
        r"\mathcal{L}(\theta^{priv}) - \mathcal{L}(\theta^*) \le"
        r" \frac{L \|\theta_0 - \theta^*\| \sqrt{p \log(1/\delta)\log(1/\beta)}}{n\varepsilon}"
    ),
    words="for one choice of step size the excess risk is at most L |theta_0 - theta*| sqrt(p log log) / (n epsilon)",
    hypotheses=(*_COUNTS, positive("epsilon"), probability("delta"), probability("beta")),
    says=printed_excess,
    check=judge_excess,
    flips=(Flip("with a constant added that the distance does not scale", lambda *given: printed_excess(*given) + 1,
                Verdict.UNDECIDED),),
    uses=("relu-approx/alg-1",),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\mathbb{E}\,\mathcal{L}(\theta^{priv}) - \mathcal{L}(\theta^*) \le"
            r" \frac{L\,\mathrm{diam}(C)}{n}\Big(\sqrt2 + \frac{2\sqrt{2 p \log(1.25/\delta)}}{\varepsilon}\Big),"
            r"\quad T = n^2,\ \varepsilon \le 1",
        words=(
            "in expectation the excess risk is at most L diam(C) (sqrt 2 + 2 sqrt(2 p log(1.25/delta)) / "
            "epsilon) / n, for epsilon up to 1"
        ),
        says=repaired_excess,
        check=judge_excess,
        expected="HOLDS ARGUED",
        source="000, Theorem D.3 in expectation, T = n^2 steps, epsilon <= 1, calibrated noise, the best step",
        hypotheses=(*_COUNTS, positive("epsilon").at_most(1), probability("delta")),
        flips=(
            Flip("a hundredth of it: no checker can refute an upper bound by another one",
                 lambda *given: repaired_excess(*given) / 100, Verdict.UNDECIDED),
            Flip("as printed", printed_excess, Verdict.REFUTED),
        ),
        rests_on=("cs208/gaussian-mechanism-repaired", "relu-approx/alg-1-average-repaired",
                  "background/gdp-composition"),
    ),
)

constrained = Claim(
    id="relu-approx/thm-D.3-applies",
    source="000, Appendix D: Algorithm 1 applied to problem (3.4), whose constraints are (3.5), read as a private one",
    quote=(
        "We can directly apply the following classical result from ERM for the DP-GD (Alg. 1) to the stochastic "
        "problem (3.4) or (3.6)."
    ),
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\text{Algorithm 1 with } \mathcal{C} = \{v: (2D_i - I)Xv_i \ge 0\} \text{ is } (\varepsilon, \delta)"
              r"\text{-DP for some } \delta < 1/2",
    words="Algorithm 1 on problem (3.4), projecting onto its constraints, is (epsilon, delta)-DP for a delta below 1/2",
    hypotheses=(positive("epsilon"), positive("sigma"), positive("eta")),
    says=Fraction(1, 2),
    check=judge_private,
    flips=(Flip("for a delta below 3/4", Fraction(3, 4), Verdict.UNDECIDED),),
    uses=("relu-approx/thm-D.3",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\max_{\|v\| \le R} \|\nabla\ell(v)\| = \|t\|(\|t\|R + |y|) + \lambda R,\quad \|t\|^2 = a\|x\|^2",
        words="for problem (3.6) Algorithm 1 can project onto a ball |v| <= R that no record moves; there gradients "
              "are bounded by |t| (|t| R + |y|) + lambda R, so that Theorem D.3 (repaired) applies with diameter 2R",
        says=lambda t, radius, y, lam: t * (t * radius + y) + lam * radius,
        check=judge_ball,
        hypotheses=(non_negative("t", "|t|"), positive("R"), non_negative("y", "|y|"), positive("lam")),
        expected="HOLDS ARGUED",
        source="000, Appendix D, for problem (3.6) on a ball: ours",
        flips=(Flip("without the label", lambda t, radius, y, lam: t * t * radius + lam * radius, Verdict.REFUTED),),
        rests_on=("relu-approx/app-A-glm",),
    ),
)

dependent = Claim(
    id="relu-approx/constraints-data-dependent", source="000, Section 3.2",
    quote=(
        "the constraints 3.5 are data-dependent which potentially makes private learning of the problem (3.4) "
        "difficult."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\{v: (2D_i - I)Xv_i \ge 0\} \text{ depends on } X: \text{ projecting onto it is } (\varepsilon, \delta)"
              r"\text{-DP for no } \delta < 1/2",
    words="the constraints (3.5) move with the data, so that projecting onto them is private for no delta below 1/2",
    hypotheses=(positive("epsilon"), positive("sigma"), positive("eta")),
    says=Fraction(1, 2), check=judge_depends,
    flips=(Flip("for no delta below 3/4", Fraction(3, 4), Verdict.UNDECIDED),),
    true_variants={**dict.fromkeys(("1 % less", "sign"), "then for no smaller delta either"),
                   "any epsilon": "the event has probability 0 for one record, so that no epsilon helps"},
    expected="HOLDS ARGUED",
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
    check=judge_noise,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"b_t \sim N(0, \sigma^2 I_p)",
        words="the noise of Algorithm 1 has the dimension p = d P of the parameters",
        says=lambda d, patterns: d * patterns,
        expected="HOLDS PROVED",
        source="000, Algorithm 1 with I_p",
    ),
)

average = Claim(
    id="relu-approx/alg-1-average",
    source="000, Algorithm 1, line 7, with the textbook's bound, which the document does not state: ours",
    severity=Stake.PROOF,
    statement=r"\mathbb{E}\,\mathcal{L}(\theta^{priv}) - \mathcal{L}(\theta^*) \le \frac{D^2}{2\eta T} +"
              r" \frac{\eta}{2}(G^2 + p\sigma^2)",
    words="the textbook bound of gradient descent holds for the average of theta_1, ..., theta_T that Algorithm 1 "
          "returns (not a statement of the document)",
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
        true_variants={"1 % more": "a larger bound is true, too", "squared": "a larger bound is true, too",
                       "1 -> 2*": "a larger bound is true, too"},
    ),
)
