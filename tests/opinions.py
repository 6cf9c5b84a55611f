"""Second opinions: what each bound should be, by mpmath at two precisions or by exact rationals, without oracle code.

An opinion is a formula written here from the definition, never taken from `oracle`. `Value` computes the truth itself;
`Root` says on which side of the truth a candidate lies, for bounds that are inverses. Both are evaluated at two
precisions; where these disagree, the opinion is void and the test fails, instead of judging by noise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import mp, mpf

from oracle.enclosure import Dyadic, Enclosure

DIGITS = (60, 120)
AGREEMENT = 30  # digits to which both precisions must agree

Numbers = Mapping[str, mpf]


def number(value: Any) -> mpf:
    """An int, double, Fraction or decimal text in mpmath, at the working precision."""
    exact = Fraction(value)
    return mpf(exact.numerator) / exact.denominator


def _numbers(point: Mapping[str, Any]) -> Numbers:
    return {name: number(value) for name, value in point.items()}


def dyadic(value: mpf) -> Dyadic:
    """The binary number that an mpf is, exactly and whatever its exponent."""
    sign, mantissa, exponent, _ = value._mpf_
    return Dyadic(-int(mantissa) if sign else int(mantissa), int(exponent))


def from_dyadic(value: Dyadic) -> mpf:
    """A dyadic number in mpmath, rounded to the working precision."""
    return mp.ldexp(mpf(value.mantissa), value.exponent)


def at_both_precisions(compute: Callable[[], mpf], digits: tuple[int, int] = DIGITS) -> Enclosure:
    """The value at the higher precision, give or take what the two precisions differ by; they must agree well."""
    values = []
    for working in digits:
        with mp.workdps(working):
            values.append(compute())
    with mp.workdps(2 * digits[-1]):
        low, high = values
        doubt = abs(low - high) + abs(high) * mpf(10) ** (5 - digits[-1])
        assert doubt <= abs(high) * mpf(10) ** -AGREEMENT, f"mpmath disagrees with itself: {low} and {high}"
        return Enclosure(dyadic(high - doubt), dyadic(high + doubt))


@dataclass(frozen=True)
class Value:
    """An opinion that knows the truth."""

    compute: Callable[[Numbers], mpf]
    digits: tuple[int, int] = DIGITS

    def judge(self, point: Mapping[str, Any], enclosure: Enclosure) -> None:
        """Fail unless the enclosure can contain the truth."""
        truth = at_both_precisions(lambda: self.compute(_numbers(point)), self.digits)
        assert enclosure.overlaps(truth), f"{enclosure} misses {truth} at {point}"


@dataclass(frozen=True)
class Root:
    """An opinion on an inverse: `excess(numbers, candidate)` falls in the candidate and vanishes at the truth.

    Where excess(0) <= 0 already, the truth is 0 (the least value that is allowed).
    """

    excess: Callable[[Numbers, mpf], mpf]

    def _sign(self, point: Mapping[str, Any], candidate: Dyadic) -> int:
        signs = []
        finest = candidate.mantissa.bit_length()  # a candidate of many bits lies close to the truth
        for digits in DIGITS:
            with mp.workdps(digits + finest // 3):
                signs.append(int(mp.sign(self.excess(_numbers(point), from_dyadic(candidate)))))
        assert signs[0] == signs[1], f"mpmath disagrees with itself on the sign at {point}"
        return signs[0]

    def judge(self, point: Mapping[str, Any], enclosure: Enclosure) -> None:
        """Fail unless the excess is positive below the enclosure (or there is nothing below) and negative above it."""
        if enclosure.lower.mantissa != 0:
            assert self._sign(point, enclosure.lower) >= 0, f"{enclosure} lies above the truth at {point}"
        assert self._sign(point, enclosure.upper) <= 0, f"{enclosure} lies below the truth at {point}"


def normal_tail(x: mpf) -> mpf:
    """1 - Phi(x)."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def gaussian_delta(mu: mpf, epsilon: mpf) -> mpf:
    """The Gaussian privacy curve, straight from Balle and Wang's formula.

    The two terms agree in about log10((1 + epsilon/mu) / mu) digits, which are added to the working precision.
    """
    with mp.extradps(10 + max(0, int(mp.log10((1 + epsilon / mu) / mu)))):
        result = normal_tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * normal_tail(epsilon / mu + mu / 2)
    return +result


def gaussian_delta_by_integration(mu: mpf, epsilon: mpf) -> mpf:
    """The same curve from the definition: the integral of max(0, p - e^epsilon q), p = N(mu, 1), q = N(0, 1)."""

    def excess(x: mpf) -> mpf:
        return mp.npdf(x, mu, 1) - mp.exp(epsilon) * mp.npdf(x, 0, 1)

    crossing = mp.findroot(lambda x: mp.log(mp.npdf(x, mu, 1) / mp.npdf(x, 0, 1)) - epsilon, mu)
    assert excess(crossing - 1) < 0 < excess(crossing + 1), "the positive part is not where the integral takes it"
    return mp.quad(excess, [crossing + step for step in (0, 1, 2, 4, 8, 16, 32, 64)] + [mp.inf])


