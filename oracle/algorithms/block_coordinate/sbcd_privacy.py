r"""DP-SBCD (document 001): proximal noisy gradient steps on one block, and what is left for all blocks together.

One block theta starts at a value that does not depend on the data. Each of K epochs passes over N fixed disjoint
batches of b records; with noise o_k > 0 in epoch k a step is

    theta <- T(F(theta) + N(0, 2 eta o_k I)),      F(theta) = theta - (eta / b) (sum of the batch's gradients),

F being L_F-Lipschitz (for either data set) and T, the proximal map, L_T-Lipschitz. Neighbouring data differ in one
record, which stands in the batch of one position; there the sums differ by at most S. Then rho = R_alpha / alpha obeys,
for every alpha > 1 and from rho = 1/c = 0,

    without the record    rho <- rho / (1 + 2 eta o c / L_F^2),         1/c' = L_T^2 (L_F^2 / c + 2 eta o),
    with the record       rho <- rho + eta S^2 / (4 b^2 o).

Proof. c is a log-Sobolev constant of the law of theta (of N(0, v I): 1/v). An L-Lipschitz map divides it by L^2, and
1/c adds up under convolution with a Gaussian. With the record, the step is a Gaussian release of a mean that moves by
eta S / b, variance 2 eta o, composed with what came before. Without it, F is the same for both data sets, so that F and
T are post-processing; between them runs the heat flow, for a time 2 eta o. With g^2 = (p/p')^alpha and expectations
under the second law p', d R_alpha/dt = -(2/alpha) E|grad g|^2 / E g^2, and the log-Sobolev inequality for g gives

    d rho/dt + c_t (alpha - 1) d rho/d alpha <= -c_t rho,      1/c_t = 1/c_0 + t

(after Vempala and Wibisono 2019, whose text was not at hand): along its characteristics a bound that is uniform in
alpha falls by exp(-int c_t dt) = 1 / (1 + 2 eta o c / L_F^2). This is Corollary 4.5 of document 001 (text at hand; its
proofs are not part of it) with the exponent -1 where it prints -1/L_T^2: a map T that is one-to-one leaves the
divergence as it is, so that no T can do more than post-processing does.

With V = (L_F^2 / c + 2 eta o) / (2 eta) and q = (L_F L_T)^2 the recursions read V' = q V + o with the factor q V / V',
and the factors telescope between two touches. With G_m = 1 + q + ... + q^{m-1} and j steps before an epoch's touch:

    before = q^j end + G_j o,   at = q before + o,   end' = q^N end + G_N o,
    rho <- rho q^{N-1} at_previous / before + eta S^2 / (4 b^2 o),   and at last   rho q^{N-1-j} at / end'.

HYPOTHESES. S bounds the change of the *sum* of a batch's gradients for every theta: it has to be enforced (by clipping,
say), which the algorithm as printed does not do. Above all, F must be the same map for both data sets whenever the
record is not in the batch. In DP-SBCD it depends on the other blocks and on the auxiliary variables, which depend on
the data: so this is a guarantee for one block whose other inputs are all independent of the data, not for the
algorithm, and summing it over the blocks is not a guarantee at all (the claim sbcd/fixed-blocks: two blocks for
which that sum is 0 and the truth is not).

mixed: the partition into batches is drawn uniformly once and kept secret. e^{(alpha-1) R_alpha} is jointly convex, so

    R = log(mean over the N positions of e^{(alpha-1) R_position}) / (alpha - 1).

For a partition that is known the guarantee is the largest over the positions; that is not always the last one, since
noise that grows lets the bound forget more in a step that the record misses than in one it enters.

composition: what stands for the whole algorithm, all iterates of all blocks released. An update of a block that reads
the record is a Gaussian release of a mean that moves by eta S_i / b, variance 2 eta o_i, given all releases before it:

    R_alpha = alpha eta / (4 b^2) sum_i S_i^2 / o_i,      and mu-GDP with mu^2 = eta / (2 b^2) sum_i S_i^2 / o_i.

One entry i for each such update: with fixed batches, one a block and epoch. Its hypothesis: given everything released
so far, the gradient's sum is a sum over records of terms that depend on that record alone, its own auxiliary variables
(x_d and U_d, functions of the record and of the releases) included; nothing else of the data, no batch statistics. S_i
bounds the change of the one term when the record *and with it its auxiliary variables* are replaced. A sensitivity at
equal auxiliary variables is not enough.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx, fmpz

from oracle.algorithms.block_coordinate import sbcd_privacy_arrays as arrays
from oracle.algorithms.block_coordinate.sbcd_privacy_arrays import LARGE_EXPONENT, EpochPowers, decayed
from oracle.bounds.renyi.zcdp import zcdp_epsilon
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import PRECISION_LIMIT, is_narrow
from oracle.core.attainment import one_sided
from oracle.core.domain import shown
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import DomainError, PrecisionError
from oracle.core.registry import Bound, closed_form
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu

_MOST_BATCHES = 10_000  # where every position is looked at


# --- one block, hidden state


def _powers(values: Values, before: int) -> EpochPowers:
    ratio, batches = (values.lipschitz_gradient * values.lipschitz_prox) ** 2, values.batches

    def power(count: int) -> arb:
        return ball(ratio) ** fmpz(count)

    def geometric_sum(count: int) -> arb:
        return ball(count) if ratio == 1 else (1 - power(count)) / ball(1 - ratio)

    return EpochPowers(
        ball(ratio), power(before), geometric_sum(before), power(batches), geometric_sum(batches), power(batches - 1),
        power(batches - 1 - before),
    )


def _share(values: Values, position: int) -> arb:
    """rho = R_alpha / alpha for the record in that batch (counted from 1)."""
    if not values.noise_variances:
        return arb(0)  # nothing is released that depends on the data
    scale = values.learning_rate * values.sensitivity**2 / (4 * values.batch_size**2)
    noises = [ball(noise) for noise in values.noise_variances]
    result: arb = ball(scale) * decayed(noises, _powers(values, position - 1))
    return result


def _one(values: Values) -> arb:
    if values.batch_position > values.batches:
        raise DomainError(
            f"batch_position = {shown(values.batch_position)} is above batches = {shown(values.batches)}:"
            " there is no such batch"
        )
    return ball(values.alpha) * _share(values, values.batch_position)


def _shares(values: Values) -> list[arb]:
    return [_share(values, position) for position in range(1, values.batches + 1)]


def _worst(values: Values) -> arb:
    result = arb(0)
    for share in _shares(values):
        result = result.max(share)
    return result


def _mixed(values: Values) -> arb:
    """The log of the mean of exponentials, through expm1 where they are small: a tiny divergence keeps its digits."""
    alpha, count = values.alpha, values.batches
    exponents = [ball(alpha * (alpha - 1)) * share for share in _shares(values)]
    top = arb(0)
    for exponent in exponents:
        top = top.max(exponent)
    if top < LARGE_EXPONENT:
        log = (sum((x.expm1() for x in exponents), arb(0)) / count).log1p()
    else:
        log = top + (sum(((x - top).exp() for x in exponents), arb(0)) / count).log()
    result: arb = log / ball(alpha - 1)
    return result


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    """zCDP's epsilon, which rises in rho, at both ends of rho's ball; rho gets more digits until that is narrow."""
    precision = 128
    while precision <= PRECISION_LIMIT:
        with ctx.workprec(precision):
            rho = _worst(values)
            if rho.is_finite() and rho >= 0:
                low, high = (
                    zcdp_epsilon.certify(Values(rho=Dyadic.of(end).to_fraction(), delta=values.delta), width / 8)
                    for end in (rho.lower(), rho.upper())
                )
                result = Enclosure(low.lower, high.upper)
                if is_narrow(result.ball, width):
                    return result
        precision *= 2
    raise PrecisionError(f"the width was not reached at {PRECISION_LIMIT} bits")


# --- all iterates of all blocks


def _composed_share(values: Values) -> Fraction:
    total = sum((s * s / o for s, o in zip(values.sensitivities, values.noise_variances, strict=True)), Fraction(0))
    return Fraction(values.learning_rate * total / (4 * values.batch_size**2))


def _composed_epsilon(values: Values, width: Fraction) -> Enclosure:
    square = 2 * _composed_share(values)
    return Enclosure.exactly(0) if square == 0 else epsilon_of_mu(lambda: ball(square).sqrt(), values.delta, width)


_ETA = vocabulary.learning_rate
_ALPHA = vocabulary.alpha
_SENSITIVITY = vocabulary.sensitivity
_BATCH_SIZE = vocabulary.batch_size
_NOISE = vocabulary.noise_variances
_BATCHES = vocabulary.batches
_COUNTED_BATCHES = vocabulary.batches.at_most(_MOST_BATCHES)
_GRADIENT = vocabulary.lipschitz_gradient
_PROX = vocabulary.lipschitz_prox
_BLOCK = (_SENSITIVITY, _BATCH_SIZE, _ETA, _NOISE)
_SHARE = (
    r"\rho_j = \frac{\eta S^2}{4b^2} \sum_{k} \frac{1}{o_k} \prod_{i > kN + j,\ i \not\equiv j (N)}"
    r" \frac{q V_{i-1}}{V_i}, \quad V_i = q V_{i-1} + o_{\lfloor i/N \rfloor},\ V_{-1} = 0,\ q = (L_F L_T)^2"
)
_EXAMPLE = {  # Figure 1(b) of document 001, constant noise, with S = 1
    "sensitivity": "1", "batch_size": "100", "learning_rate": "0.01", "noise_variances": ",".join(["0.0005"] * 30),
    "batches": "21", "lipschitz_gradient": "0.99", "lipschitz_prox": "1",
}
_SOURCE = ("sbcd/cor-4.5-case1-repaired", "sbcd/thm-4.6-repaired")

_ASSUMES = (
    "last-iterate", "block-sensitivity", "gaussian-noise", "block-lipschitz", "independent-inputs", "independent-start",
    "cyclic-batches",
)

rdp = Bound(
    name="sbcd.rdp",
    unit="rdp",
    tightness=one_sided("no blocks are known that attain it"),
    summary="Renyi divergence of one block of DP-SBCD, its last iterate released, all else independent of the data",
    formula=_SHARE + r", \quad R_\alpha = \alpha\rho_j",
    parameters=(_ALPHA, *_BLOCK, _BATCHES, vocabulary.batch_position, _GRADIENT, _PROX),
    assumes=(*_ASSUMES, "record-in-batch"),
    neighbours="any",
    threat_model="last_iterate",
    source=_SOURCE,
    validity="argued",
    certify=closed_form(_one),
    vectorised=arrays.or_nothing(arrays.one),
    example={"alpha": "2", **_EXAMPLE, "batch_position": "21"},
    released="last_iterate",
)

mixed = Bound(
    name="sbcd-mixed.rdp",
    unit="rdp",
    tightness=one_sided("no blocks are known that attain it"),
    summary="Renyi divergence of one block of DP-SBCD whose partition into batches is uniform, drawn once and hidden",
    formula=_SHARE + r", \quad R_\alpha = \frac{1}{\alpha - 1}\log\frac{1}{N}\sum_j e^{(\alpha-1)\alpha\rho_j}",
    parameters=(_ALPHA, *_BLOCK, _COUNTED_BATCHES, _GRADIENT, _PROX),
    assumes=(*_ASSUMES, "hidden-partition"),
    neighbours="any",
    threat_model="last_iterate",
    source=(*_SOURCE, "sbcd/thm-4.6-mix"),
    validity="argued",
    certify=closed_form(_mixed),
    vectorised=arrays.or_nothing(arrays.mixed),
    example={"alpha": "2", **_EXAMPLE},
    released="last_iterate",
)

epsilon = Bound(
    name="sbcd.epsilon",
    unit="epsilon",
    tightness=one_sided("no blocks are known that attain it"),
    summary="an epsilon of one block of DP-SBCD, all else independent of the data, whichever batch holds the record",
    formula=_SHARE + (
        r", \quad \varepsilon = \max\left(0,\ \inf_{\alpha > 1} \rho\alpha + \frac{\log(1/(\alpha\delta))}{\alpha - 1}"
        r" + \log\left(1 - \frac{1}{\alpha}\right)\right),\ \rho = \max_j \rho_j"
    ),
    parameters=(*_BLOCK, _COUNTED_BATCHES, _GRADIENT, _PROX, vocabulary.delta.open()),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="last_iterate",
    source=(*_SOURCE, "background/zcdp-conversion"),
    validity="argued",
    certify=_epsilon,
    vectorised=arrays.or_nothing(arrays.epsilon),
    example={**_EXAMPLE, "delta": "1e-5"},
    released="last_iterate",
)

_ENTRIES = (_ETA, _BATCH_SIZE, vocabulary.sensitivities, _NOISE)
_COMPOSED_EXAMPLE = {  # four blocks, two epochs
    "learning_rate": "0.01", "batch_size": "960", "sensitivities": ",".join(["2"] * 8),
    "noise_variances": ",".join(["0.01"] * 8),
}

composed_rdp = Bound(
    name="sbcd-composition.rdp",
    unit="rdp",
    tightness=one_sided("no blocks are known that attain it"),
    summary="Renyi divergence of DP-SBCD with every iterate of every block released",
    formula=r"R_\alpha = \frac{\alpha\eta}{4b^2} \sum_i \frac{S_i^2}{o_i}",
    parameters=(_ALPHA, *_ENTRIES),
    assumes=("separate-terms", "update-sensitivity", "gaussian-noise", "independent-start", "cyclic-batches"),
    neighbours="any",
    threat_model="all_iterates",
    source=("sbcd/fixed-blocks-repaired",),
    validity="argued",
    certify=closed_form(lambda v: ball(v.alpha * _composed_share(v))),
    vectorised=arrays.or_nothing(arrays.composed_rdp),
    example={"alpha": "2", **_COMPOSED_EXAMPLE},
    released="all_iterates",
)

composed_epsilon = Bound(
    name="sbcd-composition.epsilon",
    unit="epsilon",
    tightness=one_sided("no blocks are known that attain it"),
    summary="an epsilon of DP-SBCD with every iterate of every block released",
    formula=CURVE + r", \quad \mu^2 = \frac{\eta}{2b^2} \sum_i \frac{S_i^2}{o_i}",
    parameters=(*_ENTRIES, vocabulary.delta.open()),
    assumes=("separate-terms", "update-sensitivity", "gaussian-noise", "independent-start", "cyclic-batches"),
    neighbours="any",
    threat_model="all_iterates",
    source=("sbcd/fixed-blocks-repaired", "background/gdp-composition"),
    validity="argued",
    certify=_composed_epsilon,
    vectorised=arrays.or_nothing(arrays.composed_epsilon),
    example={**_COMPOSED_EXAMPLE, "delta": "1e-5"},
    released="all_iterates",
)
