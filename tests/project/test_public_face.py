"""The public face: `import dp_oracle` is light, and each public name is documented by an example that runs."""

from __future__ import annotations

import ast
import doctest
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import dp_oracle
from oracle import DomainError, bound
from oracle.engines.composed_pairs import Laplace, PoissonGaussian
from tests.commands import output
from tests.project.consoles import ROOT, run

NAMES = [
    "OracleError", "algorithm", "algorithms", "audit", "bound", "bounds", "check", "claims", "compose", "conformance",
    "plan",
]
EXAMPLE = str(ROOT / "examples" / "noisy-gd.toml")


def test_the_public_names_are_these() -> None:
    assert sorted(dp_oracle.__all__) == sorted(["__version__", *NAMES])
    listed = run(ROOT, "-c", "import dp_oracle; print(*dir(dp_oracle))").stdout.split()
    assert set(dp_oracle.__all__) <= set(listed)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name: str) -> None:
    item = getattr(dp_oracle, name)
    (test,) = doctest.DocTestFinder(recurse=False).find(item, name, globs={"__name__": "__main__"})
    assert test.examples, f"{name} has no example"
    assert test.examples[0].source == "import dp_oracle\n"
    outcome = doctest.DocTestRunner(verbose=False).run(test)
    assert outcome.failed == 0
    assert any(example.want for example in test.examples)


def test_a_wrong_example_is_seen() -> None:
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test, out=lambda _: None).failed == 1


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="'dp_oracle' has no attribute 'bond'"):
        dp_oracle.bond  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(dp_oracle, "Plan")


def test_the_version_is_the_installed_one() -> None:
    assert dp_oracle.__version__ == metadata.version("dp-oracle")


def test_importing_it_loads_the_standard_library_alone() -> None:
    code = "import sys; before = {*sys.modules}; import dp_oracle; dir(dp_oracle); print(*({*sys.modules} - before))"
    loaded = {name.partition(".")[0] for name in run(ROOT, "-c", code).stdout.split()}
    assert "dp_oracle" in loaded
    assert loaded - {"dp_oracle"} <= sys.stdlib_module_names


def test_a_bound_loads_neither_torch_nor_the_other_rooms() -> None:
    code = "import sys, dp_oracle; dp_oracle.bound('gaussian.epsilon'); print(*sys.modules)"
    loaded = set(run(ROOT, "-c", code).stdout.split())
    assert "oracle" in loaded
    assert not loaded & {"torch", "empirical", "theorems", "reports", "pytest"}


