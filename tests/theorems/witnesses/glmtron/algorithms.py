"""The algorithms of document 003 again: trees of explicit nodes, passes in numpy, drawn steps."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import integrate, stats

from tests.theorems.witness_text import Witness


def tree_nodes(depth: int) -> list[list[range]]:
    """The nodes by level, from the root on, each as its leaves."""
    return [[range(k * 2 ** (depth - j), (k + 1) * 2 ** (depth - j)) for k in range(2**j)] for j in range(depth + 1)]


def answer_is_short(witness: Witness) -> bool:
    """Walk from the root to the leaf through explicit nodes, and add the left sibling where the digit is 1."""
    depth, leaf, digits = (int(witness[name]) for name in ("depth", "leaf of the path", "digits of"))
    word, found = format(digits, f"0{depth + 1}b"), []
    for level, digit in zip(tree_nodes(depth), word, strict=True):
        own = next(k for k, node in enumerate(level) if leaf in node)
        if digit == "1":
            if own % 2 == 0:
                return True
            found += list(level[own - 1])
    return sorted(found) != list(range(int(witness["t"]) + 1))


def more_nodes(witness: Witness) -> bool:
    records, leaf = int(witness["N"]), int(witness["t"]) - 1
    depth = int(np.ceil(np.log2(records)))
    return sum(leaf in node for level in tree_nodes(depth) for node in level) > int(witness["claimed"])


def iterates_differ(witness: Witness) -> bool:
    """Both passes with the prefix sum of the leaves before t."""
    eta, records = float(Fraction(witness["eta"])), int(witness["N"])
    w, v, leaves = 0.0, 0.0, []
    for t in range(records):
        w -= eta * (max(w, 0.0) - 1)
        leaves.append(max(v, 0.0) - 1)
        v = -eta * float(np.sum(leaves[:t]))
    return abs(w - v) > 1e-12


def never_there(witness: Witness) -> bool:
    """The average of w_0, ..., w_{N-1} with one step of size 1 at that place."""
    records, place = int(witness["N"]), int(witness["place"])
    steps = np.zeros(records)
    steps[place] = 1.0
    iterates = np.concatenate([[0.0], np.cumsum(steps)])[:records]
    return float(iterates.mean()) == 0.0


def no_line_adds(witness: Witness) -> bool:
    return all(not line.strip().lower().startswith(("add", "append")) for line in witness["lines"].split(";"))


def never_twice(witness: Witness) -> bool:
    draw = np.random.default_rng(3)
    orders = [draw.permutation(int(witness["N"])) for _ in range(200)]
    return all(order[0] != order[1] for order in orders) and float(Fraction(witness["claimed"])) > 0


def as_many_products(witness: Witness) -> bool:
    """Count multiplications one by one: the inner product, the step size, the vector."""
    d, active = int(witness["d"]), int(witness["1[<x, w> > 0]"])
    gradient = sum(1 for _ in range(d)) + (1 + sum(1 for _ in range(d)) if active else 0)
    always = sum(1 for _ in range(d)) + 1 + sum(1 for _ in range(d))
    return always >= gradient


def noise_frees(witness: Witness) -> bool:
    """The mean of one step of SGD from N(0, tau^2), by quadrature; without noise it stays."""
    eta, tau = float(Fraction(witness["eta"])), float(Fraction(witness["larger tau"]))
    law = stats.norm(scale=tau)
    right = integrate.quad(lambda w: eta * (1 - w) / 2 * law.pdf(w), 0, 12 * tau)[0]
    left = integrate.quad(lambda w: -eta * w / 2 * law.pdf(w), -12 * tau, 0)[0]
    return Fraction(witness["tau"]) == 0 and right + left > 0.2 * eta


def before_the_start(witness: Witness) -> bool:
    """Iterates in a table, made one by one as (3) asks with t from 0."""
    made = {0: 0.0}
    try:
        for t in range(int(witness["N"]) + 1):
            made[t] = made[t - 1] + 1
    except KeyError:
        return True
    return False


def sums_move_more(witness: Witness) -> bool:
    """The two histograms as arrays of two bins."""
    count = int(witness["K"])
    mean, other = (float(Fraction(witness[name])) for name in ("mean", "mean of the neighbour"))
    moved = np.abs(np.array([mean, 0.0]) - np.array([0.0, other])).sum() / count
    return bool(moved > 2 / count)


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "glmtron/alg-4-prefix": answer_is_short,
    "glmtron/alg-4-nodes-logt": more_nodes,
    "glmtron/alg-3-no-noise-equivalence": iterates_differ,
    "glmtron/alg-1-training-index": never_there,
    "glmtron/alg-1-clipping-list": no_line_adds,
    "glmtron/alg-1-permutation": never_twice,
    "glmtron/glmtron-efficiency": as_many_products,
    "glmtron/eq-3-index": before_the_start,
    "glmtron/alg-2-step-7-reading-sum": sums_move_more,
    "glmtron/sgd-saddle-prose-budget": noise_frees,
}
NOT_WITNESSES: dict[str, Witness] = {
    "glmtron/alg-4-prefix": {"depth": "2", "leaf of the path": "2", "digits of": "2", "t": "1"},
    "glmtron/alg-4-nodes-logt": {"N": "4", "t": "4", "claimed": "3"},
    "glmtron/alg-1-training-index": {"N": "3", "place": "0"},
    "glmtron/alg-1-clipping-list": {"lines": "add gamma; update"},
    "glmtron/alg-2-step-7-reading-sum": {"mean": "1/2", "mean of the neighbour": "1/2", "K": "3"},
}
