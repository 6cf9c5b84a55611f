"""One pass of projected noisy SGD over the records in a fixed order (Feldman, Mironov, Talwar and Thakurta 2018).

theta <- Pi(
    theta - eta (grad f_t(theta) + N(0, noise_on_mean^2 I))
), one record a step. Hiding the iterates protects a record
the better the earlier it comes, and the last one not at all: `record_position` says up to where the records are
private. A guarantee for all records has record_position = dataset_size; below, the records after it have to be public.
"""

from __future__ import annotations

from oracle.algorithms.shared.conditions import LAST, PLANNED, REPLACE
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, said, towards

LIPSCHITZ = said("lipschitz-losses", "convex_lipschitz")


def _short(config: Values) -> bool | None:
    if "true" in (config.gradients_bounded, config.convex_lipschitz):
        return True
    return None if config.gradients_bounded is None else False


SHORT = Condition("l2-sensitivity", _short, "no record's gradient is longer than lipschitz, as nothing is clipped")


def _short_step(config: Values) -> bool | None:
    return None if config.smoothness is None else bool(config.learning_rate * config.smoothness <= 2)


def _covers(config: Values) -> bool | None:
    """Whether every private record is at record_position or before."""
    if config.record_position == config.dataset_size:
        return True
    return None if config.later_records_public is None else bool(config.later_records_public == "true")


NONEXPANSIVE = Condition("no-expansion", _short_step, "no step expands: learning_rate <= 2/smoothness")

one_pass_sgd = Algorithm(
    name="one-pass-sgd",
    document="001, Section 1; Feldman, Mironov, Talwar and Thakurta 2018",
    summary="one pass of projected noisy SGD over the records in a fixed order",
    parameters=(
        vocabulary.learning_rate, vocabulary.lipschitz, vocabulary.noise_on_mean.above(0), vocabulary.record_position,
    ),
    setting=PLANNED,
    stated=(
        vocabulary.smoothness, vocabulary.convex_lipschitz, vocabulary.gradients_bounded,
        vocabulary.later_records_public,
    ),
    released="last_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "iteration-sgd.epsilon", "hidden state: the steps after a record hide it",
            lambda config: {
                "lipschitz": config.lipschitz, "noise_on_mean": config.noise_on_mean,
                "dataset_size": config.dataset_size, "record_position": config.record_position,
            },
            (
                REPLACE, LAST, LIPSCHITZ, NONEXPANSIVE, Condition("record-at-position", _covers),
                *by_design("gaussian-noise", "independent-start", "one-pass"),
            ),
        ),
        Guarantee(
            "gaussian-composed.epsilon", "all iterates may be seen: every record is used once, no convexity needed",
            lambda config: {
                "sigma": config.noise_on_mean, "sensitivity": 2 * config.lipschitz, "steps": 1,
            },
            (*towards("l2-sensitivity", REPLACE), SHORT, *by_design("gaussian-noise")),
        ),
    ),
    source=("background/fmit18",),
)
