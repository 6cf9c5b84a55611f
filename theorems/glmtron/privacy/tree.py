r"""The tree of DP-TAGLMtron: Lemma E.1, Theorem 5.1, and when the noise of a node may be drawn.

A leaf is in at most L = ceil(lg(N + 1)) of the nodes that are released. With noise f Gamma on every node and a leaf
that moves by s Gamma (s = 1: removed; s = 2: replaced) all nodes together are mu-GDP at mu = s sqrt(L)/f, and equal
shifts of one leaf reach it (background/gdp-composition). So

    f = sqrt(2 L log(1/delta))/epsilon      has      mu = s epsilon/sqrt(2 log(1/delta)),      whatever N is,

and is (epsilon, delta)-DP if and only if delta_G(epsilon; mu) <= delta. For s = 1 that fails from some epsilon on, well
below the 2 log(1/delta) of Lemma E.1; for s = 2, the document's own relation in Algorithm 1, already at epsilon = 1/5.
The released average has all of it at N = 1, where L = 1 and the average is w_1 = -eta (l_0 + f Gamma g).

For s = 1 and small epsilon it holds: with t = sqrt(2 log(1/delta)), x = t - epsilon/(2t) and R the Mills ratio the
true delta is phi(x) (R(x) - R(x + mu)), and phi(x) <= e^{-t^2/2 + epsilon/2}/sqrt(2 pi) = delta e^{epsilon/2}/sqrt(2
pi). R falls, and x is least at the largest delta and epsilon: R(x_0) <= sqrt(2 pi) e^{-E/2} is enough. It is true for
delta <= 1/100 and epsilon <= 7/2.

The first epsilon that fails. delta_G(epsilon; epsilon/t) is evaluated on small boxes: below delta on all of them from
the range above (epsilon = 7/2) up to just before, above delta just after.

When noise is drawn. Algorithm 3 hands Gamma, the largest gamma_t so far, to Algorithm 4, which draws the noise of all
nodes at the start. A later leaf of twice that gamma then moves its nodes by twice the Gamma in their noise: mu doubles.
A node's noise drawn as it completes, with the Gamma of then, is at least f times every gamma_t of its leaves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, choice, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball, normal_upper_tail
from theorems.claim import Checker, Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.either import root
from theorems.tools.printed import rounding_interval
from theorems.tools.readings import reading
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, instance, proof, refuted, undecided

_PRECISION = 160
_SHIFT = {"replace": 2, "add_remove": 1}


def true_delta(epsilon: arb, delta: Fraction, shift: int) -> arb:
    """The delta at epsilon of the f that is printed for (epsilon, delta)."""
    return delta_ball(epsilon, shift * epsilon / (-2 * ball(delta).log()).sqrt())


def mills_step(most: Fraction, high: Fraction) -> ProofStep:
    """The estimate of the docstring at the largest epsilon and delta, mu = epsilon/sqrt(2 log(1/delta))."""
    with ctx.workprec(_PRECISION):
        t0 = (-2 * ball(high).log()).sqrt()
        x0 = t0 - ball(most) / (2 * t0)
        mills = (2 * arb.pi()).sqrt() * (x0 * x0 / 2).exp() * normal_upper_tail(x0)
        enough = mills <= (2 * arb.pi()).sqrt() * ball(-most / 2).exp()
    return computed(f"R(x_0) <= sqrt(2 pi) e^(-E/2) at the largest delta and epsilon, {high} and E = {most}, certified",
                    bool(enough))


Noise = Callable[[Any, Any], Any]
"""mu of a unit shift from epsilon and sqrt(2 log(1/delta)): what a multiplier f comes to, times sqrt(L)."""


def judge_multiplier(says: Noise, given: Domain) -> Finding:
    """Whether f = sqrt(L)/says(epsilon, sqrt(2 log(1/delta))) is (epsilon, delta)-DP for the hypotheses' relation.

    The hypotheses give epsilon itself, or `part`, epsilon over 2 log(1/delta).
    """
    tried, ranged = 0, "epsilon" in given.parameters
    relations, sizes = given.values("neighbours"), given.values("epsilon" if ranged else "part")
    sizes = sizes if ranged else (Fraction(1, 23), *sizes)
    deltas = [delta for delta in (Fraction(1, 10**5), *given.values("delta")) if given.contains(delta=delta)]
    for relation, delta, size in itertools.product(relations, deltas, sizes):
        with ctx.workprec(_PRECISION):
            top = -2 * ball(delta).log()
            epsilon = ball(size) if ranged else ball(size) * top
            mu = _SHIFT[relation] * says(epsilon, top.sqrt())
            tried += 1
            if delta_ball(epsilon, mu) > ball(delta):
                return refuted("the nodes have more delta, certified; at N = 1 the released average does", {
                    "relation": relation, "epsilon": Enclosure.of_ball(epsilon), "delta": delta,
                    "mu": Enclosure.of_ball(mu), "true delta": Enclosure.of_ball(delta_ball(epsilon, mu))})
    high, most = given["delta"].high, given["epsilon"].high if ranged else None
    if high is None or most is None:
        return undecided("no point tried is against it, and the proof needs an end of epsilon", tried)
    e, t = sympy.symbols("epsilon t", positive=True)
    return proof(
        computed("mu is at most epsilon/sqrt(2 log(1/delta)), on symbols, and a leaf moves by Gamma",
                 never_negative(e / t - says(e, t)) and tuple(relations) == ("add_remove",)),
        mills_step(most, high),
        argued("the docstring's estimate: R falls and x_0 is the least x; delta_G rises with mu; composition of the "
               "nodes' releases is background/gdp-composition"),
        tried=tried,
    )


def added_up(
    first: str, label: str, node: Callable[[Any, Any], Any], true_label: str, wrong: str, words: str, *why: str,
) -> Checker:
    """Whether says(x, L, f) is the sum over the L nodes of a leaf, each node(x, f) at the noise f Gamma, x `first`."""

    def judge(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
        names, tried = (first, "levels", "multiplier"), 0
        for point in given.points(*names, at_most=100):
            x, levels, f = (point[name] for name in names)
            true = sum((node(x, f) for _ in range(levels)), Fraction(0))
            tried += 1
            if says(x, levels, f) != true:
                return refuted(wrong, {
                    label: x, "L": levels, "f": f, true_label: true, "claimed": says(x, levels, f)})
        x_, levels_, f_ = (given.symbol(name) for name in names)
        decided = computed(words, vanishes(says(x_, levels_, f_) - levels_ * node(x_, f_)))
        return proof(decided, *map(argued, why), tried=tried)

    return judge


judge_mu = added_up(
    "shift", "s", lambda shift, f: (shift / f) ** 2, "mu^2", "the squared ratios of the nodes add up to another number",
    "L squared ratios s/f, on symbols",
    "given the nodes before, each is a Gaussian release of that ratio or less; all together are mu-GDP, and equal "
    "shifts of one leaf reach it: background/gdp-composition; iterates are computed from the nodes",
    "the thresholds are from other records, or known before: the weaker of two guarantees (budget-twice)",
)
judge_renyi = added_up(
    "alpha", "alpha", lambda alpha, f: alpha / (2 * f**2), "exact",
    "the Gaussian releases of a leaf's nodes add up to another number",
    "a node of noise f Gamma that moves by Gamma has alpha/(2 f^2), L of them L times that, on symbols",
    "Renyi divergences of adaptive releases add up; no leaf is in more than L released nodes (alg-4-nodes)",
)


def judge_first(says: dict[str, str], given: Domain) -> Finding:
    """Whether the first epsilon > 7/2 at which the printed f fails, a leaf removed, rounds to the number said."""
    told: dict[str, object] = {}
    for word, number in says.items():
        delta = Fraction(word)
        low, high = rounding_interval(number)
        with ctx.workprec(_PRECISION):
            if not true_delta(ball(high), delta, 1) > ball(delta):
                return refuted("it does not fail there yet", {
                    "delta": word, "epsilon": high, "true delta": Enclosure.of_ball(true_delta(ball(high), delta, 1))})
            if true_delta(ball(low), delta, 1) > ball(delta):
                return refuted("it has failed before", {
                    "delta": word, "epsilon": low, "true delta": Enclosure.of_ball(true_delta(ball(low), delta, 1))})
            if not holds_below(delta, Fraction(7, 2), low):
                return undecided(f"a box below {number} cannot be decided at delta = {word}", 1)
            told[f"true delta at {high}, delta = {word}"] = Enclosure.of_ball(true_delta(ball(high), delta, 1))
    return instance("below delta on all boxes from 7/2 up to the number, above just after it, certified", told)


def holds_below(delta: Fraction, low: Fraction, high: Fraction) -> bool:
    """Whether delta_G(epsilon; epsilon/t) <= delta for all epsilon in [low, high], on boxes halved as needed.

    delta_G falls in epsilon at one mu and rises with mu, so on a box it is at most its value at (low end, largest mu).
    """
    t = (-2 * ball(delta).log()).sqrt()
    open_, budget = [(low, high)], 3000
    while open_ and budget:
        start, end = open_.pop()
        budget -= 1
        if delta_ball(ball(start), ball(end) / t) <= ball(delta):
            continue
        middle = (start + end) / 2
        open_ += [(start, middle), (middle, end)]
    return not open_


Drawn = Callable[[tuple[Any, ...], int, int], Any]
"""The Gamma in the noise of the node of leaves first..last, from the norms gamma_0, gamma_1, ... of all steps."""


def judge_drawn(says: Drawn, given: Domain) -> Finding:
    """Whether the Gamma of a node's noise is at least the gamma of every leaf of it."""
    tried = 0
    for gammas in itertools.product((Fraction(1), Fraction(2), Fraction(1, 2)), repeat=4):
        for level, place in ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 2), (2, 0)):
            first, last = place, place + 2**level - 1
            drawn, moved = sympy.Rational(says(gammas, first, last)), max(gammas[first:last + 1])
            tried += 1
            if drawn < moved:
                with ctx.workprec(_PRECISION):
                    f = (2 * 3 * (1 / ball(_DELTA)).log()).sqrt()
                    mu = 2 * ball(moved / Fraction(drawn.p, drawn.q)) / f if drawn else None
                return refuted("a leaf moves the node by more than the Gamma in its noise", {
                    "gamma_t": ", ".join(map(str, gammas)), "node": f"{first} to {last}", "Gamma in the noise": drawn,
                    "gamma of a leaf": moved, "mu of the node, replaced, at epsilon = 1, delta = 1/100":
                    "infinite" if mu is None else Enclosure.of_ball(mu)})
    small, more = sympy.Symbol("g", positive=True), sympy.Symbol("s", nonnegative=True)
    orders = ((small, small + more), (small + more, small))
    return proof(
        computed("of two leaves, in either order of their norms, the Gamma is at least either norm, on symbols", all(
            never_negative(says(pair, 1, 1) - pair[1], says(pair, 0, 1) - pair[0], says(pair, 0, 1) - pair[1])
            for pair in orders)),
        argued("the largest gamma so far is at least that of every leaf that has come, and the noise is drawn after "
               "the last of them: given the nodes before, a node is a Gaussian release of ratio s/f or less"),
        tried=tried,
    )


