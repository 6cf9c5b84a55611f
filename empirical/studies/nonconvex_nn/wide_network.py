r"""DP-SGD on wide networks (002, Theorem 13): its pieces, and why its rate is out of reach of any computer (rates R8).

(7) promises T^(-1/2) + (approximation) + (m^2 sqrt(T)/(n epsilon)^2 and factors) for m >= T^7 and n >= m. It is below a
fifth of the trivial risk only from T = 25 on, which asks for m = 6 10^9. What can be measured:

- Lemma 18: |f - f_ntk| = O(w^(4/3) sqrt(m)) within w of the start in every layer, so m^(-1/6) at w = R/sqrt(m). The
  largest gap is sought by steps along the gradient of f - f_ntk to the edge of the ball; what is found is a lower bound
  of it. While no unit changes sign f - f_ntk is a polynomial of degree L without constant and linear terms, of size
  w^2 sqrt(m); the smaller power of the lemma is room for units that change sign.
- Lemma 25 takes the noise on all weights to be sigma (sqrt(L m) + sqrt(m d)) long. There are m d + (L - 2) m^2 + m
  weights, so that E|G|^2 = sigma^2 (m d + (L - 2) m^2 + m), exactly. One step of the twin on a record x = 0, whose
  gradient is 0, releases the start plus that noise.
- Remark 15 lets the approximation error go to 0 as m grows. For one record it is, exactly,
  max(0, y - f(W(0), x) - (R/sqrt(m)) sum_l |df/dW_l|), and |df/dW_l| is of order sqrt(m): at fixed R it stays.
- The rate itself, with two layers (fewer weights) and every hidden factor of the hypotheses read as 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from empirical.studies.study import EQUAL, Array, Curve, Number, Premise, Simulation, Spot, Study
from oracle.algorithms.networks import dp_sgd_multilayer as deep
from oracle.core.algorithm import Values
from oracle.core.registry import algorithm
from oracle.core.tape import Tape

_ASCENTS = 6
_INPUTS = 4
DELTA = Fraction(1, 100_000)


def _start(spot: Spot, seed: int, replicate: int) -> tuple[deep.Layers, Array]:
    """W(0) of a replicate, and a record of length 1."""
    config = Values(hidden_units=spot["width"], depth=spot["depth"])
    x = np.random.Generator(np.random.Philox([seed, replicate])).standard_normal(_INPUTS)
    return deep.initial(config, _INPUTS, Tape(seed * 1_000_003 + replicate)), x / np.linalg.norm(x)


def _distance(spot: Spot) -> float:
    """How far from the start each layer may be."""
    if "R" in spot:
        return float(spot["R"]) / math.sqrt(spot["width"])
    return 1 / float(spot["1/omega"])


def _edge(start: deep.Layers, direction: deep.Layers, distance: float) -> deep.Layers:
    """The point of the ball's edge that lies in a direction, in every layer."""
    return [
        w + (distance / max(float(np.linalg.norm(g)), 1e-300)) * g for w, g in zip(start, direction, strict=True)
    ]


def linearisation_gap(spot: Spot, seed: int, replicates: range) -> Array:
    """The largest |f - f_ntk| that is found within a distance of the start."""
    found = []
    for r in replicates:
        start, x = _start(spot, seed, r)
        slopes, value = deep.network_gradient(start, x), deep.network(start, x)
        layers, best = _edge(start, slopes, _distance(spot)), 0.0
        for _ in range(_ASCENTS):
            moved = sum(float((s * (w - w0)).sum()) for s, w, w0 in zip(slopes, layers, start, strict=True))
            gap = deep.network(layers, x) - value - moved
            best = max(best, abs(gap))
            rising = math.copysign(1.0, gap)
            now = deep.network_gradient(layers, x)
            layers = _edge(start, [rising * (a - b) for a, b in zip(now, slopes, strict=True)], _distance(spot))
        found.append(best)
    return np.array(found)


def out_of_reach(spot: Spot, seed: int, replicates: range) -> Array:
    """The approximation error of one record with label y: what the linearised network cannot reach within R/sqrt(m)."""
    found = []
    for r in replicates:
        start, x = _start(spot, seed, r)
        lengths = sum(float(np.linalg.norm(part)) for part in deep.network_gradient(start, x))
        # A last layer of the other sign is as likely and has the same slopes: the mean of both scatters less.
        reached, f = _distance(spot) * lengths, deep.network(start, x)
        found.append(sum(max(0.0, float(spot["label"]) - value - reached) for value in (f, -f)) / 2)
    return np.array(found)


