r"""The classical calibration sigma = Delta sqrt(2 log(K/delta)) / epsilon, judged on a stated range of epsilon.

With s = sqrt(2 log(K/delta)), mu = epsilon/s and R the Mills ratio, the true delta of the calibrated mechanism is
phi(x) (R(x) - R(x + mu)) at x = s - epsilon/(2s), and phi(x) = e^{-s^2/2 + epsilon/2 - epsilon^2/(8 s^2)} / sqrt(2 pi).
Since delta = K e^{-s^2/2}, the calibration is private if and only if

    R(x) - R(x + mu) <= K sqrt(2 pi) e^{-epsilon/2 + epsilon^2/(8 s^2)}.

Proof for all delta in (0, 1) and epsilon in (0, E]: x rises in s and falls in epsilon, so x >= x0 = s0 - E/(2 s0) with
s0 = sqrt(2 log K); R falls, so the left side is below R(x0); the right side is above K sqrt(2 pi) e^{-E/2}. One
inequality between two numbers, certified in balls, is the whole proof. Where it fails, certified points decide.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import ctx

from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball
from theorems.given import Domain
from theorems.tools.calibrated_range import enough
from theorems.tools.symbolic_signs import positive, vanishes
from theorems.verdict import Finding, argued, computed, proof, refuted

_EPSILONS = tuple(Fraction(v) for v in ("1/100", "1/10", "1/2", "99/100", *map(str, range(1, 11)), "20"))
_DELTAS = tuple(Fraction(v) for v in ("1e-5", "1e-10", "1e-2", "1/10", "1/2", "17/20"))


def true_delta(epsilon: Fraction, delta: Fraction, constant: Fraction) -> Enclosure:
    """The enclosure of the delta that the calibrated mechanism really has at epsilon."""
    if delta >= constant:
        return Enclosure.exactly(1)  # the prescribed variance is zero or negative: there is no noise
    with ctx.workprec(80):
        s = (2 * (ball(constant) / ball(delta)).log()).sqrt()
        return Enclosure.of_ball(delta_ball(ball(epsilon), ball(epsilon) / s))


def calibration(says: Fraction, given: Domain) -> Finding:
    """Judge the constant K = says for every delta and every epsilon of the hypotheses."""
    tried = [(epsilon, delta) for delta in _DELTAS for epsilon in _EPSILONS
             if given.contains(epsilon=epsilon, delta=delta)]
    tried += [(point["epsilon"], point["delta"]) for point in given.points("epsilon", "delta")]
    found = [(epsilon, delta, true_delta(epsilon, delta, says)) for epsilon, delta in tried]
    violations = [(epsilon, delta, actual) for epsilon, delta, actual in found if not actual.possibly_le(delta)]
    if violations:
        epsilon, delta, actual = violations[0]
        smallest = min(one[:2] for one in violations)
        return refuted(
            f"at epsilon = {epsilon} the calibrated mechanism has delta above the claimed one, certified in balls; "
            f"{len(violations)} of the points tried fail",
            {
                "epsilon": epsilon, "claimed delta": f"{float(delta):g}", "true delta": actual,
                "smallest failing epsilon tried": f"{smallest[0]} (delta = {float(smallest[1]):g})",
            },
        )
    largest, low, high = given["epsilon"].high, given["delta"].low, given["delta"].high
    e, s, delta = sympy.symbols("epsilon s delta", positive=True)
    k, sensitivity = sympy.Rational(says.numerator, says.denominator), given.symbol("sensitivity")
    x, mu = s - e / (2 * s), e / s
    calibrated = sympy.sqrt(2 * sympy.log(k / delta))
    return proof(
        computed("with sigma = Delta s/epsilon, mu = Delta/sigma is epsilon/s, whatever Delta is",
                 sensitivity.is_positive is True and vanishes(sensitivity / (sensitivity * s / e) - mu)),
        computed("epsilon/mu - mu/2 is x = s - epsilon/(2s), epsilon/mu + mu/2 is x + mu, and e^epsilon phi(x + mu) = "
                 "phi(x): the true delta is phi(x) (R(x) - R(x + mu)), R the Mills ratio",
                 vanishes(e / mu - mu / 2 - x, e / mu + mu / 2 - x - mu, e - (x + mu) ** 2 / 2 + x**2 / 2)),
        computed("log phi(x) is -s^2/2 + epsilon/2 - epsilon^2/(8 s^2) but for its constant, and K e^(-s^2/2) = delta",
                 vanishes(-(x**2) / 2 + s**2 / 2 - e / 2 + e**2 / (8 * s**2),
                          k * sympy.exp(-(calibrated**2) / 2) - delta)),
        computed("x rises in s and falls in epsilon, and s is least at the largest delta, 1",
                 positive(sympy.diff(x, s), -sympy.diff(x, e), -sympy.diff(sympy.log(k / delta), delta))
                 and low == 0 and high == 1),
        argued("R(x) = int_0^inf e^(-xt - t^2/2) dt falls in x, so R(x) - R(x + mu) < R(x0) at the least x"),
        computed(f"R(x0) < K sqrt(2 pi) e^(-E/2), certified at the largest epsilon, E = {largest}",
                 largest is not None and enough(says, largest, Fraction(1))),
        tried=len(tried),
    )
