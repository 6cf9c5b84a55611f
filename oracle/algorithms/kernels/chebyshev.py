r"""Polynomials that approximate an activation on [-1, 1], with a certified error (document 002, Lemmas 16 and 17).

The polynomial p of degree m interpolates the activation at the Chebyshev points cos((2k + 1) pi / (2m + 2)). Its
coefficients are computed in balls and rounded to exact dyadic numbers; the error is that of the rounded polynomial.

CERTIFICATE. A real trigonometric polynomial t of degree N that has its largest modulus 1 at u satisfies
|t(v)| >= cos(N (v - u)) for |v - u| <= pi/N (M. Riesz). So, for a polynomial q of degree at most N and the M > N
Chebyshev points x_j of an interval, on the circle of which the nearest point is at most pi/(2M) away from u,

    max |q(x_j)|  <=  sup |q|  <=  max |q(x_j)| / cos(pi N / (2M))                 (Ehlich and Zeller).

ReLU minus p is a polynomial of degree max(m, 1) on each of [-1, 0] and [0, 1], to which this applies as it is. The
sigmoid is analytic for |Im z| < pi. In the ellipse with foci -1 and 1 and half axes sqrt(10) and 3, of sum
rho = 3 + sqrt(10), |1 + e^{-z}|^2 = (e^{-Re z} + cos Im z)^2 + sin^2 Im z is at least 1 where cos Im z >= 0, and at
least sin^2 3 elsewhere; so its Chebyshev coefficients are at most 2 rho^{-k} / sin 3, and all beyond degree N add up to
at most tau = 2 rho^{-N} / ((rho - 1) sin 3). The error is a polynomial of degree N up to tau, whence

    max |error(x_j)|  <=  sup |error|  <=  (max |error(x_j)| + tau) / cos(pi N / (2M)) + tau.

Sampling, here, is a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_poly, ctx

from oracle.core import vocabulary
from oracle.core.arithmetic import enclose, is_narrow
from oracle.core.domain import Number, choice, positive
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import DomainError, PrecisionError

FUNCTIONS = ("sigmoid", "relu")
LARGEST_DEGREE = 256
_MOST_POINTS = 1 << 20
_Piece = tuple[int, int, Callable[[arb], arb]]


@dataclass(frozen=True)
class Approximation:
    """A polynomial with exact coefficients and the certified largest distance to its function on [-1, 1]."""

    function: str
    coefficients: tuple[Fraction, ...]
    """In the Chebyshev polynomials T_0, ..., T_m."""
    error: Enclosure

    @property
    def monomials(self) -> tuple[Fraction, ...]:
        """The coefficients c_0, ..., c_m in 1, z, ..., z^m, exactly."""
        result = [Fraction(0)] * len(self.coefficients)
        before: list[int] = []
        current = [1]
        for j, coefficient in enumerate(self.coefficients):
            for power, entry in enumerate(current):
                result[power] += coefficient * entry
            following = [0, *((1 if j == 0 else 2) * entry for entry in current)]  # T_{j+1} = 2 z T_j - T_{j-1}
            for power, entry in enumerate(before):
                following[power] -= entry
            before, current = current, following
        return tuple(result)

    @property
    def norm(self) -> Enclosure:
        """|c|_2 of the coefficients in monomials: |w| of a hidden unit is this times sqrt(m + 1), see `multinomial`."""
        square = sum((entry * entry for entry in self.monomials), Fraction(0))
        return enclose(lambda: ball(square).sqrt())


def approximation(function: str, degree: int, *, width: Number = Fraction(1, 1000)) -> Approximation:
    """The interpolating polynomial, its error enclosed to `width` relative."""
    name = str(choice("function", *FUNCTIONS).parse(function))
    m, relative = int(vocabulary.degree.rational(degree)), positive("width").rational(width)
    if m > LARGEST_DEGREE:
        raise DomainError(f"degree = {m} is outside its domain: an integer in [1, {LARGEST_DEGREE}]")
    relative = min(relative, Fraction(1, 2))
    bits = relative.denominator.bit_length()
    # Coefficients in monomials grow like 2^{1.28 m}; the sigmoid's error falls like e^{-1.87 m}.
    with ctx.workprec(128 + (6 if name == "sigmoid" else 2) * m + 2 * bits):
        coefficients = _interpolated(name, m)
        found = Approximation(name, coefficients, Enclosure.exactly(0))
        return Approximation(name, coefficients, _error(found, m, relative, bits))


def _pieces(name: str) -> tuple[_Piece, ...]:
    """Intervals on each of which the function is analytic, and the function there."""
    if name == "relu":
        return (-1, 0, lambda x: arb(0)), (0, 1, lambda x: x)
    return ((-1, 1, lambda x: 1 / (1 + (-x).exp())),)


def _interpolated(name: str, degree: int) -> tuple[Fraction, ...]:
    """The Chebyshev coefficients (2 / (m + 1)) sum_k f(x_k) T_j(x_k), the first one halved, rounded."""
    count = degree + 1
    points = _chebyshev_points(count)
    values = [x.max(arb(0)) if name == "relu" else 1 / (1 + (-x).exp()) for x in points]
    result = []
    for j in range(count):
        total = sum((v * arb.cos_pi(ball(Fraction(j * (2 * k + 1), 2 * count))) for k, v in enumerate(values)), arb(0))
        result.append(Dyadic.of((total * (1 if j == 0 else 2) / count).mid()).to_fraction())
    return tuple(result)


def _chebyshev_points(count: int) -> list[arb]:
    return [arb.cos_pi(ball(Fraction(2 * k + 1, 2 * count))) for k in range(count)]


def _error(found: Approximation, degree: int, width: Fraction, bits: int) -> Enclosure:
    """sup |f - p|, by the certificate above."""
    sampled = max(degree, 1) if found.function == "relu" else degree + degree // 16 + bits + 8
    tau = arb(0) if found.function == "relu" else _tail(sampled)
    # pi N / (2M) <= 0.9 sqrt(width), whose cosine is at least 1 - 0.41 width
    count = int((arb.pi() * sampled * 5 / (9 * ball(width).sqrt())).upper().ceil().fmpz())
    if count > _MOST_POINTS:
        raise DomainError(f"width = {float(width):.3g} needs {count} points, more than {_MOST_POINTS}")
    polynomial = arb_poly([ball(entry) for entry in found.monomials])
    largest = arb(0)
    nodes = _chebyshev_points(count)
    for low, high, value in _pieces(found.function):
        middle, half = ball(Fraction(low + high, 2)), ball(Fraction(high - low, 2))
        for node in nodes:
            x = middle + half * node
            largest = largest.max(abs(value(x) - polynomial(x)))
    above = (largest + tau) / arb.cos_pi(ball(Fraction(sampled, 2 * count))) + tau
    if not is_narrow(largest.union(above), width):
        raise PrecisionError(f"the error of degree {degree} is not enclosed to {float(width):.3g}")
    return Enclosure.between(largest, above)


def _tail(degree: int) -> arb:
    """tau: what the sigmoid's Chebyshev coefficients beyond a degree add up to, at most."""
    rho = 3 + arb(10).sqrt()
    return 2 * rho**-degree / ((rho - 1) * arb(3).sin())
