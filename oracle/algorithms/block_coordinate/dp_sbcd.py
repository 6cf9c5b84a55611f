r"""DP-SBCD: differentially private stochastic block coordinate descent, the literal reference (document 001, Alg. 2).

Algorithm 1 (`sbcd`, where the updates of the blocks and what had to be corrected stand) with noise in that of theta_d:

    theta_d <- Prox_{eta,r}(theta_d - (eta / b) sum_{i in B} clip(grad F_i, C) + N(0, 2 eta o_k I))                  (8)

`noise` has one entry o_k for each epoch k. The document does not clip, and so has no finite sensitivity: C = inf trains
its algorithm and has no guarantee. Its Assumption 4.4 is about the mean gradient and is used as one about the sum (the
divisor b^2 of Corollary 4.5): it is the sum here, and clipping in Frobenius norm makes it true, with S = 2C.

What is proved is composition, not the document's hidden-state bound, whose other blocks would have to be independent
of the data. The hypothesis of `sbcd-composition` is met: given every iterate of every block, clip(grad F_i) is a
function of record i and of these alone. x_d and U_d of record i start from the record and the initial weights, which
the data do not touch, and each update of them reads the record, its own x and U, and blocks that were released (or
normalised after that, a function of what was released). No other record enters, and there are no batch statistics. So a
record that is replaced, its x and U with it, moves one term of one sum in each update of its batch, by at most 2C:
one entry a block and epoch. Batches are fixed and disjoint, so the other updates do not read the record.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from oracle.algorithms.block_coordinate.sbcd import NETWORK, descend
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.errors import DomainError
from oracle.core.registry import Algorithm, Values
from oracle.core.tape import Tape


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """All blocks of the last iterate as one vector: Algorithm 2."""
    noise = [float(entry) for entry in config.noise_variances]
    return descend(
        features, labels, config, tape, noise=noise, clip_norm=float(config.clip_norm), recorder=recorder
    )


def account(config: Values, records: int) -> dict[str, Any]:
    """The parameters of sbcd-composition.epsilon for this configuration (replace-one: sensitivity 2C)."""
    glm.batches(config.batch_size, records)
    if config.clip_norm == math.inf:
        raise DomainError(
            "clip_norm = inf is outside its domain: without clipping the gradients have no finite sensitivity, "
            "so there is no guarantee"
        )
    noise = tuple(entry for entry in config.noise_variances for _ in range(config.layers + 1))
    return {
        "eta": config.learning_rate, "batch_size": config.batch_size, "sensitivity": (2 * config.clip_norm,) * len(noise),
        "noise": noise,
    }


dp_sbcd = Algorithm(
    name="dp-sbcd",
    document="001, Algorithm 2",
    summary="stochastic block coordinate descent of a ReLU network with noisy proximal steps of clipped gradients",
    parameters=(
        *NETWORK,
        vocabulary.noise_variances,
        replace(vocabulary.clip_norm.finite(), infinite=True),
    ),
    released="last_iterate",
    neighbours="replace",
    accounted_by="sbcd-composition.epsilon",
    account=account,
    reference=train,
    batched="oracle.algorithms.block_coordinate.torch_dp_sbcd:train",
    gaussian_release=lambda config: False,
    source=("sbcd/fixed-blocks-repaired", "sbcd/eq-5-mid", "sbcd/eq-6"),
)
