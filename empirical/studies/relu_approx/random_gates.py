r"""The random data model of 000: the condition number kappa, and whether the gates span (Lemmas D.1, D.2).

For x_1, ..., x_n the rows of X, M = E_g[D_g X X^T D_g] has entries <x_i, x_j> (pi - angle(x_i, x_j))/(2 pi), so that
kappa = lambda_max(X X^T)/lambda_min(M) is known for every data set; only the data are drawn. Lemma D.2 bounds kappa by
10 sqrt(2) (sqrt(c) + 1)^2 for n = c d and large d. Lemma D.1 says that P >= 2 kappa log(n/delta) random gates span R^n
with probability at least 1 - delta: the share of data sets on which they do not is counted.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from empirical.studies.study import SHARE, Array, Premise, Simulation, Spot, Study

RATIO, FAILURE = 2, Fraction(1, 10)


def condition(features: Array) -> float:
    """kappa of a data set."""
    gram = features @ features.T
    lengths = np.sqrt(np.diag(gram))
    cosines = np.clip(gram / np.outer(lengths, lengths), -1.0, 1.0)
    both = gram * (np.pi - np.arccos(cosines)) / (2.0 * np.pi)
    return float(np.linalg.eigvalsh(gram)[-1] / np.linalg.eigvalsh(both)[0])


def drawn(spot: Spot, seed: int, replicate: int) -> tuple[np.random.Generator, Array]:
    """A generator of the replicate's own, and its normal data."""
    draw = np.random.Generator(np.random.Philox([seed, replicate]))
    return draw, draw.standard_normal((RATIO * spot["d"], spot["d"]))


def _conditions(spot: Spot, seed: int, replicates: range) -> Array:
    return np.array([condition(drawn(spot, seed, replicate)[1]) for replicate in replicates])


conditioned = Study(
    name="relu-condition-number",
    source=("relu-approx/lem-D.2",),
    statement="kappa <= 10 sqrt(2) (sqrt(c) + 1)^2 for n = c d and large d, so that it stays bounded",
    estimand="mean of kappa",
    generator="X_ij normal, n = 2 d; M in closed form",
    axis="d",
    grid=(16, 32, 64, 128, 256),
    predicted=Fraction(0),
    margin=Fraction(1, 10),
    premises=(Premise("c = n/d >= 1", lambda spot: RATIO >= 1),),
    needs="the cosines of n = 2d rows are of order d^(-1/2), so that kappa nears its limit that slowly",
    bound=lambda spot: 10 * arb(2).sqrt() * (arb(RATIO).sqrt() + 1) ** 2,
    simulation=Simulation(_conditions, at=(16, 32, 64, 128, 256), replicates=64, seed=4001),
)


def _failures(spot: Spot, seed: int, replicates: range) -> Array:
    """1 where the gates do not span, 0 where they do."""
    missing = []
    for replicate in replicates:
        draw, features = drawn(spot, seed, replicate)
        records = len(features)
        gates = math.ceil(2.0 * condition(features) * math.log(records / float(FAILURE)))
        active = features @ draw.standard_normal((spot["d"], gates)) >= 0.0
        # The blocks D_i X span R^n together if sum_i D_i X X^T D_i, whose entries count common gates, is definite.
        common = active.astype(np.float64) @ active.T.astype(np.float64)
        missing.append(float(np.linalg.matrix_rank(features @ features.T * common, hermitian=True) < records))
    return np.array(missing)


spanning = Study(
    name="relu-gates-span",
    source=("relu-approx/lem-D.1",),
    statement="P >= 2 kappa log(n/delta) random gates span R^n with probability at least 1 - delta",
    estimand="share of data sets on which they do not",
    generator="X_ij normal, n = 2 d, delta = 1/10; the rank of the sum of the gated Gram matrices",
    axis="d",
    grid=(4, 8, 16, 32),
    premises=(
        Premise("M is invertible: kappa is finite", lambda spot: math.isfinite(condition(drawn(spot, 4002, 0)[1]))),
    ),
    bound=lambda spot: arb(FAILURE.numerator) / FAILURE.denominator,
    simulation=Simulation(_failures, at=(4, 8, 16, 32), replicates=128, seed=4002, law=SHARE),
)
