r"""What document 004 says of neural networks: activations, the cost of a gradient, and what their loss looks like.

Cost of a gradient, by operations on numbers. Run backwards through a computation: x + y hands its adjoint on to x and
to y, one addition each; x y hands on adjoint times y and adjoint times x, two products and two additions; x/y, whose
value z is at hand, one division, one product, two additions; f(x), one evaluation of f', one product, one addition.
With the operation itself: 3, 5, 5 and 4. So a gradient costs at most five times the function, however many inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, real
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.cs208.judging import unchecked
from theorems.given import Domain
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, undecided

Activation = Callable[[Any], Any]


def judge_tanh(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether says(sigma) at sigma = sigma(2x) is tanh x, with u = e^x: (u - 1/u)/(u + 1/u)."""
    for u in given.values("odds"):
        sigma, tanh = 1 / (1 + 1 / u**2), (u - 1 / u) / (u + 1 / u)
        if says(sigma) != tanh:
            return refuted("another number", {"e^x": u, "claimed": says(sigma), "tanh x": tanh})
    u = given.chart("odds")
    return proof(computed("with u = e^x both are (u^2 - 1)/(u^2 + 1)",
                          u.is_positive is True and vanishes(says(1 / (1 + u**-2)) - (u - 1 / u) / (u + 1 / u))))


def judge_leaky(says: tuple[Activation, Activation], given: Domain) -> Finding:
    """Whether the two functions are x for x >= 0, and below it 0 and x/20."""
    slopes = (Fraction(0), Fraction(1, 20))
    for x in given.values("input"):
        for function, slope in zip(says, slopes, strict=True):
            if function(x) != (x if x >= 0 else slope * x):
                return refuted("another number", {"x": x, "slope": slope, "claimed": function(x)})
    t = sympy.symbols("t", nonnegative=True)
    return proof(
        computed("for x = t >= 0 they are x", vanishes(*(function(t) - t for function in says))),
        computed("for x = -t <= 0 they are the slope times x",
                 vanishes(*(function(-t) + t * slope for function, slope in zip(says, slopes, strict=True)))),
    )


