"""A finder for spawned workers that misbehaves on command: it must stand in a module of its own to be found there."""

from __future__ import annotations

import os
import time

from theorems.run import find_registered
from theorems.tools import effort
from theorems.verdict import Finding, Scope

RAISES, DIES, SLOW = "cs208/gaussian-mechanism", "nonconvex-nn/lem-1", "cs208/gaussian-mechanism-repaired"


def find(name: str) -> Finding:
    if name == RAISES:
        raise ValueError("a planted [error]")
    if name == DIES:
        os._exit(7)
    if name == SLOW:
        time.sleep(0.5)  # so that it comes back after the others
    finding = find_registered(name)
    return Finding(
        finding.verdict, finding.evidence, f"{finding.summary}, pid {os.getpid()}", finding.witness,
        Scope("points", effort.points(1), 1) if finding.scope is None else finding.scope,
    )
