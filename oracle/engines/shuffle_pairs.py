r"""The two pairs of laws between which the privacy of shuffling lies, in balls: what `shuffle` calls.

Write k = e^{-epsilon0}, y = e^{epsilon - epsilon0} and take 0 <= epsilon < epsilon0. In both pairs one report is
randomised response on a bit hidden among the reports of the m = n - 1 other users. Given a count whose law has the
mass function f (of c clones, how many show 1; of all other users, how many answer 1), the hidden report adds to it, so
the best set of outcomes is a tail of f, and with M = f(e) at its edge e and T the mass beyond

    delta(epsilon) = (1 - y)/(1 + k) M - (e^epsilon - 1) T,          P(set) = M/(1 + k) + T,   Q(set) = k M/(1 + k) + T.

Clones (upper): c ~ Bin(m, k) clones, f = Bin(c, 1/2); M and T are averaged over c. The outcome with v reports of the
less likely kind among the c + 1 has the likelihood ratio (e^epsilon0 (c+1-v) + v) / ((c+1-v) + e^epsilon0 v), which
exceeds e^epsilon for v < z (c+1), z = (1 - y) / ((1 - k)(1 + e^epsilon)) <= 1/2: the edge is ceil(z (c+1)) - 1.
Swapping the two kinds swaps P and Q, so both directions are the same. From c to c - 1 the edge stays or falls by one:

    F(c-1, v-1) = F(c, v-1) + f(c, v) v/c,        f(c-1, v) = f(c, v) 2 (c-v)/c,        f(c-1, v-1) = f(c, v) 2 v/c

(F the mass up to v-1): one pass downwards over the c that matter. Downwards F grows, so its rounding errors do not.
For the others Chernoff's bound F(c, v) <= K h^c with h = z^{-z} (1-z)^{-(1-z)} / 2 and K = ((1-z)/z)^z is summed
against Bin(m, k): the terms Bin(c; m, k) h^c have a falling ratio, so a geometric series bounds either end.

Responses (lower): f = Bin(m, q), q = k/(1 + k) the probability of answering 1, all others holding 0. The outcomes with
more than n (y - k^2)/(1 - k^2) ones favour the hidden 1, those with fewer than n (e^{epsilon0-epsilon} - 1) /
(e^{2 epsilon0} - 1) the hidden 0: one tail a direction, and the curve is the larger of the two.

No outcome is ever undecided for good: at an edge a rational combination of e to distinct rational powers would vanish
(Lindemann and Weierstrass), unless epsilon = 0 in the first pair, where z = 1/2 is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from oracle.core.enclosure import ball


@dataclass(frozen=True)
class Masses:
    """M at the edge and T beyond it, of one direction; `cut` bounds what both leave out of delta."""

    edge: arb
    beyond: arb
    cut: arb


Pair = Callable[[Fraction, int, Fraction], "list[Masses] | None"]
"""(epsilon0, users, epsilon) -> the masses of each direction, or None where the precision does not decide the edge."""


def excess(epsilon0: Fraction, epsilon: Fraction, masses: Masses) -> arb:
    """(1 - y)/(1 + k) M - (e^epsilon - 1) T, without what was cut."""
    result = -ball(epsilon - epsilon0).expm1() / (1 + ball(-epsilon0).exp()) * masses.edge
    return result if masses.beyond.is_zero() else result - ball(epsilon).expm1() * masses.beyond


def mass_at(trials: int, successes: int, log_success: arb, log_failure: arb) -> arb:
    """The binomial mass function at one point."""
    exponent: arb = arb(trials + 1).lgamma() - arb(successes + 1).lgamma() - arb(trials - successes + 1).lgamma()
    if successes:  # a logarithm may be infinite where it does not count
        exponent += successes * log_success
    if trials > successes:
        exponent += (trials - successes) * log_failure
    return exponent.exp()


def _below(edge: arb, trials: int, successes: int, inverse_odds: arb, bits: int) -> arb:
    """The binomial mass below a point from the mass there: f(j-1)/f(j) = j inverse_odds / (trials - j + 1) < 1.

    Summed until the rest is below 2^-bits of the mass at the point; the rest is bounded and enclosed.
    """
    total, term, negligible = arb(0), edge, edge.upper() * arb((1, -bits))
    for j in range(successes, 0, -1):
        ratio = j * inverse_odds / (trials - j + 1)
        if not ratio < 1:
            return arb.nan()
        if term * ratio < negligible * (1 - ratio):  # the ratios fall: a geometric series bounds the rest
            return total + arb(0).union((term * ratio / (1 - ratio)).upper())
        term = term * ratio
        total += term
    return total


# --- clones


def window(epsilon0: Fraction, others: int, z: arb) -> tuple[int, int]:
    """Proposed first and last c: further out, Bernstein's inequality leaves 2^-precision of the Bin(c; m, k) h^c."""
    share = min(float(z), 0.5)
    entropy = -share * math.log(share) - (1 - share) * math.log1p(-share) if share > 0 else 0.0
    weight = math.exp(entropy - float(min(epsilon0, Fraction(10**4)))) / 2
    tilted = weight / (weight - math.expm1(-float(epsilon0)))
    mean, logs = others * tilted, ctx.prec * math.log(2)
    reach = logs / 3 + math.sqrt(logs * logs / 9 + 2 * logs * mean * (1 - tilted))
    return max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach))


