"""The registry: what a bound and an algorithm are, and how they are found.

A bound or an algorithm is one declaration at the top of a module in `oracle.bounds` (by topic) or `oracle.algorithms`
(by family); it is registered by standing there. Everything generic (command line, vectors, gate, property tests,
report) reads this registry, so that adding one is adding one file.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Generic, TypeVar

from flint import arb

from oracle.core import arithmetic, hypotheses, vocabulary
from oracle.core.algorithm import Algorithm, Values
from oracle.core.attainment import UNKNOWN, Tightness
from oracle.core.domain import Number, Parameter, Value, parse_all, positive, shown
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError, OracleError
from oracle.core.hypotheses import Hypothesis
from oracle.core.rows import SAFE as SAFE
from oracle.core.rows import Rows, answered, strict

Certify = Callable[[Values, Fraction], Enclosure]
NEIGHBOURS = (*vocabulary.neighbours.choices, "any")
THREAT_MODELS = ("all_iterates", "last_iterate")
RELEASED = ("output", *vocabulary.released.choices)
UNITS = ("epsilon", "delta", "mu", "sigma", "rdp", "risk", "smoothness", "contraction", "step_size", "dimension")
VALIDITIES = {
    "proved": "proved here",
    "argued": "proved here in writing, not every step computed",
    "checked": "checked here in part, not proved",
    "cited": "cited, and not checked here",
    "pending": "pending, because a source is not checked yet",
}
"""How it is known that a bound's formula is a theorem about what it bounds, the surest first, in words."""
_LISTED = 40  # names that an error message still lists


def closed_form(formula: Callable[[Values], arb], *, at_most: int | None = None) -> Certify:
    """A formula in balls, lifted to one that reaches any asked width; `at_most` is a proved ceiling."""

    def certify(values: Values, width: Fraction) -> Enclosure:
        enclosure = arithmetic.enclose(lambda: formula(values), width=width)
        return enclosure if at_most is None else enclosure.capped(at_most)

    return certify


