"""A witness meets the hypotheses: numbers of its names are in their domains, and networks are networks.

A law or a matrix that a witness names in words is for its verifier to look at (`witnesses`).
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from oracle.core.errors import DomainError
from tests.theorems.findings import found
from tests.tiers import later, one_of
from theorems.claim import claims, expectations
from theorems.verdict import Verdict

REFUTED = [name for name, item in expectations().items() if item.verdict is Verdict.REFUTED]
OF_NETWORKS = ("nonconvex-nn/lem-19", "nonconvex-nn/lem-2", "nonconvex-nn/thm-13", "nonconvex-nn/rem-1")
"""Beginnings of the ids of claims in which m is a width and L a depth."""


def at_night(name: str) -> bool:
    """Every claim is judged for it, so a quarter stands for all by day."""
    return not one_of(4, name)


def number(text: str) -> Fraction | None:
    """A witness's number, if it is one."""
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


@pytest.mark.full
@pytest.mark.parametrize("name", later(REFUTED, at_night, "thorough"))
def test_a_witness_is_in_the_domain(name: str) -> None:
    witness = found(name).finding.witness
    for parameter in claims()[name].hypotheses:
        value = number(witness.get(parameter.name, witness.get(parameter.meaning, "")))
        if value is not None and parameter.kind != "schedule" and parameter.name != "log_m":
            try:
                parameter.parse(value)
            except DomainError as error:
                pytest.fail(f"{name}: {error}")


@pytest.mark.full
@pytest.mark.parametrize(
    "name", later([name for name in REFUTED if name.startswith(OF_NETWORKS)], at_night, "thorough"))
def test_a_network_has_whole_sizes_and_its_own_logarithm(name: str) -> None:
    witness = found(name).finding.witness
    for size, least in (("m", 1), ("n", 1), ("T", 1), ("d", 1), ("M", 1), ("L", 2)):
        value = number(witness.get(size, ""))
        assert value is None or (value.denominator == 1 and value >= least), (size, witness)
    if "log_m" in witness:
        m = int(witness["m"])
        assert math.isclose(float(witness["log_m"]), math.log(m), rel_tol=1e-12)
