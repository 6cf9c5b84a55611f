"""Foreign trainings for the tests of campaigns: they note every model they train, may be held, and may kill."""

from __future__ import annotations

from pathlib import Path

from empirical.audits.audit_plan import AuditPlan, Shard
from empirical.audits.targets import make_target

NOISY_CGD = {
    "loss": "linear", "learning_rate": "0.5", "regularisation": "0.1", "clip_norm": "1", "noise_on_mean": "0.2",
    "batch_size": 3, "epochs": 2, "feature_norm": "1",
}

SOURCE = '''
import os, signal, time
from pathlib import Path
import numpy as np

HERE = Path(__file__).parent


def starter():
    """The process that asked for this one: its parent, or on Linux the parent of its keeper."""
    keeper = Path(f"/proc/{os.getppid()}/stat")
    return int(keeper.read_text().rpartition(")")[2].split()[1]) if keeper.exists() else os.getppid()


def train(dataset, seeds):
    """Noisy sums. The first worker of the process named in `kill` that has trained enough is killed, once."""
    with (HERE / "pids").open("a") as noted:
        noted.write(f"{os.getpid()} {starter()}\\n")
    hold, done = HERE / "hold", HERE / "shards"
    while len(seeds) == 20 and hold.exists() and done.exists() and done.stat().st_size >= int(hold.read_text()):
        time.sleep(0.01)
    order = HERE / "kill"
    if len(seeds) > 10 and order.exists() and str(starter()) != order.read_text():
        order.unlink()
        os.kill(starter(), signal.SIGKILL)
    with (HERE / "log").open("a") as log:
        log.write("".join(f"{seed}\\n" for seed in seeds))
    with done.open("a") as shards:
        shards.write("x" * (len(seeds) == 20))
    noise = np.stack([np.random.default_rng(int(seed)).normal(size=2) for seed in seeds])
    return dataset[0].sum(axis=0) + noise
'''


def noisy_sums(folder: Path) -> Path:
    """A file with a batched training; where a file `hold` says a number, it trains so many shards and then waits."""
    file = folder / "noisy_sums.py"
    file.write_text(SOURCE)
    return file


def processes(folder: Path) -> dict[int, int]:
    """The processes that have trained, each with the one that started it."""
    noted = folder / "pids"
    lines = noted.read_text().splitlines() if noted.exists() else []
    return {int(pid): int(parent) for pid, parent in map(str.split, lines)}


def plan_of(file: Path, **changes: object) -> AuditPlan:
    """A plan whose twenty shards have twenty models each: two on either side select, eight judge."""
    target = make_target({"kind": "function", "path": f"{file}:train", "batched": True}).spec()
    pair = {
        "kind": "built", "name": "extremes", "records": 4, "dimension": 2, "feature_norm": 1, "label_low": 0,
        "label_high": 1, "neighbours": "replace",
    }
    return AuditPlan.from_json({
        "target": target, "pair": pair, "claimed": "20", "delta": "1e-3", "budget": 200, "shard": 20, **changes,
    })


def seeds_of(plan: AuditPlan, shard: Shard) -> set[int]:
    """The seeds of a shard's models."""
    return set((shard.tape(plan.seed).words("seed", 0, 1)[:, 0] >> 1).tolist())


def trained(folder: Path) -> list[int]:
    """The seeds of all models trained since the last look."""
    log = folder / "log"
    found = [int(line) for line in log.read_text().split()] if log.exists() else []
    log.unlink(missing_ok=True)
    return found
