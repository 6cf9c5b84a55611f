"""What is true: certified privacy bounds and reference training algorithms.

    from oracle import bound
    bound("gaussian.epsilon").reference(sigma=1, sensitivity=1, delta="1e-5", width=1e-12)

All bounds and all algorithms are `dp_oracle.bounds()` and `dp_oracle.algorithms()`; here these names are folders. What
a name stands for is loaded when it is asked for: whoever imports one module of ours needs few of the others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oracle.core.algorithm import Algorithm as Algorithm
    from oracle.core.enclosure import Enclosure as Enclosure
    from oracle.core.errors import DomainError as DomainError
    from oracle.core.errors import OracleError as OracleError
    from oracle.core.errors import PrecisionError as PrecisionError
    from oracle.core.errors import TargetError as TargetError
    from oracle.core.errors import VectorError as VectorError
    from oracle.core.registry import Bound as Bound
    from oracle.core.registry import algorithm as algorithm
    from oracle.core.registry import bound as bound

_HOMES = {
    "Algorithm": "algorithm", "Bound": "registry", "DomainError": "errors", "Enclosure": "enclosure",
    "OracleError": "errors", "PrecisionError": "errors", "TargetError": "errors", "VectorError": "errors",
    "algorithm": "registry", "bound": "registry",
}
__all__ = [
    "Algorithm",
    "Bound",
    "DomainError",
    "Enclosure",
    "OracleError",
    "PrecisionError",
    "TargetError",
    "VectorError",
    "algorithm",
    "bound",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"oracle.core.{_HOMES[name]}"), name)  # told: by the imports above
