"""Bugs in the handling of targets and pairs: files that are executed, checks left out, seeds that are shared."""

from __future__ import annotations

from functools import partial
from typing import Any

from empirical.mutants.changes import code
from oracle.core.tape import Tape
from tests.empirical import test_audit_command as commands
from tests.empirical import test_bad_targets as bad
from tests.empirical import test_targets as targets
from tests.empirical.pairs import test_pair_files as pairs
from tests.planted import seen

ROOM = "empirical.audits"
UNPICKLING = code("machinery", {
    "numpy:load": lambda honest: lambda file, **_: honest(file, allow_pickle=True),
    "torch:load": lambda honest: lambda file, **_: honest(file, weights_only=False),
})


def left_out(place: str) -> Any:
    """A check that does nothing."""
    return code("machinery", {f"{ROOM}.{place}": lambda honest: lambda *_: None})


MUTANTS = (
    seen(
        f"{ROOM}.foreign.releases", "a release that is unpickled", UNPICKLING, *(
            partial(targets.test_a_malicious_file_is_not_executed, name=name, kind="the reader itself")
            for name in ("model.npy", "model.pt")
        ),
    ),
    seen(
        "empirical.pairs.pair_files", "a pair that is unpickled", UNPICKLING,
        pairs.test_a_malicious_file_is_not_executed,
    ),
    seen(
        f"{ROOM}.trial", "repetition not checked", left_out("trial:_check_repeats"),
        partial(bad.test_a_bad_function_is_invalid, "process"),
    ),
    seen(
        f"{ROOM}.audit", "variation not checked", left_out("audit:check_variation"), *(
            partial(bad.test_a_bad_function_is_invalid, name) for name in ("constant", "ignores its seed")
        ),
    ),
    seen(
        f"{ROOM}.trial", "calls not compared", left_out("trial:_check_calls"), *(
            partial(bad.test_a_bad_batched_function_is_invalid, name)
            for name in ("a generator of its own", "one noise for all")
        ),
    ),
    seen(
        # a target that failed, told as one that gives nothing away
        f"{ROOM}.foreign.foreign", "an error that becomes epsilon = 0", code("machinery", {
            f"{ROOM}.foreign.foreign:Foreign.releases": lambda honest: lambda self, features, labels, tape: tape.normal(
                "nothing", 0, 1
            ),
        }), partial(bad.test_a_bad_function_is_invalid, "raises"),
    ),
    seen(
        "empirical.pairs.pair_files", "any two data sets taken for neighbours",
        code("machinery", {"empirical.pairs.pair_files:differing": lambda honest: lambda *_: 0}),
        partial(
            pairs.test_what_are_no_neighbours_is_refused, arrays={"X1": pairs.X + 1, "y1": pairs.Y}, neighbours=None,
            word="exactly one",
        ),
    ),
    seen(
        f"{ROOM}.foreign.foreign", "changed code taken for the planned one",
        code("machinery", {f"{ROOM}.foreign.foreign:_unchanged": lambda honest: lambda name, planned, now: now}),
        partial(targets.test_a_spec_makes_an_equal_target_and_notices_other_code, kind="function"),
    ),
    seen(
        "oracle.core.tape", "one seed for all shards", code("machinery", {
            "oracle.core.tape:Tape.words": lambda honest: lambda tape, *what: honest(
                Tape(tape.seed, tape.models), *what
            ),
        }), targets.test_threads_take_turns,
    ),
    seen(
        f"{ROOM}.plan_files", "a search that keeps the first pair",
        code("machinery", {f"{ROOM}.plan_files:worst_pair": lambda honest: lambda plan, specs, carry_out: specs[0]}),
        commands.test_the_worst_pair_is_found,
    ),
)
