"""Bugs in gradient descent: in one of the twins, which their agreement shows; in both, which the laws show."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import torch

import oracle
from empirical.mutants.changes import changed, code, configuration, tape, times, twin
from empirical.mutants.checks import Setting
from empirical.mutants.mutant import Change, Mutant
from empirical.mutants.tapes import Fault, reused, shared
from oracle.core.tape import Tape
from tests.oracle.descent import cases
from tests.oracle.descent import test_descent_accounts as accounts
from tests.oracle.descent import test_descent_training as laws
from tests.oracle.networks import test_network_training as network
from tests.planted import seen, unlike

CONFIGS: dict[str, dict[str, Any]] = {**cases.BASE, "dp-sgd-network": network.BASE}
NOISY = [name for name in CONFIGS if name != "gd"]
CLIPPED, SAMPLED = ("dp-gd", "dp-sgd", "dp-sgd-network"), ("dp-sgd", "dp-sgd-network")
SETTINGS = {
    name: Setting(oracle.algorithm(name).parse(given), cases.data(), Tape(5, 3)) for name, given in CONFIGS.items()
}


def differs(of: str, title: str, changes: Change, severity: str) -> Mutant:
    return unlike(of, title, changes, severity, SETTINGS[of])


def longest_clip(r: torch.Tensor, norms: torch.Tensor, clip_norm: float) -> torch.Tensor:
    """The slide's clipping: max where min belongs."""
    return r * torch.clamp(clip_norm / (r.abs() * norms).clamp(min=1e-300), min=1.0)


CLIPPINGS: dict[str, Callable[..., torch.Tensor]] = {
    "the longer of two clipped": longest_clip,
    "the residual clipped in place of the gradient": lambda r, norms, clip_norm: r.clamp(-clip_norm, clip_norm),
    "nothing clipped": lambda r, norms, clip_norm: r,
}


def clipping(name: str, wrong: Callable[..., torch.Tensor]) -> Change:
    return code("twin", {f"{oracle.algorithm(name).batched.split(':')[0]}:clipped": lambda honest: wrong})


def summing(wrong: Callable[..., Any]) -> Change:
    """Another sum over the records in the networks' twin; `wrong` takes the honest one first."""
    place = "oracle.algorithms.networks.torch_dp_sgd_network:_clipped_sum"
    return code("twin", {place: lambda honest: partial(wrong, honest)})


def a_layer_each(
    honest: Any, weights: Any, x: Any, squares: Any, y: Any, taken: Any, clip_norm: float, config: Any, kept: Any
) -> Any:
    """Clipped layer by layer, as if each had its own budget."""
    at = ([part[:, [i]] for part in (x, squares, y, taken)] for i in range(x.shape[1]))
    alone = [honest(weights, *one, 1e9, config, kept)[0] for one in at]
    hidden = config.hidden_units * x.shape[2]
    total = torch.zeros_like(weights)
    for gradient in alone:
        for layer in (slice(0, hidden), slice(hidden, None)):
            norm = gradient[:, layer].norm(dim=1, keepdim=True)
            total[:, layer] += gradient[:, layer] * torch.clamp(clip_norm / norm.clamp(min=1e-300), max=1.0)
    return total, taken


def sum_clipped(honest: Any, w: Any, x: Any, s: Any, y: Any, taken: Any, clip_norm: float, v: Any, kept: Any) -> Any:
    """The sum clipped, not its terms."""
    return torch.nn.functional.normalize(honest(w, x, s, y, taken, 1e9, v, kept)[0]) * clip_norm, taken


SUMS: dict[str, tuple[str, Callable[..., Any]]] = {
    "clipped a layer": ("C", a_layer_each),
    "padding counted": (
        "U", lambda honest, w, x, s, y, taken, *rest: honest(w, x, s, y, torch.ones_like(taken), *rest),
    ),
    "the sum clipped, not its terms": ("C", sum_clipped),
    "slope of another activation": (
        "U", lambda honest, w, x, s, y, taken, c, v, kept: honest(
            w, x, s, y, taken, c, changed(v, {"activation": "relu"}), kept
        ),
    ),
    "labels of another record": ("U", lambda honest, w, x, s, y, *rest: honest(w, x, s, y.flip(1), *rest)),
}


