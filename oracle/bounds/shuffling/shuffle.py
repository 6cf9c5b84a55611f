r"""Privacy amplification by shuffling: n users each run an epsilon0-LDP randomiser, and a shuffler hides who sent what.

Neighbours differ in the value of one user (replace). `upper` and `closed-form` hold for every epsilon0-LDP randomiser,
and also for a sequence of them, each chosen after seeing the reports before it, run on the users in random order.

The reduction (Feldman, McMillan and Talwar, "Hiding among the clones", FOCS 2021, Theorem 3.1 and its proof). Let a
and b be the laws of one report for the two values of the user who differs, k = e^{-epsilon0}. Since a <= b/k and
b <= a/k, Q0 = (a - k b)/(1 - k) and Q1 = (b - k a)/(1 - k) are laws, with a = (Q0 + k Q1)/(1 + k),
b = (k Q0 + Q1)/(1 + k) and a + b = Q0 + Q1. Any other user's report has a law >= k max(a, b) >= k (Q0 + Q1)/2: with
probability k it is a clone, drawn from Q0 or Q1 by a fair coin. Told of every user the kind only (Q0, Q1 or neither),
shuffled, one can draw the shuffled reports: no clone depends on its user, and of the users without a clone, who never
include the one who differs, every order is as likely. So the curve lies below that of the numbers of kinds,

    (A + D, C - A + 1 - D)  against  (A + 1 - D, C - A + D),    C ~ Bin(n-1, k), A ~ Bin(C, 1/2), D ~ Ber(1/(1 + k)),

which `upper` computes exactly. (The same authors' paper of 2023 puts 2/(e^epsilon0 + 1) > k for the probability of a
clone; its errata withdraw that for general randomisers. It is right where a/b takes no values but 1/k and k.)

Closed form (op. cit., Theorem 3.1): for epsilon0 <= log(n / (16 log(2/delta))),

    epsilon = log(1 + (e^epsilon0 - 1)/(e^epsilon0 + 1) (8 sqrt(e^epsilon0 log(4/delta) / n) + 8 e^epsilon0 / n)).

Proof. Let w = n k >= 16 L, L = log(2/delta). By Chernoff's bound C <= w/2 has a probability of at most
exp(-(w/2 - k)^2 / (2 (w - k))) <= e^{-w/16} <= delta/2, as w^2 - 7 w k + 8 k^2 >= 0 for w >= 16 log 2. By Hoeffding's
A > C/2 + s, s = sqrt(C L / 2), has at most delta/2. Otherwise C > w/2, so s <= C/4, and with U, V the two numbers
U - V <= 2 s + 1 and V >= C/2 - s >= C/4. The likelihood ratio is (U + k V) / (k U + V), at most
1 + (1-k)/(1+k) (U/V - 1) for U >= V, and U/V - 1 <= 8 s/C + 4/C <= 8 sqrt(L/w) + 8/w. With log(2/delta) for
log(4/delta) it would hold as well. Where the condition fails, or the formula exceeds epsilon0, the guarantee is
epsilon0 itself: shuffling is post-processing, and a user's own report is epsilon0-DP.

`lower` is what one randomiser really leaks: binary randomised response, the other users all holding 0; its shuffled
reports are the number of ones. No guarantee for all randomisers lies below it.

All fall in n (one more user can be simulated) and rise in epsilon0 (flipping bits and adding clones lowers it).
Inverse: for any set of outcomes delta(epsilon) >= P(set) - e^epsilon Q(set), so the least epsilon is at least
log((P(set) - delta) / Q(set)), with equality for the best set there; and a point where delta(epsilon) <= delta is
certain closes the bracket. With no clone at all, (1 - y)/(1 + k) is the curve, y = e^{epsilon-epsilon0}: it and the
probability of no clone bracket the answer for large epsilon0.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from oracle.bounds.renyi.zcdp import log_inverse
from oracle.bounds.shuffling import shuffle_arrays as arrays
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import enclose, is_narrow
from oracle.core.attainment import bracketed
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.registry import Bound
from oracle.engines import shuffle_long
from oracle.engines.shuffle_pairs import Masses, Pair, clones, excess, responses

_MOST_EVALUATIONS = 200
_QUICK_EVALUATIONS, _QUICK_BITS = 16, 128
_CEILING_BITS = 400
_PAIRS: dict[str, Pair] = {"upper": clones, "lower": responses}
_LONG: dict[str, Pair] = {"upper": shuffle_long.clones, "lower": shuffle_long.responses}


def _alone(epsilon0: Fraction, users: int, method: str) -> arb:
    """The probability that no other user is a clone, or answers 1: this outcome leaks (1 - y)/(1 + k) times it."""
    k = ball(-epsilon0).exp()
    log: arb = (-k).log1p() if method == "upper" else -k.log1p()
    return ((users - 1) * log).exp()


def _too_rare(epsilon0: Fraction, users: int) -> bool:
    """Whether clones are rarer than the working precision can tell: only more of it can help."""
    return epsilon0 > ctx.prec + users.bit_length()


# --- delta


def _hull(epsilon0: Fraction, epsilon: Fraction, directions: list[Masses]) -> arb:
    """A ball around delta(epsilon): the larger of the directions, with what was cut."""
    low = high = arb(0)
    for masses in directions:
        value = excess(epsilon0, epsilon, masses)
        low, high = low.max(value.lower()), high.max((value + masses.cut).upper())
    return low.union(high)


def _delta(values: Values, width: Fraction) -> arb:
    epsilon0, epsilon = values.epsilon0, values.epsilon
    if epsilon >= epsilon0:
        return arb(0)
    most = -ball(epsilon - epsilon0).expm1() / (1 + ball(-epsilon0).exp())
    bracket = most.union(most * _alone(epsilon0, values.users, values.method))
    if is_narrow(bracket, width) or _too_rare(epsilon0, values.users):
        return bracket
    directions = _PAIRS[values.method](epsilon0, values.users, epsilon)
    return arb.nan() if directions is None else _hull(epsilon0, epsilon, directions)


# --- epsilon


def _from_set(epsilon0: Fraction, delta: Fraction, masses: Masses) -> tuple[arb, arb]:
    """log((P(set) - delta) / Q(set)) for one set of outcomes (not finite where P(set) <= delta), and Q(set)."""
    k = ball(-epsilon0).exp()
    other = k / (1 + k) * masses.edge + masses.beyond
    return ((ball(epsilon0 / 2).tanh() * masses.edge - ball(delta)) / other).log1p(), other


def _first(values: Values) -> arb:
    """A first guess: the Gaussian limit, a shift of 2 tanh(epsilon0/2) against a variance of n k, below epsilon0."""
    spread = (ball(-values.epsilon0).exp() * values.users + 1).sqrt()
    guess: arb = 2 * ball(values.epsilon0 / 2).tanh() / spread * (2 * log_inverse(values.delta)).sqrt()
    return guess.min(ball(values.epsilon0 * Fraction(9, 10)))


class _Bracket:
    """Certified ends of the least epsilon, and where to look next; what is proposed need not be right."""

    def __init__(self, lower: arb, upper: arb, width: Fraction) -> None:
        self.lower, self.upper, self.width = lower, upper, width

    @property
    def whole(self) -> arb:
        return self.lower.union(self.upper)

    def next(self, point: arb, newton: arb, slope: arb, step: arb) -> arb:
        """The point after one where Newton's method on log delta asks for a step, log delta falling by the slope.

        Once the square of the distance to `newton`, the set's own bound, is below the width, that bound is as good as
        the answer: a point just above it will be the upper end.
        """
        margin = self.lower.min(arb(1)) * ball(self.width) / 8
        near = newton.is_finite() and bool((newton - point) ** 2 * slope < margin / 2)
        proposal = self.lower + margin if near else point + step
        if not proposal < self.upper:
            return ((self.lower + self.upper) / 2).mid()
        return (self.lower + margin if proposal <= self.lower else proposal).mid()


def _inverse(values: Values, width: Fraction) -> arb:
    """The least epsilon with delta(epsilon) <= delta: sets of outcomes bound it below, evaluations above."""
    epsilon0, users, delta = values.epsilon0, values.users, ball(values.delta)
    if ball(epsilon0 / 2).tanh() <= delta:
        return arb(0)  # delta(0) is at most the total variation of one report
    cost = -delta * (1 + ball(-epsilon0).exp())
    most = ball(epsilon0) + cost.log1p()
    least = ball(epsilon0) + (cost / _alone(epsilon0, users, values.method)).log1p()
    if is_narrow(least.union(most), width) or _too_rare(epsilon0, users):
        return least.union(most)
    bracket = _Bracket(least.lower().max(arb(0)) if least.is_finite() else arb(0), ball(epsilon0).upper(), width)
    point = _first(values).mid()
    # Among very many users the first try is quick, and its rounding known; where that is too wide, balls are next.
    quick = users >= shuffle_long.FEWEST_USERS and ctx.prec <= _QUICK_BITS
    for _ in range(_QUICK_EVALUATIONS if quick else _MOST_EVALUATIONS):
        at = Dyadic.of(point).to_fraction()
        directions = (_LONG if quick else _PAIRS)[values.method](epsilon0, users, at)
        if directions is None:
            return arb.nan()
        value = _hull(epsilon0, at, directions)
        if value <= delta:
            if at == 0:
                return arb(0)
            bracket.upper = bracket.upper.min(point)
        elif at == 0 and not value > delta:
            return arb.nan()
        bounds = [_from_set(epsilon0, values.delta, masses) for masses in directions]
        for newton, _ in bounds:
            bracket.lower = bracket.lower.max(newton.lower()) if newton.is_finite() else bracket.lower
        if is_narrow(bracket.whole, width):
            return bracket.whole
        levels = [excess(epsilon0, at, masses).mid() for masses in directions]
        (newton, other), level = bounds[levels.index(max(levels))], max(levels)
        slope = point.exp() * other / level
        point = bracket.next(point, newton, slope, (level / delta).log() / slope)
    return arb.nan()


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    if values.epsilon0 == 0:
        return Enclosure.exactly(0)
    compute = _closed if values.method == "closed-form" else _inverse
    enclosure = enclose(lambda: compute(values, width), width=width)
    with ctx.workprec(_CEILING_BITS):
        ceiling = Dyadic.of(ball(values.epsilon0).upper())
    # The truth is never above epsilon0, so the upper end need not be either.
    return enclosure if enclosure.upper.compare(ceiling) <= 0 else Enclosure(enclosure.lower, ceiling)


def _shuffled_delta(values: Values, width: Fraction) -> Enclosure:
    return enclose(lambda: _delta(values, width), width=width).capped(1)


def _response(values: Values) -> Values:
    """The same question about randomised response, which is attained."""
    return Values(**{**vars(values), "method": "lower"})


# --- the closed form


def _closed(values: Values, _: Fraction) -> arb:
    epsilon0, users = ball(values.epsilon0), values.users
    logs = log_inverse(values.delta)
    threshold = (users / (16 * (logs + arb(2).log()))).log()
    if epsilon0 > threshold:
        return epsilon0
    spread = epsilon0.exp() / users
    formula = ((epsilon0 / 2).tanh() * (8 * (spread * (logs + arb(4).log())).sqrt() + 8 * spread)).log1p()
    amplified = epsilon0.min(formula)
    return amplified if epsilon0 <= threshold else amplified.union(epsilon0)


_EPSILON0 = vocabulary.epsilon0
USERS = vocabulary.users.at_most(1000000000)
_PAIR_FORMULA = (
    r"P = (A + D,\ C - A + 1 - D),\ Q = (A + 1 - D,\ C - A + D),\ C \sim \mathrm{Bin}(n-1, e^{-\varepsilon_0}),"
    r"\ A \sim \mathrm{Bin}(C, \tfrac12),\ D \sim \mathrm{Ber}\left(\tfrac{1}{1 + e^{-\varepsilon_0}}\right)"
    r" \text{ (upper)};\ \text{the numbers of ones of shuffled randomised response (lower)}"
)
_SOURCE = ("background/shuffle-clones",)

_ASSUMES = ("replace", "local-randomisers", "shuffled-reports")

epsilon = Bound(
    name="shuffle.epsilon",
    unit="epsilon",
    tightness=bracketed(
        "binary randomised response, all other users holding 0", lambda v, width: _epsilon(_response(v), width),
    ),
    summary="an epsilon for which shuffled reports of epsilon0-LDP randomisers are (epsilon, delta)-DP",
    formula=(
        r"\min\{\varepsilon \ge 0 : \sup_S P(S) - e^{\varepsilon} Q(S) \le \delta\},\ " + _PAIR_FORMULA + r";\ "
        r"\varepsilon = \log\left(1 + \tanh\frac{\varepsilon_0}{2} \left(8\sqrt{\frac{e^{\varepsilon_0}"
        r"\log(4/\delta)}{n}} + \frac{8 e^{\varepsilon_0}}{n}\right)\right) \text{ (closed form, for }"
        r" \varepsilon_0 \le \log\frac{n}{16\log(2/\delta)} \text{, else } \varepsilon_0)"
    ),
    parameters=(
        _EPSILON0, USERS, vocabulary.delta.open(),
        vocabulary.method.choosing("upper", "lower", "closed-form"),
    ),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_epsilon,
    vectorised=lambda xp, v: arrays.epsilon_upper(xp, v.epsilon0, v.users, v.delta, v.method),
    example={"epsilon0": "1", "users": "1000", "delta": "1e-6", "method": "upper"},
)

delta = Bound(
    name="shuffle.delta",
    unit="delta",
    tightness=bracketed(
        "binary randomised response, all other users holding 0", lambda v, width: _shuffled_delta(_response(v), width),
    ),
    summary="a delta for which shuffled reports of epsilon0-LDP randomisers are (epsilon, delta)-DP",
    formula=r"\delta(\varepsilon) = \sup_S P(S) - e^{\varepsilon} Q(S),\ " + _PAIR_FORMULA,
    parameters=(
        _EPSILON0, USERS, vocabulary.epsilon,
        vocabulary.method.choosing("upper", "lower"),
    ),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_shuffled_delta,
    vectorised=lambda xp, v: arrays.delta_upper(xp, v.epsilon0, v.users, v.epsilon, v.method),
    example={"epsilon0": "1", "users": "1000", "epsilon": "0.1", "method": "upper"},
)
