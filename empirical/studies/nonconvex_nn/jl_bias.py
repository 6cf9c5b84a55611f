r"""What a random projection costs the surrogate loss, exactly: E l(Phi w) - l(w) for the tanh link (002, rates R2, R6).

The loss of a record is log cosh z - y z at z = <w, x>. With Phi [m, d] of independent N(0, 1/m) the score becomes Z =
<Phi w, Phi x>, E Z = z; so the label drops out, and E log cosh Z - log cosh z is what is lost, at the optimum of the
surrogate and off it (Remark 9 of 002 says that off it only E|Z - z| = O(m^(-1/2)) is to be had). By Taylor it is at
most (G/2) Var Z, Var Z = (|w|^2 |x|^2 + z^2)/m. Exactly: with c = |w| |x| and rho = z/c,

    E e^(itZ) = (1 - 2 i t c rho/m + t^2 c^2 (1 - rho^2)/m^2)^(-m/2),

and as (log cosh)'' = sech^2 has the Fourier transform pi t/sinh(pi t/2),

    E log cosh Z - log cosh z = -int_0^oo Re(E e^(itZ) - e^(itz)) / (t sinh(pi t/2)) dt.

Up to a the integrand is at most Var Z/pi, as |E e^(itZ) - e^(itz)| <= t^2 Var Z/2; beyond b >= 1 it is at most
2/sinh(pi t/2) <= 5 e^(-pi t/2), so the tail is at most 4 e^(-pi b/2).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import acb, arb, ctx

from empirical.studies.nonconvex_nn.linear_twin import generator_of, tape_of
from empirical.studies.study import EQUAL, Array, Curve, Premise, Simulation, Spot, Study
from oracle.algorithms.phased.phased_sgd import projection
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball

_BITS, _FROM, _TO = 192, Fraction(1, 2**60), 80
_DIMENSION, _MODELS = 3, 64


def variance(spot: Spot) -> arb:
    """Var Z for |x| = 1."""
    return ball((spot["norm"] ** 2 + spot["score"] ** 2) / Fraction(spot["m"]))


def loss(spot: Spot) -> Curve:
    """The loss of the projection, for |x| = 1."""
    with ctx.workprec(_BITS):
        m, z, c = spot["m"], ball(spot["score"]), ball(spot["norm"])
        across = (c * c - z * z) / m**2

        def integrand(t: acb, analytic: bool) -> acb:
            base = 1 + t * t * across - acb(0, 2) * t * z / m
            there = (-(acb(m) / 2) * base.log(analytic=analytic)).exp() - (acb(0, 1) * t * z).exp()
            # Re of the difference as an analytic function: half of it and its mirror image at -t
            mirrored = 1 + t * t * across + acb(0, 2) * t * z / m
            back = (-(acb(m) / 2) * mirrored.log(analytic=analytic)).exp() - (acb(0, -1) * t * z).exp()
            value: acb = -(there + back) / 2 / (t * (t * acb.pi() / 2).sinh())
            return value

        middle = acb.integral(integrand, acb(ball(_FROM)), acb(_TO)).real
        start = ball(_FROM) * variance(spot) / arb.pi()
        tail = 4 * (-arb.pi() * _TO / 2).exp()
        return (middle + arb(0, (start + tail).upper()),)


def _bound(spot: Spot) -> arb:
    return variance(spot) / 2


def _directions(spot: Spot) -> tuple[Array, Array]:
    """w and x in three dimensions, with the norm and score that are asked for."""
    norm, score = float(spot["norm"]), float(spot["score"])
    w = np.array([score, np.sqrt(norm**2 - score**2), 0.0])
    return w, np.array([1.0, 0.0, 0.0])


def _sample(spot: Spot, seed: int, replicates: range) -> Array:
    """The loss under the projections that Algorithm 3 draws, less its linear part, which has the mean 0."""
    (w, x), config = _directions(spot), Values(projected_dimension=spot["m"])
    score = float(spot["score"])
    errors = []
    for replicate in replicates:
        tape = tape_of(seed, replicate, _MODELS)
        total = 0.0
        for model in range(_MODELS):
            phi = projection(config, tape.one(model), _DIMENSION)
            found = float((phi @ w) @ (phi @ x))
            total += np.log(np.cosh(found)) - np.log(np.cosh(score)) - np.tanh(score) * (found - score)
        errors.append(total / _MODELS)
    return np.array(errors)


def _unbiased(spot: Spot) -> bool:
    """E Z = z by the law's first cumulant, and the vectors are as long as they should be."""
    w, x = _directions(spot)
    draws = generator_of(0, 0).standard_normal((20000, spot["m"], 2))
    found = (draws[:, :, 0] * (draws @ w[:2])).mean(axis=1)
    return bool(
        abs(float(np.linalg.norm(w)) - float(spot["norm"])) < 1e-12 and float(np.linalg.norm(x)) <= 1.0
        and abs(found.mean() - float(spot["score"])) <= 5 * found.std() / np.sqrt(len(found))
    )


def _study(name: str, source: tuple[str, ...], statement: str, norm: Fraction, score: Fraction, seed: int) -> Study:
    return Study(
        name=name,
        source=source,
        statement=statement,
        estimand="E l(Phi w) - l(w) of the surrogate loss, over the projection",
        generator="one direction x of length 1, tanh link; the label does not matter",
        axis="m",
        grid=tuple(4**k for k in range(1, 13)),
        setting={"norm": norm, "score": score},
        predicted=Fraction(-1),
        margin=Fraction(1, 20),
        kind=EQUAL,
        premises=(
            Premise("|x| <= 1 and |<w, x>| <= |w|", lambda spot: abs(spot["score"]) <= spot["norm"]),
            Premise("E <Phi w, Phi x> = <w, x> on drawn projections", lambda spot: spot["m"] > 64 or _unbiased(spot)),
        ),
        exact=loss,
        bound=_bound,
        simulation=Simulation(_sample, (4, 16, 64), 16, seed),
    )


at_optimum = _study(
    "projection-loss", ("nonconvex-nn/thm-2-jl-term",),
    "the projection costs at most G (|w|^2 |x|^2 + <w, x>^2)/(2m): exponent -1 in m",
    Fraction(2), Fraction(1, 2), 2003,
)
off_optimum = _study(
    "projection-loss-off-optimum", ("nonconvex-nn/rem-9", "nonconvex-nn/thm-8-utility"),
    "the same off the surrogate's minimiser, where Remark 9 says m^(-1/2): exponent -1 in m",
    Fraction(3), Fraction(-2), 2004,
)
