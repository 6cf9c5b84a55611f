"""The default campaign: how close audits come to the truth, an algorithm at a time.

Each entry is an audit on the worst case that is known of its algorithm (`empirical.pairs`), expected to be consistent
with what is proved. Its models are trained once and judged by every estimator that may judge them: gdp where the
release is Gaussian by theory, and the best one that assumes nothing. Beside each lower bound stand the proved epsilon,
the exact one of the pair, and what the best test, known in advance, would certify with as many models (the binomial
limit), so that the table tells the three gaps apart: of the proof, of the adversary, and of the statistics.

Plans are independent, so they are spread over processes, one thread each; a plan's result does not depend on where it
was carried out.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from empirical.audit import Audit, gaussian_release, run
from empirical.campaign import Progress
from empirical.neighbours import make_pair
from empirical.plan import Plan
from empirical.targets import Array, Target, make_target
from oracle.tape import Tape

BUDGET = 200_000
FEWER = 40_000
"""Models a side of the trainings that are no closed form."""
FREE, GAUSSIAN = "joint", "gdp"


def _entry(
    name: str, config: Mapping[str, Any], pair: str, budget: int = BUDGET, **parameters: Any
) -> Plan:
    return Plan(
        target={"kind": "algorithm", "name": name, "config": dict(config)},
        pair={"kind": "built", "name": pair, **parameters}, budget=budget, estimator=FREE, held=0.1,
    )


_CYCLIC = {
    "loss": "linear", "eta": "0.5", "lam": "0.1", "clip_norm": "1", "sigma": "0.3", "batch_size": 10, "epochs": 10,
    "feature_norm": "1",
}
_CLOCKED = {**_CYCLIC, "loss": "squared", "lam": "0", "sigma": "0.02", "batch_size": 100, "epochs": 4, "feature_norm": "2"}
_SAMPLED = {
    "loss": "linear", "eta": "0.5", "lam": "0", "clip_norm": "1", "noise_std": "0.1", "batch_size": 10, "steps": 50,
    "dataset_size": 100, "neighbours": "add_remove",
}
_PHASED = {"link": "constant", "label_bound": "1", "learning_rate": "0.5", "sigma": "4", "initial_radius": 0}
_GLMTRON = {"eta": "0.1", "clip_norm": "1", "initial_std": 0, "clip": "shorten", "noise_multiplier": "0.4"}
_THRESHOLD = {"threshold_epsilon": "2", "threshold_delta": "1e-6", "batches": 15, "model_variance": "0.5"}

DEFAULT: dict[str, Plan] = {
    "NoisyGD on quadratics": _entry(
        "noisy-cgd", {**_CYCLIC, "lam": "0.2", "sigma": "0.15", "batch_size": 50, "epochs": 20}, "cyclic-canary",
        records=50, dimension=4, batch=1,
    ),
    "NoisyCGD, canary in the first batch": _entry(
        "noisy-cgd", _CYCLIC, "cyclic-canary", records=40, dimension=4, batch=1,
    ),
    "NoisyCGD, canary in the second batch": _entry(
        "noisy-cgd", _CYCLIC, "cyclic-canary", records=40, dimension=4, batch=2,
    ),
    "NoisyCGD, canary in the last batch": _entry(
        "noisy-cgd", _CYCLIC, "cyclic-canary", records=40, dimension=4, batch=4,
    ),
    "NoisyCGD, convex, linear losses": _entry(
        "noisy-cgd", {**_CLOCKED, "loss": "linear"}, "cyclic-canary", records=300, dimension=1, batch=3,
    ),
    "NoisyCGD, convex, better losses": _entry("noisy-cgd", _CLOCKED, "clocked-canary", records=300, dimension=1),
    "DP-GD, average iterate": _entry(
        "dp-gd",
        {
            "loss": "linear", "eta": "0.5", "clip_norm": "1", "noise_std": "0.3", "steps": 10, "dataset_size": 20,
            "neighbours": "replace",
        },
        "full-batch-canary", records=20, dimension=4,
    ),
    "DP-SGD, a record added": _entry("dp-sgd", _SAMPLED, "sampled-canary", records=2, dimension=2),
    "DP-SGD, a record replaced": _entry(
        "dp-sgd", {**_SAMPLED, "neighbours": "replace", "dataset_size": 20, "batch_size": 2, "noise_std": "0.8"},
        "sampled-canary", records=20, dimension=2,
    ),
    "phased SGD": _entry("phased-sgd", _PHASED, "first-record", records=128, dimension=2),
    "DP-GLMtron": _entry("dp-glmtron", _GLMTRON, "shuffled-canary", records=20, dimension=2),
    "tree aggregation (DP-TAGLMtron)": _entry(
        "dp-taglmtron", {**_GLMTRON, "noise_multiplier": "1.5", "neighbours": "replace"}, "tree-canary",
        records=16, dimension=2, place=1,
    ),
    "output perturbation": _entry(
        "output-perturbation",
        {
            "loss": "linear", "strong_convexity": "0.5", "noise_scale": "0.1", "solver_error": "1e-9",
            "feature_norm": "1",
        },
        "minimiser-canary", records=20, dimension=1,
    ),
    "objective perturbation": _entry(
        "objective-perturbation",
        {"loss": "linear", "strong_convexity": "0.5", "epsilon": "2", "correction": "sharp", "feature_norm": "1"},
        "minimiser-canary", records=20, dimension=1,
    ),
    "exponential mechanism": _entry(
        "exponential-mechanism",
        {"loss": "logistic", "loss_range": "1", "temperature": "1", "ridge": "0.1", "radius": "2", "points": 8},
        "grid-canary", records=4, dimension=1,
    ),
    "subsample and aggregate": _entry(
        "subsample-aggregate",
        {"estimator": "median", "order": "given", "blocks": 10, "low": "0", "high": "1", "noise_scale": "0.05"},
        "block-canary", records=10,
    ),
    "sufficient statistics": _entry(
        "sufficient-statistics", {"noise_scale": "0.1", "floor": "0.01"}, "moments-canary", records=20,
    ),
    "DP-Threshold": _entry(
        "dp-threshold", {**_THRESHOLD, "weights": ["1"]}, "histogram-canary", records=15,
    ),
    "adaptive batched GD": _entry(
        "adaptive-batched-gd",
        {
            "noise": "exact", "noise_multiplier": "1.5", "eta": "0.1", "feature_norm": "2", "label_bound": "1",
            "batch_size": 10,
        },
        "bounded-canary", records=10, dimension=2,
    ),
    "two-layer kernel SGD": _entry(
        "two-layer", {"link": "constant", "degree": 3, "learning_rate": "0.5", "sigma": "1"}, "kernel-canary",
        records=64, dimension=1,
    ),
    "smoothed phased SGD": _entry(
        "smoothed-phased-sgd", {**_PHASED, "beta": "1", "gamma": "0.01", "oracle": "bisection"}, "first-record",
        budget=FEWER, records=32, dimension=2,
    ),
    "DP-SBCD, one block": _entry(
        "dp-sbcd",
        {
            "layers": 0, "width": 1, "outputs": 1, "eta": "0.5", "regulariser": "none", "lipschitz": "inf",
            "batch_size": 1, "noise": ["0.5", "0.5", "0.5"], "clip_norm": "1",
        },
        "label-canary", records=1, dimension=4,
    ),
    "projected DP-GD": _entry(
        "dp-gd-projected",
        {
            "loss": "linear", "eta": "0.5", "lipschitz": "1", "radius": "1", "noise_std": "0.2", "steps": 5,
            "dataset_size": 10, "neighbours": "replace",
        },
        "full-batch-canary", budget=FEWER, records=10, dimension=2,
    ),
    "DP-FTRL": _entry(
        "dp-ftrl", {**_GLMTRON, "noise_multiplier": "1", "neighbours": "replace"}, "tree-canary", budget=FEWER,
        records=8, dimension=1, place=2,
    ),
    "DP-SGD baseline of GLMtron": _entry(
        "glm-dp-sgd", _GLMTRON, "shuffled-canary", budget=FEWER, records=8, dimension=1,
    ),
    "DP-PGD on projected records": _entry(
        "dp-pgd",
        {"eta": "0.5", "sigma": "0.5", "weight_bound": "1", "label_bound": "1", "projected_dimension": 64, "steps": 4},
        "bounded-canary", budget=FEWER, records=5, dimension=1,
    ),
    "convex ReLU units": _entry(
        "noisy-cgd-convex-relu",
        {
            "loss": "squared", "outputs": 1, "hyperplanes": 2, "eta": "0.2", "lam": "0.1", "clip_norm": "1",
            "clipping": "record", "sigma": "0.3", "batch_size": 5, "epochs": 3, "feature_norm": "1",
        },
        "unit-canary", budget=FEWER, records=10, dimension=1,
    ),
    "tuned NoisyCGD": _entry(
        "poisson-tuned-noisy-cgd",
        {
            "loss": "linear", "etas": ["0.5"], "lams": ["0.1"], "clip_norm": "1", "sigma": "0.5", "batch_size": 5,
            "epochs": 3, "feature_norm": "1", "mean": "3", "validation": 1, "score": "loss",
        },
        "tuned-canary", budget=FEWER, records=6, dimension=1,
    ),
    "DP-SGD on a network": _entry(
        "dp-sgd-network",
        {
            "loss": "squared", "activation": "tanh", "width": 2, "initial_std": "0.1", "eta": "0.1", "clip_norm": "1",
            "noise_std": "0.3", "batch_size": 5, "steps": 5, "dataset_size": 10, "neighbours": "add_remove",
        },
        "network-canary", budget=FEWER, records=2, dimension=1,
    ),
}
"""The audits of `dp-oracle audit --all`: each is expected to be CONSISTENT."""


@dataclass(frozen=True)
class Row:
    """An audit of the campaign, with its name and the seconds that its plan took, for all its estimators together."""

    name: str
    audit: Audit
    seconds: float

    @property
    def of_exact(self) -> float | None:
        """The lower bound over the exact epsilon."""
        exact = self.audit.exact
        return _quotient(self.audit.epsilon_lower, None if exact is None else float(exact[0]))

    @property
    def of_limit(self) -> float | None:
        """The lower bound over the binomial limit, which only bounds estimators that assume nothing."""
        return _quotient(self.audit.epsilon_lower, None if self.audit.plan.estimator == GAUSSIAN else self.audit.limit)

    @property
    def adversary(self) -> float | None:
        """The exact epsilon of the pair over what is proved of all pairs."""
        exact, proved = self.audit.exact, self.audit.proved
        return None if exact is None or proved is None else _quotient(float(exact[0]), float(proved[1]))

    def to_json(self) -> dict[str, Any]:
        """The row's object in the JSON file of `dp-oracle audit --all`."""
        return {
            "name": self.name, **self.audit.to_json(), "of_exact": self.of_exact, "of_limit": self.of_limit,
            "exact_of_proved": self.adversary, "seconds": round(self.seconds, 1),
        }


