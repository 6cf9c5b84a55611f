"""The adapters to real libraries, as far as they can be tested without these libraries."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import empirical.gate.adapters
from empirical.gate import vector_files, xfail
from empirical.gate.adapters import Adapter, adapters, declare
from oracle import bound
from oracle.core.errors import OracleError
from tests.waiting import PATIENCE

FOLDER = Path(empirical.gate.adapters.__file__).parent
PEERS = ("dp_accounting", "prv_accountant", "opacus", "autodp", "jax_privacy", "jax", "diffprivlib", "opendp")


def called(adapter: Adapter) -> str:
    return f"{adapter.target.rpartition('.')[2]}-{adapter.bound}"


@pytest.mark.parametrize("adapter", adapters(), ids=called)
def test_an_adapter_takes_the_parameters_of_its_bound(adapter: Adapter) -> None:
    module, _, function = adapter.target.partition(":")
    signature = inspect.signature(getattr(importlib.import_module(module), function))
    assert list(signature.parameters) == [parameter.name for parameter in bound(adapter.bound).parameters]


def test_listing_the_adapters_imports_no_library() -> None:
    code = "import sys; from empirical.gate.adapters import installed; installed(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert not set(PEERS) & set(done.stdout.split())


def test_a_missing_library_has_no_version() -> None:
    assert Adapter("x", "y", "gaussian.epsilon", "a.b:c", "no-such-distribution-anywhere").version is None
    assert Adapter("x", "y", "gaussian.epsilon", "a.b:c", "numpy").version is not None


def test_two_adapters_for_one_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from empirical.gate.adapters import dp_accounting_exact

    adapters.cache_clear()
    monkeypatch.setattr(dp_accounting_exact, "ADAPTERS", 2 * dp_accounting_exact.ADAPTERS)
    with pytest.raises(OracleError, match=r"two adapters answer gaussian\.epsilon by dp-accounting closed forms"):
        adapters()
    monkeypatch.undo()
    adapters.cache_clear()


def test_a_declaration_names_the_function() -> None:
    (adapter,) = declare("library", "variant", "distribution", {"gaussian.epsilon": called})
    assert adapter.target == f"{__name__}:called"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.xfail.toml")), ids=lambda path: path.name)
def test_a_link_is_to_a_thread_and_not_to_a_repository(path: Path) -> None:
    """A bare repository would look like a report that nobody made."""
    links = {entry.link for entry in xfail.load(path).entries} - {""}
    assert all(re.search(r"/(?:issues|pull|commit|blob)/", link) for link in links), links


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.xfail.toml")), ids=lambda path: path.name)
def test_expected_failures_are_those_of_an_adapter(path: Path) -> None:
    """Each entry names cases that exist, of a bound that the module beside the file answers."""
    mine = {adapter.bound for adapter in adapters() if adapter.xfail == path}
    entries = xfail.load(path)
    assert mine
    assert {entry.subject for entry in entries.entries} <= mine
    for name in mine:
        entries.of_cases(name, vector_files.load(name).cases)
