r"""Two-layer networks by polynomials (002, Lemmas 16-17, Theorems 10-11): degrees, norms, what degree buys (rates R7).

The sample sizes of the theorems, (kG/alpha)^(2C) and 4^(C k G/alpha) with C open, are no rates that runs could show.
What they rest on can be computed: p_m interpolates an activation at the m + 1 Chebyshev points of [-1, 1], its error
eta_m and its coefficients c in monomials are certified (`chebyshev`).

- ReLU: eta_m = O(1/m). Lebesgue's constant is at most 1 + (2/pi) ln(m + 1), and relu = z/2 + |z|/2 has, by Jackson and
  Favard, best error at most pi/(4 (m + 1)): eta_m <= (2 + (2/pi) ln(m + 1)) pi/(4 (m + 1)).
- Sigmoid: eta_m = O(e^(-c m)), so that log(1/eta_m) grows like m. Chebyshev coefficients are at most 2 rho^-k/sin 3,
  rho = 3 + sqrt(10), and an interpolant doubles what is cut off: eta_m <= 4 rho^-m/((rho - 1) sin 3).
- Norms: the ReLU's |c|_2 = 2^(O(m)): coefficients in T_j are at most 2, and those of T_j in monomials add up to at most
  (1 + sqrt(2))^j: |c|_2 <= sqrt(2) (1 + sqrt(2))^(m + 1). The sigmoid's is bounded; the text allows (sqrt(k)/alpha)^C.
- Features: C(d + m, m) <= 1 + d + ... + d^m, of order d^m.
- What remains of the risk at M = sqrt(k) eta_m: by the text's Lemma 7 4 G M + 2 G^2 M^2, so that excess alpha needs a
  degree ~ 1/alpha; G^2 M^2 is enough (g(a) - g(c) >= (link(a) - link(c))^2/(2G), g(b) - g(c) <= G phi^2/2 for
  g' = link - link(c)), so that ~ 1/sqrt(alpha) suffices: the exponent of n falls from G k/alpha to G k/sqrt(alpha).

Last, the algorithm itself runs (its twin, Algorithm 9 with 2): one hidden sigmoid in the plane, degree 4, records on
eight points of the circle, labels 0 and 1 with E[y|x] = sigmoid(hidden unit); excess risk is exact. The bound is
phased SGD's against w* = the polynomial's weights, plus G^2 M^2. Labels and link in [0, 1] are B = 1/2 around 1/2.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
from flint import arb

from empirical.studies.study import EQUAL, Array, Curve, Premise, Simulation, Spot, Study
from oracle.algorithms.kernels import multinomial
from oracle.algorithms.kernels.chebyshev import Approximation, approximation
from oracle.core.enclosure import ball
from oracle.core.registry import algorithm, bound
from oracle.core.tape import Tape

DELTA = Fraction(1, 100_000)
_FACTOR = Fraction(4845, 1000)  # at least sqrt(2 log(1.25/delta)): noise over sensitivity at epsilon = 1
_SLOPE = Fraction(1, 4)  # of the sigmoid as a link


@functools.lru_cache(maxsize=64)
def _polynomial(name: str, degree: int, width: Fraction = Fraction(1, 100)) -> Approximation:
    return approximation(name, degree, width=width)


def _of(spot: Spot) -> Approximation:
    return _polynomial(spot["activation"], spot["degree"])


def error(spot: Spot) -> Curve:
    """The largest distance of the interpolating polynomial on [-1, 1]."""
    return (_of(spot).error.ball,)


def digits(spot: Spot) -> Curve:
    """log(1/error)."""
    return (-_of(spot).error.ball.log(),)


def norm(spot: Spot) -> Curve:
    """|c|_2 of its coefficients in monomials."""
    return (_of(spot).norm.ball,)


def error_bound(spot: Spot) -> arb:
    """The bounds of the errors above."""
    m = spot["degree"]
    if spot["activation"] == "relu":
        lipschitz: arb = (2 + 2 * arb(m + 1).log() / arb.pi()) * arb.pi() / (4 * (m + 1))
        return lipschitz
    rho = 3 + arb(10).sqrt()
    analytic: arb = 4 / (rho**m * (rho - 1) * arb(3).sin())
    return analytic


def norm_bound(spot: Spot) -> arb:
    """sqrt(2) (1 + sqrt(2))^(m + 1)."""
    root = arb(2).sqrt()
    largest: arb = root * (1 + root) ** (spot["degree"] + 1)
    return largest


def remaining(spot: Spot, degree: int) -> arb:
    """What remains of the risk at a degree, G = k = 1: as printed, or without the linear term."""
    gap = _polynomial("relu", degree, Fraction(1, 1000)).error.ball  # two degrees further it is 1 % smaller
    return 4 * gap + 2 * gap**2 if spot["rule"] == "printed" else gap**2


def least_degree(spot: Spot) -> Curve:
    """The even degree that leaves at most alpha/2 of the risk, while the even one before leaves more."""
    alpha = 1 / arb(spot["1/alpha"]) / 2
    degree = 2 * round(0.15 / math.sqrt(float(alpha)) if spot["rule"] == "improved" else 0.6 / float(alpha)) + 2
    while degree > 2 and remaining(spot, degree - 2) <= alpha:
        degree -= 2
    while not remaining(spot, degree) <= alpha:
        degree += 2
    return (arb(degree),)


def features(spot: Spot) -> Curve:
    """D_m: products of up to m of d coordinates."""
    return (arb(multinomial.size(spot["d"], spot["degree"])),)


def ordered_features(spot: Spot) -> arb:
    """1 + d + ... + d^m."""
    total: arb = sum((arb(spot["d"]) ** i for i in range(spot["degree"] + 1)), arb(0))
    return total


_SHORT = Premise("the polynomial is certified: its error is a ball narrower than 2 %", lambda spot: bool(
    _of(spot).error.ball.rad() <= _of(spot).error.ball.mid() / 50))


def _degree_study(name: str, statement: str, activation: str, grid: tuple[int, ...], **others: object) -> Study:
    fields = {"estimand": "largest error on [-1, 1]", "exact": error, "margin": Fraction(1, 20), **others}
    return Study(
        name=name, statement=statement, generator="interpolation at Chebyshev points, certified", axis="degree",
        grid=grid, setting={"activation": activation}, premises=(_SHORT,), **fields,  # type: ignore[arg-type]
    )


relu_error = _degree_study(
    "relu-degree", "a ReLU is approximated to O(1/m) by degree m", "relu", (16, 32, 64, 128, 256),
    source=("nonconvex-nn/lem-17",), predicted=Fraction(-1), bound=error_bound,
)
relu_norm = _degree_study(
    "relu-degree-norm", "its coefficients are at most sqrt(2) (1 + sqrt(2))^(m + 1), 2^(O(m))", "relu",
    (8, 16, 32, 64, 128), source=("nonconvex-nn/lem-17",), estimand="|c|_2", exact=norm, bound=norm_bound,
)
sigmoid_error = _degree_study(
    "sigmoid-degree", "log(1/error) is proportional to the degree", "sigmoid", (16, 32, 64, 128),
    source=("nonconvex-nn/lem-16",), estimand="log(1/error)", exact=digits, predicted=Fraction(1), kind=EQUAL,
)
sigmoid_bound = _degree_study(
    "sigmoid-degree-bound", "a sigmoid is approximated to 4 rho^-m/((rho - 1) sin 3)", "sigmoid", (4, 8, 16, 32, 64),
    source=("nonconvex-nn/lem-16",), bound=error_bound,
)
sigmoid_norm = _degree_study(
    "sigmoid-degree-norm", "its coefficients stay bounded: no power of 1/alpha", "sigmoid", (4, 8, 16, 32, 64),
    source=("nonconvex-nn/lem-16",), estimand="|c|_2", exact=norm, predicted=Fraction(0), kind=EQUAL,
)
feature_count = Study(
    name="multinomial-features", source=("nonconvex-nn/lem-16", "nonconvex-nn/lem-17"),
    statement="D_m <= 1 + d + ... + d^m, of order d^m", estimand="number of features", generator="binomials, exact",
    axis="d", grid=tuple(10**k for k in range(2, 8)), setting={"degree": 8}, predicted=Fraction(8), kind=EQUAL,
    premises=(Premise("d and m are counts", lambda spot: spot["d"] >= 1 and spot["degree"] >= 1),), exact=features,
    bound=ordered_features,
)


def _reach(name: str, statement: str, rule: str, grid: tuple[int, ...], predicted: Fraction, source: str) -> Study:
    return Study(
        name=name, source=(source,), statement=statement, estimand="degree at which excess alpha/2 is left",
        generator="ReLU hidden unit, G = k = 1, interpolation at Chebyshev points, certified", axis="1/alpha",
        grid=grid, setting={"rule": rule}, predicted=predicted, exact=least_degree,
        premises=(Premise("the degree before leaves more", lambda spot: _next_fails(spot)),),
    )


def _next_fails(spot: Spot) -> bool:
    degree = int(least_degree(spot)[0].unique_fmpz() or 0)
    return degree == 2 or bool(remaining(spot, degree - 2) > 1 / arb(spot["1/alpha"]) / 2)


degree_printed = _reach(
    "two-layer-degree", "by Lemma 7 a ReLU network needs degree O(1/alpha)", "printed", (4, 8, 16, 32), Fraction(1),
    "nonconvex-nn/thm-11",
)
degree_improved = _reach(
    "two-layer-degree-improved", "degree O(1/sqrt(alpha)) suffices, so n = 4^(C G k/sqrt(alpha))", "improved",
    tuple(4**k for k in range(5, 9)), Fraction(1, 2), "nonconvex-nn/thm-11-improved",
)


_DEGREE = 4
_ANGLES = 2 * math.pi * np.arange(8) / 8
_POINTS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1) * (1 - 1e-15)  # within the unit disc when rounded


def _sigmoid(z: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-z)))


_TRUTH = _sigmoid(_sigmoid(_POINTS[:, 0]))
_PSI = np.array([multinomial.features(x, _DEGREE) for x in _POINTS])


def _rate(spot: Spot) -> Fraction:
    """(W/B) min{epsilon/(8 sqrt(theta L)), 1/sqrt(n)} at W = 5/4, B = 1/2, epsilon = 1."""
    theta, width = _PSI.shape[1], 2.5
    return Fraction(width * min(1 / (8 * math.sqrt(theta * math.log(1 / DELTA))), 1 / math.sqrt(spot["n"])))


def network_excess(spot: Spot, seed: int, replicates: range) -> Array:
    """The exact excess risk of what the twin of Algorithm 9 releases, a mean over models."""
    descent = algorithm("two-layer")
    config = descent.parse({
        "link": "sigmoid", "degree": _DEGREE, "base_learning_rate": _rate(spot), "noise_over_step": 2 * _FACTOR,
    })
    errors = []
    for r in replicates:
        rng = np.random.Generator(np.random.Philox([seed, r]))
        which = rng.integers(0, len(_POINTS), spot["n"])
        labels = (rng.random(spot["n"]) < _TRUTH[which]).astype(np.float64)
        w = descent.train_batched(_POINTS[which], labels, config, Tape(seed * 1_000_003 + r, models=8)).numpy()
        errors.append(float(((_sigmoid(w @ _PSI.T) - _TRUTH) ** 2).mean()))
    return np.array(errors)


def _target_norm() -> Fraction:
    """|w*| of the polynomial's weights, rounded up."""
    poly = _polynomial("sigmoid", _DEGREE)
    return Fraction(float((poly.norm.ball * arb(_DEGREE + 1).sqrt()).upper())) + Fraction(1, 10**9)


