"""A device that is not there: tensors on it keep their values on the processor, and every crossing between is counted.

Where there is no GPU, this holds torch code to a GPU's rules, with values, so that branches on them run, too. Tensors
of the device `far` behave as a GPU's do: an operation between one of them and a tensor of the processor fails, but for
numbers without a dimension, and numpy cannot read them. What a GPU would make its host wait for is counted as `read`
(a number or an array that the host is given, a size that depends on values), and what the host sends it as `sent`.

The device is torch's PrivateUse1, whose tensors are wrapped here by a subclass. Torch's own fake CUDA device has no
values, so that whoever asks for one (`item`) gets a DataDependentOutputException; and in a build without CUDA (tried
with torch 2.13) it makes tensors, multiplies them and takes `view` and `T`, but `x[1:3]`, `x[:, None]` and
`x.to("cuda")` raise "RuntimeError: PyTorch is not linked with support for cuda devices", so that no twin runs on it.
The device "meta" has no values either, and a twin refuses it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "far"
_ATEN = torch.ops.aten
_CROSSINGS = {_ATEN._to_copy.default, _ATEN.copy_.default}
_ANSWERS = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}  # torch's own word for what is read
_READS = {
    "allclose", "equal", "is_nonzero", "multinomial",
    # What checks on the host whether a factorisation has come out, or takes as many turns as the values ask for.
    "_linalg_check_errors", "_linalg_eigh", "_linalg_eigvals", "_linalg_svd", "cholesky", "linalg_eig",
    "linalg_eigvals", "linalg_lstsq", "linalg_lu_factor", "linalg_matrix_exp", "linalg_pinv",
}
_INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"}
_TAKE_NUMBERS = {  # beside what works entry by entry: where a tensor of the processor without a dimension may stand
    "fill", "fill_", "floor_divide", "floor_divide_", "index_fill", "index_fill_", "index_put", "index_put_",
    "masked_fill", "masked_fill_",
}
_NEVER_NUMBERS = {"clamp", "clamp_", "clamp_min", "clamp_min_", "clamp_max", "clamp_max_"}
_FROM_HOST = {torch.tensor, torch.as_tensor, torch.asarray, torch.from_numpy}


@dataclass
class Crossings:
    """How often the host was told something, and how often it sent something, with the operations that did."""

    read: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int]:
        """Reads and sendings."""
        return len(self.read), len(self.sent)


class Far(torch.Tensor):
    """A tensor of the device; `near` has its values."""

    near: torch.Tensor

    @staticmethod
    def __new__(cls, near: torch.Tensor) -> Far:
        made = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, near.size(), strides=near.stride(), storage_offset=near.storage_offset(), dtype=near.dtype,
            device=torch.device(NAME, 0),
        )
        made.near = near
        return made

    def __repr__(self, **_: Any) -> str:
        return f"Far({tuple(self.shape)}, {self.dtype})"  # not what it holds: nobody may read that by printing it

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError(f"{func} outside of `pretended()`")


@contextmanager
def pretended() -> Iterator[Crossings]:
    """The device is there, and what crosses between it and the host is counted."""
    _registered()
    crossings = Crossings()
    with _Sending(crossings), _Running(crossings):
        yield crossings


@functools.cache
def _registered() -> None:
    _setup_privateuseone_for_python_backend(NAME)


class _Sending(TorchFunctionMode):
    """Arrays and lists that are made tensors of the device are made on the host first, as they are for a GPU."""

    def __init__(self, crossings: Crossings) -> None:
        self.crossings = crossings
        super().__init__()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in _FROM_HOST and _is_far(kwargs.get("device")) and not isinstance(args[0], Far):
            device = kwargs.pop("device")
            return func(*args, **kwargs).to(device)
        if func is torch.Tensor.new_tensor and isinstance(args[0], Far):
            return torch.tensor(args[1], dtype=args[0].dtype).to(args[0].device)
        if func is torch.Tensor.__setitem__ and isinstance(args[0], Far) and isinstance(args[2], (int, float)):
            places = args[1] if isinstance(args[1], tuple) else (args[1],)
            if any(isinstance(place, torch.Tensor) and place.dtype == torch.bool for place in places):
                args = (*args[:2], torch.tensor(args[2], dtype=args[0].dtype))  # as for a GPU: it fills, and counts not
        if func is torch.Tensor.tolist and isinstance(args[0], Far):
            self.crossings.read.append(str(func))
            return args[0].near.tolist()
        return func(*args, **kwargs)


class _Running(TorchDispatchMode):
    """Operations of the device are done on the values of its tensors."""

    def __init__(self, crossings: Crossings) -> None:
        self.crossings = crossings
        super().__init__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        leaves = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        far = [leaf for leaf in leaves if isinstance(leaf, Far)]
        near = [leaf for leaf in leaves if not isinstance(leaf, Far)]
        device = kwargs.get("device")
        if not far and not _is_far(device):
            return func(*args, **kwargs)
        if func in _CROSSINGS:
            return self._cross(func, args, kwargs, leaves, device)
        if any(leaf.dim() > 0 for leaf in near) or (near and not _takes_numbers(func)):
            raise RuntimeError(f"{func}: expected all tensors to be on the same device, but found cpu and {NAME}")
        if _reads(func, args):
            self.crossings.read.append(str(func))
        return self._run(func, args, kwargs)

    def _cross(self, func: Any, args: Any, kwargs: Any, leaves: list[torch.Tensor], device: Any) -> Any:
        if func is _ATEN.copy_.default:
            here, there = (isinstance(leaf, Far) for leaf in leaves[:2])
            if here and not there:
                self.crossings.sent.append(str(func))
            if there and not here:
                self.crossings.read.append(str(func))
                return func(args[0], args[1].near, *args[2:], **kwargs)
            return self._run(func, args, kwargs)
        stays = device is None or _is_far(device)
        if isinstance(leaves[0], Far) and not stays:
            self.crossings.read.append(str(func))
            return func(leaves[0].near, *args[1:], **kwargs)
        if not isinstance(leaves[0], Far):
            self.crossings.sent.append(str(func))
        return self._run(func, args, kwargs)

    def _run(self, func: Any, args: Any, kwargs: Any) -> Any:
        def nearer(leaf: Any) -> Any:
            if isinstance(leaf, Far):
                return leaf.near
            return torch.device("cpu") if _is_far(leaf) else leaf

        owners = {id(leaf.near): leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Far)}
        result = func(*tree_map(nearer, args), **tree_map(nearer, kwargs))

        def farther(made: torch.Tensor) -> Far:
            return owners[id(made)] if id(made) in owners else Far(made)  # what is changed in place stays what it was

        return tree_map_only(torch.Tensor, farther, result)


def _reads(func: Any, args: Any) -> bool:
    """Whether the host must know of the values before it can go on."""
    name = func.overloadpacket.__name__
    if name in _INDEXED:  # the places of a mask are counted, but where one number of the host's is put on all of them
        one = len(args) > 2 and args[2].numel() == 1 and not isinstance(args[2], Far)
        return not one and any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in args[1])
    return name in _READS or not _ANSWERS.isdisjoint(func.tags)


def _takes_numbers(func: Any) -> bool:
    name = func.overloadpacket.__name__
    return name not in _NEVER_NUMBERS and (name in _TAKE_NUMBERS or torch.Tag.pointwise in func.tags)


def _is_far(device: Any) -> bool:
    return getattr(device, "type", None) == NAME or (isinstance(device, str) and device.startswith(NAME))


def values(tensor: torch.Tensor) -> torch.Tensor:
    """What a tensor of the device holds, read by nobody."""
    assert isinstance(tensor, Far)
    return tensor.near
