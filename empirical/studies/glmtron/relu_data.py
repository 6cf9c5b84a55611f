r"""Gaussian ReLU regression for the studies of 003: settings, what is drawn, exact risks, explicit bounds, premises.

A spot says the spectrum (`spectrum` "power": lambda_i = i^-exponent, "exponential": e^-i; "flat": 1), the `dimension`,
w*_i (`target` i^-1/2 or a constant), the label noise `label`, the step size eta = `rate` N^`cooling`, and the private
noise of a step or node, `noise` N^`falling`. x ~ N(0, diag(lambda)) is symmetric, with E[xx^T A xx^T] = 2HAH + tr(HA)H
<= 3 tr(HA)H. With Gaussian scores of variances s^2, t^2 and angle theta, E relu relu = (s t/2 pi)(sin theta +
(pi - theta) cos theta), so that the risk of any release is exact:

    L(w) - L(w*) = (|w|_H^2 + |w*|_H^2)/4 - E relu(<w,x>) relu(<w*,x>).

Explicit bounds, from the chains of `relu_chains`. Write x = eta lambda/2 (at most 1/6), z = N eta lambda = 2 N x.

Upper (Theorem 4.2). Since 1 + 2(q + ... + q^{n-1}) <= 2 (1 - q^n)/x and k <= q^2 + (feedback), a unit of a_0 adds at
most 1/(eta N^2) (1 - q^N) sum_t q^{2t}, where sum_{t<N} q^{2t} <= min(N, 2/(3x)), as 1 - q^2 >= 3x/2. Noise c_i a step
adds at most 1/(eta N) c_i min(1, Nx)^2/x; c (2 lambda^2 a + S lambda) <= (3/2) S lambda. With sums over all directions,

    risk <= 1/(eta N^2) sum w*_i^2 min(1, z/2) min(N, 2/(3x)) + 2 (sigma^2 D + s^2 D')/N + 3 D E/N^2,

D = sum min(1, (z/2)^2), D' = sum min(1, (z/2)^2)/lambda, E = sum_t S_t <= [sum h w*^2 + N eta^2 (sigma^2 sum lambda h +
s^2 sum h)]/(1 - 3 eta^2/2 sum lambda h), h = min(N lambda, 4/(3 eta)).

Lower (Theorem 4.4), for 1 + 2(q + ... ) >= (1 - q^n)/x and k >= q^2, 1 - q^2 <= 2x: risk >= 1/(4 eta N^2) sum_i sum_t
a_{t,i} (1 - q^{N-t}). Noise: sum_t (1 - q^t)(1 - q^{N-t}) rises in x, and for x <= 1/(2N) each factor is >= 3/4 of its
first term: >= (3/128) (N - 1/N) min(1, z^2). Start: keep t < N/2, where sum_t q^{2t} >= (1 - e^{-Nx})/(2x) and 1 -
q^{N-t} >= 1 - e^{-Nx/2}: both are concave in x. Together

    risk >= B sum_i w*_i^2 min(1/(N^2 eta^2 lambda), lambda) + (3/512) (1 - N^-2) (sigma^2 D_eff + s^2 D_pri)/N,

B = (1 - e^{-1/4})(1 - e^{-1/2})/4 = 0.0217. (The feedback term of the bias is left out: it is smaller.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from empirical.studies.glmtron.relu_chains import Pass, effective
from empirical.studies.study import Array, Curve, Premise, Spot
from oracle.core.registry import algorithm
from oracle.core.tape import Tape

FOURTH_MOMENT = 3
"""alpha of Gaussian features."""
CLIP_NORM = 10**9
"""Clipping norm: so large that it never acts."""
_ABOVE = 1 + 1e-9  # more than rounding does to a bound
_SILENT = 1e-30  # private noise where there shall be none: the algorithm asks for some


def pass_at(spot: Spot) -> Pass:
    """The pass of a spot."""
    dimension, records = spot["dimension"], spot["N"]
    place = np.arange(1.0, dimension + 1)
    power = 0.0 if spot["spectrum"] in ("flat", "exponential") else float(spot["exponent"])
    spectrum = np.exp(-place) if spot["spectrum"] == "exponential" else place**-power
    target = place**-0.5 if spot["target"] == "i^-1/2" else np.full(dimension, float(spot["target"]))
    noise = float(spot["noise"]) * records ** float(spot.get("falling", 0))
    return Pass(
        spectrum, target, records, rate=float(spot["rate"]) * records ** float(spot["cooling"]),
        label=float(spot["label"]), noise=noise or _SILENT,
    )


def excess(w: Array, run: Pass) -> Array:
    """The exact excess risk of each row of w."""
    return risk_of(w * np.sqrt(run.spectrum), run.target * np.sqrt(run.spectrum))


def risk_of(a: Array, b: Array) -> Array:
    """E(relu(<a,g>) - relu(<b,g>))^2/2 for a standard Gaussian g, rows a and one b."""
    s, t = np.linalg.norm(a, axis=-1), float(np.linalg.norm(b))
    # Half angles by lengths of sum and difference: the arc of a cosine near 1 loses half of the digits.
    unit, other = a / np.where(s > 0, s, 1.0)[..., None], b / (t or 1.0)
    theta = 2 * np.arctan2(np.linalg.norm(unit - other, axis=-1), np.linalg.norm(unit + other, axis=-1))
    # |a - b|^2 = s^2 + t^2 - 2 s t cos theta, and what is left is second order in theta.
    apart = np.sum((a - b) ** 2, axis=-1) / 4
    risk: Array = apart - s * t / (2 * math.pi) * (np.sin(theta) - theta * np.cos(theta))
    return risk


def drawn_data(run: Pass, seed: int, replicate: int) -> tuple[Array, Array]:
    """Features and labels of a replicate; those of fewer records are the first of those of more."""
    features = np.random.Generator(np.random.Philox([seed, replicate])).standard_normal(
        (run.records, len(run.spectrum))
    ) * np.sqrt(run.spectrum)
    own = np.random.Generator(np.random.Philox([seed, replicate, 1])).standard_normal(run.records)
    return features, np.maximum(features @ run.target, 0.0) + run.label * own


def trained_risks(
    name: str, noise_of: Callable[[Pass], dict[str, Any]], models: int
) -> Callable[[Spot, int, range], Array]:
    """What samples the excess risk of an algorithm's batched twin: the mean of some models on one drawn data set."""

    def sample(spot: Spot, seed: int, replicates: range) -> Array:
        run, item = pass_at(spot), algorithm(name)
        config = item.parse({
            "learning_rate": Fraction(run.rate), "clip_norm": CLIP_NORM, "initial_std": 0, "clip": "shorten",
            **noise_of(run),
        })
        risks = []
        for replicate in replicates:
            features, labels = drawn_data(run, seed, replicate)
            released = item.train_batched(features, labels, config, Tape(seed * 1_000_000 + replicate, models=models))
            risks.append(excess(released.numpy(), run).mean())
        return np.array(risks)

    return sample


