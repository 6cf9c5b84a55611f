r"""The sums in the proofs of Lemmas E.5 to E.8 of document 003 on symbols: what the constants of the lemmas come from.

With y = eta lambda, x = y/2, z = N y, L = alpha eta tr(H): a direction is above the cut-off, z = 1 + s, or below it,
z = 1/(1 + s). `moments` has the proofs in words; here every factor is derived, and held against what is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import ProofStep, computed

_ETA, _LAM, _N, _ALPHA = sympy.symbols("eta l N alpha", positive=True)
_LOAD = sympy.Symbol("L", positive=True)


def _cuts(name: str) -> tuple[tuple[Any, Any, Any, Any], ...]:
    """z, min(1, z/2) at most, min(1, z), and whether z is above the cut-off: above it and below it."""
    s = sympy.Symbol(name, nonnegative=True)
    above, below = 1 + s, 1 / (1 + s)
    return (above, sympy.Integer(1), sympy.Integer(1), True), (below, below / 2, below, False)


def geometric_steps() -> tuple[ProofStep, ...]:
    """h(p) = 1 - (1-p)^N: p = y (1-y), and eta^2 alpha lambda sum (1-p)^t, for y <= 1/2."""
    t, power = sympy.symbols("t U", nonnegative=True)
    y = 1 / (2 * (1 + t))
    u, held = 1 - y / 2, 1 / (1 + power)  # (1 - x), and (1 - x)^N in (0, 1]
    p, end = _ETA * _LAM * (1 - _ETA * _LAM), sympy.Symbol("P", positive=True)
    return (
        computed("(1 - 2x)^N >= 2 (1-x)^N - 1 by induction: (2u - 1)(2U - 1) - (2uU - 1) = 2 (1-u)(1-U) >= 0, 2u >= 1, "
                 "u = 1 - x; so h(2x) <= 2 h(x)", vanishes(
                     (2 * u - 1) * (2 * held - 1) - (2 * u * held - 1) - 2 * (1 - u) * (1 - held))
                 and never_negative(2 * u - 1, (1 - u) * (1 - held)) and vanishes((2 * held - 1).subs(power, 0) - 1)),
        computed("p = y (1-y) <= 2x: h(p) <= h(2x) <= 2 h(x)", never_negative(y - y * (1 - y), 1 - y)),
        computed("lambda sum_{t<N} (1-p)^t = h(p)/(eta (1-y)) <= (4/eta) h(x), as 1/(1-y) <= 2",
                 vanishes(_LAM * (1 - end) / p - (1 - end) / (_ETA * (1 - _ETA * _LAM)))
                 and never_negative(2 - 1 / (1 - y))),
    )


def fed_back(says: Any, trace: Any) -> bool:
    """Whether eta^2 alpha times a trace of H C, times (4/eta) h(x), is at most says times h(x)."""
    return never_negative(sympy.simplify(says - _ETA**2 * _ALPHA * trace * 4 / _ETA))


def powers_step(says: Any) -> ProofStep:
    """E.5: tr(H P_t) is at most tr(H), which is L/(alpha eta)."""
    return computed("eta^2 alpha tr(H P_t) (4/eta), tr(H P_t) <= tr(H), is 4 eta alpha tr(H): at most what is claimed",
                    fed_back(says * _LOAD, _LOAD / (_ALPHA * _ETA)))


def variance_step(says: Any) -> ProofStep:
    """E.6: the trace of H C_N from that of T o C_N."""
    trace, kept = sympy.Symbol("S", positive=True), sympy.Symbol("K", positive=True)
    load = 1 / (1 + sympy.Symbol("u", positive=True))
    (most,) = sympy.solve(sympy.Eq(_ETA / 2 * 2 * (1 - load) * trace, _ETA**2 * 2 * kept), trace)
    return computed("(eta/2) 2 (1 - L) tr(H C_N) <= eta^2 2 K gives tr(H C_N) <= 2 eta K/(1 - L); then eta^2 alpha "
                    "times that times 4/eta is 8 alpha eta^2 K/(1 - L): at most what is claimed",
                    fed_back(says * _ALPHA * _ETA**2 * kept / (1 - load), most))


def _iterates() -> tuple[Any, Any, Any, ProofStep]:
    """sum_t b_t of a direction: from its start, from noise, from sum S, each over min(1, z); and why."""
    start, noise, total = sympy.symbols("b m Sigma", positive=True)
    kept = 1 / (_ETA * _LAM)  # sum_{t<N} (1-y)^t <= min(N, 1/y) = min(1, z)/y
    whole = sympy.expand(kept * (start + _ETA**2 * _ALPHA * _LAM * total + _N * _ETA**2 * noise))
    parts = tuple(whole.coeff(one) for one in (start, noise, total))
    s = sympy.Symbol("s", nonnegative=True)
    step = computed("sum_t b_t <= min(1, z) (b_0/(eta lambda) + eta N m/lambda + eta alpha sum S), and min(N, 1/y) = "
                    "min(1, z)/y; the mean costs min(1, z/2)/(eta N^2) of it: (lambda/4)(2/x) = 1/eta", vanishes(
                        parts[0] - 1 / (_ETA * _LAM), parts[1] - _ETA * _N / _LAM, parts[2] - _ETA * _ALPHA,
                        _LAM / 4 * 2 / (_ETA * _LAM / 2) - 1 / _ETA)
                    and never_negative(_N - 1 / ((1 + s) / _N), _N * (1 + s) - _N))
    return parts[0], parts[1], parts[2], step


def _feedback(source: Any, load: Any) -> Any:
    """sum S of a direction's share: sum S <= source + L sum S, as sum lambda eta alpha = L."""
    total = sympy.Symbol("Sigma")
    (found,) = sympy.solve(sympy.Eq(total, source + load * total), total)
    return found


