"""What the adapters of dp-accounting share: its words for our neighbouring relations, and composing an event.

`GaussianDpEvent(z)` and `LaplaceDpEvent(z)` stand for a sum of vectors of norm at most C with noise z C (the docstrings
of dp_event.py). Under ADD_OR_REMOVE_ONE the sum moves by C, so that z is noise over sensitivity; under REPLACE_ONE it
moves by 2C, so that z is twice noise over sensitivity.
"""

from __future__ import annotations

from typing import Any

LIBRARY = DISTRIBUTION = "dp-accounting"


def relation(neighbours: str) -> Any:
    """The library's member for one of our words."""
    from dp_accounting import NeighboringRelation

    words = {"add_remove": NeighboringRelation.ADD_OR_REMOVE_ONE, "replace": NeighboringRelation.REPLACE_ONE}
    if neighbours not in words:
        raise ValueError(f"neighbours = {neighbours!r} is not offered")
    return words[neighbours]


def composed(accountant: Any, event: Any, steps: int = 1) -> Any:
    """The accountant after that many events; the library's own word for a refusal is an exception of its own."""
    from dp_accounting import UnsupportedEventError

    try:
        return accountant.compose(event, steps)
    except UnsupportedEventError as error:
        raise ValueError(str(error)) from error


def sampled_gaussian(sigma: float, sampling_rate: float) -> Any:
    """A step of DP-SGD; our sigma is their noise multiplier, noise over the bound on a record's norm."""
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent

    return PoissonSampledDpEvent(sampling_rate, GaussianDpEvent(sigma))


def two_answers(keep: float) -> Any:
    """Randomised response on a bit; theirs answers at random with probability p, that is truly with 1 - p/2."""
    from dp_accounting import RandomizedResponseDpEvent

    return RandomizedResponseDpEvent(noise_parameter=2 * (1 - keep), num_buckets=2)
