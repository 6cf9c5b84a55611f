"""Follow CONTRIBUTING.md word for word: write its files into a copy of the four rooms and run its commands."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.project.consoles import ROOT, blocks, check_console, in_a_process, prompt, run
from tests.tiers import later

ROOMS = ("oracle", "empirical", "theorems", "reports")
CONSOLE = blocks("CONTRIBUTING.md", "console")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    for room in ROOMS:
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    for text in blocks("CONTRIBUTING.md", "python"):
        path = re.match(r"# (\S+)\n", text)
        assert path, "a python block opens with the path of its file"
        target = folder / path.group(1)
        assert not target.exists(), f"{path.group(1)} exists already"
        target.write_text(text.split("\n", 1)[1], encoding="utf-8")
    for text in blocks("CONTRIBUTING.md", "toml"):
        with (folder / text.split("\n")[0].removeprefix("# ")).open("a", encoding="utf-8") as data:
            data.write(text)
    return folder


@pytest.mark.full
@pytest.mark.parametrize("block", later(CONSOLE, lambda text: "mutants" in prompt(text), "thorough", prompt))
def test_recipe_prints_what_it_says(copy: Path, block: str) -> None:
    check_console(in_a_process(copy), block)


def test_there_is_a_recipe_for_each_kind() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for kind in ("a bound", "an algorithm", "a claim", "a study", "a mutant"):
        assert f"## Add {kind}" in text
    assert len(CONSOLE) == 5


@pytest.mark.full
def test_the_added_algorithm_agrees_with_its_sibling(copy: Path) -> None:
    code = (
        "import numpy as np; from oracle import algorithm; from oracle.core.tape import Tape\n"
        "item = algorithm('noisy-mean'); config = item.parse({'clip_norm': '0.5', 'sigma': '0.1'})\n"
        "x = np.random.default_rng(0).normal(size=(7, 3)); tape = Tape(1, 4)\n"
        "both = [item.reference(x, np.zeros(7), config, tape.one(m)) for m in range(4)]\n"
        "assert np.allclose(both, item.train_batched(x, np.zeros(7), config, tape), rtol=1e-12, atol=0)\n"
    )
    done = run(copy, "-c", code)
    assert done.returncode == 0, done.stderr
