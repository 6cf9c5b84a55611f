r"""Theorem 4.1 (= D.4) of document 000: the rate, the minimum of the loss, its gradients, and how often it may fail.

Rate. Theorem D.3's right side is L |theta_0 - theta*| sqrt(p log(1/delta) log(1/beta)) / (n epsilon). With p = n log(n/
gamma) that is n^{-1/2} epsilon^{-1} up to logarithms, not (n epsilon)^{-1/2}: at epsilon = n^{-1/2} the two differ by
the factor n^{1/4}, however large the constant that O hides.

Labels. Let every label be -1 or 1 and f = t_j^T theta the prediction for record j. Its laws P, Q under y_j = 1, -1 are
(epsilon, delta)-close, so int min(P, Q) = 1 - TV >= 2 (1 - delta) / (1 + e^epsilon). The mean over y_j of (f - y_j)^2
is at least int min(P, Q) (f^2 + 1): no private output has a smaller mean loss than (1 - delta)/(1 + e^epsilon),
whatever n. So for unit labels L |theta_0 - theta*| cannot stay bounded in Theorem D.3.

Floor. For lambda > 0 the loss (3.6) of any output is at least its minimum (lambda/2) y^T (S + n lambda)^{-1} y
(relu-approx/zero-optimum-3.6-repaired). Its mean over the signs y is (lambda/2) tr (S + n lambda)^{-1}, at least
(lambda/2) n^2 / (tr S + n^2 lambda); tr S <= P |X|_F^2, and |X|_F^2 <= 2 n d with a probability of at least 1/2
(Markov). So some labels have a minimum of lambda / (2 (2 P d/n + lambda)) or more, of the order 1/log n for the
theorem's P: it does not fall like n^{-1/2}.

Gradients. At theta_0 = 0 record j has the gradient -y_j (D_1 x_j, ..., D_P x_j), of mean square y_j^2 d P / 2 for
Gaussian data. With L^2 of that order Theorem D.3 gives log(n/gamma) / epsilon, which does not fall at all.
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
from theorems.claim import Checker, Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled, undecided

# --- the rate

_N, _EPSILON, _LOGS = sympy.symbols("n epsilon ell", positive=True)  # ell: the logarithms, with p = n ell
PRINTED = sympy.sqrt(_N * _LOGS) / (_N * _EPSILON)
"""Theorem D.3's right side at p = n ell, over L |theta_0 - theta*|."""
REPAIRED = (sympy.sqrt(2) + 2 * sympy.sqrt(2 * _N * _LOGS) / _EPSILON) / _N
"""That of thm-D.3-repaired, over L diam(C)."""


def judge_rate(substituted: sympy.Expr) -> Checker:
    """The checker of exponents (a, b): whether the substituted bound is n^a epsilon^b, up to logarithms."""
    def check(exponents: tuple[Fraction, Fraction], given: Domain) -> Finding:
        a, b = (sympy.Rational(value.numerator, value.denominator) for value in exponents)
        ratio = sympy.expand(sympy.powsimp(sympy.expand(substituted) / (_N**a * _EPSILON**b), force=True))
        terms = [sympy.powsimp(term, force=True).as_powers_dict() for term in sympy.Add.make_args(ratio)]
        powers = [(term.get(_N, 0), term.get(_EPSILON, 0)) for term in terms]
        grows = {symbol: [_unbounded(power[place], given, name) for power in powers]
                 for place, (symbol, name) in enumerate(((_N, "n"), (_EPSILON, "epsilon")))}
        if any(any(which) for which in grows.values()):
            n = sympy.Integer(10) ** 12
            for epsilon in (sympy.Rational(1, 10**6), sympy.Integer(1), sympy.Integer(10) ** 6):
                at = {_N: n, _EPSILON: epsilon, _LOGS: 1}
                if given.contains(epsilon=Fraction(int(epsilon.p), int(epsilon.q))) and ratio.subs(at) >= 1000:
                    return refuted(f"the two rates differ by the factor {ratio}, without bound", {
                        "n": n, "epsilon": epsilon, "substituted bound": substituted.subs(at),
                        "claimed rate": (_N**a * _EPSILON**b).subs(at), "exponents": f"{a}, {b}"})
            return undecided(f"factor {ratio}", 3)
        first = {symbol: Fraction(given[name].low or 1) for symbol, name in ((_N, "n"), (_EPSILON, "epsilon"))}
        first[_EPSILON] = given["epsilon"].high or Fraction(1)
        largest = ratio.subs(first)  # powers of n do not grow, those of epsilon do not fall
        points = list(given.points("n", "epsilon"))
        for point in points:
            if (largest - ratio.subs({_N: point["n"], _EPSILON: point["epsilon"]})).subs(_LOGS, 1) < 0:
                return undecided(f"the factor {ratio} is larger at {point}", len(points))
        return proof(
            computed(f"the bound is the rate times {ratio}",
                     sympy.simplify(substituted - ratio * _N**a * _EPSILON**b) == 0),
            computed(f"no term of it grows with n or has a negative power of epsilon: it is at most {largest}",
                     all(in_n <= 0 <= in_epsilon for in_n, in_epsilon in powers)),
            computed("one of its terms is constant, so no faster rate follows", (0, 0) in powers),
            tried=len(points),
        )

    return check


