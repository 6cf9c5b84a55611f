"""What trains the models of a plan, as one short text: a shard of other code is not continued, nor trained by a worker.

It is the closure of the training of a shard (`oracle.running.fingerprint`), with the algorithm and the pair's builder
that the plan names, and no others. Of a foreign function the closure follows what its file, and the files beside it,
import of ours; a foreign command may call anything of ours. Their own sources, and a pair's file, have their sha256 in
the plan.
"""

from __future__ import annotations

from pathlib import Path

from empirical.audits.audit_plan import AuditPlan
from oracle.running.fingerprint import fingerprint, installed
from oracle.running.isolated import source_of

_TRAINING = "empirical.audits.shard_training"
_TARGETS, _PAIRS = "empirical.audits.targets", "empirical.pairs.pair"


def code_of(plan: AuditPlan) -> str:
    """The fingerprint of what trains the models of a plan."""
    name, kind = str(plan.target.get("name", "")), plan.target.get("kind")
    algorithms = [name] if kind == "algorithm" else []
    builders = [str(plan.pair["name"])] if plan.pair.get("kind") == "built" else []
    roots: list[str | Path] = [f"{_TARGETS}:make_target", f"{_PAIRS}:make_pair", _TRAINING]
    if kind == "literal":
        roots.append(name.partition(":")[0])
    elif kind == "function":
        roots.append(_module_of(str(plan.target["path"])))
    elif kind == "command":
        roots += installed().below("")
    return fingerprint(*roots, names={
        f"{_TARGETS}:Algorithm": algorithms, f"{_PAIRS}:Algorithm": algorithms, f"{_PAIRS}:Builder": builders,
    })


def _module_of(path: str) -> str | Path:
    """Where a foreign function stands: in a module of ours, or in a file."""
    place = path.rpartition(":")[0]
    return place if place in installed().files else source_of(path)
