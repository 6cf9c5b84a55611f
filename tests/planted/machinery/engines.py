"""Bugs in engines and in the code behind them: factors that are a little off, terms and weights that are left out."""

from __future__ import annotations

import functools
import math

from empirical.mutants.changes import code
from tests.oracle.bounds import test_shuffle_long as shuffles
from tests.oracle.kernels import test_multinomial as multinomials
from tests.planted import seen

SHUFFLES, MULTINOMIAL = "oracle.engines.shuffle_long", "oracle.algorithms.kernels.multinomial"

MUTANTS = (
    seen(
        SHUFFLES, "a tail with a wrong factor",
        code("engine", {f"{SHUFFLES}:_first_below": lambda honest: lambda *given: honest(*given) * (1 + 1e-12)}),
        functools.partial(shuffles.test_the_responses_are_those_of_balls, "1", 10**6, "1/300"),
    ),
    seen(
        MULTINOMIAL, "equal products forgotten",
        code("reference", {f"{MULTINOMIAL}:multiplicity": lambda honest: lambda exponent: 1}),
        functools.partial(multinomials.test_every_product_is_one_feature, 2, 3),
        functools.partial(multinomials.test_features_give_the_kernel_in_both_implementations, 2, 3),
        functools.partial(multinomials.test_features_are_no_longer_than_one, 2, 3),
    ),
    seen(
        MULTINOMIAL, "a kernel that is not divided",
        code("reference", {
            f"{MULTINOMIAL}:features": lambda honest: lambda x, degree: math.sqrt(degree + 1) * honest(x, degree),
        }),
        functools.partial(multinomials.test_features_are_no_longer_than_one, 2, 3),
    ),
)