def both_on(fault: Fault) -> Change:
    """The tape of the laws' runs, whichever twin they run."""
    return code("both twins", {f"{laws.__name__}:Tape": lambda honest: lambda *given: fault(honest(*given))})


def both_with(**changes: Any) -> Change:
    """Another configuration for the laws' runs."""

    def wrong(honest: Callable[..., Any]) -> Callable[..., Any]:
        return lambda name, x, y, values, given, **how: honest(name, x, y, changed(values, changes), given, **how)

    return code("both twins", {f"{laws.__name__}:batched": wrong})


def accounted(**changes: Any) -> Change:
    """A guarantee of another configuration."""

    def wrong(honest: Callable[..., Any]) -> Callable[..., Any]:
        return lambda name, parameters, delta: honest(name, {**parameters, **changes}, delta)

    return code("accountant", {"oracle.core.planning:epsilon_of": wrong})


LAW = partial(seen, check="law")
AVERAGE = laws.test_the_average_iterate_of_the_linear_loss_has_its_closed_form_law
MOMENTS = laws.test_dp_sgd_on_the_linear_loss_has_its_mean_and_covariance
MIXTURE = laws.test_one_step_of_dp_sgd_is_the_exact_mixture_over_all_batches
CURVE = partial(accounts.test_full_batch_accounts_are_the_gaussian_curve, "dp-gd", 0.4, "replace", 2)

MUTANTS = (
    differs("gd", "a step short", configuration(steps=lambda v: v.steps - 1), "U"),
    differs("gd", "last for average", configuration(iterate="last"), "U"),
    differs("gd", "the slide's sum", twin(lambda *given: oracle.algorithm("gd").train_batched(*given) * 5), "U"),
    differs("gd", "one start for all", tape(shared("initial")), "U"),
    differs("dp-gd-projected", "hardly projected", times(radius=10), "C"),
    differs("dp-gd-projected", "projected twice", times(radius=Fraction(1, 2)), "U"),
    differs("dp-sgd", "no ridge", configuration(regularisation=Fraction(0)), "U"),
    *(
        differs(name, title, change, severity)
        for name in NOISY for title, change, severity in (
            (
                "noise off by a part in 10^6",
                times(noise_on_mean=1 + Fraction(1, 10**6)), "N",
            ),
            ("noise reused", tape(reused("noise")), "C"),
            ("noise shared", tape(shared("noise", "initial")), "C"),
            ("learning rate off in the 8th digit", times(learning_rate=1 + Fraction(1, 10**8)), "N"),
        )
    ),
    *(differs(name, "clipped to 2C", times(clip_norm=2), "C") for name in CLIPPED),
    *(
        differs(name, title, change, "C")
        for name in SAMPLED for title, change in (
            ("one batch for all steps", tape(reused("batch"))), ("one batch for all models", tape(shared("batch"))),
            ("divided by the data's size", configuration(batch_size=6)),
        )
    ),
    *(
        differs(name, title, clipping(name, wrong), "C")
        for name in ("dp-gd", "dp-sgd") for title, wrong in CLIPPINGS.items()
    ),
    *(differs("dp-sgd-network", title, summing(wrong), severity) for title, (severity, wrong) in SUMS.items()),
    LAW("dp-gd", "noise reused in both twins", both_on(reused("noise")), AVERAGE),
    LAW(
        "dp-sgd", "one batch for all steps in both twins", both_on(reused("batch")), MOMENTS,
        laws.test_batches_are_drawn_anew_for_every_step_and_record,
    ),
    LAW("dp-sgd", "larger batches in both twins", both_with(batch_size=3), MOMENTS),
    LAW("dp-sgd", "another rate in both twins", both_with(dataset_size=5, neighbours="add_remove"), MIXTURE),
    LAW("dp-gd", "another size in both twins", both_with(dataset_size=5, neighbours="add_remove"), AVERAGE),
    LAW("dp-gd", "a step short in both twins", both_with(steps=4), AVERAGE),
    LAW("dp-gd", "less noise in both twins", both_with(noise_on_mean=lambda v: v.noise_on_mean * 2 / 3), AVERAGE),
    seen("dp-gd", "accounted by adding for replacing", accounted(neighbours="add_remove"), CURVE),
    seen("dp-gd", "accounted at half the clipping norm", accounted(clip_norm=Fraction(1, 5)), CURVE),
    seen("dp-gd", "accounted for other steps", accounted(steps=4), CURVE),
)
