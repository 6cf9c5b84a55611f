"""Projected noisy SGD on batches drawn without replacement, on a bounded set (after Altschuler and Talwar 2022).

theta <- Pi(
    theta - eta (mean gradient of the batch + N(0, noise_on_mean^2 I))
): hidden state on a set of finite diameter, or
composition over all iterates.
"""

from __future__ import annotations

from fractions import Fraction

from oracle.algorithms.hidden_state.one_pass_sgd import LIPSCHITZ, NONEXPANSIVE, SHORT
from oracle.algorithms.shared.conditions import LAST, PLANNED, REPLACE, WITHOUT_REPLACEMENT
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, by_design, given, towards

_PROJECTED = given("bounded-set", "diameter")

projected_noisy_sgd = Algorithm(
    name="projected-noisy-sgd",
    document="001, Section 1; Altschuler and Talwar 2022",
    summary="projected noisy SGD on random batches, on a bounded set",
    parameters=(
        vocabulary.learning_rate, vocabulary.lipschitz, vocabulary.noise_on_mean.above(0), vocabulary.batch_size,
        vocabulary.steps, vocabulary.sampling.choosing("without_replacement", "poisson", "cyclic"),
    ),
    setting=PLANNED,
    stated=(vocabulary.diameter, vocabulary.smoothness, vocabulary.convex_lipschitz, vocabulary.gradients_bounded),
    released="last_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "projected-noisy-sgd.rdp", "hidden state on a bounded set, at the best of the Renyi orders tried",
            lambda config: None if config.diameter is None else {
                "lipschitz": config.lipschitz, "dataset_size": config.dataset_size, "batch_size": config.batch_size,
                "noise_on_mean": config.noise_on_mean, "learning_rate": config.learning_rate,
                "diameter": config.diameter, "steps": config.steps,
            },
            (
                REPLACE, WITHOUT_REPLACEMENT, LAST, _PROJECTED, LIPSCHITZ, NONEXPANSIVE,
                *by_design("gaussian-noise", "independent-start", "secret-batches"),
            ),
        ),
        Guarantee(
            "wor-gaussian.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {
                "sigma": config.batch_size * config.noise_on_mean / config.lipschitz,
                "sampling_rate": Fraction(config.batch_size, config.dataset_size), "steps": config.steps,
            },
            (
                REPLACE, WITHOUT_REPLACEMENT, *towards("short-terms", SHORT),
                *by_design("gaussian-noise", "secret-batches"),
            ),
        ),
    ),
    source=("background/at22", "background/amplification-wor"),
)
