r"""The derivative of a smoothed loss, up to a stated error (document 002, Algorithm 4): the literal oracles.

The loss of a record is g(<w, x>) with g' = link - y, and its Moreau envelope has at m = <w, x> the derivative

    h = beta (m - u*),      u* = argmin_u g(u) + beta/2 (u - m)^2,      |h| <= 2B,

so its gradient is h x. `subgradient` is Algorithm 4, corrected: projected subgradient descent on the interval
Q = [m - 4B/beta, m + 4B/beta],

    u_1 = m,      u_{t+1} = clip_Q( u_t - 2/(beta (t+1)) (link(u_t) - y + beta (u_t - m)) ),

the average of u_t with weights 2t/(T(T+1)), t = 1..T, in place of u*. The text has no u_1, one letter for the label and
an iterate, averages x_t, and need not have an integer T. With subgradients of at most 2B + 4B on Q the average is off
by (beta/2)(u - u*)^2 <= 2 (6B)^2 / (beta (T+1)), so that T = ceil(144 B^2 / gamma^2) makes |h| right up to gamma.

`bisection` is what the text says cannot be used, and needs the link alone: h is where link(m - h/beta) - y - h, which
falls in h, changes its sign on [-2B, 2B]; k halvings leave an error of 2B / 2^k. It is the reference.

Algorithm 4 is no training, and no entry of its own: Algorithms 5 and 6 (`smoothed_phased_sgd`) run it at every step,
with `gradient_oracle = subgradient`.

The error of the gradient is |x| times that of h. On projected records, |x| <= 2, h is therefore asked up to gamma/2:
T = ceil(576 B^2 / gamma^2), as in Algorithm 6, but on the same interval Q. The paper's "replace B by 2B" would also
double Q, and subgradients of up to 10B there prove no more than 2 sqrt(400/576) gamma = 1.67 gamma.
"""

from __future__ import annotations

import math
from fractions import Fraction

from oracle.algorithms.shared import links
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError
from oracle.core.records import log2, told

PARAMETERS = (vocabulary.envelope_smoothness, vocabulary.oracle_error.above(0))
"""beta and gamma, which a guarantee needs; how the derivative is found, it does not."""
MOST_STEPS = 1 << 32
"""Of Algorithm 4 for one record: already hours, or days."""


def halvings(bound: Fraction, error: Fraction) -> int:
    """The least k >= 0 with 2B / 2^k <= error."""
    k = 0
    while 2 * bound > error * 2**k:
        k += 1
    return k


def steps(bound: Fraction, error: Fraction) -> int:
    """T of Algorithm 4."""
    return math.ceil(144 * bound**2 / error**2)


def check(config: Values, longest: int) -> None:
    """A DomainError where Algorithm 4 takes so many steps for a record that no training of it would end."""
    count = steps(config.label_bound, config.oracle_error / longest)
    if config.gradient_oracle == "subgradient" and count > MOST_STEPS:
        raise DomainError(
            f"oracle_error = {told(config.oracle_error)} is outside its domain: with label_bound = "
            f"{told(config.label_bound)} Algorithm 4 takes 2^{log2(count):.0f} steps for every record, and 2^"
            f"{log2(MOST_STEPS):.0f} are the most; gradient_oracle = bisection takes few"
        )


def largest(config: Values, longest: int) -> float:
    """log2 of the largest number that a record's derivative is made of: an end of Q, or the sum of weighted ends."""
    count = steps(config.label_bound, config.oracle_error / longest) if config.gradient_oracle == "subgradient" else 1
    return log2(4 * config.label_bound * count**2) - log2(config.envelope_smoothness)


def bisection(config: Values, score: float, label: float, error: Fraction) -> float:
    """The envelope's derivative at a score, up to the error."""
    bound, beta = float(config.label_bound), float(config.envelope_smoothness)
    low, high = -2.0 * bound, 2.0 * bound
    for _ in range(halvings(config.label_bound, error)):
        middle = 0.5 * (low + high)
        if links.value(config.link, score - middle / beta, bound) - label > middle:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def subgradient(config: Values, score: float, label: float, error: Fraction) -> float:
    """The same by Algorithm 4."""
    bound, beta = float(config.label_bound), float(config.envelope_smoothness)
    low, high = score - 4.0 * bound / beta, score + 4.0 * bound / beta
    total = steps(config.label_bound, error)
    u, average = score, 0.0
    for t in range(1, total + 1):
        average += 2.0 * t / (total * (total + 1.0)) * u
        slope = links.value(config.link, u, bound) - label + beta * (u - score)
        u = min(high, max(low, u - 2.0 / (beta * (t + 1)) * slope))
    return beta * (score - average)


def derivative(config: Values, score: float, label: float, longest: int) -> float:
    """The envelope's derivative by the chosen oracle: gradients of records up to `longest` are right up to gamma."""
    oracle = bisection if config.gradient_oracle == "bisection" else subgradient
    return oracle(config, score, label, config.oracle_error / longest)