def pass_noise(run: Pass) -> dict[str, Any]:
    """The key of DP-GLMtron: the noise of a step is 2 f gamma."""
    return {"noise_over_sensitivity": Fraction(run.noise) / (2 * CLIP_NORM)}


def tree_noise(run: Pass) -> dict[str, Any]:
    """The keys of DP-TAGLMtron: the noise of a node is f gamma."""
    return {"noise_multiplier": Fraction(run.noise) / CLIP_NORM, "neighbours": "replace"}


# --- explicit bounds


def upper_bound(spot: Spot) -> arb:
    """Theorem 4.2 with constants."""
    run = pass_at(spot)
    eta, size, spectrum = run.rate, run.records, run.spectrum
    reach = np.minimum(1.0, size * eta * spectrum / 2)
    start = run.target**2 @ (reach * np.minimum(size, 4 / (3 * eta * spectrum))) / (eta * size**2)
    head = float((reach**2).sum())
    noise = 2 * (run.label**2 * head + run.noise**2 * float((reach**2 / spectrum).sum())) / size
    return arb((float(start) + noise + FOURTH_MOMENT * head * energy(run) / size**2) * _ABOVE)


def energy(run: Pass) -> float:
    """An upper bound on the sum of all E|w_t - w*|_H^2 of the shuffled pass."""
    eta, size, spectrum = run.rate, run.records, run.spectrum
    height = np.minimum(size * spectrum, 4 / (3 * eta))
    fed = FOURTH_MOMENT * eta**2 / 2 * float(spectrum @ height)
    noise = size * eta**2 * (run.label**2 * float(spectrum @ height) + run.noise**2 * float(height.sum()))
    return (float(height @ run.target**2) + noise) / (1 - fed)


def lower_bound(spot: Spot) -> arb:
    """Theorem 4.4 with constants."""
    run = pass_at(spot)
    spectrum, size = run.spectrum, run.records
    start = run.target**2 @ np.minimum(1 / (size**2 * run.rate**2 * spectrum), spectrum)
    share = math.expm1(-0.25) * math.expm1(-0.5) / 4
    noise = 3 / 512 * (1 - size**-2) * (run.label**2 * effective(run, 0) + run.noise**2 * effective(run, 1)) / size
    return arb((share * float(start) + noise) / _ABOVE)


def sandwich(of: Callable[[Pass], tuple[float, float]]) -> Callable[[Spot], Curve]:
    """The two curves of a study, between which the risk lies."""
    return lambda spot: tuple(arb(end) for end in of(pass_at(spot)))


def trivial(spot: Spot) -> arb:
    """The risk of w = 0."""
    return arb(pass_at(spot).trivial)


# --- hypotheses, tested


def _steps(spot: Spot) -> bool:
    run = pass_at(spot)
    return run.rate * FOURTH_MOMENT * run.trace < 1


def _unclipped(spot: Spot) -> bool:
    """Markov: E|vector|^2 <= tr(H) (3 S_t/2 + sigma^2), summed over the steps."""
    run = pass_at(spot)
    squares = run.trace * (1.5 * energy(run) + run.records * run.label**2)
    return squares <= 1e-6 * CLIP_NORM**2


def _falls(spot: Spot) -> bool:
    spectrum = pass_at(spot).spectrum
    return bool((np.diff(spectrum) <= 0).all() and (spectrum > 0).all())


def _symmetric(spot: Spot) -> bool:
    """On the drawn records: of the signs of every leading feature about half are +, within 6 standard errors."""
    run = pass_at({**spot, "N": 256, "dimension": min(8, spot["dimension"])})
    features, _ = drawn_data(run, 0, 0)
    return bool((abs((features > 0).mean(axis=0) - 0.5) <= 6 * 0.5 / math.sqrt(256)).all())


STEPS = Premise("eta < 1/(3 tr H)", _steps)
UNCLIPPED = Premise("no vector is clipped, but with probability 10^-6", _unclipped)
FALLS = Premise("the eigenvalues fall and are positive", _falls)
SYMMETRIC = Premise("the drawn features have no preferred sign", _symmetric)
PREMISES = (STEPS, UNCLIPPED, FALLS, SYMMETRIC)
