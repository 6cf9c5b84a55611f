"""For every test: hypothesis reproducible (derandomised) and without a clock, and a Ctrl-C that is heard.

Each tier has a profile of its name, which differs in the number of examples only.
"""

import signal
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

EXAMPLES = {"quick": 12, "tests": 15, "thorough": 100}
for tier, count in EXAMPLES.items():
    settings.register_profile(tier, deadline=None, derandomize=True, max_examples=count, print_blob=True)
settings.load_profile("tests")

# A suite that a shell runs in the background is started with Ctrl-C ignored, and so are the commands that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

COLLECTED = pytest.StashKey[list[pytest.Function]]()
FIRST = (
    "meta/test_planted.py", "reports/test_report.py", "oracle/core/fast/test_fast.py", "theorems/test_variants.py",
    "project/test_own_packages.py", "gate/test_gate_command.py", "oracle/bounds/test_composition.py",
    "empirical/test_campaign.py", "gate/test_gate_targets.py", "empirical/test_audit_command.py",
    "theorems/test_run.py", "empirical/test_bad_targets.py", "oracle/running/test_fingerprint.py",
    "empirical/test_coverage.py", "empirical/test_resume.py", "project/test_recipes.py",
    "project/test_gate_integration.py", "oracle/bounds/laplace/test_laplace_many.py", "project/test_light.py",
    "faults/test_hostile.py", "faults/test_lost_work.py", "faults/test_killed.py",
)
"""Files that take long, the longest first (noxfile.py hands out whole files), so that short ones fill the gaps."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Function]) -> None:
    """Remember every test, before those of other tiers are left out: tests/meta/test_tiers.py looks at them."""
    config.stash[COLLECTED] = list(items)
    sizes = Counter(item.path for item in items)
    places = {Path(__file__).parent / name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: (places.get(item.path, len(FIRST)), -sizes[item.path]))
