r"""Many small Laplace losses, exactly, in balls: atoms counted, continuous losses as B-splines.

In the notation of `laplace_composed`, let z = g/(2m), so that an atom of Y at 2m moves z by 1. Given that r of the k
complements are continuous and j are atoms at 2m, the continuous ones add up to 2m times a variable of density
proportional to e^{-mx} B_r(x), B_r the cardinal B-spline (r uniform variables), and

    delta = 2 e^{-mz} 2^{-k} sum_r C(k,r) m^r sum_j C(k-r,j) S_r(z - j),      S_r(x) = int_0^x sinh(m(x-w)) B_r(w) dw.

Far from the edge (x >= r) the integral is complete: 2 S_r(x) = e^{mx} a^r - e^{-mx} b^r with a = (1 - e^{-m})/m and
b = (e^m - 1)/m, and the sums over j are partial sums A_r of binomial series with
A_r(y) = sum_{j <= J-r} C(k-r,j) y^j = (1+y) A_{r+1}(y) + C(k-r-1, J-r) y^{J-r}, J = floor(z). Near it, with C_r the
integral of cosh, S_{r-1}(x) - S_{r-1}(x-1) = m C_r(x) and C_{r-1}(x) - C_{r-1}(x-1) = B_r(x) + m S_r(x): downwards
from an order N, where S_N <= C_N <= cosh(mx) min(1, x^N/N!), everything is positive and the ignorance at the top
shrinks on the way. The terms with r > R are at most e^{(s-m)z} L^{-1-R} ((1+e^{-s})/2 + Lm(1-e^{-s})/(2s))^k
for every L >= 1 and s >= m, by Chernoff's bound on r.

The cost does not grow with k but for one binomial sum of about sqrt(k) terms; it grows with the number of continuous
losses that matter, about k m / 2.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx

from oracle.core.enclosure import ball
from oracle.core.errors import PrecisionError

_MOST_CELLS = 2_000_000
_MOST_SUMMANDS = 1_000_000


def _log_leak(m: float, steps: int, z: float, s: float, order: float) -> float:
    """The log of Chernoff's bound at R = -1, in floats."""
    return s * z - m * z + steps * math.log((1 + math.exp(-s)) / 2 - order * m * math.expm1(-s) / (2 * s))


def _plan(m: float, steps: int, z: float, c: float, target: float) -> tuple[int, float, float]:
    """How many continuous losses leave less than e^target, and the (s, L) that show it."""
    best = (steps, m, 1.0)
    for order in (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0, 1e4, 1e8):
        for factor in (0.7, 1.0, 1.5, 2.5):
            s = max(m * (2 * c + 1) * factor, m * 1.0001)
            count = math.ceil((_log_leak(m, steps, z, s, order) - target) / math.log(order))
            if count < best[0]:
                best = (max(count, 0), s, order)
    return best


def _top(m: float, orders: int, cells: int) -> int:
    """The order N at which to start: i cumulative sums of p = N - R orders each have at most C(p+i, i) summands."""
    goal, top = (ctx.prec + 8) * math.log(2) + m * cells, orders
    while top * cells <= _MOST_CELLS:
        top += 8
        p = top - orders
        paths = math.lgamma(p + cells + 1) - math.lgamma(p + 1) - math.lgamma(cells + 1)
        if p * math.log(m) + paths + min(0.0, top * math.log(cells) - math.lgamma(top + 1)) < -goal:
            break
    return top


def _rows(m: arb, offset: arb, orders: int, top: int, cells: int) -> list[list[arb]]:
    """S_r at offset, offset + 1, ... for r = 0, ..., orders, in as many cells as r < orders needs."""
    splines = [[arb(0)] * cells, [arb(1)] + [arb(0)] * (cells - 1)]
    for n in range(1, top):
        last, row = splines[-1], []
        for i in range(cells):
            x = offset + i
            beyond = (n + 1 - x) * last[i - 1] if i else arb(0)
            row.append((x * last[i] + beyond) / n if i <= n else arb(0))
        splines.append(row)
    sines = cosines = [
        arb(0).union((m * x).cosh() * (arb(x) ** top / arb(top + 1).gamma()).min(arb(1))) for x in range(1, cells + 1)
    ]
    rows: list[list[arb]] = []
    for n in range(top, 0, -1):
        if n <= orders:
            rows.append(sines)
        next_sines, next_cosines, sine, cosine = [], [], arb(0), arb(0)
        for i in range(cells):
            sine, cosine = sine + m * cosines[i], cosine + splines[n][i] + m * sines[i]
            next_sines.append(sine)
            next_cosines.append(cosine)
        sines, cosines = next_sines, next_cosines
    rows.append(sines)
    return rows[::-1]


