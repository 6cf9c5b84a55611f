r"""Privacy amplification by subsampling a base mechanism of which only (epsilon, delta)-DP is known.

Every proof below is one identity, advanced joint convexity (Balle, Barthe and Gaboardi 2018, Thm 2). Let P = (1-q) P0 +
q P1 and Q = (1-q) P0 + q Q1 share the part P0, and let a >= 1. With a' = 1 + q (a - 1) and b = a'/a,

    H_a'(P, Q) = q H_a(P1, (1-b) P0 + b Q1) <= q ((1-b) H_a(P1, P0) + b H_a(P1, Q1)),      H_a = sup_S P(S) - a Q(S),

since P - a' Q = q (P1 - a ((1-b) P0 + b Q1)) as measures, and H_a is convex. So a level epsilon of the base becomes
epsilon' = log(1 + q (e^epsilon - 1)), and the question is only how far P1 is from P0 and from Q1.

poisson (op. cit., Thm 8; add or remove a record): every record enters the sample with probability q, independently.
Given the others' sample, P1 has one record more than P0, and Q1 = P0 (or the other way round): delta' = q delta. It is
not true for replacing a record, not even with a base that is (epsilon, delta)-DP for that: P0 is then no neighbour.

wor (op. cit., Thm 9; replace a record): m of n records without replacement, q = m/n. A sample with the record becomes
one without it by replacing it with one of those not drawn, and Q1 is P1 with the record replaced: delta' = q delta. The
base must not look at the order of its input, or get it in random order: where the sample keeps the data's order, a
record that leaves moves others to new places, and the claim is false.

with-replacement (replace a record): m draws of n; the record is drawn K times, K ~ Bin(m, 1/n), and K copies change at
once. So delta' = p delta with p = P(K > 0) is false for epsilon' = log(1 + p (e^epsilon - 1)). Two pairs are true.

chain: draw by draw. Given the other draws, one draw is P = (1-1/n) P0 + P1/n against Q = (1-1/n) P0 + Q1/n with one
place of the base's input changed: it is (e1, delta/n)-DP, e1 = log(1 + (e^epsilon - 1)/n). A chain of m such changes
leads from one data set to the other, and deltas grow by e^{e1} a link:

    epsilon' = m e1,      delta' = (delta/n) sum_{i<m} e^{i e1} = delta ((1 + (e^epsilon-1)/n)^m - 1) / (e^epsilon - 1).

epsilon' is the least for pure bases: an output of probability c e^{epsilon #x}, c small, #x copies of x, has the ratio
E e^{epsilon K} = (1 + (e^epsilon-1)/n)^m = e^{epsilon'}.

mixture (op. cit., Thm 10): q = p above, P1 is a mixture over which places were hit, each k places away from P0 and Q1:

    epsilon' = log(1 + p (e^epsilon - 1)),      delta' = sum_k P(K = k) delta_k,

delta_k the worst delta at the *same* epsilon of two inputs k places apart. With y = e^-epsilon and G_h = 1 + y + ... +
y^{h-1}, an (epsilon, delta)-DP base has, for h = floor(k/2),

    delta_k = (1-y) G_h + delta y^h + delta (1+y) G_h                           k odd,
    delta_k = (1-delta) (1-y) (1 + 2 y G_{h-1}) / (1+y) + 2 delta G_h           k even > 0,

as long as (1-delta) y^h >= delta (1+y) G_h, and delta_k = g^k(0) beyond, where g(s) = min(1, delta + s/y,
1 - y (1 - delta - s)) bounds P(S) for Q(S) = s one place away. (The largest g^k(s) - s/y, over s >= 0: g^k is concave
with slopes y^{-j}, g turns at c = (1-delta) y/(1+y), and g^h(s) = c there; g(1 - g(s)) = 1 - s does the rest.)
delta_1 = delta, but delta_2 > 0 even for a pure base: this epsilon' is smaller and its delta' is not small.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from oracle.bounds.sampling import amplification_arrays as arrays
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.attainment import one_sided, truth
from oracle.core.domain import shown
from oracle.core.enclosure import ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound, closed_form

_HUGE = 1000  # an epsilon beyond which e^epsilon is kept out of the balls


def amplified(epsilon: Fraction, rate: arb, rest: arb) -> arb:
    """log(1 + rate (e^epsilon - 1)) for rate + rest = 1, at the working precision."""
    if epsilon == 0 or rate.is_zero():
        return arb(0)
    if epsilon <= _HUGE:
        return (rate * ball(epsilon).expm1()).log1p()
    return ball(epsilon) + (rate + rest * (-ball(epsilon)).exp()).log()


def _fraction(values: Values) -> Fraction:
    """batch_size / dataset_size, refused where there are not that many records."""
    if values.batch_size > values.dataset_size:
        raise DomainError(
            f"batch_size = {shown(values.batch_size)} is above dataset_size = {shown(values.dataset_size)}:"
            " no such sample without replacement"
        )
    return Fraction(values.batch_size, values.dataset_size)


def _at_rate(epsilon: Fraction, rate: Fraction) -> arb:
    return amplified(epsilon, ball(rate), ball(1 - rate))


def _hit(values: Values) -> tuple[arb, arb]:
    """P(K > 0) and P(K = 0) for K ~ Bin(draws, 1/dataset_size)."""
    if values.dataset_size == 1:
        return arb(1), arb(0)
    exponent = values.draws * ball(Fraction(-1, values.dataset_size)).log1p()
    return -exponent.expm1(), exponent.exp()


def _replaced_epsilon(values: Values) -> arb:
    if values.method == "mixture":
        return amplified(values.base_epsilon, *_hit(values))
    result: arb = values.draws * _at_rate(values.base_epsilon, Fraction(1, values.dataset_size))
    return result


def _chain_delta(values: Values) -> arb:
    epsilon, delta = values.base_epsilon, values.base_delta
    if epsilon == 0 or delta == 0:
        return ball(min(Fraction(1), delta * values.draws / values.dataset_size))
    total = values.draws * _at_rate(epsilon, Fraction(1, values.dataset_size))

    def log_expm1(x: arb) -> arb:
        return x.expm1().log() if x < _HUGE else x + (-(-x).exp()).log1p()

    exponent = ball(delta).log() + log_expm1(total) - log_expm1(ball(epsilon))
    return arb(1) if exponent > 0 else exponent.exp()  # the exponential of a large exponent is not wanted


def _mixture_delta(values: Values) -> arb:
    """sum_k P(K = k) delta_k, a sum of positive terms; what is left of the law once it is negligible is an error."""
    n, m = values.dataset_size, values.draws
    if values.base_delta == 0 and values.base_epsilon == 0:
        return arb(0)
    delta, y, gap = ball(values.base_delta), (-ball(values.base_epsilon)).exp(), -(-ball(values.base_epsilon)).expm1()
    _, law = _hit(values)
    power, geometric, before = arb(1), arb(0), arb(0)  # y^h, G_h, G_{h-1}
    iterate, total = arb(0), arb(0)  # g^k(0), and the sum so far
    for k in range(1, m + 1):
        law = arb(int(k == m)) if n == 1 else law * ball(Fraction(m - k + 1, k * (n - 1)))
        if k % 2 == 0:
            power, geometric, before = power * y, 1 + y * geometric, geometric
            group = (1 - delta) * gap * (1 + 2 * y * before) / (1 + y) + 2 * delta * geometric
        else:
            group = gap * geometric + delta * power + delta * (1 + y) * geometric
        if values.base_delta > 0:  # a pure base always has room
            iterate = _one_more(iterate, delta, y, values.base_epsilon)
            room = (1 - delta) * power - delta * (1 + y) * geometric
            if not room >= 0:
                group = iterate if room < 0 else iterate.union(group)  # where there is no room left both are equal
        total += law * group
        if n > 1 and k * n > 4 * m:
            # From here on the terms of the law fall by this ratio (at most 1/2) or more, and no delta_k is above 1.
            ratio = Fraction(m - k, (k + 1) * (n - 1))
            left = law * ball(ratio / (1 - ratio))
            if left < total * arb(2) ** -ctx.prec:
                return total + left.union(arb(0))
    return total


def _one_more(s: arb, delta: arb, y: arb, epsilon: Fraction) -> arb:
    """g(s), for s = 0 or s >= delta > 0."""
    result = (1 - y * (1 - delta - s)).min(arb(1))
    if s.is_zero():
        return result.min(delta)
    exponent = s.log() + ball(epsilon)
    return result if exponent > 0 else result.min(delta + exponent.exp())


_EPSILON = vocabulary.base_epsilon
_DELTA = vocabulary.base_delta
_RATE = vocabulary.sampling_rate
_SIZE = vocabulary.dataset_size
_BATCH = vocabulary.batch_size
_DRAWS = vocabulary.draws.at_most(100000)
_METHOD = vocabulary.method.choosing("chain", "mixture")
_POISSON = ("background/amplification-poisson",)
_WOR = ("background/amplification-wor",)
_REPLACEMENT = (
    "cs208/amp-with-replacement-repaired", "cs208/amp-with-replacement-mixture", "background/joint-convexity",
)

poisson = Bound(
    name="amplification.poisson",
    unit="epsilon",
    tightness=truth("a base that tells by randomised response whether one record is in the sample reaches it"),
    summary="epsilon of an (epsilon, delta)-DP mechanism on a Poisson sample, at delta sampling_rate * delta",
    formula=r"\varepsilon' = \log\left(1 + q(e^{\varepsilon} - 1)\right) \text{ at } \delta' = q\delta",
    parameters=(_EPSILON, _RATE),
    assumes=("add-remove", "private-base", "poisson-sampling", "secret-batches"),
    neighbours="add_remove",
    threat_model="all_iterates",
    source=_POISSON,
    validity="argued",
    certify=closed_form(lambda v: _at_rate(v.base_epsilon, v.sampling_rate)),
    vectorised=lambda xp, v: arrays.amplified(xp, v.base_epsilon, v.sampling_rate),
    example={"base_epsilon": "1", "sampling_rate": "0.01"},
)

poisson_delta = Bound(
    name="amplification.poisson-delta",
    unit="delta",
    tightness=truth("a base that tells by randomised response whether one record is in the sample reaches it"),
    summary="the delta that goes with amplification.poisson",
    formula=r"\delta' = q\delta",
    parameters=(_DELTA, _RATE),
    assumes=("add-remove", "private-base", "poisson-sampling", "secret-batches"),
    neighbours="add_remove",
    threat_model="all_iterates",
    source=_POISSON,
    validity="argued",
    certify=closed_form(lambda v: ball(v.sampling_rate * v.base_delta), at_most=1),
    vectorised=lambda xp, v: arrays.scaled(xp, v.sampling_rate, v.base_delta),
    example={"base_delta": "1e-5", "sampling_rate": "0.01"},
)

wor = Bound(
    name="amplification.wor",
    unit="epsilon",
    tightness=truth("a base that tells by randomised response whether one record is in the sample reaches it"),
    summary="epsilon of an (epsilon, delta)-DP mechanism on a sample without replacement, at delta (m/n) delta",
    formula=(
        r"\varepsilon' = \log\left(1 + \frac{m}{n}(e^{\varepsilon} - 1)\right)"
        r" \text{ at } \delta' = \frac{m}{n}\delta"
    ),
    parameters=(_EPSILON, _SIZE, _BATCH),
    assumes=("replace", "private-base", "without-replacement", "order-blind", "secret-batches"),
    neighbours="replace",
    threat_model="all_iterates",
    source=_WOR,
    validity="argued",
    certify=closed_form(lambda v: _at_rate(v.base_epsilon, _fraction(v))),
    vectorised=lambda xp, v: arrays.amplified(xp, v.base_epsilon, arrays.fraction(xp, v.batch_size, v.dataset_size)),
    example={"base_epsilon": "1", "dataset_size": "60000", "batch_size": "600"},
)

wor_delta = Bound(
    name="amplification.wor-delta",
    unit="delta",
    tightness=truth("a base that tells by randomised response whether one record is in the sample reaches it"),
    summary="the delta that goes with amplification.wor",
    formula=r"\delta' = \frac{m}{n}\delta",
    parameters=(_DELTA, _SIZE, _BATCH),
    assumes=("replace", "private-base", "without-replacement", "order-blind", "secret-batches"),
    neighbours="replace",
    threat_model="all_iterates",
    source=_WOR,
    validity="argued",
    certify=closed_form(lambda v: ball(_fraction(v) * v.base_delta), at_most=1),
    vectorised=lambda xp, v: arrays.scaled(xp, arrays.fraction(xp, v.batch_size, v.dataset_size), v.base_delta),
    example={"base_delta": "1e-5", "dataset_size": "60000", "batch_size": "600"},
)

with_replacement = Bound(
    name="amplification.with-replacement",
    unit="epsilon",
    tightness=one_sided("epsilon and delta of a pair that one method proves; others exist"),
    summary="epsilon of an (epsilon, delta)-DP mechanism on draws with replacement, at the delta of its companion",
    formula=(
        r"\varepsilon' = m\log\left(1 + \frac{e^{\varepsilon} - 1}{n}\right) \text{ (chain)}, \quad"
        r" \varepsilon' = \log\left(1 + \left(1 - (1 - 1/n)^m\right)(e^{\varepsilon} - 1)\right) \text{ (mixture)}"
    ),
    parameters=(_EPSILON, _SIZE, _DRAWS, _METHOD),
    assumes=("replace", "private-base", "with-replacement", "order-blind", "secret-batches"),
    neighbours="replace",
    threat_model="all_iterates",
    source=_REPLACEMENT,
    validity="argued",
    certify=closed_form(_replaced_epsilon),
    vectorised=arrays.replaced_epsilon,
    example={"base_epsilon": "1", "dataset_size": "60000", "draws": "600", "method": "chain"},
)

with_replacement_delta = Bound(
    name="amplification.with-replacement-delta",
    unit="delta",
    tightness=one_sided("epsilon and delta of a pair that one method proves; others exist"),
    summary="the delta that goes with amplification.with-replacement, by the same method",
    formula=(
        r"\delta' = \delta\,\frac{(1 + (e^{\varepsilon} - 1)/n)^m - 1}{e^{\varepsilon} - 1} \text{ (chain)}, \quad"
        r" \delta' = \sum_{k=1}^{m} \binom{m}{k} \frac{(n-1)^{m-k}}{n^m}\,\delta_k(\varepsilon) \text{ (mixture)}"
    ),
    parameters=(_EPSILON, _DELTA, _SIZE, _DRAWS, _METHOD),
    assumes=("replace", "private-base", "with-replacement", "order-blind", "secret-batches"),
    neighbours="replace",
    threat_model="all_iterates",
    source=_REPLACEMENT,
    validity="argued",
    certify=closed_form(lambda v: (_mixture_delta if v.method == "mixture" else _chain_delta)(v), at_most=1),
    vectorised=arrays.replaced_delta,
    example={"base_epsilon": "1", "base_delta": "1e-5", "dataset_size": "60000", "draws": "600", "method": "chain"},
)
