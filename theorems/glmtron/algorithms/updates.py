r"""The updates (3) of SGD and GLMtron, what the averages of Algorithms 1 and 3 hold, and what is said of both updates.

With s = <x, w> the loss is (ReLU(s) - y)^2/2; its derivative in s is (ReLU(s) - y) 1[s > 0] off the kink, and the
gradient is that times x. GLMtron leaves out 1[s > 0], the slope of ReLU. At w = 0 every s is 0: SGD does not move, and
DP-FTRL, a sum of such gradients, neither, while 0 is no minimum: for x = +-1, w* = 1 the excess risk is (w - 1)^2/4 for
w > 0 and (1 + w^2)/4 for w < 0, which falls towards 1 and rises the other way. With noise of any size SGD leaves: for
w_1 ~ N(0, tau^2) the mean moves by eta/4 in the next step, whatever tau > 0 is: E[eta (1 - w_1)/2; w_1 > 0] +
E[-eta w_1/2; w_1 < 0] = eta/4 - eta m/2 + eta m/2 with m = E max(w_1, 0).

One coordinate of one-hot data x = +-e_i, w* > 0 > w: for x = e_i SGD stays (s < 0), for x = -e_i it goes to (1 - eta)
w, up to 0 and never across; GLMtron goes to w + eta w* for x = e_i: across.

Averages. w_{t+1} holds l_0, ..., l_t, so that the average of w_0, ..., w_{N-1} (Algorithm 1) holds l_t N - 1 - t times
and never l_{N-1}; that of w_1, ..., w_N (Algorithm 3) holds l_t N - t times.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from oracle.core.enclosure import Enclosure, ball
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, argued, computed, instance, proof, refuted

Factor = Callable[[Any, Any, Any, Any], Any]
"""What x is multiplied by, from s = <x, w>, ReLU(s), 1[s > 0] and y."""


def judge_gradient(factor: Factor, given: Domain) -> Finding:
    """Whether factor x is the gradient of (ReLU(<x, w>) - y)^2/2 off the kink, by differences of an exact quadratic."""
    tried = 0
    for point in given.points("s", "y", at_most=200):
        s, y = point["s"], point["y"]
        if s == 0:
            continue
        step = abs(s) / 2
        loss = [(max(s + side, Fraction(0)) - y) ** 2 / 2 for side in (step, -step)]
        slope = (loss[0] - loss[1]) / (2 * step)
        tried += 1
        if factor(s, max(s, Fraction(0)), int(s > 0), y) != slope:
            return refuted("the derivative of the loss is another", {
                "<x, w>": s, "y": y, "derivative": slope,
                "claimed": factor(s, max(s, Fraction(0)), int(s > 0), y)})
    a, y_ = sympy.Symbol("a", positive=True), given.symbol("y")
    return proof(
        computed("for s > 0 it is the derivative of (s - y)^2/2, for s < 0 that of y^2/2, on symbols",
                 vanishes(factor(a, a, sympy.Integer(1), y_) - sympy.diff((a - y_) ** 2 / 2, a),
                          factor(-a, sympy.Integer(0), sympy.Integer(0), y_)) and given["s"].low is None),
        tried=tried,
    )


def judge_omission(factor: Factor, given: Domain) -> Finding:
    """Whether the factor is ReLU(s) - y: the gradient's without the slope of ReLU."""
    tried = 0
    for point in given.points("s", "y", at_most=200):
        s, y = point["s"], point["y"]
        relu, slope = max(s, Fraction(0)), int(s > 0)
        tried += 1
        claimed = factor(s, relu, slope, y)
        if claimed != relu - y:
            return refuted("it is not the gradient's factor without the slope of ReLU", {
                "<x, w>": s, "y": y, "claimed": claimed, "ReLU(s) - y": relu - y})
    (a, b, z), y_ = sympy.symbols("a r i", real=True), given.symbol("y")
    return proof(
        computed("it is ReLU(s) - y whatever the slope is, on symbols", vanishes(factor(a, b, z, y_) - (b - y_))),
        tried=tried,
    )


def judge_weight(weight: Callable[[Any, Any], Any], given: Domain, *, start: int) -> Finding:
    """Whether the average of N iterates from w_start on holds l_t weight(t, N) times, in units of -eta/N."""
    tried = 0
    for records in given.values("records", most=30):
        for t in range(records):
            held = sum(t < k for k in range(start, start + records))  # w_k holds l_0, ..., l_{k-1}
            tried += 1
            if weight(t, records) != held:
                return refuted("the average holds the step of that place another number of times", {
                    "N": records, "t": t, "iterates": f"w_{start} to w_{start + records - 1}", "held": held,
                    "claimed": weight(t, records)})
    n, t_, k = (sympy.Symbol(name, integer=True, nonnegative=True) for name in "ntk")
    held_ = sympy.summation(sympy.Integer(1), (k, t_ + 1, start + n - 1))
    return proof(computed("iterates t + 1 to the last hold l_t: their number, on symbols",
                          vanishes(weight(t_, n) - held_)), tried=tried)


