"""Pairs in files: what is accepted, what is refused and why, and that nothing in them is executed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from empirical.audits.targets import make_target
from empirical.pairs.pair import make_pair
from empirical.pairs.pair_files import differing, file_spec, read_pair
from oracle.core.errors import DomainError
from tests.malice import Malice

X, Y = np.arange(8.0).reshape(4, 2), np.array([0.0, 1.0, 0.0, 1.0])


def save(folder: Path, **arrays: Any) -> Path:
    """A pair file; data set 0 is (X, Y) unless said otherwise."""
    path = folder / "pair.npz"
    np.savez(path, **({"X0": X, "y0": Y} | arrays))
    return path


def changed(array: Any, place: int, value: Any) -> Any:
    """A copy with one record replaced."""
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize("place", range(4))
def test_one_replaced_record_is_found(tmp_path: Path, place: int) -> None:
    for arrays in ({"X1": changed(X, place, [9, 9]), "y1": Y}, {"X1": X, "y1": changed(Y, place, 5)}):
        pair = read_pair(file_spec(save(tmp_path, **arrays)))
        assert (pair.neighbours, pair.canary) == ("replace", place)
        assert np.array_equal(pair.features[1], arrays["X1"])
        assert np.array_equal(pair.labels[1], arrays["y1"])


@pytest.mark.parametrize("place", range(4))
def test_one_removed_record_is_found_and_the_larger_data_set_becomes_the_second(tmp_path: Path, place: int) -> None:
    less = {"X1": np.delete(X, place, axis=0), "y1": np.delete(Y, place)}
    pair = read_pair(file_spec(save(tmp_path, **less), "add_remove"))
    assert (pair.neighbours, pair.canary) == ("add_remove", place)
    assert np.array_equal(pair.features[1], X)
    assert np.array_equal(pair.labels[0], less["y1"])
    swapped = save(tmp_path, X0=less["X1"], y0=less["y1"], X1=X, y1=Y)
    assert np.array_equal(read_pair(file_spec(swapped)).features[1], X)


def test_of_equal_records_any_may_be_the_removed_one(tmp_path: Path) -> None:
    twins = np.ones((3, 2))
    path = save(tmp_path, X0=twins, y0=np.ones(3), X1=twins[:2], y1=np.ones(2))
    assert read_pair(file_spec(path)).neighbours == "add_remove"


@pytest.mark.parametrize(
    ("arrays", "neighbours", "word"),
    [
        ({"X1": X, "y1": Y}, None, "0 records"),
        ({"X1": X + 1, "y1": Y}, None, "4 records.*exactly one"),
        ({"X1": X[::-1], "y1": Y[::-1]}, None, "4 records"),
        ({"X1": X[:3], "y1": Y[:3]}, "replace", "4 and 3 records are no neighbours by replace"),
        ({"X1": changed(X, 0, [9, 9]), "y1": Y}, "add_remove", "no neighbours by add_remove"),
        ({"X1": X[:2], "y1": Y[:2]}, None, "2 and 4 records"),
        ({"X1": X[[1, 0, 2]], "y1": Y[[1, 0, 2]]}, None, "in the same order"),
        ({"X1": X[:3] + 1, "y1": Y[:3]}, None, "in the same order"),
        ({"X1": X[:3], "y1": Y[1:]}, None, "in the same order"),
        ({"X1": X[:, :1], "y1": Y}, None, "one shape"),
        ({"X1": X, "y1": Y[:3]}, None, "no data set"),
        ({"X1": X[:0], "y1": Y[:0]}, None, "no data set"),
        ({"X1": np.float64(3), "y1": Y}, None, "no data set"),
        ({"X1": changed(X, 1, np.nan), "y1": Y}, None, "features .* not all finite"),
        ({"X1": X, "y1": changed(Y, 1, np.inf)}, None, "labels .* not all finite"),
        ({"X1": X.astype(complex), "y1": Y}, None, "X1 = complex128"),
        ({"X1": X, "y1": np.array(["a", "b", "c", "d"])}, None, "y1 = <U1"),
        ({"X1": X}, None, "it has no y1"),
        ({"X1": changed(X, 0, [9, 9]), "y1": Y}, "friends", "neighbours = friends"),
    ],
)
def test_what_are_no_neighbours_is_refused(
    tmp_path: Path, arrays: dict[str, Any], neighbours: str | None, word: str
) -> None:
    with pytest.raises(DomainError, match=word):
        file_spec(save(tmp_path, **arrays), neighbours)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"\x93NUMPY", b"text"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pair.npz"
    path.write_bytes(content)
    with pytest.raises(DomainError, match="no npz file with the arrays X0, y0, X1, y1"):
        file_spec(path)
    np.save(tmp_path / "lone.npy", X)
    with pytest.raises(DomainError, match="no npz file"):
        file_spec(tmp_path / "lone.npy")
    with pytest.raises(DomainError, match="cannot be read"):
        file_spec(tmp_path / "none.npz")


def test_a_malicious_file_is_not_executed(tmp_path: Path) -> None:
    made = tmp_path / "executed"
    path = save(tmp_path, X1=np.array([Malice(made)] * 4, dtype=object), y1=Y)
    with pytest.raises(DomainError, match="allow_pickle"):
        file_spec(path)
    assert not made.exists()
    np.load(path, allow_pickle=True)["X1"]  # it would have been
    assert made.exists()


def test_a_spec_is_json_and_notices_another_file(tmp_path: Path) -> None:
    path = save(tmp_path, X1=changed(X, 2, [9, 9]), y1=Y)
    spec = json.loads(json.dumps(file_spec(path)))
    target = make_target({"kind": "command", "command": "cat"})
    pair = make_pair(spec, target)
    assert (pair.neighbours, pair.canary) == ("replace", 2)
    save(tmp_path, X1=changed(X, 2, [8, 8]), y1=Y)
    with pytest.raises(DomainError, match="has changed since the audit was planned"):
        make_pair(spec, target)
    for wrong in ({"kind": "file"}, {"kind": "file", "path": str(path), "colour": 1}):
        with pytest.raises(DomainError, match="described by"):
            make_pair(wrong, target)


def test_the_removed_record_belongs_to_the_second_data_set() -> None:
    assert differing((X[:3], X), (Y[:3], Y), "add_remove") == 3
    with pytest.raises(DomainError, match="4 and 3 records"):
        differing((X, X[:3]), (Y, Y[:3]), "add_remove")
