r"""What document 001 says in passing in Section 4.3 about its own accounting, checked on the accounting.

Losses are R/alpha in units of eta S_g^2/(4 b^2), by Corollary 4.5 (repaired) step by step: with w = V/L_T^2 and q =
(L_F L_T)^2 a touch adds 1/o, a step without the record multiplies by q w/(q w + o), and both leave w' = q w + o.
Scaling all noise by s scales w by s and leaves the factors alone; changing one epoch's noise moves the factors, too.
Without contraction (q = 1, which is all that convexity gives) w = t o after t steps, a factor is t/(t + 1), and old
epochs are hardly forgotten. Noise that falls for ever but stays above some m > 0 keeps w below M/(1-q), so a factor
stays below f = qM/(qM + (1-q)m) < 1 and the loss below 1/(m (1 - f)) for two batches; noise that tends to 0 makes the
last touch, with its at most N - 1 factors of q/(1 + q) or more, as large as you like.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from theorems.given import Domain
from theorems.sbcd.experiments.curves import contributions
from theorems.tools.printed import rounds_to
from theorems.verdict import Finding, computed, instance, proof, refuted, undecided

_ONE = Fraction(1)
_SMALL = {"batches": 3, "epochs": 3}


def shares(
    noise: Sequence[Fraction], batches: int, position: int, product: Fraction, steps: int = -1,
) -> list[Fraction]:
    """What each epoch's touch is worth at the end, or after that many steps, exactly; product is q."""
    found: list[Fraction] = []
    spread = Fraction(0)
    for step in range(len(noise) * batches if steps < 0 else steps):
        o = noise[step // batches]
        if o <= 0:
            raise DomainError("noise has a positive variance")
        moved = product * spread
        found = [*found, 1 / o] if step % batches == position else [share * moved / (moved + o) for share in found]
        spread = moved + o
    return found


def judge_inverse(scaling: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether an epoch's contribution is divided by s where epoch k's noise is taken scaling(k, epoch, s) times."""
    simple = {"noise": _ONE, "product": Fraction(81, 100), "batches": 2, "epochs": 2, "s": Fraction(2)}
    every = given.points("noise", "product", "batches", "epochs", "s", at_most=40, most=_SMALL)
    tried = 0
    for at in itertools.chain([simple], every):
        noise = [at["noise"]] * at["epochs"]
        for position, epoch in itertools.product(range(at["batches"])[::-1], range(at["epochs"])):
            changed = [o * scaling(k, epoch, at["s"]) for k, o in enumerate(noise)]
            one, other = (shares(each, at["batches"], position, at["product"])[epoch] for each in (noise, changed))
            tried += 1
            if other * at["s"] != one:
                return refuted("the contribution is divided by another number, exactly", {
                    "noise": ", ".join(map(str, noise)), "times": at["s"], "epoch": epoch, "batches": at["batches"],
                    "j_0": position, "q": at["product"], "contribution before": one, "after": other,
                })
    o, q, s = (given.symbol(name) for name in ("noise", "product", "s"))
    k, epoch, w = sympy.Symbol("k", integer=True), sympy.Symbol("e", integer=True), sympy.Symbol("w", positive=True)
    return proof(
        computed("the noise of every epoch k is multiplied by s", sympy.simplify(scaling(k, epoch, s) - s) == 0),
        computed("then the spread is, from step to step", sympy.expand(q * s * w + s * o - s * (q * w + o)) == 0),
        computed("so a factor stays what it is",
                 sympy.simplify(q * s * w / (q * s * w + s * o) - q * w / (q * w + o)) == 0),
        computed("and a touch is divided by s", sympy.simplify(1 / (s * o) - (1 / o) / s) == 0), tried=tried,
    )


def judge_last(says: tuple[Fraction, str], given: Domain) -> Finding:
    """Whether the last 5 of 30 epochs contribute more than half, at Figure 1's setting but for L_F, at every j_0.

    The share, if one is printed, must be that at every j_0.
    """
    gradient, printed = says
    if gradient < 0:
        raise DomainError("a Lipschitz constant is not negative")
    for before in range(21):
        with ctx.workprec(128):
            found = contributions([Fraction(1, 100)] * 30, before, gradient)
            share = Enclosure.of_ball(sum(found[-5:], arb(0)) / sum(found, arb(0)))
        if share.certainly_le(Fraction(1, 2)) or (printed and not rounds_to(share, printed)):
            return refuted("another share, certified", {
                "L_F": gradient, "j_0": before, "epochs": 30, "batches": 21, "share of the last 5": share,
            })
        if share.possibly_le(Fraction(1, 2)):
            return undecided("too close to a half", 1)
    return instance(f"{printed or 'more than half'} at every j_0")


def judge_share(most: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether without contraction, q = 1, the last m of K epochs contribute at most most(m, K) of the loss."""
    tried = 0
    for at in given.points("batches", "epochs", "last", at_most=60, most={"batches": 3, "epochs": 7}):
        for position in range(at["batches"]):
            found = shares([_ONE] * at["epochs"], at["batches"], position, _ONE)
            tried += 1
            if sum(found[-at["last"]:]) > most(at["last"], at["epochs"]) * sum(found):
                return refuted("they contribute more, exactly", {**at, "j_0": position})
    t, k, o = (sympy.Symbol(name, positive=True) for name in ("t", "k", "o"))
    N, K, m = given.symbol("batches"), given.symbol("epochs"), given.symbol("last")
    j = sympy.Symbol("j", nonnegative=True)
    least = sympy.simplify(sympy.summation((k * N + j + 1) / (K * N), (k, 0, K - 1)) - (K - 1) / 2)
    return proof(
        computed("the spread after t steps is t o: induction on t", sympy.expand(t * o + o - (t + 1) * o) == 0),
        computed("so a factor is t/(t + 1), and all of them from t = a to b - 1 multiply to a/b: induction on b",
                 sympy.simplify(t * o / (t * o + o) - t / (t + 1)) == 0
                 and sympy.simplify(o / t * t / (t + 1) - o / (t + 1)) == 0),
        computed("so epoch k keeps at least (k N + j_0 + 1)/(K N) of its touch, all epochs together at least (K - 1)/2",
                 least.is_positive),
        computed("and the last m at most m, which is that share", sympy.simplify(m / ((K - 1) / 2) - most(m, K)) == 0),
        tried=tried,
    )


def judge_every_noise(limit: Fraction, given: Domain) -> Finding:
    """Whether the loss diverges for the noise limit + 2^-k, which falls for ever (N = 2, j_0 = 1, L_F = 9/10)."""
    q = Fraction(81, 100)

    def loss(epochs: int) -> Fraction:
        return sum(shares([limit + Fraction(1, 2**k) for k in range(epochs)], 2, 1, q), Fraction(0))

    if limit == 0:
        k = sympy.Symbol("k", positive=True)
        grows = sympy.limit(2**k, k, sympy.oo) == sympy.oo and loss(12) >= 2**11
        told = "the touch in the last step, 2^(K-1), has lost nothing yet"
        return instance(told) if grows else undecided("no divergence shown", 1)
    widest = (limit + 1) / (1 - q)
    factor = q * widest / (q * widest + limit)
    ceiling = 1 / (limit * (1 - factor))
    w, o = sympy.symbols("w o", positive=True)
    slopes = [sympy.simplify(sympy.diff(q * w / (q * w + o), by)) for by in (w, o)]
    orders = slopes[0].is_positive and slopes[1].is_negative  # so the widest spread and the least noise bound a factor
    kept = q * widest + (limit + 1) == widest and factor * ceiling + 1 / limit == ceiling  # the bounds reproduce
    if not orders or not kept or factor >= 1 or loss(40) > ceiling:
        return undecided("the bound of the module docstring does not hold", 1)
    return refuted("the noise falls for ever, and the loss stays below a bound", {
        "noise": f"{limit} + 2^-k", "L_F": "9/10", "batches": 2, "j_0": 1,
        "loss after 20, 40 epochs": f"{float(loss(20)):.6f}, {float(loss(40)):.6f}", "never above": ceiling,
    })


def judge_vanishing(lower: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether the loss is at least lower(o, q, n), o the last epoch's, n steps after its touch, and diverges."""
    tried = 0
    for at in given.points("noise", "product", "steps", at_most=60, most={"steps": 3}):
        o, q, after = at["noise"], at["product"], at["steps"]
        for position, noise in itertools.product((0, 1), ([o], [2 * o, o])):
            tried += 1
            found = sum(shares(noise, position + 1 + after, position, q))
            if found < lower(o, q, after):
                return refuted("the loss is smaller, exactly", {**at, "epochs": len(noise), "loss": found})
    o, q, n = (given.symbol(name) for name in ("noise", "product", "steps"))
    v = sympy.Symbol("v", nonnegative=True)
    gap = sympy.factor(sympy.together(q * (o + v) / (q * (o + v) + o) - q / (1 + q)))
    return proof(
        computed("a touch adds 1/o", sympy.simplify(lower(o, q, 0) - 1 / o) == 0),
        computed("after a step with noise o the spread q v + o is at least o", (q * v).is_nonnegative),
        computed("so each of the next factors is at least q/(1 + q)", gap.is_nonnegative),
        computed("which the bound takes as often",
                 sympy.simplify(lower(o, q, n + 1) / lower(o, q, n) - q / (1 + q)) == 0),
        computed("and it tends to infinity as o tends to 0", sympy.limit(lower(o, q, n), o, 0, "+") == sympy.oo),
        tried=tried,
    )


def iterates(position: int, steps: int) -> tuple[sympy.Expr, sympy.Expr]:
    """The iterate for both data sets as expressions in the start, the batches and the noise, for any maps."""
    step, own, other = sympy.Function("F"), sympy.Symbol("theta"), sympy.Symbol("theta")
    for j in range(steps):
        batch, noise = sympy.Symbol(f"B_{j}"), sympy.Symbol(f"z_{j}")
        own = step(own, batch, noise)
        other = step(other, sympy.Symbol("C") if j == position else batch, noise)
    return own, other


def judge_zero(steps: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the laws for both data sets are equal after steps(j_0) iterations of the first epoch, and no longer."""
    tried = given.values("position", most=7)
    exact = True
    for position in tried:
        own, other = iterates(position, steps(position))
        if own != other:
            return refuted("the record has been read by then", {"j_0": position, "iterations": steps(position)})
        own, other = iterates(position, steps(position) + 1)
        exact = exact and own != other
    j, back = given.symbol("position"), sympy.Symbol("t", integer=True, nonnegative=True)
    before, batch, changed = j - 1 - back, sympy.Function("B"), sympy.Function("C")
    here = sympy.Piecewise((batch(before), sympy.Ne(before, j)), (changed(before), True))
    return proof(
        computed("at the start there is one law: its iterate is one symbol", iterates(0, 0)[0] == iterates(0, 0)[1]),
        computed("a step j < j_0 reads the same batch of both data sets, so equal iterates stay equal, for any maps",
                 here == batch(before)),
        computed("these are j_0 steps, for the symbol j_0", sympy.expand(steps(j) - j) == 0),
        computed("the step after them reads another batch", exact), tried=len(tried),
    )


def judge_iterations(last: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether after t iterations, j_0 < t <= last(j_0'), j_0' has lost nothing and j_0 something."""
    tried = 0
    for at in given.points("noise", "product", "earlier", "later", at_most=80, most={"earlier": 3, "later": 4}):
        early, late = at["earlier"], at["later"]
        for steps in range(early + 1, last(late) + 1) if early < late else ():
            tried += 1
            one, other = (sum(shares([at["noise"]], late + 2, j, at["product"], steps)) for j in (early, late))
            if not other == 0 < one:
                told = {**at, "iterations": steps, "loss at j_0": one, "at j_0'": other}
                return refuted("the losses are otherwise, exactly", told)
    o, q, j = given.symbol("noise"), given.symbol("product"), given.symbol("later")
    v = sympy.Symbol("v", nonnegative=True)
    factor = sympy.together(q * (q * v + o) / (q * (q * v + o) + o))
    return proof(
        computed("nothing lost stays nothing under a factor", 0 * factor == 0),
        computed("these are the j_0' steps before its touch", sympy.expand(last(j) - j) == 0),
        computed("a touch is positive, and the factors of the steps after it are",
                 (1 / o).is_positive and factor.is_positive),
        tried=tried,
    )


def judge_disparity(says: tuple[Callable[[arb, arb], arb], Mapping[int, tuple[str, str]]], given: Domain) -> Finding:
    """Whether measure(contribution at a j_0, at 0) falls from epoch to epoch, between these values (Figure 1)."""
    measure, ends = says
    with ctx.workprec(128):
        early = contributions([Fraction(1, 100)] * 30, 0)
        for before, printed in ends.items():
            values = [measure(*pair) for pair in zip(contributions([_ONE / 100] * 30, before), early, strict=True)]
            for epoch, (now, then) in enumerate(itertools.pairwise(values)):
                if not then < now:
                    return refuted("it does not fall there, certified", {
                        "epochs": f"{epoch} and {epoch + 1}", "j_0": before,
                        "disparity": f"{now.str(8, radius=False)} and {then.str(8, radius=False)}",
                    })
            for value, text in zip((values[0], values[-1]), printed, strict=True):
                if not rounds_to(Enclosure.of_ball(value), text):
                    return refuted("another value, certified", {"j_0": before, "claimed": text, "value": value})
    return instance("; ".join(f"j_0 = {j}: falls from {a} to {b}" for j, (a, b) in ends.items()))
