r"""Shifted interpolation (after Bok, Su and Altschuler 2024), proved: the lemma on which the hidden-state bounds lean.

X_i = Proj(phi_i(X_{i-1}) + Z_i) and X'_i = Proj(phi'_i(X'_{i-1}) + Z'_i) from one start, Z_i and Z'_i of law N(0,
tau_i^2 I). All phi_i are c-Lipschitz, phi_i and phi'_i are nowhere more than s_i apart, Proj is 1-Lipschitz (the
identity, or a projection). If shifts a_i >= 0 keep z_i = c z_{i-1} + s_i - a_i >= 0 from z_0 = 0 to z_T = 0, the pair
of last iterates is mu-GDP with mu^2 = sum (a_i / tau_i)^2. Proof, from composition alone.

Let Y_0 = X_0 and Y_i = Proj(phi'_i(Y_{i-1}) + v_i + Z_i), the same Z_i as in X. phi_i(X_{i-1}) and phi'_i(Y_{i-1}) are
at most c z_{i-1} + s_i apart (through phi_i(Y_{i-1})), so some v_i with |v_i| <= a_i, along their difference, leaves at
most z_i; Proj widens nothing. By induction |X_i - Y_i| <= z_i, and Y_T = X_T. Put W_i = v_i + Z_i. As v_i depends on
X_0, Z_1, ..., Z_{i-1} only, and Z_j = W_j - v_j, by induction it is a function of X_0, W_1, ..., W_{i-1}. So X_T = Y_T
is one and the same function of (X_0, W_1, ..., W_T) as X'_T is of (X_0, Z'_1, ..., Z'_T): post-processing. And given
the earlier W, W_i is N(v_i, tau_i^2 I) with |v_i| <= a_i against N(0, tau_i^2 I), that is (a_i/tau_i)-GDP: an adaptive
composition of Gaussian pairs, which background/gdp-composition sums up. A random start is averaged over. []

The same proof with the chain rule of the Renyi divergence, which adds up the largest conditional divergences alpha
a_i^2 / (2 tau_i^2), is amplification by iteration (Feldman, Mironov, Talwar and Thakurta 2018) for any c.

The checker runs the construction for broken-line maps in exact rationals, and holds the cost against affine iterations,
whose last iterate is exactly Gaussian.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, non_negative, non_negative_integer, positive, positive_integer
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.effort import points as effort
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, sampled, undecided

_SEED = 20240300
_STEPS = 4


@dataclass(frozen=True)
class Rule:
    """What the lemma says: how the distance moves, z' of (c, z, s, a), whether it must end at 0, and what it costs."""

    distance: Callable[[Any, Any, Any, Any], Any]
    paid_off: bool
    cost: Callable[[Any, Any], Any]  # of one step, from its shift and its noise's deviation; costs add up


RULE = Rule(lambda c, z, s, a: c * z + s - a, True, lambda a, tau: (a / tau) ** 2)


@dataclass(frozen=True)
class Schedule:
    """An affine iteration x <- m_i x + s_i b + N(0, tau_i^2), b = 0 or 1, |m_i| <= c, and shifts for it."""

    contraction: Fraction
    multipliers: tuple[Fraction, ...]
    drifts: tuple[Fraction, ...]
    noises: tuple[Fraction, ...]
    shifts: tuple[Fraction, ...]

    def mu_squared(self) -> Fraction:
        """The squared distance of the two last iterates' means over their variance."""
        gap, variance = Fraction(0), Fraction(0)
        for m, s, tau in zip(self.multipliers, self.drifts, self.noises, strict=True):
            gap, variance = m * gap + s, m * m * variance + tau * tau
        return gap**2 / variance

    def feasible(self, rule: Rule) -> bool:
        """Whether the shifts are allowed by a rule."""
        z = Fraction(0)
        for s, a in zip(self.drifts, self.shifts, strict=True):
            z = rule.distance(self.contraction, z, s, a)
            if z < 0:
                return False
        return z == 0 or not rule.paid_off

    def words(self) -> dict[str, str]:
        """As a witness prints it."""
        return {
            "c": str(self.contraction), **{
                name: "(" + ", ".join(map(str, entries)) + ")"
                for name, entries in (
                    ("multipliers", self.multipliers), ("drifts", self.drifts), ("noises", self.noises),
                    ("shifts", self.shifts),
                )
            },
        }


