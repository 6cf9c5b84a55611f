"""Witnesses against what document 002 says of its figures, again: floats, numpy and a network that is run."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np

from tests.theorems.witness_text import Witness


def term_is_flat(witness: Witness) -> bool:
    """The named term at both ends of Figure 1's axis: 1/sqrt(T), which R does not enter."""
    one, other = witness["at the ends"].split(" and ")
    return one == other and abs(float(one) - float(mpmath.mpf(eval_fraction(witness["T"])) ** -0.5)) < 1e-9 * float(one)


def eval_fraction(text: str) -> float:
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1)


def radius_differs(witness: Witness) -> bool:
    """R from R/sqrt(m) at that width is not the R at width 200, which is claimed for all."""
    omega, m = eval_fraction(witness["omega"]), eval_fraction(witness["m"])
    return bool(abs(omega * np.sqrt(m) - float(witness["claimed"])) > 0.01)


def term_grows_with_clip(witness: Witness) -> bool:
    """S L sqrt(m) eta sigma^2 (m^2 L + m d)/C at C = 1 and 64, in floats."""

    def term(clip: float) -> float:
        s, layers, m, d, n, t = (float(witness[name]) for name in ("S", "L", "m", "d", "n", "T"))
        eta = eval_fraction(witness[f"eta at C = {clip:g}"])
        variance = t * clip**2 / (n * eval_fraction(witness["epsilon"])) ** 2
        return float(s * layers * m**0.5 * eta * variance * (m**2 * layers + m * d) / clip)

    return bool(term(64) > 1.01 * term(1))


def clip_is_too_large(witness: Witness) -> bool:
    return bool(float(witness["C"]) > float(witness["S"]) * float(witness["L"]) * float(witness["m"]) ** 0.5)


def width_is_too_small(witness: Witness) -> bool:
    """m against T^7 C^-8, C = 20, from n."""
    n = mpmath.mpf(witness["n"])
    return bool(n ** mpmath.mpf("0.25") / 2 < (50 * n ** mpmath.mpf("0.4")) ** 7 / mpmath.mpf(20) ** 8)


def records_are_too_few(witness: Witness) -> bool:
    """n against C (sqrt(L m) + sqrt(m d)) sqrt(T)/R for m = n^14/2 and R up to 10^12."""
    n = mpmath.mpf(witness["n"])
    m, t = n**14 / 2, 50 * n ** mpmath.mpf("0.4")
    return bool(n < 20 * (mpmath.sqrt(3 * m) + mpmath.sqrt(784 * m)) * mpmath.sqrt(t) / mpmath.mpf(10) ** 12)


def error_stays(witness: Witness) -> bool:
    """Random three-layer networks of two widths at that x: value and slopes (by differences) are 0."""
    x, rng = float(witness["x"]), np.random.default_rng(5)
    for m in (8, 9):
        layers = [rng.normal(size=(m, 4)), rng.normal(size=(m, m)), rng.normal(size=(1, m))]
        moved = [layer + 0.1 * rng.normal(size=layer.shape) for layer in layers]
        for weights in (layers, moved):
            h = np.full(4, x)
            for layer in weights[:-1]:
                h = np.maximum(layer @ h, 0.0)
            if abs(float((weights[-1] @ h)[0])) > 0:
                return False
    label = float(witness["label"])
    return bool(abs((1 + label**2) ** 0.5 - 1) > 0.4)


def image_is_long(witness: Witness) -> bool:
    return float(np.linalg.norm(np.full(int(witness["pixels"]), eval_fraction(witness["scale"])))) > 1.0


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "nonconvex-nn/fig-1-caption": term_is_flat,
    "nonconvex-nn/fig-1-confounded": radius_differs,
    "nonconvex-nn/fig-2-theory-mismatch": term_grows_with_clip,
    "nonconvex-nn/fig-2-C-hypothesis": clip_is_too_large,
    "nonconvex-nn/fig-5-params": width_is_too_small,
    "nonconvex-nn/fig-5-params-reading-literal": records_are_too_few,
    "nonconvex-nn/fig-5-each-term-reading-approximation": error_stays,
    "nonconvex-nn/exp-unit-norm": image_is_long,
}
NOT_WITNESSES: dict[str, Witness] = {
    "nonconvex-nn/fig-1-confounded": {"omega": "1/10", "m": "200", "claimed": "1.41421356237"},
    "nonconvex-nn/fig-2-theory-mismatch": {
        "S": "1", "L": "3", "m": "256", "d": "784", "n": "60000", "T": "200", "epsilon": "1", "eta at C = 1": "1/100",
        "eta at C = 64": "1/6400"},
    "nonconvex-nn/fig-2-C-hypothesis": {"C": "48", "S": "1", "L": "3", "m": "256"},
    "nonconvex-nn/fig-5-each-term-reading-approximation": {"x": "1", "label": "1"},
    "nonconvex-nn/exp-unit-norm": {"pixels": "784", "scale": "1/29"},
}
