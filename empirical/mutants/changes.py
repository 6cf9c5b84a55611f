"""How bugs are planted: other parameters, another configuration, a faulty tape, a wrong formula, a patched function.

A change takes the honest thing that a mutant names and gives the wrong one in its place: a bound for a bound, for an
algorithm a training `train(features, labels, values, tape)`, for an accountant or an estimator the function itself.
Changed values are given by name, each as a value or as a function of all the right ones.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from flint import arb

from empirical.mutants.mutant import Change
from empirical.mutants.tapes import Fault
from oracle.core.algorithm import Algorithm, Values
from oracle.core.errors import DomainError
from oracle.core.registry import Bound, Certify, bound, closed_form
from oracle.core.tape import Tape

CODE = ("twin", "reference", "both twins", "accountant", "engine", "machinery")


def changed(values: Values, changes: Mapping[str, Any]) -> Values:
    """Other values than were given, unchecked, as a bug would be."""
    return Values(**{**vars(values), **{key: to(values) if callable(to) else to for key, to in changes.items()}})


def certify(wrong: Callable[[Bound], Certify]) -> Change:
    """What a bound certifies, made of the honest bound."""
    return Change("certify", lambda honest: nullcontext(replace(honest, certify=wrong(honest), soon=None)))


def certified(wrong: Certify) -> Change:
    """What a bound certifies: another function of values and width."""
    return certify(lambda honest: wrong)


def formula(wrong: Callable[[Values], arb]) -> Change:
    """A bound's formula, in balls."""
    return certified(closed_form(wrong))


def parameters(**changes: Any) -> Change:
    """A bound certified at other parameters than were given."""
    return certify(lambda honest: lambda values, width: honest.certify(changed(values, changes), width))


def another(name: str, /, **changes: Any) -> Change:
    """Another bound in the place of this one, at this one's parameters and others."""
    return certified(lambda values, width: bound(name).certify(changed(values, changes), width))


def fast_path(wrong: Callable[[Bound], Callable[[Any, Values], Any]]) -> Change:
    """A bound's fast path, made of the honest bound."""
    return Change("fast path", lambda honest: nullcontext(replace(honest, vectorised=wrong(honest))))


def configuration(**changes: Any) -> Change:
    """The batched twin trained with another configuration than was asked for."""

    def plant(honest: Algorithm) -> Any:
        return nullcontext(
            lambda features, labels, values, tape: honest.train_batched(
                features, labels, changed(values, changes), tape
            )
        )

    return Change("configuration", plant)


def times(**factors: Any) -> Change:
    """The batched twin trained with some of its configuration multiplied: scaled noise, a step that is hardly off."""
    return configuration(**{
        name: lambda values, name=name, factor=factor: getattr(values, name) * factor
        for name, factor in factors.items()
    })


def tape(fault: Fault) -> Change:
    """The batched twin on a faulty tape."""

    def plant(honest: Algorithm) -> Any:
        return nullcontext(
            lambda features, labels, values, given: honest.train_batched(features, labels, values, fault(given))
        )

    return Change("tape", plant)


def twin(wrong: Callable[[Any, Any, Values, Tape], Any]) -> Change:
    """Another training in the place of the batched twin."""
    return Change("twin", lambda honest: nullcontext(wrong))


def declaration(**fields: Any) -> Change:
    """What a bound or an algorithm says of itself."""
    return Change("declaration", lambda honest: nullcontext(replace(honest, **fields)))


def code(what: str, places: Mapping[str, Callable[[Any], Any]]) -> Change:
    """Functions by place, "module:name" or "module:Class.name", each made of the honest one, while the bug stands."""

    @contextmanager
    def plant(honest: Any) -> Iterator[Any]:
        undone = []
        try:
            for place, wrong in places.items():
                module, _, path = place.partition(":")
                *owners, name = path.split(".")
                owner = functools.reduce(getattr, owners, importlib.import_module(module))
                before = vars(owner)[name]
                undone.append((owner, name, before))
                setattr(owner, name, wrong(before))
            yield honest
        finally:
            for owner, name, before in reversed(undone):
                setattr(owner, name, before)

    if what not in CODE:
        raise DomainError(f"what = {what} is outside its domain: one of {', '.join(CODE)}")
    return Change(what, plant)


def accountant(wrong: Callable[..., Any]) -> Change:
    """A function that somebody takes for a bound, as the gate judges it."""
    return Change("accountant", lambda honest: nullcontext(wrong))


def auditor(wrong: Any) -> Change:
    """Another function in the place of an estimator."""
    return Change("auditor", lambda honest: nullcontext(wrong))
