r"""Amplification by shuffling (Feldman, McMillan and Talwar 2021): clones, the closed form, approximate randomisers.

Clones. `shuffle.py` proves that the shuffled reports of n users of epsilon0-DP randomisers lie below the
pair (A + D, C - A + 1 - D) against (A + 1 - D, C - A + D), C ~ Bin(n-1, e^-epsilon0), A ~ Bin(C, 1/2), D ~
Ber(e^epsilon0/(1 + e^epsilon0)). Here it is held, in exact rationals, against all small randomisers: the law of the
multiset of reports is listed outcome by outcome, and domination is decided for every alpha. (No randomiser tried is
against 2/(e^epsilon0 + 1) for the probability of a clone either, which the authors' paper of 2023 had before its
errata. That is no claim here.)

Closed form (op. cit., Theorem 3.1, the register's formula): at the claimed epsilon the pair's delta, summed in balls,
must be at most delta.

Approximate randomisers (op. cit., Theorem 3.8, as the register recalls it): delta grows by (e^epsilon + 1)(1 +
e^-epsilon0/2) n delta0. A randomiser that gives its input away with probability delta0 shows that some term of the
order n delta0 or delta0 is needed.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive_integer, probability, unit_interval
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.counterexamples import search
from theorems.tools.finite_laws import Law, dominates, hockey_stick, shown
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, computed, proof, refuted, undecided

Clone = Callable[[Any], Any]
"""The probability of a clone as a function of e^epsilon0."""

Counts = dict[tuple[int, ...], Fraction]


def clones(odds: Fraction, users: int, clone: Fraction) -> tuple[Law, Law]:
    """The pair of the numbers of kinds, in exact rationals."""
    both: list[Counts] = [defaultdict(Fraction), defaultdict(Fraction)]
    right = odds / (1 + odds)
    for c in range(users):
        weight = math.comb(users - 1, c) * clone**c * (1 - clone) ** (users - 1 - c)
        for a in range(c + 1):
            mass = weight * Fraction(math.comb(c, a), 2**c)
            for d, chance in ((1, right), (0, 1 - right)):
                both[0][a + d, c - a + 1 - d] += mass * chance
                both[1][a + 1 - d, c - a + d] += mass * chance
    return _aligned(*both)


def _aligned(first: Counts, second: Counts) -> tuple[Law, Law]:
    keys = sorted(first.keys() | second.keys())
    return tuple(first.get(k, Fraction(0)) for k in keys), tuple(second.get(k, Fraction(0)) for k in keys)


def shuffled(reports: list[Law]) -> Counts:
    """The law of the numbers of reports of each kind."""
    counts: Counts = {(0,) * len(reports[0]): Fraction(1)}
    for law in reports:
        longer: Counts = defaultdict(Fraction)
        for key, mass in counts.items():
            for i, p in enumerate(law):
                longer[(*key[:i], key[i] + 1, *key[i + 1:])] += mass * p
        counts = longer
    return counts


def randomisers(odds: Fraction) -> Iterator[tuple[Law, Law, Law]]:
    """Laws of a report for two values, and for a third that the other users hold, with ratios of at most the odds."""
    least = 1 / (1 + odds)
    two = [(1 - least, least), (least, 1 - least), (Fraction(1, 2), Fraction(1, 2))]
    yield from itertools.product(two, repeat=3)
    # Three outputs: the differing user's laws are extreme on two of them and equal on one, the others' law differs.
    for rest in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)):
        for third in (rest / odds, rest, min(rest * odds, Fraction(9, 10))):
            a = ((1 - rest) * odds / (1 + odds), (1 - rest) / (1 + odds), rest)
            b = (a[1], a[0], rest)
            low = (1 - third) / 2
            other = (low, low, third)
            if all(max(x, y) <= odds * min(x, y) for law in (a, b) for x, y in zip(law, other, strict=True)):
                yield a, b, other


def _exceeding(says: Clone, users: int, a: Law, b: Law, other: Law, odds: Fraction) -> dict[str, str]:
    """What a witness says of a randomiser that the pair does not dominate; nothing if it does."""
    pair = clones(odds, users, says(odds))
    laws_ = _aligned(*(shuffled([law, *[other] * (users - 1)]) for law in (a, b)))
    if dominates(pair, laws_):
        return {}
    ratios = sorted({p / q for p, q in zip(*pair, strict=True) if q > 0} | {Fraction(1)})
    alpha = next((r for r in ratios if hockey_stick(*laws_, r) > hockey_stick(*pair, r)), Fraction(0))
    return {
        "e^epsilon0": str(odds), "users": str(users), "laws of the differing user": f"{shown(a)} {shown(b)}",
        "law of the others": shown(other), "alpha": str(alpha), "divergence": str(hockey_stick(*laws_, alpha)),
        "pair": str(hockey_stick(*pair, alpha)),
    }


def _drawn(a: list[int], b: list[int], other: list[int]) -> tuple[Law, Law, Law, Fraction]:
    """Laws with such weights, and the e^epsilon0 that they have."""
    first, second, third = (tuple(Fraction(w, sum(weights)) for w in weights) for weights in (a, b, other))
    pairs = itertools.permutations((first, second, third), 2)
    return first, second, third, max(p / q for one, two in pairs for p, q in zip(one, two, strict=True))


def judge_clones(says: Clone, given: Domain) -> Finding:
    """Hold the pair against extreme small randomisers and against drawn ones, for all alpha, exactly."""
    tried = 0
    for odds, users in itertools.product(given.values("odds", most=4), given.values("users", most=4)):
        for a, b, other in randomisers(odds):
            tried += 1
            if witness := _exceeding(says, users, a, b, other, odds):
                return refuted("shuffled reports exceed the pair", witness)
    from hypothesis import strategies as st  # slow to import

    weights = st.lists(st.integers(1, 5), min_size=3, max_size=3)
    found = search(
        {"users": st.integers(2, 3), "a": weights, "b": weights, "other": weights},
        lambda users, a, b, other: bool(_exceeding(says, users, *_drawn(a, b, other))), points=100,
        region={"users": "2, 3", "outputs": "3, weights 1 to 5", "extreme randomisers": f"{tried}, up to 4 users"},
    )
    if found.counterexample is not None:
        drawn = _drawn(*(found.counterexample[name] for name in ("a", "b", "other")))
        return refuted("shuffled reports exceed the pair", _exceeding(says, found.counterexample["users"], *drawn))
    k, p, q = 1 / given.chart("odds"), sympy.Symbol("a", positive=True), sympy.Symbol("b", positive=True)
    u, v = (p - k * q) / (1 - k), (q - k * p) / (1 - k)
    over, under = sympy.symbols("f g", nonnegative=True)  # r = k a + f and r = k b + g
    return proof(
        computed("with k = e^-epsilon0, a = (U + k V)/(1 + k) and b = (k U + V)/(1 + k) for U = (a - k b)/(1 - k), V = "
                 "(b - k a)/(1 - k), which epsilon0-DP makes laws; and (U + V)/2 = (a + b)/2",
                 vanishes(p - (u + k * v) / (1 + k), q - (k * u + v) / (1 + k), (u + v) / 2 - (p + q) / 2)
                 and never_negative(1 / k - 1)),
        computed("another user's law r >= k a and r >= k b is at least k (a + b)/2: with probability k, or less, it is "
                 "U or V by a fair coin",
                 vanishes((k * p + over + k * q + under) / 2 - (k * (p + q) / 2 + (over + under) / 2))
                 and never_negative(k - says(1 / k), says(1 / k)) and given["users"].low == 1),
        argued("so the shuffled reports are made from the numbers of Us and Vs, which are the pair's, and from the "
               "rest, whose law does not depend on the differing value: post-processing; at epsilon0 = 0 all laws "
               "are equal"),
        tried=tried + found.scope.met,
    )


Closed = Callable[[arb, int, arb], arb]
"""epsilon of (epsilon0, n, delta), in balls."""


def closed(epsilon0: arb, users: int, delta: arb) -> arb:
    """The closed form."""
    spread = epsilon0.exp() / users
    return ((epsilon0 / 2).tanh() * (8 * (spread * (4 / delta).log()).sqrt() + 8 * spread)).log1p()


def clones_delta(epsilon0: arb, users: int, epsilon: arb) -> arb:
    """An upper end of the pair's delta at epsilon; beyond 12 deviations of C all the mass counts.

    Given C the ratio (U + k V)/(k U + V), k = e^-epsilon0, rises in U: U = A + D is 1 + Bin(C, 1/2) or Bin(C, 1/2).
    """
    k, n = (-epsilon0).exp(), users - 1
    centre = float((n * k).mid())
    reach = 12 * math.sqrt(centre) + 12
    low, high = max(0, math.floor(centre - reach)), min(n, math.ceil(centre + reach))
    total, seen = arb(0), arb(0)
    for c in range(low, high + 1):
        weight = math.comb(n, c) * k**c * (1 - k) ** (n - c)
        seen += weight
        row, inner = [0, *(math.comb(c, i) for i in range(c + 1)), 0], arb(0)
        for u in range(c + 1, -1, -1):
            v = c + 1 - u
            # P(U = u) = (C(c, u-1) + k C(c, u)) / ((1 + k) 2^c), and under Q with u and v exchanged.
            gap = (row[u] + k * row[u + 1]) - epsilon.exp() * (row[v] + k * row[v + 1])
            if gap < 0:
                break
            inner += gap.max(arb(0))
        total += weight * inner / ((1 + k) * arb(2) ** c)
    return total + (1 - seen).upper().max(arb(0))


def judge_closed(says: Closed, given: Domain) -> Finding:
    """The pair's delta at the claimed epsilon, within the theorem's condition on epsilon0, certified."""
    tried = met = 0
    deltas = (*given.values("delta"), *(v for v in (Fraction("1e-2"), Fraction("1e-4")) if given.contains(delta=v)))
    for delta, users, part in itertools.product(deltas, (60, 250), given.values("part")[:3]):
        tried += 1
        with ctx.workprec(128):
            small = ball(delta)
            largest = (users / (16 * (2 / small).log())).log()
            if not largest > 0:
                continue
            met += 1
            local = largest * ball(part)
            epsilon = says(local, users, small)
            true = clones_delta(local, users, epsilon)
            if true > small:
                return refuted(
                    "the clones' own delta is larger, certified",
                    {"epsilon0": local.str(10), "users": users, "delta": delta, "claimed epsilon": epsilon.str(10),
                     "delta there": true.str(10)},
                )
            if not true <= small:
                return undecided(f"cannot tell at epsilon0 = {local.str(10)}, {users} users, delta = {delta}", tried)
    return at_points(
        f"the clones' delta is below the asked one at {met} points, certified; a proof for all is written in "
        "shuffle.py",
        Scope("points", tried, met, {"epsilon0": "0, half and all of the largest allowed", "users": "60, 250"}),
    )


Correction = Callable[[Any, Any, Any, Any], Any]
"""What delta grows by, from (e^epsilon, e^epsilon0, n, delta0)."""


def correction(total: Any, odds: Any, users: Any, leak: Any) -> Any:
    """Theorem 3.8's term."""
    return (total + 1) * (1 + 1 / (2 * odds)) * users * leak


