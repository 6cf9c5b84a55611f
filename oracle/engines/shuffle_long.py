r"""The pairs of `shuffle_pairs` among very many users, in extended numbers with a proved error: the same one pass.

With hundreds of thousands of numbers c of clones that matter, balls take a second for one pass. Here mass(c) and
f(c, v) are products of factors from an anchor on, one anchor (in balls) every A numbers; F is a running sum of both
signs.
Units of `extended`, u = 2^-64: a factor of mass has 4 and a product 1 more, one of f has 1 and 1, an anchor 2, so that
a mass has at most 5 A + 2, an f 2 A + 2 and a step f v/c of F 2 A + 4. Sums go along blocks of A and then over the
blocks, which adds A + (number of blocks), in any order. F itself is off by at most its first error, the errors of all
its steps, and as many roundings of the largest number on the way:

    e = F_0 r_0 + (2 A + 4) u sum |step| + (A + blocks + 2) u max,

which is computed like the rest and taken twice. F at the first c is the sum of f down to where a geometric series
bounds the rest, by chunks with an anchor each; a term has 5 units for each before it in its chunk (a quotient, the odds
and two products), and the 2 of its anchor. An edge is decided by 31 bits of z c in integers, or else by all there are.

The tails of the responses are such sums, too.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from oracle.core.enclosure import ball
from oracle.engines.extended import available, exact, extended_of_balls, relative
from oracle.engines.shuffle_pairs import Masses, cut_outside, mass_at, response_edges, window

FEWEST_USERS = 10**6  # with fewer, balls are as quick
_ANCHORS = 1024
_WINDOW_BITS = 64
_BITS = 31
_CHUNK = 1 << 15
_MOST_TERMS = 1 << 22


def _edges(z: arb, low: int, high: int) -> Any | None:
    """ceil(z (c+1)) - 1 for c from `high` down to `low`; None where the precision does not decide."""
    bits = ctx.prec + 20
    z_low, z_high = int((z * arb((1, bits))).lower().floor().fmpz()), int((z * arb((1, bits))).upper().ceil().fmpz())
    top = z_low >> (bits - 2 * _BITS)
    counts = np.arange(high + 1, low, -1, dtype=np.int64)
    # z (c+1) 2^31 lies in [scaled, scaled + 3): one unit for each limb that was cut, and one for z itself.
    scaled = counts * (top >> _BITS) + ((counts * (top & ((1 << _BITS) - 1))) >> _BITS)
    result, rest = scaled >> _BITS, scaled & ((1 << _BITS) - 1)
    for at in np.nonzero((rest == 0) | (rest >= (1 << _BITS) - 3))[0]:
        count = int(counts[at])
        value = (z_low * count - 1) >> bits
        if (z_high * count - 1) >> bits != value:
            return None
        result[at] = value
    return result


def _products(factors: Any, anchors: Any) -> Any:
    """Running products of the factors from each anchor on; entry i is before factor i."""
    rows = np.ones((len(anchors), _ANCHORS), dtype=np.longdouble)
    flat = rows.reshape(-1)
    flat[1 : len(factors) + 1] = factors[: flat.size - 1]
    rows[:, 0] = anchors
    return np.cumprod(rows, axis=1).reshape(-1)[: len(factors) + 1]


def _in_blocks(terms: Any) -> Any:
    """Terms as rows of A, the last filled up with zeros: sums along rows and then over rows have few roundings each."""
    rows = -(-len(terms) // _ANCHORS)
    return np.concatenate([terms, np.zeros(rows * _ANCHORS - len(terms), dtype=np.longdouble)]).reshape(rows, _ANCHORS)


def _sum(terms: Any) -> Any:
    """The sum of all terms, by blocks."""
    return _in_blocks(terms).sum(axis=1).sum()


def _first_below(trials: int, successes: int, inverse_odds: arb) -> Any | None:
    """The binomial mass below a point, f(j-1)/f(j) = j inverse_odds / (trials - j + 1); None where it is too long.

    One anchor a chunk; the rest beyond the last term is below 2^-70 of the sum, which the error includes.
    """
    total, done = np.longdouble(0.0), 0
    log_odds = -inverse_odds.log()
    log_failure = -log_odds.exp().log1p()
    odds = extended_of_balls([inverse_odds])
    while odds is not None and done < min(successes, _MOST_TERMS):
        anchor = extended_of_balls([mass_at(trials, successes - done, log_odds + log_failure, log_failure)])
        if anchor is None:
            return None
        j = np.arange(successes - done, max(successes - done - _CHUNK, 0), -1).astype(np.longdouble)
        terms = anchor[0] * np.cumprod(j / (np.longdouble(trials + 1) - j) * odds[0])
        total, done = total + _sum(terms), done + len(j)
        ratio = (j[-1] - 1) * odds[0] / (np.longdouble(trials + 2) - j[-1])
        if done == successes or terms[-1] * ratio < total * np.longdouble(2.0**-72) * (1 - ratio):
            return total
    return None


_BELOW_UNITS = 5 * _CHUNK + _ANCHORS + _CHUNK // _ANCHORS + _MOST_TERMS // _CHUNK + 10
_BELOW_ERROR = relative(_BELOW_UNITS) + Fraction(1, 1 << 70)


def responses(epsilon0: Fraction, users: int, epsilon: Fraction) -> list[Masses] | None:
    """The masses of `shuffle_pairs.responses`, as balls that hold the rounding; None where this way does not serve."""
    others, result = users - 1, []
    if not available():
        return None
    with ctx.workprec(128 + 2 * others.bit_length() + 30):
        for edge, at, inverse_odds in response_edges(epsilon0, users, epsilon) or ():
            below = _first_below(others, at, inverse_odds) if at else np.longdouble(0.0)
            if below is None:
                return None
            result.append(Masses(edge, exact(below) * (1 + ball(_BELOW_ERROR) * arb(0, 1)), arb(0)))
    return result or None


def clones(epsilon0: Fraction, users: int, epsilon: Fraction) -> list[Masses] | None:
    """The masses of `shuffle_pairs.clones`, as balls that hold the rounding; None where this way does not serve."""
    others = users - 1
    if epsilon == 0 or not available():
        return None
    with ctx.workprec(_WINDOW_BITS):
        rough = ball(epsilon - epsilon0).expm1() / (ball(-epsilon0).expm1() * (1 + ball(epsilon).exp()))
        low, high = window(epsilon0, others, rough)
    with ctx.workprec(128 + 2 * others.bit_length() + 30):
        inverse_odds, rest = ball(epsilon0).expm1(), -ball(-epsilon0).expm1()
        gap = -ball(epsilon - epsilon0).expm1()
        z = gap / (rest * (1 + ball(epsilon).exp()))
        v = _edges(z, low, high)
        if v is None or low < 1 or high - low < _ANCHORS:
            return None
        places = range(high, low - 1, -_ANCHORS)
        halves = -arb(2).log()
        masses = extended_of_balls([mass_at(others, c, ball(-epsilon0), rest.log()) for c in places])
        inners = extended_of_balls([mass_at(c, int(v[high - c]), halves, halves) for c in places])
        odds = extended_of_balls([inverse_odds])
        if masses is None or inners is None or odds is None:
            return None
        ends = [(c, mass_at(others, c, ball(-epsilon0), rest.log())) for c in (low, high)]
        outside = cut_outside(z, inverse_odds, others, (ends[0], ends[1]))
        c = np.arange(high, low - 1, -1).astype(np.longdouble)
        at = v.astype(np.longdouble)
        falls = v[:-1] - v[1:]
        if not ((falls == 0) | (falls == 1)).all() or int(v[-1]) < 1:
            return None
        mass = _products(c[:-1] / (np.longdouble(others + 1) - c[:-1]) * odds[0], masses)
        inner = _products(np.where(falls == 0, 2 * (c[:-1] - at[:-1]), 2 * at[:-1]) / c[:-1], inners)
        first = _first_below(high, int(v[0]), arb(1))
        if first is None:
            return None
        steps = np.where(falls == 0, 1, -1) * (inner[:-1] * at[:-1] / c[:-1])
        local = np.cumsum(_in_blocks(np.concatenate([np.zeros(1, dtype=np.longdouble), steps])), axis=1)
        starts = np.cumsum(np.concatenate([np.array([first]), local[:-1, -1]]))
        below = (local + starts[:, None]).reshape(-1)[: len(mass)]
        largest = np.abs(local).max() + np.abs(starts).max() + np.abs(below).max()
        return [_enclosed(mass, inner, below, steps, largest, (gap * outside / (2 - rest)).upper())]


def _enclosed(mass: Any, inner: Any, below: Any, steps: Any, largest: Any, cut: arb) -> Masses:
    """The two sums with what they may be off by."""
    blocks = -(-len(mass) // _ANCHORS)
    adding = _ANCHORS + blocks + 2
    drift = 2 * (
        ball(_BELOW_ERROR) * exact(below[0]) + ball(relative(2 * _ANCHORS + 4)) * exact(_sum(np.abs(steps)))
        + ball(relative(adding)) * exact(largest)
    ) * exact(_sum(mass))
    edge, beyond = exact(_sum(mass * inner)), exact(_sum(mass * below))
    edge_error = edge * ball(relative(7 * _ANCHORS + adding + 8))
    beyond_error = 2 * exact(_sum(mass * np.abs(below))) * ball(relative(5 * _ANCHORS + adding + 8)) + drift
    return Masses(edge + edge_error * arb(0, 1), beyond + beyond_error * arb(0, 1), cut)