def schedules(rule: Rule, given: Domain) -> list[Schedule]:
    """Small schedules whose shifts a rule allows; every second step pays a share of what is left, the last one all."""
    found = []
    halves = (Fraction(0), Fraction(1, 2), Fraction(1))
    noises = given.values("sigma", most=3)
    for steps, c in itertools.product(given.values("steps", most=3), given.values("contraction", most=2)):
        for drifts in itertools.product((Fraction(0), Fraction(1)), repeat=steps):
            for shares in itertools.product(halves, repeat=steps - 1):
                shifts: list[Fraction] = []
                z = Fraction(0)
                for s, share in zip(drifts, (*shares, Fraction(1)), strict=True):
                    shifts.append(share * rule.distance(c, z, s, Fraction(0)) if rule.paid_off else Fraction(0))
                    z = rule.distance(c, z, s, shifts[-1])
                for multipliers in itertools.product((Fraction(0), c), repeat=steps - 1):
                    for deviations in ((noises[0],) * steps, noises[2:2 + steps]):
                        found.append(Schedule(c, (c, *multipliers), drifts, deviations, tuple(shifts)))
    return [item for item in found if item.feasible(rule)]


def coupled(rng: random.Random) -> bool:
    """The proof's construction for random broken-line maps, in exact rationals: it ends at X_T, no v_i beyond a_i."""
    c = Fraction(rng.randint(1, 4), 4)
    x = y = Fraction(rng.randint(-3, 3))
    z = Fraction(0)
    for step in range(_STEPS):
        knots = sorted(Fraction(rng.randint(-8, 8), 2) for _ in range(3))
        slopes = [c * Fraction(rng.randint(-4, 4), 4) for _ in range(4)]
        drift = Fraction(rng.randint(0, 3), 2)
        sign = rng.choice((-1, 1))
        at_x, at_y = _broken_line(x, knots, slopes), _broken_line(y, knots, slopes)
        other = at_y + sign * drift * Fraction(rng.randint(0, 2), 2)  # phi' at Y: within the drift of phi
        shift = (c * z + drift) * (1 if step == _STEPS - 1 else Fraction(rng.randint(0, 2), 2))
        difference = at_x - other
        move = max(-shift, min(shift, difference))
        noise = Fraction(rng.randint(-4, 4), 2)
        bound = Fraction(rng.randint(1, 6))
        x, y = (max(-bound, min(bound, value + noise)) for value in (at_x, other + move))
        z = c * z + drift - shift
        if abs(x - y) > z:
            return False
    return x == y


def _broken_line(x: Fraction, knots: list[Fraction], slopes: list[Fraction]) -> Fraction:
    """A continuous function, 0 at 0, with one slope between any two knots."""
    total = Fraction(0)
    ends = [*knots, None]
    for low, high, slope in zip([None, *knots], ends, slopes, strict=True):
        for sign, left, right in ((1, Fraction(0), x), (-1, x, Fraction(0))):
            start = left if low is None else max(low, left)
            stop = right if high is None else min(high, right)
            if start < stop:
                total += sign * slope * (stop - start)
    return total


def coupling_steps(rule: Rule, given: Domain) -> list[ProofStep]:
    """The proof's steps up to the cost of one shift."""
    c, z, s, a, u, v = sympy.symbols("c z s a u v", positive=True)
    length = sympy.sqrt(u**2 + v**2)
    rng, runs = random.Random(_SEED), effort(200)
    moved = (u * (1 - a / length)) ** 2 + (v * (1 - a / length)) ** 2
    return [
        computed("a c-Lipschitz step and a drift leave at most c z + s of a distance z (triangle inequality), c >= 0",
                 vanishes(rule.distance(c, z, s, 0) - (c * z + s)) and given["contraction"].low == 0),
        computed("a shift a along the difference d leaves |d| - a, in the plane that d spans",
                 vanishes(moved - (length - a) ** 2)
                 and vanishes(rule.distance(c, z, s, a) - rule.distance(c, z, s, 0) + a)),
        computed("z_T = 0 is asked for, and there is a step", rule.paid_off and given["steps"].low == 1),
        sampled("so X and Y are at most z_i apart, by induction over the steps, and meet at T: run in exact rationals "
                f"for {runs} sequences of broken lines", all(coupled(rng) for _ in range(runs))),
        argued("each v_i is a function of X_0 and the earlier W, so that X_T is the same function of the W as X'_T of "
               "the Z', and given the past W_i is N(v_i, tau_i^2 I), |v_i| <= a_i, against N(0, tau_i^2 I)"),
    ]


def divergence_of_shift(alpha: Any, a: Any, tau: Any) -> Any:
    """(alpha - 1) R_alpha of N(a, tau^2) against N(0, tau^2): what completing the square leaves over."""
    x = sympy.symbols("x", real=True)
    exponent = -(alpha * (x - a) ** 2 + (1 - alpha) * x**2) / (2 * tau**2)
    return sympy.simplify(exponent + (x - alpha * a) ** 2 / (2 * tau**2))