def network_bound(spot: Spot) -> arb:
    """Phased SGD's bound at distance |w*|, plus G^2 M^2."""
    phased = bound("phased-sgd.risk").reference(
        link_lipschitz=_SLOPE, label_bound=Fraction(1, 2), distance=_target_norm(), rank=_PSI.shape[1],
        dataset_size=spot["n"], base_learning_rate=_rate(spot), noise_over_sensitivity=_FACTOR,
    ).ball
    return phased + (ball(_SLOPE) * _polynomial("sigmoid", _DEGREE).error.ball) ** 2


def _private(spot: Spot) -> bool:
    proved = bound("two-layer.epsilon").fast(
        noise_over_step=float(2 * _FACTOR), feature_norm=1.0, base_learning_rate=float(_rate(spot)),
        link_lipschitz=float(_SLOPE), delta=float(DELTA),
    )
    return bool(proved <= 1.0)


network = Study(
    name="two-layer-runs", source=("nonconvex-nn/thm-10", "nonconvex-nn/thm-8-utility"),
    statement="Algorithm 9 on a sigmoid network stays below phased SGD's bound plus G^2 M^2",
    estimand="excess population risk",
    generator="one hidden sigmoid in the plane, eight points, labels 0 and 1, degree 4; the twin, exact risk",
    axis="n", grid=(2**8, 2**10, 2**12), setting={"epsilon": 1},
    premises=(
        Premise("|x| <= 1 and |psi(x)| <= 1", lambda spot: bool(
            (np.linalg.norm(_POINTS, axis=1) <= 1).all() and (np.linalg.norm(_PSI, axis=1) <= 1 + 1e-12).all())),
        Premise("|w*| <= W = 5/4", lambda spot: _target_norm() <= Fraction(13, 10)),
        Premise("the noise gives (1, delta)", _private),
    ),
    bound=network_bound, simulation=Simulation(network_excess, (2**8, 2**10, 2**12), 16, 8001, block=4),
)
