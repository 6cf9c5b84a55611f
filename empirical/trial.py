"""Whether a target can be audited at all: tried before the models are trained, and judged on the first releases.

- `try_out`: it works on both data sets, with one shape, and a seed gives the same release again, in the same process
  and (for a foreign target) in a fresh one: otherwise nothing could be resumed, and no verdict could be repeated.
- `check_variation`: the releases of many seeds are not all the same. A constant is perfectly private and a release
  that differs between the data sets but not between seeds is not private at all, yet neither is a sample of a law, so
  that no rate, and no epsilon, can be estimated; most often the target has ignored its seed.

Both raise a TargetError that says which it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from empirical.foreign import Foreign
from empirical.targets import Target
from oracle.errors import TargetError
from oracle.tape import Tape

Array = NDArray[np.float64]

TRIED = 3  # models of a trial, on each data set


def try_out(
    target: Target, features: tuple[Array, Array], labels: tuple[Array, Array], *, seed: int = 0
) -> tuple[int, ...]:
    """The shape of one release, after a few models on both data sets, each trained twice or three times."""
    tape = Tape(seed, TRIED)
    first = [target.releases(features[side], labels[side], tape) for side in (0, 1)]
    _check_repeats(target, first[0], target.releases(features[0], labels[0], tape), "in the same process")
    if isinstance(target, Foreign):
        target.close()
        _check_repeats(target, first[1], target.releases(features[1], labels[1], tape), "in a fresh process")
    return first[0].shape[1:]


def _check_repeats(target: Target, once: Array, again: Array, where: str) -> None:
    if not np.array_equal(once, again):
        raise TargetError(
            f"{target.name} is not reproducible: the same seed gave another release {where} (does it read a clock, or "
            "draw from a generator that it does not seed?); an audit of it could be neither resumed nor repeated"
        )


def check_variation(name: str, negatives: Array, positives: Array) -> None:
    """A TargetError where the releases vary with nothing but, at most, the data set."""
    seen = len(negatives) + len(positives)
    if not all(bool((side == side[0]).all()) for side in (negatives, positives)):
        return
    if np.array_equal(negatives[0], positives[0]):
        raise TargetError(f"{name} is a constant: all {seen} releases are equal, whatever the seed and the data set")
    raise TargetError(
        f"{name} ignores its seed: all {len(negatives)} releases on the first data set are equal, and all "
        f"{len(positives)} on the second; they differ between the data sets only"
    )
