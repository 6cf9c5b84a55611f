"""autodp by its default route: the analytic Gaussian curve for one release, Renyi DP for whatever is composed.

sigma and b of autodp are noise over sensitivity. Its Poisson sampling is under add or remove, its sampling without
replacement under replacing a record, for which it wants the noise over the sensitivity of *that* relation. Its
calibrator of several parameters takes seconds for one noise of DP-SGD, within bounds that the user has to know, and is
not asked here.
"""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import ABOVE_ZERO, declare


def gaussian_epsilon(*, sigma: Any, sensitivity: Any, delta: Any) -> Any:
    """One Gaussian release, by the analytic curve."""
    from autodp.mechanism_zoo import ExactGaussianMechanism

    return ExactGaussianMechanism(sigma=sigma / sensitivity).get_approxDP(delta)


def gaussian_sigma(*, sensitivity: Any, epsilon: Any, delta: Any) -> Any:
    """The calibrator of the analytic Gaussian mechanism."""
    from autodp.calibrator_zoo import ana_gaussian_calibrator
    from autodp.mechanism_zoo import ExactGaussianMechanism

    return _scaled(ana_gaussian_calibrator()(ExactGaussianMechanism, epsilon, delta).params["sigma"], sensitivity)


def gaussian_classical_sigma(*, sensitivity: Any, epsilon: Any, delta: Any) -> Any:
    """The textbook noise."""
    return _scaled(_privacy_calibrator().classical_gaussian_mech(epsilon, delta)["sigma"], sensitivity)


def _scaled(noise_multiplier: Any, sensitivity: Any) -> Any:
    """The calibrators know no sensitivity: what a negative one would mean is not theirs to refuse."""
    if not sensitivity > 0:
        raise ValueError(f"sensitivity = {sensitivity} is nothing that the library could be told")
    return noise_multiplier * sensitivity


def gaussian_composed_epsilon(*, sigma: Any, sensitivity: Any, steps: Any, delta: Any) -> Any:
    """Gaussian releases composed by the generic transformer."""
    from autodp.mechanism_zoo import GaussianMechanism
    from autodp.transformer_zoo import Composition

    return Composition()([GaussianMechanism(sigma / sensitivity)], [steps]).get_approxDP(delta)


def gaussian_composed_delta(*, sigma: Any, sensitivity: Any, steps: Any, epsilon: Any) -> Any:
    """The same, the other way round."""
    from autodp.mechanism_zoo import GaussianMechanism
    from autodp.transformer_zoo import Composition

    return Composition()([GaussianMechanism(sigma / sensitivity)], [steps]).get_approx_delta(epsilon)


def laplace_delta(*, scale: Any, sensitivity: Any, epsilon: Any) -> Any:
    """One Laplace release."""
    from autodp.mechanism_zoo import LaplaceMechanism

    return LaplaceMechanism(b=scale / sensitivity).get_approx_delta(epsilon)


def laplace_composed_epsilon(*, scale: Any, sensitivity: Any, steps: Any, delta: Any) -> Any:
    """Laplace releases."""
    from autodp.mechanism_zoo import LaplaceMechanism
    from autodp.transformer_zoo import Composition

    return Composition()([LaplaceMechanism(b=scale / sensitivity)], [steps]).get_approxDP(delta)


def laplace_composed_delta(*, scale: Any, sensitivity: Any, steps: Any, epsilon: Any) -> Any:
    """The same, the other way round."""
    from autodp.mechanism_zoo import LaplaceMechanism
    from autodp.transformer_zoo import Composition

    return Composition()([LaplaceMechanism(b=scale / sensitivity)], [steps]).get_approx_delta(epsilon)


def randomised_response_epsilon(*, keep: Any, delta: Any) -> Any:
    """One bit; p of autodp is the probability of telling the truth."""
    from autodp.mechanism_zoo import RandresponseMechanism

    return RandresponseMechanism(p=keep).get_approxDP(delta)


def randomised_response_delta(*, keep: Any, epsilon: Any) -> Any:
    """The same, the other way round."""
    from autodp.mechanism_zoo import RandresponseMechanism

    return RandresponseMechanism(p=keep).get_approx_delta(epsilon)


def poisson_gaussian_epsilon(*, sigma: Any, sampling_rate: Any, steps: Any, delta: Any, neighbours: Any) -> Any:
    """DP-SGD, as the library packages it."""
    return _noisy_sgd(sigma, sampling_rate, steps, neighbours).get_approxDP(delta)


def poisson_gaussian_delta(*, sigma: Any, sampling_rate: Any, steps: Any, epsilon: Any, neighbours: Any) -> Any:
    """The same, the other way round."""
    return _noisy_sgd(sigma, sampling_rate, steps, neighbours).get_approx_delta(epsilon)


