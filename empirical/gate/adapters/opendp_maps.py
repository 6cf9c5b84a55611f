"""OpenDP: the privacy maps of its measurements, which say what a release costs at a given distance of the data.

Gaussian noise is accounted in zCDP and cast to (epsilon, delta) by the combinators, Laplace noise in pure epsilon. A
base mechanism of which only epsilon or rho is known is a user-defined measurement with a constant map. Its search for a
parameter (`binary_search_param`) takes seconds for one Gaussian and is not asked here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from empirical.gate.adapters import declare

_MOST = 10_000  # releases in one composition, which is a list of measurements


def _refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """An OpenDPException is how the library refuses: here a ValueError."""

    @functools.wraps(function)
    def asked(**arguments: Any) -> Any:
        from opendp.mod import OpenDPException

        try:
            return function(**arguments)
        except OpenDPException as error:
            raise ValueError(f"{error.variant}: {error.message}") from error

    return asked


def _opendp() -> Any:
    import opendp.prelude as dp

    # contrib: not every proof is reviewed; honest-but-curious: the user vouches for a map of his own.
    dp.enable_features("contrib", "honest-but-curious")
    return dp


def _composed(dp: Any, measurement: Any, steps: Any) -> Any:
    """The same measurement several times; the library has no number of repetitions, only a list."""
    if steps > _MOST:
        raise ValueError(f"a composition of {steps} measurements is not offered, but as a list of so many")
    return dp.c.make_composition([measurement] * steps)


def _scalars(dp: Any) -> tuple[Any, Any]:
    return dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


@_refusing
def gaussian_epsilon(*, sigma: Any, sensitivity: Any, delta: Any) -> Any:
    """One Gaussian release, cast from zCDP."""
    return gaussian_composed_epsilon(sigma=sigma, sensitivity=sensitivity, steps=1, delta=delta)


@_refusing
def gaussian_delta(*, sigma: Any, sensitivity: Any, epsilon: Any) -> Any:
    """The same, the other way round."""
    return gaussian_composed_delta(sigma=sigma, sensitivity=sensitivity, steps=1, epsilon=epsilon)


@_refusing
def gaussian_composed_epsilon(*, sigma: Any, sensitivity: Any, steps: Any, delta: Any) -> Any:
    """Gaussian releases, composed in zCDP."""
    dp = _opendp()
    return dp.c.make_fix_delta(_gaussians(dp, sigma, steps), delta=delta).map(sensitivity)[0]


@_refusing
def gaussian_composed_delta(*, sigma: Any, sensitivity: Any, steps: Any, epsilon: Any) -> Any:
    """The same, the other way round, from the privacy profile."""
    return _gaussians(_opendp(), sigma, steps).map(sensitivity).delta(epsilon)


def _gaussians(dp: Any, sigma: Any, steps: Any) -> Any:
    one = dp.m.make_gaussian(*_scalars(dp), scale=sigma)
    return dp.c.make_zCDP_to_approxDP(_composed(dp, one, steps))


@_refusing
def laplace_delta(*, scale: Any, sensitivity: Any, epsilon: Any) -> Any:
    """One Laplace release: pure epsilon, whose profile is 0 or 1."""
    dp = _opendp()
    approximate = dp.c.make_approximate(dp.m.make_laplace(*_scalars(dp), scale=scale))
    return dp.c.make_fixed_approxDP_to_approxDP(approximate).map(sensitivity).delta(epsilon)


@_refusing
def laplace_composed_epsilon(*, scale: Any, sensitivity: Any, steps: Any, delta: Any) -> Any:
    """Laplace releases: epsilons add up, and nothing is gained by delta."""
    dp = _opendp()
    together = _composed(dp, dp.m.make_laplace(*_scalars(dp), scale=scale), steps)
    profile = dp.c.make_fixed_approxDP_to_approxDP(dp.c.make_approximate(together))
    return dp.c.make_fix_delta(profile, delta=delta).map(sensitivity)[0]


@_refusing
def randomised_response_epsilon(*, keep: Any, delta: Any) -> Any:
    """One bit: pure epsilon, and nothing is gained by delta."""
    dp = _opendp()
    approximate = dp.c.make_approximate(dp.m.make_randomized_response_bool(prob=keep))
    profile = dp.c.make_fixed_approxDP_to_approxDP(approximate)
    return dp.c.make_fix_delta(profile, delta=delta).map(1)[0]


@_refusing
def zcdp_epsilon(*, rho: Any, delta: Any) -> Any:
    """The cast from zCDP, of a mechanism of which only rho is known."""
    dp = _opendp()
    base = dp.m.make_user_measurement(
        *_scalars(dp), dp.zero_concentrated_divergence(), lambda value: value, lambda distance: rho
    )
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(base), delta=delta).map(1.0)[0]


@_refusing
def composition_basic(*, base_epsilon: Any, steps: Any) -> Any:
    """Mechanisms of which only epsilon is known."""
    dp = _opendp()
    base = dp.m.make_user_measurement(
        *_scalars(dp), dp.max_divergence(), lambda value: value, lambda distance: base_epsilon
    )
    return _composed(dp, base, steps).map(1.0)


@_refusing
def amplification_wor(*, base_epsilon: Any, dataset_size: Any, batch_size: Any) -> Any:
    """A simple sample from a population; replacing a record is the metric change_one_distance."""
    return _amplified(_opendp(), base_epsilon, 0.0, dataset_size, batch_size)[0]


@_refusing
def amplification_wor_delta(*, base_delta: Any, dataset_size: Any, batch_size: Any) -> Any:
    """The delta that goes with it."""
    return _amplified(_opendp(), 1.0, base_delta, dataset_size, batch_size)[1]


def _amplified(dp: Any, epsilon: Any, delta: Any, dataset_size: Any, batch_size: Any) -> Any:
    records = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=batch_size), dp.change_one_distance()
    base = dp.m.make_user_measurement(
        *records, dp.approximate(dp.max_divergence()), lambda data: data, lambda distance: (epsilon, delta)
    )
    return dp.c.make_population_amplification(base, population_size=dataset_size).map(1)


@_refusing
def exponential_mechanism_epsilon(*, loss_range: Any, temperature: Any, neighbours: Any) -> Any:
    """Report-noisy-max with Gumbel noise, which draws from the exponential mechanism.

    A score is minus the sum of the losses. Replacing a record moves each score by at most the loss range, either way;
    adding one with a loss in [0, loss_range] moves all of them down: a monotonic distance.
    """
    dp = _opendp()
    if neighbours not in ("replace", "add_remove"):
        raise ValueError(f"{neighbours} is not offered")
    metric = dp.linf_distance(T=float, monotonic=neighbours == "add_remove")
    scores = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    return dp.m.make_noisy_max(scores, metric, dp.max_divergence(), scale=temperature).map(loss_range)


@_refusing
def tree_epsilon(*, noise_multiplier: Any, leaves: Any, delta: Any, neighbours: Any) -> Any:
    """A binary tree over counts with Gaussian noise on every node.

    A leaf of norm at most 1 that is zeroed moves by 1, one that is replaced by 2.
    """
    dp = _opendp()
    if neighbours not in ("replace", "add_remove"):
        raise ValueError(f"{neighbours} is not offered")
    counts = dp.vector_domain(dp.atom_domain(T=int), size=leaves), dp.l2_distance(T=int)
    tree = counts >> dp.t.then_b_ary_tree(leaf_count=leaves, branching_factor=2)
    noisy = tree >> dp.m.then_gaussian(scale=noise_multiplier)
    profile = dp.c.make_zCDP_to_approxDP(noisy)
    return dp.c.make_fix_delta(profile, delta=delta).map(1 if neighbours == "add_remove" else 2)[0]


ADAPTERS = declare("OpenDP", "maps", "opendp", {
    "amplification.wor": amplification_wor,
    "amplification.wor-delta": amplification_wor_delta,
    "composition.basic": composition_basic,
    "exponential-mechanism.epsilon": exponential_mechanism_epsilon,
    "gaussian-composed.delta": gaussian_composed_delta,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "gaussian.delta": gaussian_delta,
    "gaussian.epsilon": gaussian_epsilon,
    "laplace-composed.epsilon": laplace_composed_epsilon,
    "laplace.delta": laplace_delta,
    "randomised-response.epsilon": randomised_response_epsilon,
    "tree.epsilon": tree_epsilon,
    "zcdp.epsilon": zcdp_epsilon,
}, offers={bound: {"steps": [1, _MOST]} for bound in (
    "composition.basic", "gaussian-composed.delta", "gaussian-composed.epsilon", "laplace-composed.epsilon",
)})
