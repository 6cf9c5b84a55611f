r"""Private gradient descent in many dimensions: the root of p of 000 Theorem D.3, and what Theorem 4.1 makes of it.

Dimension. Linear losses on the unit ball of R^p, records +-e_1 with an excess of 4 sqrt(p) records of one sign, T steps
of mu-GDP together, sigma = 2 sqrt(T)/(n mu), and the best step eta = 1/(sigma sqrt(p T)). All of p's runs look alike up
to scale, so that the excess risk grows like sqrt(p)/(n mu): the theorem's rate, attained. The explicit bound is
1/(2 eta T) + eta (1 + p sigma^2)/2.

Theorem 4.1. On normal data with n = 2d and P >= 2 kappa log(n/gamma) random gates the losses of (3.6), without its
regulariser, are quadratic, and a gradient at theta = 0 is as long as the gated record, |phi_i|^2 = |x_i|^2 times the
number of its gates: it grows with P d, and is no constant. Noise for gradients of length C, C^2 the mean of |phi_i|^2,
which is less than privacy needs already at the start, and steps as short as one likes, tau = eta T, leave in the
direction u_j of K = Phi Phi^T with eigenvalue k_j

    (1/(2n)) sum_j [exp(-2 tau k_j/n) <u_j, y>^2 + (2 C^2 tau/(n mu^2)) (1 - exp(-2 tau k_j/n))].

The least of this over tau is what is measured: more favourable to the theorem than any private run. Both C^2 and k_j
are of the order of P d, so that it does not fall as n grows, and Theorem 4.1 says n^(-1/2).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from empirical.studies.relu_approx.random_gates import FAILURE, RATIO, condition, drawn
from empirical.studies.study import EQUAL, Array, Premise, Simulation, Spot, Study
from oracle.core.enclosure import ball
from oracle.core.registry import algorithm
from oracle.core.tape import Tape

RECORDS, STEPS, MU = 1024, 64, 1
_MODELS = 4


def _excess(p: int) -> int:
    """How many more records are e_1 than -e_1; p is a power of 4."""
    return 4 * math.isqrt(p)


def _linear_setting(p: int) -> tuple[Fraction, Fraction]:
    """The noise of T steps of mu-GDP, T a square, and the best step size for it."""
    noise = Fraction(2 * math.isqrt(STEPS), RECORDS * MU)
    return noise, 1 / (noise * math.isqrt(p) * math.isqrt(STEPS))


def _sample_linear(spot: Spot, seed: int, replicates: range) -> Array:
    p = spot["p"]
    noise, rate = _linear_setting(p)
    features = np.zeros((RECORDS, p))
    features[:, 0] = np.where(np.arange(RECORDS) < (RECORDS + _excess(p)) // 2, 1.0, -1.0)
    item = algorithm("dp-gd-projected")
    config = item.parse({
        "lipschitz": 1, "noise_on_mean": noise, "steps": STEPS, "dataset_size": RECORDS, "neighbours": "replace",
        "loss": "linear", "learning_rate": rate, "radius": 1,
    })
    errors = []
    for replicate in replicates:
        models = item.train_batched(features, np.zeros(RECORDS), config, Tape(seed * 1000 + replicate, models=_MODELS))
        reached = np.asarray(models, dtype=np.float64)[:, 0].mean()  # the gradient of a linear loss is -features
        errors.append(_excess(p) / RECORDS * float(1.0 - reached))
    return np.array(errors)


def _lipschitz(spot: Spot) -> arb:
    noise, rate = _linear_setting(spot["p"])
    return ball(1 / (2 * rate * STEPS) + rate * (1 + spot["p"] * noise**2) / 2)


_DIMENSIONS = tuple(4**k for k in range(1, 6))

dimension = Study(
    name="private-descent-dimension",
    source=("relu-approx/thm-D.3", "relu-approx/thm-D.3-repaired"),
    statement="DP-GD on linear losses over a ball of R^p: excess empirical risk of exponent 1/2 in p, attained",
    estimand="excess empirical risk",
    generator="1024 records +-e_1, 4 sqrt(p) more of one sign, linear loss on the unit ball, 64 steps, mu = 1",
    axis="p",
    grid=_DIMENSIONS,
    predicted=Fraction(1, 2),
    margin=Fraction(1, 20),
    kind=EQUAL,
    premises=(
        Premise("p is a power of 4, and there are more records than the excess",
                lambda spot: math.isqrt(spot["p"]) ** 2 == spot["p"] and _excess(spot["p"]) < RECORDS),
    ),
    bound=_lipschitz,
    simulation=Simulation(_sample_linear, at=_DIMENSIONS, replicates=48, seed=4003),
)

LARGE_MU = 8  # at mu = 1 next to nothing is learnt
_TIMES = np.exp(np.linspace(math.log(1e-3), math.log(1e2), 400))  # tau times the mean eigenvalue over n


def least_loss(features: Array, gates: Array, labels: Array, mu: float) -> float:
    """The least expected loss over all times, relative to the loss 1/2 of theta = 0."""
    records = len(features)
    active = (features @ gates >= 0.0).astype(np.float64)
    gram = (features @ features.T) * (active @ active.T)
    length = float(np.diag(gram).mean())
    eigenvalues, directions = np.linalg.eigh(gram)
    weights = (directions.T @ labels) ** 2
    times = _TIMES * records / eigenvalues.mean()
    left = np.exp(-2.0 * np.outer(times, np.maximum(eigenvalues, 0.0)) / records)
    noise = 2.0 * length * times[:, None] / (records * mu**2) * (1.0 - left)
    return float(((left * weights + noise).sum(axis=1) / records).min())


def _sample_losses(spot: Spot, seed: int, replicates: range) -> Array:
    losses = []
    for replicate in replicates:
        draw, features = drawn(spot, seed, replicate)
        count = math.ceil(2.0 * condition(features) * math.log(len(features) / float(FAILURE)))
        gates = draw.standard_normal((spot["d"], count))
        labels = draw.choice((-1.0, 1.0), size=len(features))
        losses.append(least_loss(features, gates, labels, LARGE_MU))
    return np.array(losses)


_SIZES = (32, 64, 128, 256, 512)

private_loss = Study(
    name="convex-relu-private-loss",
    source=("relu-approx/thm-4.1",),
    statement="private descent on (3.6) with random data has the empirical loss O(n^(-1/2)) up to logarithms",
    estimand="least expected empirical loss over all step sizes, relative to that of doing nothing",
    generator="X_ij normal, n = 2 d, labels +-1, P = 2 kappa log(n/delta) gates, delta = 1/10, mu = 8",
    axis="d",
    grid=_SIZES,
    predicted=Fraction(-1, 2),
    margin=Fraction(1, 10),
    premises=(Premise("c = n/d >= 1", lambda spot: RATIO >= 1),),
    trivial=lambda spot: arb(1),
    simulation=Simulation(_sample_losses, at=_SIZES, replicates=32, seed=4004),
)