def judge_first(weight: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Of Algorithm 1: the average of w_0, ..., w_{N-1}."""
    return judge_weight(weight, given, start=0)


def judge_later(weight: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Of Algorithm 3: the average of w_1, ..., w_N."""
    return judge_weight(weight, given, start=1)


def judge_all_enter(start: int, given: Domain) -> Finding:
    """Whether every record's step is in the average of N iterates from w_start on."""
    for records in (1, 2, 10):
        for t in range(records):
            held = sum(t < k for k in range(start, start + records))
            if held < 1:
                return refuted("no iterate of the average holds the step of that place", {
                    "N": records, "place": t, "iterates": f"w_{start} to w_{start + records - 1}", "held": held})
    n = sympy.Symbol("n", integer=True, nonnegative=True)
    return proof(computed("the last of N iterates, w_(start + N - 1), holds l_(N-1) and all before, on symbols",
                          never_negative((start + n - 1) - n)))


def judge_exponent(square: Callable[..., Any], given: Domain) -> Finding:
    """Whether gamma^2 is the product of the bounds on |x|^2 and on the squared residual, L = log^2a(N)."""
    names, tried = ("alpha", "trace", "tail", "logs", "s"), 0
    for point in given.points(*names, at_most=100):
        alpha, trace, tail, logs, s = (point[name] for name in names)
        true = (alpha * trace * logs) * (2 * tail**2 * logs * s**2)
        tried += 1
        if square(alpha, trace, tail, logs, s) != true:
            return refuted("gamma^2 is another number", {
                "alpha": alpha, "tr H": trace, "C_2": tail, "log^2a(N)": logs, "s": s, "needed": true,
                "gamma^2": square(alpha, trace, tail, logs, s)})
    a, h, c, logs_, s_ = (given.symbol(name) for name in names)
    return proof(computed("alpha tr(H) L times 2 C_2^2 L s^2, on symbols",
                          vanishes(square(a, h, c, logs_, s_) - (a * h * logs_) * (2 * c**2 * logs_ * s_**2))),
                 tried=tried)


def judge_list(lines: tuple[str, ...], given: Domain) -> Finding:
    """Whether one of the lines of an algorithm puts the norm of its step into the list."""
    if not any(line.startswith("add ") for line in lines):
        return refuted("no line adds to the list", {"lines": "; ".join(lines)})
    return instance("a line adds the norm to the list", {"lines": "; ".join(lines)})


def judge_permutation(joint: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether one record is at the first two places of a random order of N with probability joint(N)."""
    tried = 0
    for records in given.values("records", most=6):
        if records > 1:
            tried += 1
            if joint(records) != 0:
                return refuted("an order has every record once: its places are uniform and not independent", {
                    "N": records, "P(record at places 1 and 2)": 0, "claimed": joint(records)})
    n = sympy.Symbol("n", integer=True, positive=True)
    return proof(computed("it is 0, on symbols", vanishes(joint(n))), tried=tried)


def judge_count(products: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether products(d, active) multiplications are fewer than those of a step of SGD, d + active (d + 1)."""
    tried = 0
    for d in given.values("dimension", most=50):
        for active in (1, 0):
            gradient = d + active * (d + 1)  # <x, w>, then eta times the residual and that times x, if at all
            tried += 1
            if products(d, active) >= gradient:
                return refuted("a step of SGD has no more multiplications", {
                    "d": d, "1[<x, w> > 0]": active, "SGD": gradient, "GLMtron": products(d, active)})
    d_ = given.chart("dimension")
    return proof(computed("fewer than SGD's, active or not, on symbols", all(
        never_negative(d_ + active * (d_ + 1) - 1 - products(d_, active)) for active in (0, 1))), tried=tried)


def judge_extra(extra: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether GLMtron's 2d + 1 multiplications are extra(d, active) more than those of a step of SGD."""
    tried = 0
    for d in given.values("dimension", most=50):
        for active in (1, 0):
            true = 2 * d + 1 - (d + active * (d + 1))
            tried += 1
            if extra(d, active) != true:
                return refuted("the difference is another", {
                    "d": d, "1[<x, w> > 0]": active, "difference": true, "claimed": extra(d, active)})
    d_, active_ = given.symbol("dimension"), sympy.Symbol("a", real=True)
    return proof(computed("2d + 1 - d - a (d + 1), on symbols",
                          vanishes(extra(d_, active_) - (2 * d_ + 1 - d_ - active_ * (d_ + 1)))), tried=tried)


# --- the saddle


def drift(tau: Fraction, eta: Fraction) -> arb:
    """How far the mean of SGD moves from w_1 ~ N(0, tau^2), or from 0 if tau = 0; x = +-1, w* = 1, no label noise.

    For w > 0 the record x = 1 moves it by eta (1 - w), for w < 0 the record x = -1 by -eta w, each record in half the
    cases; all others have no gradient.
    """
    above = Fraction(1, 2) if tau > 0 else Fraction(0)
    mean = ball(tau) / (2 * arb.pi()).sqrt()  # E max(w_1, 0) = E max(-w_1, 0)
    moved: arb = ball(eta) * (ball(above) - mean) / 2 + ball(eta) * mean / 2
    return moved


def judge_still(moves: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether a first step of SGD from w = 0, x = +-1 and y = max(x w*, 0), moves w by moves(eta)."""
    tried = 0
    for point in given.points("eta", "target", at_most=60):
        eta, target = point["eta"], point["target"]
        for x in (1, -1):
            s, y = Fraction(0), max(x * target, Fraction(0))
            moved = -eta * (max(s, Fraction(0)) - y) * x * int(s > 0)
            tried += 1
            if moves(eta) != moved:
                return refuted("the step is another", {"x": x, "w*": target, "eta": eta, "moved": moved,
                                                       "claimed": moves(eta)})
    w, eta_ = sympy.Symbol("w", positive=True), given.symbol("eta")
    right, left = (w - 1) ** 2 / 4, (1 + w**2) / 4  # the excess risk of w and of -w, w* = 1
    return proof(
        computed("the step from 0 is 0, on symbols", vanishes(moves(eta_))),
        computed("the excess risk falls from 0 towards w* = 1 and rises the other way: 0 is no minimum, on symbols",
                 bool(sympy.diff(right, w).subs(w, 0) < 0) and never_negative(sympy.diff(left, w))),
        argued("so w = 0 stays in every step, and so does a sum of such gradients"),
        tried=tried,
    )


def judge_noise_helps(order: Callable[[Any, Any], bool], given: Domain) -> Finding:
    """Whether order(mean at less noise, mean at more) of SGD's move away from the saddle, for tau < tau'."""
    tried = 0
    for eta in given.values("eta"):
        for less, more in ((Fraction(0), Fraction(1)), (Fraction(0), Fraction(1, 100))):
            tried += 1
            if not order(drift(less, eta), drift(more, eta)):
                return refuted("without noise SGD stays at the saddle; with noise its mean leaves it", {
                    "x": "+-1", "w*": 1, "eta": eta, "tau": less, "mean moves": Enclosure.of_ball(drift(less, eta)),
                    "larger tau": more, "mean moves there": Enclosure.of_ball(drift(more, eta))})
    eta_, m = given.symbol("eta"), sympy.Symbol("m", positive=True)
    moved = eta_ * (sympy.Rational(1, 2) - m) / 2 + eta_ * m / 2
    return proof(
        computed("E[eta (1 - w); w > 0]/2 + E[-eta w; w < 0]/2 = eta/4 > 0 with m = E max(w, 0), on symbols",
                 vanishes(moved - eta_ / 4) and bool(order(sympy.Integer(0), eta_ / 4))),
        tried=tried,
    )


def judge_crossing(steps: tuple[Callable[..., Any], Callable[..., Any]], given: Domain) -> Finding:
    """Whether these are SGD's and GLMtron's steps for x = e_i, w < 0 < w*, from (w, w*, eta): SGD's stays below 0."""
    tried = 0
    for point in given.points("model", "target", "eta", at_most=100):
        w, target, eta = -point["model"], point["target"], point["eta"]
        true = (w, w + eta * target)  # ReLU(w) = 0, y = w*
        found = tuple(step(w, target, eta) for step in steps)
        tried += 1
        if found != true:
            return refuted("a step is another", {"w": w, "w*": target, "eta": eta, "steps": f"{true[0]}, {true[1]}",
                                                 "claimed": f"{found[0]}, {found[1]}"})
    w_, t_, eta_ = (given.symbol(name) for name in ("model", "target", "eta"))
    share = given.chart("eta")
    return proof(
        computed("SGD stays for x = e_i, and for x = -e_i goes to (1 - eta) w <= 0, on symbols",
                 vanishes(steps[0](-w_, t_, eta_) + w_) and never_negative((1 - share) * w_)),
        computed("GLMtron goes to w + eta w* for x = e_i, on symbols",
                 vanishes(steps[1](-w_, t_, eta_) + w_ - eta_ * t_)),
        tried=tried,
    )
