"""The pool: which item a dying worker was at is known, what a function raises is raised, and nobody waits for ever."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from oracle.core.errors import DomainError, OracleError
from oracle.running.pool import Died, Pool, by_name, spread

LARGE = 2**20  # bytes; more than a pipe holds


def square(number: int) -> int:
    return number * number


def dies_at(number: int, at: int) -> int:
    if number == at:
        os._exit(7)
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


def test_where_a_worker_dies_the_other_names_are_finished_before_that_is_told() -> None:
    found = by_name(lasts, ["one", "bad", "two"], "!", workers=1)
    assert [next(found), next(found)] == [("one", "one!"), ("two", "two!")]
    with pytest.raises(OracleError, match=r"at bad \(exit code 7\); the others are finished"):
        next(found)


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
    with pytest.raises(OracleError, match="exit code 7"):
        list(spread(dies_at, [(1, 1)], workers=2))


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
