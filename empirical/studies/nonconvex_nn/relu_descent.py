r"""DP-PGD for ReLU regression (002, Theorem 6): (n epsilon)^(-2/3), whatever the dimension; by counts (rates R4).

Records are e_j with probability p_j ~ 2^-j (scale-free: at any time half of what is left is learnt next), w*_j = +-1/4
of both signs, so |w*| = 1 = W, labels relu(w*_j) +- 1/8 within B = 1; risk is exact, data are counts (`span_descent`).
Schedule of the theorem: m = (n epsilon)^(2/3)/4, sigma^2 = 32 (4W + B)^2 T log(2/delta)/(n epsilon)^2,
T = c (n epsilon)^2/(m log(1/delta)), eta = 1/sqrt(T), on the path epsilon = n^(-1/4)/2, where the private branch is the
larger one. The theorem leaves c open: c = 1/800 makes m sigma^2 = 1, noise of the length of a gradient; c = 1, which
is the formula as printed, makes it 800, and then the projection acts in every step. As a step adds eta^2 m sigma^2 to
|w|^2, it shrinks w by a factor 1 - 100/T, a ridge of 100/sqrt(T): the same power, and an error that is small only far
out. Without noise T = n, eta = 1/sqrt(n): that is the branch n^(-1/2).

Why the exponent is attained: after T steps atoms with p_j eta T < 1 are not learnt, a mass of about 1/(eta T) =
T^(-1/2), which is (n epsilon)^(-2/3) up to constants.

The bound is `dp-pgd.risk`, of which every step was derived again for this study: regret of projected descent against
Pi(Phi w*), Rademacher complexity of the ball of radius 2W (in place of the text's stability), and 2 W^2/m for Phi.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from empirical.studies.nonconvex_nn.span_descent import Atoms, Descent, span_risks
from empirical.studies.study import Array, Premise, Simulation, Spot, Study
from oracle.core.registry import algorithm, bound
from oracle.core.tape import Tape

DELTA, WEIGHTS, LABELS, SPREAD = Fraction(1, 100_000), 1, 1, Fraction(1, 8)
_SIGNAL = 16  # atoms with a weight
_SILENT = Fraction(1, 10**12)  # noise on the mean of a run without privacy: the twin wants some


def atoms(rank: int) -> Atoms:
    """16 atoms of a scale-free law and of both signs; those beyond, without a weight, share a quarter."""
    powers = np.array([0.5**j for j in range(1, _SIGNAL + 1)])
    signal: Array = powers / powers.sum()
    nulls = rank - _SIGNAL
    law: Array = np.concatenate([0.75 * signal, np.full(nulls, 0.25 / nulls)]) if nulls else signal
    target = np.where(np.arange(_SIGNAL) % 2 == 0, 0.25, -0.25)
    return Atoms(law, np.concatenate([target, np.zeros(nulls)]), float(SPREAD))


def epsilon_at(spot: Spot) -> float | None:
    """Epsilon; None for no privacy. On the path, epsilon = n^(-1/4)/2."""
    return None if spot.get("epsilon") == "infinity" else spot["n epsilon"] / plan(spot).records


def plan(spot: Spot) -> Descent:
    """The theorem's schedule."""
    if spot.get("epsilon") == "infinity":
        n = int(spot["n"])
        return Descent(n, n, n, 1 / math.sqrt(n), 0.0, 2.0 * WEIGHTS)
    budget = float(spot["n epsilon"])
    rows = round(budget ** (2 / 3) / 4)
    records = round((2 * budget) ** (4 / 3))
    most = float(spot["T constant"]) * budget**2 / (rows * math.log(1 / DELTA))
    steps = min(records, math.floor(most))
    variance = 32 * (4 * WEIGHTS + LABELS) ** 2 * steps * math.log(2 / DELTA) / budget**2
    return Descent(records, rows, steps, 1 / math.sqrt(steps), math.sqrt(variance), 2.0 * WEIGHTS)


def sample(spot: Spot, seed: int, replicates: range) -> Array:
    """Excess risks: of the twin up to a size of the axis, beyond it of the reduction to the span."""
    axis = "n" if spot.get("epsilon") == "infinity" else "n epsilon"
    generators = [np.random.Generator(np.random.Philox([seed, r])) for r in replicates]
    law, run = atoms(spot["rank"]), plan(spot)
    if spot[axis] > spot["twin up to"]:
        return span_risks(law, run, generators)
    return np.array([_twin_risk(law, run, rng, seed, r) for rng, r in zip(generators, replicates, strict=True)])