def leaky(odds: Fraction, leak: Fraction) -> list[tuple[Law, Law, Law]]:
    """(epsilon0, leak)-DP randomisers: with probability `leak` the value itself is sent, on an output of its own."""
    cases = []
    for a, b, other in itertools.islice(randomisers(odds), 27):
        full = [tuple(p * (1 - leak) for p in law) for law in (a, b, other)]
        marks = [(leak, Fraction(0), Fraction(0)), (Fraction(0), leak, Fraction(0)), (Fraction(0), Fraction(0), leak)]
        apart = [(*law, *mark) for law, mark in zip(full, marks, strict=True)]
        cases.append((apart[0], apart[1], apart[2]))
        cases.append((apart[0], apart[1], apart[0]))
    return cases


def judge_correction(says: Correction, given: Domain) -> Finding:
    """The pair's delta with the term, against randomisers that give themselves away, exactly."""
    tried = 0
    for point in given.points("odds", "delta0", "users", most={"odds": 4, "users": 3}, at_most=24):
        odds, leak, users = point["odds"], point["delta0"], point["users"]
        pair = clones(odds, users, 1 / odds)
        for a, b, other in leaky(odds, leak)[::5]:
            laws_ = _aligned(*(shuffled([law, *[other] * (users - 1)]) for law in (a, b)))
            for total in (*given.values("total_odds")[:3], odds):
                tried += 1
                true = hockey_stick(*laws_, total)
                claimed = hockey_stick(*pair, total) + says(total, odds, users, leak)
                if true > claimed:
                    return refuted(
                        "shuffled reports exceed it, exactly",
                        {"e^epsilon0": str(odds), "delta0": str(leak), "users": str(users), "e^epsilon": str(total),
                         "laws": f"{shown(a)} {shown(b)}, others {shown(other)}", "delta": str(true),
                         "claimed": str(claimed)},
                    )
    odds, users, leak, total = (given.chart(name) for name in ("odds", "users", "delta0", "total_odds"))
    k = 1 / odds
    needed = (total + 1) * (leak / (1 + 1 / k) + (users - 1) * k * leak)
    return proof(
        argued("where a > b/k, mass delta0/(1 + 1/k) is moved so that a and b become epsilon0-close, and mass k delta0 "
               "of each other user's law lifts it to k (a + b)/2: then background/shuffle-clones applies"),
        argued("a change of the laws by x in total variation changes the divergence by at most (e^epsilon + 1) x"),
        computed("(e^epsilon + 1) (delta0/(1 + 1/k) + (n - 1) k delta0) is at most the claimed term, for k in (0, 1], "
                 "n >= 1, epsilon >= 0 and delta0 in [0, 1]",
                 never_negative(says(total, odds, users, leak) - needed, leak, 1 - leak, odds - 1, users - 1)
                 and never_negative(total - 1)),
        tried=tried,
    )


