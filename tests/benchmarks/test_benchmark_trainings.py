"""The benchmark of trainings around its measurements: its contestants, its goals, and the section it writes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.benchmarks import check_missed, missed
from tests.project.consoles import ROOT

sys.path.append(str(ROOT / "benchmarks"))
import trainings
from accountants_tables import rewrite
from trainings_tables import MARKS, goals, markdown, plain

OTHERS = ("reference", "torch loop", "Opacus")


def measured(**changes: dict[str, Any]) -> dict[str, Any]:
    """A made-up result that meets every goal by little, but for the cells of the first training that are changed."""
    tasks = {}
    for task, ratio in (("noisy-cgd", 1001.0), ("dp-sgd-network", 101.0)):
        slow = {"per_second": 10.0, "apart": 0.9e-4, "threads": 1}
        speed = {
            f"{precision} {threads}": {
                "twin": {**slow, "per_second": 10.0 * ratio}, **{name: dict(slow) for name in others}
            }
            for precision in trainings.PRECISIONS for threads, others in (("one", OTHERS), ("all", OTHERS[-1:]))
        }
        few = {"megabytes": 10.0, "own": 1.0, "peak": 300.0}
        memory = {"10000": few, "100000": {"megabytes": 25.9, "own": 10.0, "peak": 325.0}}
        once = {row: {"per_second": 10.0 * ratio} for row in speed}
        tasks[task] = {"speed": speed, "few": once, "memory": memory}
    for name, change in changes.items():
        task = tasks["noisy-cgd"]
        places = {"many": (task["memory"], "100000"), "few": (task["few"], "float32 one")}
        cells, place = places.get(name, (task["speed"]["float32 one"], name))
        cells[place] = change
    return {"tasks": tasks}


def test_goals_met() -> None:
    assert missed(goals(measured())) == []
    assert len(goals(measured())) == 11


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"twin": {"per_second": 9999.0, "apart": 0.0}}, ["1,000 times"]),
        ({"twin": {"failure": "timeout"}}, ["1,000 times", "the same models"]),
        ({"Opacus": {"failure": "ModuleNotFoundError"}}, ["1,000 times", "1,000 models in all", "the same models"]),
        ({"few": {"per_second": 9999.0}}, ["1,000 models in all"]),
        ({"few": {"failure": "timeout"}}, ["1,000 models in all"]),
        ({"reference": {"per_second": 1.0, "apart": 1.1e-4}}, ["the same models"]),
        ({"reference": {"per_second": 1.0, "apart": float("nan")}}, ["the same models"]),
        ({"many": {"megabytes": 26.1}}, ["memory"]),
        ({"many": {"failure": "timeout"}}, ["memory"]),
    ],
)
def test_goals_missed(changes: dict[str, dict[str, Any]], words: list[str]) -> None:
    check_missed(goals(measured(**changes)), words)


def test_a_rate_is_a_goal_where_nobody_else_takes_part() -> None:
    for rate, expected in ((100.5, []), (99.5, ["dp-glmtron: 100 models a second"])):
        speed = {f"float64 {threads}": {"twin": {"per_second": rate, "apart": 0.0}} for threads in ("one", "all")}
        found = missed(goals({"tasks": {"dp-glmtron": {"speed": speed, "few": {}, "memory": {}}}}))
        assert [goal[: len(words)] for goal, words in zip(found, expected, strict=True)] == expected


def test_the_table_has_a_row_a_training_and_threads_and_the_goals() -> None:
    result = measured(Opacus={"failure": "ModuleNotFoundError"})
    result["goals"] = goals(result)
    lines = markdown(result).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    assert len(rows) == 2 + 2 * 4
    assert rows[3].endswith("| float64 | 1 | 10,010 | 10,010, 1,001 | – | – | 10, 1,001 |")
    assert rows[4].endswith("| float32 | 1 | 10,010 | 10,010, – | 10, 1,001 | 10, 1,001 | ModuleNotFoundError |")
    assert sum(line.startswith("- Goal met") for line in lines) == 8
    assert sum(line.startswith("- Goal **missed**") for line in lines) == 3
    assert plain(result).count("MISSED") == 3
    assert plain(result).count("models once: ") == 8


def test_only_the_section_between_the_marks_is_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{MARKS[0]}\n{MARKS[1]}\nafter\n", encoding="utf-8")
    for table in ("old\n", "new \\1\n"):
        rewrite(page, table, MARKS)
    assert page.read_text(encoding="utf-8") == f"before\n{MARKS[0]}\nnew \\1\n{MARKS[1]}\nafter\n"


def test_the_page_has_the_marks() -> None:
    page = (ROOT / "docs" / "trainings.md").read_text(encoding="utf-8")
    assert [page.count(mark) for mark in MARKS] == [1, 1]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings of a few steps and models."""
    few = {task: {**config, **trainings.SHORT.get(task, {})} for task, config in trainings.TASKS.items()}
    shapes = {"phased-sgd": (64, 5), "dp-glmtron": (20, 6), "dp-taglmtron": (20, 6), "dp-sgd-multilayer/784": (100, 30)}
    monkeypatch.setattr(trainings, "TASKS", few)
    monkeypatch.setattr(trainings, "SHAPES", {**trainings.SHAPES, **shapes})
    monkeypatch.setattr(trainings, "MODELS", dict.fromkeys(few, 40))