tanh = Claim(
    id="cs208/tanh", source="004, Common Activation Functions: tanh by the sigmoid",
    quote=r"$$\tanh(x) = 2\sigma(2x) - 1$$", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\tanh(x) = 2\sigma(2x) - 1,\quad \sigma(x) = \frac1{1 + e^{-x}}",
    words="tanh is the sigmoid at 2x, doubled, less 1", hypotheses=(positive("odds", "e^x"),),
    says=lambda sigma: 2 * sigma - 1, check=judge_tanh,
    flips=(Flip("not doubled", lambda sigma: sigma - 1, Verdict.REFUTED),), expected="HOLDS PROVED",
)
leaky = Claim(
    id="cs208/relu-leaky", source="004, Common Activation Functions: ReLU and leaky ReLU as a maximum",
    quote=r"$$\text{Leaky ReLU}(x) = \max(0.05x, x)$$", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\max(ax, x) = x \ (x \ge 0),\ ax \ (x \le 0),\quad a = 0 \text{ or } 0.05",
    words="max(0, x) and max(0.05 x, x) are x above 0, and 0 or 0.05 x below", hypotheses=(real("input"),),
    says=(lambda x: sympy.Max(0, x), lambda x: sympy.Max(x / 20, x)), check=judge_leaky,
    flips=(Flip("the minimum", (lambda x: sympy.Min(0, x), lambda x: sympy.Min(x / 20, x)), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)


def _balls(value: Any) -> arb:
    return value if isinstance(value, arb) else ball(value)


def judge_not_convex(says: Mapping[str, Activation], given: Domain) -> Finding:
    """Whether (a phi(w) - 1)^2, one hidden unit and one record, breaks the midpoint inequality for each phi, certified.

    Models (w, a) with a phi(w) = 1 have loss 0; the middle of two of them has not.
    """
    found = {}
    with ctx.workprec(80):
        for name, phi in says.items():
            one, other = _balls(phi(arb(1))), _balls(phi(arb(2)))
            if not (one > 0 and other > 0):
                return undecided(f"{name} is not positive at 1 and 2: no such models", 1)
            middle = (_balls(phi(ball(Fraction(3, 2)))) * (1 / one + 1 / other) / 2 - 1) ** 2
            if not middle > 0:
                return undecided(f"no failure of convexity for {name} between these two models", 1)
            found[name] = middle.str(6)
    return instance("two models fit the record, and their middle does not: the loss is not convex", found)


def judge_dead(says: tuple[Activation, Fraction], given: Domain) -> Finding:
    """Whether (phi(w) - 1)^2 has a local minimum at says[1] that is no global one: flat around it, and 0 at w = 1."""
    phi, at = says
    near = sympy.Symbol("t", nonnegative=True)
    chart = sympy.Rational(at.numerator, at.denominator) * (1 + near)  # beyond `at`, and at * 1/(1 + t) before it
    here = (phi(at) - 1) ** 2
    for w in (at * Fraction(k, 4) for k in range(1, 9)):
        if (phi(w) - 1) ** 2 < here:
            return refuted("it is lower nearby", {"w": at, "there": here, "nearby": w, "lower": (phi(w) - 1) ** 2})
    before = sympy.Rational(at.numerator, at.denominator) / (1 + near)
    flat = all(vanishes((phi(one) - 1) ** 2 - here) for one in (chart, before))
    if not flat or (phi(Fraction(1)) - 1) ** 2 >= here:
        return undecided("not flat around this point, or nothing is lower", 8)
    return instance("the loss is the same on a whole half-line around the point, and lower elsewhere; its slope there "
                    "is 0, so that gradient descent stays", {"w": at, "loss": here, "loss at w = 1": 0})


def judge_cost(times: int, given: Domain) -> Finding:
    """Whether each operation with its way back costs at most so many operations."""
    back = {"sum": 2, "product": 2 + 2, "quotient": 2 + 2, "function": 1 + 1 + 1}  # (products, ...) and additions
    total = {name: 1 + count for name, count in back.items()}
    if times < 3:
        return refuted("a product's gradient alone, (y, x) times the adjoint, with the product, costs more",
                       {"function": "adjoint * x y", "operations": 1 + 2, "claimed": times})
    x, y = sympy.symbols("x y", positive=True)
    return proof(
        computed("the rules of the way back are the partial derivatives", vanishes(
            sympy.diff(x * y, x) - y, sympy.diff(x / y, x) - 1 / y, sympy.diff(x / y, y) + (x / y) / y)),
        computed("an operation and its way back cost at most that many", max(total.values()) <= times),
        argued("the adjoints of all inputs are there when the way back ends (the chain rule)"),
    )


_RELU: Activation = lambda w: sympy.Max(0, w) if not isinstance(w, arb) else w.max(arb(0))  # noqa: E731
_NAMES = {
    "sigmoid": lambda w: 1 / (1 + (-w).exp()), "tanh": lambda w: w.tanh(), "ReLU": lambda w: w.max(arb(0)),
    "leaky ReLU": lambda w: w.max(w / 20),
}
_STUCK = "Can get stuck in a bad place"

not_convex = Claim(
    id="cs208/nn-nonconvex", source="004, Gradient Descent for Neural Networks",
    quote="But no longer convex, has many local minima", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"L(w, a) = (a\varphi(w) - 1)^2 \text{ is not convex}",
    words="the loss of a network with one hidden unit is not convex, for each of the four activations of the slides",
    hypotheses=(), says=_NAMES, check=judge_not_convex,
    flips=(Flip("a constant activation", {"constant": lambda w: arb(1)}, Verdict.UNDECIDED),),
    true_variants={
        "* 1 % *": "a rescaled activation has the same middle",
        "* squared": "the square of a nonlinear function is another", "* -> *": "other activations have it, too",
    },
    expected="HOLDS PROVED",
)
local_minima = Claim(
    id="cs208/nn-many-local-minima", source="004, Gradient Descent for Neural Networks: local minima, for ReLU",
    quote="But no longer convex, has many local minima", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"L(w) = (\mathrm{ReLU}(w) - 1)^2:\ L \equiv 1 \text{ for } w \le 0,\ L(1) = 0",
    words="one ReLU unit already has local minima that are not global: every w < 0",
    hypotheses=(), says=(_RELU, Fraction(-1)), check=judge_dead,
    flips=(Flip("w = 1/2", (_RELU, Fraction(1, 2)), Verdict.REFUTED),),
    true_variants={**dict.fromkeys(("[[]1[]] 1 % *", "[[]1[]] one more"), "every w < 0 is one"),
                   **dict.fromkeys(("[[]0[]] 1 % *", "[[]0[]] squared"), "a rescaled ReLU has them, too")},
    expected="HOLDS PROVED",
)
stuck = Claim(
    id="cs208/nn-stuck", source="004, Gradient Descent for Neural Networks: stuck", quote=_STUCK,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"w_0 = -1:\ \nabla L(w_t) = 0,\ L(w_t) = 1 \text{ for all } t, \ \min L = 0",
    words="gradient descent on one ReLU unit from w = -1 stays there for ever", hypotheses=(),
    says=(_RELU, Fraction(-1)), check=judge_dead,
    flips=(Flip("from w = 1/2", (_RELU, Fraction(1, 2)), Verdict.REFUTED),),
    true_variants=local_minima.true_variants, expected="HOLDS PROVED",
)
cost = Claim(
    id="cs208/backprop-cost", source="004, Gradient Descent for Neural Networks: backpropagation is quick",
    quote="Gradient of Loss function can be computed quickly", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\mathrm{cost}(f, \nabla f) \le 5\, \mathrm{cost}(f)",
    words="a function and its gradient cost at most five times the function, by operations", hypotheses=(), says=5,
    check=judge_cost, flips=(Flip("twice", 2, Verdict.REFUTED), Flip("four times", 4, Verdict.UNDECIDED)),
    true_variants={"one more": "a larger bound is one, too"}, expected="HOLDS ARGUED",
)
practice = unchecked(
    "nn-works", "Gradient Descent for Neural Networks", "gradient descent on neural networks works well in practice",
    "But works well in practice!", "no task and no measure is named: a benchmark with its accuracies would settle it",
)
