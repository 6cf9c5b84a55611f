r"""Phased SGD where all its second moments are closed: one-hot records, labels +-1, the clip link (002, rates R1).

A record is e_j with probability p_j = 2^-j (the last two alike, so that they add up to 1: scale-free, the hard case),
its label y = +-1 with mean w*_j, |w*_j| = 3/10 (with N null atoms beside them, these have the half of all mass, each
alike, and w*_j = 0; the others have the other half); link(z) = clip(z, -1, 1), so B = G = 1. While |w_j| <= 1 the risk
is sum_j p_j (w_j - w*_j)^2 beyond the least, and a step changes e = w_j - w*_j with probability p = p_j into (1 - h) e
+ h (y - w*_j), h the step. With A = 1 - p h, B' = 1 - 2 p h + p h^2, q = p h^2 (1 - w*_j^2), r = q/(1 - B'):

    E e_t^2 = r + (s - r) B'^(t-1),    s = E e_1^2,    E e_t e_u = A^(u-t) E e_t^2    (t < u),
    S1 = sum_{t<=n} E e_t^2 = n r + (s - r) (1 - B'^n)/(1 - B'),
    E (sum_{t<=n} e_t)^2 = S1 + (2A/(p h)) (S1 - r (1 - A^n)/(p h) - (s - r) (A^n - B'^n)/(A - B')),

and the phase's noisy average has that, over n^2, plus tau^2. Coordinates need not be independent for this.

Clipping. Steps h <= 1 keep [-1, 1] invariant, as labels lie in it; only noise leaves it. Given which records fall on j,
the linear process ends phase i at w*_j (1 - a) + X with 0 <= a <= 1, X sub-Gaussian of variance proxy
V = sum_i (h_i/(2 - h_i) + tau_i^2) (Hoeffding: a label's weight h (1-h)^k, its range 2; later phases only shrink). So
some |w_j| > 1 at the end of some phase has probability at most P = 2 k J exp(-(7/10)^2/(2V)); otherwise clip and linear
process are one. Where they differ, the clipped risk is at most 1.3^2, and of the linear one E e^4 <= 8 (w*^4 + 16 V^2).
The curve is a ball that holds the true risk with the clip: its radius is 1.69 P + sqrt(8 P (w*^4 + 16 V^2)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from empirical.studies.study import Array, Premise, Spot
from oracle.core.enclosure import ball
from oracle.core.registry import algorithm
from oracle.core.tape import Tape

TARGET = Fraction(3, 10)
"""|w*_j|, all alike."""
ROOT_LOG = Fraction(17, 5)
"""sqrt(log(1/delta)), rational so that steps and noise are: delta = e^-11.56 = 9.5e-6; projected, of log(2/delta)."""
_BITS = 768  # two orders of cancellation in n p h, which may be 2^-100


@dataclass(frozen=True)
class PhasedPlan:
    """A run of phased SGD on the generator: n records, the base step eta, and tau_i over eta_i."""

    records: int
    step: Fraction
    noise: Fraction
    atoms: int
    null: int = 0

    @property
    def phases(self) -> int:
        """k = floor(log2 n)."""
        return self.records.bit_length() - 1

    @property
    def distance(self) -> Fraction:
        """|w*|^2, from w_0 = 0."""
        return self.atoms * TARGET**2


def masses(atoms: int, null: int = 0) -> tuple[Fraction, ...]:
    """p_1, ..., p_J, and those of the null atoms."""
    halves = (*(Fraction(1, 2**j) for j in range(1, atoms)), Fraction(1, 2 ** (atoms - 1)))
    return halves if null == 0 else (*(p / 2 for p in halves), *(Fraction(1, 2 * null),) * null)


def targets(atoms: int, null: int = 0) -> Array:
    """w*, of alternating sign, and 0 for the null atoms."""
    return np.concatenate([float(TARGET) * (-1.0) ** np.arange(atoms), np.zeros(null)])


def trivial(spot: Spot) -> arb:
    """The excess risk of w = 0."""
    return ball(TARGET**2 / (2 if spot["padded"] else 1))


def excess(plan: PhasedPlan) -> arb:
    """The expected excess risk of the last release."""
    with ctx.workprec(_BITS):
        total = arb(0)
        for p in masses(plan.atoms, plan.null)[: plan.atoms]:
            total += ball(p) * _moment(plan, p, TARGET)
        if plan.null:
            total += _moment(plan, Fraction(1, 2 * plan.null), Fraction(0)) / 2
        return total + arb(0, clipped(plan))


def _moment(plan: PhasedPlan, mass: Fraction, target: Fraction) -> arb:
    """E (w_j - w*_j)^2 at the end, without clipping."""
    p, s, variance = ball(mass), ball(target**2), ball(1 - target**2)
    for phase in range(1, plan.phases + 1):
        size, h = plan.records >> phase, ball(plan.step / 4**phase)
        ph = p * h
        a, b = 1 - ph, 1 - 2 * ph + ph * h
        rest = ph * h * variance / (1 - b)
        a_end, b_end = a**size, b**size
        # Linear in s, so that a ball is never widened by what cancels: weights of s - r and of r.
        alone, crossed = (1 - b_end) / (1 - b), (a_end - b_end) / (a - b)
        moving = (alone + 2 * a / ph * (alone - crossed)) / size**2
        resting = (size + 2 * a / ph * (size - (1 - a_end) / ph)) / size**2
        s = moving * s + (resting - moving) * rest + (ball(plan.noise) * h) ** 2
    return s


def clipped(plan: PhasedPlan) -> arb:
    """By how much clipping can change the expected risk, at most; see above."""
    proxy = arb(0)
    for phase in range(1, plan.phases + 1):
        h = ball(plan.step / 4**phase)
        proxy += h / (2 - h) + (ball(plan.noise) * h) ** 2
    leaves = 2 * plan.phases * (plan.atoms + plan.null) * (-(ball(1 - TARGET) ** 2) / (2 * proxy)).exp()
    risk = ball((1 + TARGET) ** 2) * leaves + (8 * leaves * (ball(TARGET**4) + 16 * proxy**2)).sqrt()
    return arb(risk.upper())


def closed_bound(plan: PhasedPlan, *, rank: Fraction, more: arb | None = None) -> arb:
    """2G [4 D^2/(eta n) + 4 (tau/eta)^2 theta eta/n + (2/3) B^2 eta + 2B tau_k + more] for n a power of 2, B = G = 1.

    Phase by phase (002, Lemma 8 with any point for w*): D^2/(2 eta_1 n_1) = 4 D^2/(eta n); the noise of phase i - 1
    costs tau_{i-1}^2 theta/(2 eta_i n_i) = (tau/eta)^2 theta 4 2^-(i-1) eta/n, i = 2, ..., k: at most 4 in all;
    sum_i 2 B^2 eta_i <= (2/3) B^2 eta; the last noise costs 2B E|<zeta, x>| <= 2B tau_k. Lemma 3 has the factor 2G.
    """
    eta, sigma, n = ball(plan.step), ball(plan.noise), plan.records
    last = sigma * eta / 4**plan.phases
    inner = 4 * ball(plan.distance) / (eta * n) + 4 * sigma**2 * ball(rank) * eta / n + 2 * eta / 3 + 2 * last
    total: arb = 2 * (inner + (arb(0) if more is None else more))
    return total


def drawn(plan: PhasedPlan, generator: np.random.Generator) -> tuple[Array, Array]:
    """Records and labels; those of a smaller n are the first of a larger."""
    u = generator.random((plan.records, 2))
    upper = np.cumsum([float(p) for p in masses(plan.atoms, plan.null)])
    places = np.searchsorted(upper, u[:, 0], side="right")
    features = np.zeros((plan.records, plan.atoms + plan.null))
    features[np.arange(plan.records), places] = 1.0
    labels = np.where(u[:, 1] < (1 + targets(plan.atoms, plan.null)[places]) / 2, 1.0, -1.0)
    return features, labels


def generator_of(seed: int, replicate: int) -> np.random.Generator:
    """The draws of a replicate, the same at every spot."""
    return np.random.Generator(np.random.Philox([seed, replicate]))


def tape_of(seed: int, replicate: int, models: int) -> Tape:
    """The draws of the models that are trained on a replicate's data."""
    return Tape(seed * 100_000 + replicate, models=models)


