"""One pass of projected noisy SGD over the records in a fixed order (Feldman, Mironov, Talwar and Thakurta 2018).

theta <- Pi(theta - eta (grad f_t(theta) + N(0, sigma^2 I))), one record a step. Hiding the iterates protects a record
the better the earlier it comes, and the last one not at all: `position` says up to where the records are private. A
guarantee for all records has position = dataset_size; below, the records after it have to be public.
"""

from __future__ import annotations

from oracle.algorithms.hidden_state.langevin_gd import LAST
from oracle.algorithms.hidden_state.noisy_cgd_plan import REPLACE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Hypothesis, Recipe, said
from oracle.core.registry import Values

LIPSCHITZ = vocabulary.lipschitz
CONVEX = said("every record's loss is convex, and L-Lipschitz without being clipped", "convex_lipschitz")
FLAG = vocabulary.convex_lipschitz


def _short_step(config: Values) -> bool | None:
    return None if config.smoothness is None else bool(config.learning_rate * config.smoothness <= 2)


def _covers(config: Values) -> bool | None:
    """Whether every private record is at `position` or before."""
    if config.record_position == config.dataset_size:
        return True
    return None if config.later_records_public is None else bool(config.later_records_public == "true")


NONEXPANSIVE = Hypothesis("no step expands: step_size <= 2/smoothness", _short_step)
SMOOTHNESS = vocabulary.smoothness

one_pass_sgd = Recipe(
    algorithm="one-pass-sgd",
    summary="one pass of projected noisy SGD over the records in a fixed order",
    parameters=(
        vocabulary.dataset_size,
        vocabulary.record_position,
        LIPSCHITZ, vocabulary.noise_on_mean.above(0), vocabulary.learning_rate,
        vocabulary.delta.open(), vocabulary.neighbours,
        vocabulary.released,
    ),
    optional=(SMOOTHNESS, FLAG, vocabulary.later_records_public),
    guarantees=(
        Guarantee(
            "iteration-sgd.epsilon", "hidden state: the steps after a record hide it",
            lambda config: {
                "lipschitz": config.lipschitz, "sigma": config.noise_on_mean, "dataset_size": config.dataset_size,
                "position": config.record_position, "delta": config.delta,
            },
            (
                REPLACE, LAST, CONVEX, NONEXPANSIVE,
                Hypothesis("every private record is at `position` or before", _covers),
            ),
        ),
        Guarantee(
            "gaussian-composed.epsilon", "all iterates may be seen: every record is used once, no convexity needed",
            lambda config: {
                "sigma": config.noise_on_mean, "sensitivity": 2 * config.lipschitz, "steps": 1, "delta": config.delta,
            },
            (REPLACE,),
        ),
    ),
    source=("background/fmit18",),
)