def _unbounded(power: Any, given: Domain, name: str) -> bool:
    """Whether a power of a positive parameter has no bound on its domain."""
    low, high = given[name].low, given[name].high
    return bool((power > 0 and high is None) or (power < 0 and (low is None or low <= 0)))


# --- labels that no private output fits


def judge_labels(least: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the mean loss over labels +-1 of every (epsilon, delta)-DP output is at least least(e^epsilon, delta).

    Held against the release of y with probability delta, else of randomised response (right with probability q, scaled
    by 2 q - 1), whose loss is (1 - delta) 2 q (1 - q).
    """
    tried = 0
    with ctx.workprec(128):
        for point in given.points("epsilon", "delta", most={"epsilon": 50}):
            ratio, delta = ball(point["epsilon"]).exp(), ball(point["delta"])
            loss, claimed = (1 - delta) * 2 * ratio / (1 + ratio) ** 2, least(ratio, delta)
            tried += 1
            if claimed > loss:
                return refuted("randomised response has a smaller loss, certified", {
                    **point, "claimed": Enclosure.of_ball(claimed), "loss": Enclosure.of_ball(loss)})
    f, a, b = sympy.symbols("f a b", real=True)
    growth, delta_ = sympy.symbols("E", positive=True), given.symbol("delta")
    apart = (growth - 1 + 2 * delta_) / (growth + 1)
    sides = (growth * b + delta_ - a) + (growth * (1 - a) + delta_ - (1 - b))  # a <= E b + delta, 1-b <= E(1-a) + delta
    return proof(
        computed("whatever f predicts, ((f - 1)^2 + (f + 1)^2)/2 = f^2 + 1 >= 1",
                 sympy.expand(((f - 1) ** 2 + (f + 1) ** 2) / 2 - f**2 - 1) == 0),
        computed("the two inequalities of privacy, added, bound a - b = P(A) - Q(A) by (e^epsilon - 1 + 2 delta)/"
                 "(e^epsilon + 1)", sympy.simplify(sides - (growth + 1) * (apart - (a - b))) == 0),
        computed("half of what is left, (1 - TV)/2, is at least that number",
                 sympy.factor((1 - apart) / 2 - least(growth, delta_)).is_nonnegative),
        argued("the mean over the label of E (f - y)^2 is at least the integral of min(P, Q) (f^2 + 1), hence 1 - TV; "
               "(3.6) is the mean of half such terms and a regulariser >= 0"),
        tried=tried,
    )


# --- the minimum of the regularised loss


def judge_floor(exponent: Fraction, given: Domain) -> Finding:
    """Whether n^exponent up to logarithms can bound (3.6) at lambda = 1, n = d, labels +-1: it has a minimum."""
    size = sympy.symbols("l", positive=True)  # log n
    for n in (10**40, 10**80, 10**160, 10**320):
        # The document's P at c = 1 and gamma = 1/10, rounded up; 114 > 80 sqrt 2, log x < 7/3 its number of digits.
        patterns = Fraction(114 * len(str(10 * n)) * 7, 3)
        floor = _least(patterns, Fraction(1), Fraction(1))
        with ctx.workprec(2200):
            rate = (ball(exponent) * arb(n).log()).exp() * arb(n).log() ** 10
            below = bool(rate < ball(floor))
        if below:
            return refuted_by("below the minimum of the loss: no algorithm reaches it", {
                "n": f"1e{len(str(n)) - 1}", "d": "n", "lambda": 1, "P": patterns, "exponent": exponent,
                "least loss": f"{float(floor):.6g}", "claimed rate": rate.str(6)},
                sampled("the rate falls below 1/log n for every power of the logarithm tried",
                        all(sympy.limit(sympy.exp(sympy.Rational(exponent.numerator, exponent.denominator) * size)
                                        * size ** (k + 1), size, sympy.oo) == 0 for k in (0, 1, 10, 100))),
                argued("with a probability of at least 1/2 some labels +-1 have a minimum of lambda/(2 (2 P d/n + "
                       "lambda)): thm-4.1-regularised-repaired"))
    return undecided("not below the minimum at the n tried", 4)


def _least(patterns: Any, ratio: Any, lam: Any) -> Any:
    return lam / (2 * (2 * patterns / ratio + lam))


Between = tuple[Callable[[Any, Any, Any], Any], Fraction]


def judge_between(says: Between, given: Domain) -> Finding:
    """Whether the mean over labels +-1 of min (3.6) is between lower(P, n/d, lambda) and upper if |X|_F^2 <= 2 n d."""
    lower, upper = says
    tried = 0
    for point in given.points("n", "d", "P", "lam", most={"n": 5, "d": 5, "P": 3}):
        n, d, count, lam = (point[name] for name in ("n", "d", "P", "lam"))
        tried += 1
        if n > d:
            continue  # no n orthogonal rows
        true = lam / 2 * n / (2 * count * d + n * lam)
        if not lower(count, Fraction(n, d), lam) <= true <= upper:
            return refuted("the mean of the minima is another number, exactly", {
                **point, "X": "orthogonal rows of squared length 2 d, all active", "mean of the minima": true,
                "claimed from": lower(count, Fraction(n, d), lam), "to": upper})
    n_, d_, count_, lam_ = (given.symbol(name) for name in ("n", "d", "P", "lam"))
    trace, one, two = sympy.symbols("s k_1 k_2", positive=True)
    bound = lam_ / 2 * n_**2 / (trace + n_**2 * lam_)
    return proof(
        computed("k_1/k_2 + k_2/k_1 >= 2, so tr K^-1 tr K >= n^2 for K = S + n lambda: the mean of the minima is at "
                 "least (lambda/2) n^2 / (tr S + n^2 lambda)",
                 sympy.factor(one / two + two / one - 2 - (one - two) ** 2 / (one * two)) == 0),
        computed("that falls with tr S", sympy.factor(-sympy.diff(bound, trace)).is_positive),
        computed("at tr S = 2 n d P it is at least the lower number",
                 sympy.factor(bound.subs(trace, 2 * n_ * d_ * count_) - lower(count_, n_ / d_, lam_)).is_nonnegative),
        computed("at v = 0 the loss is |y|^2 / (2n) = 1/2, no more than the upper number", upper >= Fraction(1, 2)),
        argued("tr S = sum_ij (D_i)_jj |x_j|^2 <= P |X|_F^2, whose mean is n d P: at most 2 n d P with a probability "
               "of at least 1/2 (Markov); some labels reach the mean"),
        tried=tried,
    )


# --- gradients


def judge_gradients(mean_square: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the mean squared norm of a record's gradient at 0 is at most that function of d and P (label 1)."""
    x, length = sympy.symbols("x", real=True), sympy.symbols("s", positive=True)
    density = sympy.exp(-((x / length) ** 2) / 2) / (length * sympy.sqrt(2 * sympy.pi))
    square = sympy.integrate(x**2 * density.subs(length, 1), (x, -sympy.oo, sympy.oo))
    active = sympy.integrate(density, (x, 0, sympy.oo))  # x^T u given x is a centred Gaussian of deviation |x|
    each = square * active
    steps = (
        computed("E x_c^2 = 1, and x^T u >= 0 has the probability 1/2 given x, whatever |x|",
                 square == 1 and active == sympy.Rational(1, 2)),
        argued("conditioned on x, the mean of x_c^2 1(x^T u >= 0) is x_c^2 / 2; there are d coordinates and P blocks"),
    )
    points = sorted(given.points("d", "P"), key=lambda point: -point["d"] * point["P"])  # the clearest case first
    for point in points:
        true, claimed = Fraction(str(each)) * point["d"] * point["P"], mean_square(point["d"], point["P"])
        if true > claimed:
            return refuted_by("the mean square exceeds it, so some gradients do",
                              {**point, "mean squared norm": true, "claimed": claimed}, *steps)
    d, patterns = given.symbol("d"), given.symbol("P")
    i, c = sympy.symbols("i c", integer=True)
    total = sympy.Sum(each, (c, 1, d), (i, 1, patterns)).doit()
    return proof(*steps, computed("over d coordinates and P blocks that is the claimed number",
                                  sympy.simplify(total - mean_square(d, patterns)) == 0))


# --- how often all of it may fail


def judge_union(shares: tuple[Fraction, Fraction, Fraction], given: Domain) -> Finding:
    """Whether Lemmas D.1, D.2 and Theorem D.3, each failing with its share of gamma, together fail with gamma at most.

    (Lemma D.2 also fails with (2n)^-8, which the statement allows.) Events may exclude each other: then they add up.
    """
    points = list(given.points("n", "gamma"))
    for point in points:
        together = sum(shares) * point["gamma"]
        if min(shares) <= 0 or point["gamma"] < together <= 1 - Fraction(1, (2 * point["n"]) ** 8):
            return refuted("three events that exclude each other fail more often together, exactly", {
                **point, "failing": ", ".join(str(share * point["gamma"]) for share in shares),
                "together": together, "allowed": point["gamma"]})
    inverse = 1 / sympy.Rational(min(shares).numerator, min(shares).denominator)
    room = (given.chart("n") / given.chart("gamma")) ** 2 - inverse
    return proof(
        computed("an outcome in one of three events or more is counted at least once in the sum of their probabilities",
                 all(max(inside) <= sum(inside) for inside in itertools.product((0, 1), repeat=3))),
        computed("the shares add up to at most 1", sum(shares) <= 1),
        computed("log(n / (share gamma)) <= 3 log(n/gamma), as 1/share <= (n/gamma)^2: P has the same order",
                 sympy.expand(sympy.numer(sympy.together(room))).is_positive),
        tried=len(points),
    )


_HALF = Fraction(-1, 2)
_RATE_USES = tuple(
    f"relu-approx/{name}" for name in ("thm-D.3", "P-order", "zero-optimum-3.6", "alg-1", "thm-4.1-union")
)
_THEOREM = (
    "Consider applying the private gradient descent (Alg. 1) to the practical stochastic strongly convex "
    "problem (3.6) and assume the gradients stay bounded by a constant L > 0."
)

theorem_4_1 = Claim(
    id="relu-approx/thm-4.1",
    source="000, Theorem 4.1 = Theorem D.4, by the substitution of its proof (the root may be the extraction's)",
    quote=_THEOREM + " [...] Substituting this p to the claim of Theorem D.3, the claim follows.",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathcal{L}(\theta^{priv}, D) \le \widetilde{O}\Big(\frac{1}{\sqrt{n\varepsilon}}\Big)",
    words="substituting p = O(n log(n/gamma)) in Theorem D.3 gives the rate (n epsilon)^(-1/2)",
    hypotheses=(positive_integer("n"), positive("epsilon")),
    says=(_HALF, _HALF),
    check=judge_rate(PRINTED),
    flips=(Flip("n^(-1/2) / epsilon", (_HALF, Fraction(-1)), Verdict.HOLDS),),
    uses=_RATE_USES,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"|\nabla\ell| \le L \text{ on a convex } C \ni \theta^*,\ p \le n\ell,\ \varepsilon \le 1 \implies"
                  r" \mathbb{E}\,\mathcal{L}(\theta^{priv}) - \min \mathcal{L} = O\Big("
                  r"\frac{L\,\mathrm{diam}(C)\sqrt{\ell}}{\sqrt{n}\,\varepsilon}\Big)",
        words="if L diam(C) stays bounded, which for unit labels it cannot, p = n log(n/gamma) gives the expected "
              "excess the rate n^(-1/2) / epsilon for epsilon up to 1",
        says=(_HALF, Fraction(-1)),
        check=judge_rate(REPAIRED),
        expected="HOLDS ARGUED",
        source="000, Theorem 4.1, for the excess risk, given a bounded set C on which gradients are bounded",
        hypotheses=(positive_integer("n"), positive("epsilon").at_most(1)),
        flips=(
            Flip("1 / (n epsilon)", (Fraction(-1), Fraction(-1)), Verdict.REFUTED),
            Flip("as printed", (_HALF, _HALF), Verdict.REFUTED),
            Flip("n^(-1/4) / epsilon, slower than what follows", (Fraction(-1, 4), Fraction(-1)), Verdict.UNDECIDED),
        ),
        rests_on=("relu-approx/thm-D.3-repaired",),
    ),
)

