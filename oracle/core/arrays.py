"""What the fast paths stand on: one code for numpy arrays and torch tensors, in float64, rounded to the safe side.

Everything goes through array-api-compat except the special function erfcx, which the array API lacks and which
scipy and torch both provide. `UNIT` is the unit roundoff; budgets are written as multiples of it.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np

from oracle.core.domain import Parameter, same_length, shown
from oracle.core.doubles import exact_float64
from oracle.core.errors import DomainError

UNIT = 2.0**-53
_SMALLEST = 1e-290  # below, float64 loses relative accuracy
_ILL_CONDITIONED = 1e-10  # relative rounding error above which float64 leaves the answer to the reference
LEAST = 5e-324  # the least positive double: what a positive number that underflowed is rounded up to
_COUNTED = np.arange(4097, dtype=np.float64)
_COUNTED.flags.writeable = False
TINY = 1e-323  # two subnormals: covers the absolute error of a result that underflowed


def namespace(*values: Any) -> Any:
    """The array namespace of the torch tensors among the values, or numpy's if there is none."""
    torch = sys.modules.get("torch")  # nobody holds a tensor without having imported torch
    tensors = [value for value in values if torch is not None and isinstance(value, torch.Tensor)]
    if tensors:
        return array_api_compat.array_namespace(*tensors)
    import array_api_compat.numpy as numpy_namespace

    return numpy_namespace


@dataclass(frozen=True)
class Fault:
    """The entries of one parameter that no answer is given for: where they are, what they are, and what is wrong."""

    where: Any
    entries: Any
    parameter: Parameter
    wrong: str

    def told(self, at: int) -> str:
        """What is wrong with an entry of the flattened arrays."""
        entry = self.entries.reshape(-1)[at]
        value = shown(entry if self.entries.dtype == object else float(entry))
        return f"{self.parameter.name} = {value} {self.wrong}: {self.parameter.domain}"


Formula = Callable[[Any, Any], Any]


def lent(formula: Formula) -> Formula:
    """A formula of many small arrays, which lends plain tensors of the processor to numpy: its way to them is shorter.

    A tensor of a device, of another class (a parameter of a network), or one that a gradient is asked of, stays what it
    is, and so do those beside it.
    """

    @functools.wraps(formula)
    def by_numpy(xp: Any, values: Any) -> Any:
        given = vars(values)
        torch = sys.modules.get("torch")
        tensors = {
            name: value for name, value in given.items() if torch is not None and isinstance(value, torch.Tensor)
        }
        # All or none of them: a formula of arrays here and tensors there would mix the two.
        if not tensors or not all(_lendable(value, torch) for value in tensors.values()):
            return formula(xp, values)
        import array_api_compat.numpy as numpy_namespace

        arrays = {name: value.numpy() for name, value in tensors.items()}
        return xp.asarray(formula(numpy_namespace, type(values)(**{**given, **arrays})))

    return by_numpy


def _lendable(value: Any, torch: Any) -> bool:
    return type(value) is torch.Tensor and value.device.type == "cpu" and not value.requires_grad


def as_float64(
    owner: str, parameters: tuple[Parameter, ...], given: Mapping[str, Any]
) -> tuple[Any, dict[str, Any], list[Fault]]:
    """The namespace, the broadcast float64 arrays of all parameters (words stay words), and their faulty entries.

    The last axis of a schedule is its own; the axes before it are broadcast with those of the other parameters, and so
    are the faults.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            raise DomainError(f"{owner} has no parameter {name}; it takes {', '.join(known)}")
    for name, parameter in known.items():
        if name not in given:
            raise DomainError(f"{owner} needs {name}: {parameter.domain}")
    words = {name: known[name].parse(given[name]) for name in known if known[name].kind == "choice"}
    numbers = {name: given[name] for name in known if name not in words}
    xp = namespace(*numbers.values())
    device = None
    if array_api_compat.is_torch_namespace(xp):
        device = _one_device(owner, {k: v for k, v in numbers.items() if array_api_compat.is_torch_array(v)})
    converted, rounded = {}, {}
    for name, value in numbers.items():
        converted[name], rounded[name] = exact_float64(xp, name, value, device)
        if known[name].kind == "schedule" and converted[name].ndim == 0:
            raise DomainError(f"{name} = {shown(value)} is no list; expected {known[name].domain}")
    values = _broadcast(xp, owner, known, converted)
    faults = []
    for name, array in values.items():
        if rounded[name] is not None:
            lost = np.broadcast_to(rounded[name], tuple(array.shape))
            mask = np.array([entry is not None for entry in lost.flat], dtype=bool).reshape(lost.shape)
            where = xp.asarray(mask, device=array_api_compat.device(array))
            faults.append(Fault(where, lost, known[name], "is held by no double (the reference takes it); its domain"))
        bad = known[name].outside(xp, array)
        if anywhere(bad):
            faults.append(Fault(bad, array, known[name], "is outside its domain"))
    return xp, {**values, **words}, faults


def _one_device(owner: str, tensors: Mapping[str, Any]) -> Any:
    """Where all tensors are, a number on the processor aside, as in torch; None where there are none.

    Tensors of two devices are refused: to bring one of them over would be a copy, and a wait, that nobody asked for.
    """
    devices = {name: value.device for name, value in tensors.items()}
    places = {name: device for name, device in devices.items() if device.type != "cpu" or tensors[name].ndim > 0}
    if len(set(places.values())) > 1:
        told = ", ".join(f"{name} on {device}" for name, device in places.items())
        raise DomainError(f"the tensors of {owner} are on several devices: {told}")
    return next(iter((places or devices).values()), None)


def _broadcast(xp: Any, owner: str, known: Mapping[str, Parameter], arrays: dict[str, Any]) -> dict[str, Any]:
    if len({array.shape for array in arrays.values()}) == 1 and all(p.kind != "schedule" for p in known.values()):
        return arrays  # as most are: what follows would change nothing
    own = {name: array.shape[-1:] if known[name].kind == "schedule" else () for name, array in arrays.items()}
    same_length(owner, {name: axis[0] for name, axis in own.items() if axis})
    batches = {name: tuple(array.shape[: array.ndim - len(own[name])]) for name, array in arrays.items()}
    try:
        batch = np.broadcast_shapes(*batches.values())
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in batches.items())
        raise DomainError(f"the shapes of {owner}'s parameters do not fit together: {shapes}") from None
    wanted = {name: (*batch, *own[name]) for name in arrays}
    return {
        name: array if array.shape == wanted[name] else xp.broadcast_to(array, wanted[name])
        for name, array in arrays.items()
    }


def erfcx(xp: Any, x: Any) -> Any:
    """exp(x^2) erfc(x), by scipy or torch; both are accurate to a few units in the last place."""
    return _scipy_erfcx()(x) if isinstance(x, (np.ndarray, np.generic)) else xp.special.erfcx(x)


@functools.cache
def _scipy_erfcx() -> Any:
    """Scipy's function: importing it takes long, and then looking it up as long as calling it."""
    from scipy import special

    return special.erfcx


