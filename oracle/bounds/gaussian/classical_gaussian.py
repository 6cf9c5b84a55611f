r"""The classical calibration of the Gaussian mechanism, on the range of epsilon for which it is proved.

    sigma = sqrt(2 log(1.25/delta)) Delta / epsilon,      0 < epsilon <= 1, 0 < delta < 1    (Dwork and Roth 2014, A.1)

`theorems.tools.classical_calibration` proves that this noise is enough for every delta in (0, 1) and epsilon in (0, 1],
and that it is not for every epsilon (at delta = 1e-5 it fails from epsilon = 8.42 on): epsilon > 1 is refused. The
least noise that is enough is `gaussian.sigma`, which is never larger.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import bracketed
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Bound, closed_form
from oracle.engines.gaussian_curve import sigma_of

_LOG_CONSTANT = math.log(1.25)


def _sigma(values: Values) -> arb:
    return (2 * ball(Fraction(5, 4) / values.delta).log()).sqrt() * ball(values.sensitivity / values.epsilon)


def _least(values: Values, width: Fraction) -> Enclosure:
    """The least noise; none for a sensitivity of 0."""
    if values.sensitivity == 0:
        return Enclosure.exactly(0)
    return sigma_of(values.sensitivity, values.epsilon, values.delta, width)


def _fast(xp: Any, values: Values) -> Any:
    factor = xp.sqrt(2.0 * (_LOG_CONSTANT - xp.log(values.delta)))  # a sum of positive numbers
    return inflate(quotient(xp, values.sensitivity, values.epsilon) * factor, 16.0)


sigma = Bound(
    name="gaussian-classical.sigma",
    unit="sigma",
    tightness=bracketed("the least noise, by the Gaussian curve", _least),
    summary="the textbook noise of one (epsilon, delta)-DP Gaussian release, for epsilon up to 1",
    formula=r"\sigma = \frac{\Delta}{\varepsilon}\sqrt{2\ln\frac{1.25}{\delta}}, \quad 0 < \varepsilon \le 1",
    parameters=(
        vocabulary.sensitivity,
        vocabulary.epsilon.above(0).at_most(1),
        vocabulary.delta.open(),
    ),
    assumes=("l2-sensitivity", "gaussian-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=("cs208/gaussian-mechanism-repaired",),
    validity="argued",
    certify=closed_form(_sigma),
    vectorised=_fast,
    example={"sensitivity": "1", "epsilon": "1", "delta": "1e-5"},
)
