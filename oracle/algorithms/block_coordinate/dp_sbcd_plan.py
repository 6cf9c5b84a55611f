"""DP-SBCD (document 001): what its hidden-state analysis proves, and what is left for a network of several blocks.

theta_d <- Prox(theta_d - (eta/b) sum of the batch's gradients + N(0, 2 eta o_k I)) for every block d. The analysis of
the last iterate needs everything that a step reads besides the batch and its own block to be independent of the data;
with several blocks, and with auxiliary variables, it is not (`sbcd_privacy`), and composition is what is proved.
"""

from __future__ import annotations

from typing import Any

from oracle.algorithms.hidden_state.noisy_cgd_plan import DISJOINT, REPLACE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Hypothesis, Recipe, equals, said
from oracle.core.registry import Values


def _block(config: Values) -> dict[str, Any] | None:
    if config.lipschitz_gradient is None or config.lipschitz_prox is None:
        return None
    return {
        "sensitivity": config.sensitivity, "batch_size": config.batch_size, "eta": config.learning_rate,
        "noise": config.noise_variances, "batches": config.dataset_size // config.batch_size,
        "lipschitz_gradient": config.lipschitz_gradient, "lipschitz_prox": config.lipschitz_prox,
    }


def _worst(config: Values) -> dict[str, Any] | None:
    block = _block(config)
    return None if block is None else {**block, "delta": config.delta}


def _composed(config: Values) -> dict[str, Any]:
    noise = tuple(entry for entry in config.noise_variances for _ in range(config.weight_blocks))
    return {
        "eta": config.learning_rate, "batch_size": config.batch_size, "sensitivity": (config.sensitivity,) * len(noise),
        "noise": noise, "delta": config.delta,
    }


_ENFORCED = said("the sensitivity is enforced, by clipping say (not so in the document)", "sensitivity_enforced")
_ALONE = (
    REPLACE, DISJOINT, equals("only the last iterate is released", "released", "last_iterate"), _ENFORCED,
    Hypothesis("there is one block: others would depend on the data", lambda config: config.weight_blocks == 1),
    said("all else that a step reads besides the batch is independent of the data", "other_inputs_independent"),
)

dp_sbcd = Recipe(
    algorithm="dp-sbcd",
    summary="differentially private stochastic block coordinate descent",
    parameters=(
        vocabulary.dataset_size, vocabulary.batch_size,
        vocabulary.noise_variances,
        vocabulary.weight_blocks,
        vocabulary.sensitivity,
        vocabulary.learning_rate, vocabulary.delta.open(), vocabulary.neighbours,
        vocabulary.released,
        vocabulary.partition,
    ),
    optional=(
        vocabulary.lipschitz_gradient,
        vocabulary.lipschitz_prox,
        vocabulary.sensitivity_enforced,
        vocabulary.other_inputs_independent,
        vocabulary.separate_records,
    ),
    guarantees=(
        Guarantee("sbcd.epsilon", "hidden state: the last iterate of one block", _worst, _ALONE),
        Guarantee(
            "sbcd-mixed.rdp", "hidden state, and nobody knows which batch a record was in", _block,
            (*_ALONE, equals("the partition into batches is uniform, drawn once and hidden", "partition", "hidden")),
        ),
        Guarantee(
            "sbcd-composition.epsilon", "composition: all iterates of all blocks may be seen", _composed,
            (
                REPLACE, DISJOINT, _ENFORCED,
                said("given what was released, gradients are sums of terms of single records", "separate_records"),
            ),
        ),
    ),
    source=("sbcd/cor-4.5-case1-repaired", "sbcd/thm-4.6-repaired"),
)
