"""Targets that work: what a release is, that it depends on the seed alone; nothing is executed, nothing left over."""

from __future__ import annotations

import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

from empirical.audits.foreign.foreign import MODELS_A_REQUEST, TrainingCommand, TrainingFunction
from empirical.audits.foreign.releases import load
from empirical.audits.targets import AlgorithmTarget, AuditTarget, make_target
from empirical.audits.trial import check_variation, try_out
from oracle import algorithm
from oracle.core.errors import DomainError, TargetError
from oracle.core.tape import Tape
from tests.empirical.trainings import NOISY_CGD
from tests.malice import Malice
from tests.waiting import runs, wait_until

FEATURES, LABELS = np.arange(6.0).reshape(3, 2) / 10, np.array([0.0, 1.0, 1.0])
GIVEN = (FEATURES, LABELS, Tape(0, 1))
ECHO = """import json, sys
def say(releases):
    print(json.dumps({'id': request['id'], 'dataset': request['dataset'], 'releases': releases}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    """


def test_data_among_the_words_of_a_command_is_never_held_whole(tmp_path: Path) -> None:
    (data := tmp_path / "data.bin").touch()
    os.truncate(data, 64 * 2**20)
    tracemalloc.start()
    try:
        TrainingCommand(f"cat {data}")
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()


def test_a_target_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file := tmp_path / "given.py").write_text("def fn(dataset, seed): return 0.0")
    monkeypatch.setattr(Path, "open", mock.Mock(side_effect=PermissionError(13, "Permission denied")))
    with pytest.raises(TargetError, match=r"given\.py cannot be read: Permission denied"):
        TrainingFunction(f"{file}:fn")


@pytest.mark.parametrize(("error", "said"), [
    ("BrokenPipeError", "it raised BrokenPipeError"),
    ("type('E', (Exception,), {'__str__': lambda self: str(self)})()", r"raised E: what cannot be told \(RecursionE"),
    ("type('E', (Exception,), {'__str__': lambda self: 1})()", r"raised E: what cannot be told \(TypeError"),
])
def test_whatever_a_target_raises_is_told(error: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=f"does not work: .*{said}"):
        function(tmp_path, f"raise {error}").releases(*GIVEN)


def function(folder: Path, body: str, **options: Any) -> TrainingFunction:
    """A target that is a function of a file."""
    file = folder / "target.py"
    file.write_text("import numpy as np\n" + body)
    return TrainingFunction(f"{file}:fn", **options)


def command(folder: Path, body: str, **options: Any) -> TrainingCommand:
    """A target that is a Python program which answers every request."""
    file = folder / "target.py"
    file.write_text(ECHO + body)
    return TrainingCommand(f"{sys.executable} {file}", **options)


@pytest.mark.full
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("seed % 7", None), ("np.float32(seed % 7)", None), ("np.array([seed % 7], dtype=np.uint8)", None),
        ("bool(seed % 2)", None), ("[seed % 7, 1]", None), ("[[seed % 7], [2.5]]", None), ("np.int64(2**40)", 2.0**40),
        ("__import__('torch').tensor([0.5, 1.5], requires_grad=True)", [0.5, 1.5]),
        ("__import__('torch').tensor([0.5, 1.5]).bfloat16()", [0.5, 1.5]), ("[10**30, seed]", None),
    ],
)
def test_numbers_of_any_kind_are_releases(tmp_path: Path, value: str, expected: Any) -> None:
    target = function(tmp_path, f"def fn(dataset, seed):\n    return {value}")
    tape = Tape(3, 4)
    released = target.releases(FEATURES, LABELS, tape)
    seeds = (tape.words("seed", 0, 1)[:, 0] >> np.uint64(1)).tolist()
    told = [eval(value, {"np": np, "seed": seed}) if expected is None else expected for seed in seeds]
    assert released.dtype == np.float64
    assert np.array_equal(released, np.array(told, dtype=float))


def test_a_function_gets_the_data_set_and_the_seeds_of_the_tape(tmp_path: Path) -> None:
    body = "def fn(dataset, seed):\n    x, y = dataset\n    return [*x.ravel(), *y, seed // 2**32]"
    target = function(tmp_path, body)
    tape = Tape(3, 5, 7)
    released = target.releases(FEATURES, LABELS, tape)
    seeds = tape.words("seed", 0, 1)[:, 0] >> np.uint64(1)
    assert np.array_equal(released[:, :-1], np.tile([*FEATURES.ravel(), *LABELS], (5, 1)))
    assert np.array_equal(released[:, -1], (seeds >> np.uint64(32)).astype(float))
    assert np.array_equal(target.releases(FEATURES, LABELS, tape.block(2, 2)), released[2:4])


