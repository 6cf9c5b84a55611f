"""Judging other implementations against the certified bounds: vectors, verdicts, targets, search and adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from empirical.gate.suite import conformance as conformance


def __getattr__(name: str) -> Any:
    if name == "conformance":  # needs pytest, which only the tests of a library have
        from empirical.gate.suite import conformance

        return conformance
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
