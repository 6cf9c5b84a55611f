"""Phased SGD with a smoothed loss for many models at once: the batched sibling of `smoothed_phased_sgd`."""

from __future__ import annotations

from dataclasses import replace

from oracle.algorithms.phased import torch_moreau, torch_phased_sgd
from oracle.algorithms.phased.phased_sgd import LONGEST
from oracle.algorithms.phased.torch_phased_sgd import Slope, descended, descended_projected
from oracle.core.algorithm import Values


def _slope(config: Values, *, projected: bool) -> Slope:
    return lambda scores, label: torch_moreau.derivative(config, scores, label, LONGEST[projected])


twin = replace(
    torch_phased_sgd.twin,
    chunk=lambda data, config, tape, recorder: descended(
        data, config, tape, _slope(config, projected=False), recorder
    ),
)
twin_projected = replace(
    torch_phased_sgd.twin_projected,
    chunk=lambda data, config, tape, recorder: descended_projected(
        data, config, tape, _slope(config, projected=True), recorder
    ),
)
