"""Conditions that are products of powers, solved exactly: what a parameter must reach for one of them to hold.

Hidden constants are read as 1. A condition "left <= right" is kept as its gap, left/right raised to a power that makes
it rational in all parameters; the logarithm of m counts as a parameter of its own, which is more than is asked. What
refutes is a network: a whole m, and its own logarithm.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.enclosure import ball
from theorems.claim import Checker
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, computed, proof, refuted, undecided

Formula = Callable[..., Any]


@functools.cache
def rational_gap(gap: Formula, names: tuple[str, ...], power: int) -> tuple[list[sympy.Symbol], sympy.Expr]:
    """The symbols, and gap(symbols)^power simplified: it must have no root left."""
    symbols = [sympy.Symbol(name, positive=True) for name in names]
    left = sympy.powsimp(sympy.powdenest(sympy.expand_power_base(gap(*symbols) ** power), force=True))
    return symbols, sympy.simplify(left)


def falls_in(gap: sympy.Expr, symbol: sympy.Symbol) -> bool:
    """Whether a product of powers falls in a symbol."""
    return bool(sympy.simplify(symbol * sympy.diff(gap, symbol) / gap) < 0)


def suffices(gap: Formula, power: int, *, unknown: str, what: str, at_most: int = 150) -> Checker:
    """The checker of "unknown >= says(other parameters) is enough for gap <= 1"; the unknown is gap's last argument."""

    def judge(says: Formula, given: Domain) -> Finding:
        names = tuple(given.parameters)
        symbols, rational = rational_gap(gap, (*names, unknown), power)
        evaluate = sympy.lambdify(symbols, rational, modules=[{}])
        tried, fails = 0, False
        for point in given.points(*names, at_most=at_most):
            values = [Fraction(point[name]) for name in names]
            least = says(*values)
            tried += 1
            if not (least <= 0 or evaluate(*values, least) > 1):
                continue
            fails = True
            found = _network(point, given, says, evaluate, unknown) if least > 0 else {**point, unknown: least}
            if found:
                return refuted(f"at the claimed {unknown} the condition fails: {what}", {
                    name: value.str(20, radius=False) if isinstance(value, arb) else value
                    for name, value in found.items()})
        if fails:
            return undecided("the condition fails, but at no point tried for a whole m and its own logarithm", tried)
        charts = [given.chart(name) for name in names]
        at_least = rational.subs(dict(zip(symbols, (*charts, says(*charts)), strict=True)), simultaneous=True)
        return proof(
            computed(f"at the claimed {unknown} (left/right)^{power} <= 1 on symbols: {what}",
                     not at_least.has(sympy.Piecewise) and never_negative(1 - at_least)),
            falling(rational, symbols[-1]),
            tried=tried,
        )

    return judge


def _network(
    point: Mapping[str, Any], given: Domain, says: Formula, evaluate: Formula, unknown: str,
) -> dict[str, Any] | None:
    """The point with a whole m, the least power of 2 that is claimed to be enough, and its log m, if it still fails."""
    names = tuple(given.parameters)
    values = {name: Fraction(point[name]) for name in names}
    widths = (2**k for k in range(2, 1200)) if unknown == "m" else (int(values["m"]),) if "m" in names else (0,)
    with ctx.workprec(200):
        for width in widths:
            asked: dict[str, Any] = dict(values)
            if "log_m" in names:
                asked["log_m"] = arb(width).log()
                low = given["log_m"].low
                if width < 2 or (low is not None and not asked["log_m"] >= ball(low)):
                    continue
                asked = {name: value if name == "log_m" else ball(value) for name, value in asked.items()}
            least = says(*asked.values())
            if unknown == "m" and not least <= width:
                continue
            gap = evaluate(*asked.values(), width if unknown == "m" else least)
            if not gap > 1:
                return None
            told = {name: asked[name] if name == "log_m" else value for name, value in values.items()}
            return {**told, unknown: width if unknown == "m" else least, "left/right, made rational": gap}
    return None


def falling(rational: sympy.Expr, symbol: sympy.Symbol) -> ProofStep:
    """The step that a larger value is better still."""
    return computed(f"left/right falls in {symbol}, so that every larger one is enough, too", falls_in(rational,
        symbol))


def threshold(gap: Formula, power: int, *, unknown: str, what: str, at_most: int = 150) -> Checker:
    """The checker of "gap <= 1 if and only if unknown >= says(other parameters)", gap falling in it."""

    def judge(says: Formula, given: Domain) -> Finding:
        names = tuple(given.parameters)
        symbols, rational = rational_gap(gap, (*names, unknown), power)
        evaluate = sympy.lambdify(symbols, rational, modules=[{}])
        tried = 0
        for point in given.points(*names, at_most=at_most):
            values = [Fraction(point[name]) for name in names]
            tried += 1
            if evaluate(*values, says(*values)) != 1:
                return refuted(f"the claimed {unknown} is not where both sides are equal: {what}", {
                    **dict(zip(names, values, strict=True)), unknown: says(*values),
                    f"(left/right)^{power}": evaluate(*values, says(*values))})
        charts = [given.chart(name) for name in names]
        there = rational.subs(dict(zip(symbols, (*charts, says(*charts)), strict=True)), simultaneous=True)
        return proof(
            computed(f"at the claimed {unknown} both sides are equal on symbols: {what}", vanishes(there - 1)),
            falling(rational, symbols[-1]), tried=tried,
        )

    return judge
