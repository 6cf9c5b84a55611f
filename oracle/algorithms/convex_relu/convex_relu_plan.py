"""NoisyCGD on the convex ReLU model of document 000: when the hidden-state theorem holds, and what holds in any case.

The algorithm is that of `noisy_cgd`; what is special is the model: its smoothness follows from the number of active
hyperplanes, and whether clipping keeps the loss convex depends on the loss and on how many outputs there are
(`convex_relu_smoothness` has the proofs). `clipping` is "record" if a record's whole gradient is clipped to C and
"output" if the part of each of the k outputs is clipped to C / sqrt(k); either way it moves by at most 2C.
"""

from __future__ import annotations

from fractions import Fraction

from oracle.algorithms.convex_relu.convex_relu_smoothness import CURVATURE, contraction, smoothness
from oracle.algorithms.hidden_state.noisy_cgd_plan import DISJOINT, REPLACE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Hypothesis, Recipe, equals, said
from oracle.core.registry import Values

_LARGEST_RESIDUAL = {"softmax": {"record": 2, "output": 1}, "logistic": {"record": 1, "output": 1}}
"""The largest |r|^2 of all of softmax's outputs or of one (record, output), and of one logistic output."""


def _active(config: Values) -> int:
    return int(config.hyperplanes if config.active is None else config.active)


def _contraction(config: Values) -> Fraction | None:
    if config.feature_norm is None:
        return None
    beta = smoothness(config.loss, _active(config), config.feature_norm, config.regularisation)
    return contraction(config.learning_rate, config.regularisation, beta)


def _hidden(config: Values) -> dict[str, Fraction | int] | None:
    factor = _contraction(config)
    if factor is None:
        return None
    return {
        "sensitivity": Fraction(2), "batch_size": 1, "sigma": config.noise_multiplier, "contraction": factor,
        "batches": config.dataset_size // config.batch_size, "epochs": config.epochs,
    }


def _contracts(config: Values) -> bool | None:
    factor = _contraction(config)
    return None if factor is None else factor <= 1


def clipping_keeps_convexity(config: Values) -> bool | None:
    """Whether the clipped gradients are those of a convex loss; None where that depends on a norm that is not given."""
    if config.loss == "squared" or config.outputs == 1 or (config.loss == "softmax" and config.outputs == 2):
        return True
    if config.loss == "logistic" and config.clipping == "output":
        return True
    if config.feature_norm is None:
        return None
    # Otherwise only clipping that never acts: |r| sqrt(a) |x| <= C for the record, or C / sqrt(k) for an output.
    square = _LARGEST_RESIDUAL[config.loss][config.clipping] * _active(config) * config.feature_norm**2
    jointly = config.loss == "softmax" and config.clipping == "record"
    return bool(square * (1 if jointly else config.outputs) <= config.clip_norm**2)


convex_relu = Recipe(
    algorithm="noisy-cgd-convex-relu",
    summary="noisy cyclic mini-batch gradient descent on the convex ReLU model",
    parameters=(
        vocabulary.dataset_size, vocabulary.batch_size, vocabulary.epochs.at_least(1),
        vocabulary.loss.choosing(*CURVATURE),
        vocabulary.outputs,
        vocabulary.hyperplanes,
        vocabulary.clip_norm.finite(),
        vocabulary.clipping,
        vocabulary.noise_multiplier,
        vocabulary.learning_rate, vocabulary.regularisation,
        vocabulary.delta.open(), vocabulary.neighbours,
        vocabulary.released,
    ),
    optional=(
        vocabulary.feature_norm,
        vocabulary.active,
        vocabulary.independent_hyperplanes,
    ),
    guarantees=(
        Guarantee(
            "noisy-cgd.mu", "hidden state: only the last iterate is seen", _hidden,
            (
                REPLACE, DISJOINT, equals("only the last iterate is released", "released", "last_iterate"),
                said("the hyperplanes do not depend on the data", "independent_hyperplanes"),
                Hypothesis(
                    "clipping keeps the loss convex: one output, two-class softmax, squared loss, logistic losses "
                    "clipped one by one, or clipping that never acts",
                    clipping_keeps_convexity,
                ),
                Hypothesis(
                    "every step contracts: learning_rate <= 2/beta, beta = kappa active feature_norm^2 + lambda",
                    _contracts,
                ),
            ),
        ),
        Guarantee(
            "gaussian-composed.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {
                "sigma": config.noise_multiplier, "sensitivity": 2, "steps": config.epochs, "delta": config.delta,
            },
            (REPLACE, DISJOINT, said("the hyperplanes do not depend on the data", "independent_hyperplanes")),
        ),
    ),
    source=("relu-approx/lem-3.2-repaired", "relu-approx/thm-2.8-formula"),
)
