r"""The rates of Theorems 4.2, 4.4 and Corollary 4.3 for DP-GLMtron's shuffled pass (003; rates R9).

With lambda_i = i^-r, D_eff is of order (eta N)^{1/r} and D_pri of order (eta N)^{(1+r)/r}; the start contributes 1/(eta
N), label noise D_eff/N, private noise s^2 D_pri/N. Balanced:

    s = 0             eta = N^{-1/(1+r)}            N^{-r/(1+r)}
    s constant        eta = N^{-(1+r)/(1+2r)}       N^{-r/(1+2r)}     (the largest epsilon that Theorem 4.1 admits)
    s = c/sqrt(N)     eta = N^{-1/(1+r)}            N^{-r/(1+r)}      (a fixed epsilon; the private part is 1/N)

With lambda_i = e^-i these are (ln N)/N at a constant eta, N^{-1/2} at eta = N^{-1/2}, and (ln N)/N: the corollary
prints 1/N, without the logarithm that k* = ln(eta N) directions of label noise cost (Theorem 4.4 says so, too).

Exponents are read off the lower and the upper chain of `relu_chains` (c = 1/4 and 1/2, a factor of about 2 apart, in
float64), both of which must have them. Spectra are cut at a dimension where little of D_pri is lost; to cut more makes
slopes too steep. Where the slopes still move by more than 1/40 a second term is in sight, and points do not count.
Constants were chosen on chains of other lengths and on pilots.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from empirical.studies.glmtron.relu_chains import effective, shuffled_sandwich
from empirical.studies.glmtron.relu_data import (
    PREMISES,
    lower_bound,
    pass_at,
    pass_noise,
    sandwich,
    trained_risks,
    trivial,
    upper_bound,
)
from empirical.studies.study import FLOAT, Array, Asymptotics, Curve, Premise, Simulation, Spot, Study

GRID = tuple(4**k for k in range(3, 9))
"""Numbers of records."""
NEEDS = "a chain takes as many steps as there are records, and the grid ends where that takes seconds"
_SOURCE = ("glmtron/thm-4.2", "glmtron/thm-4.4", "glmtron/cor-4.3-poly")
_EXPONENTIAL = ("glmtron/thm-4.2", "glmtron/thm-4.4", "glmtron/cor-4.3-exp")
_MODELS = 4
_risks = trained_risks("dp-glmtron", pass_noise, _MODELS)
_chains = sandwich(shuffled_sandwich)


def _cut(spot: Spot) -> bool:
    """What N^2 eta^2 sum lambda_i beyond the dimension d, at most an integral, would add to D_pri."""
    run, r = pass_at(spot), float(spot["exponent"])
    lost = (run.records * run.rate) ** 2 * len(run.spectrum) ** (1 - r) / (r - 1)
    return bool(run.noise < 1e-9 or lost <= effective(run, 1) / 5)


CUT = Premise("no more than a fifth of D_pri lies beyond the dimension", _cut)
_DIMENSIONS = {Fraction(3, 2): 2000, Fraction(2): 1500, Fraction(3): 400}
_RULES: dict[str, tuple[str, Callable[[Fraction], Fraction], dict[str, Any]]] = {
    "without noise": ("nonprivate", lambda r: -1 / (1 + r), {"noise": 0}),
    "constant noise": ("constant", lambda r: -(1 + r) / (1 + 2 * r), {"noise": 1}),
    "noise 2/sqrt(N)": ("falling", lambda r: -1 / (1 + r), {"noise": 2, "falling": Fraction(-1, 2)}),
}


def _power(name: str, r: Fraction, rule: str) -> Study:
    _, cooling, noise = _RULES[rule]
    predicted = -1 - cooling(r)
    return Study(
        name=name,
        source=_SOURCE,
        statement=f"DP-GLMtron on lambda_i = i^-{r}, {rule}: exponent {predicted} in N",
        estimand="expected excess population risk of the average iterate",
        generator="Gaussian features, w*_i = i^-1/2, Gaussian label noise of deviation 1/2; lower and upper chain",
        axis="N",
        grid=GRID,
        setting={
            "spectrum": "power", "exponent": r, "dimension": _DIMENSIONS[r], "target": "i^-1/2",
            "label": Fraction(1, 2), "rate": Fraction(3, 5), "cooling": cooling(r), "models": _MODELS, **noise,
        },
        predicted=predicted,
        margin=Fraction(1, 30),
        exactness=FLOAT,
        premises=(*PREMISES, CUT),
        exact=_chains,
        bound=upper_bound,
        trivial=trivial,
        simulation=Simulation(_risks, (64, 256), 16, 2003, block=8),
        needs=NEEDS,
        asymptotics=Asymptotics(drift=Fraction(1, 40)),
    )


nonprivate_slow = _power("glmtron-power-1.5-nonprivate", Fraction(3, 2), "without noise")
nonprivate_square = _power("glmtron-power-2-nonprivate", Fraction(2), "without noise")
nonprivate_cube = _power("glmtron-power-3-nonprivate", Fraction(3), "without noise")
constant_slow = _power("glmtron-power-1.5-constant", Fraction(3, 2), "constant noise")
constant_square = _power("glmtron-power-2-constant", Fraction(2), "constant noise")
constant_cube = _power("glmtron-power-3-constant", Fraction(3), "constant noise")
falling_slow = _power("glmtron-power-1.5-falling", Fraction(3, 2), "noise 2/sqrt(N)")
falling_square = _power("glmtron-power-2-falling", Fraction(2), "noise 2/sqrt(N)")
falling_cube = _power("glmtron-power-3-falling", Fraction(3), "noise 2/sqrt(N)")


# --- the exponential spectrum


def _log(spot: Spot) -> float:
    """ln(eta N), the number of directions that count."""
    return math.log(pass_at(spot).rate * spot["N"])


def _per_log(spot: Spot) -> Curve:
    return tuple(end / _log(spot) for end in _chains(spot))


def _sampled_per_log(spot: Spot, seed: int, replicates: range) -> Array:
    return _risks(spot, seed, replicates) / _log(spot)


def _exponential(
    name: str, rule: str, setting: dict[str, Any], *, per_log: bool, printed: str, repeats: bool = False
) -> Study:
    predicted = Fraction(-1, 2) if rule == "constant noise" else Fraction(-1)
    runs = Simulation(_sampled_per_log if per_log else _risks, (64, 256), 16, 2003, block=8)
    return Study(
        name=name,
        source=_EXPONENTIAL,
        statement=f"DP-GLMtron on lambda_i = e^-i, {rule}: {printed}",
        estimand="expected excess population risk of the average iterate" + (" over ln(eta N)" if per_log else ""),
        generator="Gaussian features, w*_i constant, Gaussian label noise of deviation 1/2; lower and upper chain",
        axis="N",
        grid=GRID,
        setting={
            "spectrum": "exponential", "dimension": 40, "target": Fraction(1, 2), "label": Fraction(1, 2),
            "models": _MODELS, **setting,
        },
        predicted=predicted,
        margin=Fraction(1, 20),
        exactness=FLOAT,
        premises=PREMISES,
        exact=_per_log if per_log else _chains,
        bound=(lambda spot: upper_bound(spot) / _log(spot)) if per_log else upper_bound,
        trivial=(lambda spot: trivial(spot) / _log(spot)) if per_log else trivial,
        simulation=None if repeats else runs,
        needs=NEEDS,
    )


_STILL = {"rate": Fraction(1, 2), "cooling": 0, "noise": 0}
_FALLING = {"rate": Fraction(1, 2), "cooling": 0, "noise": 2, "falling": Fraction(-1, 2)}
exponential_printed = _exponential(
    "glmtron-exponential-nonprivate-printed", "without noise", _STILL, per_log=False, printed="O(1/N), as printed",
    repeats=True,  # the runs of the next one
)
exponential_nonprivate = _exponential(
    "glmtron-exponential-nonprivate", "without noise", _STILL, per_log=True, printed="O(ln N/N)",
)
exponential_constant = _exponential(
    "glmtron-exponential-constant", "constant noise",
    {"rate": 1, "cooling": Fraction(-1, 2), "noise": Fraction(1, 4), "target": 1},
    per_log=False, printed="exponent -1/2",
)
exponential_falling = _exponential(
    "glmtron-exponential-falling", "noise 2/sqrt(N)", _FALLING, per_log=True, printed="O(ln N/N)",
)


# --- Theorem 4.4 as it stands: its terms with constants, at every point


def _over_risk(spot: Spot) -> Curve:
    low, high = _chains(spot)
    return lower_bound(spot) / high, lower_bound(spot) / low


lower_terms = Study(
    name="glmtron-lower-bound",
    source=("glmtron/thm-4.4",),
    statement="risk >= 0.0217 sum w*^2 min(1/(N eta)^2/lambda, lambda) + (3/512)(sigma^2 D_eff + s^2 D_pri)/N",
    estimand="the lower bound of Theorem 4.4, with the constants proved here, over the excess risk",
    generator="the chains of glmtron-power-2-constant",
    axis="N",
    grid=GRID[:-1],
    setting=constant_square.setting,
    exactness=FLOAT,
    premises=(*PREMISES, CUT),
    exact=_over_risk,
    bound=lambda spot: arb(1),
)
