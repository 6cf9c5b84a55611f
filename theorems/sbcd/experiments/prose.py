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
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, non_negative_integer, positive, positive_integer
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.experiments.curves import contributions
from theorems.sbcd.privacy.orders import shares, worth
from theorems.tools.printed import rounds_to
from theorems.tools.readings import reading
from theorems.verdict import Finding, Verdict, computed, instance, proof, refuted, undecided

_ONE = Fraction(1)
_SMALL = {"batches": 3, "epochs": 3}


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
    for position in tried:
        own, other = iterates(position, steps(position))
        if own != other:
            return refuted("the record has been read by then", {"j_0": position, "iterations": steps(position)})
    j, back = given.symbol("position"), sympy.Symbol("t", integer=True, nonnegative=True)
    batch, changed = sympy.Function("B"), sympy.Function("C")

    def read(step: Any) -> Any:
        return sympy.Piecewise((batch(step), sympy.Ne(step, j)), (changed(step), True))

    return proof(
        computed("at the start there is one law: its iterate is one symbol", iterates(0, 0)[0] == iterates(0, 0)[1]),
        computed("a step j < j_0 reads the same batch of both data sets, so equal iterates stay equal, for any maps",
                 read(j - 1 - back) == batch(j - 1 - back)),
        computed("these are j_0 steps, for the symbol j_0", sympy.expand(steps(j) - j) == 0),
        computed("the step j_0 >= 0 after them reads another batch",
                 read(j) == changed(j) and j.is_nonnegative is True), tried=len(tried),
    )


