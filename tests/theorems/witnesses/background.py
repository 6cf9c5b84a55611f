"""Witnesses against results that documents 000 and 001 lean on, re-verified by direct sums."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath

from tests.theorems.witness_text import Witness, numbers


def best_of_poisson(base: list[Fraction], mean: mpmath.mpf) -> list[mpmath.mpf]:
    """The law of the best of K ~ Poisson(mean) runs, summed over K: P(best <= y) = F(y)^K."""
    below, law = mpmath.mpf(0), [mpmath.exp(-mean)]
    for mass in base:
        above = below + mpmath.mpf(mass.numerator) / mass.denominator
        law.append(mpmath.fsum(
            mpmath.exp(-mean) * mean**k / mpmath.factorial(k) * (above**k - below**k) for k in range(1, 120)
        ))
        below = above
    return law


def quoted_tuning(witness: Witness) -> bool:
    """The divergence of the tuned laws exceeds epsilon + m delta + log(m)/(alpha - 1)."""
    with mpmath.workdps(30):
        base, other = numbers(witness["Q"]), numbers(witness["Q'"])
        order, mean = (mpmath.mpf(Fraction(witness[key]).numerator) / Fraction(witness[key]).denominator
                       for key in ("alpha", "m"))
        tuned = list(zip(best_of_poisson(base, mean), best_of_poisson(other, mean), strict=True))
        true = mpmath.log(mpmath.fsum(p**order * q ** (1 - order) for p, q in tuned)) / (order - 1)
        moment = mpmath.fsum(
            mpmath.mpf(str(float(p))) ** order * mpmath.mpf(str(float(q))) ** (1 - order)
            for p, q in zip(base, other, strict=True)  # quarters, which floats hold
        )
        one = mpmath.log(moment) / (order - 1)
        e = 1 + 1 / (Fraction(witness["alpha"]) - 1)
        leak = max(
            sum(max(Fraction(0), p - e * q) for p, q in zip(a, b, strict=True))
            for a, b in ((base, other), (other, base))
        )
        return bool(true > one + mean * float(leak) + mpmath.log(mean) / (order - 1) + mpmath.mpf("1e-12"))


WITNESSES: dict[str, Callable[[Witness], bool]] = {"background/papernot-steinke": quoted_tuning}

NOT_WITNESSES: dict[str, Witness] = {
    "background/papernot-steinke": {"Q": "(1/4, 3/4)", "Q'": "(1/2, 1/2)", "m": "2", "alpha": "3"},
}