@dataclass(frozen=True)
class Bound:
    """A bound on privacy or utility: a certified reference and a fast path that is sound, over one set of parameters.

    `neighbours` is the relation the bound is proved for; "any" means that it holds under whichever relation the given
    sensitivity was measured. The truth that `reference` encloses is the value of the bound's formula; that the formula
    is a guarantee is another matter: `assumes` names the hypotheses under which it is one (`hypotheses.NONE` where
    there are none), and `validity` says how that is known: as surely as the weakest of the claims in `source`.
    `tightness` says whether that value is the truth of what is bounded, or whether something smaller may be right.
    `released` is what leaves the mechanism, `safe` the side to which the fast path rounds. `example` is an everyday
    point, at which the report evaluates it. Where a narrow answer can be dear, `soon` gives the narrowest that a fixed
    amount of work leads to: it answers where no width is asked for.
    """

    name: str
    unit: str
    summary: str
    formula: str
    parameters: tuple[Parameter, ...]
    assumes: tuple[str, ...]
    neighbours: str
    threat_model: str
    source: tuple[str, ...]
    certify: Certify
    vectorised: Callable[[Any, Values], Any]
    example: Mapping[str, str] | None = None
    released: str = "output"
    safe: str = "upper"
    validity: str = "pending"
    tightness: Tightness = UNKNOWN
    soon: Callable[[Values], Enclosure] | None = None

    def __post_init__(self) -> None:
        for value, allowed in (
            (self.neighbours, NEIGHBOURS), (self.threat_model, THREAT_MODELS), (self.unit, UNITS),
            (self.released, RELEASED), (self.safe, SAFE), (self.validity, tuple(VALIDITIES)),
        ):
            if value not in allowed:
                raise OracleError(f"bound {self.name}: {value!r} is none of {', '.join(allowed)}")
        vocabulary.check(f"bound {self.name}", self.parameters)
        hypotheses.named(f"bound {self.name}", self.assumes)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the theorem behind it assumes beyond the domains of its parameters."""
        return hypotheses.named(f"bound {self.name}", self.assumes)

    def parse(self, given: Mapping[str, Any]) -> dict[str, Value]:
        """The exact values of the given parameters, or a DomainError."""
        return parse_all(self.name, self.parameters, dict(given))

    def reference(self, /, *, width: Number | None = None, **params: Number) -> Enclosure:
        """The certified enclosure of the bound, of width at most `width * min(1, |value|)`.

        Without a width that is 1e-12, or where `soon` says so as much of it as a fixed amount of work reaches.
        """
        return self.at(params, width=width)

    def at(self, params: Mapping[str, Any], *, width: Number | None = None) -> Enclosure:
        """`reference` for parameters in a mapping, whose keys may be anything a user typed."""
        asked = arithmetic.DEFAULT_WIDTH if width is None else positive("width").rational(width)
        values = Values(**self.parse(params))
        if width is None and self.soon is not None:
            return self.soon(values)
        return self.certify(values, min(asked, Fraction(1)))

    def attained(self, params: Mapping[str, Any], *, width: Number | None = None) -> Enclosure | None:
        """What is certainly attained at these parameters, so that nothing beyond it is right; None if nothing is known.

        The value itself where that is the truth. For a bound that is safe above, the lower end is what counts.
        """
        if self.tightness.kind == "truth":
            return self.at(params, width=width)
        if self.tightness.attained is None:
            return None
        asked = arithmetic.DEFAULT_WIDTH if width is None else positive("width").rational(width)
        return self.tightness.attained(Values(**self.parse(params)), min(asked, Fraction(1)))

    def fast(self, /, **arrays: Any) -> Any:
        """The bound as a float64 array on the safe side, where the inputs are (numpy or torch, any device).

        The last axis of a schedule is its own: an array [batch, steps] gives a result [batch]. Entries that float64
        cannot certify are marked NaN by the formula and recomputed by the reference. A row that has no answer is an
        error that says which and why; `rows` answers the others all the same.
        """
        return strict(self, arrays)

    def rows(self, /, **arrays: Any) -> Rows:
        """`fast`, row by row: `values` is NaN where a row has no answer, and `refused` says of each such row why.

            >>> import dp_oracle
            >>> answers = dp_oracle.bound("gdp.delta").rows(mu=[1.0, -1.0, 2.0], epsilon=1.0)
            >>> [round(float(value), 3) for value in answers.values]
            [0.127, nan, 0.51]
            >>> print(*answers.refused)
            row 1: mu = -1.0 is outside its domain: a real number > 0
        """
        return answered(self, arrays)


Thing = TypeVar("Thing")


def discover(kind: type[Thing], *packages: str, name: str | None = None) -> list[Thing]:
    """Every instance of a kind that stands at the top of a module below the packages, in module order, each once.

    Given a name, only those modules are loaded whose text has `name="..."`: a look at all files costs milliseconds,
    loading all modules a second. It is up to the caller to look at them all where that finds nothing.
    """
    found: dict[int, Thing] = {}
    for package in packages:
        root = importlib.import_module(package)
        for info in sorted(pkgutil.walk_packages(root.__path__, prefix=package + "."), key=lambda item: item.name):
            if info.name.rsplit(".", 1)[1].startswith("torch_"):
                continue  # the torch siblings are loaded by their algorithm, not by a listing
            if name is not None and (info.ispkg or not _declares(root.__path__[0], package, info.name, name)):
                continue
            for value in vars(importlib.import_module(info.name)).values():
                if isinstance(value, kind):
                    found.setdefault(id(value), value)
    return list(found.values())


def _declares(folder: str, package: str, module: str, name: str) -> bool:
    """Whether the text of a module below a package has a name, as declarations write it."""
    path = Path(folder, *module.removeprefix(package + ".").split(".")).with_suffix(".py")
    return re.search(rf'\bname="{re.escape(name)}"', path.read_text(encoding="utf-8")) is not None


def _name(item: Any) -> str:
    return str(item.name)


class Register(Mapping[str, Thing], Generic[Thing]):
    """Registered things by name: what is asked for by name is loaded alone, and all of them when they are listed."""

    def __init__(self, find: Callable[[str | None], list[Thing]]) -> None:
        self._find = find
        self._alone: dict[str, Thing] = {}

    @functools.cached_property
    def _all(self) -> dict[str, Thing]:
        return index(self._find(None), _name)

    def __getitem__(self, name: str) -> Thing:
        if "_all" not in vars(self) and isinstance(name, str):
            if name not in self._alone:
                self._alone |= index(self._find(name), _name)
            if name in self._alone:
                return self._alone[name]
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def index(things: list[Thing], key: Callable[[Thing], str]) -> dict[str, Thing]:
    """The things by name; two of one name are an error."""
    table: dict[str, Thing] = {}
    for thing in things:
        if key(thing) in table:
            raise OracleError(f"two registered objects are called {key(thing)}")
        table[key(thing)] = thing
    return dict(sorted(table.items()))


@functools.cache
def bounds() -> Mapping[str, Bound]:
    """All bounds by name.

        >>> import dp_oracle
        >>> [name for name in dp_oracle.bounds() if name.startswith("laplace")]
        ['laplace-composed.delta', 'laplace-composed.epsilon', 'laplace.delta']
    """
    return Register(lambda word: discover(Bound, "oracle.bounds", "oracle.algorithms", name=word))


@functools.cache
def algorithms() -> Mapping[str, Algorithm]:
    """All algorithms by name.

        >>> import dp_oracle
        >>> dp_oracle.algorithms()["dp-sgd"].guarantees[0].bound
        'dp-sgd.epsilon'
    """
    return Register(lambda word: discover(Algorithm, "oracle.algorithms", name=word))


def named(table: Mapping[str, Thing], what: str, name: str) -> Thing:
    """The entry of that name, or an error that lists the names there are, the nearest of them if they are many."""
    if name not in table:
        if len(table) <= _LISTED:
            raise DomainError(f"{what} = {shown(name)} is unknown; known: {', '.join(table)}")
        near = difflib.get_close_matches(name, table, n=6, cutoff=0.0)
        raise DomainError(f"{what} = {shown(name)} is unknown; the nearest of {len(table)} names: {', '.join(near)}")
    return table[name]


def bound(name: str) -> Bound:
    """The bound of that name; `reference` encloses its value, `fast` computes it for whole arrays.

        >>> import dp_oracle
        >>> value = dp_oracle.bound("gaussian.epsilon").reference(sigma=1, sensitivity=1, delta="1e-5")
        >>> value.certainly_le(5), value.upper.to_decimal(digits=7, up=True)
        (True, '4.377179')
        >>> [parameter.name for parameter in dp_oracle.bound("gaussian.epsilon").parameters]
        ['sigma', 'sensitivity', 'delta']
    """
    return named(bounds(), "bound", name)


def algorithm(name: str) -> Algorithm:
    """The algorithm of that name: its keys, its literal reference and its batched twin.

        >>> import dp_oracle
        >>> dp_oracle.algorithm("exponential-mechanism").released
        'output'
    """
    return named(algorithms(), "algorithm", name)
