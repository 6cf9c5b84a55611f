r"""Noisy projected descent on a convex loss (after Bassily, Smith and Thakurta 2014): its excess risk on average.

C is convex and closed, L convex on C with subgradients of norm at most G there, theta* a minimiser over C, theta_0 in C
with |theta_0 - theta*| <= D, and theta_{t+1} = Pi_C[theta_t - eta (g_t + b_t)] for t = 0, ..., T-1, where g_t is a
subgradient at theta_t and b_t has mean 0 given the past and mean square E|b_t|^2 <= p sigma^2 (Gaussian noise in p
dimensions is an example). Then the average of theta_1, ..., theta_T has

    E L(average) - L(theta*) <= D^2 / (2 eta T) + eta/2 ((T+1)/T G^2 + p sigma^2).

Proof. Let w_t = theta_t - theta* and u_t = w_t - eta g_t. A projection does not increase the distance from a point of
C, so |w_{t+1}|^2 <= |u_t - eta b_t|^2, and by convexity <g_t, w_t> >= L(theta_t) - L(theta*). Hence

    |w_{t+1}|^2 <= |w_t|^2 - 2 eta (L(theta_t) - L(theta*)) + eta^2 G^2 - 2 eta <b_t, u_t> + eta^2 |b_t|^2.          (1)

The mean of <b_t, u_t> is 0: u_t is known before b_t is drawn and has a second moment, by (1). With one more step, T,
that is only imagined and needs no noise, the sum of (1) over t = 0, ..., T is

    2 eta sum_{t <= T} E (L(theta_t) - L(theta*)) <= D^2 + T eta^2 (G^2 + p sigma^2) + eta^2 G^2.

Leave out t = 0, whose term is at least 0 because theta_0 is in C, divide by 2 eta T, and use Jensen's inequality.

Fewer directions. Let C be the whole space and let all subgradients lie in a subspace V with the projection P. For v
orthogonal to V, L(x + v) - L(x) <= <g(x + v), v> = 0, and the other way round: L(x) = L(P x). So P theta_t is a descent
of the same kind with the noise P b_t, from a start no farther from P theta*, and p may be the dimension of V.

The textbooks' G^2 in place of (T+1)/T G^2 is for the average of theta_0, ..., theta_{T-1}, and false here: for L =
G|x|, D = 0, sigma = 0 and T = 1 a subgradient of norm G at the minimum leads to the risk eta G^2, the bound above
exactly.

The best step. Of x/eta + y eta, x, y > 0, the least value is 2 sqrt(xy), at eta = sqrt(x/y). So the bound at the best
step is D sqrt(((T+1) G^2 + T p sigma^2)/T^2), and with the noise sigma = s 2G sqrt(T)/n, D G sqrt((T+1)/T^2 + 4 p
s^2/n^2). That noise is the one of T Gaussian releases of the mean gradient, of sensitivity 2G/n when one record is
replaced, each with mu = 2G/(n sigma): together they have mu = 1/s (background/gdp-composition), as one Gaussian release
of sensitivity 1 with the noise s has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import isqrt
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, positive, positive_integer
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.either import root
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted

Risk = Callable[[Any, Any, Any, Any, Any, Any], Any]
"""A bound of (D, G, p, sigma, T, eta)."""

NAMES = ("distance", "lipschitz", "dimension", "noise_on_mean", "steps", "learning_rate")


def risk(distance: Any, lipschitz: Any, dimension: Any, noise: Any, steps: Any, rate: Any) -> Any:
    """The claimed bound."""
    start = distance**2 / (2 * rate * steps)
    return start + rate / 2 * ((steps + 1) * lipschitz**2 / steps + dimension * noise**2)


def noises(dimension: int, noise: Fraction) -> list[tuple[Fraction, Fraction]]:
    """A noise on three points, with its probabilities: of mean 0 and mean square p sigma^2, in rationals."""
    size = isqrt(dimension - 1) + 1
    share = Fraction(dimension, 2 * size**2)
    every = [(share, size * noise), (share, -size * noise), (1 - 2 * share, Fraction(0))]
    return [(weight, b) for weight, b in every if weight > 0] if noise > 0 else [(Fraction(1), Fraction(0))]


def excess(
    lipschitz: Fraction, start: Fraction, rate: Fraction, steps: int, noise: list[tuple[Fraction, Fraction]],
    onto: Callable[[Fraction], Fraction],
) -> Fraction:
    """E L(average) for L = G|x| on a line, by the exact law of (iterate, sum); at 0 the subgradient is G."""
    law = {(start, Fraction(0)): Fraction(1)}
    for _ in range(steps):
        after: dict[tuple[Fraction, Fraction], Fraction] = {}
        for (x, total), mass in law.items():
            slope = lipschitz if x >= 0 else -lipschitz
            for weight, b in noise:
                new = onto(x - rate * (slope + b))
                key = (new, total + new)
                after[key] = after.get(key, Fraction(0)) + mass * weight
        law = after
    return lipschitz * sum((mass * abs(total) for (_, total), mass in law.items()), Fraction(0)) / steps


SETS: dict[str, Callable[[Fraction], Fraction]] = {
    "the line": lambda x: x,
    "the half-line x >= 0": lambda x: max(x, Fraction(0)),
}


def problems(point: dict[str, Any]) -> Iterator[tuple[str, Fraction]]:
    """Problems that meet the hypotheses at a point, each with its exact excess risk."""
    distance, lipschitz, dimension, noise, steps, rate = (point[name] for name in NAMES)
    for name, onto in SETS.items():
        yield f"L = G|x| on {name}", excess(lipschitz, distance, rate, steps, noises(dimension, noise), onto)


def across(point: dict[str, Any]) -> arb:
    """The risk of L = G|x| after one step from the minimum, with noise of norm sqrt(p) sigma across the subgradient."""
    lipschitz, dimension, noise, rate = (point[name] for name in (*NAMES[1:4], NAMES[5]))
    return ball(lipschitz * rate) * ball(lipschitz**2 + dimension * noise**2).sqrt()


def signs(given: Domain) -> ProofStep:
    """The hypotheses that divisions and signs of the proof need, as they are given."""
    return computed(
        "D, sigma >= 0, G, eta > 0, and p, T >= 1",
        never_negative(given.chart("distance"), given.chart("noise_on_mean"))
        and signed_positive(*(given.chart(name) for name in ("lipschitz", "learning_rate", "dimension", "steps"))),
    )


def one_step() -> ProofStep:
    """The square of a step in the entries of the Gram matrix of w, g and b."""
    eta = sympy.symbols("eta", positive=True)
    ww, wg, gg, wb, gb, bb = sympy.symbols("ww wg gg wb gb bb", real=True)
    gram = sympy.Matrix([[ww, wg, wb], [wg, gg, gb], [wb, gb, bb]])
    step, before = sympy.Matrix([1, -eta, -eta]), sympy.Matrix([1, -eta, 0])
    square, inner = (step.T * gram * step)[0], (before.T * gram * sympy.Matrix([0, 0, 1]))[0]
    return computed(
        "|w - eta g - eta b|^2 = |w|^2 - 2 eta <g, w> + eta^2 |g|^2 - 2 eta <b, u> + eta^2 |b|^2, u = w - eta g",
        vanishes(square - (ww - 2 * eta * wg + eta**2 * gg - 2 * eta * inner + eta**2 * bb)),
    )


def judge_risk(says: Risk, given: Domain) -> Finding:
    """Hold a bound against exact laws of descents, and against what the proof's sum comes to, on symbols."""
    tried = 0
    for point in given.points(*NAMES, at_most=100, most={"steps": 4, "dimension": 51}):
        claimed = says(*(point[name] for name in NAMES))
        for name, true in problems(point):
            tried += 1
            if true > claimed:
                return refuted(f"{name} has a larger excess risk",
                               {**point, "start": "D", "excess risk": true, "claimed": claimed})
        with ctx.workprec(100):
            if point["distance"] == 0 and point["steps"] == 1 and across(point) > ball(claimed):
                return refuted("noise across the subgradient leads farther from the minimum",
                               {**point, "excess risk": across(point).str(12), "claimed": claimed})
    d, g, p, sigma, steps, eta = (given.symbol(name) for name in NAMES)
    t = sympy.symbols("t", integer=True, nonnegative=True)

    def total(count: Any) -> Any:
        return d**2 + count * eta**2 * (g**2 + p * sigma**2)

    return proof(
        signs(given),
        one_step(),
        argued("projecting brings no point farther from theta*, and <g, w> >= L(theta) - L(theta*) by convexity"),
        argued("<b_t, u_t> has mean 0, as u_t is known before b_t is drawn"),
        computed("each step adds eta^2 (G^2 + p sigma^2) to the bound on E|w_t|^2 + 2 eta sum E(L - L*), from D^2 on",
                 vanishes(total(0) - d**2, total(t + 1) - total(t) - eta**2 * (g**2 + p * sigma**2))),
        argued("theta_0 is in C, so that its term is not negative; the rest is at least T times that of the average"),
        computed("after an imagined step without noise the sum over 2 eta T is at most what is claimed",
                 never_negative(sympy.simplify(
                     says(d, g, p, sigma, steps, eta) - (total(steps) + eta**2 * g**2) / (2 * eta * steps)))),
        tried=tried,
    )