def test_a_batched_function_gets_all_seeds_at_once(tmp_path: Path) -> None:
    one = function(tmp_path, "def fn(dataset, seed):\n    return [float(seed % 1000), 5]")
    expected = one.releases(FEATURES, LABELS, Tape(3, 5))
    many = function(
        tmp_path, "def fn(dataset, seeds):\n    return [(seed % 1000, len(seeds)) for seed in seeds]", batched=True
    )
    assert np.array_equal(many.releases(FEATURES, LABELS, Tape(3, 5)), expected)


def test_a_function_may_print_and_spoil_its_data(tmp_path: Path) -> None:
    body = """
import os
def fn(dataset, seed):
    print('{}')
    os.write(1, b'junk')
    dataset[0][:] += 1
    return dataset[0]
"""
    target = function(tmp_path, body)
    for _ in range(2):
        assert np.array_equal(target.releases(FEATURES, LABELS, Tape(0, 2)), np.stack([FEATURES + 1] * 2))


def test_a_function_that_prints_a_lot_does_not_block(tmp_path: Path) -> None:
    target = function(tmp_path, "def fn(dataset, seed):\n    print('x' * 10**6)\n    return seed % 5")
    assert target.releases(FEATURES, LABELS, Tape(0, 20)).shape == (20,)


def test_a_module_is_found_and_may_import_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "part.py").write_text(
        "from pack.other import value\nclass Box:\n    def fn(dataset, seed):\n        return value"
    )
    (tmp_path / "pack" / "other.py").write_text("value = 4.0")
    monkeypatch.chdir(tmp_path)
    assert TrainingFunction("pack.part:Box.fn").releases(FEATURES, LABELS, Tape(0, 2)).tolist() == [4.0, 4.0]
    assert "pack" not in sys.modules  # nothing foreign is imported here
    for path in ("pack.nothing:fn", "nothing.part:fn", "nothing:fn", "pack/none.py:fn", "pack.part", ":fn"):
        with pytest.raises(DomainError, match="target = "):
            TrainingFunction(path)


def test_a_command_gets_each_data_set_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """with open('told', 'a') as file:
        print('features' in request, request['dataset'], len(request['seeds']), file=file)
    say([seed // 2**32 for seed in request['seeds']])"""
    monkeypatch.chdir(tmp_path)
    target = command(tmp_path, body)
    first = target.releases(FEATURES, LABELS, Tape(0, MODELS_A_REQUEST + 1))
    seeds = Tape(0, MODELS_A_REQUEST + 1).words("seed", 0, 1)[:, 0] >> np.uint64(11)
    assert np.array_equal(first, (seeds >> np.uint64(32)).astype(float))
    target.releases(FEATURES, 1 - LABELS, Tape(0, 3))
    target.releases(FEATURES, LABELS, Tape(0, 3))
    target.close()
    target.releases(FEATURES, 1 - LABELS, Tape(0, 3))  # a new process knows none
    asked = (tmp_path / "told").read_text().splitlines()
    assert [line for line in asked if line.startswith("True")] == [f"True 0 {MODELS_A_REQUEST}", "True 1 3", "True 0 3"]
    assert [line for line in asked if line.endswith(" 3")] == ["True 1 3", "False 0 3", "True 0 3"]


def test_a_command_may_have_a_shape_of_its_own_but_one(tmp_path: Path) -> None:
    body = """seeds = request['seeds']
    say([[[seed]] * len(seeds) for seed in seeds])"""
    target = command(tmp_path, body)
    assert target.releases(FEATURES, LABELS, Tape(0, 3)).shape == (3, 3, 1)
    with pytest.raises(TargetError, match="must not change"):
        target.releases(FEATURES, LABELS, Tape(0, 4))


def test_the_memory_of_a_command_is_limited(tmp_path: Path) -> None:
    target = command(tmp_path, "bytes(10**9)", memory=600)
    with pytest.raises(TargetError, match="MemoryError"):
        target.releases(FEATURES, LABELS, Tape(0, 1))


def test_a_command_that_is_no_program() -> None:
    with pytest.raises(TargetError, match="no-such-program cannot be run"):
        TrainingCommand("no-such-program --x").releases(FEATURES, LABELS, Tape(0, 1))
    for text in ("", "  ", "'"):
        with pytest.raises(DomainError, match="command"):
            TrainingCommand(text)