_HYPOTHESES = (Parameter("odds", low=Fraction(1), meaning="e^epsilon0"), positive_integer("users"))

shuffle_clones = Claim(
    id="background/shuffle-clones",
    source="Feldman, McMillan and Talwar 2021, Thm 3.1 and its reduction to clones; text not at hand",
    severity=Stake.PRIVACY,
    statement=(
        r"(A + D, C - A + 1 - D) \text{ and } (A + 1 - D, C - A + D) \text{ dominate } n \text{ shuffled }"
        r" \varepsilon_0\text{-DP reports},\ C \sim \mathrm{Bin}(n-1, e^{-\varepsilon_0})"
    ),
    words="shuffled reports of any local randomiser are dominated by counting clones",
    hypotheses=_HYPOTHESES,
    says=lambda odds: 1 / odds,
    check=judge_clones,
    flips=(
        Flip("(1 + e^-epsilon0)/2", lambda odds: (odds + 1) / (2 * odds), Verdict.REFUTED),
        Flip("every other user is a clone", lambda odds: odds / odds, Verdict.REFUTED),
    ),
    true_variants={**dict.fromkeys(("1 % less", "squared"), "fewer clones are valid, too: less is amplified"),
                   "only at argument 0 = 1": "at epsilon0 = 0 both laws are equal, whatever the clones"},
    expected="HOLDS ARGUED",
)

