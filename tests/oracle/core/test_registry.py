"""The registry: what is found, what is refused, and that `import oracle` needs no torch."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest

import oracle
from oracle.core import registry
from oracle.core.errors import DomainError, OracleError
from oracle.core.registry import NEIGHBOURS, THREAT_MODELS, UNITS, index
from tests.waiting import PATIENCE


def test_names_are_sorted_keys_of_what_they_name() -> None:
    for table in (registry.bounds(), registry.algorithms()):
        assert list(table) == sorted(table)
        for name, item in table.items():
            assert item.name == name
            assert item.summary
            assert item.source, f"{name} names no claim it rests on"
            names = [parameter.name for parameter in item.parameters]
            assert len(set(names)) == len(names)
    assert oracle.bound("gdp.epsilon") is registry.bounds()["gdp.epsilon"]
    assert oracle.algorithm("noisy-cgd") is registry.algorithms()["noisy-cgd"]


@pytest.mark.parametrize(("document", "last"), [("002", 10), ("003", 4)])
def test_every_algorithm_of_a_document_is_named_by_an_entry(document: str, last: int) -> None:
    """Those that are part of another, a choice or an oracle of gradients, by the entries that run them."""
    named = [item.document for item in registry.algorithms().values() if item.document.startswith(f"{document}, Alg")]
    numbers = {int(number) for text in named for number in re.findall(r"\d+", text.removeprefix(document))}
    assert numbers == set(range(1, last + 1))


def test_every_bound_states_its_setting() -> None:
    for item in registry.bounds().values():
        assert item.neighbours in NEIGHBOURS
        assert item.threat_model in THREAT_MODELS
        assert item.unit in UNITS
        assert item.formula


def test_every_guarantee_is_by_a_bound_of_the_algorithm_s_relation_and_release() -> None:
    for item in registry.algorithms().values():
        for guarantee in item.guarantees:
            proof = oracle.bound(guarantee.bound)
            assert "any" in (item.neighbours, proof.neighbours) or proof.neighbours == item.neighbours
            covered = proof.threat_model in (item.released, "all_iterates")
            assert covered or proof.released == item.released != "output"


def test_an_unknown_name_lists_the_known() -> None:
    """All names of a short table, and of a long one those that the user may have meant."""
    with pytest.raises(DomainError, match=r"algorithm = nope is unknown; known: .*noisy-cgd"):
        oracle.algorithm("nope")
    with pytest.raises(DomainError, match=r"bound = noisy-cgd.nu is unknown; the nearest of \d+ names: noisy-cgd.mu,"):
        oracle.bound("noisy-cgd.nu")


@pytest.mark.parametrize("change", [{"neighbours": "both"}, {"threat_model": "none"}, {"unit": "bits"}])
def test_a_bound_of_no_known_setting_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(OracleError, match=r"bound gdp\.epsilon: '.*' is none of"):
        replace(oracle.bound("gdp.epsilon"), **change)  # type: ignore[arg-type]


def test_two_things_of_one_name_are_refused() -> None:
    bound = oracle.bound("gdp.epsilon")
    with pytest.raises(OracleError, match=r"two registered objects are called gdp\.epsilon"):
        index([bound, replace(bound, summary="another")], lambda item: item.name)


def test_what_is_registered_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        oracle.bound("gdp.epsilon").unit = "delta"  # type: ignore[misc]


def test_a_width_above_one_is_honoured_as_one() -> None:
    """A careless width may not make an enclosure useless: upper <= 2 lower holds at any width."""
    result = oracle.bound("gdp.epsilon").reference(mu=1, delta="1e-5", width=1000)
    assert result.upper.to_fraction() - result.lower.to_fraction() <= 1
    assert result.contains(Fraction("4.3771780956812246276501162932420109"))


def test_the_oracle_needs_no_torch() -> None:
    """Imports, listings, references and numpy fast paths work where torch cannot be imported."""
    script = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'torch':\n"
        "            raise ImportError('no torch here')\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import oracle\n"
        "from oracle.core import registry\n"
        "assert registry.algorithms() and registry.bounds()\n"
        "item = oracle.bound('gdp.epsilon')\n"
        "lower, upper = item.reference(mu=1, delta='1e-5').to_floats()\n"
        "assert lower <= item.fast(mu=1.0, delta=1e-5) < upper + 1e-9\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
