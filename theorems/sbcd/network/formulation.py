r"""Sections 1 and 3 of document 001 on networks and their splitting: what is convex, smooth, Lipschitz, and the same.

A unit whose loss is (theta_1 max(0, theta_0) - 1)^2/2 has the loss 0 at (1, 1) and at (t, 1/t), and more between: it is
not convex; nor smooth, since the derivative in theta_0 jumps at 0. A convolution with a kernel of k numbers w, U_i =
sum_m w_m x_{i+m} on a circle, has |U| <= sum_m |w_m| |x| and the square of that is at most k |w|^2 |x|^2, with equality
for constant x and w: its weights are shared, so the curvature in them is k times that of a full matrix.

Activations that are kept from one batch to the next carry the record with them: U_0 <- (theta_0 x_0 + x_1)/2 by (6)
reads the x_1 of the record before.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, probability, real, vector
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.network.algebra import never_negative
from theorems.sbcd.network.updates import PRINTED
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def judge_relu(constant: Fraction, given: Domain) -> Finding:
    """Whether max(0, .) has that best Lipschitz constant."""
    tried = 0
    for at in led(given, a="1", b="0"):
        moved, apart = abs(max(0, at["a"]) - max(0, at["b"])), abs(at["a"] - at["b"])
        tried += 1
        if moved > constant * apart:
            return refuted("two points move farther apart", {**at, "moved": moved, "claimed": constant})
    p, s = sympy.symbols("p s", nonnegative=True)
    cases = ((s, s), (p, p + s), (0 * p, s))  # how far a pair moves, and how far it is apart: both > 0, one, none
    return proof(
        computed("in each of three cases of signs the points move no farther than they are apart",
                 all(never_negative(apart - moved) for moved, apart in cases)),
        computed("two positive points move exactly as far, so the constant claimed is the best one", constant == 1),
        tried=tried,
    )


def judge_middle(between: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether a unit's loss halfway between its zeros (1, 1) and (t, 1/t) is between(t), and more than 0 for t != 1."""
    def loss(first: Any, second: Any) -> Any:
        return (second * first - 1) ** 2 / 2  # theta_0 = first > 0

    tried = 0
    for t in given.values("t"):
        middle = loss((1 + t) / 2, (1 + 1 / t) / 2)
        tried += 1
        if between(t) != middle or loss(t, 1 / t) != 0:
            return refuted("another loss, exactly", {"t": t, "loss": middle, "claimed": between(t)})
    t_ = given.symbol("t")
    found, away = between(t_), sympy.Symbol("s", positive=True)
    return proof(
        computed("the loss is 0 at both ends and as claimed in the middle, on symbols",
                 vanishes(found - loss((1 + t_) / 2, (1 + 1 / t_) / 2)) and loss(t_, 1 / t_) == 0),
        computed("it is positive there for t = 1 + s, and for t = 1/(1 + s)",
                 all(sympy.factor(found.subs(t_, at)).is_positive for at in (1 + away, 1 / (1 + away)))),
        tried=tried,
    )


