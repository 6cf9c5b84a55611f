"""Findings on disk, so that a long check resumes after it was stopped, and nothing stale is ever read back.

One JSON line a finding, written as soon as it is there. A line counts only for the claim, the effort and the
fingerprint that it was made with: the sources that could change it, and the versions of what they compute with.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from oracle.core.errors import DomainError, OracleError
from theorems.claim import Evidence, Finding, Scope, Verdict

FORMAT = {"format": "dp-oracle-findings/1"}
_ROOMS = ("oracle", "empirical", "theorems")
_LIBRARIES = ("numpy", "scipy", "mpmath", "sympy", "torch", "python-flint", "hypothesis")


@functools.cache
def fingerprint() -> str:
    """A digest of every file below the three rooms that a check may call, and of the libraries' versions."""
    digest = hashlib.sha256(platform.python_version().encode())
    for name in _LIBRARIES:
        digest.update(f"{name} {metadata.version(name)}\n".encode())
    for room in _ROOMS:
        root = Path(importlib.import_module(room).__path__[0])
        for path in sorted(path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            content = path.read_bytes()
            digest.update(f"{room}/{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def as_json(finding: Finding) -> dict[str, Any]:
    """A finding as plain data."""
    scope = finding.scope
    return {
        "verdict": finding.verdict.value, "evidence": finding.evidence.value, "summary": finding.summary,
        "witness": dict(finding.witness),
        "scope": None if scope is None else {
            "kind": scope.kind, "tried": scope.tried, "met": scope.met, "region": dict(scope.region),
        },
    }


def from_json(data: Mapping[str, Any]) -> Finding:
    """The finding that `as_json` wrote."""
    scope = data["scope"]
    return Finding(
        Verdict(data["verdict"]), Evidence(data["evidence"]), data["summary"], data["witness"],
        None if scope is None else Scope(**scope),
    )


class Store:
    """A file of findings for one effort and the present sources; other lines in it are left alone and not read."""

    def __init__(self, path: Path, *, full: bool) -> None:
        self.path = path
        self.key = {"effort": "full" if full else "everyday", "fingerprint": fingerprint()}
        self.findings: dict[str, Finding] = {}
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            if not text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(FORMAT) + "\n", encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise OracleError(f"store = {path} cannot be used: {error}") from None
        self._read(text)

    def _read(self, text: str) -> None:
        lines = [_parsed(line) for line in text.splitlines()]
        if lines and lines[0] != FORMAT:
            raise DomainError(f"store = {self.path} is no file of findings; expected a new file, or one written before")
        for line in lines[1:]:
            if line is not None and {key: line.get(key) for key in self.key} == self.key:
                self.findings[line["id"]] = from_json(line["finding"])
        if text and not text.endswith("\n"):
            self._append("\n")  # the process was killed in the middle of a line, which counts for nothing

    def add(self, name: str, finding: Finding) -> None:
        """Keep a finding, at once."""
        self.findings[name] = finding
        self._append(json.dumps({"id": name, **self.key, "finding": as_json(finding)}) + "\n")

    def _append(self, text: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)


def _parsed(line: str) -> dict[str, Any] | None:
    """A line's object; None for one that was cut off, or that somebody else wrote."""
    try:
        data = json.loads(line)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
