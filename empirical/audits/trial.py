"""Whether a target can be audited at all: tried before the models are trained, and judged on the first releases.

- `try_out`: it works on both data sets, with one shape, and a seed gives the same release again, in the same process
  and (for a foreign target) in a fresh one: otherwise nothing could be resumed, and no verdict could be repeated.
- `check_variation`: the releases of many seeds are not all the same. A constant is perfectly private and a release
  that differs between the data sets but not between seeds is not private at all, yet neither is a sample of a law, so
  that no rate, and no epsilon, can be estimated; most often the target has ignored its seed.

A call that trains many models at once can go wrong in two more ways, which both pass for variation: the same releases
in every call (a generator seeded by a constant), or one noise for all the models of a call. Either way the models are
copies of a few, and a bound that counts them as independent is above the truth. `try_out` compares two calls.

Both raise a TargetError that says which it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from empirical.audits.foreign.foreign import Foreign
from empirical.audits.targets import AuditTarget
from oracle.core.errors import TargetError
from oracle.core.tape import Tape

Array = NDArray[np.float64]

TRIED = 3  # models of a trial, on each data set
TOGETHER = 24  # models of each of two calls that are compared
_DISTINCT = 6  # of them that must differ from the commonest release before equal calls are no coincidence


def try_out(
    target: AuditTarget, features: tuple[Array, Array], labels: tuple[Array, Array], *, seed: int = 0
) -> tuple[int, ...]:
    """The shape of one release, after a few models on both data sets, each trained twice or three times."""
    tape = Tape(seed, TRIED)
    first = [target.releases(features[side], labels[side], tape) for side in (0, 1)]
    _check_repeats(target, first[0], target.releases(features[0], labels[0], tape), "in the same process")
    if isinstance(target, Foreign):
        target.close()
        _check_repeats(target, first[1], target.releases(features[1], labels[1], tape), "in a fresh process")
        if target.many_a_call:
            calls = Tape(seed, 2 * TOGETHER)
            halves = (calls.block(start, TOGETHER) for start in (0, TOGETHER))
            _check_calls(target.name, *(target.releases(features[1], labels[1], half) for half in halves))
    return first[0].shape[1:]


def _check_calls(name: str, first: Array, second: Array) -> None:
    """A TargetError where two calls with different seeds show that the models of a call are not independent.

    Of independent models with any law, two calls are equal in all places, six of which are off the commonest release,
    with probability below 1e-6 (two values of probabilities p and 1 - p are the worst case: C(24, 6) p^12 (1 - p)^36
    and smaller terms); each is constant and they differ with probability at most 4^-24.
    """
    _, counts = np.unique(first.reshape(len(first), -1), axis=0, return_counts=True)
    if np.array_equal(first, second) and counts.max() <= len(first) - _DISTINCT:
        raise TargetError(
            f"{name} ignores its seeds: two calls with different seeds released the same {len(first)} models"
        )
    if len(counts) == 1 and bool((second == second[0]).all()) and not np.array_equal(first[0], second[0]):
        raise TargetError(
            f"{name} uses one noise for a whole call: its {len(first)} models are equal, and differ in the next call"
        )


def _check_repeats(target: AuditTarget, once: Array, again: Array, where: str) -> None:
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
