"""From what a target returns to an array of numbers, without executing anything.

Arrays, tensors, lists of numbers and single numbers are releases; integers and float32 become float64. A text is the
path of a saved model: `.npy` and `.npz` are read with `allow_pickle=False` and `.pt` with `weights_only=True`, for a
pickle could run any code; the arrays of a file are flattened and joined, in the order of their names for `.npz` and in
their own order for `.pt`. This module is loaded inside the process of a foreign target, so it needs numpy only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.core import extras
from oracle.core.errors import MissingExtraError, TargetError
from oracle.core.reading import ARRAYS, read_arrays, read_bytes

Array = NDArray[np.float64]

SAVED = (".npy", ".npz", ".pt", ".pth")
_NUMBERS = "biuf"  # numpy's kinds: booleans, integers, floats


def as_numbers(value: Any) -> Array:
    """A release as a float64 array, or a TargetError that says what it is instead."""
    if isinstance(value, (str, Path)):
        return load(Path(value))
    if value is None:
        raise TargetError("the release is None: the function returns nothing")
    if hasattr(value, "detach"):  # a tensor, perhaps on a device, perhaps with a gradient
        value = value.detach().cpu()
        value = value.double() if value.is_floating_point() else value  # numpy has no bfloat16
    if isinstance(value, np.ma.MaskedArray):
        raise TargetError("the release is a masked array: what lies under a mask is no number; release .filled(...)")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:  # lists of different lengths, objects that refuse
        raise TargetError(f"the release is no array: {type(value).__name__}: {_line(error)}") from None
    if array.dtype.kind == "O" and array.size and all(isinstance(entry, int) for entry in array.flat):
        try:
            return array.astype(np.float64)  # integers of Python, some beyond 64 bits
        except OverflowError:
            raise TargetError("the release has integers that no double holds") from None
    if array.dtype.kind not in _NUMBERS:
        raise TargetError(f"the release is no array of real numbers but {_described(value, array)}")
    return np.asarray(array, dtype=np.float64)


def load(path: Path) -> Array:
    """The numbers of a saved model, read without executing anything."""
    if path.suffix not in SAVED:
        raise TargetError(
            f"the release is the text {str(path)[:60]!r}; a text must be the path of a saved model ({', '.join(SAVED)})"
        )
    try:
        parts = list(_torch_parts(path) if path.suffix in (".pt", ".pth") else _numpy_parts(path))
    except OSError as error:
        raise TargetError(f"the released file {path} cannot be read: {error.strerror or _line(error)}") from None
    except (TargetError, MissingExtraError):
        raise
    except Exception as error:  # the readers have many errors for a file that is not what its name says
        raise TargetError(
            f"the released file {path} is not loaded: it is damaged or needs pickle, which could run any code "
            f"({type(error).__name__}: {_line(error)})"
        ) from None
    if path.suffix == ".npy":
        return parts[0]
    if not parts:
        raise TargetError(f"the released file {path} holds no array")
    return np.concatenate([part.reshape(-1) for part in parts])


def _numpy_parts(path: Path) -> Iterator[Array]:
    for _, array in sorted(read_arrays(read_bytes(path, megabytes=ARRAYS, fault=TargetError)).items()):
        yield as_numbers(array)


def _torch_parts(path: Path) -> Iterator[Array]:
    with extras.told():
        import torch  # here only: a target that saves no tensors needs none

    yield from _leaves(torch.load(path, map_location="cpu", weights_only=True))


def _leaves(value: Any) -> Iterator[Array]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _leaves(part)
    else:
        yield as_numbers(value)


def check_releases(name: str, releases: Array, *, models: int, entry_shape: tuple[int, ...] | None) -> None:
    """A TargetError unless there is one finite, non-empty release for each model, of the shape that was seen before."""
    if releases.ndim == 0 or len(releases) != models:
        raise TargetError(f"{name} released shape {releases.shape} for {models} models; expected [{models}, ...]")
    if releases.size == 0:
        raise TargetError(f"{name} released empty arrays, shape {releases.shape}")
    if entry_shape is not None and releases.shape[1:] != entry_shape:
        raise TargetError(f"{name} released shape {releases.shape[1:]} after shape {entry_shape}: it must not change")
    if not np.isfinite(releases).all():
        model, *entry = (int(axis[0]) for axis in np.nonzero(~np.isfinite(releases)))
        raise TargetError(
            f"{name} released {releases[(model, *entry)]} (model {model} of {models}, entry {tuple(entry)}): "
            "a release must be finite"
        )


def _described(value: Any, array: NDArray[Any]) -> str:
    kind = type(value).__name__
    return kind if array.ndim == 0 or array.dtype.kind == "O" else f"{kind} of {array.dtype}"


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 160 else text[:157] + "..."
