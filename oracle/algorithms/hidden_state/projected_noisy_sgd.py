"""Projected noisy SGD on batches drawn without replacement, on a bounded set (after Altschuler and Talwar 2022).

theta <- Pi(theta - eta (mean gradient of the batch + N(0, sigma^2 I))): hidden state on a set of finite diameter, or
composition over all iterates.
"""

from __future__ import annotations

from fractions import Fraction

from oracle.algorithms.hidden_state.langevin_gd import LAST
from oracle.algorithms.hidden_state.noisy_cgd_plan import REPLACE
from oracle.algorithms.hidden_state.one_pass_sgd import CONVEX, FLAG, LIPSCHITZ, NONEXPANSIVE, SMOOTHNESS
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Hypothesis, Recipe, equals

_FRESH = equals("every batch is drawn afresh, without replacement", "sampling", "without_replacement")
_PROJECTED = Hypothesis(
    "the iterates are projected on a convex set of known diameter",
    lambda config: None if config.diameter is None else True,
)

projected_noisy_sgd = Recipe(
    algorithm="projected-noisy-sgd",
    summary="projected noisy SGD on random batches, on a bounded set",
    parameters=(
        vocabulary.dataset_size, vocabulary.batch_size, vocabulary.steps, LIPSCHITZ,
        vocabulary.noise_on_mean.above(0), vocabulary.learning_rate,
        vocabulary.sampling.choosing("without_replacement", "poisson", "cyclic"), vocabulary.delta.open(),
        vocabulary.neighbours,
        vocabulary.released,
    ),
    optional=(vocabulary.diameter, SMOOTHNESS, FLAG),
    guarantees=(
        Guarantee(
            "projected-noisy-sgd.rdp", "hidden state on a bounded set, at the best of the Renyi orders tried",
            lambda config: None if config.diameter is None else {
                "lipschitz": config.lipschitz, "dataset_size": config.dataset_size, "batch_size": config.batch_size,
                "sigma": config.noise_on_mean, "step_size": config.learning_rate, "diameter": config.diameter,
                "steps": config.steps,
            },
            (REPLACE, _FRESH, LAST, _PROJECTED, CONVEX, NONEXPANSIVE),
        ),
        Guarantee(
            "wor-gaussian.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {
                "sigma": config.batch_size * config.noise_on_mean / config.lipschitz,
                "sampling_rate": Fraction(config.batch_size, config.dataset_size), "steps": config.steps,
                "delta": config.delta,
            },
            (REPLACE, _FRESH),
        ),
    ),
    source=("background/at22", "background/amplification-wor"),
)
