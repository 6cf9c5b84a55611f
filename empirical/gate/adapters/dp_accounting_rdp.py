"""dp-accounting's RdpAccountant with its default orders, a noise multiplier read as noise over sensitivity.

That is what its events say for ADD_OR_REMOVE_ONE, and what its formulas take it for under REPLACE_ONE, too, against the
events' docstrings; how the docstrings' reading fares there is the adapter `dp_accounting_rdp_replace`. What our bounds
only bound is not asked: where delta^2 > 1 - e^-rdp the library rightly answers epsilon = 0, by the total variation,
which is below the formulas of `rdp.epsilon` (one order) and `wor-gaussian.epsilon` (several batches).
"""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import SOME_STEPS, declare
from empirical.gate.adapters.dp_accounting_events import (
    DISTRIBUTION,
    LIBRARY,
    composed,
    relation,
    sampled_gaussian,
    two_answers,
)


def _of_gaussians(sigma: float, sensitivity: float, steps: int) -> Any:
    from dp_accounting import GaussianDpEvent
    from dp_accounting.rdp import RdpAccountant

    return composed(RdpAccountant(), GaussianDpEvent(sigma / sensitivity), steps)


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> Any:
    """Epsilon of one Gaussian release."""
    return _of_gaussians(sigma, sensitivity, 1).get_epsilon(delta)


def gaussian_delta(sigma: float, sensitivity: float, epsilon: float) -> Any:
    """Delta of one Gaussian release."""
    return _of_gaussians(sigma, sensitivity, 1).get_delta(epsilon)