def poisson_gaussian_rdp(*, sigma: Any, sampling_rate: Any, steps: Any, alpha: Any, neighbours: Any) -> Any:
    """Its Renyi DP."""
    return _noisy_sgd(sigma, sampling_rate, steps, neighbours).get_RDP(alpha)


def _noisy_sgd(sigma: Any, sampling_rate: Any, steps: Any, neighbours: Any) -> Any:
    from autodp.mechanism_zoo import NoisySGD_Mechanism

    if neighbours != "add_remove":
        raise ValueError(f"Poisson sampling under {neighbours} is not offered")
    return NoisySGD_Mechanism(prob=sampling_rate, sigma=sigma, niter=steps)


def wor_gaussian_rdp(*, sigma: Any, sampling_rate: Any, steps: Any, alpha: Any, method: Any) -> Any:
    """Sums over samples without replacement, by a bound that is to be above the exact divergence.

    It is that of Wang, Balle and Kasiviswanathan with terms of its own, so that their formula is no measure for it.
    """
    from autodp.mechanism_zoo import ExactGaussianMechanism
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    if method != "exact":
        raise ValueError(f"the formula {method} as it stands in the paper is not offered")
    gaussian = ExactGaussianMechanism(sigma=sigma / 2)  # replacing a record moves the sum by twice the clipping norm
    gaussian.neighboring = "replace_one"  # what the transformer asks the user to say
    sampled = AmplificationBySampling(PoissonSampling=False)(gaussian, sampling_rate)
    return Composition()([sampled], [steps]).get_RDP(alpha)


def zcdp_epsilon(*, rho: Any, delta: Any) -> Any:
    """zCDP."""
    from autodp.mechanism_zoo import zCDP_Mechanism

    return zCDP_Mechanism(rho).get_approxDP(delta)


def amplification_poisson(*, base_epsilon: Any, sampling_rate: Any) -> Any:
    """The subsampling lemma, epsilon."""
    return _privacy_calibrator().subsample_epsdelta(base_epsilon, 0.0, sampling_rate)[0]


def amplification_poisson_delta(*, base_delta: Any, sampling_rate: Any) -> Any:
    """The subsampling lemma, delta."""
    return _privacy_calibrator().subsample_epsdelta(1.0, base_delta, sampling_rate)[1]


def _privacy_calibrator() -> Any:
    import autodp.rdp_acct  # noqa: F401, first: the two import each other, and privacy_calibrator alone fails
    from autodp import privacy_calibrator

    return privacy_calibrator


def composition_optimal(*, base_epsilon: Any, base_delta: Any, steps: Any, delta: Any) -> Any:
    """The accountant of (epsilon, delta) pairs, told of every mechanism."""
    from autodp.dp_acct import DP_acct

    if steps < 0:
        raise ValueError(f"{steps} mechanisms are nothing that the library could be told of")
    accountant = DP_acct()
    for _ in range(steps):
        accountant.update_DPlosses(base_epsilon, base_delta)
    return accountant.get_eps(delta)


def composition_basic(*, base_epsilon: Any, steps: Any) -> Any:
    """Mechanisms of which only a pure epsilon is known."""
    from autodp.mechanism_zoo import PureDP_Mechanism
    from autodp.transformer_zoo import Composition

    return Composition()([PureDP_Mechanism(base_epsilon)], [steps]).get_pureDP()


ADAPTERS = declare("autodp", "RDP", "autodp", {
    "amplification.poisson": amplification_poisson,
    "amplification.poisson-delta": amplification_poisson_delta,
    "composition.basic": composition_basic,
    "composition.optimal": composition_optimal,
    "gaussian-classical.sigma": gaussian_classical_sigma,
    "gaussian-composed.delta": gaussian_composed_delta,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian.sigma": gaussian_sigma,
    "laplace-composed.delta": laplace_composed_delta,
    "laplace-composed.epsilon": laplace_composed_epsilon,
    "laplace.delta": laplace_delta,
    "poisson-gaussian.delta": poisson_gaussian_delta,
    "poisson-gaussian.epsilon": poisson_gaussian_epsilon,
    "poisson-gaussian.rdp": poisson_gaussian_rdp,
    "randomised-response.delta": randomised_response_delta,
    "randomised-response.epsilon": randomised_response_epsilon,
    "wor-gaussian.rdp": wor_gaussian_rdp,
    "zcdp.epsilon": zcdp_epsilon,
}, offers={"gaussian.sigma": {"epsilon": ABOVE_ZERO}})
