"""What is true: certified privacy bounds and reference training algorithms.

    from oracle import bound
    bound("gaussian.epsilon").reference(sigma=1, sensitivity=1, delta="1e-5", width=1e-12)
"""

from oracle.enclosure import Enclosure
from oracle.errors import DomainError, OracleError, PrecisionError, TargetError, VectorError
from oracle.registry import Algorithm, Bound, algorithm, algorithms, bound, bounds

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
    "algorithms",
    "bound",
    "bounds",
]
