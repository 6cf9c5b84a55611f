"""The pool: which item a dying worker was at is known, what a function raises is raised, and nobody waits for ever."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oracle.core.errors import DomainError, OracleError, WorkLostError
from oracle.running.pool import TRIES, Died, Pool, by_name, spread
from tests.waiting import runs, wait_until

LARGE = 2**20  # bytes; more than a pipe holds


def sleeps_in_a_library(file: str) -> None:
    """Sleep without letting go of Python's lock, as numerical libraries may for minutes."""
    Path(file).write_text(str(os.getpid()))
    ctypes.PyDLL(None).sleep(600)


def square(number: int) -> int:
    return number * number


def dies_at(number: int, at: int) -> int:
    if number == at:
        os._exit(7)
    return number


def dies_until(folder: str, number: int, often: int) -> int:
    """The worker dies at it so many times, and then no more; each time leaves a file."""
    tried = len(list(Path(folder).glob(f"{number}-*")))
    Path(folder, f"{number}-{tried}").touch()
    if tried < often:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def lasts(name: str, ending: str) -> str:
    if name == "bad":
        os._exit(7)
    return name + ending


def echo(data: bytes) -> bytes:
    return data[::-1]


def fails(number: int) -> int:
    raise DomainError(f"number = {number} is outside its domain")


class Odd(Exception):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(one)


def fails_oddly() -> None:
    raise Odd("what", "else")


def returns_what_cannot_be_sent() -> object:
    return lambda: 1


def threads() -> str | None:
    return os.environ.get("OPENBLAS_NUM_THREADS")


def test_results_come_in_order_and_one_worker_is_this_process() -> None:
    items = [(number,) for number in range(20)]
    expected = [number * number for number in range(20)]
    assert list(spread(square, items, workers=2)) == expected
    assert list(spread(square, items, workers=1)) == expected
    assert list(spread(os.getpid, [()], workers=1)) == [os.getpid()]
    assert list(spread(os.getpid, [()], workers=2)) != [os.getpid()]


@pytest.mark.parametrize("ahead", [1, 3])
def test_the_item_of_a_worker_that_dies_is_told_and_no_other_is_lost(ahead: int) -> None:
    with Pool(2) as pool:
        found = dict(pool.run(dies_at, [(number, 4) for number in range(9)], ahead=ahead))
        assert found.pop((4, 4)) == Died(7)
        assert found == {(number, 4): number for number in range(9) if number != 4}
        assert dict(pool.run(square, [(3,)])) == {(3,): 9}  # it works on


@pytest.mark.parametrize("often", [1, TRIES - 1, TRIES])
def test_an_item_whose_worker_dies_is_tried_again_so_many_times(often: int, tmp_path: Path) -> None:
    items = [(str(tmp_path), 0, 0), (str(tmp_path), 1, often), (str(tmp_path), 2, 0)]
    with Pool(1) as pool:
        found = {item[1]: result for item, result in pool.run(dies_until, items)}
    assert found == {0: 0, 1: 1 if often < TRIES else Died(-signal.SIGKILL), 2: 2}
    assert {number: len(list(tmp_path.glob(f"{number}-*"))) for number in range(3)} == {
        0: 1, 1: min(often + 1, TRIES), 2: 1,
    }


def test_where_a_worker_dies_the_other_names_are_finished_before_that_is_told() -> None:
    found = by_name(lasts, ["one", "bad", "two"], "!", workers=1)
    assert [next(found), next(found)] == [("one", "one!"), ("two", "two!")]
    with pytest.raises(WorkLostError, match=r"bad: a worker process died 3 times at it.* 7 .*; the others are finish"):
        next(found)


@pytest.mark.full
def test_large_items_and_results_do_not_block_each_other() -> None:
    items = [(bytes([number]) * LARGE,) for number in range(6)]
    with Pool(2) as pool:
        found = dict(pool.run(echo, items, ahead=3))
    assert found == {item: item[0] for item in items}


def test_what_is_raised_in_a_worker_is_raised_here() -> None:
    with pytest.raises(DomainError, match="number = 3 is outside"):
        list(spread(fails, [(3,)], workers=2))
    with pytest.raises(OracleError, match="Odd: what"):
        list(spread(fails_oddly, [()], workers=2))
    with pytest.raises(Exception, match="pickle"):
        list(spread(returns_what_cannot_be_sent, [()], workers=2))
    assert list(spread(dies_at, [(1, 1), (2, 1)], workers=2)) == [Died(7), 2]


def test_a_worker_has_one_thread_unless_more_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert list(spread(threads, [()], workers=2)) == ["1"]
    assert "OPENBLAS_NUM_THREADS" not in os.environ
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert list(spread(threads, [()], workers=2)) == ["3"]


def test_items_are_taken_only_when_there_is_room() -> None:
    taken = []

    def items() -> object:
        for number in range(100):
            taken.append(number)
            yield (number,)

    with Pool(2) as pool:
        results = pool.run(square, items())  # type: ignore[arg-type]
        next(results)
        assert len(taken) <= 3


def test_no_worker_hears_ctrl_c_not_even_the_first() -> None:
    # in a process of its own, where nothing of multiprocessing runs yet
    asks = (
        "import signal\n"
        "from oracle.running.pool import spread\n"
        "masks = spread(signal.pthread_sigmask, [(signal.SIG_BLOCK, ())] * 2, workers=2)\n"
        "print([signal.SIGINT in mask for mask in masks])\n"
    )
    said = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[True, True]", said


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with the one that started it")
def test_a_worker_that_holds_the_lock_ends_with_whoever_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    asks = (
        "from oracle.running.pool import Pool\nfrom tests.oracle.running.test_pool import sleeps_in_a_library\n"
        f"with Pool(1) as pool:\n    list(pool.run(sleeps_in_a_library, [({str(file)!r},)]))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", asks], text=True)
    wait_until(lambda: file.exists() and bool(file.read_text()), process)
    process.kill()
    process.wait()
    wait_until(lambda: not runs(int(file.read_text())))