def judge_jump(quotient: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the slope of (max(0, theta) - 1)^2/2 changes between -h and h by quotient(h) times 2 h, unbounded."""
    tried = given.values("h")
    for h in tried:
        true = abs((h - 1) - Fraction(0)) / (2 * h)  # the slope is theta - 1 on the right, and 0 on the left
        if quotient(h) != true:
            return refuted("another quotient, exactly", {"h": h, "quotient": true, "claimed": quotient(h)})
    h_, theta = sympy.Symbol("h", positive=True), sympy.Symbol("theta", positive=True)
    right = sympy.diff((theta - 1) ** 2 / 2, theta).subs(theta, h_)
    return proof(
        computed("the slopes at h and at -h, where the unit is 0, differ by 1 - h, on symbols",
                 vanishes(quotient(h_) * 2 * h_ + right)),
        computed("so no constant bounds the change of the slope: the limit at 0 is infinite",
                 sympy.limit(quotient(h_), h_, 0, "+") == sympy.oo),
        tried=len(tried),
    )


def judge_split(hidden: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether x_{d+1} = sigma(U_d), U_d = hidden(theta_d, x_d), is x_{d+1} = sigma(theta_d x_d), for any sigma."""
    tried = 0
    for at in led(given, theta="2", x="3"):
        tried += 1
        if hidden(at["theta"], at["x"]) != at["theta"] * at["x"]:
            return refuted("another pre-activation", {**at, "U": hidden(at["theta"], at["x"])})
    sigma, theta, x = sympy.Function("sigma"), given.symbol("theta"), given.symbol("x")
    return proof(
        computed("eliminating U_d gives the constraint of (1), for any function sigma, so by induction all x_d are the "
                 "same", sigma(sympy.expand(hidden(theta, x))) == sigma(theta * x)),
        tried=tried,
    )


def judge_squared(blocks: tuple[str, ...], given: Domain) -> Finding:
    """Whether |theta x - y|^2/2 is convex in each of the blocks; "both" is theta and x jointly."""
    if "both" in blocks:
        ends, middle = ((1, 1), (2, Fraction(1, 2))), (Fraction(3, 2), Fraction(3, 4))
        values = [(Fraction(a) * b - 1) ** 2 / 2 for a, b in (*ends, middle)]
        if values[2] > (values[0] + values[1]) / 2:
            return refuted("the middle of a segment lies above its ends", {"y": 1, "ends (theta, x)": ends,
                                                                           "in the middle": values[2]})
    theta, x, y, step, t = sympy.symbols("theta x y h t", real=True)
    lines = {"theta": (theta + t * step) * x, "x": theta * (x + t * step)}
    bends = [sympy.factor(sympy.diff((lines[block] - y) ** 2 / 2, t, 2)) for block in blocks]
    return proof(
        computed("in every coordinate of theta x - y, linear along a line of the block, the second derivative is a "
                 "square; the loss is their sum", all(bend.is_nonnegative is True for bend in bends)),
    )


def judge_convolution(constant: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether constant(gamma, X, k) is the best smoothness in a kernel of k numbers, for all |x|^2 <= X on a circle."""
    tried = 0
    for at in led(given, gamma="1", X="1", kernel=2, most={"kernel": 7}):
        gamma, bound, size = at["gamma"], at["X"], at["kernel"]
        # constant x on k places, x_i^2 = X/k, along w = (1, ..., 1): U_i = k x_i, and |w|^2 = k.
        true = gamma * sum((size**2 * bound / size for _ in range(size)), Fraction(0)) / size
        tried += 1
        if constant(gamma, bound, size) < true:
            return refuted("a constant input has a larger curvature along a constant kernel, exactly", {
                "gamma": gamma, "|x|^2": bound, "kernel": size, "places": size, "curvature": true,
                "claimed": constant(gamma, bound, size),
            })
    gamma_, bound_, size_ = (given.symbol(name) for name in ("gamma", "X", "kernel"))
    total, squares, one = sympy.symbols("S Q w", real=True)  # sums of k numbers and of their squares, and one number
    grows = (size_ + 1) * (squares + one**2) - (total + one) ** 2 - (size_ * squares - total**2)
    return proof(
        argued("|U| is at most the sum of |w_m| |x|, the shifts of x being as long as x (triangle inequality)"),
        computed("(sum |w_m|)^2 <= k |w|^2: one number more adds sum_m (w_m - w)^2 to the difference, by induction",
                 vanishes(grows - (squares - 2 * one * total + size_ * one**2))),
        computed("so the curvature is at most gamma k X, which a constant input attains: what is claimed, on symbols",
                 vanishes(constant(gamma_, bound_, size_) - gamma_ * size_ * bound_)
                 and gamma_.is_positive is True and bound_.is_positive is True),
        tried=tried,
    )


def judge_carried(gap: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether theta_0's gradient at the input x moves by gap(x, one, other) if x_1 was one or other before."""
    def gradient(x: Any, before: Any) -> Any:
        return (x - PRINTED(x, before)) * x  # theta_0 = 1, and U_0 by (6)

    tried = 0
    for at in led(given, x="1", one="1", other="3"):
        true = gradient(at["x"], at["one"]) - gradient(at["x"], at["other"])
        tried += 1
        if gap(*at.values()) != true:
            return refuted("a step that does not read the record reads what the record has left in x_1", {
                "theta_0": 1, "x_0": at["x"], "x_1 before": f"{at['one']} or {at['other']}",
                "gradients differ by": true, "claimed": gap(*at.values()),
            })
    x_, one, other = (given.symbol(name) for name in ("x", "one", "other"))
    return proof(computed("the difference of the two gradients, on symbols",
                          vanishes(gap(x_, one, other) - gradient(x_, one) + gradient(x_, other))), tried=tried)


_DEEP = (
    "deep neural networks, whose loss functions are non-convex and may exhibit non-smoothness when using activation "
    "functions like ReLU [21]."
)

relu = Claim(
    id="sbcd/relu-lipschitz", source="001, Section 3.1",
    quote=r"$\{\sigma_d\}_{d=0}^{D-1}$ are activation functions, such as ReLU function, that are Lipschitz continuous.",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"|\max(0, a) - \max(0, b)| \le |a - b|, \text{ and no smaller constant serves}",
    words="ReLU is Lipschitz continuous, with the best constant 1", hypotheses=(real("a"), real("b")),
    says=Fraction(1), check=judge_relu, flips=(Flip("1/2", Fraction(1, 2), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
nonconvex = Claim(
    id="sbcd/networks-nonconvex", source="001, Section 1, fourth paragraph; for one hidden unit", quote=_DEEP,
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\tfrac12(\theta_1\sigma(\theta_0) - 1)^2 = \frac{(1-t)^4}{32t^2} > 0 \text{ halfway between the zeros }"
              r" (1, 1),\ (t, 1/t)",
    words="a network's loss is not convex: a unit's loss is positive halfway between two of its zeros",
    hypotheses=(positive("t"),), says=lambda t: (1 - t) ** 4 / (32 * t**2), check=judge_middle,
    flips=(Flip("0, as if it were convex", lambda t: 0 * t, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
nonsmooth = Claim(
    id="sbcd/networks-nonsmooth", source="001, Section 1, fourth paragraph; for one hidden unit", quote=_DEEP,
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\frac{|f'(h) - f'(-h)|}{2h} = \frac{1 - h}{2h} \to \infty \quad (f(\theta) = \tfrac12(\sigma(\theta) -"
              r" 1)^2)",
    words="a network with ReLU has a loss that is not smooth: its slope jumps where a unit begins to fire",
    hypotheses=(probability("h"),), says=lambda h: (1 - h) / (2 * h), check=judge_jump,
    flips=(Flip("half of it", lambda h: (1 - h) / (4 * h), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
split = Claim(
    id="sbcd/eq-3-rewrite", source="001, Section 3.2: problem (1) rewritten as (3)",
    quote=r"First, we introduce the variables $\{\mathbf{U}_d\}_{d=0}^{D-1}$ and rewrite the problem as follows:",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\mathbf{x}_{d+1} = \sigma_d(\mathbf{U}_d),\ \mathbf{U}_d = \theta_d\mathbf{x}_d \iff \mathbf{x}_{d+1} ="
              r" \sigma_d(\theta_d\mathbf{x}_d)",
    words="problem (3), with the variables U_d, is problem (1)", hypotheses=(real("theta"), real("x")),
    says=lambda theta, x: theta * x, check=judge_split,
    flips=(Flip("a sum", lambda theta, x: theta + x, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
squared = Claim(
    id="sbcd/squared-loss-convex", source="001, Section 5, for what Section 3.2 asks of the loss R",
    quote="we use squared loss as the loss function.", whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\tfrac12\lVert\theta_D\mathbf{x}_D - y\rVert^2 \text{ is convex in } \theta_D \text{ and in }"
              r" \mathbf{x}_D",
    words="the squared loss of Section 5 is convex in theta_D and in x_D, each with the other fixed, as (4) asks of R",
    hypotheses=(), says=("theta", "x"), check=judge_squared, flips=(Flip("jointly", ("both",), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
convolution = Claim(
    id="sbcd/lem-3.2-convolution", source="001, Section 3.1 (convolutional layers) with Lemma 3.2, in the kernel",
    quote=r"are matrices representing the weights of linear layers, including fully-connected layers and convolutional "
          "layers.",
    whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\mathcal{F} \text{ is } \gamma X_d^2\text{-smooth in the kernel of a convolutional layer}",
    words="Lemma 3.2's constant serves the kernel of a convolutional layer, too",
    hypotheses=(vector("x"), positive("gamma"), positive("X", "of which |x|^2 is at most"), positive_integer("kernel")),
    says=lambda gamma, bound, size: gamma * bound**2, check=judge_convolution, uses=("sbcd/lem-3.2",),
    flips=(Flip("gamma X, the repair for a full matrix", lambda gamma, bound, size: gamma * bound, Verdict.REFUTED),),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathcal{F} \text{ is } k\gamma X_d\text{-smooth in a kernel of } k \text{ numbers, and no less}",
        words="the best smoothness in a kernel of k numbers is k gamma X, where |x|^2 <= X",
        says=lambda gamma, bound, size: size * gamma * bound,
        expected="HOLDS ARGUED",
    ),
)
carried = Claim(
    id="sbcd/carried-activations", source="001, Algorithms 1 and 2: x and U are initialised once, and kept",
    quote=r"Initialization: $\{\theta_d\}_{d=0}^D, \{\mathbf{x}_d\}_{d=0}^D, \{\mathbf{U}_d\}_{d=0}^{D-1}$.",
    whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\nabla\mathcal{F}(\theta_0) \text{ of a batch without the record does not depend on it, } \theta"
              r" \text{ given}",
    words="with one set of activations for all batches a batch without the record has a gradient that does not read it",
    hypotheses=(positive("x"), positive("one", "x_1 before, of one data set"), positive("other", "and of the other")),
    says=lambda x, one, other: 0 * x, check=judge_carried, uses=("sbcd/eq-6",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla\mathcal{F}(\theta_0; x_1) - \nabla\mathcal{F}(\theta_0; x_1') = \tfrac12 x_0 (x_1' - x_1)",
        words="carried on, activations that differ by x_1' - x_1 move the next batch's gradient by x_0/2 times that",
        says=lambda x, one, other: x * (other - one) / 2,
        expected="HOLDS PROVED",
    ),
)
