"""pytest tests of an implementation: one test a certified case, and one for the search beyond them.

    test_epsilon = conformance("poisson-gaussian.epsilon", mylib.epsilon, slack=1.05, xfail="dp-oracle-xfail.toml")

`conformance` needs no plugin: it is a parametrised test. The plugin (`dp_oracle`) adds the budget and the marker, which
judges what a test function returns. A test passes when the command `dp-oracle gate` calls the case good, with one
difference: a test does not see the others, so that it cannot find out that a library does not support a word at all
(neighbours = replace); `unsupported` says so, strictly.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import dp_oracle
from empirical.gate import vector_files
from empirical.gate.jobs import parsed_policy
from empirical.gate.making.cases import Case
from empirical.gate.result import Unsupported
from empirical.gate.subjects import Agreement, Question, Search, Subject
from empirical.gate.xfail import Xfails, load
from oracle.core import registry
from oracle.core.domain import Number, shown
from oracle.core.errors import DomainError, OracleError


def conformance(
    bound: str, function: Callable[..., Any], *, slack: Number | None = None, xfail: str | Path | None = None,
    unsupported: Mapping[str, Sequence[str]] | None = None, rounding: Number | None = None,
    slack_absolute: Number | None = None, fail_on: str | None = None, below_formula: str | None = None,
    offers: Mapping[str, Any] | None = None,
) -> Callable[..., None]:
    """A parametrised test of a function that is called with the bound's parameters as keyword arguments.

    `slack` is how many times the truth an answer may be, and `slack_absolute` what it may add to that (anything, if
    both are None). `rounding` is the relative error that is forgiven on the unsafe side, 1e-12 unless given; `fail_on`
    the severity from which an unsound answer fails ("negligible", "material", "gross"). An answer below an upper bound
    that is not known to be wrong fails, since a test knows nothing in between, unless `below_formula` is "pass".
    `offers` is what the library offers at all, {"sigma": [0.3, 50]}, `unsupported` the words that it refuses,
    {"neighbours": ["replace"]}, `xfail` the file of expected failures (beside the test file, or in pytest's root).

        >>> import dp_oracle
        >>> def epsilon(**given):
        ...     return dp_oracle.bound("gaussian.epsilon").reference(**given).to_floats()[1]
        >>> test_epsilon = dp_oracle.conformance("gaussian.epsilon", epsilon, slack=1.05)
        >>> test_epsilon.__doc__
        '__main__.epsilon implements gaussian.epsilon.'
    """
    called = _name(function)
    with _one_line(f"conformance of {called}"):
        beside = Path(sys._getframe(1).f_globals.get("__file__", ".")).parent
        words = {
            "slack": slack, "rounding": rounding, "slack_absolute": slack_absolute, "fail_on": fail_on,
            "below_formula": below_formula, "offers": offers,
        }
        agreement, subjects = _agree(bound, xfail, unsupported, words, beside=beside)
        _require_callable(agreement.bound, function, called)

    @pytest.mark.parametrize("subject", [pytest.param(item, id=item.id, marks=item.marks) for item in subjects])
    def test(subject: Subject) -> None:
        subject.check(function, called)

    test.__doc__ = f"{called} implements {bound}."
    return test


def generate(metafunc: pytest.Metafunc) -> None:
    """Parametrise a marked test function by the cases of its bound."""
    definition = metafunc.definition
    with _one_line(f"the marker {dp_oracle.MARKER} of {definition.name}"):
        if sum(mark.name == dp_oracle.MARKER for mark in definition.own_markers) > 1:
            raise DomainError("it stands there twice: one function answers for one bound")
        mark = definition.get_closest_marker(dp_oracle.MARKER)
        assert mark is not None
        words = _arguments(mark)
        name, xfail, unsupported = (words.pop(word) for word in ("bound", "xfail", "unsupported"))
        agreement, subjects = _agree(name, xfail, unsupported, words, beside=definition.path.parent)
        _require_arguments(metafunc, agreement.bound)
    carrier = getattr(pytest.mark, dp_oracle.MARKER)  # how a subject gets to `call`
    metafunc.parametrize([parameter.name for parameter in agreement.bound.parameters], [
        pytest.param(*item.values, id=item.id, marks=(carrier(item), *item.marks)) for item in subjects
    ])


def subject(item: pytest.Item) -> Subject:
    """What a marked test asks; a test that got nothing fails, for it would pass without being judged."""
    for mark in item.iter_markers(dp_oracle.MARKER):
        if mark.args and isinstance(mark.args[0], (Question, Search)):
            return mark.args[0]
    pytest.fail(f"{item.nodeid} got no case: the marker {dp_oracle.MARKER} is for functions that pytest can "
                "parametrise (no methods of unittest.TestCase)", pytrace=False)


def call(item: pytest.Function) -> None:
    """Call a marked test function with the arguments of its subject and its fixtures, and judge what it returns."""
    asked = subject(item)
    names = {parameter.name for parameter in asked.agreement.bound.parameters}
    taken = inspect.signature(item.obj).parameters
    fixtures = {name: item.funcargs[name] for name in taken if name in item.funcargs and name not in names}
    asked.check(lambda **given: item.obj(**given, **fixtures), item.originalname)


@contextmanager
def _one_line(what: str) -> Iterator[None]:
    """Turn an error of usage into one line of pytest's collection report."""
    try:
        yield
    except OracleError as error:
        raise pytest.Collector.CollectError(f"dp-oracle: {what}: {error}") from None


def _arguments(mark: pytest.Mark) -> dict[str, Any]:
    """The arguments of the marker by name; the bound may stand without its name."""

    def marker(
        bound: Any, slack: Any = None, xfail: Any = None, unsupported: Any = None, rounding: Any = None,
        slack_absolute: Any = None, fail_on: Any = None, below_formula: Any = None, offers: Any = None,
    ) -> None: ...

    signature = inspect.signature(marker)
    try:
        given = signature.bind(*mark.args, **mark.kwargs)
    except TypeError as error:
        raise DomainError(f"{error}; it takes {', '.join(signature.parameters)}") from None
    given.apply_defaults()
    return dict(given.arguments)


def _agree(
    bound: str, xfail: str | Path | None, unsupported: Mapping[str, Sequence[str]] | None, words: Mapping[str, Any], *,
    beside: Path,
) -> tuple[Agreement, list[Subject]]:
    """The agreement that the arguments make, and what is asked under it within the session's budget."""
    item = registry.bound(str(bound))
    file = vector_files.load(item.name)
    policy = parsed_policy(item, {name: value for name, value in words.items() if value is not None})
    agreement = Agreement(item, file.notes, _unsupported(item, unsupported or {}, file.cases), policy)
    if not any(case.valid and policy.offers.asks(case) for case in file.cases):
        raise DomainError(f"offers = {policy.offers} leaves no valid case of {item.name}")
    xfails = Xfails() if xfail is None else load(_found(Path(xfail), beside))
    expected = xfails.of_cases(item.name, file.cases)
    budget = dp_oracle.session().budget
    subjects: list[Subject] = [
        Question(agreement, case, expected.get(case.tc_id)) for case in spread(file.cases, budget)
    ]
    if budget is not None and budget > len(file.cases):
        subjects.append(Search(agreement, budget - len(file.cases), xfails.of_search(item.name), file.cases))
    return agreement, subjects


def spread(cases: Sequence[Case], budget: int | None) -> list[Case]:
    """At most so many cases, of all kinds in turn, in the order of the file."""
    return sorted(vector_files.in_turn(cases)[:budget], key=lambda case: case.tc_id)


def _unsupported(
    item: registry.Bound, given: Mapping[str, Sequence[str]], cases: Sequence[Case]
) -> tuple[Unsupported, ...]:
    """The unsupported words, each a word of the bound; some valid case must be left."""
    known = {parameter.name: parameter for parameter in item.parameters if parameter.kind == "choice"}
    found = []
    for name, words in given.items():
        if name not in known:
            told = f"it has {', '.join(known)}" if known else "it has none"
            raise DomainError(f"unsupported = {shown(name)} is no parameter of {item.name} that takes words: {told}")
        if isinstance(words, str):
            raise DomainError(f"unsupported: {name} = {shown(words)} is a word; expected a list of words")
        for word in map(known[name].parse, words):
            found.append(Unsupported(name, str(word), sum(c.valid and c.input[name] == word for c in cases)))
    if not any(case.valid and all(case.input[w.parameter] != w.word for w in found) for case in cases):
        raise DomainError(f"unsupported = {shown(dict(given))} leaves no valid case of {item.name}")
    return tuple(found)


def _found(path: Path, beside: Path) -> Path:
    """The xfail file: beside the test, or in the root of the run."""
    places = [beside / path, dp_oracle.session().root / path]
    for place in places:
        if place.is_file():
            return place
    raise DomainError(f"xfail = {shown(path)} is no file, neither {places[0]} nor {places[1]}")


def _require_callable(item: registry.Bound, function: Any, called: str) -> None:
    """A function that cannot take the bound's parameters would refuse everything: say so once, at collection."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have no signature; what is no function is caught here
        if not callable(function):
            raise DomainError(f"function = {shown(function)} cannot be called") from None
        return
    names = [parameter.name for parameter in item.parameters]
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError as error:
        raise DomainError(f"{called}{signature} {error}; {item.name} is called with {', '.join(names)}") from None


def _require_arguments(metafunc: pytest.Metafunc, item: registry.Bound) -> None:
    """A marked function takes the bound's parameters, all of them, and fixtures."""
    taken = inspect.signature(metafunc.function).parameters
    names = [parameter.name for parameter in item.parameters]
    for name in names:
        if name not in taken:
            raise DomainError(f"it does not take {name}; {item.name} is called with {', '.join(names)}")


def _name(function: Any) -> str:
    """A function as its users call it."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    return f"{module}.{name}" if module and name else shown(function)
