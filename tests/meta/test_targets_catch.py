"""Errors planted in the handling of targets and pairs; the tests of targets must see each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tests.empirical.test_audit_command as commands
import tests.empirical.test_bad_targets as bad
import tests.empirical.test_pair_files as pairs
import tests.empirical.test_targets as targets
from empirical.audits.foreign import Foreign
from oracle.core.tape import Tape

SEEN = (AssertionError, pytest.fail.Exception)


@pytest.mark.parametrize("name", ["model.npy", "model.pt"])
def test_unpickling_a_release_is_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, load = np.load, torch.load
    monkeypatch.setattr(np, "load", lambda file, **_: read(file, allow_pickle=True))
    monkeypatch.setattr(torch, "load", lambda file, **_: load(file, weights_only=False))
    with pytest.raises(SEEN):
        targets.test_a_malicious_file_is_not_executed(tmp_path, name, "command")


def test_unpickling_a_pair_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = np.load
    monkeypatch.setattr(np, "load", lambda file, **_: read(file, allow_pickle=True))
    with pytest.raises(SEEN):
        pairs.test_a_malicious_file_is_not_executed(tmp_path)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("empirical.audits.trial._check_repeats", "clock"),
        ("empirical.audits.audit.check_variation", "constant"),
        ("empirical.audits.audit.check_variation", "ignores its seed"),
    ],
)
def test_a_check_that_is_left_out_is_seen(
    place: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, lambda *_: None)
    with pytest.raises(SEEN):
        bad.test_a_bad_function_is_invalid(name, tmp_path, capsys)


@pytest.mark.parametrize("name", ["a generator of its own", "one noise for all"])
def test_calls_that_are_not_compared_are_seen(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("empirical.audits.trial._check_calls", lambda *_: None)
    with pytest.raises(SEEN):
        bad.test_a_bad_batched_function_is_invalid(name, tmp_path, capsys)


def test_an_error_that_becomes_epsilon_zero_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(self: Foreign, features: Any, labels: Any, tape: Tape) -> Any:
        return tape.normal("nothing", 0, 1)  # a target that failed, told as one that gives nothing away

    monkeypatch.setattr(Foreign, "releases", silent)
    with pytest.raises(SEEN):
        bad.test_a_bad_function_is_invalid("raises", tmp_path, capsys)


def test_any_two_data_sets_taken_for_neighbours_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("empirical.pairs.pair_files.differing", lambda *_: 0)
    with pytest.raises(SEEN):
        pairs.test_what_are_no_neighbours_is_refused(tmp_path, {"X1": pairs.X + 1, "y1": pairs.Y}, None, "exactly one")


def test_changed_code_taken_for_the_planned_one_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("empirical.audits.foreign._unchanged", lambda name, planned, now: now)
    with pytest.raises(SEEN):
        targets.test_a_spec_makes_an_equal_target_and_notices_other_code(tmp_path, "function")


def test_one_seed_for_all_shards_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = Tape.words
    monkeypatch.setattr(Tape, "words", lambda tape, *what: words(Tape(tape.seed, tape.models), *what))
    with pytest.raises(SEEN):
        targets.test_threads_take_turns(tmp_path)


def test_a_search_that_keeps_the_first_pair_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("empirical.audits.plan_files.worst_pair", lambda plan, specs, carry_out: specs[0])
    with pytest.raises(SEEN):
        commands.test_the_worst_pair_is_found(tmp_path, capsys)
