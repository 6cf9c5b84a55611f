"""Bugs that real accountants had or have: which cases would show them, with links; and the points where they were seen.

A bug's flag stands on every case to which its `applies` says yes, wherever the case came from. Figures "seen with" a
version were measured with that version; each link is a thread about the bug, or else the page of the project.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from empirical.gate.making.cases import Case, Text
from empirical.gate.making.flags import Flag
from oracle.core.registry import bound

_OPACUS = "https://github.com/meta-pytorch/opacus"
_GOOGLE = "https://github.com/google/differential-privacy"
_PRV = "https://github.com/microsoft/prv_accountant"
_TFP = "https://github.com/tensorflow/privacy"
_AUTODP = "https://github.com/yuxiangw/autodp"
_OPENDP = "https://github.com/opendp/opendp"

DELTAS = ("delta", "base_delta", "threshold_delta", "slack")
NOISY = ("gaussian", "gaussian-composed", "poisson-gaussian", "wor-gaussian", "tree", "laplace", "laplace-composed")
ORDERS = ("alpha",)
STEPS = ("steps", "epochs")


@dataclass(frozen=True)
class KnownBug:
    """A flag, and the valid cases that would show the bug."""

    flag: Flag
    applies: Callable[[Case], bool]


def _some(names: tuple[str, ...], holds: Callable[[Fraction], bool]) -> Callable[[Case], bool]:
    """Whether one of these parameters is a finite number for which it holds."""

    def applies(case: Case) -> bool:
        values = [case.input[name] for name in names if name in case.input]
        return any(holds(Fraction(text)) for text in values if isinstance(text, str) and text != "inf")

    return applies


def _family(*families: str) -> Callable[[Case], bool]:
    return lambda case: case.bound.rsplit(".", 1)[0] in families


def _unit(unit: str) -> Callable[[Case], bool]:
    return lambda case: bound(case.bound).unit == unit


def _both(one: Callable[[Case], bool], other: Callable[[Case], bool]) -> Callable[[Case], bool]:
    return lambda case: one(case) and other(case)


def _answer_above(limit: int) -> Callable[[Case], bool]:
    return lambda case: case.expected is not None and case.expected.lower >= limit


def _clt_is_too_low(case: Case) -> bool:
    """Whether the curve of mu = q sqrt(T (e^(1/sigma^2) - 1)), the central limit, lies below the truth by a tenth."""
    if case.bound not in ("poisson-gaussian.epsilon", "poisson-gaussian.delta") or case.expected is None:
        return False
    given = {name: float(Fraction(text)) for name, text in case.input.items() if name != "neighbours"}  # type: ignore[arg-type]
    if not (0.0 < given["sampling_rate"] < 1.0 and given["steps"] >= 1 and given["sigma"] > 0.05):
        return False
    mu = given["sampling_rate"] * math.sqrt(given["steps"] * math.expm1(given["sigma"] ** -2))
    answer = float(case.expected.lower)
    epsilon, delta = (answer, given["delta"]) if "delta" in given else (given["epsilon"], answer)
    if not (0.0 < epsilon < 700.0 and mu < 1e3):
        return False
    upper, lower = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    limit = (math.erfc(upper / math.sqrt(2)) - math.exp(epsilon) * math.erfc(lower / math.sqrt(2))) / 2
    return limit < 0.9 * delta


def _noise(case: Case) -> Fraction:
    """The noise of a mechanism over its sensitivity; 1 where noise is what is sought."""
    given = [case.input[name] for name in ("sigma", "noise_multiplier", "scale") if name in case.input]
    return Fraction(str(given[0])) / Fraction(str(case.input.get("sensitivity", "1"))) if given else Fraction(1)


def _optimal(case: Case) -> bool:
    return case.bound in ("composition.optimal", "composition.optimal-delta")


def _word(name: str, word: str) -> Callable[[Case], bool]:
    return lambda case: case.input.get(name) == word


KNOWN: tuple[KnownBug, ...] = (
    KnownBug(
        Flag(
            "TinyDelta", "KNOWN_BUG", "delta is at most 1e-9, where the rounding errors of a transform in double "
            "precision are of the size of delta.",
            "epsilon too low, or infinite, or refused. Seen with dp-accounting 0.6.0 (PLD, sigma = 1, rate 0.01, 100 "
            "steps): -2.9e-4 at delta = 1e-12, -2.1e-2 at 1e-14, infinite at 1e-15 with 1000 steps; with Opacus 1.6.0 "
            "(PRV): -0.066 at 1e-14; prv-accountant 0.2.0 refuses.",
            (f"{_PRV}/issues/17", f"{_PRV}/pull/18", _GOOGLE),
        ),
        _some(DELTAS, lambda delta: 0 < delta <= Fraction(1, 10**9)),
    ),
    KnownBug(
        Flag(
            "LargeDelta", "KNOWN_BUG", "delta is at least 0.1: the least epsilon is small, or 0.",
            "A negative epsilon, which then pays for other releases. Seen with Opacus 1.6.0 (PRV): -0.68 at delta = "
            "0.5; OpenDP 0.6 (zCDP).",
            (f"{_OPACUS}/issues/585", f"{_OPACUS}/pull/844", f"{_OPENDP}/issues/621"),
        ),
        _some(DELTAS, lambda delta: Fraction(1, 10) <= delta < 1),
    ),
    KnownBug(
        Flag(
            "RareSampling", "KNOWN_BUG", "The sampling rate is at most 1e-4: the two distributions nearly agree.",
            "Cancellation. Seen with Opacus 1.6.0 and prv-accountant 0.2.0 (RDP at rate 1e-6, sigma = 1, order 1.1): "
            "2.3 % too low.",
            (_OPACUS, _PRV),
        ),
        _some(("sampling_rate",), lambda rate: 0 < rate <= Fraction(1, 10**4)),
    ),
    KnownBug(
        Flag(
            "NoSampling", "KNOWN_BUG", "The sampling rate is 0: nothing is given away.",
            "A cost where there is none, or log(0). Seen with Opacus 1.6.0 (RDP): epsilon = 0.103.", (_OPACUS,),
        ),
        _some(("sampling_rate",), lambda rate: rate == 0),
    ),
    KnownBug(
        Flag(
            "FullSampling", "KNOWN_BUG", "The sampling rate is 1: no amplification at all.",
            "log(1 - q) fails. Seen with Opacus: math domain error.", (f"{_OPACUS}/issues/74",),
        ),
        _some(("sampling_rate",), lambda rate: rate == 1),
    ),
    KnownBug(
        Flag(
            "ReplaceOne", "KNOWN_BUG", "A record is replaced, not added or removed: a sum of clipped vectors moves by "
            "twice the clipping norm.",
            "epsilon too low by half or more. Seen with dp-accounting 0.6.0 (RDP, REPLACE_ONE): 4.73 for 9.997 at "
            "sigma = 1, delta = 1e-5.",
            (f"{_GOOGLE}/issues/378", f"{_GOOGLE}/pull/464"),
        ),
        _word("neighbours", "replace"),
    ),
    KnownBug(
        Flag(
            "OrderNearOne", "KNOWN_BUG", "The Renyi order is at most 1.01.",
            "epsilon = 0 where there is a cost, since a small divergence is taken for none. Seen with TensorFlow "
            "Privacy, still with dp-accounting 0.6.0 (order 1 + 1e-8).",
            (f"{_TFP}/issues/166", f"{_OPACUS}/issues/49"),
        ),
        _some(ORDERS, lambda alpha: alpha <= Fraction(101, 100)),
    ),
    KnownBug(
        Flag(
            "FractionalOrder", "KNOWN_BUG", "The Renyi order is no integer, so that no finite sum is exact.",
            "Bounds that are loose or infinite between the integers. Seen with dp-accounting 0.6.0: up to 31 % too "
            "large below order 2.",
            (_GOOGLE,),
        ),
        _both(_some(ORDERS, lambda alpha: alpha.denominator != 1), _unit("rdp")),
    ),
    KnownBug(
        Flag(
            "ZeroSteps", "KNOWN_BUG", "Nothing has happened yet: no step was taken.",
            "Division by zero, or a cost before the first step. Seen with prv-accountant 0.2.0 and Opacus 1.6.0 (PRV): "
            "ZeroDivisionError; Opacus (RDP): epsilon = 0.103.",
            ("https://github.com/lxuechen/private-transformers/issues/19", _PRV, _OPACUS),
        ),
        _some(STEPS, lambda steps: steps == 0),
    ),
    KnownBug(
        Flag(
            "ManySteps", "KNOWN_BUG", "A million steps or more.",
            "Errors of one step times their number. Seen with dp-accounting 0.6.0 (PLD): 0.1027 for 0.0337 at sigma = "
            "100, rate 0.001, delta = 1e-6.",
            (_GOOGLE,),
        ),
        _some(STEPS, lambda steps: steps >= 10**6),
    ),
    KnownBug(
        Flag(
            "SmallNoise", "KNOWN_BUG", "The noise is at most 0.3 times the sensitivity: the privacy loss is large.",
            "A grid over all losses that fills the memory, overflow, or no answer. Seen with dp-accounting 0.6.0 (38 "
            "GiB) and Opacus 1.6.0 (84 GiB) at sigma = 1e-3.",
            (f"{_OPACUS}/issues/602", "https://github.com/NVIDIA-NeMo/Safe-Synthesizer/pull/351"),
        ),
        _both(_family(*NOISY), lambda case: _noise(case) <= Fraction(3, 10)),
    ),
    KnownBug(
        Flag(
            "HugeNoise", "KNOWN_BUG", "The noise is at least 1000 times the sensitivity.",
            "A grid that is too coarse for tiny losses (loose answers), or too fine for the memory.",
            ("https://github.com/google/dpsynth/issues/71",),
        ),
        _both(_family(*NOISY), lambda case: _noise(case) >= 1000),
    ),
    KnownBug(
        Flag(
            "LargeEpsilon", "KNOWN_BUG", "The true epsilon is at least 10.",
            "Refusals and failed searches for a root. Seen with prv-accountant and Opacus: \"Discrete mean differs\"; "
            "Opacus (GDP): a bracket [0, 500] that does not hold the root.",
            (f"{_PRV}/issues/36", f"{_PRV}/issues/42", f"{_OPACUS}/issues/601", f"{_OPACUS}/issues/604",
             f"{_OPACUS}/issues/775"),
        ),
        _both(_unit("epsilon"), _answer_above(10)),
    ),
    KnownBug(
        Flag(
            "ExponentOverflow", "KNOWN_BUG", "epsilon is at least 700: e^epsilon is no double any more.",
            "NaN or inf from 0 * inf in the curve of the Gaussian mechanism.", (f"{_GOOGLE}/pull/430",),
        ),
        lambda case: _some(("epsilon", "base_epsilon", "threshold_epsilon"), lambda epsilon: epsilon >= 700)(case)
        or _both(_unit("epsilon"), _answer_above(700))(case),
    ),
    KnownBug(
        Flag(
            "CltApproximation", "KNOWN_BUG", "A point at which the central limit of many sampled steps, mu = q sqrt(T "
            "(e^(1/sigma^2) - 1)), promises a curve below the true one by a tenth or more.",
            "epsilon too low: an approximation is no bound. Seen with Opacus 1.6.0 (GDP): 2.34 for 5.44 at rate 0.001, "
            "sigma = 0.5, 5000 steps, delta = 1e-6.",
            (f"{_OPACUS}/issues/384", f"{_OPACUS}/pull/400", f"{_OPACUS}/issues/715"),
        ),
        _clt_is_too_low,
    ),
    KnownBug(
        Flag(
            "NoiseSearch", "KNOWN_BUG", "Noise is sought for a promised epsilon.",
            "A search by bisection that returns the middle, whose epsilon is above the promise. Seen with Opacus: 0.5 "
            "too much.",
            (f"{_OPACUS}/issues/346", f"{_OPACUS}/pull/348"),
        ),
        _unit("sigma"),
    ),
    KnownBug(
        Flag(
            "ClassicalFormula", "KNOWN_BUG", "Noise for an epsilon above 1, where sqrt(2 log(1.25/delta))/epsilon may "
            "be too little.",
            "The classical calibration of the Gaussian mechanism is proved for epsilon below 1 only. Seen with "
            "smartnoise-sdk and in a text book.",
            ("https://github.com/opendp/smartnoise-sdk/issues/462",
             "https://github.com/uvm-plaid/programming-dp/issues/45"),
        ),
        _both(_family("gaussian"), _both(_unit("sigma"), _some(("epsilon",), lambda epsilon: epsilon > 1))),
    ),
    KnownBug(
        Flag(
            "FixedSizeBatches", "KNOWN_BUG", "Batches of a fixed size, drawn without replacement.",
            "Accounted for with the formula for Poisson sampling, which costs less than the truth.",
            (f"{_AUTODP}/issues/3", f"{_AUTODP}/issues/33", f"{_TFP}/pull/158"),
        ),
        lambda case: _family("wor-gaussian")(case) or case.bound.startswith("amplification.wor"),
    ),
    KnownBug(
        Flag(
            "WithReplacement", "KNOWN_BUG", "Records are drawn with replacement, so that one may count twice.",
            "Accounted for as a sample without replacement.", (f"{_OPENDP}/issues/2932",),
        ),
        lambda case: case.bound.startswith("amplification.with-replacement"),
    ),
    KnownBug(
        Flag(
            "ShortGrid", "KNOWN_BUG", "Mechanisms of which only epsilon is known, whose losses add up to 20 or more.",
            "A grid that is too short for the sum of the losses, which wraps around. Seen with prv-accountant 0.2.0 "
            "(PureDPMechanism): upper end 70.07 for 79.84, 100 times epsilon = 1 at delta = 1e-5; -11.4 for 2281.",
            (_PRV, f"{_PRV}/pull/31"),
        ),
        lambda case: _optimal(case) and Fraction(str(case.input["base_epsilon"])) * int(str(case.input["steps"])) >= 20,
    ),
    KnownBug(
        Flag(
            "PureComposition", "KNOWN_BUG", "A total delta below 1e-16, or 0.",
            "1 - (1-delta)^k (1-x) as it stands loses every x below 1e-16. Seen with dp-accounting 0.6.0 "
            "(advanced_composition): epsilon = 8 for 10, 100 times epsilon = 0.1 at total delta 0.",
            (_GOOGLE,),
        ),
        _both(_optimal, _some(("delta",), lambda delta: delta < Fraction(1, 10**16))),
    ),
)


Point = Mapping[str, Text]


def _sampled(asked: str, rows: tuple[tuple[str, str, str, str, str], ...]) -> list[Point]:
    keys = ("sigma", "sampling_rate", "steps", asked, "neighbours")
    return [dict(zip(keys, row, strict=True)) for row in rows]


_BOTH = ("add_remove", "replace")

POINTS: dict[str, Sequence[Point]] = {
    # The problems on which the libraries were measured, and the calls that came out wrong.
    "poisson-gaussian.epsilon": _sampled("delta", (
        *((sigma, "0.016666666666666666", "24000", "1e-5", word) for sigma in ("1", "5", "15") for word in _BOTH),
        *(("1", "0.01", "1000", delta, "add_remove") for delta in ("1e-12", "1e-13", "1e-14", "1e-15", "0.5")),
        *(("1", "0.01", "100", delta, "add_remove") for delta in ("1e-9", "1e-10", "1e-11", "1e-12", "1e-13", "1e-14")),
        ("0.3", "0.1", "100", "1e-5", "add_remove"), ("0.5", "0.001", "5000", "1e-6", "add_remove"),
        ("100", "0.001", "1000000", "1e-6", "add_remove"), ("1", "1", "1", "1e-5", "replace"),
        ("1", "1", "1", "1e-5", "add_remove"), ("1", "1e-6", "1000", "1e-5", "add_remove"),
        ("4", "0.00033", "10000", "1.13e-18", "add_remove"), ("0.8", "0.125", "1000", "1e-6", "add_remove"),
        ("1", "0.2", "10", "1e-5", "add_remove"), ("1", "0.00105", "1", "1e-3", "add_remove"),
        ("1.3", "0.0167", "900", "1e-5", "add_remove"), ("3", "0.2", "50", "2.0833e-5", "add_remove"),
        ("1", "0.01", "0", "1e-5", "replace"),
        ("30", "1", "1000", "1e-6", "add_remove"), ("1", "0.01", "1000", "0.9", "replace"),
        *((sigma, rate, steps, "1e-5", word) for sigma, rate, steps in (
            ("1.1", "0.004266667", "14062"), ("2", "0.02", "500"), ("0.8", "0.05", "200"), ("1", "0.01", "1"),
        ) for word in _BOTH),
    )),
    "poisson-gaussian.delta": _sampled("epsilon", tuple(
        (sigma, "0.01", "1000", epsilon, word)
        for sigma, epsilon in (("1", "0.5"), ("1", "4"), ("1", "8"), ("4", "0.1"), ("0.6", "8")) for word in _BOTH
    )),
    "poisson-gaussian.rdp": _sampled("alpha", (
        ("1", "1e-6", "1", "1.1", "add_remove"), ("1", "0.00105", "1", "1.00000001", "add_remove"),
        ("1", "0.01", "1", "1.5", "add_remove"), ("1", "0.01", "1", "2", "add_remove"),
        ("1", "0.01", "1", "2", "replace"), ("1", "0.01", "1", "64", "add_remove"), ("1", "1", "1", "8", "replace"),
        ("1", "1", "1", "8", "add_remove"), ("2.5", "0.01", "50", "1.001", "add_remove"),
        ("2", "0.1", "10", "5", "add_remove"), ("0.3", "0.1", "100", "1.25", "add_remove"),
    )),
    "poisson-gaussian.sigma": [
        {"sampling_rate": rate, "steps": steps, "epsilon": epsilon, "delta": delta, "neighbours": word}
        for rate, steps, epsilon, delta in (
            ("0.01", "1000", "8", "1e-5"), ("0.01", "1000", "0.5", "1e-6"), ("1", "60", "1", "1e-5"),
        )
        for word in _BOTH
    ],
    "gaussian.epsilon": [
        {"sigma": sigma, "sensitivity": "1", "delta": delta}
        for sigma in ("1", "0.1", "100") for delta in ("1e-3", "1e-10", "1e-12", "1e-15", "0.5")
    ] + [{"sigma": "1", "sensitivity": "2", "delta": "1e-5"}, {"sigma": "0.02", "sensitivity": "1", "delta": "1e-6"}],
    "gaussian.delta": [
        {"sigma": sigma, "sensitivity": "1", "epsilon": epsilon}
        for sigma in ("1", "0.1", "30") for epsilon in ("0", "1e-6", "1", "10", "710")
    ],
    "gaussian.sigma": [
        {"sensitivity": "1", "epsilon": epsilon, "delta": delta}
        for epsilon in ("0", "0.1", "2", "8", "10", "100") for delta in ("1e-5", "1e-12")
    ],
    "gaussian-composed.epsilon": [
        {"sigma": "30", "sensitivity": "1", "steps": "1000", "delta": "1e-6"},
        {"sigma": "10", "sensitivity": "1", "steps": "100", "delta": "1e-12"},
        {"sigma": "10", "sensitivity": "2", "steps": "100", "delta": "1e-5"},
    ],
    "laplace-composed.epsilon": [
        {"scale": "10", "sensitivity": "1", "steps": "100", "delta": delta} for delta in ("1e-5", "1e-10", "1e-15", "0")
    ] + [{"scale": "5.6", "sensitivity": "1", "steps": "608", "delta": "4.8e-15"}],
    "composition.optimal": [
        {"base_epsilon": epsilon, "base_delta": "0", "steps": steps, "delta": delta}
        for epsilon, steps, delta in (
            ("1", "100", "1e-5"), ("1", "50", "1e-5"), ("4.32", "528", "1e-4"), ("0.133", "479", "1.39e-8"),
            ("0.5", "100", "1e-5"), ("0.5", "100", "0"),
        )
    ],
    "composition.optimal-delta": [
        {"base_epsilon": epsilon, "base_delta": "0", "steps": steps, "epsilon": total}
        for epsilon, steps, total in (("1", "100", "75"), ("1.5", "42", "8"), ("4.32", "528", "100"))
    ],
    "rdp.epsilon": [
        {"alpha": alpha, "rdp": rdp, "delta": delta, "conversion": word}
        for alpha, rdp, delta in (
            ("1.00000001", "1.1e-6", "1e-3"), ("1.00000001", "1e-14", "1e-5"), ("1.1", "1e-9", "1e-5"),
            ("64", "0.32", "0.5"), ("2", "1", "0.9"),
        )
        for word in ("canonne", "mironov")
    ],
    "zcdp.epsilon": [{"rho": rho, "delta": delta} for rho in ("0.005", "1") for delta in ("0.5", "0.99", "1e-12")],
}
"""Inputs at which a real library was seen to be wrong, or that its users reported."""
