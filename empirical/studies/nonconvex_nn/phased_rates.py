"""Theorem 1 of 002 (Algorithm 2, phased SGD): n^(-1/2) + sqrt(theta log(1/delta))/(n epsilon) (rates R1).

The step is eta = c min{epsilon/sqrt(theta log(1/delta)), 1/sqrt(n)}, c = 1/10, which has two regimes, parted at
n = theta log(1/delta)/epsilon^2: statistical beyond, private before. A path to the private exponent must stay before
it: epsilon = n^(-3/5), n epsilon = n^(2/5). Its curve has that exponent from n = 2^35 on, where no run can reach, and
the exact curve can. epsilon and log(1/delta) enter step and noise as epsilon/sqrt(log(1/delta)) only, so that the
exponent of log(1/delta) is minus half of that of epsilon: no study of its own. The bound theta on the rank comes twice:
once as what it is, a number that is told (the data stay), and once with null atoms that make the rank theta.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from empirical.studies.nonconvex_nn.linear_twin import (
    ROOT_LOG,
    WELL_SPECIFIED,
    PhasedPlan,
    closed_bound,
    excess,
    trained,
    trivial,
)
from empirical.studies.study import Array, Curve, Premise, Simulation, Spot, Study

_STEP = Fraction(1, 10)
_ATOMS = 36
_MODELS = 16
_SOURCE = ("nonconvex-nn/thm-1-utility",)
_GENERATOR = "e_j with p_j = 2^-j, labels +-1 of mean +-0.3, clip link; second moments closed"


def _budget(spot: Spot) -> tuple[int, Fraction]:
    """n and epsilon."""
    if "n" in spot:
        return spot["n"], Fraction(spot["epsilon"])
    power = (int(spot["n epsilon"]).bit_length() - 1) // 2
    return 2 ** (5 * power), Fraction(1, 8**power)


def _root_rank(spot: Spot) -> int:
    return math.isqrt(spot["theta"])


def plan_of(spot: Spot) -> PhasedPlan:
    """The run that the theorem asks for: n epsilon is 4^k on the path n = 2^(5k), epsilon = n^(-3/5)."""
    n, epsilon = _budget(spot)
    step = _STEP * epsilon / (_root_rank(spot) * ROOT_LOG)
    if spot["statistical"]:
        step = min(step, _STEP / math.isqrt(n))
    return PhasedPlan(n, step, 8 * ROOT_LOG / epsilon, spot["atoms"], spot["theta"] - _ATOMS if spot["padded"] else 0)


def _exact(spot: Spot) -> Curve:
    return (excess(plan_of(spot)),)


def _bound(spot: Spot) -> arb:
    return closed_bound(plan_of(spot), rank=Fraction(spot["theta"]))


def _sample(spot: Spot, seed: int, replicates: range) -> Array:
    return trained(plan_of(spot), seed, replicates, models=_MODELS)


def _literal(spot: Spot) -> bool:
    """The step is c times the least of the two, and n, theta are such that it is rational."""
    (n, epsilon), plan = _budget(spot), plan_of(spot)
    cap = plan.step**2 <= _STEP**2 / n  # the least of the two, also where sqrt(n) is not asked for
    return bool(n & (n - 1) == 0 and _root_rank(spot) ** 2 == spot["theta"] and cap and 0 < epsilon <= 1)


_PREMISES = (
    WELL_SPECIFIED,
    Premise("n a power of 2, 0 < epsilon <= 1, and the step at most c times either of the theorem's", _literal),
    Premise("eta <= 8/G: no step expands", lambda spot: plan_of(spot).step <= 8),
    Premise("theta bounds the rank", lambda spot: plan_of(spot).atoms + plan_of(spot).null <= spot["theta"]),
)


def _private(spot: Spot) -> bool:
    n, epsilon = _budget(spot)
    return bool(n * epsilon**2 <= spot["theta"] * ROOT_LOG**2)


_BEFORE = Premise("n <= theta log(1/delta)/epsilon^2: the private regime", _private)
_DATA = {"atoms": _ATOMS, "padded": False}

in_records = Study(
    name="phased-sgd-statistical",
    source=_SOURCE,
    statement="excess risk O(n^(-1/2)) at epsilon = 1: exponent -1/2 in n",
    estimand="expected excess population risk of the last release",
    generator=_GENERATOR,
    axis="n",
    grid=(2**10, 2**12, 2**14, *(2**k for k in range(18, 54, 4))),
    setting={**_DATA, "theta": 36, "epsilon": Fraction(1), "statistical": True},
    predicted=Fraction(-1, 2),
    margin=Fraction(1, 50),
    premises=_PREMISES,
    exact=_exact,
    bound=_bound,
    trivial=trivial,
    simulation=Simulation(_sample, (2**10, 2**12, 2**14), 16, 2001),
)

in_budget = Study(
    name="phased-sgd-private",
    source=_SOURCE,
    statement="excess risk O(sqrt(theta log(1/delta))/(n epsilon)): exponent -1 in n epsilon, at epsilon = n^(-3/5)",
    estimand="expected excess population risk of the last release",
    generator=_GENERATOR,
    axis="n epsilon",
    grid=tuple(4**k for k in range(2, 13)),
    setting={**_DATA, "theta": 36, "statistical": False},
    predicted=Fraction(-1),
    premises=(*_PREMISES, _BEFORE),
    exact=_exact,
    bound=_bound,
    trivial=trivial,
    simulation=Simulation(_sample, (4**2,), 64, 2002, 16),
)

in_epsilon = Study(
    name="phased-sgd-epsilon",
    source=_SOURCE,
    statement="excess risk O(sqrt(theta log(1/delta))/(n epsilon)): exponent -1 in epsilon at n = 2^50",
    estimand="expected excess population risk of the last release",
    generator=_GENERATOR,
    axis="epsilon",
    grid=tuple(Fraction(1, 2**k) for k in range(36, 20, -2)),
    setting={**_DATA, "theta": 36, "n": 2**50, "statistical": True},
    predicted=Fraction(-1),
    premises=(*_PREMISES, _BEFORE),
    exact=_exact,
    bound=_bound,
    trivial=trivial,
)

in_told_rank = Study(
    name="phased-sgd-told-rank",
    source=_SOURCE,
    statement="excess risk O(sqrt(theta log(1/delta))/(n epsilon)): exponent 1/2 in the bound theta that is told",
    estimand="expected excess population risk of the last release",
    generator=f"{_GENERATOR}; 36 atoms whatever theta",
    axis="theta",
    grid=tuple(36 * 4**k for k in range(7)),
    setting={**_DATA, "n": 2**50, "epsilon": Fraction(1, 2**28), "statistical": True},
    predicted=Fraction(1, 2),
    premises=(*_PREMISES, _BEFORE),
    exact=_exact,
    bound=_bound,
    trivial=trivial,
)

in_rank = Study(
    name="phased-sgd-rank",
    source=_SOURCE,
    statement="excess risk O(sqrt(theta log(1/delta))/(n epsilon)): exponent at most 1/2 in the rank theta",
    estimand="expected excess population risk of the last release",
    generator=f"{_GENERATOR}; 36 atoms, and theta - 36 null atoms with half of the mass",
    axis="theta",
    grid=tuple(4**k for k in range(4, 10)),
    setting={"atoms": _ATOMS, "padded": True, "n": 2**50, "epsilon": Fraction(1, 2**28), "statistical": True},
    predicted=Fraction(1, 2),
    premises=(*_PREMISES, _BEFORE),
    exact=_exact,
    bound=_bound,
    trivial=trivial,
)
