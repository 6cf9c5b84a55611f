"""The pair of the hidden state's worst losses, which know it themselves (`empirical.pairs.adversaries`)."""

from __future__ import annotations

from empirical.pairs.adversaries import ZonedDescent
from empirical.pairs.pair import Builder, Pair, Trained
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError


def _zoned(target: Trained, parameters: Values) -> Pair:
    if not isinstance(target, ZonedDescent):
        raise DomainError("pair = zoned is not for this target: it is for one of kind adversary")
    return target.pair()


zoned = Builder(
    name="zoned",
    summary="the record of the adversary's batch, with one sign or the other",
    algorithms=(),
    parameters=(),
    defaults=lambda name, config: {},
    build=None,
    special=True,
    fit=_zoned,
)
