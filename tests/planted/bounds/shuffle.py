"""Wrong pairs for shuffling, to which the second opinions must object: summed plainly, outcome by outcome, in balls."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from empirical.mutants.changes import code, formula, parameters
from empirical.mutants.mutant import Change, Mutant
from oracle.bounds.shuffling import shuffle
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball
from tests.planted import loose, wrong


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


def one_direction(kept: int) -> Change:
    """Randomised response with the hidden 1 (0) or the hidden 0 (1) only."""
    return code("engine", {
        "oracle.bounds.shuffling.shuffle:_PAIRS": lambda honest: {
            **honest, "lower": lambda *point: [(honest["lower"](*point) or [])[kept]],
        },
    })


def one_fast_direction(kept: int) -> Change:
    """The same in the fast path, which takes the mass of the two in turn."""

    def wrong(honest: Any) -> Any:
        calls = itertools.count()

        def one_sided(*given: Any) -> tuple[Any, Any]:
            log, error = honest(*given)
            return (log, error) if next(calls) % 2 == kept else (log - 1000.0, error)

        return one_sided

    return code("engine", {"oracle.bounds.shuffling.shuffle_arrays:_log_mass": wrong})


# Where the hidden 0 leaks more (few ones give it away), and where the hidden 1 does.
CURVE = [
    {"epsilon0": 2.0, "users": 12, "epsilon": 0.4, "method": "lower"},
    {"epsilon0": 0.1, "users": 3, "epsilon": 0.02, "method": "lower"},
]
INVERSE = [
    {"epsilon0": 2.0, "users": 60, "delta": 1e-3, "method": "lower"},
    {"epsilon0": 0.1, "users": 3, "delta": 0.0155, "method": "lower"},
]
KEPT = ("hidden 1 only", "hidden 0 only")
INSIDE = {"points": [{"epsilon0": "0.5", "users": 5000, "delta": "1e-6", "method": "closed-form"}]}
BEYOND = {"points": [{"epsilon0": "3.77", "users": 10**4, "delta": "1e-6", "method": "closed-form"}]}


MUTANTS = (
    wrong("shuffle.delta", "n clones for n - 1 (delta)", parameters(users=lambda v: max(1, v.users + 1))),
    wrong("shuffle.epsilon", "n clones for n - 1 (epsilon)", parameters(users=lambda v: max(1, v.users + 1))),
    loose("shuffle.epsilon", "n - 2 clones for n - 1", parameters(users=lambda v: max(1, v.users - 1))),
    wrong(
        "shuffle.delta", "the clone probability of 2023",
        formula(clone_pair(lambda k: 2 * k / (1 + k), lambda k: 1 / (1 + k))),
    ),
    loose("shuffle.delta", "half the clone probability", formula(clone_pair(lambda k: k / 2, lambda k: 1 / (1 + k)))),
    loose("shuffle.delta", "the hidden report without its noise", formula(clone_pair(lambda k: k, lambda k: arb(1)))),
    wrong("shuffle.epsilon", "the lower bound for the upper", parameters(method="lower")),
    Mutant(
        # what the planted pairs are made with is no mistake in itself
        "shuffle.delta", "summed plainly", formula(clone_pair(lambda k: k, lambda k: 1 / (1 + k))), severity="E",
        origin="a harmless rewriting, planted to catch false alarms", spared_by=("second opinion",),
        at={"points": [{**point, "method": "upper"} for point in CURVE]},
    ),
    *(
        wrong(name, KEPT[kept], one_direction(kept), at={"points": [chosen[kept]]}, caught_by=("second opinion",))
        for name, chosen in (("shuffle.delta", CURVE), ("shuffle.epsilon", INVERSE)) for kept in (0, 1)
    ),
    *(
        wrong(
            "shuffle.delta", f"{KEPT[kept]} in the fast path", one_fast_direction(kept), caught_by=("fast path",),
            at={"points": CURVE, "words": "UNSOUND"},
        )
        for kept in (0, 1)
    ),
    wrong(
        "shuffle.epsilon", "log(2/delta) for log(4/delta)",
        formula(lambda v: shuffle._closed(Values(**{**vars(v), "delta": 2 * v.delta}), v.delta)), at=INSIDE,
    ),
    wrong(
        "shuffle.epsilon", "one user more in the closed form",
        formula(lambda v: shuffle._closed(Values(**{**vars(v), "users": v.users + 1}), v.delta)), at=INSIDE,
    ),
    wrong(
        # formula and epsilon0 differ there: the opinion says epsilon0
        "shuffle.epsilon", "the closed form beyond its condition", parameters(epsilon0=Fraction("3.76")), at=BEYOND,
    ),
)