def _twin_risk(law: Atoms, run: Descent, rng: np.random.Generator, seed: int, replicate: int) -> float:
    """The excess risk of one data set, by the real twin."""
    counts, ups = law.draw(run.records, rng)
    labels = [
        np.repeat([mean + law.spread, mean - law.spread], [int(up), int(count - up)])
        for mean, count, up in zip(law.means, counts, ups, strict=True)
    ]
    features = np.repeat(np.eye(len(counts)), counts.astype(int), axis=0)
    descent = algorithm("dp-pgd")
    config = descent.parse({
        "noise_on_mean": Fraction(run.noise) or _SILENT, "weight_bound": WEIGHTS, "label_bound": LABELS,
        "projected_dimension": run.rows, "steps": run.steps, "learning_rate": Fraction(run.rate),
    })
    tape = Tape(seed * 1_000_003 + replicate)
    released = descent.train_batched(features, np.concatenate(labels), config, tape).numpy()
    return float(law.risk(released).mean())


def risk_bound(spot: Spot) -> arb:
    """The explicit bound, certified."""
    run = plan(spot)
    return bound("dp-pgd.risk").reference(
        target_norm=WEIGHTS, label_bound=LABELS, projected_dimension=run.rows, dataset_size=run.records,
        steps=run.steps, learning_rate=Fraction(run.rate), noise_on_mean=Fraction(run.noise),
    ).ball


def trivial(spot: Spot) -> arb:
    """The excess risk of w = 0."""
    law = atoms(spot["rank"])
    return arb(float(law.risk(np.zeros(len(law.target)))))


def _private(spot: Spot) -> bool:
    epsilon, run = epsilon_at(spot), plan(spot)
    if epsilon is None:
        return True
    proved = bound("dp-pgd.epsilon").fast(
        noise_on_mean=run.noise, weight_bound=float(WEIGHTS), label_bound=float(LABELS),
        dataset_size=float(run.records), steps=float(run.steps), projected_dimension=float(run.rows),
        delta=float(DELTA),
    )
    return bool(proved <= epsilon <= 1)


def _in_range(spot: Spot) -> bool:
    law = atoms(spot["rank"])
    return bool((np.abs(law.means) + law.spread <= LABELS).all() and np.linalg.norm(law.target) <= WEIGHTS)


PREMISES = (
    Premise("|w*| <= W and |y| <= B", _in_range),
    Premise("p_j are the probabilities of unit vectors", lambda spot: abs(sum(atoms(spot["rank"]).probabilities) - 1)
            < 1e-12),
    Premise("eta <= 1/2 and T <= n", lambda spot: plan(spot).rate <= 0.5 and plan(spot).steps <= plan(spot).records),
    Premise("m >= the rank of the data", lambda spot: plan(spot).rows >= spot["rank"]),
    Premise("the noise gives (epsilon, delta) with epsilon <= 1", _private),
)
_WORDS = "records e_j, p_j ~ 2^-j, w*_j = +-1/4, y = relu(w*_j) +- 1/8; counts; Algorithm 7 in the span of the records"
_PATH: dict[str, Any] = {"rank": _SIGNAL, "T constant": Fraction(1, 800), "twin up to": 2**10}


def _study(name: str, statement: str, axis: str, grid: tuple[int, ...], predicted: Fraction, setting: dict[str, Any],
           replicates: int, seed: int, *, block: int = 128, tier: str = "default", needs: str = "") -> Study:
    return Study(
        name=name, source=("nonconvex-nn/thm-6-utility",), statement=statement, estimand="excess population risk",
        generator=_WORDS, axis=axis, grid=grid, setting=setting, predicted=predicted, premises=PREMISES,
        bound=risk_bound, trivial=trivial, tier=tier, needs=needs,
        simulation=Simulation(sample, grid, replicates, seed, block=block),
    )


private = _study(
    "relu-descent", "excess risk O((n epsilon)^(-2/3)) at epsilon = n^(-1/4)/2", "n epsilon",
    (2**10, 2**13, 2**15, 2**17, 2**19), Fraction(-2, 3), _PATH, 256, 6001,
)
private_far = _study(
    "relu-descent-far", "the same a decade further", "n epsilon", (2**10, *(4**k for k in range(7, 12))),
    Fraction(-2, 3), _PATH, 128, 6002, block=64, tier="full",
)
rank = _study(
    "relu-descent-rank", "the excess risk does not depend on the rank of the data", "rank", (20, 40, 80, 160),
    Fraction(0), {**_PATH, "n epsilon": 2**14}, 768, 6003, block=64,
)
statistical = _study(
    "relu-descent-statistical", "without privacy the excess risk is O(n^(-1/2))", "n", tuple(4**k for k in range(4, 8)),
    Fraction(-1, 2), {"rank": _SIGNAL, "epsilon": "infinity", "twin up to": 2**8}, 128, 6004,
)
printed = _study(
    "relu-descent-printed-steps", "the same with T = (n epsilon)^2/(m log(1/delta)), its constant read as 1",
    "n epsilon", tuple(2**k for k in range(10, 14)), Fraction(-2, 3), {**_PATH, "T constant": 1, "twin up to": 0}, 32,
    6005, block=32,
    needs="the noise of a step is 14 times the radius, the projection a ridge of 100/sqrt(T): an error below a fifth "
          "of the trivial one needs about n epsilon = 10^5, where T = 1.6 10^6",
)
