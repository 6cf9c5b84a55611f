"""Bugs planted in NoisyCGD: in its noise and in its accounting.

Training mutants are caught by an audit (error probability 5 % for a false alarm on the equivalent one, fixed seed);
accounting mutants by the certified lower end of the true bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from empirical.audits.audit import run
from empirical.audits.audit_plan import AuditPlan
from empirical.audits.campaigns import DEFAULT
from empirical.audits.targets import Array
from empirical.mutants.mutant import Detection, Mutant, Planted
from oracle.core.algorithm import Values
from oracle.core.registry import algorithm, bound
from oracle.core.tape import Tape

_PLAN = replace(DEFAULT["NoisyCGD, canary in the last batch"], budget=20_000, held=0.2, estimator="gdp")


def _audited(train: Callable[..., Any], plan: AuditPlan = _PLAN) -> Detection:
    result = run(plan, target=Planted(plan, train))
    return Detection(result.verdict == "VIOLATION", f"audit: {result.reason}")


def _short_noise(features: Any, labels: Any, config: Values, tape: Tape) -> Any:
    """Noise that is right for the sum is divided by the batch size twice."""
    weak = Values(**{**vars(config), "noise_on_mean": config.noise_on_mean / config.batch_size})
    return algorithm("noisy-cgd").train_batched(features, labels, weak, tape)


class _NegatedTape(Tape):
    """The same draws with the opposite sign."""

    def normal(self, purpose: str, step: int, dimension: int) -> Array:
        return -super().normal(purpose, step, dimension)


def _subtracted_noise(features: Any, labels: Any, config: Values, tape: Tape) -> Any:
    """Noise is subtracted where the text adds it: the normal law is symmetric, so nothing changes."""
    negated = _NegatedTape(tape.seed, tape.models, tape.first_model)
    return algorithm("noisy-cgd").train_batched(features, labels, config, negated)


def _accounting(formula: Callable[[float, int, int], float]) -> Detection:
    """Compare an accountant's mu with the certified lower end, over a few settings."""
    for contraction in (0.5, 0.9, 0.99):
        for batches, epochs in ((2, 2), (5, 20), (60, 400)):
            mu = formula(contraction, batches, epochs)
            lower = bound("noisy-cgd.mu").reference(
                sensitivity=2, batch_size=1, noise_on_mean=1, contraction=contraction, batches=batches, epochs=epochs
            ).to_floats()[0]
            if mu < lower * (1 - 1e-9):
                point = f"contraction {contraction}, {batches} batches, {epochs} epochs"
                return Detection(True, f"accountant says mu = {mu:.6f}, certified mu >= {lower:.6f} at {point}")
    return Detection(False, "never below the certified lower end")


def _memory(contraction: float, batches: int, epochs: int) -> float:
    """The square of the theorem's factor without its leading 1, in plain floats."""
    decay = contraction ** (batches * (epochs - 1))
    geometric = (1 - contraction**2) / (1 - contraction**batches) ** 2
    return contraction ** (2 * batches - 2) * geometric * (1 - decay) / (1 + decay)


m10_short_noise = Mutant(
    id="M10", severity="C", title="noise short by the batch-size factor",
    origin="Tramer et al., arXiv 2202.12219", detect=lambda: _audited(_short_noise),
)
m13_sensitivity = Mutant(
    id="M13", severity="C", title="replace-one accounted with sensitivity C instead of 2C",
    origin="google/differential-privacy #378, #464",
    detect=lambda: _accounting(lambda c, k, epochs: math.sqrt(1 + _memory(c, k, epochs))),
)
m57_product = Mutant(
    id="M57", severity="C", title="mu^2 * mu^2 / l where mu^2 + mu^2 / l is meant",
    origin="plotting code of Bok, Su and Altschuler 2024",
    detect=lambda: _accounting(lambda c, k, epochs: 2 * math.sqrt(1 * _memory(c, k, epochs))),
)
e01_subtracted_noise = Mutant(
    id="E01", severity="E", title="noise subtracted instead of added",
    origin="a harmless rewriting, planted to catch false alarms", detect=lambda: _audited(_subtracted_noise),
)