def quotient(xp: Any, *factors: Any) -> Any:
    """The first factor divided by the others, rounded up; NaN (for the reference) where anything nears the subnormals.

    One division after the other, not one by a product: a product that overflows would promise perfect privacy.
    """
    result, safe = factors[0], factors[0] > _SMALLEST
    for divisor in factors[1:]:
        result = inflate(result / divisor, 1.0)
        safe = safe & (result > _SMALLEST) & (result < 1 / _SMALLEST)
    return xp.where(safe, result, math.nan)


def positive_part(xp: Any, value: Any, magnitude: Any) -> Any:
    """max(0, value) rounded up, for terms whose absolute values sum to `magnitude`; NaN where they cancel too much."""
    slack = 32 * UNIT * magnitude + TINY
    result = xp.where(slack < _ILL_CONDITIONED * xp.abs(value), value + slack, math.nan)
    return xp.where(value < -slack, 0.0, result)


def inflate(x: Any, units: Any) -> Any:
    """x >= 0 made larger by a relative budget of that many unit roundoffs (and the rounding of doing so)."""
    return x * (1.0 + (units + 2.0) * UNIT)


def deflate(x: Any, units: Any) -> Any:
    """x >= 0 made smaller by a relative budget of that many unit roundoffs: for what must round down."""
    return x * (1.0 - (units + 2.0) * UNIT)


def anywhere(x: Any) -> bool:
    """Whether anything is true."""
    return bool(np.logical_or.reduce(x, axis=None) if isinstance(x, np.ndarray) else x.any())


def stacked(xp: Any, columns: Any) -> Any:
    """Columns of one shape as the rows of a table."""
    return np.array(columns) if isinstance(columns[0], np.ndarray) else xp.stack(columns)


def summed(x: Any, axis: int = -1) -> Any:
    """The sum along an axis, which numpy reaches by a shorter way than its function and its method."""
    return np.add.reduce(x, axis=axis) if isinstance(x, np.ndarray) else x.sum(axis=axis)


def counted(xp: Any, count: int, like: Any) -> Any:
    """0, 1, ..., count - 1 in float64, where an array is."""
    if isinstance(like, np.ndarray) and count <= _COUNTED.shape[0]:
        return _COUNTED[:count]
    return xp.arange(count, dtype=xp.float64, device=like.device)


@functools.cache
def _kept(numbers: tuple[float, ...]) -> Any:
    array = np.array(numbers)
    array.flags.writeable = False
    return array


def constants(xp: Any, numbers: tuple[float, ...], like: Any) -> Any:
    """A few numbers of a module's own in float64, where an array is."""
    return _kept(numbers) if isinstance(like, np.ndarray) else xp.asarray(numbers, dtype=xp.float64, device=like.device)


def nonzero(xp: Any, x: Any) -> Any:
    """Where a column is true."""
    return x.nonzero()[0] if isinstance(x, np.ndarray) else xp.nonzero(x)[0]


def least(xp: Any, x: Any) -> Any:
    """The least along the last axis, whatever is no number left out; infinity if nothing is."""
    if isinstance(x, np.ndarray):
        return np.fmin.reduce(x, axis=-1, initial=math.inf)
    return -largest(xp, -at_most(xp, x, math.inf))


def largest(xp: Any, x: Any, axis: int = -1) -> Any:
    """The largest along an axis."""
    return np.maximum.reduce(x, axis=axis) if isinstance(x, np.ndarray) else xp.max(x, axis=axis)


def at_most(xp: Any, x: Any, limit: Any) -> Any:
    """The smaller of an array and a limit, which may be a number (NaN gives the limit)."""
    if isinstance(limit, float) and isinstance(x, np.ndarray):
        return np.fmin(x, limit)  # the same in one operation
    return x.where(x < limit, limit) if hasattr(x, "where") else xp.where(x < limit, x, limit)  # a tensor's is quicker


def at_least(xp: Any, x: Any, limit: Any) -> Any:
    """The larger of an array and a limit, which may be a number (NaN gives the limit)."""
    if isinstance(limit, float) and isinstance(x, np.ndarray):
        return np.fmax(x, limit)
    return x.where(x > limit, limit) if hasattr(x, "where") else xp.where(x > limit, x, limit)
