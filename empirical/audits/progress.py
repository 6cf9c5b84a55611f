"""The progress of a campaign on a terminal: a bar with models a second, the bound so far and the time left."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from rich.progress import BarColumn, TaskProgressColumn, TextColumn

from empirical.audits.audit_plan import AuditPlan
from empirical.audits.campaign import Progress as Tell
from empirical.audits.campaign import Status
from oracle.running.console import progress, telling_what_is_kept


def described(status: Status) -> str:
    """The words beside the bar."""
    parts = [status.phase]
    if status.rate is not None:
        parts.append(f"{status.rate:,.0f} models/s")
    if status.bound is not None:
        parts.append(f"epsilon >= {status.bound:.4f} so far")
    if status.left is not None:
        minutes, seconds = divmod(round(status.left), 60)
        parts.append(f"{minutes}:{seconds:02d} left")
    return ", ".join(parts)


@contextlib.contextmanager
def progress_bar(plan: AuditPlan, store: Path | None = None) -> Iterator[Tell]:
    """What `run` tells its progress to; an interruption says what is kept and how to go on."""
    done = 0
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with (
        telling_what_is_kept(store, lambda: f"stopped after {done} of {2 * plan.budget} models"),
        progress(*columns) as bar,
    ):
        task = bar.add_task("starting", total=2 * plan.budget)

        def tell(status: Status) -> None:
            nonlocal done
            done = status.done
            bar.update(task, completed=status.done, description=described(status))

        yield tell
