"""Wrong hidden-state bounds, each with one term of the shift programme or of a closed form broken."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

import oracle
from empirical.mutants.changes import another, certified, formula, parameters
from oracle.bounds.hidden_state import hidden_state, hidden_state_projected
from oracle.bounds.hidden_state.hidden_state_position import last_touch, whole_epochs
from oracle.bounds.hidden_state.shift_programme import cost, joined, optimum
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball
from oracle.core.registry import Certify, closed_form
from oracle.engines import gaussian_curve
from oracle.engines.geometric import BallPowers
from tests.planted import loose, wrong


def programme(change: Callable[[arb, arb, arb], tuple[arb, arb, arb]]) -> Certify:
    """The programme with every step changed first."""

    def formula(v: Values) -> arb:
        steps = zip(v.drift, v.iterate_noise, v.contractions, strict=True)
        return optimum([change(ball(s), ball(tau) ** 2, ball(c)) for s, tau, c in steps], v.diameter).sqrt()

    return closed_form(formula)


def memory_not_squared(v: Values) -> arb:
    """Noise that decays like the drift: c V for c^2 V."""
    gap, variance = arb(0), arb(0)
    for s, c, tau in zip(v.drift, v.contractions, v.iterate_noise, strict=True):
        gap, variance = ball(c) * gap + ball(s), ball(c) * variance + ball(tau) ** 2
    return gap / variance.sqrt()


def position_never_joined(v: Values) -> arb:
    """Both edges apart, even where the first is the steeper one."""
    powers = BallPowers()
    square = cost(last_touch(v.contraction, v.batches - v.batch_position, powers))
    if v.epochs > 1:
        square += cost((*whole_epochs(v.contraction, v.batches, v.epochs - 1, powers), arb(1)))
    return ball(v.sensitivity / (v.batch_size * v.noise_on_mean)) * square.sqrt()


def position_always_joined(v: Values) -> arb:
    """One edge, which is the exact law of a quadratic loss and no bound."""
    powers = BallPowers()
    block = last_touch(v.contraction, v.batches - v.batch_position, powers)
    if v.epochs > 1:
        block = joined((*whole_epochs(v.contraction, v.batches, v.epochs - 1, powers), arb(1)), block)
    return ball(v.sensitivity / (v.batch_size * v.noise_on_mean)) * cost(block).sqrt()


def start_without_contraction(v: Values) -> arb:
    """A start at the diameter just before the last step only, and c forgotten there."""
    common = hidden_state.gd_mu(v)
    if v.diameter == math.inf or v.steps == 0:
        return common
    distance = hidden_state_projected._distance(v, v.dataset_size)
    assert distance is not None
    return common.min(ball(v.sensitivity / (v.dataset_size * v.noise_on_mean)) * (ball(distance) + 1))


def free_steps_forgotten(v: Values) -> arb:
    """NoisyCGD's starts without the free steps before the next touch."""
    ratio = ball(v.sensitivity / (v.batch_size * v.noise_on_mean))
    common = hidden_state.cgd_mu(v)
    if v.diameter == math.inf or v.epochs == 1:
        return common
    distance = hidden_state_projected._distance(v, v.batch_size)
    assert distance is not None
    return common.min(ratio * (ball(v.contraction * distance) + 1))


def sigma_squared_factor(v: Values, width: Fraction) -> oracle.Enclosure:
    square = hidden_state.cgd_square(v)
    single = gaussian_curve.sigma_of(v.sensitivity / v.batch_size, v.epsilon, v.delta, width)
    return oracle.Enclosure.between(single.lower.ball * square, single.upper.ball * square)


MUTANTS = (
    wrong("shifted.mu", "the chord for the minorant", another("linear-gaussian.mu")),
    wrong("shifted.mu", "every iterate paid for by itself", certified(programme(lambda s, w, c: (s, w, arb(0) * c)))),
    wrong("shifted.mu", "the noise for its square", certified(programme(lambda s, w, c: (s, w.sqrt(), c)))),
    loose("shifted.mu", "no start at the diameter", parameters(diameter=math.inf)),
    wrong(
        "shifted.mu", "the diameter halved",
        parameters(diameter=lambda v: v.diameter if v.diameter == math.inf else v.diameter / 2),
    ),
    wrong("shifted.mu", "the first drift forgotten", parameters(drift=lambda v: (Fraction(0), *v.drift[1:]))),
    wrong("linear-gaussian.mu", "noise that decays like the drift", formula(memory_not_squared)),
    loose(
        "noisy-cgd-position.mu", "a later touch",
        parameters(batch_position=lambda v: min(v.batches, v.batch_position + 1)),
    ),
    loose("noisy-cgd-position.mu", "edges never joined", formula(position_never_joined)),
    wrong("noisy-cgd-position.mu", "edges always joined", formula(position_always_joined)),
    loose("noisy-gd-projected.mu", "no projection", parameters(diameter=math.inf)),
    loose("noisy-gd-projected.mu", "a start before the last step only", formula(start_without_contraction)),
    wrong("noisy-gd-projected.mu", "the learning rate forgotten", parameters(learning_rate=Fraction(1))),
    loose("noisy-cgd-projected.mu", "no projection between the batches", parameters(diameter=math.inf)),
    loose("noisy-cgd-projected.mu", "free steps forgotten", formula(free_steps_forgotten)),
    loose("noisy-gd.epsilon", "steps composed", parameters(contraction=Fraction(1))),
    wrong("noisy-cgd.epsilon", "an epoch forgotten", parameters(epochs=lambda v: max(1, v.epochs - 1))),
    wrong("noisy-gd.sigma", "a step forgotten by the noise", parameters(steps=lambda v: max(0, v.steps - 1))),
    loose("noisy-cgd.sigma", "the factor squared", certified(sigma_squared_factor)),
    wrong("noisy-cgd.step", "mu for its square", parameters(mu=lambda v: v.mu**2)),
)
