"""Second opinions on shuffling: the laws of the two pairs, outcome by outcome, and the theorem's formula, by mpmath."""

from __future__ import annotations

import math
from collections import defaultdict

from mpmath import mp, mpf

from tests.opinion import Numbers, Root, Value

Law = dict[tuple[int, int], mpf]


def clone_laws(epsilon0: mpf, users: int) -> tuple[Law, Law]:
    """The laws of (A + D, C - A + 1 - D) and of (A + 1 - D, C - A + D), built draw by draw as they are defined."""
    first: Law = defaultdict(mpf)
    second: Law = defaultdict(mpf)
    clone, truth = mp.exp(-epsilon0), mp.exp(epsilon0) / (mp.exp(epsilon0) + 1)
    for clones in range(users):
        some = math.comb(users - 1, clones) * clone**clones * (1 - clone) ** (users - 1 - clones)
        for a in range(clones + 1):
            weight = some * math.comb(clones, a) / 2**clones
            for hidden, chance in ((1, truth), (0, 1 - truth)):
                first[a + hidden, clones - a + 1 - hidden] += weight * chance
                second[a + 1 - hidden, clones - a + hidden] += weight * chance
    return first, second


def response_laws(epsilon0: mpf, users: int) -> tuple[Law, Law]:
    """The laws of the numbers of ones and zeros when one of the users changes a 0 to a 1 and the others hold 0."""
    first: Law = defaultdict(mpf)
    second: Law = defaultdict(mpf)
    lie = 1 / (mp.exp(epsilon0) + 1)
    for ones in range(users):
        weight = math.comb(users - 1, ones) * lie**ones * (1 - lie) ** (users - 1 - ones)
        for answer, if_zero in ((0, 1 - lie), (1, lie)):
            outcome = (ones + answer, users - ones - answer)
            first[outcome] += weight * if_zero
            second[outcome] += weight * (1 - if_zero)
    return first, second


def hockey_stick(first: Law, second: Law, epsilon: mpf) -> mpf:
    """sum max(0, P - e^epsilon Q), the larger of the two directions: what delta is."""
    factor = mp.exp(epsilon)
    outcomes = set(first) | set(second)
    return max(
        mp.fsum(max(mpf(0), p[outcome] - factor * q[outcome]) for outcome in outcomes)
        for p, q in ((first, second), (second, first))
    )


LAWS = {"upper": clone_laws, "lower": response_laws}


def shuffle_delta(v: Numbers, epsilon: mpf) -> mpf:
    """The curve of the method's pair; 0 from epsilon0 on, where rounding would leave a residue of it."""
    if epsilon >= v["epsilon0"]:
        return mpf(0)
    with mp.extradps(30):
        result = hockey_stick(*LAWS[v["method"]](v["epsilon0"], int(v["users"])), epsilon)
    return +result


def closed_form(v: Numbers) -> mpf:
    """Theorem 3.1 of Feldman, McMillan and Talwar (2021) where its condition holds; never above epsilon0."""
    epsilon0, n, delta = v["epsilon0"], v["users"], v["delta"]
    if epsilon0 > mp.log(n / (16 * mp.log(2 / delta))):
        return epsilon0
    growth = mp.exp(epsilon0)
    reach = 8 * mp.sqrt(growth * mp.log(4 / delta)) / mp.sqrt(n) + 8 * growth / n
    with mp.extradps(30):
        return min(epsilon0, mp.log(1 + (growth - 1) / (growth + 1) * reach))


OPINIONS: dict[str, Value | Root] = {
    "shuffle.delta": Value(lambda v: shuffle_delta(v, v["epsilon"])),
    "shuffle.epsilon": Root(
        lambda v, e: closed_form(v) - e if v["method"] == "closed-form" else shuffle_delta(v, e) - v["delta"]
    ),
}