def judge_logarithm(says: tuple[Callable[[Any], Any], str], given: Domain) -> Finding:
    """Whether noise of C says(lg t)/epsilon per node, for one C, is enough at every delta asked.

    The second part names the deltas: "any", or "N^-1.1" with t = N. For the latter enough is what Theorem 5.1 has, and
    C is 7/4: at N = 2^lg the theorem has sqrt(2 (lg + 1) 1.1 lg log 2)/epsilon, as ceil(lg(N + 1)) = lg N + 1.
    """
    size, deltas = says
    sizes = given.values("lg")
    if deltas not in ("any", "N^-1.1"):
        return undecided("no such deltas are known", 1)
    if deltas == "any":
        with ctx.workprec(_PRECISION):
            least = 100 * ball(Fraction(size(1)))  # C = 100, epsilon = 1, t = N = 2, where a leaf is in 2 nodes
            true, delta = delta_ball(arb(1), ball(2).sqrt() / least), ball(-(10**4)).exp()
        return refuted_by(
            "no constant serves all deltas", {
                "C": 100, "N": 2, "epsilon": 1, "f": Enclosure.of_ball(least), "log of the delta asked": -(10**4),
                "log of the true delta": Enclosure.of_ball(true.log())},
            computed("at C = 100 and delta = e^-10000 the nodes have more, certified", bool(true > delta)),
            argued("for every C the true delta at epsilon = 1 is positive, and some delta is below it"))
    for lg in sizes:
        with ctx.workprec(_PRECISION):
            needed, had = ball(Fraction("2.2")) * (lg + 1) * lg * arb(2).log(), (7 * size(arb(lg)) / 4) ** 2
        if needed > had:
            return refuted("the noise of Theorem 5.1 is larger, certified", {
                "lg N": lg, "(f epsilon)^2": Enclosure.of_ball(needed), "claimed": Enclosure.of_ball(had)})
    lg_ = given.chart("lg")
    return proof(
        computed("2 (lg N + 1) 1.1 lg N log 2 <= (7/4)^2 lg(N)^2 for lg N >= 1, on symbols", never_negative(
            49 * size(lg_) ** 2 - 16 * sympy.Rational(22, 10) * (lg_ + 1) * lg_ * sympy.Rational(6932, 10**4))
            and given["lg"].low == 1),
        argued("ceil(lg(N + 1)) <= lg N + 1 and log 2 < 0.6932"),
        tried=len(sizes),
    )