def test_type_checkers_see_every_public_name(tmp_path: Path) -> None:
    tree = ast.parse(Path(dp_oracle.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    seen = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    seen |= {ast.unparse(node.target) for node in block.body if isinstance(node, ast.AnnAssign)}
    assert seen == set(dp_oracle.__all__)
    homes = {
        alias.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert homes == dp_oracle._HOMES, "what a type checker sees is not what is loaded"


def test_the_command_is_also_a_module() -> None:
    done = run(ROOT, "-m", "dp_oracle", "bound", "gaussian.epsilon", "sigma=1", "sensitivity=1", "delta=1e-5")
    assert (done.returncode, done.stderr) == (0, "")
    assert "4.377" in done.stdout


@pytest.mark.parametrize(("parts", "told"), [
    ("laplace", "parts = laplace is outside its domain: a list of mechanisms"),
    ({"mechanism": "laplace"}, "a list of mechanisms"),
    (7, "parts = 7 is outside its domain"),
    ([7], r"parts\[0\] = 7 is outside its domain: a mapping"),
    ([("laplace", 3)], r"parts\[0\] = .* is outside its domain"),
    ([(Laplace(1), 1), {}], r"parts\[1\]: mechanism = None is outside its domain: one of poisson-gaussian, laplace"),
    ([{"mechanism": "gauss", "sigma": 1}], "mechanism = gauss is outside its domain: one of poisson-gaussian"),
    ([{"mechanism": "laplace"}], r"parts\[0\]: laplace needs scale; it takes scale, sensitivity and steps"),
    ([{"mechanism": "laplace", "scale": 1, "sigma": 1}], "laplace has no sigma; it takes scale"),
    ([{"mechanism": "laplace", "scale": -1}], "scale = -1"),
    ([{"mechanism": "laplace", "scale": 1, "steps": 1.5}], "steps = 1.5"),
    ([(Laplace(1), "many")], "steps = many"),
])
def test_bad_parts_of_a_composition_are_told(parts: Any, told: str) -> None:
    with pytest.raises(DomainError, match=told):
        dp_oracle.compose(parts)


def test_a_composition_of_mappings_is_that_of_its_mechanisms() -> None:
    mapped = [{"mechanism": "poisson-gaussian", "sigma": 2, "steps": 3}, {"mechanism": "laplace", "scale": 5}]
    paired = [(PoissonGaussian(2), 3), (Laplace(5), 1)]
    for relation in ("add_remove", "replace"):
        one, other = (dp_oracle.compose(parts, neighbours=relation).delta(1) for parts in (mapped, paired))
        assert one == other
    with pytest.raises(DomainError, match="neighbours = swap"):
        dp_oracle.compose(mapped, neighbours="swap")


def test_a_plan_is_that_of_the_command() -> None:
    by_file = dp_oracle.plan(EXAMPLE)
    assert by_file == dp_oracle.plan(Path(EXAMPLE))
    keys = {name: value for name, value in vars(by_file.config).items() if value is not None}
    assert dp_oracle.plan("noisy-gd", **keys) == by_file
    assert dp_oracle.plan("noisy-gd", **{**keys, "convex": True}) == by_file
    assert by_file.best is not None
    assert f"({by_file.best.guarantee.bound})" in output("plan", EXAMPLE)


def test_bad_plans_are_told() -> None:
    with pytest.raises(DomainError, match=r"steps cannot go with .*noisy-gd\.toml"):
        dp_oracle.plan(EXAMPLE, steps=1)
    with pytest.raises(DomainError, match="algorithm = noisy-dg is unknown"):
        dp_oracle.plan("noisy-dg")
    with pytest.raises(DomainError, match=r"nowhere\.toml cannot be read"):
        dp_oracle.plan("nowhere.toml")
    with pytest.raises(DomainError, match="configuration = 3 is outside its domain"):
        dp_oracle.plan(3)  # type: ignore[arg-type]
    with pytest.raises(DomainError, match=r"noisy-gd has no parameter sigma \(got 1\): its name is noise_on_mean now"):
        dp_oracle.plan("noisy-gd", sigma=1)


@pytest.mark.full
def test_a_function_is_audited_as_the_command_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import audit_target

    asked: dict[str, Any] = {"epsilon": 1, "records": 20, "dimension": 2, "canary": "extremes", "budget": 3000}
    itself = dp_oracle.audit(audit_target.train_many, batched=True, **asked)
    named = dp_oracle.audit(f"{ROOT}/examples/audit_target.py:train_many", batched=True, **asked)
    assert itself == named
    assert itself.verdict == "VIOLATION"
    assert itself.plan.budget == 3000


def test_an_algorithm_is_audited_with_its_keys(tmp_path: Path) -> None:
    default = dp_oracle.audit("output-perturbation", budget=500)
    keys = default.plan.target["config"]
    pair = {name: value for name, value in default.plan.pair.items() if name != "kind"}
    assert dp_oracle.audit("output-perturbation", config={**keys, "pair": pair}, budget=500) == default
    lines = [f"{name} = {value!r}" for name, value in keys.items()]
    lines += ["[pair]", *(f"{name} = {value!r}" for name, value in pair.items())]
    file = tmp_path / "keys.toml"
    file.write_text("\n".join(lines))
    assert dp_oracle.audit("output-perturbation", config=file, budget=500) == default
    assert dp_oracle.audit("output-perturbation", config=str(file), budget=500) == default


def test_bad_audits_are_told() -> None:
    def inner(dataset: Any, seed: int) -> float:
        return 0.0

    for target in (inner, lambda dataset, seed: 0.0, len):
        with pytest.raises(DomainError, match="cannot be found by another process"):
            dp_oracle.audit(target, epsilon=1)
    for target in (3, None):
        with pytest.raises(DomainError, match=f"target = {target} is outside its domain: an algorithm's name"):
            dp_oracle.audit(target, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="algorithm = nothing is unknown"):
        dp_oracle.audit("nothing")
    with pytest.raises(DomainError, match="workers = 0"):
        dp_oracle.audit("dp-sgd", workers=0)
    with pytest.raises(DomainError, match="attacks = white-box is a word"):
        dp_oracle.audit("dp-sgd", attacks="white-box")
    with pytest.raises(DomainError, match=r"config = .* is for a registered algorithm"):
        dp_oracle.audit(f"{ROOT}/examples/audit_target.py:train", epsilon=1, config={"steps": 1})


def test_a_claim_is_checked_by_its_id() -> None:
    with pytest.raises(DomainError, match="claim = relu-approx/lem-0 is unknown"):
        dp_oracle.check("relu-approx/lem-0")
    found = dp_oracle.check("relu-approx/lem-2.5")
    assert found == dp_oracle.check(dp_oracle.claims()["relu-approx/lem-2.5"])
    assert bound("gaussian.epsilon").source == (found.claim.id,)


@pytest.mark.thorough
def test_a_file_of_a_script_may_audit_its_own_function(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, dp_oracle\n"
        "def train(dataset, seeds):\n"
        "    return dataset[0].mean(axis=0) + np.random.default_rng(seeds).normal(size=(len(seeds), 4))\n"
        "if __name__ == '__main__':\n"
        "    print(dp_oracle.audit(train, batched=True, epsilon=3, canary='extremes', budget=500).verdict)\n"
    )
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("CONSISTENT\n", "")