def _quotient(value: float | None, whole: float | None) -> float | None:
    return None if value is None or not whole else value / whole


COLUMNS = (
    "audit", "verdict", "estimator", "proved", "exact", "limit", "epsilon >=", ">=/exact", ">=/limit", "exact/proved",
    "models a side", "seconds",
)


def table(rows: list[Row]) -> list[tuple[str, ...]]:
    """The tightness table; the seconds of a plan stand in the first of its rows."""
    seen: set[str] = set()
    lines = []
    for row in rows:
        audit = row.audit
        first = row.name not in seen
        seen.add(row.name)
        lines.append((
            row.name if first else "", audit.verdict, audit.plan.estimator,
            "-" if audit.proved is None else f"{float(audit.proved[1]):.4f}",
            "-" if audit.exact is None else f"{float(audit.exact[0]):.4f}",
            "-" if row.of_limit is None else f"{audit.limit:.4f}", _decimals(audit.epsilon_lower, 4),
            _decimals(row.of_exact, 3), _decimals(row.of_limit, 3), _decimals(row.adversary, 3),
            "-" if audit.models is None else str(audit.models), f"{row.seconds:.1f}" if first else "",
        ))
    return lines


def _decimals(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


class _Once:
    """A target that trains no models twice: a tape names the side and the block, so it names the training."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._released: dict[tuple[Tape, bytes], Array] = {}
        self.name = target.name

    def spec(self) -> dict[str, Any]:
        """The target's own."""
        return self._target.spec()

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """What the models release, from memory where they are known."""
        key = (tape, features.tobytes() + labels.tobytes())
        if key not in self._released:
            self._released[key] = self._target.releases(features, labels, tape)
        return self._released[key]


def estimators(plan: Plan) -> tuple[str, ...]:
    """The estimators that may judge a plan, tightest first: gdp only where the released law is Gaussian by theory."""
    pair = make_pair(plan.pair, make_target(plan.target))
    return (GAUSSIAN, FREE) if gaussian_release(plan, pair) else (FREE,)


def audit_every_way(plan: Plan, *, progress: Progress = lambda _: None) -> tuple[Audit, ...]:
    """One campaign judged by every estimator; the models are trained once, since the estimators only read them."""
    target = _Once(make_target(plan.target))
    return tuple(run(replace(plan, estimator=name), target=target, progress=progress) for name in estimators(plan))


def _timed(name: str, plan: Plan) -> list[Row]:
    started = time.perf_counter()
    audits = audit_every_way(plan)
    seconds = time.perf_counter() - started
    return [Row(name, audit, seconds) for audit in audits]


def carry_out(
    plans: Mapping[str, Plan], *, workers: int = 1, told: Callable[[str], None] = lambda _: None
) -> Iterator[list[Row]]:
    """The rows of each plan, in the plans' order, spread over that many processes."""
    if workers == 1:
        for name, plan in plans.items():
            yield _timed(name, plan)
            told(name)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy torch's threads half-alive
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=context) as pool:
        waiting = {name: pool.submit(_timed, name, plan) for name, plan in plans.items()}
        for name, future in waiting.items():
            yield future.result()
            told(name)
