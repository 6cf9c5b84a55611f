"""What serves a function under test in its own process (`oracle.running.isolated_worker`), one JSON line a call.

The first line says `{"ready": true}` or `{"error": why}`. A request is `{"id": n, "arguments": {...}}`, an answer
`{"id": n}` with `lower` and `upper` (exact, as hexadecimal ratios; or inf, -inf, nan), `refused` or `crash`. After an
exception that may leave the process in a bad state the answer says `"over": true`, and the process ends.
"""

from __future__ import annotations

import json
import os
from fractions import Fraction
from typing import Any, BinaryIO

from empirical.gate.gate_targets import call
from empirical.gate.verdicts import Answer, Breakdown, Refusal
from oracle.running.isolated_worker import load_function, told


def serve(spec: dict[str, Any], requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more, or the function has broken the process."""
    process = os.getpid()

    def answer(message: dict[str, Any]) -> None:
        if os.getpid() != process:
            os._exit(0)  # the function forked, and its child came back, too: one answer is enough
        answers.write(json.dumps(message).encode() + b"\n")
        answers.flush()

    try:
        function = load_function(spec["path"])
    except BaseException as error:  # a module may raise anything while it is imported
        answer({"error": told(error)})
        return
    answer({"ready": True})
    while line := requests.readline():
        request = json.loads(line)
        try:
            told_answer = encoded(call(function, request["arguments"]))
        except BaseException as error:  # a function may raise anything, SystemExit and KeyboardInterrupt included
            answer({"id": request["id"], "crash": told(error), "over": True})
            return
        answer({"id": request["id"], **told_answer})


def encoded(answer: Answer) -> dict[str, str]:
    """An answer as a JSON object that keeps every bit."""
    if isinstance(answer, Refusal):
        return {"refused": answer.why}
    if isinstance(answer, Breakdown):
        return {"crash": answer.why}
    return {"lower": _text(answer.lower), "upper": _text(answer.upper)}


def _text(value: Fraction | float) -> str:
    # Hexadecimal: Python refuses to write a very long integer in decimals.
    return f"{value.numerator:x}/{value.denominator:x}" if isinstance(value, Fraction) else repr(value)