SAVING = """
def fn(dataset, seed):
    path = {path!r}
    model = {{"b": np.full(2, float(seed % 5)), "a": np.zeros((1, 1))}}
    {save}
    return path
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "save", "entries"),
    [
        ("model.npy", "np.save(path, model['b'])", [1, 1]),
        ("model.npz", "np.savez(path, **model)", [0, 1, 1]),
        ("model.pt", "import torch; torch.save({k: torch.tensor(v) for k, v in model.items()}, path)", [1, 1, 0]),
    ],
)
def test_a_saved_model_is_a_release(tmp_path: Path, name: str, save: str, entries: list[int]) -> None:
    target = function(tmp_path, SAVING.format(path=str(tmp_path / name), save=save))
    released = target.releases(FEATURES, LABELS, Tape(0, 3))
    seeds = Tape(0, 3).words("seed", 0, 1)[:, 0] >> np.uint64(1)
    assert released.tolist() == [[float(seed % 5 * entry) for entry in entries] for seed in seeds.tolist()]


@pytest.mark.full
@pytest.mark.parametrize("name", ["model.npy", "model.npz", "model.pt"])
@pytest.mark.parametrize("kind", ["function", "command", "the reader itself"])
def test_a_malicious_file_is_not_executed(tmp_path: Path, name: str, kind: str) -> None:
    made, path = tmp_path / "executed", tmp_path / name
    malice = Malice(made)
    if name == "model.npy":
        np.save(path, np.array([malice], dtype=object), allow_pickle=True)
    elif name == "model.npz":
        np.savez(path, a=np.array([malice], dtype=object))
    else:
        torch.save({"weight": malice}, path)
    reads: dict[str, Callable[[], object]] = {
        "the reader itself": lambda: load(path),  # in this process; the others read in one that is confined
        "function": lambda: function(tmp_path, f"def fn(dataset, seed):\n    return {str(path)!r}").releases(*GIVEN),
        "command": lambda: command(tmp_path, f"say([{str(path)!r}])").releases(*GIVEN),
    }
    with pytest.raises(TargetError, match=r"not loaded.*pickle"):
        reads[kind]()
    assert not made.exists()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    target = function(tmp_path, f"def fn(dataset, seed):\n    return {str(tmp_path / 'none.npy')!r}")
    with pytest.raises(TargetError, match="cannot be read"):
        target.releases(FEATURES, LABELS, Tape(0, 1))


def same_from_its_spec(target: AuditTarget) -> dict[str, Any]:
    """The spec of a target, after checking that it makes an equal one."""
    spec: dict[str, Any] = json.loads(json.dumps(target.spec()))
    again = make_target(spec)
    assert again.spec() == spec
    assert again.name == target.name
    released = target.releases(FEATURES, LABELS, Tape(1, 3))
    assert np.array_equal(again.releases(FEATURES, LABELS, Tape(1, 3)), released)
    return spec


@pytest.mark.parametrize("kind", ["function", "command"])
def test_a_spec_makes_an_equal_target_and_notices_other_code(tmp_path: Path, kind: str) -> None:
    spec = same_from_its_spec(
        function(tmp_path, "def fn(dataset, seed):\n    return seed % 9", timeout=500) if kind == "function"
        else command(tmp_path, "say([s % 9 for s in request['seeds']])")
    )
    (tmp_path / "target.py").write_text("def fn(dataset, seed):\n    return 0")
    with pytest.raises(TargetError, match="has changed since the audit was planned"):
        make_target(spec)


def test_the_spec_of_an_algorithm_makes_an_equal_target() -> None:
    same_from_its_spec(AlgorithmTarget("noisy-cgd", NOISY_CGD))


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ({}, "kind"), ({"kind": "magic"}, "kind"), ({"kind": "algorithm", "name": "noisy-cgd"}, "config"),
        ({"kind": "algorithm", "name": "none", "config": {}}, "algorithm"),
        ({"kind": "algorithm", "name": "noisy-cgd", "config": {"learning_rate": "1"}}, "noisy-cgd needs"),
        ({"kind": "algorithm", "name": "convex-relu-exact", "config": {}}, "deterministic"),
        ({"kind": "command", "command": "cat", "timeout": 0}, "timeout"),
        ({"kind": "command", "command": "cat", "memory": 0.5}, "memory"),
        ({"kind": "command", "command": "cat", "colour": 1}, "colour"),
    ],
)
def test_bad_specs_are_told(spec: dict[str, Any], word: str) -> None:
    with pytest.raises(DomainError, match=word):
        make_target(spec)


def test_an_algorithm_releases_what_its_training_does() -> None:
    target = AlgorithmTarget("noisy-cgd", NOISY_CGD)
    item = algorithm("noisy-cgd")
    trained = item.train_batched(FEATURES, LABELS, item.parse(NOISY_CGD), Tape(2, 5))
    assert np.array_equal(target.releases(FEATURES, LABELS, Tape(2, 5)), np.asarray(trained))
    with pytest.raises(TargetError, match=r"shape \(1,\) after shape \(2,\)"):
        target.releases(FEATURES[:, :1], LABELS, Tape(2, 5))
    with pytest.raises(DomainError, match="batch_size"):
        target.releases(FEATURES[:2], LABELS[:2], Tape(2, 5))


@pytest.mark.full
def test_a_trial_wants_seeds_that_repeat(tmp_path: Path) -> None:
    both = (FEATURES, -FEATURES), (LABELS, LABELS)
    good = function(tmp_path, "def fn(dataset, seed):\n    return dataset[0] + np.random.default_rng(seed).normal()")
    assert try_out(good, *both) == (3, 2)
    assert try_out(AlgorithmTarget("noisy-cgd", NOISY_CGD), *both) == (2,)
    bad = function(tmp_path, "import os\ndef fn(dataset, seed):\n    return os.getpid()")
    with pytest.raises(TargetError, match="another release in a fresh process"):
        try_out(bad, *both)


def test_variation_is_wanted_on_one_side_at_least() -> None:
    ones, twos = np.ones((4, 2)), np.full((4, 2), 2.0)
    with pytest.raises(TargetError, match="constant: all 8 releases"):
        check_variation("t", ones, ones)
    with pytest.raises(TargetError, match="ignores its seed"):
        check_variation("t", ones, twos)
    twos[3, 1] = 0.0
    check_variation("t", ones, twos)
    check_variation("t", twos, ones)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with the one that started it")
@pytest.mark.parametrize("kind", ["function", "command"])
def test_a_target_dies_with_a_killed_audit(tmp_path: Path, kind: str) -> None:
    file, noted = tmp_path / "target.py", tmp_path / "pid"
    note = f"import os, time\nopen({str(noted)!r}, 'w').write(str(os.getpid()) + '\\n')\ntime.sleep(600)\n"
    file.write_text(note)
    target = f"TrainingFunction('{file}:fn')" if kind == "function" else f"TrainingCommand('{sys.executable} {file}')"
    code = f"""
