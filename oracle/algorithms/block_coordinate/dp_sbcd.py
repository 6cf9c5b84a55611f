r"""DP-SBCD: private stochastic block coordinate descent, the literal reference (document 001, Algorithm 2).

Algorithm 1 (`sbcd`, where the updates of the blocks and what had to be corrected stand) with noise in that of theta_d:

    theta_d <- Prox_{eta,r}(theta_d - (eta / b) sum_{i in B} clip(grad F_i, C) + N(0, 2 eta o_k I))                  (8)

`noise_variances` has one entry o_k for each epoch k. The document does not clip, and so has no finite sensitivity: C =
inf trains its algorithm and has no guarantee. Its Assumption 4.4 is about the mean gradient and is used as one about
the sum (the divisor b^2 of Corollary 4.5): it is the sum here, and clipping in Frobenius norm makes it true, with S =
2C.

What is proved of it is composition, not the document's hidden-state bound: that needs everything that a step reads
besides the batch and its own block to be independent of the data, and with several blocks and with auxiliary variables
it is not (`sbcd_privacy`). A plan of one block that states it has the hidden-state bound. The hypothesis of
`sbcd-composition` is met: given every iterate of every block, clip(grad F_i) is a function of record i and of these
alone. x_d and U_d of record i start from the record and the initial weights, which the data do not touch, and each
update of them reads the record, its own x and U, and blocks that were released (or normalised after that, a function of
what was released). No other record enters, and there are no batch statistics. So a record that is replaced, its x and U
with it, moves one term of one sum in each update of its batch, by at most 2C: one entry a block and epoch. Batches are
fixed and disjoint, so the other updates do not read the record.
"""

from __future__ import annotations

import math
from typing import Any

from oracle.algorithms.block_coordinate.sbcd import DESCENT, NETWORK, check, descend
from oracle.algorithms.shared.conditions import DISJOINT_BATCHES, LAST, PLANNED, REPLACE
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, equals, given, said, towards
from oracle.core.tape import Tape


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """All blocks of the last iterate as one vector: Algorithm 2."""
    noise = [float(entry) for entry in config.noise_variances]
    return descend(
        features, labels, config, tape, noise=noise, clip_norm=float(config.clip_norm), recorder=recorder
    )


# --- what is proved


def _block(config: Values) -> dict[str, Any] | None:
    """The parameters of sbcd.epsilon and sbcd-mixed.rdp: the record moves the sum of its batch by 2C at most."""
    if config.lipschitz_gradient is None or config.lipschitz_prox is None:
        return None
    return {
        "sensitivity": 2 * config.clip_norm, "batch_size": config.batch_size, "learning_rate": config.learning_rate,
        "noise_variances": config.noise_variances, "batches": config.dataset_size // config.batch_size,
        "lipschitz_gradient": config.lipschitz_gradient, "lipschitz_prox": config.lipschitz_prox,
    }


def _composed(config: Values) -> dict[str, Any]:
    """The parameters of sbcd-composition.epsilon: an entry a block and epoch, of sensitivity 2C."""
    noise = tuple(entry for entry in config.noise_variances for _ in range(config.layers + 1))
    return {
        "learning_rate": config.learning_rate, "batch_size": config.batch_size,
        "sensitivities": (2 * config.clip_norm,) * len(noise), "noise_variances": noise,
    }


_RUN = (DISJOINT_BATCHES, *by_design("gaussian-noise", "independent-start"))
_CLIPPED = (
    *towards("block-sensitivity", REPLACE),
    Condition(
        "block-sensitivity", lambda config: config.clip_norm != math.inf,
        "gradients have a finite sensitivity: clip_norm is finite",
    ),
    said(
        "block-sensitivity", "clipped",
        "each record's gradient of a block is clipped by itself (not so in the document)",
    ),
)
_ALONE = (
    *_RUN, *_CLIPPED, LAST, given("block-lipschitz", "lipschitz_gradient", "lipschitz_prox"),
    Condition(
        "independent-inputs", lambda config: config.layers == 0,
        "there is one block, layers is 0: others would depend on the data",
    ),
    said("independent-inputs", "other_inputs_independent"),
)

def _reach(config: Values, count: int) -> float:
    """How far the steps may carry a block (`records`), which every one of them begins with the spectral norm cut.

    The regulariser only shortens, and without epochs nothing moves.
    """
    if config.clip_norm == math.inf or not config.noise_variances:
        return -math.inf
    cut = config.spectral_norm != math.inf
    steps = 1 if cut else len(config.noise_variances) * (count // config.batch_size)
    start = max(config.spectral_norm, records.LARGEST_DRAW) if cut else records.LARGEST_DRAW
    spread = records.log2(2 * config.learning_rate * max(config.noise_variances)) / 2
    parts = (
        records.log2(start), records.log2(steps * config.learning_rate * config.clip_norm),
        records.log2(steps * records.LARGEST_DRAW) + spread,
    )
    return max(parts) + math.log2(len(parts))


dp_sbcd = Algorithm(
    name="dp-sbcd",
    document="001, Algorithm 2",
    summary="stochastic block coordinate descent of a ReLU network with noisy proximal steps of clipped gradients",
    parameters=(*DESCENT, vocabulary.noise_variances, vocabulary.clip_norm),
    training=NETWORK,
    setting=(*PLANNED, vocabulary.partition),
    stated=(
        vocabulary.clipped, vocabulary.separate_records, vocabulary.other_inputs_independent,
        vocabulary.lipschitz_gradient, vocabulary.lipschitz_prox,
    ),
    trained=lambda config: {"partition": "known", "clipped": "true", "separate_records": "true"},
    released="last_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee("sbcd.epsilon", "hidden state: the last iterate of one block", _block, _ALONE),
        Guarantee(
            "sbcd-mixed.rdp", "hidden state, and nobody knows which batch a record was in", _block,
            (*_ALONE, equals("hidden-partition", "partition", "hidden")),
        ),
        Guarantee(
            "sbcd-composition.epsilon", "composition: all iterates of all blocks may be seen", _composed,
            (*_RUN, *towards("update-sensitivity", *_CLIPPED), said("separate-terms", "separate_records")),
        ),
    ),
    check=check,
    reach=_reach,
    reference=train,
    batched="oracle.algorithms.block_coordinate.torch_dp_sbcd:twin",
    source=(
        "sbcd/fixed-blocks-repaired", "sbcd/eq-5-mid", "sbcd/eq-6", "sbcd/cor-4.5-case1-repaired",
        "sbcd/thm-4.6-repaired",
    ),
)
