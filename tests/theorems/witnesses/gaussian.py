"""The classical Gaussian calibration, re-judged in mpmath from the definition of its delta as an integral."""

from __future__ import annotations

from collections.abc import Mapping

import mpmath


def too_little_noise(witness: Mapping[str, str]) -> bool:
    """Whether the hockey-stick integral at the prescribed sigma exceeds the claimed delta (sensitivity 1)."""
    with mpmath.workdps(40):
        epsilon, claimed = mpmath.mpf(witness["epsilon"]), mpmath.mpf(witness["claimed delta"])
        sigma = mpmath.sqrt(2 * mpmath.log(mpmath.mpf("1.25") / claimed)) / epsilon
        start = epsilon * sigma**2 + mpmath.mpf(1) / 2  # the likelihood ratio is e^epsilon there

        def positive_part(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(x, 1, sigma) - mpmath.exp(epsilon) * mpmath.npdf(x, 0, sigma)

        steps = [start + k * sigma for k in (0, 1, 2, 4, 8, 40)]
        return bool(mpmath.quad(positive_part, steps) > claimed * (1 + mpmath.mpf("1e-15")))


WITNESSES = {"cs208/gaussian-mechanism": too_little_noise, "nonconvex-nn/lem-1-beyond": too_little_noise}
NOT_WITNESSES = {
    "cs208/gaussian-mechanism": {"epsilon": "8", "claimed delta": "1e-05"},
    "nonconvex-nn/lem-1-beyond": {"epsilon": "1", "claimed delta": "1e-05"},
}
