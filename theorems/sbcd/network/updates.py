r"""Equations (5) and (6) of document 001: the exact updates of x_d and U_d.

(5), an inner x_d: the gradient of (4) is gamma times (theta^T theta + I) x - theta^T U_d - sigma(U_{d-1}),
differentiated with matrices of symbolic size.

(6), one coordinate, a = theta_d x_d and x = x_{d+1}: on U >= 0 the objective (x - U)^2 + (U - a)^2 is least at
max(0, (x + a)/2), on U <= 0 the objective x^2 + (U - a)^2 at min(0, a). Which is lower is decided in eight regions of
the plane, each with its own non-negative symbols; the border between the halves is x - a = sqrt(2) x, where both are
minimisers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, vector
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.network.algebra import minimiser, never_negative
from theorems.sbcd.network.penalty import half_objective
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, computed, proof, refuted

Map = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Cases:
    """(6) for one coordinate, a = theta_d x_d and x = x_{d+1}, of numbers or of symbols.

    A case applies where all of its guards are >= 0; the first that applies counts.
    """

    near: tuple[tuple[Map, ...], Map]
    below: tuple[tuple[Map, ...], Map]
    otherwise: Map

    def __call__(self, a: Any, x: Any) -> Any:
        """The update, of the first case that applies."""
        for guards, value in (self.near, self.below):
            signs = [_sign(guard(a, x)) for guard in guards]
            if all(signs):
                return value(a, x)
            if False not in signs:
                raise ArithmeticError(f"whether a case applies at {a}, {x} is not known")
        return self.otherwise(a, x)


def _sign(value: Any) -> bool | None:
    """Whether a number is >= 0, or an expression for all of its positive symbols; None if that is not known."""
    if isinstance(value, Fraction) or not sympy.sympify(value).free_symbols:
        return bool(value >= 0)
    number = sympy.simplify(value)
    if number.is_nonnegative or never_negative(number):
        return True
    return False if number.is_negative or never_negative(-number) else None


def decided(value: Any) -> bool:
    """The sign, which must be known."""
    sign = _sign(value)
    if sign is None:
        raise ArithmeticError(f"the sign of {value} is not known")
    return sign


PRINTED = Cases(
    near=((lambda a, x: a + x, lambda a, x: x, lambda a, x: -a - (sympy.sqrt(2) - 1) * x), lambda a, x: a),
    below=((lambda a, x: -a - x,), lambda a, x: min(0 * a, a)),
    otherwise=lambda a, x: (a + x) / 2,
)


def with_threshold(value: Any) -> Cases:
    """(6) with another number for sqrt(2) - 1."""
    guards = (*PRINTED.near[0][:2], lambda a, x: -a - value * x)
    return replace(PRINTED, near=(guards, PRINTED.near[1]))


def regions() -> Iterator[tuple[Any, Any]]:
    """(a, x) for positive p and s: together they cover the plane."""
    p, s = sympy.symbols("p s", positive=True)
    zero, root = sympy.Integer(0), sympy.sqrt(2)
    yield from ((zero, zero), (zero, s), (zero, -s), (p, s - p), (p, -s - p), (p, -p), (-p, p - s), (-p, p))
    # -a = p and x > p: first where (2 - sqrt2) x = s + w, p = (sqrt2 - 1) x + w for w >= 0; then p below that by w.
    yield from ((-(root - 1) * x - w, x) for x, w in ((s / (2 - root), zero), ((s + p) / (2 - root), p)))
    yield -p, (p + s) / (root - 1)


def _half(gamma: Any, a: Any, x: Any, u: Any) -> Any:
    """gamma/2 ((x - max(0, U))^2 + (U - a)^2) for symbols, the sign of U decided."""
    return gamma / 2 * ((x - (u if decided(u) else 0)) ** 2 + (u - a) ** 2)


def _least_on_half_lines(gamma: Any) -> bool:
    """Whether max(0, (x+a)/2) and min(0, a) are least on U >= 0 and on U <= 0: differences as non-negative terms."""
    u, s, p = sympy.symbols("u s p", nonnegative=True)
    a, x, v = sympy.symbols("a x v", real=True)
    right = gamma / 2 * ((x - v) ** 2 + (v - a) ** 2)
    vertex = vanishes(right - right.subs(v, (x + a) / 2) - gamma * (v - (x + a) / 2) ** 2)  # where x + a >= 0
    zero = never_negative(sympy.expand((right - right.subs(v, 0)).subs({v: u, x: -s - a})))  # where x + a = -s
    left = gamma / 2 * (v - a) ** 2  # x^2 apart; least at a where a <= 0
    return vertex and zero and gamma.is_positive is True and never_negative(
        sympy.expand((left - left.subs(v, 0)).subs({v: -u, a: p}))
    )


def judge_hidden(update: Cases, given: Domain) -> Finding:
    """Hold an update of U against the least value on both half-lines: exactly at points, and in every region."""
    grid = [Fraction(n, 2) for n in range(-3, 4)]
    near = [(Fraction(-n, 1000), Fraction(1)) for n in range(404, 424, 2)]  # where the cases change
    points = [*itertools.product(grid, repeat=2), *near]
    for a, x in points:
        least = min(half_objective(a, x, max(Fraction(0), (x + a) / 2)), half_objective(a, x, min(Fraction(0), a)))
        found = half_objective(a, x, update(a, x))
        if found > least:
            return refuted(
                "another U has a smaller objective, exactly",
                {"theta x": a, "x_next": x, "U": update(a, x), "objective": found, "least": least},
            )
    gamma = given.symbol("gamma")
    shown = []
    for a, x in regions():
        right, left = ((x + a) / 2 if decided(x + a) else sympy.Integer(0)), (sympy.Integer(0) if decided(a) else a)
        found = _half(gamma, a, x, update(a, x))
        shown += [never_negative(sympy.expand(_half(gamma, a, x, other) - found)) for other in (right, left)]
    return proof(
        computed("on U >= 0 the least point is max(0, (x + a)/2) and on U <= 0 it is min(0, a), on symbols",
                 _least_on_half_lines(gamma)),
        computed("in each of the regions that cover the plane the update is no worse than both, as sums of "
                 "non-negative terms; (4) is a sum over the coordinates of U_d", all(shown)),
        computed("gamma/2 > 0 only scales the objective",
                 gamma.is_positive is True and all(value > 0 for value in given.values("gamma"))),
        tried=len(points),
    )


def normal_equations(theta: Any, u: Any, before: Any) -> tuple[Any, Any]:
    """(5) for 1 <= d <= D-1, as A and c of A x_d = c: theta^T theta + I, and theta^T U_d + sigma(U_{d-1})."""
    return theta.T * theta + sympy.Identity(theta.shape[1]), theta.T * u + before


def judge_activity(update: Callable[[Any, Any, Any], tuple[Any, Any]], given: Domain) -> Finding:
    """Whether A x = c says that the gradient of (4), which is convex in x_d, vanishes: for layers of symbolic size."""
    point = (sympy.Matrix([[1, 2], [0, 1], [2, 0]]), sympy.Matrix([1, 1, 3]), sympy.Matrix([1, 3]))
    theta, u, before = point
    matrix, right = (sympy.Matrix(part) for part in update(*point))
    solved = matrix.LUsolve(right)
    gradient = solved - before - theta.T * (u - theta * solved)
    if gradient != sympy.zeros(2, 1):
        names = ("theta", "U_d", "sigma(U_{d-1})")
        return refuted(
            "the gradient of (4) does not vanish at the update",
            {**{name: value.tolist() for name, value in zip(names, point, strict=True)},
             "x_d": solved.tolist(), "gradient": gradient.tolist()},
        )
    gamma, (rows, columns) = given.symbol("gamma"), sympy.symbols("m n", integer=True, positive=True)
    wide, out = sympy.MatrixSymbol("theta", rows, columns), sympy.MatrixSymbol("U", rows, 1)
    s, x, h = (sympy.MatrixSymbol(name, columns, 1) for name in ("s", "x", "h"))
    penalty = (x - s).T * (x - s) + (out - wide * x).T * (out - wide * x)
    matrix, right = update(wide, out, s)
    gap = gamma / 2 * sympy.diff(penalty, x) - gamma * (matrix * x - right)
    bend = h.T * matrix * h - h.T * h - (wide * h).T * (wide * h)
    return proof(
        computed("the gradient of (4), differentiated in x for matrices of symbolic size, is gamma (A x - c)",
                 _is_zero(gap)),
        computed("h^T A h = |h|^2 + |theta h|^2 > 0 for h other than 0, so A is invertible and x_d the only minimiser",
                 _is_zero(bend) and gamma.is_positive is True),
        computed("gamma > 0 only scales the gradient",
                 gamma.is_positive is True and all(value > 0 for value in given.values("gamma"))),
        tried=1,
    )


def _is_zero(expression: Any) -> bool:
    expanded = sympy.expand(expression).doit()
    return bool(expanded == 0 or getattr(expanded, "is_ZeroMatrix", False))


def judge_input(update: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether, with x_0 so updated, (4) at the constraints of (3) is the loss (1) of the network at its input."""
    def excess(theta: Any, u: Any, fed: Any, gamma: Any) -> Any:
        hidden = theta * fed  # U_0 of the constraints; x_1 = sigma(U_0), and R reads x_1: both terms are met
        return gamma / 2 * (hidden - theta * update(theta, u, fed)) ** 2

    tried = 0
    cases = ((Fraction(1), Fraction(1), Fraction(1)), (Fraction(2), Fraction(-1), Fraction(3)))
    for gamma, (theta, u, fed) in itertools.product((Fraction(1), *given.values("gamma")), cases):
        tried += 1
        if excess(theta, u, fed, gamma) != 0:
            return refuted(
                "the update replaces the input of the network",
                {"theta_0": theta, "U_0": u, "input": fed, "gamma": gamma,
                 "x_0 after the update": update(theta, u, fed),
                 "least over x_0 of |U_0 - theta_0 x_0|^2 at": u / theta,
                 "penalty above the loss": excess(theta, u, fed, gamma)},
            )
    theta_, u_, fed_ = sympy.symbols("theta U x", real=True)
    return proof(
        computed("with U_0 = theta_0 x and x_1 = sigma(U_0), (4) is the loss of the network at the input x, on symbols",
                 vanishes(excess(theta_, u_, fed_, given.symbol("gamma")))),
        tried=tried,
    )


