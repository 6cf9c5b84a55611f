"""Document 004: output and objective perturbation, the exponential mechanism, aggregation, moments and descent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import mp, mpf

from oracle.core.enclosure import Enclosure
from tests.formulas import gaussian_excess, normal_tail
from tests.opinion import Numbers, Root, Value, composition


def moved(v: Numbers) -> mpf:
    """How far the mean of n vectors of norm L moves: one of them turns round, or vanishes."""
    here, there = v["lipschitz"], {"replace": -v["lipschitz"], "add_remove": mpf(0)}[v["neighbours"]]
    return (here - there) / v["dataset_size"]


def minimiser_moved(v: Numbers) -> mpf:
    """The minimiser of <g, theta> + (lambda/2) |theta|^2 is -g/lambda; the solver errs away from it on both sides."""
    return moved(v) / v["strong_convexity"] + v["solver_error"] + v["solver_error"]


def jacobian(v: Numbers) -> mpf:
    """log of (n lambda + c) / (n lambda)."""
    ridge = v["dataset_size"] * v["regularisation"]
    with mp.extradps(40):
        result = mp.log((ridge + v["curvature"]) / ridge)
    return +result


def factors(v: Numbers) -> int:
    return {"sharp": 1, "cms11": 2}[v["correction"]]


def objective_epsilon(v: Numbers) -> mpf:
    return moved(v) * v["dataset_size"] / v["noise_scale"] + factors(v) * jacobian(v)


def objective_scale(v: Numbers) -> mpf:
    return moved(v) * v["dataset_size"] / (v["epsilon"] - factors(v) * jacobian(v))


def objective_ridge(v: Numbers) -> mpf:
    """The n lambda at which 1 + c/(n lambda) is e^{epsilon/2}, or its root; over n."""
    with mp.extradps(40):
        result = v["curvature"] / (mp.exp(v["epsilon"] / (2 * factors(v))) - 1) / v["dataset_size"]
    return +result


def objective_gaussian_excess(v: Numbers, epsilon: mpf) -> mpf:
    """E max(0, 1 - e^{e - nu |Z| - nu^2/2}) for one nu, or two, minus delta: from where the exponent turns negative."""
    mu, e = v["lipschitz"] / v["noise_on_sum"], epsilon - jacobian(v)
    with mp.extradps(10 + max(0, int(mp.log10((1 + abs(e) / mu) / mu)))):
        result = -v["delta"]
        for nu in {"add_remove": [mu], "replace": [mp.sqrt(4 * mu * mu), mp.sqrt(2 * mu * mu)]}[v["neighbours"]]:
            start = max(mpf(0), (e - nu * nu / 2) / nu)
            result += 2 * (normal_tail(start) - mp.exp(e) * normal_tail(start + nu))
    return +result


def worst_gap(v: Numbers) -> mpf:
    """The largest (K-1) x / (e^x + K - 1): the mean of the scaled gap where K - 1 candidates share the gap x."""
    others = v["candidates"] - 1
    if others == 0:
        return mpf(0)

    def mean(x: mpf) -> mpf:
        return others * x / (mp.exp(x) + others)

    with mp.extradps(20):
        left, right, share = mpf(0), mp.log(others) + 3, (mp.sqrt(5) - 1) / 2
        while right - left > mpf(10) ** (-mp.dps // 2):  # the top is flat: half the digits are enough
            a, b = right - share * (right - left), left + share * (right - left)
            left, right = (left, b) if mean(a) > mean(b) else (a, right)
        result = mean((left + right) / 2)
    return +result


def utility(v: Numbers) -> mpf:
    gap = mp.log(v["candidates"]) if v["method"] == "textbook" else worst_gap(v)
    return 2 * v["loss_range"] * gap / v["epsilon"] / v["dataset_size"]


def corner_moments() -> list[mpf]:
    """The moments x^2, xy, x, y at (1, 1) minus those at (0, 0)."""
    return [mpf(after - before) for before, after in zip((0, 0, 0, 0), (1, 1, 1, 1), strict=True)]


def descent_mu(v: Numbers, sigma: mpf) -> mpf:
    """T releases of a mean of gradients of norm C."""
    return moved({**v, "lipschitz": v["clip_norm"]}) * mp.sqrt(v["steps"]) / sigma


def gaussian(mu: Callable[[Numbers], mpf]) -> Root:
    """The opinion on an epsilon whose curve is Gaussian."""
    return Root(lambda v, e: gaussian_excess(mu(v), e, v["delta"]))


@dataclass(frozen=True)
class SampledSum:
    """The opinion on Poisson-sampled steps, in their own units."""

    def judge(self, point: Mapping[str, Any], enclosure: Enclosure) -> None:
        v = {name: value if isinstance(value, str) else Fraction(value) for name, value in point.items()}
        units = {
            "sigma": v["noise_on_mean"] / (v["clip_norm"] / v["batch_size"]),
            "sampling_rate": v["batch_size"] / v["dataset_size"],
            "steps": v["steps"], "delta": v["delta"], "neighbours": v["neighbours"],
        }
        composition.OPINIONS["poisson-gaussian.epsilon"].judge(units, enclosure)


OPINIONS: dict[str, Any] = {
    "output-perturbation.epsilon": Value(lambda v: minimiser_moved(v) / v["scale"]),
    "output-perturbation.scale": Value(lambda v: minimiser_moved(v) / v["epsilon"]),
    "output-perturbation-gaussian.epsilon": gaussian(lambda v: minimiser_moved(v) / v["sigma"]),
    "output-perturbation-gaussian.sigma": Root(
        lambda v, sigma: gaussian_excess(minimiser_moved(v) / sigma, v["epsilon"], v["delta"])
    ),
    "objective-perturbation.epsilon": Value(objective_epsilon),
    "objective-perturbation.scale": Value(objective_scale),
    "objective-perturbation.ridge": Value(objective_ridge),
    "objective-perturbation-gaussian.epsilon": Root(objective_gaussian_excess),
    "exponential-mechanism.epsilon": Value(
        lambda v: {"replace": 2, "add_remove": 1}[v["neighbours"]] / v["temperature"] * v["loss_range"]
    ),
    "exponential-mechanism.utility": Value(utility),
    "subsample-aggregate.epsilon": Value(lambda v: v["estimate_range"] / v["blocks"] / v["scale"]),
    "subsample-aggregate-gaussian.epsilon": gaussian(lambda v: v["estimate_range"] / v["blocks"] / v["sigma"]),
    "sufficient-statistics.epsilon": Value(
        lambda v: mp.fsum(abs(move) for move in corner_moments()) / v["dataset_size"] / v["scale"]
    ),
    "sufficient-statistics-gaussian.epsilon": gaussian(
        lambda v: mp.sqrt(mp.fsum(move**2 for move in corner_moments())) / v["dataset_size"] / v["sigma"]
    ),
    "dp-gd.epsilon": Root(
        lambda v, e: gaussian_excess(descent_mu(v, v["noise_on_mean"]), e, v["delta"]) if v["steps"] else mpf(0)
    ),
    "dp-gd.sigma": Root(
        lambda v, sigma: gaussian_excess(descent_mu(v, sigma), v["epsilon"], v["delta"]) if v["steps"] else mpf(0)
    ),
    "dp-sgd.epsilon": SampledSum(),
}
