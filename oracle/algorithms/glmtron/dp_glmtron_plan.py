"""DP-GLMtron (document 003, Algorithm 1): one pass in a random order, a Gaussian step for each record.

w <- w - eta (clip_gamma(x (ReLU(x.w) - y)) + 2 f gamma N(0, I)): replacing the record of a step moves it by 2 gamma
against noise 2 f gamma, and no other step sees that record.
"""

from __future__ import annotations

from oracle.algorithms.glmtron.dp_threshold_plan import OPTIONAL, REPLACE, THRESHOLDS, covered, covers
from oracle.core import vocabulary
from oracle.core.enclosure import Enclosure
from oracle.core.planning import Guarantee, Hypothesis, Recipe, said
from oracle.core.registry import Values, bound


def _shuffled(config: Values) -> dict[str, object]:
    return {
        "noise_multiplier": config.noise_over_sensitivity, "records": config.dataset_size, "delta": config.delta,
        "method": "upper",
    }


def _alone(config: Values) -> dict[str, object]:
    return {"sigma": config.noise_over_sensitivity, "sensitivity": 1, "delta": config.delta}


def _training(config: Values) -> Enclosure:
    """The best of the training's own guarantees."""
    if config.shuffled == "true":
        return bound("glmtron.epsilon").at(_shuffled(config))
    return bound("gaussian.epsilon").at(_alone(config))


ONE_PASS = Hypothesis("every record is used once", lambda config: bool(config.epochs == 1))

dp_glmtron = Recipe(
    algorithm="dp-glmtron",
    summary="one noisy GLMtron pass over shuffled records",
    parameters=(
        vocabulary.dataset_size, vocabulary.epochs.at_least(1),
        vocabulary.noise_over_sensitivity.above(0),
        THRESHOLDS, vocabulary.delta.open(), vocabulary.neighbours,
        vocabulary.released,
    ),
    optional=(vocabulary.shuffled, *OPTIONAL),
    guarantees=(
        Guarantee(
            "glmtron.epsilon", "shuffled, a Gaussian step a record: all iterates may be seen", _shuffled,
            (REPLACE, ONE_PASS, said("the order is uniformly random and secret", "shuffled"), covers(_training)),
        ),
        Guarantee(
            "gaussian.epsilon", "a Gaussian step a record: all iterates and the order may be seen", _alone,
            (REPLACE, ONE_PASS, covers(lambda config: bound("gaussian.epsilon").at(_alone(config)))),
        ),
        covered(_training, (REPLACE, ONE_PASS)),
    ),
    source=("glmtron/thm-4.1",),
)
