"""Bugs in two-layer training: in the batched twin, which the agreement shows; in both twins, which the laws show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from empirical.mutants.changes import code, configuration, tape
from empirical.mutants.checks import Setting
from empirical.mutants.mutant import SLIP, Mutant
from empirical.mutants.tapes import reused, shared
from oracle.algorithms.kernels import multinomial
from oracle.algorithms.kernels.torch_multinomial import Table
from oracle.core.tape import Tape
from tests.oracle.kernels import test_two_layer_training as laws
from tests.planted import seen, unlike

SETTINGS = {name: Setting(laws.config(name), laws.data(70), Tape(5, 3)) for name in laws.BASE}
ROOM = "oracle.algorithms.kernels"


def uncounted(honest: Any) -> Any:
    """Every product once, whatever stands for it in the kernel."""

    def features(x: torch.Tensor, of: Table) -> torch.Tensor:
        counts = [multinomial.multiplicity(exponent) for exponent in of.exponents.tolist()]
        return honest(x, of) / torch.as_tensor(counts, dtype=x.dtype).sqrt()

    return features


def undivided(honest: Any) -> Any:
    return lambda x, of: honest(x, of) * (of.degree + 1) ** 0.5


def linked(of: str, title: str, wrong: Callable[[Any], Any]) -> Mutant:
    """Another link in both implementations: the twins cannot see it, the laws do."""
    places = {
        f"{ROOM}.{module}:link": lambda honest: lambda name, scores: wrong(scores)
        for module in ("two_layer", "torch_two_layer")
    }
    return Mutant(
        of, title, code("both twins", places), severity="C", origin=SLIP, caught_by=("law",), spared_by=("twins",),
        at={"setting": SETTINGS[of], "tests": (
            laws.test_the_first_gradient_is_that_of_the_surrogate_loss,
            laws.test_links_rise_within_the_unit_interval_with_their_slope,
            laws.test_the_constant_link_releases_its_gaussian,
        )},
    )


KERNEL_TWINS = partial(laws.test_the_twins_of_the_kernel_form_agree, "sigmoid")
KERNEL = f"{ROOM}.torch_two_layer_kernel:kernel"

MUTANTS = (
    *(
        unlike(name, title, change, severity, SETTINGS[name])
        for name in SETTINGS for title, change, severity in (
            ("noise reused", tape(reused("noise", first=1)), "C"),
            ("noise shared", tape(shared("noise")), "C"),
            ("another link", configuration(link="clip"), "U"),
            ("another degree", configuration(degree=2), "U"),
            ("less noise", configuration(noise_over_step=0.29), "C"),
            ("smaller steps", configuration(base_learning_rate=1.999), "U"),
            ("features that are not divided", code("twin", {f"{ROOM}.torch_multinomial:features": undivided}), "C"),
            ("features that are not counted", code("twin", {f"{ROOM}.torch_multinomial:features": uncounted}), "U"),
        )
    ),
    unlike(
        "two-layer-projected", "a projection shared by the models", tape(shared("projection")), "U",
        SETTINGS["two-layer-projected"],
    ),
    *(
        seen("two-layer", title, code("twin", {KERNEL: wrong}), KERNEL_TWINS, severity=severity)
        for title, wrong, severity in (
            ("a kernel that is not divided", lambda honest: lambda *given: honest(*given) * (given[2] + 1), "C"),
            ("a kernel of one power", lambda honest: lambda x, other, degree: (x @ other.T) ** degree, "U"),
        )
    ),
    seen(
        "two-layer", "noise reused in both twins", code("both twins", {
            f"{laws.__name__}:Tape": lambda honest: lambda *given: reused("noise", first=1)(honest(*given)),
        }), laws.test_the_constant_link_releases_its_gaussian, check="law",
    ),
    *(
        linked(name, title, wrong)
        for name in SETTINGS for title, wrong in (
            ("a link of the other sign", lambda score: -score), ("a link of twice the score", lambda score: 2 * score),
        )
    ),
)
