"""`dp-oracle rates` as it is used: the record, resuming, processes, bad input; and what holds of every study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from empirical.studies import record, runs
from empirical.studies.record import RecordedStudy
from empirical.studies.runs import carry_out
from empirical.studies.study import studies, study
from oracle.core.errors import OracleError
from oracle.running.places import ThisProcess
from tests.commands import command

CHEAP = "exponential-mechanism"


def test_every_study_is_on_record_as_it_is_now() -> None:
    for name, item in studies().items():
        assert record.known(item) is not None, f"{name}: run it with --record"


def test_refutations_and_open_questions_say_why() -> None:
    for name, item in studies().items():
        entry = record.known(item)
        assert entry is not None
        if entry.verdict in ("SLOWER", "BOUND_VIOLATED", "PRE_ASYMPTOTIC", "UNRESOLVED"):
            assert entry.reason, name
        if entry.verdict == "PRE_ASYMPTOTIC":
            assert item.needs or "exact curve has the exponent" in entry.reason, name


def test_premises_hold_where_they_are_cheap() -> None:
    study(CHEAP).check_premises()


def test_a_study_is_run_and_compared_with_the_record(tmp_path: Path) -> None:
    done = command("rates", CHEAP, "--json", str(tmp_path / "o.json"), "--figures", str(tmp_path / "figures"))
    assert done.returncode == 0, done.stdout
    assert "CONFIRMED" in done.stdout
    assert "1 of 1 outcomes as on record" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    (found,) = json.loads((tmp_path / "o.json").read_text())
    assert found["verdict"] == "CONFIRMED"
    assert found["hash"] == study(CHEAP).hash
    assert "<svg" in (tmp_path / "figures" / f"{CHEAP}.svg").read_text()


def test_studies_are_listed() -> None:
    done = command("rates")
    assert done.returncode == 0
    assert CHEAP in done.stdout


@pytest.mark.parametrize(("words", "told"), [
    (("nonsense",), "nonsense"), (("--full",), "full"), ((CHEAP, "--workers", "0"), "workers = 0"),
    ((CHEAP, "--pilot", "--record"), "record"),
])
def test_bad_usage_is_told(words: tuple[str, ...], told: str) -> None:
    done = command("rates", *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_verdict_that_differs_from_the_record_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entry = record.known(study(CHEAP))
    assert entry is not None
    other = RecordedStudy(**{**vars(entry), "verdict": "SLOWER", "before": ""})
    monkeypatch.setattr(record, "recorded", lambda path=tmp_path: (other,))
    done = command("rates", CHEAP)
    assert done.returncode == 1
    assert "on record: SLOWER" in done.stdout


def test_a_pilot_uses_other_seeds_and_is_not_judged() -> None:
    done = command("rates", CHEAP, "--pilot")
    assert done.returncode == 0
    assert "nothing is judged or recorded" in done.stdout
    real, pilot = (carry_out({CHEAP: study(CHEAP)}, pilot=one)[CHEAP].levels for one in (False, True))
    assert [level.mean for level in real] != [level.mean for level in pilot]


def test_a_run_that_was_cut_short_goes_on_with_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {CHEAP: study(CHEAP)}
    plain = carry_out(chosen)
    whole = ThisProcess.run

    def cut(self: ThisProcess, function: Any, items: Any) -> Any:
        yield from list(whole(self, function, list(items)[:5]))
        raise KeyboardInterrupt

    monkeypatch.setattr(ThisProcess, "run", cut)
    with pytest.raises(KeyboardInterrupt):
        carry_out(chosen, store=tmp_path / "s")
    asked: list[int] = []

    def counted(self: ThisProcess, function: Any, items: Any) -> Any:
        asked.append(len(list(items)))
        return whole(self, function, items)

    monkeypatch.setattr(ThisProcess, "run", counted)
    assert carry_out(chosen, store=tmp_path / "s") == plain
    assert asked == [len(list(runs.portions(study(CHEAP)))) - 5]


@pytest.mark.full
def test_processes_give_the_same_bits() -> None:
    chosen = {CHEAP: study(CHEAP)}
    assert carry_out(chosen, workers=2) == carry_out(chosen)


@pytest.mark.thorough
def test_a_dask_cluster_gives_the_same_bits() -> None:
    distributed = pytest.importorskip("distributed")
    chosen = {CHEAP: study(CHEAP)}
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        assert carry_out(chosen, cluster=cluster.scheduler_address) == carry_out(chosen)


def test_a_worker_with_other_code_is_refused() -> None:
    portion = next(runs.portions(study(CHEAP)))
    told = runs.work(runs.Portion(**{**vars(portion), "code": "other"}))
    assert isinstance(told, str)
    assert "other code" in told


def test_the_record_keeps_what_was_and_notices_edits(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    chosen = {name: study(name) for name in (CHEAP, "exponential-mechanism-candidates")}
    outcomes = carry_out(chosen)
    assert record.append(outcomes, path) == 2
    assert record.append(outcomes, path) == 0  # nothing new
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0].replace("CONFIRMED", "SLOWER"), lines[1]]) + "\n")
    record.recorded.cache_clear()
    with pytest.raises(OracleError, match="edited"):
        record.recorded(path)
    path.write_text(lines[1] + "\n")
    record.recorded.cache_clear()
    with pytest.raises(OracleError, match="edited"):
        record.recorded(path)


def test_a_claim_shows_its_studies() -> None:
    done = command("check", "relu-approx/lem-D.2")
    assert done.returncode == 0
    assert "study     relu-condition-number: PRE_ASYMPTOTIC" in done.stdout