def judge_last(parameter: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether Prox with that parameter of gamma minimises R(x) + gamma/2 |x - s|^2."""
    values = given.values("gamma")
    for gamma in values:
        proximal, least = (
            minimiser(lambda x, w=weight: (x - 4) ** 2 / 2 + w * (x - 1) ** 2 / 2)  # R = (x - 4)^2/2 and s = 1
            for weight in (1 / parameter(gamma), gamma)
        )
        if proximal != least:
            return refuted(
                "the proximal map is another point",
                {"gamma": gamma, "R": "(x - 4)^2 / 2", "sigma(U)": "1", "proximal point": proximal,
                 "minimiser": least},
            )
    gamma_ = given.symbol("gamma")
    return proof(
        computed("1/(2 eta) - gamma/2 = 0: the two objectives are one, for every R and every dimension",
                 vanishes(1 / (2 * parameter(gamma_)) - gamma_ / 2)),
        tried=len(values),
    )


_LAYER = (vector("theta"), vector("x"), vector("U"), positive("gamma"))
_INNER = (
    r"(\theta_d^T \theta_d + \mathbf{I})^{-1} (\theta_d^T \mathbf{U}_d + \sigma(\mathbf{U}_{d-1})) & "
    r"\text{if } d = 0, 1, \dots, D-1."
)

activity = Claim(
    id="sbcd/eq-5-mid", source="001, (5), 1 <= d <= D-1",
    quote=_INNER,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=(
        r"\mathbf{x}_d = (\theta_d^T\theta_d + \mathbf{I})^{-1}(\theta_d^T\mathbf{U}_d + \sigma(\mathbf{U}_{d-1}))"
    ),
    words="the update (5) of an inner x_d minimises (4) exactly",
    hypotheses=_LAYER, says=normal_equations, check=judge_activity,
    flips=(
        Flip("without the identity", lambda theta, u, s: (theta.T * theta + 0 * sympy.Identity(theta.shape[1]),
                                                          theta.T * u + s), Verdict.REFUTED),
        Flip("without sigma(U)", lambda theta, u, s: (normal_equations(theta, u, s)[0], theta.T * u + 0 * s),
             Verdict.REFUTED),
        Flip("right up to two inputs", lambda theta, u, s: (
            normal_equations(theta, u, s)[0], theta.T * u + s * sympy.Max(1, theta.shape[1] - 1),
        ), Verdict.UNDECIDED),
    ),
    expected="HOLDS PROVED",
)
first = Claim(
    id="sbcd/eq-5-d0", source="001, (5) with d = 0, where U_{-1} does not exist (its term taken as 0)",
    quote=_INNER,
    whose=Whose.TYPO,
    statement=(
        r"\mathbf{x}_0 = (\theta_0^T\theta_0 + \mathbf{I})^{-1}(\theta_0^T\mathbf{U}_0 + \sigma(\mathbf{U}_{-1}))"
    ),
    words="the update (5) may be used for d = 0",
    hypotheses=_LAYER, says=lambda theta, u, fed: theta * u / (theta**2 + 1), check=judge_input,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbf{x}_0 = \mathbf{x}",
        words="x_0 is the input and is not updated: so (4), its constraints met, is the loss at the input",
        says=lambda theta, u, fed: fed,
        expected="HOLDS PROVED",
        source="001, (5), d = 0 left out",
        flips=(Flip("theta_0^+ U_0", lambda theta, u, fed: u / theta, Verdict.REFUTED),),
        true_variants={"any gamma": "with its constraints met (4) does not depend on gamma"},
    ),
)
last = Claim(
    id="sbcd/eq-5-D", source="001, (5), d = D",
    quote=r"\text{Prox}_{\frac{1}{\gamma}, \mathcal{R}}(\sigma_{D-1}(\mathbf{U}_{D-1})). & \text{if } d = D",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathbf{x}_D = \mathrm{Prox}_{1/\gamma, \mathcal{R}}(\sigma_{D-1}(\mathbf{U}_{D-1}))",
    words="the update (5) of x_D minimises (4) exactly",
    hypotheses=_LAYER, says=lambda gamma: 1 / gamma, check=judge_last,
    flips=(Flip("the parameter gamma", lambda gamma: gamma, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
hidden = Claim(
    id="sbcd/eq-6", source="001, (6) (Zeng et al. 2019, Lemma 13)",
    quote=(
        r"\min\{0, \theta_d \mathbf{x}_d\} & \text{if } \theta_d \mathbf{x}_d + \mathbf{x}_{d+1} \leq "
        r"0. \\ \frac{1}{2}(\theta_d \mathbf{x}_d + \mathbf{x}_{d+1}) & \text{otherwise.}"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=(
        r"\mathbf{U}_d = \theta_d\mathbf{x}_d,\ \min\{0, \theta_d\mathbf{x}_d\},\ \tfrac12(\theta_d\mathbf{x}_d +"
        r" \mathbf{x}_{d+1}) \text{ in the three cases}"
    ),
    words="the three-case formula is the exact minimiser of (4) over U_d for ReLU",
    hypotheses=_LAYER, says=PRINTED, check=judge_hidden,
    flips=(
        Flip("the first case left out", with_threshold(sympy.Integer(1)), Verdict.REFUTED),
        Flip("1/2 in place of sqrt(2) - 1", with_threshold(sympy.Rational(1, 2)), Verdict.REFUTED),
        Flip("5/12, a convergent of it", with_threshold(sympy.Rational(5, 12)), Verdict.REFUTED),
        Flip("max for min in the second case",
             replace(PRINTED, below=(PRINTED.below[0], lambda a, x: max(0 * a, a))), Verdict.REFUTED),
    ),
    true_variants={"[[]near] [[]0] * 1 % *": "a multiple of a guard has its sign",
                   "[[]below] [[]0] * 1 % *": "a multiple of a guard has its sign",
                   "[[]near] [[]0] * only at *": "there another guard of the case is negative",
                   "[[]near] [[]0] [[]1] squared": "that x >= 0 follows from the other two guards"},
    expected="HOLDS PROVED",
)
