r"""Theorems 4 and 5 of 002 (Algorithms 5 and 6: the Moreau envelope), held to Algorithms 2 and 3 (rates R3).

Clip link, one-hot records: while scores and labels lie in [-1, 1] the prox of g(u) = u^2/2 - y u is (beta z + y)/(1 +
beta), which lies there too, so the envelope's derivative is (beta/(1 + beta)) (z - y): Algorithm 5 is Algorithm 2 with
eta beta/(1 + beta) for eta and the same noise. Its gradients are off by at most gamma, and steps do not expand, so
releases differ by at most gamma sum_i eta_i n_i <= gamma eta n/7 (phases add up, averages and steps shrink; projected
records as long as 2 double it), and by rounding: at most 1e-12. Hence the curve of Theorem 4 is exact, too, but for a
radius of 2 r sqrt(risk) + r^2, r = gamma eta n/7 (Cauchy and Schwarz).

Risk of Theorem 4: |f_beta - l| <= 2 B^2/beta costs 2 B^2/beta once; inexact gradients add, in phase i,
gamma E|w^t - comparator| <= gamma (tau_{i-1} sqrt(theta) + 3 B eta_i n_i) to the surrogate, D for the first start, and
make 2B into 2B + gamma, so (2/3) B^2 eta into (2/3) B^2 eta (1 + gamma)^2.

Bias: for the tanh link and x = 1, y = +-1 with P(y = 1) = p, tanh w* = 2p - 1, the envelope's minimiser w_beta solves
p (1 - tanh u_+) = (1 - p)(1 + tanh u_-) = q, u_+- its proxes; u_+ - u_- = q/(p (1-p) beta), w_beta = u_+ - q/(p beta):

    atanh(1 - q/p) - atanh(q/(1-p) - 1) = q/(p (1-p) beta),

the left side falling in q, the right rising. Its excess risk (tanh w_beta - tanh w*)^2 is at most 2G (2B^2/beta), by
the sandwich l - 2B^2/beta <= f_beta <= l; it is of order beta^-4, four powers better than the proof uses.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from empirical.studies.nonconvex_nn.linear_twin import (
    ROOT_LOG,
    WELL_SPECIFIED,
    PhasedPlan,
    closed_bound,
    configuration,
    drawn,
    excess,
    generator_of,
    tape_of,
    trained,
    trivial,
)
from empirical.studies.study import EQUAL, Array, Curve, Premise, Simulation, Spot, Study
from oracle.core.enclosure import ball
from oracle.core.registry import algorithm

_STEP, _ATOMS, _THETA = Fraction(1, 10), 36, 36
_ROUNDING = Fraction(1, 10**12)


def _rescaled(plan: PhasedPlan, beta: Fraction) -> PhasedPlan:
    """The run of Algorithm 2 that Algorithm 5 is: the step shrinks, the noise stays."""
    factor = beta / (1 + beta)
    return PhasedPlan(plan.records, plan.step * factor, plan.noise / factor, plan.atoms)


# --- the curve of Theorem 4


def _smoothed(spot: Spot) -> tuple[PhasedPlan, Fraction, Fraction]:
    """The run of Algorithm 5, beta = sqrt(n) and gamma, at most B/(n ln n)."""
    n, epsilon = spot["n"], spot["epsilon"]
    root = math.isqrt(n)
    step = _STEP * min(epsilon / (math.isqrt(_THETA) * ROOT_LOG), Fraction(1, root))
    return PhasedPlan(n, step, 10 * ROOT_LOG / epsilon, spot["atoms"]), Fraction(root), Fraction(1, n * n.bit_length())


def _exact(spot: Spot) -> Curve:
    plan, beta, gamma = _smoothed(spot)
    risk, apart = excess(_rescaled(plan, beta)), ball(gamma * plan.step * plan.records / 7)
    return (risk + arb(0, (2 * risk.sqrt() * apart + apart**2).upper()),)


def _bound(spot: Spot) -> arb:
    plan, beta, gamma = _smoothed(spot)
    eta, error = ball(plan.step), ball(gamma)
    away = ball(plan.distance).sqrt() + 6 * ball(plan.noise) * eta / 3 + 3 * eta * plan.records / 7
    more = 2 / ball(beta) + error * away + 2 * eta / 3 * ((1 + error) ** 2 - 1)
    return closed_bound(plan, rank=Fraction(_THETA), more=more)


def _sample(spot: Spot, seed: int, replicates: range) -> Array:
    plan, beta, gamma = _smoothed(spot)
    more = {"envelope_smoothness": beta, "oracle_error": gamma, "gradient_oracle": "bisection"}
    return trained(plan, seed, replicates, models=16, name="smoothed-phased-sgd", more=more)


in_records = Study(
    name="smoothed-phased-sgd-statistical",
    source=("nonconvex-nn/thm-4-utility",),
    statement="Algorithm 5 with beta = sqrt(n): excess risk O(n^(-1/2)) at epsilon = 1: exponent -1/2 in n",
    estimand="expected excess population risk of the last release",
    generator="e_j with p_j = 2^-j, labels +-1 of mean +-0.3, clip link; Algorithm 2 with a rescaled step",
    axis="n",
    grid=(2**10, *(2**k for k in range(14, 54, 4))),
    setting={"atoms": _ATOMS, "padded": False, "epsilon": Fraction(1)},
    predicted=Fraction(-1, 2),
    margin=Fraction(1, 50),
    premises=(
        WELL_SPECIFIED,
        Premise("eta beta <= 8: no step expands", lambda spot: _smoothed(spot)[0].step * _smoothed(spot)[1] <= 8),
        Premise(
            "gamma <= B/(n ln n)",
            lambda spot: bool(ball(_smoothed(spot)[2]) * spot["n"] * arb(spot["n"]).log() <= 1),
        ),
    ),
    exact=_exact,
    bound=_bound,
    trivial=trivial,
    simulation=Simulation(_sample, (2**10,), 16, 2005),
)


# --- the equivalence, release by release


def _run(spot: Spot) -> PhasedPlan:
    epsilon = Fraction(1)
    return PhasedPlan(spot["n"], _STEP * epsilon / (math.isqrt(_THETA) * ROOT_LOG), 8 * ROOT_LOG, spot["atoms"])


def _difference(spot: Spot, seed: int, replicates: range) -> Array:
    """The largest difference of a release of the smoothed algorithm from that of the plain one, rescaled."""
    suffix = "-projected" if spot["projected"] else ""
    more = {"projected_dimension": spot["projected"]} if spot["projected"] else {}
    plan, beta = _run(spot), Fraction(spot["beta"])
    smooth, plain = algorithm(f"smoothed-phased-sgd{suffix}"), algorithm(f"phased-sgd{suffix}")
    oracle = {"envelope_smoothness": beta, "oracle_error": spot["gamma"], "gradient_oracle": "bisection"}
    left, right = (
        smooth.parse(configuration(plan, **oracle, **more)), plain.parse(configuration(_rescaled(plan, beta), **more)),
    )
    errors = []
    for replicate in replicates:
        features, labels = drawn(plan, generator_of(seed, replicate))
        tape = tape_of(seed, replicate, 8)
        apart = smooth.train_batched(features, labels, left, tape) - plain.train_batched(features, labels, right, tape)
        errors.append(float(apart.abs().max()))
    return np.array(errors)


def _apart(spot: Spot) -> arb:
    plan = _run(spot)
    longest = 4 if spot["projected"] else 1  # records of length 2, released through Phi^T of norm 2 on their span
    return ball(longest * spot["gamma"] * plan.step * plan.records / 7 + _ROUNDING)


def _inside(spot: Spot) -> bool:
    """No score of a run leaves [-1, 1]: the link is linear on all that is seen (one run, all phases)."""
    plan = _run(spot)
    spread = math.sqrt(float(plan.step) / 8 + (float(plan.noise * plan.step) / 4) ** 2)
    return 0.3 + 8 * spread * (2 if spot["projected"] else 1) < 1


def _equivalence(name: str, theorem: str, projected: int, seed: int) -> Study:
    return Study(
        name=name,
        source=(theorem,),
        statement="for the clip link the smoothed algorithm is the plain one with the step eta beta/(1 + beta)",
        estimand="largest difference of two releases on the same tape",
        generator="e_j with p_j = 2^-j, labels +-1 of mean +-0.3, clip link",
        axis="beta",
        grid=(1, 8, 64),
        setting={"n": 256, "atoms": 12, "padded": False, "projected": projected, "gamma": Fraction(1, 10**12)},
        premises=(WELL_SPECIFIED, Premise("scores stay in [-1, 1], eight deviations from the edge", _inside)),
        bound=_apart,
        simulation=Simulation(_difference, (1, 8, 64), 4, seed),
    )


plain_equivalence = _equivalence("smoothed-step", "nonconvex-nn/thm-4-utility", 0, 2006)
projected_equivalence = _equivalence("smoothed-step-projected", "nonconvex-nn/thm-5-utility", 64, 2007)


# --- the bias of the envelope


def _balanced(p: Fraction, beta: Fraction) -> arb:
    """q, by halving an interval at whose ends the signs are known."""
    rises, falls = ball(p), ball(1 - p)

    def left_over(q: arb) -> arb:
        return (1 - q / rises).atanh() - (q / falls - 1).atanh() - q / (rises * falls * ball(beta))

    low, high = Fraction(0), 2 * min(p, 1 - p)
    for _ in range(256):
        middle = (low + high) / 2
        sign = left_over(ball(middle))
        if sign > 0:
            low = middle
        elif sign < 0:
            high = middle
        else:
            break
    return ball(low).union(ball(high))


def _bias(spot: Spot) -> Curve:
    with ctx.workprec(512):
        p, beta = spot["p"], Fraction(spot["beta"])
        q = _balanced(p, beta)
        minimiser = (1 - q / ball(p)).atanh() - q / ball(p * beta)
        return ((minimiser.tanh() - ball(2 * p - 1)) ** 2,)


envelope_bias = Study(
    name="envelope-bias",
    source=("nonconvex-nn/thm-4-beta", "nonconvex-nn/lem-5"),
    statement="the minimiser of the envelope has excess risk at most 4 G B^2/beta; it is of order beta^-4",
    estimand="excess risk of the smoothed surrogate's minimiser",
    generator="x = 1, y = +-1 with P(y = 1) = 0.75, tanh link",
    axis="beta",
    grid=tuple(4**k for k in range(9)),
    setting={"p": Fraction(3, 4)},
    predicted=Fraction(-4),
    margin=Fraction(3, 10),
    kind=EQUAL,
    premises=(Premise("0 < P(y = 1) < 1, so w* is finite", lambda spot: 0 < spot["p"] < 1),),
    exact=_bias,
    bound=lambda spot: ball(Fraction(4, spot["beta"])),
    trivial=lambda spot: ball((2 * spot["p"] - 1) ** 2),
)
