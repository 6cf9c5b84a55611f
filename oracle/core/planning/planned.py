"""The plan of a training configuration as a call of Python: `dp_oracle.plan`, the one way to `oracle.core.planning`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.core import planning
from oracle.core.domain import shown, word
from oracle.core.errors import DomainError
from oracle.core.planning import Plan
from oracle.core.registry import algorithm


def plan(configuration: str | Path, /, **keys: Any) -> Plan:
    """What is proved of a training configuration: an algorithm's name and its keys, or the path of a TOML file.

    Every guarantee that the algorithm may have is judged: does it apply, under which hypotheses, and what is it worth?

        >>> import dp_oracle
        >>> found = dp_oracle.plan(
        ...     "exponential-mechanism", loss_range=1, temperature=2, clipped=True, exact_sampling=True,
        ...     neighbours="replace",
        ... )
        >>> found.best.guarantee.bound, found.best.epsilon.to_floats()
        ('exponential-mechanism.epsilon', (1.0, 1.0))

    What the keys do not say is unknown, and nothing is proved by it:

        >>> dp_oracle.plan("exponential-mechanism", loss_range=1, temperature=2, neighbours="replace").best is None
        True

    `dp-oracle plan` lists the algorithms and their keys; `examples` has a file for each.
    """
    if isinstance(configuration, Path) or str(configuration).endswith(".toml"):
        if keys:
            raise DomainError(f"{', '.join(keys)} cannot go with {configuration}: a file has its keys itself")
        return planning.plan(*planning.read(Path(configuration)))
    if not isinstance(configuration, str):
        told = shown(configuration)
        raise DomainError(f"configuration = {told} is outside its domain: an algorithm's name, or a TOML file's path")
    return planning.plan(algorithm(configuration), {name: word(value) for name, value in keys.items()})