def configuration(plan: PhasedPlan, **more: Any) -> dict[str, Any]:
    """The keys of the algorithm."""
    return {
        "link": "clip", "label_bound": 1, "base_learning_rate": plan.step, "noise_over_step": plan.noise,
        "initial_radius": 0, **more,
    }


def trained(
    plan: PhasedPlan, seed: int, replicates: range, *, models: int, name: str = "phased-sgd",
    more: Mapping[str, Any] | None = None,
) -> Array:
    """The excess risk of the algorithm's batched twin, averaged over models, for each replicate."""
    twin = algorithm(name)
    config = twin.parse(configuration(plan, **(more or {})))
    p, target = np.array([float(p) for p in masses(plan.atoms, plan.null)]), targets(plan.atoms, plan.null)
    errors = []
    for replicate in replicates:
        features, labels = drawn(plan, generator_of(seed, replicate))
        released = twin.train_batched(features, labels, config, tape_of(seed, replicate, models)).numpy()
        errors.append(float((((np.clip(released, -1, 1) - target) ** 2) @ p).mean()))
    return np.array(errors)


def well_specified(spot: Spot) -> bool:
    """On 4096 records: unit features, labels in [-1, 1], their means within 5 standard errors of link(<w*, x>)."""
    plan = PhasedPlan(4096, Fraction(1), Fraction(0), spot["atoms"], 64 if spot["padded"] else 0)
    features, labels = drawn(plan, generator_of(0, 0))
    counts = features.sum(axis=0)
    means = features.T @ labels / np.maximum(counts, 1)
    close = np.abs(means - targets(plan.atoms, plan.null))[counts >= 30] <= 5 / np.sqrt(counts[counts >= 30])
    return bool((features.sum(axis=1) == 1).all() and (np.abs(labels) == 1).all() and close.all())


WELL_SPECIFIED = Premise("|x| <= 1, |y| <= B, E[y|x] = link(<w*, x>) on drawn records", well_specified)