def _binomial(n: int, j: int) -> arb:
    """C(n, j) as a ball; the logarithms lose about as many bits as n log n has."""
    with ctx.extraprec(2 * n.bit_length() + 16):
        return ((arb(n) + 1).lgamma() - (arb(j) + 1).lgamma() - (arb(n - j) + 1).lgamma()).exp()


def _partial_sum(n: int, last: int, y: arb) -> arb:
    """sum_{j <= last} C(n, j) y^j, from the last term down; the ratio of neighbours falls on the way."""
    term = _binomial(n, last) * y**last
    total, j = term, last
    while j > 0:
        ratio = arb(j) / ((n - j + 1) * y)
        term, j = term * ratio, j - 1
        total += term
        if last - j > _MOST_SUMMANDS:
            raise PrecisionError(f"a binomial sum over {n} releases needs more than {_MOST_SUMMANDS} terms")
        if (last - j) % 16 == 0 and ratio < 1 and term < total * arb((1, -ctx.prec - 8)) * (1 - ratio):
            return total + (term * ratio / (1 - ratio)).union(arb(0))
    return total


def curve(ratio: Fraction, steps: int, gap: Fraction, c: float, log_delta: float) -> arb:
    """delta at epsilon = k m - gap >= 0 for an exact gap > 0, at the working precision.

    c and log_delta are the saddle point and about log delta: they place the truncation and are not trusted.
    """
    position = gap / (2 * ratio)
    delays, m = math.floor(position), ball(ratio)
    near = float(ratio)
    target = log_delta - (ctx.prec + 4) * math.log(2)
    orders, s, order = _plan(near, steps, float(position), c, target)
    cells = max(1, min(delays + 1, orders))
    top = _top(near, orders, cells)
    if top * cells > _MOST_CELLS:
        raise PrecisionError(
            f"{steps} Laplace releases of ratio {near:.3g} need {orders} orders of splines in {cells} cells"
        )
    rows = _rows(m, ball(position - delays), orders, top, cells)
    z, total = ball(position), arb(0)
    for r in range(1, orders + 1):  # near the edge, from as many atoms as fit downwards
        j = min(delays, steps - r)
        weight = _binomial(steps, r) * _binomial(steps - r, j) * m**r
        for i in range(delays - j, min(r, delays + 1)):
            total += weight * rows[r][i]
            weight = weight * (delays - i) / (steps - r - delays + i + 1)
    total += _far(m, z, steps, delays, min(orders, delays))
    result = 2 * (-m * z).exp() * total * arb((1, -steps))
    if orders < steps:
        exponent, high = arb(s), arb(order)
        if not (exponent >= m and high >= 1):
            raise PrecisionError(f"no Chernoff bound at s = {s}, L = {order} for the ratio {near}")
        base = (1 + (-exponent).exp()) / 2 - high * m * (-exponent).expm1() / (2 * exponent)
        leak = ((exponent - m) * z + steps * base.log() - (orders + 1) * high.log()).exp()
        result += leak.union(arb(0))
    return result


def _far(m: arb, z: arb, steps: int, delays: int, orders: int) -> arb:
    """The terms with z - j >= r: sum over r <= J of C(k,r) m^r (e^{mz} a^r A_r(e^{-m}) - e^{-mz} b^r A_r(e^m))/2."""
    total = arb(0)
    for sign in (1, -1):
        y, step = (-sign * m).exp(), -sign * (-sign * m).expm1()  # m a or m b
        partial = _partial_sum(steps - orders, delays - orders, y)
        edge = _binomial(steps - orders, delays - orders) * y ** (delays - orders)
        weight = _binomial(steps, orders) * step**orders
        subtotal = weight * partial
        for r in range(orders - 1, -1, -1):
            # C(k-r-1, J-r) y^{J-r} from C(k-r-1, J-r-1) y^{J-r-1}
            last = edge * y * (steps - delays) / (delays - r)
            partial = (1 + y) * partial + last
            edge = last * (steps - r) / (steps - delays)
            weight = weight * (r + 1) / ((steps - r) * step)
            subtotal += weight * partial
        total += sign * (sign * m * z).exp() * subtotal / 2
    return total
