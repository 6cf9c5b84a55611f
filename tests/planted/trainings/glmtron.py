"""Bugs in the trainings of ReLU regression by GLMtron, and in its thresholds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import torch

import oracle
from empirical.mutants.changes import code, configuration, tape, times, twin
from empirical.mutants.checks import Setting
from empirical.mutants.tapes import confused, reused, shared, unshuffled
from oracle.core.tape import Tape
from tests.oracle.glmtron import test_glmtron_adaptive_training as adaptive
from tests.oracle.glmtron.test_glmtron_training import NAMES, config, data, noise_key
from tests.oracle.glmtron.test_threshold_training import config as threshold_config
from tests.planted import unlike

SETTINGS = {name: Setting(config(name), data(), Tape(5, 4)) for name in NAMES}
SHUFFLED, TREES = NAMES[:2], NAMES[2:]
ROOM = "oracle.algorithms.glmtron"


def histogram_data() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    return rng.uniform(0.4, 1.2, (16, 1)), rng.uniform(0.5, 1.5, 16)


def adaptive_data() -> tuple[Any, Any]:
    """All records for the thresholds are the same."""
    x, y = adaptive.data()
    x[adaptive.STEPS:], y[adaptive.STEPS:] = x[adaptive.STEPS], 0.5
    return x, y


THRESHOLD = Setting(threshold_config(model_variance="0.3", threshold_epsilon=2), histogram_data(), Tape(5, 60))
ADAPTIVE = Setting(adaptive.config(threshold_epsilon="1.6"), adaptive_data(), Tape(5, 30))


def never_dropped(self: Any, noise: torch.Tensor) -> torch.Tensor:
    """Nodes that a larger one contains stay live: the noise of all of them piles up."""
    self.stack.append(self.stack[-1] + noise if self.stack else noise)
    return self.stack[-1]


def turned(honest: Any) -> Any:
    """A ReLU turned round."""
    return lambda s, y, indicator: -honest(-s, -y, indicator=indicator)


MUTANTS = (
    *(
        unlike(name, title, change, severity, SETTINGS[name])
        for name in NAMES for title, change, severity in (
            ("half the noise", times(**{noise_key(name): Fraction(1, 2)}), "C"),
            ("the misprinted clipping", configuration(clip="printed-max"), "C"),
            ("no clipping", times(**{"clip_norm": 10**9, noise_key(name): Fraction(1, 10**9)}), "C"),
            ("from zero", configuration(initial_std=Fraction(0)), "U"),
            ("learning rate off in the 8th digit", times(learning_rate=1 + Fraction(1, 10**8)), "N"),
            ("the noise of one step at all of them", tape(reused("noise", "node")), "C"),
            (
                "a ReLU turned round",
                code("twin", {f"{ROOM}.torch_{part}:factors": turned for part in ("dp_glmtron", "dp_taglmtron")}), "U",
            ),
        )
    ),
    *(
        unlike(name, title, change, "C", SETTINGS[name])
        for name in SHUFFLED for title, change in (
            ("no shuffling", tape(unshuffled)), ("one order for all models", tape(shared("order"))),
        )
    ),
    *(
        unlike(
            name, "noise over twice the clipping norm",
            times(noise_multiplier=2), "U", SETTINGS[name],
        )
        for name in TREES
    ),
    *(
        unlike(other, f"{one} for {other}", twin(oracle.algorithm(one).train_batched), "U", SETTINGS[other])
        for pair in (SHUFFLED, TREES) for one, other in (pair, pair[::-1])
    ),
    unlike(
        "dp-taglmtron", "fresh noise a step in place of the nodes'",
        code("twin", {f"{ROOM}.torch_tree:PrefixNoise.add": lambda honest: lambda self, noise: noise}), "U",
        SETTINGS["dp-taglmtron"],
    ),
    unlike(
        "dp-taglmtron", "nodes that are never dropped",
        code("twin", {f"{ROOM}.torch_tree:PrefixNoise.add": lambda honest: never_dropped}), "U",
        SETTINGS["dp-taglmtron"],
    ),
    *(
        unlike("dp-threshold", title, change, severity, THRESHOLD)
        for title, change, severity in (
            ("twice the noise", times(threshold_epsilon=Fraction(1, 2)), "U"),
            ("another bar", times(threshold_delta=Fraction(1, 100)), "U"),
            ("no variance", configuration(model_variance=Fraction(0)), "U"),
            ("larger batches", configuration(histogram_batches=4, threshold_delta=Fraction(9, 10)), "C"),
            ("a model of zeros", configuration(weights=(Fraction(0),)), "U"),
            (
                "one noise for three",
                tape(confused("histogram 0", "histogram 0", "histogram 1", "histogram 2")), "C",
            ),
            (
                "bins off by one",
                code("twin", {f"{ROOM}.torch_dp_threshold:bins": lambda honest: lambda means: honest(means) + 1}), "U",
            ),
        )
    ),
    *(
        unlike("dp-glmtron-adaptive", title, change, severity, ADAPTIVE)
        for title, change, severity in (
            ("one call's noise at every step", tape(reused("histogram 0", "histogram 1", "histogram 2")), "C"),
            (
                "thresholds of the pass", twin(
                    lambda x, y, *rest: adaptive.ITEM.train_batched(np.roll(x, 24, 0), np.roll(y, 24), *rest)
                ), "C",
            ),
            ("another scale", times(threshold_scale=Fraction(1, 2)), "U"),
            ("another norm to begin with", times(clip_norm=2), "U"),
            ("no variance", configuration(model_variance=Fraction(0)), "U"),
            ("half the noise", times(noise_over_sensitivity=Fraction(1, 2)), "C"),
            ("the misprint", configuration(clip="printed-max"), "C"),
        )
    ),
)
