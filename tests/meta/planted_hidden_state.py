"""Wrong hidden-state bounds, each with one term of the shift programme or of a closed form broken."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

import oracle
from oracle.bounds.hidden_state import hidden_state, hidden_state_projected
from oracle.bounds.hidden_state.hidden_state_position import last_touch, whole_epochs
from oracle.bounds.hidden_state.shift_programme import cost, joined, optimum
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball
from oracle.core.registry import Certify, closed_form
from oracle.engines import gaussian_curve
from oracle.engines.geometric import BallPowers


def renamed(name: str, change: Callable[[Values], dict[str, Any]], other: str | None = None) -> Certify:
    """The registered bound (or another one), at parameters that are changed first."""
    return lambda v, width: oracle.bound(other or name).certify(Values(**{**vars(v), **change(v)}), width)


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


WRONG: dict[str, tuple[str, Certify]] = {
    "the chord for the minorant": ("shifted.mu", renamed("shifted.mu", lambda v: {}, "linear-gaussian.mu")),
    "every iterate paid for by itself": ("shifted.mu", programme(lambda s, w, c: (s, w, arb(0) * c))),
    "the noise for its square": ("shifted.mu", programme(lambda s, w, c: (s, w.sqrt(), c))),
    "no start at the diameter": ("shifted.mu", renamed("shifted.mu", lambda v: {"diameter": math.inf})),
    "the diameter halved": (
        "shifted.mu", renamed(
            "shifted.mu", lambda v: {"diameter": v.diameter if v.diameter == math.inf else v.diameter / 2}
        ),
    ),
    "the first drift forgotten": (
        "shifted.mu", renamed("shifted.mu", lambda v: {"drift": (Fraction(0), *v.drift[1:])}),
    ),
    "noise that decays like the drift": ("linear-gaussian.mu", closed_form(memory_not_squared)),
    "a later touch": (
        "noisy-cgd-position.mu",
        renamed("noisy-cgd-position.mu", lambda v: {"batch_position": min(v.batches, v.batch_position + 1)}),
    ),
    "edges never joined": ("noisy-cgd-position.mu", closed_form(position_never_joined)),
    "edges always joined": ("noisy-cgd-position.mu", closed_form(position_always_joined)),
    "no projection": (
        "noisy-gd-projected.mu", renamed("noisy-gd-projected.mu", lambda v: {"diameter": math.inf}),
    ),
    "a start before the last step only": ("noisy-gd-projected.mu", closed_form(start_without_contraction)),
    "the learning rate forgotten": (
        "noisy-gd-projected.mu", renamed("noisy-gd-projected.mu", lambda v: {"learning_rate": Fraction(1)}),
    ),
    "no projection between the batches": (
        "noisy-cgd-projected.mu", renamed("noisy-cgd-projected.mu", lambda v: {"diameter": math.inf}),
    ),
    "free steps forgotten": ("noisy-cgd-projected.mu", closed_form(free_steps_forgotten)),
    "steps composed": (
        "noisy-gd.epsilon", renamed("noisy-gd.epsilon", lambda v: {"contraction": Fraction(1)}),
    ),
    "an epoch forgotten": (
        "noisy-cgd.epsilon", renamed("noisy-cgd.epsilon", lambda v: {"epochs": max(1, v.epochs - 1)}),
    ),
    "a step forgotten by the noise": (
        "noisy-gd.sigma", renamed("noisy-gd.sigma", lambda v: {"steps": max(0, v.steps - 1)}),
    ),
    "the factor squared": ("noisy-cgd.sigma", sigma_squared_factor),
    "mu for its square": ("noisy-cgd.step", renamed("noisy-cgd.step", lambda v: {"mu": v.mu**2})),
}