labels = Claim(
    id="relu-approx/thm-4.1-labels",
    source="000, Theorem 4.1 and Section 4 (the minimum loss goes to zero), against what privacy allows: ours",
    severity=Stake.UTILITY,
    statement=r"\mathbb{E}_{y \in \{-1, 1\}^n}\, \mathbb{E}\,\mathcal{L}(\theta, D) \ge"
              r" \frac{1 - \delta}{1 + e^{\varepsilon}} \text{ for every } (\varepsilon, \delta)\text{-DP } \theta",
    words="for labels +-1 no private output has a mean loss below (1 - delta)/(1 + e^epsilon), however large n: no "
          "rate that vanishes with n at fixed epsilon can hold for unit labels (a finding of ours)",
    hypotheses=(non_negative("epsilon"), probability("delta")),
    says=lambda growth, delta: (1 - delta) / (1 + growth),
    check=judge_labels,
    flips=(
        Flip("1 / (1 + e^epsilon)", lambda growth, delta: 1 / (1 + growth), Verdict.REFUTED),
        Flip("twice that", lambda growth, delta: 2 * (1 - delta) / (1 + growth), Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)

union = Claim(
    id="relu-approx/thm-4.1-union",
    source="000, proof of Theorem D.4: Lemmas D.1, D.2 and Theorem D.3 at once, each with all of gamma",
    quote=(
        r"By Lemma D.2, with with probability at least $1 - \gamma - \frac{1}{(2n)^8}$ , for $p = d \cdot P = O(n "
        r"\log \frac{n}{\gamma})$ , we have that $\mathcal{L}(\theta^*, X) = 0$ ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\mathbb{P}(\text{D.1 fails}) + \mathbb{P}(\text{D.2 fails}) + \mathbb{P}(\text{D.3 fails}) \le"
              r" \gamma + (2n)^{-8}, \text{ each used with } \gamma",
    words="the two lemmas and Theorem D.3, each with the failure probability gamma, all hold but for gamma + (2n)^-8",
    hypotheses=(positive_integer("n").at_least(2), probability("gamma")),
    says=(Fraction(1), Fraction(1), Fraction(1)),
    check=judge_union,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\text{with } \gamma/3 \text{ for each they hold but for } \gamma + (2n)^{-8}, \text{ and }"
                  r" \log\frac{3n}{\gamma} \le 3 \log\frac{n}{\gamma}",
        words="with gamma/3 for each all hold but for gamma + (2n)^-8, and P grows by a constant factor at most",
        says=(Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)),
        expected="HOLDS PROVED",
        source="000, proof of Theorem D.4, with a union bound",
        flips=(Flip("gamma/2 for each", (Fraction(1, 2),) * 3, Verdict.REFUTED),),
        true_variants={"*1 % less": "smaller shares fail less often, too"},
    ),
)

regularised = Claim(
    id="relu-approx/thm-4.1-regularised",
    source="000, Theorem 4.1 for (3.6), lambda = 1, labels +-1, n = d, read without its assumption of bounded "
           "gradients, which such data do not meet (thm-4.1-gradients-repaired)",
    quote=_THEOREM,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\mathcal{L}(\theta^{priv}, D) = O\big(n^{-1/2}\log^{10} n\big), \quad \lambda = 1",
    words="for the strongly convex problem (3.6), lambda fixed, the loss itself falls like n^(-1/2) up to logarithms",
    hypotheses=(positive_integer("n"), positive("lam")),
    says=_HALF,
    check=judge_floor,
    flips=(Flip("n^(-1/4)", Fraction(-1, 4), Verdict.REFUTED), Flip("a constant", Fraction(0), Verdict.UNDECIDED)),
    uses=("relu-approx/zero-optimum-3.6",),
    rests_on=("relu-approx/thm-4.1-regularised-repaired",),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"|X|_F^2 \le 2nd \implies \exists y \in \{-1, 1\}^n:\ \frac{\lambda}{2(2Pd/n + \lambda)} \le \min"
                  r" \mathcal{L} \le \frac12",
        words=(
            "with a probability of at least 1/2 over Gaussian X some labels +-1 leave (3.6) a minimum between "
            "lambda/(2 (2 P d/n + lambda)), of the order 1/log n, and 1/2: only the excess risk can fall faster"
        ),
        says=(_least, Fraction(1, 2)),
        check=judge_between,
        hypotheses=(positive_integer("n"), positive_integer("d"), positive_integer("P"), positive("lam")),
        expected="HOLDS ARGUED",
        source="000, Theorem 4.1 with lambda > 0: what the loss can be",
        flips=(
            Flip("at least lambda/(2 (P d/n + lambda))",
                 (lambda patterns, ratio, lam: lam / (2 * (patterns / ratio + lam)), Fraction(1, 2)), Verdict.REFUTED),
            Flip("at most 1/4", (_least, Fraction(1, 4)), Verdict.REFUTED),
        ),
        true_variants=dict.fromkeys(
            ("?0? sign", "?0? 1 % less", "?0? squared", "?0? 2 -> 3*", "?1? 1 % more", "?1? one more"),
            "a smaller lower or a larger upper bound is true, too",
        ) | {"any d": "the algebra does not need the sign of d, and there are no data without a feature"},
        rests_on=("relu-approx/zero-optimum-3.6-repaired",),
    ),
)

