r"""Algorithm 4 and Lemma 6 of document 002: the derivative of the envelope by subgradient steps.

h(u) = g(u) + beta (u - m)^2/2 has the slope link(u) - y + beta (u - m), which rises by at least beta. The link need not
be continuous. Write d_t = beta (u_t - m) and s_t = link(u_t) - y, |s_t| <= 2B. Algorithm 4 with w_t for its x_t is

    d_{t+1} = cut(d_t - 2/(t+1) (s_t + d_t)) = cut((t-1)/(t+1) d_t - 2/(t+1) s_t),        cut to [-q, q].

- Stay. (t-1)/(t+1) + 2/(t+1) = 1, so |d_t| <= 2B gives |d_{t+1}| <= 2B; and d_2 = -s_1 whatever d_1 is. From the second
  step on the cut at q = 4B (or 8B) never acts, and slopes are at most 4B; the first is at most 2B + q.
- Rate. With eta_t = 2/(beta (t+1)), beta-strong convexity and projection give h(u_t) - h(u*) <= eta_t G_t^2/2 +
  (1/(2 eta_t) - beta/2) a_t - a_{t+1}/(2 eta_t), a_t = (u_t - u*)^2. Times t, that telescopes: sum t (h(u_t) - h(u*))
  <= sum G_t^2 t/(beta (t+1)). With weights 2t/(T(T+1)) and h(u) - h(u*) >= beta (u - u*)^2/2, the error of the answer,
  beta (average - u*), has square at most 4/(T(T+1)) ((2B+q)^2/2 + 16 B^2 (T-1)).
  The document has all slopes at most 6B: (12B)^2/(T+1). Both are below gamma^2 at T >= 144 B^2/gamma^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.smoothing.polyhedral import Polyhedral
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as surely_positive
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Two = Callable[[Any, Any], Any]
_LONGEST = 1200  # steps of one exact run


def step_links(bound: Fraction) -> tuple[Polyhedral, ...]:
    """g' = link - y for step links, extreme and between: constants, a sign, a sign with an own label, a staircase."""
    zero, two = Fraction(0), 2 * bound
    return (
        Polyhedral((), (two,)), Polyhedral((zero,), (-bound, bound)), Polyhedral((zero,), (zero, two)),
        Polyhedral((-bound / 3, bound / 7), (-two, -bound / 2, zero)),
    )


def answer(loss: Polyhedral, m: Fraction, beta: Fraction, steps: int, edge: Fraction, start: Fraction) -> Fraction:
    """beta (m - average) of Algorithm 4, cut at m +- edge/beta, from m + start/beta; rounded steps, which it allows."""
    d, total = start, Fraction(0)
    for t in range(1, steps + 1):
        total += t * d
        d += Fraction(-2, t + 1) * (loss.slope(m + d / beta) + d)
        d = Fraction(round(max(-edge, min(edge, d)) * 2**40), 2**40)  # far below every error that is asked about
    return -total * 2 / (steps * (steps + 1))


def judge_error(says: Two, given: Domain) -> Finding:
    """Whether says(B, gamma) steps, rounded up, make the answer right up to gamma, for records of length 1."""
    tried = 0
    for point in given.points("B", "gamma", "beta", at_most=60):
        bound, gamma, beta = point["B"], point["gamma"], point["beta"]
        steps = max(1, math.ceil(says(bound, gamma)))
        if steps > _LONGEST:
            continue
        for loss in step_links(bound):
            for m, start in ((bound / (3 * beta), Fraction(0)), (-bound / (5 * beta), 4 * bound)):
                found = answer(loss, m, beta, steps, 4 * bound, start)
                true, tried = beta * (m - loss.prox(m, beta)), tried + 1
                if abs(found - true) > gamma + Fraction(1, 2**30):
                    return refuted("the answer is further off", {
                        "B": bound, "gamma": gamma, "beta": beta, "steps": steps, "m": m, "w_1 - m": start / beta,
                        "kinks of g": ", ".join(map(str, loss.kinks)) or "none",
                        "slopes of g": ", ".join(map(str, loss.slopes)), "answer": found, "derivative": true})
    b_, gamma_, t_ = given.symbol("B"), given.symbol("gamma"), sympy.symbols("t", nonnegative=True)
    steps_ = says(b_, gamma_)
    least = 144 * b_**2 / gamma_**2
    count = 1 + t_  # T >= 1
    rate = 4 / (count * (count + 1)) * ((6 * b_) ** 2 / 2 + 16 * b_**2 * (count - 1))
    k = sympy.symbols("k", positive=True)
    return proof(
        computed("(t-1)/(t+1) and 2/(t+1) are weights: from t = 2 on |d_t| <= 2B, and d_2 = -s_1",
                 vanishes((k - 1) / (k + 1) + 2 / (k + 1) - 1)),
        computed("t times the step's inequality telescopes: t (1/(2 eta_t) - beta/2) = (t-1) t beta/4, t/(2 eta_t) = "
                 "t (t+1) beta/4",
                 vanishes(k * ((k + 1) / 4 - sympy.Rational(1, 2)) - (k - 1) * k / 4,
                          k * (k + 1) / 4 - k * (k + 1) / 4)),
        computed("the squared error after T steps is at most 144 B^2/(T + 1)",
                 never_negative(144 * b_**2 / (count + 1) - rate)),
        computed("the number of steps is at least 144 B^2/gamma^2, so that this is below gamma^2",
                 never_negative(steps_ - least) and surely_positive(gamma_**2 - 144 * b_**2 / (least + 1))
                 and given.symbol("beta").is_positive is True),
        argued("strong convexity and projection give the step's inequality, and the average's error is that of the "
               "module docstring; times |x| <= 1 it is the gradient's"),
        tried=tried,
    )