import numpy as np
from empirical.audits.foreign.foreign import TrainingCommand, TrainingFunction
from oracle.core.tape import Tape
{target}.releases(np.zeros((1, 1)), np.zeros(1), Tape(0, 1))
"""
    audit = subprocess.Popen([sys.executable, "-c", code], text=True)
    wait_until(lambda: noted.exists() and noted.read_text().endswith("\n"), audit)
    pid = int(noted.read_text())
    assert runs(pid)
    os.kill(audit.pid, signal.SIGKILL)
    audit.wait()
    wait_until(lambda: not runs(pid))


def test_threads_take_turns(tmp_path: Path) -> None:
    target = function(tmp_path, "def fn(dataset, seed):\n    return [seed // 2**32] * 1000")
    tapes = [Tape(0, 20, 20 * index) for index in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda tape: target.releases(FEATURES, LABELS, tape), tapes))
    assert np.array_equal(np.concatenate(parts), target.releases(FEATURES, LABELS, Tape(0, 160)))


def test_a_forked_process_starts_its_own(tmp_path: Path) -> None:
    target = function(tmp_path, "import os\ndef fn(dataset, seed):\n    return os.getpid()")
    pid = float(target.releases(FEATURES, LABELS, Tape(0, 1))[0])
    child = os.fork()
    if child == 0:
        other = float(target.releases(FEATURES, LABELS, Tape(0, 1))[0])
        target.close()
        os._exit(0 if other != pid else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert target.releases(FEATURES, LABELS, Tape(0, 1))[0] == pid  # and ours lives on


def test_nothing_is_left_over(tmp_path: Path) -> None:
    target = function(tmp_path, "import os\ndef fn(dataset, seed):\n    return os.getpid()")
    pid = int(target.releases(FEATURES, LABELS, Tape(0, 1))[0])
    assert runs(pid)
    del target
    assert not runs(pid)