gradients = Claim(
    id="relu-approx/thm-4.1-gradients",
    source="000, Theorem 4.1 assumes bounded gradients; that ten bounds them for Gaussian data is a statement of ours",
    severity=Stake.UTILITY,
    statement=r"\mathbb{E}\,\|\nabla \ell(\theta_0, x_j, y_j)\|^2 \le 100 \text{ for all } d,\quad X_{ij} \sim N(0, 1),"
              r"\ |y_j| = 1",
    words="in the random data model the gradients of (3.8) at the start have a mean square that d does not move (not a "
          "statement of the document, which assumes bounded gradients and warns)",
    hypotheses=(positive_integer("d"), positive_integer("P")),
    says=lambda d, patterns: Fraction(100),
    check=judge_gradients,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\mathbb{E}\, \|\nabla \ell(0, x_j, y_j)\|^2 = y_j^2\, \frac{dP}{2}",
        words="at the start a record's gradient has the mean square y^2 d P / 2 under Gaussian data",
        says=lambda d, patterns: d * patterns * Fraction(1, 2),
        expected="HOLDS ARGUED",
        source="000, Theorem 4.1: what the gradients at theta_0 = 0 are",
        flips=(Flip("d P / 4", lambda d, patterns: d * patterns * Fraction(1, 4), Verdict.REFUTED),),
        true_variants={"any *": "without a coordinate or a block both sides are 0"},
    ),
)
