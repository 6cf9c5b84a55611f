"""Adapters: what real libraries answer to the questions of the gate.

An adapter is a function that takes a bound's parameters as keyword arguments and returns the number that a user of the
library would get, with the defaults that users have. It only translates meanings (each translation says so); it
repairs and checks nothing, since what the library does with nonsense is judged, too. What a library does not offer, a
neighbouring relation say, is a ValueError: a refusal. What it offers only within a range (a composition that is a list,
of so many entries as anybody would write) stands in `offers`, and nothing else is asked.

Every other module here is one library and one variant of it (its accountant, or a neighbouring relation), with one
function a bound and a tuple ADAPTERS at its end. Its known defects stand beside it, in `<module>.xfail.toml`. Libraries
are imported inside the functions, so that listing the adapters needs none of them.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any

from oracle.core.errors import OracleError

ROUNDING = Fraction(1, 10**9)
"""What is forgiven of these libraries, relative to the truth: below it, the machine's rounding decides the verdict."""

TIMEOUT = 10
"""Seconds that an answer may take, the import of the library included; most answers take less than one."""


ABOVE_ZERO = ["5e-324", "inf"]
"""What a library offers of a parameter that it documents as positive: from the least double on."""

SOME_STEPS = {bound: {"steps": [1, "inf"]} for bound in (
    "composition.optimal", "composition.optimal-delta", "gaussian-composed.delta", "gaussian-composed.epsilon",
    "laplace-composed.delta", "laplace-composed.epsilon", "poisson-gaussian.delta", "poisson-gaussian.epsilon",
    "poisson-gaussian.rdp", "poisson-gaussian.sigma", "wor-gaussian.rdp",
)}
"""What a library offers that composes one part or more, and has no word for none."""


def installed_version(distribution: str) -> str | None:
    """The version of a package that is installed, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Adapter:
    """One library's answer to one bound: `target` is the "module:function" that the gate is given.

    `library` and `variant` are names for people ("dp-accounting", "PLD"); `distribution` is the installed package that
    has the version; `offers` is what is asked of each parameter, in the words of `empirical.gate.offers`, and all of it
    for a parameter that is not named.
    """

    library: str
    variant: str
    bound: str
    target: str
    distribution: str
    offers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def version(self) -> str | None:
        """The version that is installed, or None."""
        return installed_version(self.distribution)

    @property
    def xfail(self) -> Path | None:
        """The file of this variant's known defects, if it has any."""
        module = self.target.split(":")[0].rpartition(".")[2]
        path = Path(__file__).parent / f"{module}.xfail.toml"  # told: as data, by the league
        return path if path.exists() else None


def declare(
    library: str, variant: str, distribution: str, functions: Mapping[str, Callable[..., Any]], *,
    offers: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[Adapter, ...]:
    """The adapters of one module, from its functions by the bound that each answers, and what is offered of a bound."""
    return tuple(
        Adapter(
            library, variant, bound, f"{function.__module__}:{function.__qualname__}", distribution,
            (offers or {}).get(bound, {}),
        )
        for bound, function in functions.items()
    )


@functools.cache
def adapters() -> tuple[Adapter, ...]:
    """Every adapter that is declared, whether or not its library is installed, by library, variant and bound."""
    found: dict[tuple[str, str, str], Adapter] = {}
    for info in pkgutil.iter_modules(__path__, prefix=__name__ + "."):
        module = importlib.import_module(info.name)  # told: of this package
        for adapter in getattr(module, "ADAPTERS", ()):
            key = (adapter.library, adapter.variant, adapter.bound)
            if key in found:
                raise OracleError(f"two adapters answer {adapter.bound} by {adapter.library} {adapter.variant}")
            found[key] = adapter
    return tuple(found[key] for key in sorted(found))


def installed() -> tuple[Adapter, ...]:
    """The adapters whose library is there."""
    return tuple(adapter for adapter in adapters() if adapter.version is not None)
