"""Algorithms 2 to 7 of document 002 as wholes: whether each, word by word, does what is said of it.

Each is as good as the first of its items that decides, whose checker and witness it has; the other items tell the rest.
"""

from __future__ import annotations

from dataclasses import replace

from theorems.claim import Claim, Stake
from theorems.nonconvex_nn.bounded_link.phases import empty
from theorems.nonconvex_nn.bounded_link.projected_privacy import noise
from theorems.nonconvex_nn.smoothing.general_links import phases
from theorems.nonconvex_nn.smoothing.gradient_oracle import averaged, projected_error
from theorems.nonconvex_nn.well_specified_relu.privacy import returned


def _whole(item: Claim, number: int, source: str, words: str, *others: str) -> Claim:
    """The claim of an algorithm, decided by one of its items; the document's argument uses the others.

    It is the item as it is registered: repaired as the item is, and with the repair among what must come out otherwise.
    """
    return replace(
        item.registered, id=f"nonconvex-nn/alg-{number}", source=f"002, Algorithm {number}: {source}", words=words,
        severity=Stake.UTILITY, uses=(item.id, *(f"nonconvex-nn/alg-{other}" for other in others)),
    )


algorithm_2 = _whole(
    empty, 2, "word by word, for every n", "Algorithm 2 can be run as printed: none of its averages is 0/0",
    "2-partition", "2-start", "2-no-output",
)
algorithm_3 = _whole(
    noise, 3, "Algorithm 2 on projected records", "Algorithm 3 is Algorithm 2 with gradients twice as long and delta/2",
    "2",
)
algorithm_4 = _whole(
    averaged, 4, "word by word", "Algorithm 4 as printed answers with the gradient up to gamma",
    "4-derivative", "4-interval", "4-cost",
)
algorithm_5 = _whole(
    phases, 5, "word by word, for every n", "Algorithm 5 can be run as printed: none of its averages is 0/0",
    "5-R", "5-6-differentiable",
)
algorithm_6 = _whole(
    projected_error, 6, "Algorithm 5 on projected records, with 2B for B",
    "Algorithm 6, with 2B for B in Algorithm 4, has gradients that are right up to gamma for records of length 2",
    "5", "6-fast-jl", "6-line-number",
)
algorithm_7 = _whole(
    returned, 7, "word by word", "Algorithm 7 as printed returns the mean of its iterates", "7-typos-noise",
)
