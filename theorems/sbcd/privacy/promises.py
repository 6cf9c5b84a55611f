r"""A false privacy claim of document 001: Theorem 4.6, refuted by a run of Algorithm 2 itself.

The theorem bounds every block's Renyi divergence as if, in a step whose batch has not the record, the block moved by
one and the same map for both data sets. It does not: x_d of a record is solved for with the present blocks, and those
depend on the data. One hidden unit, eta = b = 1, no regulariser, gradients clipped to C; theta_0 starts at 1, theta_1
at 0:

- The first record is (1, C) or (1, -C). Its update of block 0 is zero, that of block 1 is +-C + s Z, s^2 = 2 o.
- All others are (0, y). They have U_0 = 0 and x_1 = theta_1 y / (1 + theta_1^2), hence leave block 0 alone and move
  block 1 by min(C, y^2 theta_1 / (1 + theta_1^2)^2) for theta_1 > 0, the opposite for theta_1 < 0: away from 0. They
  repeat what the first record has said, each as loudly as a record may speak.

The hypotheses hold for certain, not by assumption. S_g = 2C: clipping. L_F = 1: a clipped monotone gradient with
eta |x_d|^2 <= 2 on both blocks (|x_1| <= y/2 for the others, and 1 for the first; y = 2.8). L_T = 1: no regulariser.
The start is fixed. The log-Sobolev constants are those that Lemma 4.7 derives from L_F and L_T; those of the run are
others (theta_1 has two modes), since the lemma, too, takes the map for one that is fixed.

The record is in the first of N batches, j_0 = 0, and there is one epoch: with the theorem's indices set right
(`sbcd.rdp`, batch_position 1; as printed they divide by zero at j_0 = 0) R_alpha / alpha <= A/N for each of the two
blocks, A = S_g^2 / (4 o) = C^2 / o, so that the bound for the algorithm, their sum, vanishes as N grows. The truth does
not. As long as theta_1 stays in [a, c], where the others push by C, it is the walk of mean C t and variance s^2 t
after t steps; so, Phi being the normal law and 0 < a < C,

    P(theta_1 <= 0 at the end | label C) <= q = sum_{t<=N} Phi(-(C t - a) / (s sqrt t)) + Phi(-(c - C t) / (s sqrt t)),

and the two data sets mirror each other: the test theta_1 > 0 has power at least 1 - q and errs at most with q, so that

    epsilon >= log((1 - q - delta) / q).

For C = 3 s and y = 2.8, a = 0.39 s gives q = 0.0046, whatever N; the theorem promises 3.92 for N = 100.

What this does not refute is the average over a uniform secret j_0 in front of (11): the late positions dominate there.
The theorem's own reading of (11) is the loss for a record in batch j_0 of every epoch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from empirical.audits.audit_plan import AuditPlan
from empirical.audits.literal import Array, Literal
from oracle.algorithms.block_coordinate.dp_sbcd import dp_sbcd
from oracle.algorithms.block_coordinate.sbcd import shapes
from oracle.core.algorithm import Values
from oracle.core.domain import Parameter
from oracle.core.registry import algorithm
from oracle.core.tape import Tape
from theorems.promise import CONFIDENCE, FalseClaim
from theorems.sbcd.privacy.algorithm_2 import RECORDS, at_least


@dataclass(frozen=True)
class FixedStart(Tape):
    """The draws of a run whose blocks start at given values, those of theta_d times the root of its inputs."""

    starts: tuple[float, ...] = ()

    def normal(self, purpose: str, step: int, dimension: int) -> Array:
        """Standard normals, but for the initial blocks."""
        if purpose == "initial":
            return np.full((self.models, dimension), self.starts[step])
        return super().normal(purpose, step, dimension)


def from_fixed_start(features: Array, labels: Array, config: Values, tape: Tape) -> Array:
    """The last iterates of DP-SBCD, its batched twin on the same tape but for the start: shape [M, parameters]."""
    sizes = [into for _, into in shapes(features.shape[1], config)]
    values = [*[float(config.hidden_start)] * config.layers, float(config.output_start)]
    starts = tuple(value * math.sqrt(into) for value, into in zip(values, sizes, strict=True))
    fixed = FixedStart(tape.seed, tape.models, tape.first_model, starts)
    released: Array = np.asarray(algorithm("dp-sbcd").train_batched(features, labels, config, fixed))
    return released


fixed_start = Literal(
    name="dp-sbcd-fixed-start",
    document="001, Algorithm 2",
    summary="DP-SBCD with clipped gradients whose blocks start at given values, the same in every run",
    parameters=(
        *dp_sbcd.parameters, *dp_sbcd.training,
        Parameter("hidden_start", meaning="every entry of theta_0, ..., theta_{D-1}"),
        Parameter("output_start", meaning="every entry of theta_D"),
    ),
    releases=from_fixed_start,
)


theorem_4_6 = FalseClaim(
    id="001-theorem-4.6",
    claim="sbcd/fixed-blocks",
    document="001, Theorem 4.6",
    promise=(
        "DP-SBCD with one hidden unit, gradients clipped (S_g = 2C) and L_F = L_T = 1, one epoch, the record in the "
        "first of 100 batches: R_alpha <= 0.36 alpha, the sum of both blocks, hence (3.92, 1e-5)-DP"
    ),
    fault="the map of a step without the record differs: x_d is solved for with blocks that depend on the record",
    plan=AuditPlan(
        target={
            "kind": "literal", "name": "theorems.sbcd.privacy.promises:fixed_start",
            "config": {
                "layers": 1, "hidden_units": 1, "outputs": 1, "learning_rate": 1, "regulariser": "none",
                "spectral_norm": "inf", "batch_size": 1, "noise_variances": ["0.00005"], "clip_norm": "0.03",
                "hidden_start": 1, "output_start": 0,
            },
        },
        pair={
            "kind": "built", "name": "amplified-record", "records": RECORDS, "label": "0.03", "amplifier": "2.8",
        },
        claimed="3.92", budget=100_000, confidence=CONFIDENCE,
    ),
    at_least=at_least,
)
