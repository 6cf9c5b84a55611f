"""Findings in a store, so that a long check resumes after it was stopped, and nothing stale is ever read back.

A finding counts only for the claim, the effort and the code that it was made with: the closure of the module in which
the claim stands, with the data that is read there (`oracle.running.fingerprint`).
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oracle.core.plain import plain
from oracle.running.fingerprint import fingerprint, installed
from oracle.running.store import Store
from theorems.claim import Claim, claims, expanded
from theorems.verdict import Evidence, Finding, ProofStep, Scope, Verdict

FINDING = "finding"


@functools.cache
def places() -> dict[str, tuple[str, ...]]:
    """The modules in which each claim stands, by its id."""
    found: dict[str, set[str]] = {name: set() for name in claims()}
    for module in installed().below("theorems"):
        for value in vars(sys.modules[module]).values() if module in sys.modules else ():
            for item in expanded(value) if isinstance(value, Claim) else ():
                if item.id in found:
                    found[item.id].add(module)
    return {name: tuple(sorted(modules)) for name, modules in found.items()}


def code_of(name: str) -> str:
    """The fingerprint of all that a claim's finding depends on."""
    return fingerprint(*places()[name])


def from_json(data: Mapping[str, Any]) -> Finding:
    """The finding that `plain` wrote."""
    scope = data["scope"]
    return Finding(
        Verdict(data["verdict"]), Evidence(data["evidence"]), data["summary"], data["witness"],
        None if scope is None else Scope(**scope), tuple(ProofStep(**step) for step in data["steps"]),
    )


class Findings(Store):
    """A file of findings, for one effort; others in it are left alone and not read."""

    def __init__(self, path: Path, *, full: bool) -> None:
        self.effort = "full" if full else "everyday"
        super().__init__(path)

    def finding(self, name: str) -> Finding | None:
        """What was found of a claim by the present code, if anything was."""
        data = self.read(FINDING, self._key(name), code_of(name))
        return None if data is None else from_json(json.loads(data))

    def keep(self, name: str, finding: Finding) -> None:
        """Keep a finding, at once."""
        self.write(FINDING, self._key(name), code_of(name), json.dumps(plain(finding)).encode())

    def _key(self, name: str) -> str:
        return f"{name} {self.effort}"
