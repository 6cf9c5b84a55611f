"""DP-TAGLMtron (document 003, Algorithms 3 and 4): GLMtron on prefix sums from a binary tree of noisy nodes.

Every completed node carries noise f Gamma; replacing a record moves the nodes of its leaf by 2 Gamma, zeroing its leaf
by Gamma.
"""

from __future__ import annotations

from oracle.algorithms.glmtron.dp_glmtron_plan import ONE_PASS
from oracle.algorithms.glmtron.dp_threshold_plan import OPTIONAL, THRESHOLDS, covered, covers
from oracle.core import vocabulary
from oracle.core.enclosure import Enclosure
from oracle.core.planning import Guarantee, Recipe, said
from oracle.core.registry import Values, bound


def _tree(config: Values) -> dict[str, object]:
    return {
        "noise_multiplier": config.noise_multiplier, "records": config.dataset_size, "delta": config.delta,
        "neighbours": config.neighbours,
    }


def _training(config: Values) -> Enclosure:
    return bound("taglmtron.epsilon").at(_tree(config))


LATE_NOISE = said("a node's noise is scaled by the largest clipping norm of its leaves", "late_noise")

dp_taglmtron = Recipe(
    algorithm="dp-taglmtron",
    summary="GLMtron on noisy prefix sums by tree aggregation",
    parameters=(
        vocabulary.dataset_size, vocabulary.epochs.at_least(1),
        vocabulary.noise_multiplier,
        THRESHOLDS, vocabulary.delta.open(), vocabulary.neighbours,
        vocabulary.released,
    ),
    optional=(
        vocabulary.late_noise,
        *OPTIONAL,
    ),
    guarantees=(
        Guarantee(
            "taglmtron.epsilon", "all completed nodes: all iterates may be seen", _tree,
            (ONE_PASS, LATE_NOISE, covers(_training)),
        ),
        covered(_training, (ONE_PASS, LATE_NOISE)),
    ),
    source=("glmtron/thm-5.1",),
)