Best = Callable[[Any, Any, Any, Any, Any, Any], Any]
"""The bound at the best step of (D, G, p, T, s, n)."""


def best(distance: Any, lipschitz: Any, dimension: Any, steps: Any, noise: Any, size: Any) -> Any:
    """The claimed one."""
    return distance * lipschitz * root((steps + 1) / steps**2 + 4 * dimension * noise**2 / size**2)


_BEST = ("distance", "lipschitz", "dimension", "steps", "gaussian_noise", "dataset_size")


def judge_best(says: Best, given: Domain) -> Finding:
    """The bound's least value over eta: its formula on symbols, and its values about the best step in balls."""
    tried = 0
    for point in given.points(*_BEST, at_most=80):
        d, g, p, steps, s, n = (point[name] for name in _BEST)
        tried += 1
        with ctx.workprec(128):
            squared = 4 * s**2 * g**2 * Fraction(steps, n**2)  # sigma^2
            eta = ball(d) / ball((steps + 1) * g**2 + steps * p * squared).sqrt()
            sigma, claimed = ball(squared).sqrt(), says(ball(d), ball(g), ball(p), ball(steps), ball(s), ball(n))
            values = [risk(ball(d), ball(g), p, sigma, steps, eta * factor) for factor in (1, arb("0.99"), arb("1.01"))]
            if not claimed.overlaps(values[0]) or any(not one > values[0] for one in values[1:]):
                return refuted("the bound is another at this step",
                               {**point, "eta": eta.str(12), "bound": values[0].str(12), "claimed": claimed.str(12)})
    d, g, p, steps, s, n = (given.symbol(name) for name in _BEST)
    x, y, eta = sympy.symbols("x y eta", positive=True)
    sigma = 2 * s * g * sympy.sqrt(steps) / n
    slope = (steps + 1) * g**2 / steps + p * sigma**2
    mu = 2 * g / (n * sigma)
    return proof(
        computed("D, G, s > 0 and p, n, T >= 1", signed_positive(*(given.chart(name) for name in _BEST))),
        computed("x/eta + y eta - 2 sqrt(xy) is the square (sqrt(x) - sqrt(y) eta)^2 over eta",
                 vanishes(x / eta + y * eta - 2 * sympy.sqrt(x * y)
                          - (sympy.sqrt(x) - sympy.sqrt(y) * eta) ** 2 / eta)),
        computed("the bound on the risk is x/eta + y eta with x = D^2/(2T), y = ((T+1)/T G^2 + p sigma^2)/2",
                 vanishes(risk(d, g, p, sigma, steps, eta) - d**2 / (2 * steps) / eta - slope / 2 * eta)),
        computed("2 sqrt(xy) is what is claimed, for sigma = s 2G sqrt(T)/n",
                 vanishes(says(d, g, p, steps, s, n) ** 2 - 4 * d**2 / (2 * steps) * slope / 2)
                 and signed_positive(says(d, g, p, steps, s, n))),
        computed("T releases of sensitivity 2G/n with that noise have together mu = 1/s",
                 vanishes(steps * mu**2 - 1 / s**2)),
        tried=tried,
    )