def judge_interval(says: Two, given: Domain) -> Finding:
    """Whether the prox lies within says(B, beta) of the score."""
    tried = 0
    for point in given.points("B", "beta", at_most=60):
        bound, beta = point["B"], point["beta"]
        for loss in step_links(bound):
            for m in (Fraction(0), 3 * bound / beta, -bound / beta):
                away, tried = abs(loss.prox(m, beta) - m), tried + 1
                if away > says(bound, beta):
                    return refuted("the prox is further from the score", {
                        "B": bound, "beta": beta, "m": m, "kinks of g": ", ".join(map(str, loss.kinks)) or "none",
                        "slopes of g": ", ".join(map(str, loss.slopes)), "distance": away,
                        "claimed": says(bound, beta)})
    b_, beta_ = given.symbol("B"), given.symbol("beta")
    return proof(
        argued("the prox is where link - y + beta (u - m) changes its sign, and |link - y| <= 2B"),
        computed("the claimed distance is at least 2B/beta", never_negative(says(b_, beta_) - 2 * b_ / beta_)),
        tried=tried,
    )


def judge_steepness(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the largest slope of h on Q = [m - 4B/beta, m + 4B/beta] is says(B)."""
    tried = 0
    for point in given.points("B", "beta", at_most=60):
        bound, beta = point["B"], point["beta"]
        steepest = max(abs(loss.slope(side / beta) + side) for loss in step_links(bound)
                       for side in (-4 * bound, 4 * bound))
        tried += 1
        if steepest != says(bound):
            return refuted("the largest slope is another", {
                "B": bound, "beta": beta, "m": 0, "largest slope": steepest, "claimed": says(bound)})
    b_, more = given.symbol("B"), sympy.symbols("r", nonnegative=True)
    return proof(
        computed("2B + 4B, attained by the constant link B with the label -B at the right end; slopes are within 2B "
                 "and "
                 "the square's within beta 4B/beta", vanishes(says(b_) - 2 * b_ - 4 * b_)
                 and never_negative(6 * b_ + more - 6 * b_) and given.symbol("beta").is_positive is True),
        tried=tried,
    )


def judge_rate(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether 2 L^2/(beta (T+1)) at L = 6B is says(B, beta, T), and gives |w - u*| <= 12 B/(beta sqrt(T))."""
    tried = 0
    for point in given.points("B", "beta", "steps", at_most=60):
        bound, beta, steps = point["B"], point["beta"], point["steps"]
        true, tried = 2 * (6 * bound) ** 2 / (beta * (steps + 1)), tried + 1
        if says(bound, beta, steps) != true:
            return refuted("another number", {"B": bound, "beta": beta, "T": steps, "2 (6B)^2/(beta (T+1))": true,
                                              "claimed": says(bound, beta, steps)})
    b_, beta_, steps_ = (given.symbol(name) for name in ("B", "beta", "steps"))
    told = says(b_, beta_, steps_)
    return proof(
        computed("2 (6B)^2/(beta (T+1))", vanishes(told - 2 * (6 * b_) ** 2 / (beta_ * (steps_ + 1)))),
        computed("2/beta times it is at most (12 B/beta)^2/T",
                 surely_positive((12 * b_ / beta_) ** 2 / steps_ - 2 * told / beta_)),
        tried=tried,
    )


def judge_time(says: Two, given: Domain) -> Finding:
    """Whether the 4 d + 8 T operations of Algorithm 4 are at most 12 says(d, T)."""
    tried = 0
    for point in given.points("d", "steps", at_most=60):
        d, steps = point["d"], point["steps"]
        work, tried = 4 * d + 8 * steps, tried + 1
        if work > 12 * says(d, steps):
            return refuted("more operations", {"d": d, "T": steps, "operations": work, "12 times claimed":
                                               12 * says(d, steps)})
    d_, steps_ = given.chart("d"), given.chart("steps")
    return proof(
        argued("a score and a scaled record take at most 2d operations each, a scalar step at most 8"),
        computed("4 d + 8 T is at most 12 times the claimed order", never_negative(
            sympy.expand(12 * says(d_, steps_) - 4 * d_ - 8 * steps_))),
        tried=tried,
    )


def judge_averaged(says: Two, given: Domain) -> Finding:
    """Whether Algorithm 4, averaging says(x, w_t), answers with the derivative up to gamma = 1/8; d = 1, B = beta = 1.

    The constant link 1 and the label -1: the derivative is 2 for every record x = 1, m = 0.
    """
    steps, x = 144 * 64, Fraction(1)
    d, total = Fraction(0), Fraction(0)
    for t in range(1, steps + 1):
        total += t * says(x, d)
        d = max(Fraction(-4), min(Fraction(4), d * Fraction(t - 1, t + 1) - Fraction(4, t + 1)))
    told = -total * 2 / (steps * (steps + 1))
    if abs(told - 2) > Fraction(1, 8):
        return refuted("the answer is not the derivative", {
            "link": 1, "label": -1, "x": x, "m": 0, "beta": 1, "gamma": "1/8", "T": steps, "answer": told,
            "derivative": 2})
    record, iterate = sympy.symbols("x w", real=True)
    return proof(computed("the iterates are averaged, as in Lemma 6", vanishes(says(record, iterate) - iterate)),
                 tried=1)


def judge_primed(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(value, slope) of the envelope at m is beta (m - prox(m)); the constant link B, label -B."""
    tried = 0
    for point in led(given, at_most=60, B="1", beta="4", m="0"):
        bound, beta, m = point["B"], point["beta"], point["m"]
        loss = Polyhedral((), (2 * bound,))
        true, told = beta * (m - loss.prox(m, beta)), says(loss.envelope(m, beta), 2 * bound)
        tried += 1
        if told != true:
            return refuted("another number", {"link": bound, "label": -bound, "beta": beta, "m": m,
                                              "beta (m - prox)": true, "claimed": told})
    value, slope = sympy.symbols("e s", real=True)
    return proof(computed("it is the slope", vanishes(says(value, slope) - slope)), tried=tried)


_B, _BETA, _GAMMA = positive("B"), positive("beta"), positive("gamma")
_STEPS = positive_integer("steps", "T")
_LESS = {"1 % more": "more is enough, too"}

error = Claim(
    id="nonconvex-nn/lem-6",
    source="002, Lemma 6 and Algorithm 4 (w_t averaged, any w_1 in Q, T rounded up): the error",
    quote=(
        r"satisfies that $\|\nabla f_\beta(w; x, y) - \mathcal{O}_{\beta,\gamma}(w; x, y)\|_2 \leq \gamma$ for any "
        r"fixed "
        r"w, x, y"
    ),
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"T = \frac{144 B^2}{\gamma^2} \Rightarrow \lVert \nabla f_\beta - \mathcal{O}_{\beta,\gamma} \rVert \le"
              r" \gamma",
    words="Algorithm 4, its slips mended, answers with the gradient of the envelope up to gamma after 144 B^2/gamma^2 "
          "steps",
    hypotheses=(_B, _GAMMA, _BETA), says=lambda b, gamma: 144 * b**2 / gamma**2, check=judge_error,
    flips=(Flip("one step", lambda b, gamma: b / b, Verdict.REFUTED),),
    uses=("nonconvex-nn/lem-4-derivative",), rests_on=("nonconvex-nn/lem-4-derivative",),
    true_variants={**_LESS, "144 -> 145*": "more steps are enough, too"}, expected="HOLDS ARGUED",
)
projected_error = Claim(
    id="nonconvex-nn/alg-6-oracle", source="002, Algorithm 6: B replaced by 2B in Algorithm 4, for |x| <= 2",
    quote=r"and replace B by $2B$ in Algorithm 4", whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"T = \frac{144 (2B)^2}{\gamma^2} \Rightarrow \lVert \nabla f_\beta - \mathcal{O} \rVert \le \gamma,"
              r"\ \lVert x \rVert \le 2",
    words="with 2B for B, so Q twice as long and four times the steps, gradients of records of length 2 are right up "
          "to "
          "gamma",
    hypotheses=(_B, _GAMMA, _BETA), says=lambda b, gamma: 576 * b**2 / gamma**2,
    check=lambda says, given: _judge_doubled(says, given), rests_on=("nonconvex-nn/lem-6",),
    flips=(Flip("144 B^2/gamma^2", lambda b, gamma: 144 * b**2 / gamma**2, Verdict.UNDECIDED),
           Flip("one step", lambda b, gamma: b / b, Verdict.REFUTED)),
    true_variants={"1 % *": "450 B^2/gamma^2 are enough", "576 -> 577*": "more is enough"}, expected="HOLDS ARGUED",
)


def _judge_doubled(says: Two, given: Domain) -> Finding:
    """Whether says(B, gamma) steps on Q = m +- 8B/beta give twice the derivative up to gamma."""
    tried = 0
    for point in given.points("B", "gamma", "beta", at_most=30):
        bound, gamma, beta = point["B"], point["gamma"], point["beta"]
        steps = max(1, math.ceil(says(bound, gamma)))
        for loss in step_links(bound) if steps <= _LONGEST else ():
            m = bound / (3 * beta)
            found, true = answer(loss, m, beta, steps, 8 * bound, 8 * bound), beta * (m - loss.prox(m, beta))
            tried += 1
            if 2 * abs(found - true) > gamma + Fraction(1, 2**30):
                return refuted("the gradient is further off", {
                    "B": bound, "gamma": gamma, "beta": beta, "steps": steps, "m": m, "|x|": 2, "answer": found,
                    "slopes of g": ", ".join(map(str, loss.slopes)), "derivative": true})
    b_, gamma_, t_ = given.symbol("B"), given.symbol("gamma"), sympy.symbols("t", nonnegative=True)
    count = 1 + t_
    rate = 4 * 4 / (count * (count + 1)) * ((10 * b_) ** 2 / 2 + 16 * b_**2 * (count - 1))
    return proof(
        computed("|x| = 2, a first slope of at most 2B + 8B and the others of at most 4B: the squared error of the "
                 "gradient is at most 450 B^2/T", never_negative(450 * b_**2 / count - rate)),
        computed("there are at least 450 B^2/gamma^2 steps",
                 never_negative(says(b_,
                                     gamma_) - 450 * b_**2 / gamma_**2) and given.symbol("beta").is_positive is True),
        argued("the recursion of the module docstring: from the second step on no slope is above 4B, whatever Q is"),
        tried=tried,
    )


time = Claim(
    id="nonconvex-nn/lem-6-cost", source="002, Lemma 6: running time O(d B^2/gamma^2)",
    quote=r"Moreover, $\mathcal{O}_{\beta,\gamma}$ has running time $O(d\frac{B^2}{\gamma^2})$.", whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"O(d\,T),\ T = 144 B^2/\gamma^2 \ge 1",
    words="Algorithm 4 takes O(d T) operations (in fact O(d + T): its loop is over scalars)",
    hypotheses=(positive_integer("d"), _STEPS), says=lambda d, steps: d * steps, check=judge_time,
    flips=(Flip("O(d + T)", lambda d, steps: d + steps, Verdict.HOLDS),
           Flip("O(T)", lambda d, steps: steps, Verdict.REFUTED)),
    true_variants={"1 % more": "only the order is claimed", "squared": "larger", "* -> +*": "O(d + T) is true, too"},
    expected="HOLDS ARGUED",
)
interval = Claim(
    id="nonconvex-nn/alg-4-interval", source="002, Section 4.1.2, Algorithm 4, line 1, and proof of Lemma 6",
    quote=r"We can show that $\text{prox}_g^\beta(m) \in \mathcal{Q} = [m - \frac{4B}{\beta}, m + \frac{4B}{\beta}]$",
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"|\mathrm{prox}_g^\beta(m) - m| \le 4B/\beta",
    words="the prox lies within 4B/beta of the score (in fact within 2B/beta)",
    hypotheses=(_B, _BETA), says=lambda b, beta: 4 * b / beta, check=judge_interval,
    flips=(Flip("2B/beta", lambda b, beta: 2 * b / beta, Verdict.HOLDS),
           Flip("B/beta", lambda b, beta: b / beta, Verdict.REFUTED)),
    true_variants={"1 % *": "2B/beta is enough", "4 -> 5*": "2B/beta is enough"}, expected="HOLDS ARGUED",
)
steepness = Claim(
    id="nonconvex-nn/lem-6-lipschitz", source="002, proof of Lemma 6",
    quote=r"function $h(\cdot)$ is β -strongly convex and $2B + 4B = 6B$ -Lipschitz", whose=Whose.PRINTED,
    severity=Stake.PROOF, statement=r"\max_{u \in \mathcal{Q}} |h'(u)| = 6B",
    words="the objective of the prox has slopes of at most 2B + 4B = 6B on Q, and no less", hypotheses=(_B, _BETA),
    says=lambda b: 6 * b, check=judge_steepness, flips=(Flip("4B", lambda b: 4 * b, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
rate = Claim(
    id="nonconvex-nn/lem-6-rate", source="002, proof of Lemma 6: the standard rate at 6B",
    quote=r"\frac{\beta}{2}|\hat{w} - u^*|^2 \leq h(\hat{w}) - h(u^*) \leq \frac{72B^2}{\beta(T+1)}.",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"\frac{2 (6B)^2}{\beta (T+1)} = \frac{72 B^2}{\beta (T+1)},"
    r"\ |\hat w - u^*| \le \frac{12 B}{\beta \sqrt T}",
    words="the rate 2 L^2/(beta (T+1)) of subgradient descent at L = 6B is 72 B^2/(beta (T+1)), and gives 12B/(beta "
          "sqrt(T))",
    hypotheses=(_B, _BETA, _STEPS), says=lambda b, beta, steps: 72 * b**2 / (beta * (steps + 1)), check=judge_rate,
    flips=(Flip("36", lambda b, beta, steps: 36 * b**2 / (beta * (steps + 1)), Verdict.REFUTED),),
    uses=("nonconvex-nn/lem-6-lipschitz",), expected="HOLDS PROVED",
)
averaged = Claim(
    id="nonconvex-nn/alg-4-typos", source="002, Algorithm 4, line 7: x_t, which stands nowhere, for w_t",
    quote=r"Denote $\bar{w} = \sum_{t=1}^T \frac{2t}{T(T+1)} x_t$.", whose=Whose.TYPO, severity=Stake.UTILITY,
    statement=r"\bar w = \sum_t \tfrac{2t}{T(T+1)} x_t,\ x_t = x",
    words="Algorithm 4 answers up to gamma if it averages the record in place of its iterates",
    hypotheses=(), says=lambda record, iterate: record, check=judge_averaged, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\bar w = \sum_t \tfrac{2t}{T(T+1)} w_t",
        words="Algorithm 4 answers up to gamma if it averages its iterates w_t",
        says=lambda record, iterate: iterate, expected="HOLDS ARGUED", rests_on=("nonconvex-nn/lem-6",),
        true_variants={"only at argument 1 = 0": "the first iterate has the weight 2/(T(T+1)), far below gamma"},
    ),
)
primed = Claim(
    id="nonconvex-nn/alg-4-derivative", source="002, Section 4.1.2 and (10): the envelope for its derivative",
    quote=r"\nabla f_\beta(w; x, y) = x g_\beta^y(\langle w, x \rangle)$, where $g_\beta^y(m) = \beta[m - "
          r"\text{prox}_g^\beta(m)]", whose=Whose.TYPO, severity=Stake.PROOF,
    statement=r"g_\beta^y(m) = \beta (m - \mathrm{prox}_g^\beta(m))",
    words="the envelope itself at m is beta (m - prox(m))", hypotheses=(_B, _BETA, real("m")),
    says=lambda value, slope: value, check=judge_primed, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"(g_\beta^y)'(m) = \beta (m - \mathrm{prox}_g^\beta(m))",
        words="the derivative of the envelope at m is beta (m - prox(m))", says=lambda value, slope: slope,
        expected="HOLDS ARGUED", rests_on=("nonconvex-nn/lem-4-derivative",),
        true_variants={"any *": "the slope is the same expression for all numbers"},
    ),
)
