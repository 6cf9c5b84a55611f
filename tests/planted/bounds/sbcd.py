"""Wrong formulas for DP-SBCD: the errors of document 001, and slips of our own; the second opinions must object."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

import oracle
from empirical.mutants.changes import another, certified, formula
from oracle.algorithms.block_coordinate import sbcd_privacy
from oracle.core.algorithm import Values
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import closed_form
from tests.planted import loose, wrong


def printed_exponent(v: Values) -> arb:
    """Corollary 4.5 as printed: the decay to the power 1/L_T^2."""
    rho = spread = arb(0)
    gradient, prox = ball(v.lipschitz_gradient**2), ball(v.lipschitz_prox**2)
    for noise in v.noise_variances:
        for batch in range(1, v.batches + 1):
            moved, added = gradient * spread, ball(2 * v.learning_rate * noise)
            if batch == v.batch_position:
                rho += ball(v.learning_rate * v.sensitivity**2 / (4 * v.batch_size**2 * noise))
            elif moved > 0:
                rho *= (moved / (moved + added)) ** (1 / prox)
            else:
                rho = arb(0)
            spread = prox * (moved + added)
    return ball(v.alpha) * rho


def last_position(v: Values, width: Fraction) -> Enclosure:
    """The record in the last batch taken for the worst."""
    with_alpha = Values(**{**vars(v), "batch_position": v.batches, "alpha": Fraction(2)})
    rho = closed_form(sbcd_privacy._one)(with_alpha, width / 100).lower.to_fraction() / 2
    return oracle.bound("zcdp.epsilon").certify(Values(rho=rho, delta=v.delta), width)


def mean_of_positions(v: Values) -> arb:
    """The mean of the divergences, below the log of the mean of their exponentials."""
    return ball(v.alpha / v.batches) * sum(sbcd_privacy._shares(v), arb(0))


MUTANTS = (
    wrong("sbcd.rdp", "the exponent of Corollary 4.5 as printed", formula(printed_exponent)),
    wrong(
        "sbcd.rdp", "the batch before",
        formula(lambda v: ball(v.alpha) * sbcd_privacy._share(v, max(1, v.batch_position - 1))),
    ),
    loose(
        "sbcd.rdp", "noise of variance eta o",
        formula(lambda v: 2 * ball(v.alpha) * sbcd_privacy._share(v, v.batch_position)),
    ),
    wrong("sbcd.epsilon", "the last batch for the worst", certified(last_position)),
    wrong("sbcd-mixed.rdp", "a mean for the log of a mean", formula(mean_of_positions)),
    loose(
        "sbcd-composition.rdp", "the order squared",
        formula(lambda v: ball(v.alpha**2 * sbcd_privacy._composed_share(v))),
    ),
    loose(
        "sbcd-composition.epsilon", "Renyi's conversion for the Gaussian curve",
        another("zcdp.epsilon", rho=sbcd_privacy._composed_share),
    ),
)