def gaussian_composed_epsilon(sigma: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Gaussian releases."""
    return _of_gaussians(sigma, sensitivity, steps).get_epsilon(delta)


def gaussian_composed_delta(sigma: float, sensitivity: float, steps: int, epsilon: float) -> Any:
    """Delta of Gaussian releases."""
    return _of_gaussians(sigma, sensitivity, steps).get_delta(epsilon)


def gaussian_sigma(sensitivity: float, epsilon: float, delta: float) -> Any:
    """Noise of one Gaussian release, by the library's search."""
    from dp_accounting import GaussianDpEvent, calibrate_dp_mechanism
    from dp_accounting.rdp import RdpAccountant

    return calibrate_dp_mechanism(RdpAccountant, GaussianDpEvent, epsilon, delta) * sensitivity


def _of_samples(sigma: float, sampling_rate: float, steps: int, neighbours: str, orders: Any = None) -> Any:
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(orders, relation(neighbours))
    return composed(accountant, sampled_gaussian(sigma, sampling_rate), steps)


def poisson_gaussian_epsilon(sigma: float, sampling_rate: float, steps: int, delta: float, neighbours: str) -> Any:
    """Epsilon of DP-SGD."""
    return _of_samples(sigma, sampling_rate, steps, neighbours).get_epsilon(delta)


def poisson_gaussian_delta(sigma: float, sampling_rate: float, steps: int, epsilon: float, neighbours: str) -> Any:
    """Delta of DP-SGD."""
    return _of_samples(sigma, sampling_rate, steps, neighbours).get_delta(epsilon)


def poisson_gaussian_rdp(sigma: float, sampling_rate: float, steps: int, alpha: float, neighbours: str) -> Any:
    """Renyi divergence of DP-SGD at one order."""
    return _of_samples(sigma, sampling_rate, steps, neighbours, [alpha]).rdp[0]


def poisson_gaussian_sigma(sampling_rate: float, steps: int, epsilon: float, delta: float, neighbours: str) -> Any:
    """Noise multiplier of DP-SGD, by the library's search."""
    from dp_accounting import SelfComposedDpEvent, UnsupportedEventError, calibrate_dp_mechanism
    from dp_accounting.rdp import RdpAccountant

    try:
        return calibrate_dp_mechanism(
            lambda: RdpAccountant(neighboring_relation=relation(neighbours)),
            lambda sigma: SelfComposedDpEvent(sampled_gaussian(sigma, sampling_rate), steps), epsilon, delta,
        )
    except UnsupportedEventError as error:
        raise ValueError(str(error)) from error


def _without_replacement(sigma: float, sampling_rate: float, steps: int, orders: list[float]) -> Any:
    from dp_accounting import GaussianDpEvent, SampledWithoutReplacementDpEvent
    from dp_accounting.rdp import RdpAccountant

    # Only batch over data set counts: the rate is exactly a batch of a data set of 1. A record of norm 1 replaced
    # moves the sum by 2, so that noise over sensitivity is sigma / 2.
    event = SampledWithoutReplacementDpEvent(1, sampling_rate, GaussianDpEvent(sigma / 2))
    return composed(RdpAccountant(orders, relation("replace")), event, steps)


def wor_gaussian_rdp(sigma: float, sampling_rate: float, steps: int, alpha: float, method: str) -> Any:
    """Renyi divergence of batches without replacement at one order, by a bound of its own."""
    if method != "exact":
        raise ValueError(f"method = {method!r} is not offered")
    return _without_replacement(sigma, sampling_rate, steps, [alpha]).rdp[0]


def _of_laplaces(scale: float, sensitivity: float, steps: int) -> Any:
    from dp_accounting import LaplaceDpEvent
    from dp_accounting.rdp import RdpAccountant

    return composed(RdpAccountant(), LaplaceDpEvent(scale / sensitivity), steps)


def laplace_delta(scale: float, sensitivity: float, epsilon: float) -> Any:
    """Delta of one Laplace release."""
    return _of_laplaces(scale, sensitivity, 1).get_delta(epsilon)


def laplace_composed_epsilon(scale: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Laplace releases."""
    return _of_laplaces(scale, sensitivity, steps).get_epsilon(delta)


def laplace_composed_delta(scale: float, sensitivity: float, steps: int, epsilon: float) -> Any:
    """Delta of Laplace releases."""
    return _of_laplaces(scale, sensitivity, steps).get_delta(epsilon)


def _of_answers(keep: float) -> Any:
    from dp_accounting.rdp import RdpAccountant

    return composed(RdpAccountant(neighboring_relation=relation("replace")), two_answers(keep))


def randomised_response_epsilon(keep: float, delta: float) -> Any:
    """Epsilon of one answer; the bit is replaced."""
    return _of_answers(keep).get_epsilon(delta)


def randomised_response_delta(keep: float, epsilon: float) -> Any:
    """Delta of one answer; the bit is replaced."""
    return _of_answers(keep).get_delta(epsilon)


def tree_epsilon(noise_multiplier: float, leaves: int, delta: float, neighbours: str) -> Any:
    """Epsilon of tree aggregation, a leaf being zeroed (our add_remove, their REPLACE_SPECIAL)."""
    from dp_accounting import NeighboringRelation, SingleEpochTreeAggregationDpEvent
    from dp_accounting.rdp import RdpAccountant

    if neighbours != "add_remove":
        raise ValueError(f"neighbours = {neighbours!r} is not offered")
    # Their tree releases the nodes that are complete, ours all nodes, padded with empty leaves to a power of two.
    whole = isinstance(leaves, int) and leaves > 0
    padded = 1 << (leaves - 1).bit_length() if whole else leaves
    accountant = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_SPECIAL)
    return composed(accountant, SingleEpochTreeAggregationDpEvent(noise_multiplier, padded)).get_epsilon(delta)


def zcdp_epsilon(rho: float, delta: float) -> Any:
    """Epsilon of a zCDP mechanism."""
    from dp_accounting import ZCDpEvent
    from dp_accounting.rdp import RdpAccountant

    return composed(RdpAccountant(), ZCDpEvent(rho)).get_epsilon(delta)


ADAPTERS = declare(LIBRARY, "RDP", DISTRIBUTION, {
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian.delta": gaussian_delta,
    "gaussian.sigma": gaussian_sigma,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "gaussian-composed.delta": gaussian_composed_delta,
    "poisson-gaussian.epsilon": poisson_gaussian_epsilon,
    "poisson-gaussian.delta": poisson_gaussian_delta,
    "poisson-gaussian.rdp": poisson_gaussian_rdp,
    "poisson-gaussian.sigma": poisson_gaussian_sigma,
    "wor-gaussian.rdp": wor_gaussian_rdp,
    "laplace.delta": laplace_delta,
    "laplace-composed.epsilon": laplace_composed_epsilon,
    "laplace-composed.delta": laplace_composed_delta,
    "randomised-response.epsilon": randomised_response_epsilon,
    "randomised-response.delta": randomised_response_delta,
    "tree.epsilon": tree_epsilon,
    "zcdp.epsilon": zcdp_epsilon,
}, offers=SOME_STEPS)
