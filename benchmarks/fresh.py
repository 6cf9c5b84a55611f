"""A measurement in a process of its own: nothing that was loaded or warmed up before counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def asked(script: str, words: list[str], *, quick: bool, limit: float, threads: bool = False) -> dict[str, Any]:
    """What a script answers with `--worker` and these words, or why not; on one thread unless it may have all."""
    print(" ".join(words), end=" ", file=sys.stderr, flush=True)
    command = [sys.executable, "-W", "ignore", script, *(["--quick"] if quick else []), "--worker", *words]
    environment = {**os.environ, **({} if threads else dict.fromkeys(THREADS, "1"))}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=limit)
        answer = json.loads(done.stdout) if done.returncode == 0 else {"failure": f"exit {done.returncode}"}
    except subprocess.TimeoutExpired:
        answer = {"failure": "timeout"}
    print(answer.get("failure", "ok"), file=sys.stderr, flush=True)
    return dict(answer)