def cut_outside(z: arb, inverse_odds: arb, others: int, ends: tuple[tuple[int, arb], tuple[int, arb]]) -> arb:
    """K times the sum of Bin(c; m, k) h^c over the c outside the window, whose two ends come with their masses."""
    (low, low_mass), (high, high_mass) = ends
    chernoff = (-z * z.log() - (1 - z) * (-z).log1p()).exp() / 2
    total = arb(0)
    if high < others:
        ratio, next_ratio = ((others - c) * chernoff / ((c + 1) * inverse_odds) for c in (high, high + 1))
        total += high_mass * chernoff**high * ratio / (1 - next_ratio) if next_ratio < 1 else arb.nan()
    if low > 0:
        ratio, next_ratio = (c * inverse_odds / ((others - c + 1) * chernoff) for c in (low, low - 1))
        total += low_mass * chernoff**low * ratio / (1 - next_ratio) if next_ratio < 1 else arb.nan()
    return (z * ((-z).log1p() - z.log())).exp() * total


def clones(epsilon0: Fraction, users: int, epsilon: Fraction) -> list[Masses] | None:
    """The pair that dominates every epsilon0-LDP randomiser; its two directions are the same."""
    others = users - 1
    window_bits = ctx.prec
    with ctx.workprec(ctx.prec + 2 * others.bit_length() + 30):  # lgamma and F lose about log2(m) bits each
        inverse_odds = ball(epsilon0).expm1()  # (1 - k)/k
        rest = -ball(-epsilon0).expm1()  # 1 - k
        gap = -ball(epsilon - epsilon0).expm1()  # 1 - y
        z = gap / (rest * (1 + ball(epsilon).exp())) if epsilon else arb(0.5)
        with ctx.workprec(window_bits):
            low, high = window(epsilon0, others, z)
        bits = ctx.prec + 20
        unit = arb((1, bits))
        z_low, z_high = int((z * unit).lower().floor().fmpz()), int((z * unit).upper().ceil().fmpz())
        v = (z_low * (high + 1) - 1) >> bits  # ceil(z (c+1)) - 1
        mass = first = mass_at(others, high, ball(-epsilon0), rest.log())
        inner = mass_at(high, v, -arb(2).log(), -arb(2).log())
        below = _below(inner, high, v, arb(1), ctx.prec)
        edge, beyond = arb(0), arb(0)
        for c in range(high, low - 1, -1):
            if (z_high * (c + 1) - 1) >> bits != v:
                return None
            edge += mass * inner
            beyond += mass * below
            if c == low:
                break
            step, after = inner * v / c, (z_low * c - 1) >> bits
            if after == v:
                below, inner = below + step, inner * (2 * (c - v)) / c
            else:
                below, inner = (below - step if after else arb(0)), 2 * step
            v = after
            mass = mass * c / (others - c + 1) * inverse_odds
        outside = cut_outside(z, inverse_odds, others, ((low, mass), (high, first)))
        return [Masses(edge, beyond, (gap * outside / (2 - rest)).upper())]


# --- responses


Edges = list[tuple[arb, int, arb]]
"""Of each direction M, and the successes and inverse odds below which its T lies."""


def response_edges(epsilon0: Fraction, users: int, epsilon: Fraction) -> Edges | None:
    """Where the sets of outcomes end that favour the hidden 1 and the hidden 0; None where that is not decided."""
    others = users - 1
    odds = ball(-epsilon0).exp()  # q / (1 - q)
    log_silent = -odds.log1p()
    log_answer = log_silent - ball(epsilon0)
    many = users * (ball(-2 * epsilon0).exp() * ball(epsilon + epsilon0).expm1() / -ball(-2 * epsilon0).expm1())
    few = users * (ball(epsilon0 - epsilon).expm1() / ball(2 * epsilon0).expm1())
    ones, zeros = many.floor().unique_fmpz(), few.ceil().unique_fmpz()
    if ones is None or zeros is None:
        return None
    most, least = int(ones), int(zeros) - 1  # both from 0 to m: 0 < many < n and 0 < few <= n/2
    edges = [mass_at(others, j, log_answer, log_silent) for j in (most, least)]
    # The ones above an edge are the zeros below its mirror image, for the opposite odds.
    return [(edges[0], others - most, odds), (edges[1], least, 1 / odds)]


def responses(epsilon0: Fraction, users: int, epsilon: Fraction) -> list[Masses] | None:
    """Shuffled binary randomised response, all other users holding 0: the hidden 1 and the hidden 0."""
    others = users - 1
    with ctx.workprec(ctx.prec + 2 * others.bit_length() + 30):
        found = response_edges(epsilon0, users, epsilon)
        if found is None:
            return None
        return [Masses(edge, _below(edge, others, at, odds, ctx.prec), arb(0)) for edge, at, odds in found]
