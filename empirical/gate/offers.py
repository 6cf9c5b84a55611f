"""What a library offers of a bound: ranges of numbers, words of choices, whole numbers only; nothing else is asked.

    [gate.offers]                       # in the config of the gate, below a [[gate]]
    sigma = [0.3, 50]                   # a closed range; "inf" is an end, too
    steps = [1, 100000]                 # of a count, too; of a schedule, for each of its entries
    neighbours = ["add_remove"]         # the words of a choice
    alpha = "integers"                  # whole numbers only; with a range: ["integers", 2, 256]

On the command line the same are `--offers sigma=0.3..50`, `--offers neighbours=add_remove,replace`,
`--offers alpha=integers` and `--offers alpha=integers,2..256`. A question outside is "not offered": it is not asked,
and neither fails nor passes. An input that means nothing (a negative sigma) is outside of every range and is asked all
the same: whoever narrows what it offers must still refuse nonsense.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from empirical.gate.making.cases import Case, Text
from oracle.core.domain import Parameter, exact, shown
from oracle.core.errors import DomainError
from oracle.core.registry import Bound

WHOLE = "integers"


@dataclass(frozen=True)
class Offer:
    """What is offered of one parameter: words, or numbers from `low` to `high`, whole ones only if `whole`."""

    parameter: Parameter
    words: tuple[str, ...] = ()
    low: Fraction | float = -math.inf
    high: Fraction | float = math.inf
    whole: bool = False

    def __str__(self) -> str:
        told = f"in {', '.join(self.words)}" if self.words else f"in [{_told(self.low)}, {_told(self.high)}]"
        return f"{self.parameter.name} {told}" + (", whole numbers" if self.whole else "")

    def has(self, text: Text) -> bool:
        """Whether a value is offered; what means nothing to the parameter is for the target to refuse."""
        if isinstance(text, tuple):
            return all(self.has(entry) for entry in text)
        try:
            value = _number(text) if self.parameter.kind == "schedule" else self.parameter.parse(text)
        except DomainError:
            return True
        if self.words:
            return str(value) in self.words
        if isinstance(value, float):
            return self.low <= value <= self.high and not self.whole
        assert isinstance(value, Fraction | int)
        return self.low <= value <= self.high and (not self.whole or Fraction(value).denominator == 1)

    def moved(self, value: Any) -> Any:
        """A drawn value, or one that is offered in its stead: the decimals of its size say which, so that it varies."""
        if isinstance(value, tuple):
            return tuple(self.moved(entry) for entry in value)
        if self.words:
            return value if value in self.words else self.words[len(str(value)) % len(self.words)]
        if self.has(repr(value)):
            return value
        share = math.log10(abs(value)) % 1.0 if value and math.isfinite(value) else 0.5
        low = float(self.low) if math.isfinite(self.low) else min(float(self.high) - 1.0, 0.0)
        high = float(self.high) if math.isfinite(self.high) else max(10.0, 1e4 * low)
        inside = low * (high / low) ** share if low > 0 else low + (high - low) * share
        inside = min(max(inside, low), high)
        return round(inside) if self.whole or isinstance(value, int) else inside


@dataclass(frozen=True)
class Offers:
    """What is offered of a bound; everything by default."""

    parts: tuple[Offer, ...] = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self.parts)) or "everything"

    def has(self, given: Mapping[str, Text]) -> bool:
        """Whether an input is offered."""
        return all(part.has(given[part.parameter.name]) for part in self.parts if part.parameter.name in given)

    def asks(self, case: Case) -> bool:
        """Whether a case is asked."""
        return self.has(case.input)

    def moved(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A drawn point moved to where it is offered."""
        changed = {part.parameter.name: part.moved(point[part.parameter.name]) for part in self.parts}
        return {**point, **changed}


EVERYTHING = Offers()


def parse(bound: Bound, given: Mapping[str, Any]) -> Offers:
    """What the words of a config offer of a bound; a DomainError names what is wrong."""
    known = {parameter.name: parameter for parameter in bound.parameters}
    parts = []
    for name, value in given.items():
        if name not in known:
            raise DomainError(f"offers: {bound.name} has no parameter {shown(name)}; it takes {', '.join(known)}")
        parts.append(_offer(known[name], value))
    return Offers(tuple(parts))


def _offer(parameter: Parameter, value: Any) -> Offer:
    items = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if parameter.kind == "choice":
        if not items:
            raise DomainError(f"offers: {parameter.name} = {shown(value)} leaves no word")
        return Offer(parameter, words=tuple(str(parameter.parse(word)) for word in items))
    whole = WHOLE in items
    ends = [_end(parameter, item) for item in items if item != WHOLE]
    if len(ends) not in (0, 2) or (not ends and not whole) or (ends and ends[0] > ends[1]):
        raise DomainError(
            f"offers: {parameter.name} = {shown(value)} is outside its domain: [low, high], {WHOLE!r}, or both"
        )
    low, high = ends or (-math.inf, math.inf)
    return Offer(parameter, low=low, high=high, whole=whole)


def _end(parameter: Parameter, item: Any) -> Fraction | float:
    text = str(item).strip()
    if text in ("inf", "-inf"):
        return float(text)
    return exact(f"offers: {parameter.name}", text, "a number, inf or -inf")


def spoken(words: Sequence[str]) -> dict[str, Any]:
    """What `--offers key=...` says, each once: ranges as low..high, words and `integers` apart by commas."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name or not text or name in found:
            raise DomainError(f"offers = {shown(word)} is outside its domain: key=low..high or key=word,word")
        items: list[str] = []
        for part in text.split(","):
            low, range_, high = part.partition("..")
            items += [low, high] if range_ else [part]
        found[name] = items
    return found


def _number(text: str) -> Fraction | float:
    return math.inf if text == "inf" else exact("an entry", text, "a number")


def _told(end: Fraction | float) -> str:
    return f"{float(end):g}"
