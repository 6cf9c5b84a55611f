"""Tables, captions and the checklist of document 003 again."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import optimize, stats

from tests.theorems.witness_text import Witness


def no_such_size(witness: Witness) -> bool:
    return int(witness["N"]) <= 0


def other_power(witness: Witness) -> bool:
    """f^2/N (D_eff + D_pri) with f = 1/epsilon, in floats."""
    effective, private, n, epsilon = (float(Fraction(witness[name])) for name in ("D_eff", "D_pri", "N", "epsilon"))
    return bool(abs((1 / epsilon) ** 2 / n * (effective + private) - float(Fraction(witness["entry"]))) > 1e-12)


def eigenvalues_counted(witness: Witness) -> bool:
    values = np.array([float(word) for word in witness["eigenvalues"].split(",")])
    n, eta = int(witness["N"]), float(Fraction(witness["eta"]))
    return int(np.sum(values >= 1 / (n * eta))) == int(witness["claimed steps"]) != n


def two_kinds(witness: Witness) -> bool:
    return "MNIST" in witness["title"] and "Bernoulli" in witness["sentence"]


def words_missing(witness: Witness) -> bool:
    return any(word.strip().lower() not in witness["texts"].lower() for word in witness["missing"].split(","))


def tree_has_more(witness: Witness) -> bool:
    """The tree's noise from the exact Gaussian curve, one record replaced; the pass's own number is taken as it is."""
    n, epsilon, delta = int(witness["N"]), float(Fraction(witness["epsilon"])), float(Fraction(witness["delta"]))

    def excess(mu: float) -> float:
        near, far = stats.norm.cdf([mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu])
        return float(near - np.exp(epsilon) * far) - delta

    mu = optimize.brentq(excess, 1e-3, 1.0)
    noise = 2 * np.sqrt(np.ceil(np.log2(n + 1))) / mu * np.sqrt(format(n, "b").count("1"))
    return bool(noise > float(witness["shuffled pass"].strip("[]").split(",")[1]))


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "glmtron/fig-3-N0": no_such_size,
    "glmtron/table-1-taglm-row-reading-N2": other_power,
    "glmtron/simplified-1-iterations": eigenvalues_counted,
    "glmtron/fig-3-caption": two_kinds,
    "glmtron/checklist-compute": words_missing,
    "glmtron/checklist-error-bars": words_missing,
    "glmtron/checklist-reproducible": words_missing,
    "glmtron/checklist-limitations": words_missing,
    "glmtron/appB-tree-less-noise-reading-clones": tree_has_more,
}
NOT_WITNESSES: dict[str, Witness] = {
    "glmtron/fig-3-N0": {"N": "100"},
    "glmtron/table-1-taglm-row-reading-N2": {"D_eff": "1", "D_pri": "1", "N": "1", "epsilon": "1", "entry": "2"},
    "glmtron/fig-3-caption": {"title": "on MNIST", "sentence": "on the MNIST dataset"},
    "glmtron/checklist-compute": {"missing": "compute", "texts": "B Compute"},
}