def other_distance(rule: Rule, given: Domain) -> Finding | None:
    """Whether the rule's distance is another one than c z + s - a at the numbers from which schedules are made."""
    few = (Fraction(0), Fraction(1, 2), Fraction(1))
    for c, z, s, a in itertools.product(given.values("contraction", most=2), few, few, few):
        if rule.distance(c, z, s, a) != c * z + s - a:
            return undecided(f"another distance than c z + s - a at c = {c}, z = {z}, s = {s}, a = {a}", 1)
    return None


def judge_rule(rule: Rule, given: Domain) -> Finding:
    """Every affine iteration obeys the rule's cost, and the proof's coupling works for other maps."""
    tried = schedules(rule, given)
    for item in tried:
        claimed = sum((rule.cost(a, tau) for a, tau in zip(item.shifts, item.noises, strict=True)), Fraction(0))
        if item.mu_squared() > claimed:
            return refuted(
                "an affine iteration has a larger mu, exactly",
                {**item.words(), "mu^2 of the law": item.mu_squared(), "claimed": claimed},
            )
    a, tau = sympy.symbols("a", positive=True), given.symbol("sigma", "tau")
    return other_distance(rule, given) or proof(
        *coupling_steps(rule, given),
        computed("the pair of a shift is mu-GDP with mu^2 = a^2/tau^2, its log second moment, as claimed",
                 vanishes(rule.cost(a, tau) - divergence_of_shift(2, a, tau)) and signed_positive(tau)),
        argued("an adaptive composition of Gaussian pairs, which background/gdp-composition sums up; a random start is "
               "averaged over"),
        tried=len(tried),
    )


def judge_renyi(says: tuple[Rule, Callable[[Any], Any]], given: Domain) -> Finding:
    """The same for the Renyi divergence: a rule with the factor that its sum gets at order alpha."""
    rule, factor = says
    tried = schedules(rule, given)
    for item in tried:
        claimed = sum((rule.cost(a, tau) for a, tau in zip(item.shifts, item.noises, strict=True)), Fraction(0))
        for order in given.values("alpha"):
            true = order * item.mu_squared() / 2
            if true > factor(order) * claimed:
                return refuted(
                    "an affine iteration has a larger divergence, exactly",
                    {**item.words(), "alpha": order, "R_alpha of the law": true, "claimed": factor(order) * claimed},
                )
    alpha, a, tau = given.chart("alpha"), sympy.symbols("a", positive=True), given.symbol("sigma", "tau")
    return other_distance(rule, given) or proof(
        *coupling_steps(rule, given),
        computed("a shift's Renyi divergence is the claimed factor times its cost, alpha > 1",
                 vanishes(divergence_of_shift(alpha, a, tau) - (alpha - 1) * factor(alpha) * rule.cost(a, tau))
                 and signed_positive(alpha - 1, tau)),
        argued("the chain rule adds up the largest conditional divergences; a random start is averaged over"),
        tried=len(tried),
    )