def weights(spot: Spot) -> Curve:
    """E|G|^2/sigma^2."""
    m, layers = arb(spot["width"]), spot["depth"]
    return (m * _INPUTS + (layers - 2) * m**2 + m,)


def noise_energy(spot: Spot, seed: int, replicates: range) -> Array:
    """|G|^2/sigma^2 of one step of the twin on a record whose gradient is 0."""
    descent, sigma, eta = algorithm("dp-sgd-multilayer"), 0.5, 0.25
    config = descent.parse({
        "loss": "logistic", "depth": spot["depth"], "hidden_units": spot["width"], "learning_rate": eta,
        "layer_radius": 10**6, "centre": "start", "clip_norm": 1, "noise_on_mean": sigma, "steps": 1, "batch_size": 1,
        "dataset_size": 1, "neighbours": "replace",
    })
    found = []
    for r in replicates:
        tape = Tape(seed * 1_000_003 + r)
        released = descent.train_batched(np.zeros((1, _INPUTS)), np.ones(1), config, tape).numpy()[0]
        start = deep.flat(deep.initial(config, _INPUTS, tape))
        found.append(float(((released - start) ** 2).sum()) / (eta * sigma) ** 2)
    return np.array(found)


_ANGLES = math.pi / 8 + 2 * math.pi * np.arange(8) / 8
_RECORDS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1) * (1 - 1e-15)
_LABELS = (_RECORDS[:, 0] > 0).astype(np.float64)
_BATCH, _CLIP, _RADIUS = 8, 1, 1


def sizes(spot: Spot) -> tuple[int, int]:
    """m = T^7 and n >= m, all hidden factors read as 1."""
    width = spot["T"] ** 7
    return width, max(64, width)


def loss_after(spot: Spot, seed: int, replicates: range) -> Array:
    """The exact population loss of what the twin of Algorithm 10 releases."""
    (width, records), steps, layers = sizes(spot), spot["T"], 2
    noise = _BATCH / records * _CLIP * math.sqrt(steps * math.log(1 / DELTA)) / (_BATCH * spot["epsilon"])
    descent = algorithm("dp-sgd-multilayer")
    config = descent.parse({
        "loss": "logistic", "depth": layers, "hidden_units": width, "layer_radius": _RADIUS, "centre": "start",
        "learning_rate": Fraction(math.sqrt(layers) * _RADIUS / (_CLIP * math.sqrt(width * steps))),
        "clip_norm": _CLIP, "noise_on_mean": Fraction(noise), "steps": steps, "batch_size": _BATCH,
        "dataset_size": records, "neighbours": "replace",
    })
    found = []
    for r in replicates:
        which = np.random.Generator(np.random.Philox([seed, r])).integers(0, len(_RECORDS), records)
        tape = Tape(seed * 1_000_003 + r)
        released = descent.train_batched(_RECORDS[which], _LABELS[which], config, tape).numpy()[0]
        trained = deep.unflat(released, config, 2)
        scores = np.array([deep.network(trained, x) for x in _RECORDS])
        found.append(float(np.logaddexp(0.0, (1 - 2 * _LABELS) * scores).mean()))
    return np.array(found)




def _as_drawn(spot: Spot) -> bool:
    """Whether a record has length 1 and the layers the variances 2/m and 1/m, within 6 standard errors."""
    width = min(spot["width"], 512)  # wider networks are only counted, never drawn
    start, x = _start({**spot, "width": width}, 0, 0)
    wanted = [2.0] * (len(start) - 1) + [1.0]
    shares = [
        abs(width * float((layer**2).mean()) / variance - 1) <= 6 * math.sqrt(2 / layer.size)
        for layer, variance in zip(start, wanted, strict=True)
    ]
    return all(shares) and abs(float(np.linalg.norm(x)) - 1) < 1e-12


_UNIT = Premise("|x| = 1 and the layers are drawn as the text says", _as_drawn)
_WIDTHS = (64, 128, 256, 512)


