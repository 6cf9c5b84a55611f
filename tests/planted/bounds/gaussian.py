"""Wrong formulas for the Gaussian and the Laplace mechanism and for noisy descent: the second opinions must object."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from empirical.mutants.changes import certified, formula, parameters
from empirical.mutants.mutant import SLIP, Mutant
from oracle.bounds.hidden_state import hidden_state
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball
from oracle.engines import gaussian_curve, geometric
from tests.planted import loose, wrong


def flipped_sign(v: Values) -> arb:
    """Phi(epsilon/mu - mu/2) - e^epsilon Phi(-mu/2 - epsilon/mu)."""
    mu, epsilon = ball(v.sensitivity) / ball(v.sigma), ball(v.epsilon)
    tail = gaussian_curve.normal_upper_tail
    return tail(mu / 2 - epsilon / mu) - epsilon.exp() * tail(epsilon / mu + mu / 2)


def forgotten_second_term(v: Values) -> arb:
    """The tail bound Phi(mu/2 - epsilon/mu): an upper bound, but not the truth."""
    mu, epsilon = ball(v.sensitivity) / ball(v.sigma), ball(v.epsilon)
    return gaussian_curve.normal_upper_tail(epsilon / mu - mu / 2)


def laplace_without_half(v: Values) -> arb:
    gap = v.sensitivity / v.scale - v.epsilon
    return -ball(-gap).expm1() if gap > 0 else arb(0)


def cgd_with(power: Callable[[int], int], *, one_batch: bool = True) -> Callable[[Values], arb]:
    """NoisyCGD with c^power(k) in front of the memory term; without `one_batch`, also at k = 1."""

    def mu(v: Values) -> arb:
        c, k, epochs, powers = v.contraction, v.batches, v.epochs, geometric.BallPowers()
        scale = ball(v.sensitivity / (v.batch_size * v.noise_on_mean))
        if k == 1 and one_batch:
            return scale * hidden_state.gd_factor(c, epochs, powers).sqrt()
        memory = hidden_state.gd_factor(c, k * (epochs - 1), powers)
        return scale * (1 + powers.power(c, power(k)) * memory / powers.geometric_sum(c, k) ** 2).sqrt()

    return mu


def gd_off_by_one(v: Values) -> arb:
    factor = hidden_state.gd_factor(v.contraction, v.steps + 1, geometric.BallPowers())
    return ball(v.sensitivity / (v.dataset_size * v.noise_on_mean)) * factor.sqrt()


def gd_composed(v: Values) -> arb:
    """Plain composition, as if every iterate were released."""
    return ball(v.sensitivity / (v.dataset_size * v.noise_on_mean)) * ball(v.steps).sqrt()


MOVED = ({"mu": Fraction(1), "delta": Fraction(1, 10**5)}, "mu", Fraction(2))

MUTANTS = (
    wrong("gaussian.delta", "sign flipped", formula(flipped_sign)),
    loose("gaussian.delta", "second term forgotten", formula(forgotten_second_term)),
    loose("laplace.delta", "no half in the exponent", formula(laplace_without_half)),
    wrong(
        "noisy-cgd.mu", "c^2k for c^(2k-2)", formula(cgd_with(lambda k: 2 * k)),
        caught_by=("second opinion", "safe side", "shift programme"),
    ),
    Mutant(
        "noisy-cgd.mu", "the second formula at one batch", formula(cgd_with(lambda k: 2 * k - 2, one_batch=False)),
        severity="U", origin=SLIP, caught_by=("shift programme",), spared_by=("safe side",),
    ),
    wrong("noisy-cgd.mu", "c^(2k-1) for c^(2k-2)", formula(cgd_with(lambda k: 2 * k - 1))),
    loose("noisy-gd.mu", "one step more", formula(gd_off_by_one)),
    loose(
        "noisy-gd.mu", "every iterate paid for", formula(gd_composed), caught_by=("second opinion", "shift programme"),
    ),
    wrong(
        "gdp.epsilon", "mu for mu/2",
        certified(lambda v, w: gaussian_curve.epsilon_of_mu(lambda: ball(v.mu / 2), v.delta, w)),
    ),
    wrong(
        "gaussian.epsilon", "sensitivity ignored",
        certified(lambda v, w: gaussian_curve.epsilon_of_mu(lambda: 1 / ball(v.sigma), v.delta, w)),
    ),
    Mutant(
        "gaussian.epsilon", "the inverse of a curve a part in 10^15 lower",
        parameters(delta=lambda v: v.delta * (1 + Fraction(1, 10**15))), severity="N", origin=SLIP,
        caught_by=("round trip",),
        at={"curve": "gaussian.delta", "trip": ({"sigma": 1, "sensitivity": Fraction(1, 2)}, "epsilon", Fraction(1))},
    ),
    Mutant(
        "gdp.epsilon", "the wrong way in mu", parameters(mu=lambda v: 1 / v.mu), severity="C", origin=SLIP,
        caught_by=("monotone",), at={"moved": MOVED, "words": "wrong way"},
    ),
    Mutant(
        "gdp.epsilon", "mu ignored", parameters(mu=Fraction(1)), severity="C", origin=SLIP,
        caught_by=("monotone",), at={"moved": MOVED, "words": "does not move"},
    ),
    loose(
        "gaussian.sigma", "delta halved",
        certified(lambda v, w: gaussian_curve.sigma_of(v.sensitivity, v.epsilon, v.delta / 2, w)),
    ),
)