def judge_one_pass(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """R_alpha/alpha of one pass of noisy SGD from (n, t, drift): shifts reach it, and some steps attain it."""
    tried = 0
    for point in given.points("position", "later", "drift", most={"position": 4, "later": 4}):
        tried += 1
        position, drift = point["position"], point["drift"]
        size, rest = position + point["later"], point["later"] + 1
        claimed = Fraction(says(Fraction(size), Fraction(position), drift))
        drifts = tuple(drift if i == position else Fraction(0) for i in range(1, size + 1))
        # A 1-Lipschitz step may forget everything when the record comes, and the later ones nothing.
        multipliers = tuple(Fraction(i != position) for i in range(1, size + 1))
        shifts = tuple(drift / rest if i >= position else Fraction(0) for i in range(1, size + 1))
        item = Schedule(Fraction(1), multipliers, drifts, (Fraction(1),) * size, shifts)
        reached = sum((a * a for a in shifts), Fraction(0)) / 2
        if not item.feasible(RULE) or not item.mu_squared() / 2 == claimed == reached:
            return refuted(
                "not the cost of equal shifts and the law of the worst steps",
                {"n": size, "t": position, "2L/sigma": drift, "claimed": claimed, "equal shifts": reached,
                 "law": item.mu_squared() / 2},
            )
    t, later, drift = given.symbol("position", "t"), given.symbol("later"), given.symbol("drift", "D")
    claimed = says(t + later, t, drift)
    return proof(
        computed("n + 1 - t equal shifts D/(n + 1 - t) from the record's step on pay off D, at the claimed cost",
                 vanishes((later + 1) * (drift / (later + 1)) ** 2 / 2 - claimed)),
        computed("1-Lipschitz steps that forget the past when the record comes, and then keep everything, attain it: "
                 "the distance D stays, and each further step adds 1 to the variance, from 1 on",
                 vanishes(drift**2 / (2 * says(t, t, drift)) - 1,
                          drift**2 / (2 * says(t + later + 1, t, drift)) - drift**2 / (2 * claimed) - 1)
                 and t.is_positive is True and later.is_nonnegative is True and drift.is_positive is True),
        tried=tried,
    )


_HALF = Rule(RULE.distance, True, lambda a, tau: (a / tau) ** 2 / 2)
_LATE = Rule(lambda c, z, s, a: c * (z + s) - a, True, RULE.cost)
_OPEN = Rule(RULE.distance, False, RULE.cost)
_ORDER = Parameter("alpha", low=Fraction(1), low_open=True)

shifted_interpolation = Claim(
    id="background/shifted-interpolation",
    source="Bok, Su and Altschuler 2024, shifted interpolation (arXiv 2403.00278); proved here, their text not at hand",
    severity=Stake.PRIVACY,
    statement=(
        r"z_{i+1} = c z_i + s_{i+1} - a_{i+1} \ge 0,\ z_0 = z_T = 0 \implies \theta_T \text{ is }"
        r" \left(\textstyle\sum_i a_i^2/\tau_i^2\right)^{1/2}\text{-GDP}"
    ),
    words="shifts that pay off the drift of a c-contractive noisy iteration give its Gaussian-DP parameter",
    hypotheses=(non_negative("contraction"), positive_integer("steps"), positive("sigma")),
    says=RULE,
    check=judge_rule,
    flips=(
        Flip("half the cost", _HALF, Verdict.REFUTED),
        Flip("the drift comes before the contraction", _LATE, Verdict.REFUTED),
        Flip("nothing need be paid off", _OPEN, Verdict.REFUTED),
    ),
    rests_on=("background/gdp-composition",),
    expected="HOLDS ARGUED",
)

iteration = Claim(
    id="background/fmit18",
    source=(
        "Feldman, Mironov, Talwar and Thakurta 2018, amplification by iteration (there c = 1); text not at hand, "
        "proved here"
    ),
    severity=Stake.PRIVACY,
    statement=(
        r"z_{i+1} = c z_i + s_{i+1} - a_{i+1} \ge 0,\ z_0 = z_T = 0 \implies"
        r" R_\alpha(\theta_T \| \theta'_T) \le \frac{\alpha}{2}\sum_i \frac{a_i^2}{\tau_i^2}"
    ),
    words="shifts that pay off the drift of a contractive noisy iteration bound its last iterate's Renyi divergence",
    hypotheses=(non_negative("contraction"), positive_integer("steps"), positive("sigma"), _ORDER),
    says=(RULE, lambda alpha: alpha / 2),
    check=judge_renyi,
    flips=(
        Flip("the factor 1/2 for alpha/2", (RULE, lambda alpha: Fraction(1, 2)), Verdict.REFUTED),
        Flip("nothing need be paid off", (_OPEN, lambda alpha: alpha / 2), Verdict.REFUTED),
    ),
    rests_on=("background/shifted-interpolation",),
    expected="HOLDS ARGUED",
)

one_pass = Claim(
    id="background/fmit18-sgd",
    source="Feldman, Mironov, Talwar and Thakurta 2018, one pass of noisy SGD; text not at hand, derived here",
    severity=Stake.PRIVACY,
    statement=(
        r"R_\alpha \le \frac{\alpha (2L)^2}{2\sigma^2 (n + 1 - t)},"
        r" \text{ the least bound for all 1-Lipschitz steps that differ by } 2\eta L \text{ at step } t"
    ),
    words="one pass of noisy SGD gives the t-th record this Renyi divergence, the best bound from 1-Lipschitz steps",
    hypotheses=(
        positive_integer("position", "t"), non_negative_integer("later", "n - t"), positive("drift", "2L/sigma"),
    ),
    says=lambda n, t, drift: drift**2 / (2 * (n + 1 - t)),
    check=judge_one_pass,
    flips=(
        Flip("n - t + 2 steps", lambda n, t, drift: drift**2 / (2 * (n + 2 - t)), Verdict.REFUTED),
        Flip("amplified by n for every record", lambda n, t, drift: drift**2 / (2 * n), Verdict.REFUTED),
    ),
    uses=("background/fmit18",),
    rests_on=("background/fmit18",),
    expected="HOLDS ARGUED",
)