closed_form = Claim(
    id="background/fmt",
    source="Feldman, McMillan and Talwar 2021, Thm 3.1, the closed form (the register's; text not at hand)",
    severity=Stake.PRIVACY,
    statement=(
        r"\varepsilon = \log\left(1 + \frac{e^{\varepsilon_0} - 1}{e^{\varepsilon_0} + 1}\left(\frac{8\sqrt{"
        r"e^{\varepsilon_0}\log(4/\delta)}}{\sqrt{n}} + \frac{8 e^{\varepsilon_0}}{n}\right)\right),\quad"
        r" \varepsilon_0 \le \log\frac{n}{16\log(2/\delta)}"
    ),
    words="the closed form of amplification by shuffling is above what the clones have",
    hypotheses=(
        unit_interval("part", "epsilon0 over its largest value"), positive_integer("users"), probability("delta"),
    ),
    says=closed,
    check=judge_closed,
    flips=(
        Flip("1 for 8", lambda e, n, d: ((e / 2).tanh() * ((e.exp() / n * (4 / d).log()).sqrt() + e.exp() / n)).log1p(),
             Verdict.REFUTED),
        Flip("n for the root of n", lambda e, n, d: closed(e, n * n, d), Verdict.REFUTED),
    ),
    uses=("background/shuffle-clones",),
    rests_on=("background/shuffle-clones",),
    true_variants=dict.fromkeys(
        ("1 % more", "8 -> 9 *", "4 -> 5 *", "/ -> [*] (operator [12])", "[*] -> + (operator [456])"),
        "a larger epsilon is valid, too"),
    survivors={
        **dict.fromkeys(("1 % less", "2 -> 3 *"), "the closed form is not tight: room to spare"),
        **dict.fromkeys(("beyond argument 0 *", "beyond argument 1 *", "between: argument 2 *"),
                        "not proved: tried at 60 and 250 users, up to the largest epsilon0 of the condition"),
        **dict.fromkeys(("any users", "any delta"), "negative numbers have no clones: no point comes from them"),
    },
    untested={"users": "the sum over the clones is dear: 60 and 250"},
    expected="HOLDS CHECKED_AT_POINTS",
)

approximate = Claim(
    id="background/fmt-approximate",
    source="Feldman, McMillan and Talwar 2021, Thm 3.8 (as the register recalls it; text not at hand)",
    severity=Stake.PRIVACY,
    statement=(
        r"(\varepsilon_0, \delta_0)\text{-DP reports: } \delta \text{ grows by }"
        r" (e^\varepsilon + 1)\left(1 + \tfrac12 e^{-\varepsilon_0}\right) n\delta_0"
    ),
    words="approximate local randomisers add this much to the shuffled delta",
    hypotheses=(
        *_HYPOTHESES, unit_interval("delta0"), Parameter("total_odds", low=Fraction(1), meaning="e^epsilon"),
    ),
    says=correction,
    check=judge_correction,
    flips=(
        Flip("nothing is added", lambda total, odds, users, leak: 0 * leak, Verdict.REFUTED),
        Flip("a tenth of delta0", lambda total, odds, users, leak: leak / 10, Verdict.REFUTED),
    ),
    uses=("background/shuffle-clones",),
    rests_on=("background/shuffle-clones",),
    true_variants={**dict.fromkeys(("1 % *", "? -> ? (constant *"), "the term has room: more than the proof needs"),
                   **dict.fromkeys(("[*] -> + *", "/ -> *"), "this one, too, is more than the proof needs")},
    expected="HOLDS ARGUED",
)