def _piece(name: str, claim: str, statement: str, estimand: str, axis: str, grid: tuple[Number, ...],
           predicted: Fraction, setting: dict[str, Any], sampler: Callable[[Spot, int, range], Array],
           replicates: int, seed: int, **others: Any) -> Study:
    return Study(
        name=name, source=(f"nonconvex-nn/{claim}",), statement=statement, estimand=estimand,
        generator="three-layer ReLU networks at random starts, records of length 1 in four dimensions", axis=axis,
        grid=grid, setting={"depth": 3, **setting}, predicted=predicted, premises=(_UNIT,),
        **{"simulation": Simulation(sampler, grid, replicates, seed, block=32), **others},
    )


_GAP = "largest |f - f_ntk| found"
in_distance = _piece(
    "linearisation-distance", "lem-18", "|f - f_ntk| = O(w^(4/3)) in the distance w from the start", _GAP, "1/omega",
    tuple(2**k for k in range(2, 9)), Fraction(-4, 3), {"width": 64}, linearisation_gap, 256, 9001,
)
in_width = _piece(
    "linearisation-width", "lem-18", "|f - f_ntk| = O(sqrt(m)) at a fixed distance", _GAP, "width", _WIDTHS,
    Fraction(1, 2), {"1/omega": 8}, linearisation_gap, 128, 9002,
)
in_scaled_width = _piece(
    "linearisation-scaled", "lem-18", "|f - f_ntk| = O(m^(-1/6)) at the distance R/sqrt(m)", _GAP, "width", _WIDTHS,
    Fraction(-1, 6), {"R": 1}, linearisation_gap, 128, 9003,
)
reach = _piece(
    "tangent-reach", "rem-15-approx-zero", "at fixed R the approximation error does not fall with the width",
    "approximation error of one record with label 5, R = 1/2", "width", _WIDTHS, Fraction(0),
    {"R": Fraction(1, 2), "label": 5}, out_of_reach, 64, 9004, kind=EQUAL,
)
_STEP = Simulation(noise_energy, (128,), 32, 9005)
energy = _piece(
    "noise-energy", "lem-25-noise-norm", "E|G|^2 = sigma^2 (m d + (L - 2) m^2 + m): exponent 2 in the width",
    "E|G|^2/sigma^2", "width", tuple(2**k for k in range(7, 13)), Fraction(2), {}, noise_energy, 32, 9005, kind=EQUAL,
    exact=weights, simulation=_STEP,
)
energy_printed = _piece(
    "noise-energy-printed", "lem-25-noise-norm", "|G|^2 = O(sigma^2 (L m + m d)): exponent 1 in the width",
    "E|G|^2/sigma^2", "width", tuple(2**k for k in range(7, 13)), Fraction(1), {}, noise_energy, 32, 9005,
    exact=weights, simulation=_STEP,
)

rate = Study(
    name="wide-network", source=("nonconvex-nn/thm-13-utility",),
    statement="excess risk O(T^(-1/2)) + approximation + privacy, m >= T^7, n >= m", estimand="population loss",
    generator="eight points of a circle, labelled by a half-plane; two-layer networks, logistic loss; the twin",
    axis="T", grid=(1, 2, 3, 4), setting={"epsilon": 1}, predicted=Fraction(-1, 2),
    premises=(
        Premise("|x| <= 1", lambda spot: bool((np.linalg.norm(_RECORDS, axis=1) <= 1).all())),
        Premise("m >= T^7 and n >= m", lambda spot: sizes(spot)[1] >= sizes(spot)[0] >= spot["T"] ** 7),
        Premise("n >= C (sqrt(L m) + sqrt(m d)) sqrt(T log(1/delta))/(R epsilon) where m > 1", lambda spot: (
            spot["T"] == 1 or sizes(spot)[1] >= 2 * math.sqrt(2 * sizes(spot)[0] * spot["T"]))),
        Premise("C <= min(S L sqrt(m), R) and M >= log T",
                lambda spot: min(2 * math.sqrt(sizes(spot)[0]), _RADIUS) >= _CLIP and math.log(spot["T"]) <= _BATCH),
    ),
    trivial=lambda spot: arb(2).log(), simulation=Simulation(loss_after, (1, 2, 3, 4), 32, 9006),
    needs="1/sqrt(T) is below a fifth from T = 25 on, then m >= T^7 = 6.1 10^9 with every hidden factor read as 1, "
          "and n >= m: with three layers 3.7 10^19 weights; at the n that is asked for the privacy term is m/sqrt(T)",
)
