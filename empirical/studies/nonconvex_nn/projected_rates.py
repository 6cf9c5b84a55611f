"""Theorem 2 of 002 (Algorithm 3, random projection and phased SGD), without logarithms, and Theorem 8's rule (R2, R6).

In expectation over the projection, which needs no event |Phi x| <= 2 and hence no factor log(n/delta) in m,

    E L - L* <= 2G [G W^2/m + 4 W^2/(eta n) + 4 (tau/eta)^2 m eta/n + (2/3) B^2 eta + 2B tau_k],

tau/eta = 16 B sqrt(L)/epsilon, L = log(2/delta): `linear_twin.closed_bound` with w* as seen through Phi (E|Phi w*|^2 =
W^2, E|Phi x|^2 <= 1, at most m directions of noise) and E l(Phi w*) - l(w*) <= G W^2/m (`jl_bias`). eta = (W/B)
min{epsilon/(16 sqrt(m L)), 1/sqrt(n)} and m of order (G W n epsilon/(64 B sqrt(L)))^(2/3) make it of order (n
epsilon)^(-2/3) + n^(-1/2): the improvement. Theorem 8 prints m = n epsilon, and with it (n epsilon)^(-1/2): what that
rule gives on the same data, whose law a model error does not change (`model_noise_rates`), is the rate it promises, so
the loss is the rule's and not the analysis'.

Risks are exact given the projection (`projected_moments`), a replicate being a projection: no run reaches such n. The
paths are epsilon = n^(-2/5), n epsilon = 8^k, m = 4^k/16 (the minimiser of the bound within a factor of 2), and epsilon
= n^(-3/5), n epsilon = m = 4^k. The twin runs where it can: whether the dimension matters.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from empirical.studies.nonconvex_nn.linear_twin import (
    ROOT_LOG,
    TARGET,
    WELL_SPECIFIED,
    PhasedPlan,
    closed_bound,
    generator_of,
    trained,
    trivial,
)
from empirical.studies.nonconvex_nn.projected_moments import gram_root, risk_given
from empirical.studies.study import EQUAL, FLOAT, Array, Asymptotics, Curve, Premise, Simulation, Spot, Study
from oracle.core.enclosure import ball

_ATOMS = 20
_GENERATOR = "e_j with p_j = 2^-j, labels +-1 of mean +-0.3, clip link; risk exact given the projection"
_ESTIMAND = "expected excess population risk of the last release"


def _budget(spot: Spot) -> tuple[int, Fraction, int]:
    """n, epsilon and m, by the rule of the spot."""
    if spot["rule"] == "least bound":
        norm = math.sqrt(spot["atoms"]) * float(TARGET)
        least = (norm * spot["n"] * float(spot["epsilon"]) / (64 * float(ROOT_LOG))) ** (2 / 3)
        return spot["n"], spot["epsilon"], max(spot["atoms"], round(least))
    if spot["rule"] == "two thirds":
        k = (int(spot["n epsilon"]).bit_length() - 1) // 3
        return 2 ** (5 * k), Fraction(1, 4**k), 4**k // 16
    k = (int(spot["n epsilon"]).bit_length() - 1) // 2
    return 2 ** (5 * k), Fraction(1, 8**k), 4**k


def plan_of(spot: Spot) -> tuple[PhasedPlan, int]:
    """The run that the theorem asks for, and m."""
    n, epsilon, m = _budget(spot)
    norm = math.sqrt(spot["atoms"]) * float(TARGET)
    step = norm * min(float(epsilon) / (16 * math.sqrt(m) * float(ROOT_LOG)), 1 / math.sqrt(n))
    return PhasedPlan(n, Fraction(step), 16 * ROOT_LOG / epsilon, spot["atoms"]), m


def _sample(spot: Spot, seed: int, replicates: range) -> Array:
    plan, m = plan_of(spot)
    return np.array([risk_given(plan, gram_root(plan.atoms, m, generator_of(seed, r))) for r in replicates])


def _over_eight(spot: Spot) -> Curve:
    """The mean over eight frozen projections, which differ by less than 1e-3 where m >= 2^22."""
    return (arb(float(_sample(spot, 2010, range(8)).mean())),)


def _bound(spot: Spot) -> arb:
    plan, m = plan_of(spot)
    return closed_bound(plan, rank=Fraction(m), more=ball(plan.distance / m))


def _linear(spot: Spot) -> bool:
    """Scores stay in [-1, 1]: from within 0.3 + 0.1, eight deviations of the noise on a record as long as 3/2."""
    plan, _ = plan_of(spot)
    spread = math.sqrt(float(plan.step) / 4 + (float(plan.noise * plan.step) / 4) ** 2)
    return 0.4 + 8 * 1.5 * spread < 1


_PREMISES = (
    WELL_SPECIFIED,
    Premise("eta <= 2/G: no step expands on records as long as 2", lambda spot: plan_of(spot)[0].step <= 2),
    Premise("m is at least the number of atoms", lambda spot: plan_of(spot)[1] >= spot["atoms"]),
    Premise("no score is clipped", _linear),
)
_DATA = {"atoms": _ATOMS, "padded": False}

improved = Study(
    name="projected-phased-sgd-private",
    source=("nonconvex-nn/thm-2-utility",),
    statement="excess risk O((n epsilon)^(-2/3)) without logarithms, over the projection: exponent -2/3 in n epsilon",
    estimand=_ESTIMAND,
    generator=_GENERATOR,
    axis="n epsilon",
    grid=tuple(8**k for k in range(5, 12)),
    setting={**_DATA, "rule": "two thirds"},
    predicted=Fraction(-2, 3),
    exactness=FLOAT,
    premises=_PREMISES,
    bound=_bound,
    trivial=trivial,
    simulation=Simulation(_sample, tuple(8**k for k in range(5, 12)), 64, 2009, 32),
)

printed_width = Study(
    name="projected-phased-sgd-printed-width",
    source=("nonconvex-nn/thm-8-utility", "nonconvex-nn/rem-9"),
    statement="Theorem 8 with its m = n epsilon: excess risk O((n epsilon)^(-1/2)): exponent -1/2 in n epsilon",
    estimand=f"{_ESTIMAND}, the mean over eight frozen projections",
    generator=_GENERATOR,
    axis="n epsilon",
    grid=tuple(4**k for k in range(11, 18)),
    setting={**_DATA, "rule": "printed"},
    predicted=Fraction(-1, 2),
    exactness=FLOAT,
    premises=_PREMISES,
    exact=_over_eight,
    bound=_bound,
    trivial=trivial,
)


def _level(exponent: int) -> Study:
    """The bound at four sizes for one epsilon, with the m that makes it least."""
    return Study(
        name=f"projected-phased-sgd-bound-{exponent}",
        source=("nonconvex-nn/thm-2-utility",),
        statement=f"the bound of Theorem 2 over the projection, with its constants, at epsilon = 2^-{exponent}",
        estimand=_ESTIMAND,
        generator=_GENERATOR,
        axis="n",
        grid=(2**26, 2**34, 2**42, 2**50),
        setting={**_DATA, "rule": "least bound", "epsilon": Fraction(1, 2**exponent)},
        exactness=FLOAT,
        premises=_PREMISES,
        bound=_bound,
        trivial=trivial,
        simulation=Simulation(_sample, (2**26, 2**34, 2**42, 2**50), 16, 2011, 16),
    )


bound_at_1 = _level(0)
bound_at_1_4 = _level(2)
bound_at_1_16 = _level(4)
bound_at_1_64 = _level(6)


# --- the dimension, on the twin


_SIGNAL, _WIDTH, _RECORDS, _FACTOR = 8, 32, 1024, 4


def _padded(spot: Spot) -> PhasedPlan:
    """Eight atoms and null ones: rank d; the step is four times that of the theorem, so that anything is learnt."""
    step = _FACTOR * math.sqrt(_SIGNAL) * float(TARGET) / (16 * math.sqrt(_WIDTH) * float(ROOT_LOG))
    return PhasedPlan(_RECORDS, Fraction(step), 16 * ROOT_LOG, _SIGNAL, spot["d"] - _SIGNAL)


def _trained(spot: Spot, seed: int, replicates: range) -> Array:
    more = {"projected_dimension": _WIDTH}
    return trained(_padded(spot), seed, replicates, models=8, name="phased-sgd-projected", more=more)


def _padded_bound(spot: Spot) -> arb:
    plan = _padded(spot)
    return closed_bound(plan, rank=Fraction(_WIDTH), more=ball(plan.distance / _WIDTH))


in_dimension = Study(
    name="projected-phased-sgd-dimension",
    source=("nonconvex-nn/thm-2-utility",),
    statement="the excess risk of Algorithm 3 does not depend on the dimension: exponent 0 in the rank",
    estimand=_ESTIMAND,
    generator="8 atoms e_j with p_j ~ 2^-j, d - 8 null atoms with half of the mass, labels +-1, clip link; n = 1024",
    axis="d",
    grid=(16, 64, 256, 1024),
    setting={"atoms": _SIGNAL, "padded": True},
    predicted=Fraction(0),
    kind=EQUAL,
    premises=(
        WELL_SPECIFIED,
        Premise("eta <= 2/G: no step expands on records as long as 2", lambda spot: _padded(spot).step <= 2),
    ),
    bound=_padded_bound,
    trivial=trivial,
    # Noise and bias of 1024 records are of the size of the trivial risk; the statement is not about small errors.
    asymptotics=Asymptotics(below=Fraction(4)),
    simulation=Simulation(_trained, (16, 64, 256, 1024), 128, 2012),
    tier="full",
)