def judge_iterations(last: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether after t iterations, j_0 < t <= last(j_0'), j_0' has lost nothing and j_0 something."""
    tried = 0
    for at in given.points("noise", "product", "earlier", "later", at_most=80, most={"earlier": 3, "later": 4}):
        early, late = at["earlier"], at["later"]
        for steps in range(early + 1, last(late) + 1) if early < late else ():
            tried += 1
            one, other = (
                sum(list(worth([at["noise"]], late + 2, j, at["product"]))[steps - 1]) for j in (early, late)
            )
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


def judge_disparity(says: tuple[Callable[[arb, arb], arb], Mapping[int, tuple[str, ...]]], given: Domain) -> Finding:
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
            for value, text in zip((values[0], values[-1]), printed, strict=bool(printed)):
                if not rounds_to(Enclosure.of_ball(value), text):
                    return refuted("another value, certified", {"j_0": before, "claimed": text, "value": value})
    return instance("; ".join(f"j_0 = {j}: falls from {' to '.join(values)}" for j, values in ends.items()))


_PRODUCT = positive("product", "q, the square of L_F L_T")
_BLOCK = (positive("noise"), _PRODUCT, positive_integer("batches"), positive_integer("epochs"), positive("s"))
_INVERSE = (
    r"Specifically, these contributions are inversely proportional to $o(\eta, j, k)$, i.e., the variance of "
    "the noise"
)
_LAST = (
    "under the hidden state assumption, the calibrated noise in the last few epochs primarily contributes to "
    "the total privacy loss."
)
_DIVERGES = (
    "Conversely, the privacy loss diverges if the noise magnitude continues to decrease in the late phase of "
    "training."
)

inverse = Claim(
    id="sbcd/contribution-inverse",
    source="001, Section 4.3: contributions are inversely proportional to the variance (which is 2 eta o, not o)",
    quote=_INVERSE, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\text{contribution}_k \propto 1/o_k",
    words="an epoch's contribution to the privacy loss is inversely proportional to the noise variance",
    hypotheses=_BLOCK, says=None, check=None,
    readings=("sbcd/contribution-inverse-reading-own-epoch", "sbcd/contribution-inverse-repaired"),
    uses=("sbcd/thm-4.6-eq-11",),
    expected="AMBIGUOUS PROVED",
)
inverse_own = reading(
    inverse, "own-epoch", source="001, Section 4.3, that epoch's variance alone changed",
    statement=r"o_k \to s\,o_k \implies \text{contribution}_k \to \text{contribution}_k / s",
    words="an epoch's contribution to the privacy loss is inversely proportional to that epoch's noise variance",
    says=lambda k, epoch, s: s if k == epoch else 1, check=judge_inverse,
    flips=(Flip("all epochs", lambda k, epoch, s: s, Verdict.HOLDS),), expected="REFUTED PROVED",
)
inverse_repaired = reading(
    inverse, "repaired", source="001, Section 4.3, with all variances scaled together",
    statement=r"o \to s\,o \implies \text{contribution}_k \to \text{contribution}_k / s \text{ for every } k",
    words="scaling the noise variance of all epochs divides every contribution by the same number",
    says=lambda k, epoch, s: s, check=judge_inverse,
    flips=(Flip("scaling the later epochs only", lambda k, epoch, s: s if k >= epoch else 1, Verdict.REFUTED),),
    true_variants={"any batches": "without a batch there is no contribution", "any epochs": "nor without an epoch"},
    expected="HOLDS PROVED",
)
last = Claim(
    id="sbcd/last-epochs",
    source="001, Section 4.3: the last few epochs primarily contribute (5 of 30 and more than half are ours)",
    quote=_LAST, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\sum_{k \ge K - 5} \text{contribution}_k > \tfrac12 \varepsilon_K,\ K = 30",
    words="the last 5 of 30 epochs contribute more than half of the loss",
    hypotheses=(), says=None, check=None, readings=("sbcd/last-epochs-reading-convex", "sbcd/last-epochs-repaired"),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/contraction"),
    expected="AMBIGUOUS PROVED",
)
last_convex = reading(
    last, "convex", source="001, Section 4.3, for every convex block: L_F = 1",
    statement=r"\sum_{k \ge K - 5} \text{contribution}_k > \tfrac12 \varepsilon_K \quad (L_F = 1,\ K = 30)",
    words="the last 5 of 30 epochs contribute more than half of the loss, for the L_F = 1 that convexity gives",
    says=(Fraction(1), ""), check=judge_last, flips=(Flip("L_F = 0.99", (Fraction(99, 100), ""), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
last_repaired = reading(
    last, "repaired", source="001, Section 4.3, at Figure 1's setting with L_F = 0.99",
    statement=r"\sum_{k \ge K - 5} \text{contribution}_k = 0.8661\,\varepsilon_K \quad (L_F = 0.99,\ K = 30,\ n/b = 21,"
              r"\ o = 0.01)",
    words="at Figure 1's setting with L_F = 0.99 the last 5 of 30 epochs contribute 0.8661 of the loss, at every j_0",
    says=(Fraction(99, 100), "0.8661"), check=judge_last,
    flips=(Flip("L_F = 1.01", (Fraction(101, 100), ""), Verdict.REFUTED),), expected="HOLDS PROVED",
)
last_share = Claim(
    id="sbcd/last-epochs-share", source="001, Section 4.3, without contraction (finding)", severity=Stake.UTILITY,
    statement=r"\sum_{k \ge K - m} \text{contribution}_k \le \frac{2m}{K - 1}\,\varepsilon_K \quad (L_F L_T = 1)",
    words="without contraction, with constant noise, the last m of K epochs contribute at most 2 m/(K - 1) of the loss",
    hypotheses=(positive_integer("batches"), Parameter("epochs", kind="integer", low=Fraction(2)),
                positive_integer("last", "m, the last epochs that are counted")),
    says=lambda m, epochs: Fraction(2) * m / (epochs - 1), check=judge_share,
    flips=(Flip("a tenth of it", lambda m, epochs: Fraction(1, 5) * m / (epochs - 1), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
diverges = Claim(
    id="sbcd/decrease-diverges", source="001, Section 4.3: the loss diverges if the noise continues to decrease",
    quote=_DIVERGES, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"o_k \text{ decreasing} \implies \varepsilon_K \to \infty",
    words="noise that continues to decrease makes the privacy loss diverge",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/decrease-diverges-reading-every-noise", "sbcd/decrease-diverges-repaired"),
    uses=("sbcd/thm-4.6-eq-11",),
    expected="AMBIGUOUS PROVED",
)
diverges_every = reading(
    diverges, "every-noise", source="001, Section 4.3, any noise that falls for ever",
    statement=r"o_k > o_{k+1} \text{ for all } k \implies \varepsilon_K \to \infty",
    words="noise that decreases for ever makes the privacy loss diverge, 1 + 2^-k for one", says=Fraction(1),
    check=judge_every_noise, flips=(Flip("to 0", Fraction(0), Verdict.HOLDS),), expected="REFUTED PROVED",
)
diverges_repaired = reading(
    diverges, "repaired", source="001, Section 4.3, for noise that tends to 0",
    statement=r"\frac{\varepsilon_K}{\alpha} \ge \frac{\eta S_g^2}{4b^2 o_{K-1}} \left(\frac{q}{1+q}\right)^{N-1-j_0}"
              r" \to \infty \text{ as } o_{K-1} \to 0",
    words="noise that tends to 0 makes the privacy loss diverge: the last touch outgrows the factors after it",
    hypotheses=(positive("noise", "that of the last epoch"), _PRODUCT, non_negative_integer("steps", "n/b - 1 - j_0")),
    says=lambda o, q, n: (q / (1 + q)) ** n / o, check=judge_vanishing,
    flips=(Flip("without the factors", lambda o, q, n: 1 / o, Verdict.REFUTED),), expected="HOLDS PROVED",
)
zero = Claim(
    id="sbcd/zero-before-j0",
    source="001, Section 4.3: the loss is zero for the first j_0 mini-batches (start independent of the data)",
    quote="as the privacy loss is zero for the first j_0 mini-batches of the first epoch.",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"R_\alpha(\theta_0^j \,\|\, \theta_0'^j) = 0 \text{ for } j \le j_0",
    words="nothing is lost in the first j_0 mini-batches of the first epoch",
    hypotheses=(non_negative_integer("position", "j_0"),), says=lambda before: before, check=judge_zero,
    flips=(Flip("the first j_0 + 1", lambda before: before + 1, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
iterations = Claim(
    id="sbcd/fig-1a-j0-iterations", source="001, Section 4.3, the stages being iterations of the first epoch",
    quote="This observation is consistent with Theorem 4.6, as the privacy loss is zero for the first j_0 mini-batches "
          "of the first epoch.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"j_0 < t \le j_0' \implies \varepsilon^t(j_0') = 0 < \varepsilon^t(j_0)",
    words="in the first epoch, after more than j_0 and at most j_0' steps, a record in batch j_0' has lost nothing "
          "and one in batch j_0 something",
    hypotheses=(positive("noise"), _PRODUCT, non_negative_integer("earlier", "j_0, below the later one"),
                positive_integer("later", "j_0'")),
    says=lambda later: later, check=judge_iterations,
    flips=(Flip("one iteration longer", lambda later: later + 1, Verdict.REFUTED),),
    true_variants={"any later": "with j_0' = 0 there is no such iteration"},
    expected="HOLDS PROVED",
)
disparity = Claim(
    id="sbcd/fig-1a-disparity", source="001, Section 4.3: as training progresses the disparity between j_0 diminishes",
    quote="However, as the training progresses, this disparity diminishes.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\text{the disparity of contribution}_k(j_0) \text{ and contribution}_k(0) \text{ falls in } k",
    words="the disparity between positions j_0 diminishes from epoch to epoch: as a ratio, or as a difference",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/fig-1a-disparity-reading-ratio", "sbcd/fig-1a-disparity-reading-difference"),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fig-1-rho"),
    expected="AMBIGUOUS PROVED",
)
disparity_ratio = reading(
    disparity, "ratio", source="001, Section 4.3: the distance of the curves in the logarithmic graph",
    statement=r"\frac{\text{contribution}_k(j_0)}{\text{contribution}_k(0)} \text{ falls in } k: 24.95 \text{ to } 1.49"
              r"\ (j_0 = 20),\ 18.13 \text{ to } 1.35\ (j_0 = 15)",
    words="in the logarithmic graph the curves of j_0 = 15 and 20 come closer to that of 0 every epoch (L_F = 0.99)",
    check=judge_disparity, says=(lambda late, early: late / early, {15: ("18.13", "1.35"), 20: ("24.95", "1.49")}),
    flips=(Flip("as a difference", (lambda late, early: late - early, {20: ("0", "1")}), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
disparity_difference = reading(
    disparity, "difference", source="001, Section 4.3: the difference of two positions' contributions",
    statement=r"\text{contribution}_k(j_0) - \text{contribution}_k(0) \text{ falls in } k \quad (j_0 = 15, 20)",
    words="the difference between an epoch's contribution at j_0 = 15 or 20 and at 0 falls every epoch (L_F = 0.99)",
    check=judge_disparity, says=(lambda late, early: late - early, {15: (), 20: ()}),
    flips=(Flip("as a ratio", (lambda late, early: late / early, {20: ("24.95", "1.49")}), Verdict.HOLDS),),
    repaired_by="sbcd/fig-1a-disparity-reading-ratio", expected="REFUTED PROVED",
)