def laplace_delta_by_integration(ratio: mpf, epsilon: mpf) -> mpf:
    """The integral of max(0, p - e^epsilon q) for p = Laplace(ratio, 1), q = Laplace(0, 1): the definition of delta.

    The loss |x| - |x - ratio| never exceeds the ratio, so there is no positive part for epsilon >= ratio; below, it
    begins where the densities cross. What lies further than the last piece from the peak is below 10^-digits.
    """
    if epsilon >= ratio:
        return mpf(0)

    def excess(x: mpf) -> mpf:
        return (mp.exp(-abs(x - ratio)) - mp.exp(epsilon - abs(x))) / 2

    crossing = (ratio + epsilon) / 2
    assert abs(abs(crossing) - abs(crossing - ratio) - epsilon) <= ratio * mpf(10) ** (3 - mp.dps), "no crossing there"
    # Pieces of length 16 from the peak outwards, as far as the densities count at this precision.
    steps = [mpf(16) * k for k in range(1, int(mp.dps * 2.31 / 16) + 2)]
    left = sorted({max(crossing, ratio - step) for step in (0, *steps)})
    right = [ratio, *(ratio + step for step in steps)]
    return mp.quad(excess, left, method="gauss-legendre") + mp.quad(excess, right, method="gauss-legendre")


def noisy_gd_mu(v: Numbers) -> mpf:
    """Document 000's NoisyGD formula, with its limits at c = 1."""
    c, t = v["contraction"], v["steps"]
    square = t if c == 1 else (1 - c**t) / (1 + c**t) * (1 + c) / (1 - c)
    return v["sensitivity"] / (v["dataset_size"] * v["sigma"]) * mp.sqrt(square)


def noisy_cgd_mu(v: Numbers) -> mpf:
    """Document 000's NoisyCGD formula, with its limit 1 + (E-1)/k at c = 1; one batch is NoisyGD."""
    c, k, epochs = v["contraction"], v["batches"], v["epochs"]
    if k == 1:
        return noisy_gd_mu({**v, "dataset_size": v["batch_size"], "steps": epochs})
    if c == 1:
        square = 1 + (epochs - 1) / k
    else:
        memory = c ** (k * (epochs - 1))
        square = 1 + c ** (2 * k - 2) * (1 - c**2) / (1 - c**k) ** 2 * (1 - memory) / (1 + memory)
    return v["sensitivity"] / (v["batch_size"] * v["sigma"]) * mp.sqrt(square)


def shift_programme(c: Fraction, touched: Sequence[int]) -> Fraction:
    """The exact least sum of a_i^2 with z_i = c z_{i-1} + touched_i - a_i >= 0 and z_0 = z_T = 0, for 0 < c <= 1.

    With W(t) = sum_{i<=t} c^{-2i}, S(t) = sum_{i<=t} c^{-i} touched_i and A(t) = sum_{i<=t} c^{-i} a_i, the constraint
    is A <= S with equal ends, and the cost is sum (dA)^2/dW: the taut string below S, its greatest convex minorant.
    """
    weight = total = Fraction(0)
    hull = [(weight, total)]
    for i, touch in enumerate(touched, start=1):
        weight, total = weight + c ** (-2 * i), total + c**-i * touch
        while len(hull) > 1 and _above(hull[-2], hull[-1], (weight, total)):
            hull.pop()
        hull.append((weight, total))
    return sum(((b[1] - a[1]) ** 2 / (b[0] - a[0]) for a, b in itertools.pairwise(hull)), Fraction(0))


def _above(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]) -> bool:
    """Whether b lies on or above the line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


def _gaussian_excess(mu: mpf, epsilon: mpf, delta: mpf) -> mpf:
    return gaussian_delta(mu, epsilon) - delta


OPINIONS: dict[str, Value | Root] = {
    "gaussian.delta": Value(lambda v: gaussian_delta(v["sensitivity"] / v["sigma"], v["epsilon"])),
    "gaussian.epsilon": Root(lambda v, e: _gaussian_excess(v["sensitivity"] / v["sigma"], e, v["delta"])),
    "gaussian.sigma": Root(lambda v, sigma: _gaussian_excess(v["sensitivity"] / sigma, v["epsilon"], v["delta"])),
    "gdp.epsilon": Root(lambda v, e: _gaussian_excess(v["mu"], e, v["delta"])),
    "laplace.delta": Value(
        lambda v: laplace_delta_by_integration(v["sensitivity"] / v["scale"], v["epsilon"]), digits=(45, 70)
    ),
    "noisy-gd.mu": Value(noisy_gd_mu),
    "noisy-cgd.mu": Value(noisy_cgd_mu),
}
