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

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball, normal_upper_tail
from theorems.domain import Domain
from theorems.verdict import Finding, Scope, argued, proof, refuted, undecided

_EPSILONS = tuple(Fraction(v) for v in ("1/100", "1/10", "1/2", "99/100", *map(str, range(1, 11)), "20"))
_DELTAS = tuple(Fraction(v) for v in ("1e-5", "1e-10", "1e-2", "1/10", "1/2", "17/20"))


@dataclass(frozen=True)
class Calibration:
    """What is claimed: that the constant K suffices for epsilon in (0, largest], or for every epsilon > 0 (None)."""

    largest: Fraction | None
    constant: Fraction = Fraction(5, 4)


def true_delta(epsilon: Fraction, delta: Fraction, constant: Fraction) -> Enclosure:
    """The enclosure of the delta that the calibrated mechanism really has at epsilon."""
    if delta >= constant:
        return Enclosure.exactly(1)  # the prescribed variance is zero or negative: there is no noise
    with ctx.workprec(80):
        s = (2 * (ball(constant) / ball(delta)).log()).sqrt()
        return Enclosure.of_ball(delta_ball(ball(epsilon), ball(epsilon) / s))


def proved_up_to(largest: Fraction, constant: Fraction) -> bool:
    """Whether the one-inequality proof of the module docstring goes through for epsilon in (0, largest]."""
    if constant <= 1:
        return False  # s0 would not be real
    with ctx.workprec(200):
        s0 = (2 * ball(constant).log()).sqrt()
        x0 = s0 - ball(largest) / (2 * s0)
        root = (2 * arb.pi()).sqrt()
        mills = root * (x0 * x0 / 2).exp() * normal_upper_tail(x0)
        return bool(mills < ball(constant) * root * (ball(-largest) / 2).exp())


def calibration(says: Calibration, given: Domain) -> Finding:
    """Judge a calibration for every delta in (0, 1) and every epsilon of its range."""
    violations, met = [], 0
    largest, constant = says.largest, says.constant
    for delta in _DELTAS:
        for epsilon in _EPSILONS:
            if largest is None or epsilon <= largest:
                met += 1
                actual = true_delta(epsilon, delta, constant)
                if not actual.possibly_le(delta):
                    violations.append((epsilon, delta, actual))
    if violations:
        epsilon, delta, actual = violations[0]
        smallest = min(violations)[:2]
        return refuted(
            f"at epsilon = {epsilon} the calibrated mechanism has delta above the claimed one, certified in balls; "
            f"{len(violations)} of the points tried fail",
            {
                "epsilon": str(epsilon), "claimed delta": f"{float(delta):g}", "true delta": str(actual),
                "smallest failing epsilon tried": f"{smallest[0]} (delta = {float(smallest[1]):g})",
            },
        )
    if largest is not None and proved_up_to(largest, constant):
        return proof(argued(
            f"R(x0) < K sqrt(2 pi) e^(-E/2) certified at E = {largest}; monotonicity extends it to all delta in (0, 1)"
        ))
    return undecided(
        "no point tried fails; the proof does not go through",
        Scope("points", len(_DELTAS) * len(_EPSILONS), met, {
            "epsilon": ", ".join(map(str, _EPSILONS)), "delta": ", ".join(map(str, _DELTAS)),
        }),
    )