def noise_steps(says: Sequence[Any]) -> tuple[ProofStep, ...]:
    """E.7: noise m a step in one direction, felt in that one and in another by feedback."""
    _, from_noise, from_sum, first = _iterates()
    load = 1 / (1 + sympy.Symbol("u", positive=True))
    fed = []
    for z, _, whole, above in _cuts("a"):  # where the noise is: min(1, z), printed 1 or z/2
        total = _feedback(_LAM * whole * from_noise, load)
        for other, half, other_whole, other_above in _cuts("c"):  # where it is felt: printed 1 or z^2/4
            own = half * other_whole * from_sum * total / (_ETA * _N**2)
            printed = _ALPHA * _ETA / (_N * (1 - load)) * (1 if above else z / 2) * (1 if other_above else other**2 / 4)
            fed.append(says[0] * printed - own)
    direct = [says[1] / _N * (1 / _LAM if above else z**2 / 4 / _LAM) - half * whole * from_noise / (_ETA * _N**2)
              for z, half, whole, above in _cuts("a")]
    return (
        first,
        computed("the feedback of noise above or below the cut-off on a direction above or below it is at most the "
                 "first term with the constant claimed, 4 being enough", never_negative(*map(sympy.simplify, fed))),
        computed("its own part is at most the second term with the constant claimed, 2 being enough",
                 never_negative(*map(sympy.simplify, direct))),
    )


def start_steps(says: Sequence[Any]) -> tuple[ProofStep, ...]:
    """E.8: a start of 1 in one direction, felt in that one and in another by feedback."""
    from_start, _, from_sum, first = _iterates()
    load = 1 / (1 + sympy.Symbol("u", positive=True))
    fed = []
    for z, _, whole, above in _cuts("a"):
        total = _feedback(_LAM * whole * from_start, load)
        for other, half, other_whole, other_above in _cuts("c"):
            own = half * other_whole * from_sum * total / (_ETA * _N**2)
            printed = _ALPHA / (_ETA * _N**2 * (1 - load)) * (1 if above else z) * (1 if other_above else other**2)
            fed.append(says[2] * printed - own)
    (_, half, whole, _), (low, low_half, low_whole, _) = _cuts("a")
    lam = low / (_N * _ETA)  # below the cut-off
    return (
        first,
        computed("its own part above the cut-off is at most the first term with the constant claimed, 1 being enough; "
                 "below it the second with 1/2", never_negative(
                     sympy.simplify(says[0] / (_ETA * _N) ** 2 / _LAM - half * whole * from_start / (_ETA * _N**2)),
                     sympy.simplify(says[1] * lam - low_half * low_whole / (_ETA * lam) / (_ETA * _N**2)))),
        computed("the feedback of a start above or below the cut-off on a direction above or below it is at most the "
                 "third term with the constant claimed, 1 being enough", never_negative(*map(sympy.simplify, fed))),
    )
