"""Wrong Renyi bounds for hidden-state training, to which the second opinions must object: one term broken in each."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from empirical.mutants.changes import certified, formula, parameters
from oracle.bounds.hidden_state import noisy_minibatch_privacy as noisy_minibatch
from oracle.bounds.hidden_state import projected_noisy_sgd_privacy as projected_noisy_sgd
from oracle.bounds.renyi.zcdp import epsilon_of_rho
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball
from tests.planted import loose, wrong


def unsquared(v: Values) -> arb:
    """Shifts that count by themselves, not by their squares."""
    return ball(v.alpha * sum(a / tau for a, tau in zip(v.shift, v.iterate_noise, strict=True)) / 2)


def off_by_one(v: Values) -> Fraction:
    """One pass with the shift spread over one step less than there are."""
    steps = max(1, v.dataset_size - v.record_position)
    return Fraction(2 * (v.lipschitz / v.noise_on_mean) ** 2 / steps)


def langevin_without_half(v: Values) -> arb:
    """1 - e^{-lambda eta K} for 1 - e^{-lambda eta K/2}."""
    scale = ball((v.sensitivity / (v.diffusion * v.dataset_size)) ** 2 / v.strong_convexity)
    return -scale * ball(-v.strong_convexity * v.learning_rate * v.steps).expm1()


def always_forgetting(v: Values) -> arb:
    """Mini-batches that forget in the steps that touch the record, too."""
    c, k, total = v.contraction, v.batches, arb(0)
    for epoch in range(v.epochs):
        if epoch > 0:
            total *= noisy_minibatch._decay(c, (epoch - 1) * k + v.batch_position, k)
        total += 1
    since = (v.epochs - 1) * k + v.batch_position
    last = noisy_minibatch._decay(c, since, k - v.batch_position) if v.epochs else arb(0)
    return ball(v.learning_rate * (v.sensitivity / (v.batch_size * v.diffusion)) ** 2 / 4) * total * last


def noise_spent_twice(v: Values) -> arb:
    """The whole noise hides the sampling and pays for the shifts."""
    batch = projected_noisy_sgd._one_batch(v, Fraction(1))
    if v.steps == 0 or v.diameter == 0:
        return arb(0)
    if v.diameter == float("inf"):
        return v.steps * batch
    whole = ball(v.alpha * (v.diameter / (v.learning_rate * v.noise_on_mean)) ** 2 / 2)
    return (v.steps * batch).min(projected_noisy_sgd._least(batch, whole, v.steps))


MUTANTS = (
    wrong("iteration.rdp", "shifts not squared", formula(unsquared)),
    wrong(
        "iteration.epsilon", "noise doubled in the iteration",
        parameters(iterate_noise=lambda v: tuple(2 * tau for tau in v.iterate_noise)),
    ),
    loose("iteration-sgd.rdp", "one step less in the pass", formula(lambda v: ball(v.alpha * off_by_one(v)))),
    wrong("iteration-sgd.epsilon", "drift eta L for 2 eta L", parameters(lipschitz=lambda v: v.lipschitz / 2)),
    loose(
        "langevin.rdp", "no half in the Langevin exponent",
        formula(lambda v: ball(v.alpha) * langevin_without_half(v)),
    ),
    loose("langevin.epsilon", "a sensitivity of 4C for 2C", parameters(sensitivity=lambda v: v.sensitivity * 2)),
    wrong("noisy-minibatch.rdp", "touched steps forget", formula(lambda v: ball(v.alpha) * always_forgetting(v))),
    wrong(
        "noisy-minibatch.epsilon", "touched steps forget, converted",
        certified(lambda v, width: epsilon_of_rho(lambda: always_forgetting(v), v.delta, width)),
    ),
    wrong(
        "noisy-minibatch.rdp", "one batch too early", parameters(batch_position=lambda v: max(1, v.batch_position - 1)),
    ),
    wrong("projected-noisy-sgd.rdp", "noise spent twice", formula(noise_spent_twice)),
    wrong("projected-noisy-sgd.epsilon", "radius for the diameter", parameters(diameter=lambda v: v.diameter / 2)),
)
