"""Wrong pairs for shuffling, to which the second opinions must object: summed plainly, outcome by outcome, in balls."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable

from flint import arb

import oracle
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball
from oracle.core.registry import Certify, closed_form


def clone_pair(clone: Callable[[arb], arb], truth: Callable[[arb], arb]) -> Callable[[Values], arb]:
    """The curve of the clone pair, for any probabilities (of e^-epsilon0) of a clone and of a hidden 1."""

    def formula(v: Values) -> arb:
        if v.epsilon >= v.epsilon0:
            return arb(0)
        k, factor, others = ball(-v.epsilon0).exp(), ball(v.epsilon).exp(), v.users - 1
        p, t = clone(k), truth(k)
        laws: tuple[dict[tuple[int, int], arb], ...] = (defaultdict(arb), defaultdict(arb))
        for clones in range(others + 1):
            some = arb(math.comb(others, clones)) * p**clones * (1 - p) ** (others - clones)
            for a in range(clones + 1):
                weight = some * arb(math.comb(clones, a)) / arb(2) ** clones
                for law, chance in zip(laws, (t, 1 - t), strict=True):
                    law[a + 1, clones - a] += weight * chance
                    law[a, clones - a + 1] += weight * (1 - chance)
        return sum((max(arb(0), laws[0][o] - factor * laws[1][o]) for o in laws[0]), arb(0))

    return formula


def _users(name: str, change: int) -> Certify:
    return lambda v, w: oracle.bound(name).certify(Values(**{**vars(v), "users": max(1, v.users + change)}), w)


WRONG: dict[str, tuple[str, Certify]] = {
    "n clones for n - 1 (delta)": ("shuffle.delta", _users("shuffle.delta", 1)),
    "n clones for n - 1 (epsilon)": ("shuffle.epsilon", _users("shuffle.epsilon", 1)),
    "n - 2 clones for n - 1": ("shuffle.epsilon", _users("shuffle.epsilon", -1)),
    "the clone probability of 2023": (
        "shuffle.delta", closed_form(clone_pair(lambda k: 2 * k / (1 + k), lambda k: 1 / (1 + k))),
    ),
    "half the clone probability": (
        "shuffle.delta", closed_form(clone_pair(lambda k: k / 2, lambda k: 1 / (1 + k))),
    ),
    "the hidden report without its noise": ("shuffle.delta", closed_form(clone_pair(lambda k: k, lambda k: arb(1)))),
    "the lower bound for the upper": (
        "shuffle.epsilon",
        lambda v, w: oracle.bound("shuffle.epsilon").certify(Values(**{**vars(v), "method": "lower"}), w),
    ),
}