LOOPS = [task for task in trainings.TASKS if "torch loop" not in trainings.OUT.get(task, ())]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("task", "name"),
    [(t, n) for t in trainings.TASKS for n in ("twin", "reference", "torch loop") if n not in trainings.OUT.get(t, ())],
)
def test_our_own_measurements_run_and_train_the_same_model(task: str, name: str) -> None:
    told = trainings.work(["speed", task, name, "float64", "all"], quick=True)
    assert told["per_second"] > 0
    assert told["apart"] <= 1e-9
    assert told["models"] == (4 if name == "twin" else 1)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("task", LOOPS)
@pytest.mark.parametrize("name", ["twin", "torch loop"])
def test_the_precision_is_the_one_asked_for(task: str, name: str) -> None:
    told = trainings.work(["speed", task, name, "float32", "one"], quick=True)
    assert 1e-9 < told["apart"] <= 1e-4
    final = trainings.CONTESTANTS[name](task, trainings.parsed(task), "float32")(1)[0]
    assert final.dtype == torch.float32


@pytest.mark.usefixtures("small")
def test_beside_a_twin_on_all_cores_stands_the_better_of_two_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {"float64": {"one": 5.0, "all": 4.0}, "float32": {"one": 5.0, "all": 6.0}}

    def told(words: list[str], quick: bool) -> dict[str, Any]:
        return {"per_second": rates[words[3]][words[4]], "apart": 0.0}

    monkeypatch.setattr(trainings, "ask", told)
    speed = trainings.measure_all("dp-sgd-network", quick=True)
    assert [speed[row]["Opacus"]["per_second"] for row in speed] == [5.0, 5.0, 5.0, 6.0]
    assert [speed[row]["twin"]["per_second"] for row in speed] == [5.0, 4.0, 5.0, 6.0]
    assert set(trainings.measure_all("dp-glmtron", quick=True)) == {"float64 one", "float64 all"}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("task", LOOPS)
def test_a_contestant_that_trains_another_model_is_told(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clipped to twice the norm: so clipping is active, and its strength is seen."""

    def lenient(task: str, config: Any, precision: str) -> trainings.Trainer:
        changed = trainings.parsed(task, **{trainings.NOISE[task]: "1e-12", "clip_norm": 1})
        return trainings.torch_loop(task, changed)

    monkeypatch.setitem(trainings.CONTESTANTS, "torch loop", lenient)
    assert trainings.work(["speed", task, "torch loop", "float64", "all"], quick=True)["apart"] > 1e-3


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("task", LOOPS)
def test_the_noise_of_a_loop_is_that_of_the_algorithm(task: str) -> None:
    """Steps so short that only the noises add up: at least 6,000 normals, whose size is off by 6 % with p < 1e-9."""
    torch.manual_seed(0)
    given = {"learning_rate": "1e-6", "clip_norm": "1e-9"}
    config = trainings.parsed(task, **given)
    quiet = trainings.parsed(task, **given, **{trainings.NOISE[task]: "1e-12"})
    still = np.asarray(trainings.torch_loop(task, quiet)(1)[0])
    train, models = trainings.torch_loop(task, config), 600 if task == "noisy-cgd" else 40
    moved = np.stack([np.asarray(train(1)[0]) - still for _ in range(models)])
    steps = 5 * config.epochs if task == "noisy-cgd" else config.steps
    assert moved.size >= 6000
    assert np.sqrt((moved**2).mean()) == pytest.approx(1e-6 * 0.1 * np.sqrt(steps), rel=0.06)


@pytest.mark.usefixtures("small")
def test_a_peer_that_is_not_there_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opacus", None)
    told = trainings.work(["speed", "noisy-cgd", "Opacus", "float64", "all"], quick=True)
    assert told == {"failure": "ModuleNotFoundError"}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("task", trainings.LEAST)
def test_few_models_are_trained_once(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, in the precision asked for, and nothing before."""
    trained: list[torch.Tensor] = []

    def twin(*words: Any) -> trainings.Trainer:
        train = told(*words)
        return lambda models: trained.append(train(models))

    told = trainings.twin
    monkeypatch.setattr(trainings, "twin", twin)
    monkeypatch.setattr(trainings, "FEW", 7)
    cell = trainings.work(["few", task, "float32", "all"], quick=False)
    assert cell["models"] == 7
    assert cell["per_second"] > 0
    assert [(len(models), models.dtype) for models in trained] == [(7, torch.float32)]


@pytest.mark.usefixtures("small")
def test_the_best_of_a_few_processes_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = iter([{"per_second": 3.0}, {"failure": "timeout"}, {"per_second": 2.0}])
    monkeypatch.setattr(trainings, "ask", lambda words, quick: next(rates))
    assert trainings.measure_few_models("noisy-cgd", ["float32 one"], False) == {"float32 one": {"per_second": 3.0}}


@pytest.mark.usefixtures("small")
def test_memory_is_measured() -> None:
    told = trainings.work(["memory", "noisy-cgd", "100"], quick=True)
    assert told["own"] == pytest.approx(100 * 10 * 8 / 1e6)
    assert told["megabytes"] <= told["peak"]
