"""Remarks of document 003 again: prefix sums by a matrix, and one step's curve by an integral."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np

from tests.theorems.witnesses.glmtron.privacy import Witness, gaussian_delta, tree_fails, value


def in_more_sums(witness: Witness) -> bool:
    """The squared length of the move of all prefix sums when the first leaf moves by 1."""
    records = int(witness["N"])
    move = np.tril(np.ones((records, records)))[:, 0]
    return float(move @ move) != float(witness["claimed"])


def one_step_is_private(witness: Witness) -> bool:
    """The curve of one step at that epsilon is below delta, and epsilon above what is claimed to be the largest."""
    epsilon = value(witness, "epsilon")
    true = gaussian_delta(epsilon, 1 / value(witness, "f"))
    largest = value(witness, "C") / mpmath.sqrt(value(witness, "N"))
    return bool(true <= value(witness, "delta") and epsilon > largest)


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "glmtron/remark-7": tree_fails,
    "glmtron/remark-7-aggregate": in_more_sums,
    "glmtron/remark-8-budgets-contrast": one_step_is_private,
}
NOT_WITNESSES: dict[str, Witness] = {
    "glmtron/remark-7": {"relation": "add_remove", "epsilon": "1", "delta": "1/100000"},
    "glmtron/remark-7-aggregate": {"N": "1", "claimed": "1"},
    "glmtron/remark-8-budgets-contrast": {"epsilon": "1", "delta": "1/100000", "f": "1", "C": "1", "N": "4"},
}
