"""What is true: certified privacy bounds and reference training algorithms.

    from oracle import bound
    bound("gaussian.epsilon").reference(sigma=1, sensitivity=1, delta="1e-5", width=1e-12)

All bounds and all algorithms are `dp_oracle.bounds()` and `dp_oracle.algorithms()`; here these names are folders.
"""

from oracle.core.algorithm import Algorithm
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError, OracleError, PrecisionError, TargetError, VectorError
from oracle.core.registry import Bound, algorithm, bound

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