_DELTA = Fraction(1, 100)
_FULL = Parameter("part", low=Fraction(0), high=Fraction(1), low_open=True, meaning="epsilon over 2 log(1/delta)")
_PART = Parameter("epsilon", low=Fraction(0), high=Fraction(7, 2), low_open=True)
_SMALL = Parameter("delta", low=Fraction(0), high=Fraction(1, 100), low_open=True)
_LEMMA = (
    "Algorithm H|guarantees (T, W)-Rényi differential privacy, where N \\/2Mg(N+1)]1n(1/6) € is the number of samples. "
    "Setting 0 = , one can guarantee (€, §)-differential privacy, for e < 21n(1/0)."
)
_MU = lambda epsilon, t: epsilon / t  # noqa: E731

renyi = Claim(
    id="glmtron/lemma-E.1-renyi", source="003, Lemma E.1, its first sentence (scanned), a leaf removed",
    quote=_LEMMA, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\left(\alpha,\ \frac{\alpha\lceil\lg(N+1)\rceil}{2f^2}\right)\text{-RDP}",
    words="Algorithm 4 is (alpha, alpha ceil(lg(N + 1))/(2 f^2))-RDP when a leaf is removed",
    hypotheses=(Parameter("alpha", low=Fraction(1), low_open=True), positive_integer("levels", "L"),
                positive("multiplier", "f")),
    says=lambda alpha, levels, f: alpha * levels / (2 * f**2), check=judge_renyi,
    flips=(Flip("4 times that, as for a replaced leaf", lambda alpha, levels, f: 2 * alpha * levels / f**2,
                Verdict.REFUTED),),
    true_variants={"any *": "the sum is the same expression for all numbers"},
    expected="HOLDS ARGUED",
)
lemma = Claim(
    id="glmtron/lemma-E.1", source="003, Lemma E.1, epsilon up to 2 log(1/delta), a leaf removed",
    quote=_LEMMA, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"f = \frac{\sqrt{2\lceil\lg(N+1)\rceil\ln(1/\delta)}}{\varepsilon} \text{ gives } (\varepsilon, \delta)"
              r"\text{-DP for } \varepsilon \le 2\ln(1/\delta)",
    words="the f of Lemma E.1 makes the tree (epsilon, delta)-DP for epsilon up to 2 log(1/delta), a leaf removed",
    hypotheses=(choice("neighbours", "add_remove"), _FULL, _SMALL), says=_MU, check=judge_multiplier,
    flips=(Flip("a hundred times the noise", lambda epsilon, t: epsilon / t / 100, Verdict.UNDECIDED),),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"f = \frac{\sqrt{2\lceil\lg(N+1)\rceil\ln(1/\delta)}}{\varepsilon} \text{ gives } (\varepsilon, "
                  r"\delta)\text{-DP for } \varepsilon \le \tfrac72,\ \delta \le \tfrac{1}{100}",
        words="the f of Lemma E.1 makes the tree (epsilon, delta)-DP for epsilon up to 7/2 and delta up to 1/100, a "
              "leaf removed",
        says=_MU, check=judge_multiplier, hypotheses=(choice("neighbours", "add_remove"), _PART, _SMALL),
        flips=(Flip("a leaf replaced", lambda epsilon, t: 2 * epsilon / t, Verdict.REFUTED),),
        rests_on=("background/gdp-composition", "background/balle-wang"),
        true_variants={"1 % less": "a smaller mu is more private", "sign": "the curve is that of |mu|"},
        expected="HOLDS ARGUED",
    ),
)
first = Claim(
    id="glmtron/lemma-E.1-first-failing", source="003, Lemma E.1: the first epsilon that fails, a leaf removed",
    quote=_LEMMA, whose=Whose.OURS, severity=Stake.PRIVACY,
    statement=r"\varepsilon^* = 6.2482, 6.9780, 7.9681, 8.3394 \text{ at }"
              r" \delta = 10^{-2}, 10^{-3}, 10^{-5}, 10^{-6}",
    words="the f of Lemma E.1 fails first at epsilon = 6.2482, 6.9780, 7.9681 and 8.3394 for delta = 1e-2, "
          "1e-3, 1e-5 and 1e-6",
    hypotheses=(), says={"1e-2": "6.2482", "1e-3": "6.9780", "1e-5": "7.9681", "1e-6": "8.3394"}, check=judge_first,
    flips=(Flip("the grid ceilings of an earlier count", {"1e-2": "6.257", "1e-3": "6.997"}, Verdict.REFUTED),),
    rests_on=("background/balle-wang", "glmtron/lemma-E.1-repaired"), expected="HOLDS ARGUED",
)
theorem = Claim(
    id="glmtron/thm-5.1",
    source="003, Theorem 5.1 (of DP-TAGLMtron, though it prints DP-GLMtron), no range for epsilon",
    quote="Under these conditions, the Algorithm 3| satisfies (e, 6)-differential privacy, with & = % and §' = N in "
          "Algorlthml",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=lemma.statement.replace(r"\text{-DP for } \varepsilon \le 2\ln(1/\delta)", r"\text{-DP}"),
    words="with noise f Gamma on every node, f = sqrt(2 ceil(lg(N + 1)) log(1/delta))/epsilon, DP-TAGLMtron is "
          "(epsilon, delta)-DP for data sets that differ in one element",
    hypotheses=(choice("neighbours", "replace", "add_remove"), _FULL, _SMALL), says=_MU, check=judge_multiplier,
    flips=(Flip("a hundred times the noise", lambda epsilon, t: epsilon / t / 100, Verdict.UNDECIDED),),
    uses=("glmtron/lemma-E.1", "glmtron/lemma-D.1-thresholds", "glmtron/alg-2", "glmtron/alg-4-gamma", "glmtron/clip"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mu = \frac{s\sqrt{\lceil\lg(N+1)\rceil}}{f}: (\varepsilon, \delta_G(\varepsilon; \mu))\text{-DP},"
                  r"\ s = 2 \text{ (replace), } 1 \text{ (add or remove)}",
        words="all nodes and iterates together are mu-GDP at mu = s sqrt(ceil(lg(N + 1)))/f, s = 2 for a replaced "
              "record and 1 for one that is removed, and no better",
        says=lambda shift, levels, f: levels * shift**2 / f**2, check=judge_mu,
        hypotheses=(positive("shift", "s"), positive_integer("levels", "ceil(lg(N + 1))"), positive("multiplier", "f")),
        source="003, Theorem 5.1 with the exact curve, a clip that shortens, and a node's noise drawn as it completes",
        flips=(Flip("one node", lambda shift, levels, f: shift**2 / f**2, Verdict.REFUTED),),
        rests_on=("background/gdp-composition", "background/balle-wang", "glmtron/clip-repaired",
                  "glmtron/alg-4-gamma-repaired", "glmtron/alg-4-nodes-released"),
        true_variants={"any *": "the sum is the same expression for all numbers"},
        expected="HOLDS ARGUED",
    ),
)
gamma = Claim(
    id="glmtron/alg-4-gamma", source="003, Algorithm 4, step 2, read as one draw at the start with the Gamma of then",
    quote="and each node is sampled i.i.d. from N(0, f2T?L;x4).", whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\Gamma_{\mathrm{node}} \ge \max_{t \in \mathrm{node}} \gamma_t,\quad"
              r" \Gamma_{\mathrm{node}} = \gamma_0 \text{ at initialisation}",
    words="noise of all nodes drawn at the start, with the Gamma of then, is at least f times the gamma of every leaf",
    hypotheses=(), says=lambda gammas, first, last: gammas[0], check=judge_drawn,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\Gamma_{\mathrm{node}} = \max_{i \le t} \gamma_i \ge \max_{i \in \mathrm{node}} \gamma_i,"
                  r"\ t \text{ the last leaf of the node}",
        words="noise of a node drawn as it completes, with the largest gamma so far, is at least f times the gamma of "
              "every leaf of it",
        says=lambda gammas, first, last: sympy.Max(*gammas[:last + 1]), expected="HOLDS ARGUED",
        source="003, Algorithm 4 with a node's noise drawn when its last leaf has come",
        flips=(Flip("the largest gamma before the last leaf",
                    lambda gammas, first, last: sympy.Max(*gammas[:last], 0), Verdict.REFUTED),),
        true_variants={"1 % more": "more noise is as private", "1 -> 2 *": "later norms only add noise, if known",
                       "*beyond*": "more noise is as private"},
    ),
)
bound_first = Claim(
    id="glmtron/clip-before-noise", source="003, Algorithms 3 and 4: what must be known when noise is drawn",
    quote="add ~y; to the list v and I' = max -~y", whose=Whose.OURS, severity=Stake.PRIVACY,
    statement=r"\Gamma_{\mathrm{node}} \ge \max_{t \in \mathrm{node}} \gamma_t \text{ for a bound known in advance}",
    words="a bound on all norms that is known before the first step serves all nodes, drawn at the start",
    hypotheses=(), says=lambda gammas, first, last: sympy.Max(*gammas), check=judge_drawn,
    flips=(Flip("the first norm", lambda gammas, first, last: gammas[0], Verdict.REFUTED),),
    true_variants={"1 % more": "more noise is as private", "*beyond*": "more noise is as private"},
    expected="HOLDS ARGUED",
)
logarithm = Claim(
    id="glmtron/prose-noise-logt", source="003, Section 5: standard deviation O(log t/epsilon) per node",
    quote="By introducing Gaussian noise with a standard deviation of O(logt/¢) to each node, the entire tree achieves "
          "(&, §)-differential privacy.",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"f\Gamma = O(\log t/\varepsilon)",
    words="noise of the order log t/epsilon per node makes the tree private: for any delta, or for delta = N^-1.1",
    hypotheses=(positive_integer("lg", "lg N"),), says=None, check=None,
    readings=("glmtron/prose-noise-logt-reading-any", "glmtron/prose-noise-logt-reading-power"),
    uses=("glmtron/thm-5.1",), expected="AMBIGUOUS ARGUED",
)
logarithm_power = reading(
    logarithm, "power", source="003, Section 5, read of t = N >= 2 and the delta of the experiments, N^-1.1",
    words="at delta = N^-1.1 the noise of Theorem 5.1 is at most 7/4 log2(N)/epsilon",
    says=(lambda lg: lg, "N^-1.1"), check=judge_logarithm,
    flips=(Flip("the root of it", (lambda lg: root(lg), "N^-1.1"), Verdict.REFUTED),),
    true_variants={"*1 % more": "more noise is as private", "*sign": "its square enters",
                   "*squared": "more noise is as private", "*only at*": "more noise is as private"},
    expected="HOLDS ARGUED",
)
logarithm_any = reading(
    logarithm, "any", source="003, Section 5, as printed: no delta in it",
    words="one constant serves all deltas", says=(lambda lg: lg, "any"), check=judge_logarithm,
    flips=(Flip("delta = N^-1.1", (lambda lg: lg, "N^-1.1"), Verdict.HOLDS),),
    repaired_by="glmtron/prose-noise-logt-reading-power", expected="REFUTED ARGUED",
)