HYPOTHESES = (
    non_negative("distance", "D"), positive("lipschitz", "G"), positive_integer("dimension", "p"),
    non_negative("noise_on_mean", "sigma"), positive_integer("steps", "T"), positive("learning_rate", "eta"),
)

noisy_descent_risk = Claim(
    id="background/noisy-descent-risk",
    source="after Bassily, Smith and Thakurta 2014; text not at hand, proved here for the average of iterates 1 to T",
    severity=Stake.UTILITY,
    statement=(
        r"\mathbb{E}\,L(\bar\theta) - L(\theta^*) \le \frac{D^2}{2\eta T}"
        r" + \frac{\eta}{2}\left(\frac{T+1}{T} G^2 + p\sigma^2\right)"
    ),
    words="the excess risk of the averaged iterate of noisy projected descent on a convex loss, in expectation",
    hypotheses=HYPOTHESES,
    says=risk,
    check=judge_risk,
    flips=(
        Flip("G^2 in place of (T+1)/T G^2",
             lambda d, g, p, s, t, e: risk(d, g, p, s, t, e) - e * g**2 / (2 * t), Verdict.REFUTED),
        Flip("no noise", lambda d, g, p, s, t, e: risk(d, g, p, 0, t, e), Verdict.REFUTED),
        Flip("the noise of one coordinate", lambda d, g, p, s, t, e: risk(d, g, 1, s, t, e), Verdict.REFUTED),
        Flip("no start", lambda d, g, p, s, t, e: risk(0 * d, g, p, s, t, e), Verdict.REFUTED),
        Flip("T^2 steps", lambda d, g, p, s, t, e: risk(d, g, p, s, t**2, e), Verdict.REFUTED),
    ),
    true_variants=dict.fromkeys(
        ("1 % more", "1 -> 2 (constant 2)", "/ -> [*] (operator 5)", "beyond *"), "a larger bound is valid, too"),
    expected="HOLDS ARGUED",
)

