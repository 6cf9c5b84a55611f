"""The pytest plugin of dp-oracle, and the short name for its users: one test for every certified case of a bound.

    import dp_oracle
    from mylib import epsilon
    test_epsilon = dp_oracle.conformance("gaussian.epsilon", epsilon, slack=1.05, xfail="dp-oracle-xfail.toml")

or, where the names or the order of the arguments differ,

    @pytest.mark.dp_oracle(bound="gaussian.epsilon", slack=1.05)
    def test_epsilon(sigma, sensitivity, delta):
        return mylib.epsilon(noise=sigma, delta=delta, clip=sensitivity)

pytest loads this module in every run in whose environment dp-oracle is installed, so that it imports nothing but the
standard library; `empirical.gate.suite` does the work, once a test asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from empirical.gate.suite import conformance as conformance

MARKER = "dp_oracle"
_BUDGET = "--dp-oracle-budget"


@dataclass(frozen=True)
class Session:
    """What a run of pytest says to all its tests: where it is rooted, and how many cases a bound it wants."""

    root: Path
    budget: int | None = None


_sessions: list[Session] = []  # the last is the running one: a test of a plugin runs pytest inside pytest


def session() -> Session:
    """The running session; without the plugin, one in the current folder that has no budget."""
    return _sessions[-1] if _sessions else Session(Path.cwd())


def __getattr__(name: str) -> Any:
    if name == "conformance":
        from empirical.gate.suite import conformance

        return conformance
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the one option."""
    parser.getgroup("dp-oracle").addoption(
        _BUDGET, metavar="N", type=_count,
        help="ask at most N cases a bound, of all kinds; beyond the vectors there are, the rest is searched",
    )


def _count(text: str) -> int:
    """A whole number from 1 on; argparse turns the ValueError into a usage error."""
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


_count.__name__ = "budget (an integer >= 1)"  # what argparse says it expected


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and remember the session for `conformance`, which is called while modules are imported."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(bound, slack=None, xfail=None, unsupported=None, rounding=None): one test a certified case of a "
        "bound; what the function returns, or the ValueError or TypeError that it raises, is judged",
    )
    _sessions.append(Session(config.rootpath, config.getoption(_BUDGET)))


def pytest_unconfigure() -> None:
    """Forget the session."""
    _sessions.pop()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test a case of a marked function."""
    if metafunc.definition.get_closest_marker(MARKER) is not None:
        from empirical.gate.suite import generate

        generate(metafunc)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a marked test that got no case (a method of unittest.TestCase): it would pass without being judged."""
    if item.get_closest_marker(MARKER) is not None:
        from empirical.gate.suite import subject

        subject(item)


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Judge what a marked function returns."""
    if pyfuncitem.get_closest_marker(MARKER) is None:
        return None
    from empirical.gate.suite import call

    call(pyfuncitem)
    return True
