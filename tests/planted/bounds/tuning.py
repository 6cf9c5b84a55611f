"""Wrong formulas for private tuning: the second opinions must object."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from empirical.mutants.changes import certified, formula
from oracle.bounds.tuning import tuning, tuning_lower, tuning_renyi
from oracle.core.algorithm import Values
from oracle.core.arithmetic import enclose
from oracle.core.enclosure import Enclosure, ball
from oracle.engines import gaussian_curve
from tests.planted import wrong


def _quoted_rdp(v: Values) -> arb:
    """alpha mu^2/2 + m delta(x) + log(m)/t: the release of nothing forgotten."""
    t = v.alpha - 1
    mu, mean = ball(v.base_mu), ball(v.mean_runs)
    return ball(v.alpha) * mu * mu / 2 + mean * gaussian_curve.delta_ball(
        ball(1 / t).log1p(), mu,
    ) + mean.log() / ball(t)


def _hat_only(v: Values, width: Fraction) -> Enclosure:
    """epsilon_hat for epsilon, as the sentence after the theorem has it."""
    if v.mean_runs <= v.delta:
        return Enclosure.exactly(0)
    return gaussian_curve.epsilon_of_mu(lambda: ball(v.base_mu), v.delta / v.mean_runs, width)


def _undivided(v: Values, width: Fraction) -> Enclosure:
    """delta where delta / m belongs."""
    moved = enclose(lambda: ball(v.mean_runs) * (ball(v.base_mu) / arb(8).sqrt()).erf(), width=width / 8)
    return tuning._sum(moved, gaussian_curve.epsilon_of_mu(lambda: ball(v.base_mu), v.delta, width / 8), width)


MUTANTS = (
    wrong("poisson-tuning.epsilon", "the hat misplaced", certified(_hat_only)),
    wrong("poisson-tuning.epsilon", "delta not shared among the runs", certified(_undivided)),
    wrong(
        "poisson-tuning-pair.epsilon", "a pair of half its epsilon",
        certified(lambda v, w: tuning._pair(Values(**{**vars(v), "base_epsilon": v.base_epsilon / 2}), w)),
    ),
    wrong("poisson-tuning.rdp", "nothing released forgotten", formula(_quoted_rdp)),
    wrong(
        "poisson-tuning-renyi.epsilon", "one order only",
        formula(lambda v: tuning_renyi._rdp(Values(base_mu=v.base_mu, mean_runs=v.mean_runs, alpha=Fraction(5)))),
    ),
    wrong(
        "poisson-tuning.lower", "the example at twice its runs",
        certified(lambda v, w: tuning_lower._epsilon(Values(**{**vars(v), "mean_runs": 2 * v.mean_runs}), w)),
    ),
)
