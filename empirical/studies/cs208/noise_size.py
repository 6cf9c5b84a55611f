"""How much noise DP gradient descent needs in T steps, exactly, and how long noise vectors are (004; rates R14, R16).

The least noise for which T Gaussian releases of sensitivity C/n are (epsilon, delta)-DP together is a root of the exact
curve: certified by the composition engine, which knows nothing of the scaling law sigma^2 proportional to T. The slides
promise sigma^2 = O((C/(epsilon n))^2 T ln(1/delta) ln(T/delta)), by advanced composition: true, with a factor
ln(T/delta) too many. The length of k-dimensional standard normal noise has the mean sqrt(2) Gamma((k+1)/2)/Gamma(k/2),
below sqrt(k), which it approaches.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from empirical.studies.study import EQUAL, Curve, Premise, Spot, Study
from oracle.core.enclosure import ball
from oracle.core.registry import bound

EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)


def _variance(spot: Spot) -> Curve:
    """The least variance, in units of (C/n)^2."""
    found = bound("poisson-gaussian.sigma").reference(
        sampling_rate=1, steps=spot["steps"], epsilon=EPSILON, delta=DELTA, neighbours="add_remove", width="1e-6",
    )
    return (found.ball**2,)


def _slides(spot: Spot) -> arb:
    """The slides' variance with the constants of their steps: each release (e0, d0), advanced composition solved.

    d0 = delta/(2T) and e0 = epsilon/(2 sqrt(2 T ln(2/delta))), for which T e0 (e^e0 - 1) is below epsilon/2.
    """
    steps = arb(spot["steps"])
    each = ball(EPSILON) / (2 * (2 * steps * (2 / ball(DELTA)).log()).sqrt())
    return 2 / each**2 * (arb(5) / 4 * 2 * steps / ball(DELTA)).log()


def _second_order(spot: Spot) -> bool:
    steps = arb(spot["steps"])
    each = ball(EPSILON) / (2 * (2 * steps * (2 / ball(DELTA)).log()).sqrt())
    return bool(steps * each * each.expm1() <= ball(EPSILON) / 2)


in_steps = Study(
    name="dp-gd-noise",
    source=("cs208/dp-gd-noise-formula", "cs208/zcdp-noise"),
    statement="sigma^2 = O((C/(epsilon n))^2 T ln(1/delta) ln(T/delta)); exactly, sigma^2 is proportional to T",
    estimand="noise variance over (C/n)^2",
    generator="T Gaussian releases, epsilon = 1, delta = 1e-6: the root of the exact curve",
    axis="steps",
    grid=(1, 10, 100, 1000, 10**4, 10**5, 10**6),
    predicted=Fraction(1),
    margin=Fraction(1, 1000),
    kind=EQUAL,
    premises=(
        Premise("advanced composition's second term is at most epsilon/2", _second_order),
        Premise("epsilon_0 < 1, as the classical calibration asks", lambda spot: EPSILON <= 1),
    ),
    exact=_variance,
    bound=_slides,
)


def _length(spot: Spot) -> Curve:
    half = arb(spot["parameters"]) / 2
    return (arb(2).sqrt() * ((half + arb(1) / 2).lgamma() - half.lgamma()).exp(),)


length = Study(
    name="noise-length",
    source=("cs208/noise-params",),
    statement="the noise of a vector grows with the square root of the number of its parameters",
    estimand="expected length of the noise over sigma",
    generator="the mean of the chi law, by the Gamma function",
    axis="parameters",
    grid=tuple(4**k for k in range(12)),
    predicted=Fraction(1, 2),
    margin=Fraction(1, 50),
    kind=EQUAL,
    premises=(Premise("one parameter at least", lambda spot: spot["parameters"] >= 1),),
    exact=_length,
    bound=lambda spot: arb(spot["parameters"]).sqrt(),
)