best_step = Claim(
    id="background/noisy-descent-best-step",
    source="ours: the bound of background/noisy-descent-risk at its best step, with the noise that privacy needs",
    severity=Stake.UTILITY,
    statement=(
        r"\min_\eta\left\{\frac{D^2}{2\eta T} + \frac{\eta}{2}\left(\frac{T+1}{T} G^2 + p\sigma^2\right)\right\}"
        r" = D G\sqrt{\frac{T+1}{T^2} + \frac{4 p s^2}{n^2}},\quad \sigma = \frac{2 G s\sqrt{T}}{n}"
    ),
    words="the excess risk at the best step, with noise for T releases as private as one with s times its sensitivity",
    hypotheses=(
        positive("distance", "D"), positive("lipschitz", "G"), positive_integer("dimension", "p"),
        positive_integer("steps", "T"), positive("gaussian_noise", "s"), positive_integer("dataset_size", "n"),
    ),
    says=best,
    check=judge_best,
    flips=(
        Flip("the limit of many steps", lambda d, g, p, t, s, n: 2 * d * g * root(p) * s / n, Verdict.REFUTED),
        Flip("sensitivity G/n", lambda d, g, p, t, s, n: best(d, g, p, t, s / 2, n), Verdict.REFUTED),
    ),
    rests_on=("background/noisy-descent-risk", "background/gdp-composition"),
    expected="HOLDS ARGUED",
)
