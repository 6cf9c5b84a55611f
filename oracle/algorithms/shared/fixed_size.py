"""What several recipes assume of the relation: the number of records, or its constancy, is public."""

from __future__ import annotations

from oracle.core import vocabulary
from oracle.core.planning import Hypothesis, said
from oracle.core.registry import Values

FIXED_SIZE = vocabulary.fixed_size

_SAID = said("", FIXED_SIZE.name)


def _constant(config: Values) -> bool | None:
    return True if config.neighbours == "replace" else _SAID.holds(config)


CONSTANT = Hypothesis("the number of records that the algorithm uses is the same in neighbouring data sets", _constant)
