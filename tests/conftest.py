"""For every test: hypothesis reproducible (derandomised) and without a clock, and a Ctrl-C that is heard.

Each tier has a profile of its name, which differs in the number of examples only.
"""

import signal

import pytest
from hypothesis import settings

EXAMPLES = {"quick": 15, "tests": 30, "thorough": 100}
for tier, count in EXAMPLES.items():
    settings.register_profile(tier, deadline=None, derandomize=True, max_examples=count, print_blob=True)
settings.load_profile("tests")

# A suite that a shell runs in the background is started with Ctrl-C ignored, and so are the commands that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

COLLECTED = pytest.StashKey[list[pytest.Function]]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Function]) -> None:
    """Remember every test, before those of other tiers are left out: tests/meta/test_tiers.py looks at them."""
    config.stash[COLLECTED] = list(items)
