"""Neighbouring data sets from an npz file, read without executing anything, and whether they are neighbours at all.

The file holds X0, y0, X1, y1: the features and labels of two data sets, records along the first axis. What is checked:

- replace: equally many records, and place by place exactly one of them (features or label) differs;
- add_remove: one data set has one record more, and without it equals the other, in the same order. The larger data set
  becomes the second, whichever it was in the file.

The order counts: the same records in another order are refused, since a training may well depend on it (fixed batches
do), and then the pair would differ in more than one record. All values must be finite real numbers. Whether they lie
in the domain that the training's guarantee assumes (a norm bound, a range of labels) cannot be seen from here: a
violation on records outside it says nothing against the guarantee.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.core.errors import DomainError
from oracle.core.reading import ARRAYS, read_arrays, read_bytes

Array = NDArray[np.float64]

RELATIONS = ("replace", "add_remove")
_KEYS = ("X0", "y0", "X1", "y1")


@dataclass(frozen=True)
class FilePair:
    """Two neighbouring data sets, their relation, and the place of the record that differs where it is."""

    features: tuple[Array, Array]
    labels: tuple[Array, Array]
    neighbours: str
    canary: int


def file_spec(path: Path, neighbours: str | None = None) -> dict[str, Any]:
    """The JSON object of a pair in a file: where it is, what is in it, and how the data sets are related."""
    content = _content(path)
    pair = _parsed(path, content, neighbours)
    return {"kind": "file", "path": str(path), "sha256": _digest(content), "neighbours": pair.neighbours}


def read_pair(spec: Mapping[str, Any]) -> FilePair:
    """The pair of such an object; a DomainError where the file has changed or holds no neighbours."""
    unknown = set(spec) - {"kind", "path", "sha256", "neighbours"}
    if unknown or "path" not in spec:
        raise DomainError(f"a pair in a file is described by path, sha256 and neighbours, got {', '.join(spec)}")
    path = Path(str(spec["path"]))
    content = _content(path)
    if spec.get("sha256") not in (None, _digest(content)):
        raise DomainError(f"pair = {path} has changed since the audit was planned (its sha256 differs)")
    return _parsed(path, content, spec.get("neighbours"))


def differing(features: tuple[Array, Array], labels: tuple[Array, Array], neighbours: str) -> int:
    """The place of the one record that differs, in the data set(s) that have it; a DomainError unless there is one.

    Of neighbours that add or remove a record, the second data set must have it.
    """
    if features[0].shape[1:] != features[1].shape[1:] or labels[0].shape[1:] != labels[1].shape[1:]:
        raise DomainError(
            f"records of shapes {features[0].shape[1:]} and {features[1].shape[1:]}, labels of shapes "
            f"{labels[0].shape[1:]} and {labels[1].shape[1:]}: neighbours have one shape"
        )
    sizes = len(features[0]), len(features[1])
    more = {"replace": 0, "add_remove": 1}[neighbours]
    if sizes[1] - sizes[0] != more:
        raise DomainError(f"data sets of {sizes[0]} and {sizes[1]} records are no neighbours by {neighbours}")
    common = sizes[0]
    places = np.flatnonzero(_differ(features[0], features[1][:common]) | _differ(labels[0], labels[1][:common]))
    if neighbours == "replace":
        if len(places) != 1:
            raise DomainError(
                f"{len(places)} records of the two data sets differ (compared place by place): neighbours by replace "
                "differ in exactly one"
            )
        return int(places[0])
    place = int(places[0]) if len(places) else common
    if any(
        bool(_differ(small[place:], large[place + 1 :]).any())
        for small, large in ((features[0], features[1]), (labels[0], labels[1]))
    ):
        raise DomainError(
            "the two data sets are no neighbours by add_remove: without one record, the larger must equal the other, "
            "in the same order"
        )
    return place


def check_dataset(features: Array, labels: Array) -> None:
    """A DomainError unless there are records, each with a label, all finite."""
    if features.ndim < 1 or labels.ndim < 1 or len(features) < 1 or len(labels) != len(features):
        raise DomainError(f"features of shape {features.shape} and labels of shape {labels.shape} are no data set")
    for name, values in (("features", features), ("labels", labels)):
        if not np.isfinite(values).all():
            raise DomainError(f"the {name} of a data set are not all finite")


def _differ(first: Array, second: Array) -> NDArray[np.bool_]:
    """Which records differ."""
    return np.asarray((first != second).any(axis=tuple(range(1, first.ndim))))


def _content(path: Path) -> bytes:
    return read_bytes(path, name="pair", megabytes=ARRAYS)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _parsed(path: Path, content: bytes, neighbours: str | None) -> FilePair:
    if neighbours not in (None, *RELATIONS):
        raise DomainError(f"neighbours = {neighbours} is outside its domain: one of {', '.join(RELATIONS)}")
    x0, y0, x1, y1 = _arrays(path, content)
    try:
        check_dataset(x0, y0)
        check_dataset(x1, y1)
        relation = neighbours or ("replace" if len(x0) == len(x1) else "add_remove")
        swap = relation == "add_remove" and len(x0) > len(x1)
        features, labels = ((x1, x0), (y1, y0)) if swap else ((x0, x1), (y0, y1))
        return FilePair(features, labels, relation, differing(features, labels, relation))
    except DomainError as error:
        raise DomainError(f"pair = {path}: {error}") from None


def _arrays(path: Path, content: bytes) -> list[Array]:
    try:
        data = read_arrays(content)
        missing = [key for key in _KEYS if key not in data]
        if missing:
            raise ValueError(f"it has no {' and no '.join(missing)}")
        arrays = [data[key] for key in _KEYS]
    except (ValueError, OSError, MemoryError) as error:  # the last says nothing
        why = str(error) or "it needs more memory than there is"
        raise DomainError(f"pair = {path} is no npz file with the arrays {', '.join(_KEYS)}: {why}") from None
    for key, array in zip(_KEYS, arrays, strict=True):
        if array.dtype.kind not in "biuf":
            raise DomainError(f"{key} = {array.dtype} in {path} is outside its domain: an array of real numbers")
    return [array.astype(np.float64) for array in arrays]
