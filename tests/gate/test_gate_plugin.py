"""The pytest plugin: one test a case, judged as the command judges, strict about what is expected to fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dp_oracle
from empirical.gate import vector_files
from empirical.gate.making.cases import Case, Expected, certified
from empirical.gate.suite import conformance, spread
from oracle import bound
from tests.waiting import PATIENCE

pytest_plugins = ["pytester"]

ROOT = Path(dp_oracle.__file__).parent
EVERYDAY = {"sigma": "1", "sensitivity": "1", "delta": "1e-5"}
LEAVES = {"noise_multiplier": "2", "leaves": "4", "delta": "1e-5", "neighbours": "replace"}


def case(name: str, tc_id: int, given: dict[str, str], flag: str, *, comment: str = "", valid: bool = True) -> Case:
    expected = Expected.parse(*certified(bound(name), given).to_decimals()) if valid else None
    return Case(name, tc_id, given, expected, (flag,), comment)


CASES = {
    "gaussian.epsilon": (
        case("gaussian.epsilon", 1, EVERYDAY, "Ordinary"),
        case("gaussian.epsilon", 2, EVERYDAY | {"sigma": "2"}, "Ordinary"),
        case("gaussian.epsilon", 3, EVERYDAY | {"delta": "1e-100"}, "TinyDelta", comment="delta is tiny"),
        case("gaussian.epsilon", 4, EVERYDAY | {"sigma": "-1"}, "Negative", valid=False),
    ),
    "tree.epsilon": (
        case("tree.epsilon", 1, LEAVES, "Ordinary"),
        case("tree.epsilon", 2, LEAVES | {"neighbours": "add_remove"}, "Ordinary"),
        case("tree.epsilon", 3, LEAVES | {"neighbours": "swap"}, "UnknownWord", valid=False),
    ),
}
NOTES = {"TinyDelta": {"description": "A sum cut off too early.", "links": ["https://example.org/1"]}}

LIBRARY = """
from oracle import bound

def epsilon(sigma, sensitivity, delta):
    return bound("gaussian.epsilon").reference(sigma=sigma, sensitivity=sensitivity, delta=delta).to_floats()[1]

def halved(sigma, sensitivity, delta):
    return epsilon(sigma, sensitivity, delta) / (2 if delta < 1e-50 else 1)

def doubled(sigma, sensitivity, delta):
    return 2 * epsilon(sigma, sensitivity, delta)

def wrong_below(sigma, sensitivity, delta):
    return epsilon(sigma, sensitivity, delta) / (2 if sigma < 0.5 else 1)

def wrong_twice(sigma, sensitivity, delta):
    return {}["epsilon"] if sigma > 50 else wrong_below(sigma, sensitivity, delta)

def deaf(sigma, sensitivity, delta):
    return 100.0

def broken(sigma, sensitivity, delta):
    return {}["epsilon"]

def shy(sigma, sensitivity, delta):
    raise ValueError("not today")

def tree(noise_multiplier, leaves, delta, neighbours):
    if neighbours != "replace":
        raise ValueError(f"neighbours = {neighbours} is not supported")
    return both(noise_multiplier, leaves, delta, neighbours)

def both(noise_multiplier, leaves, delta, neighbours):
    given = {"noise_multiplier": noise_multiplier, "leaves": leaves, "delta": delta, "neighbours": neighbours}
    return bound("tree.epsilon").at(given).to_floats()[1]
"""
ENTRY = """
[[xfail]]
bound = "gaussian.epsilon"
verdict = "{}"
{}
reason = "the sum is cut off"
"""


@pytest.fixture
def library(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with a library, and a few made-up vectors."""
    monkeypatch.setattr(
        vector_files, "load", lambda name: vector_files.VectorFile({"bound": name, "notes": NOTES}, CASES[name])
    )
    monkeypatch.setattr(dp_oracle, "_sessions", [])  # this run of pytest may have the plugin, too
    pytester.makepyfile(mylib=LIBRARY)
    pytester.syspathinsert()
    return pytester


def conform(folder: pytest.Pytester, arguments: str, *options: str) -> pytest.RunResult:
    """Run one conformance test."""
    folder.makepyfile(
        test_it=f"import mylib\nfrom dp_oracle import conformance\ntest_it = conformance({arguments})\n"
    )
    return folder.runpytest_inprocess("-p", "dp_oracle", "--strict-markers", "-v", "-rs", *options)


def test_one_test_a_case(library: pytest.Pytester) -> None:
    result = conform(library, "'gaussian.epsilon', mylib.epsilon, slack=1.05")
    result.assert_outcomes(passed=4)
    for name in ("1-Ordinary", "2-Ordinary", "3-TinyDelta", "4-Negative"):
        result.stdout.fnmatch_lines([f"test_it.py::test_it[[]{name}[]]*PASSED*"])


def test_conformance_works_without_the_plugin(library: pytest.Pytester) -> None:
    library.makepyfile(test_it="import dp_oracle, mylib\n"
                       "test_it = dp_oracle.conformance('gaussian.epsilon', mylib.halved)\n")
    result = library.runpytest_inprocess("-p", "no:dp_oracle", "--strict-markers")
    result.assert_outcomes(passed=3, failed=1)


def test_the_marker_judges_what_a_function_returns(library: pytest.Pytester) -> None:
    library.makepyfile(test_it="""
        import pytest
        import mylib

        @pytest.mark.dp_oracle(bound="gaussian.epsilon", slack=1.05)
        def test_function(sigma, delta, sensitivity, tmp_path, factor=1):
            assert tmp_path.is_dir()
            return factor * mylib.epsilon(sigma, sensitivity, delta)

        class TestMethods:
            @pytest.mark.parametrize("factor", [1, 2])
            @pytest.mark.dp_oracle("gaussian.epsilon", slack=1.05)
            def test_method(self, sigma, sensitivity, delta, factor):
                return factor * mylib.epsilon(sigma, sensitivity, delta)
    """)
    result = library.runpytest_inprocess("-p", "dp_oracle", "--strict-markers", "-v")
    result.assert_outcomes(passed=4 + 4 + 1, failed=3)
    result.stdout.fnmatch_lines(["LOOSE: gaussian.epsilon/1", "  call       test_method(sigma=1.0, *"])


def test_a_failure_says_all_there_is_to_say(library: pytest.Pytester) -> None:
    result = conform(library, "'gaussian.epsilon', mylib.halved")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines([
        "UNSOUND gross: gaussian.epsilon/3, delta is tiny",
        "  call       halved(sigma=1.0, sensitivity=1.0, delta=1e-100)",
        "  answer     10.81* (10.81* (relative 0.5) below the certified lower end 21.62*)",
        "  certified  [[]21.6*, 21.6*]",
        "  to do      it claims more than is true*",
        "  TinyDelta: A sum cut off too early. https://example.org/1",
    ])
    result.stdout.no_fnmatch_line("*subjects.py*")


@pytest.mark.parametrize(
    ("function", "options", "outcomes", "verdict"),
    [
        ("doubled", "", {"passed": 4}, None),
        ("doubled", ", slack=1.5", {"passed": 1, "failed": 3}, "LOOSE"),
        ("doubled", ", slack='2.0001'", {"passed": 4}, None),
        ("deaf", "", {"passed": 3, "failed": 1}, "ACCEPTED_INVALID"),
        ("broken", "", {"failed": 4}, "CRASH"),
        ("shy", "", {"passed": 1, "failed": 3}, "REFUSED"),
        ("halved", ", rounding=0.4", {"passed": 3, "failed": 1}, "UNSOUND gross"),
        ("halved", ", rounding=0.6", {"passed": 4}, None),
    ],
)
def test_every_verdict(
    library: pytest.Pytester, function: str, options: str, outcomes: dict[str, int], verdict: str | None
) -> None:
    result = conform(library, f"'gaussian.epsilon', mylib.{function}{options}")
    result.assert_outcomes(**outcomes)
    if verdict is not None:
        result.stdout.fnmatch_lines([f"{verdict}: gaussian.epsilon/*"])


@pytest.mark.parametrize("selector", ["cases = [3]", "flags = ['TinyDelta']", "where = {delta = 1e-100}"])
@pytest.mark.parametrize("folder", [".", "suite"])
def test_an_expected_failure_is_a_strict_xfail(library: pytest.Pytester, selector: str, folder: str) -> None:
    library.mkdir("suite")
    library.makeini("[pytest]\n")
    (library.path / folder / "known.toml").write_text(ENTRY.format("UNSOUND", selector))
    (library.path / "suite" / "test_it.py").write_text(
        "import mylib\nfrom dp_oracle import conformance\n"
        "test_it = conformance('gaussian.epsilon', mylib.halved, xfail='known.toml')\n"
    )
    library.runpytest_inprocess("-p", "dp_oracle").assert_outcomes(passed=3, xfailed=1)


@pytest.mark.parametrize(
    ("function", "verdict", "told"),
    [
        ("epsilon", "UNSOUND", "expected UNSOUND by *known.toml, line 2, came out TIGHT: take it out there"),
        ("halved", "CRASH", "expected CRASH by *known.toml, line 2, came out UNSOUND: change it there"),
        ("broken", "UNSOUND", "expected UNSOUND by *known.toml, line 2, came out CRASH: change it there"),
    ],
)
@pytest.mark.parametrize("marker", [False, True])
def test_an_expected_failure_that_comes_out_otherwise_fails(
    library: pytest.Pytester, function: str, verdict: str, told: str, marker: bool
) -> None:
    library.path.joinpath("known.toml").write_text(ENTRY.format(verdict, "cases = [3]"))
    if marker:
        library.makepyfile(test_it=f"""
            import mylib, pytest
            @pytest.mark.dp_oracle("gaussian.epsilon", xfail="known.toml")
            def test_it(sigma, sensitivity, delta):
                return mylib.{function}(sigma, sensitivity, delta)
        """)
        result = library.runpytest_inprocess("-p", "dp_oracle", "-k", "TinyDelta")
    else:
        result = conform(library, f"'gaussian.epsilon', mylib.{function}, xfail='known.toml'", "-k", "TinyDelta")
    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines([f"  to do      {told}"])


def test_unsupported_words_are_skipped_once_they_are_refused(library: pytest.Pytester) -> None:
    result = conform(library, "'tree.epsilon', mylib.tree, unsupported={'neighbours': ['add_remove']}")
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*unsupported: neighbours=add_remove, 1 cases"])


def test_unsupported_words_are_strict_both_ways(library: pytest.Pytester) -> None:
    unsaid = conform(library, "'tree.epsilon', mylib.tree")
    unsaid.assert_outcomes(passed=2, failed=1)
    unsaid.stdout.fnmatch_lines(["REFUSED: tree.epsilon/2", "*unsupported={*"])
    answered = conform(library, "'tree.epsilon', mylib.both, unsupported={'neighbours': ['add_remove']}")
    answered.assert_outcomes(passed=2, failed=1)
    answered.stdout.fnmatch_lines(["TIGHT: tree.epsilon/2", "*but it is answered: take that out"])


def test_a_case_is_unsupported_or_expected_to_fail_but_not_both(library: pytest.Pytester) -> None:
    entry = ENTRY.format("REFUSED", "where = {neighbours = 'add_remove'}").replace("gaussian.epsilon", "tree.epsilon")
    library.path.joinpath("known.toml").write_text(entry)
    conform(library, "'tree.epsilon', mylib.tree, xfail='known.toml'").assert_outcomes(passed=2, xfailed=1)
    both = "'tree.epsilon', mylib.tree, xfail='known.toml', unsupported={'neighbours': ['add_remove']}"
    conform(library, both).stdout.fnmatch_lines(["dp-oracle: *known.toml, line 2: case 2 is unsupported: neighbours=*"])


@pytest.mark.full
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("'gausian.epsilon', mylib.epsilon", "bound = gausian.epsilon is unknown; *gaussian.epsilon*"),
        ("None, mylib.epsilon", "bound = None is unknown; *"),
        ("'gaussian.epsilon', mylib.epsilon, slack=0.9", "slack = 0.9 is outside its domain: a real number >= 1"),
        ("'gaussian.epsilon', mylib.epsilon, rounding=-1", "rounding = -1 is outside its domain*"),
        ("'gaussian.epsilon', mylib.tree", "mylib.tree(noise_multiplier, *; gaussian.epsilon is called with sigma, *"),
        ("'gaussian.epsilon', 4", "function = 4 cannot be called"),
        ("'gaussian.epsilon', mylib.epsilon, xfail='no.toml'", "xfail = no.toml is no file, neither * nor *"),
        ("'gaussian.epsilon', mylib.epsilon, unsupported={'neighbours': []}", "unsupported = neighbours is no *"),
        ("'tree.epsilon', mylib.tree, unsupported={'neighbours': ['swap']}", "neighbours = swap is outside *"),
        ("'tree.epsilon', mylib.tree, unsupported={'neighbours': 'replace'}", "*replace is a word; expected a list*"),
        (
            "'tree.epsilon', mylib.tree, unsupported={'neighbours': ['replace', 'add_remove']}",
            "unsupported = * leaves no valid case of tree.epsilon",
        ),
    ],
)
def test_bad_usage_is_one_line_at_collection(library: pytest.Pytester, arguments: str, told: str) -> None:
    result = conform(library, arguments)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"dp-oracle: conformance of *: {told}"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    ("marks", "names", "told"),
    [
        ("@pytest.mark.dp_oracle", "sigma", "missing a required argument: 'bound'; it takes bound, slack, *"),
        ("@pytest.mark.dp_oracle('gaussian.epsilon', slck=2)", "sigma", "got an unexpected keyword argument 'slck'*"),
        ("@pytest.mark.dp_oracle('gaussian.epsilon')", "sigma, delta", "it does not take sensitivity; *"),
        ("@pytest.mark.dp_oracle('gaussian.epsilon')\n@pytest.mark.dp_oracle('tree.epsilon')", "sigma", "*twice*"),
    ],
)
def test_a_bad_marker_is_one_line_at_collection(library: pytest.Pytester, marks: str, names: str, told: str) -> None:
    library.makepyfile(test_it=f"import pytest\n{marks}\ndef test_it({names}):\n    return 1.0\n")
    result = library.runpytest_inprocess("-p", "dp_oracle")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"dp-oracle: the marker dp_oracle of test_it: {told}"])


def test_a_marked_method_that_pytest_cannot_parametrise_fails(library: pytest.Pytester) -> None:
    library.makepyfile(test_it="""
        import unittest
        import pytest

        class TestIt(unittest.TestCase):
            @pytest.mark.dp_oracle("gaussian.epsilon")
            def test_it(self):
                pass
    """)
    result = library.runpytest_inprocess("-p", "dp_oracle")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*TestIt::test_it got no case*"])


@pytest.mark.parametrize(
    ("budget", "names"), [(1, [1]), (2, [1, 3]), (3, [1, 3, 4]), (4, [1, 2, 3, 4]), (None, [1, 2, 3, 4])]
)
def test_a_budget_is_spread_over_the_kinds_of_cases(budget: int | None, names: list[int]) -> None:
    assert [case.tc_id for case in spread(CASES["gaussian.epsilon"], budget)] == names


def test_the_budget_of_a_run(library: pytest.Pytester) -> None:
    conform(library, "'gaussian.epsilon', mylib.halved", "--dp-oracle-budget", "2").assert_outcomes(passed=1, failed=1)
    conform(library, "'gaussian.epsilon', mylib.halved", "--dp-oracle-budget=4").assert_outcomes(passed=3, failed=1)
    assert dp_oracle.session().budget is None  # it is over


@pytest.mark.parametrize("budget", ["0", "-1", "many", "1.5"])
def test_a_bad_budget_is_bad_usage(library: pytest.Pytester, budget: str) -> None:
    result = library.runpytest_inprocess("-p", "dp_oracle", f"--dp-oracle-budget={budget}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--dp-oracle-budget: invalid budget (an integer >= 1) value: '{budget}'"])


@pytest.mark.full
def test_a_budget_beyond_the_vectors_searches(library: pytest.Pytester) -> None:
    conform(library, "'gaussian.epsilon', mylib.epsilon", "--dp-oracle-budget=24").assert_outcomes(passed=5)
    found = conform(library, "'gaussian.epsilon', mylib.wrong_below", "--dp-oracle-budget=24")
    found.assert_outcomes(passed=4, failed=1)
    found.stdout.fnmatch_lines(["UNSOUND gross: gaussian.epsilon/0, *", "  call       wrong_below(sigma=0.*"])


def test_a_search_that_judged_nothing_does_not_pass(library: pytest.Pytester) -> None:
    result = conform(library, "'gaussian.epsilon', mylib.shy", "--dp-oracle-budget=24", "-k", "search")
    result.assert_outcomes(failed=1, deselected=4)
    result.stdout.fnmatch_lines(["undecided; search: 0 examples judged beyond the vectors, * screened, 20 refused"])


@pytest.mark.full
@pytest.mark.parametrize(
    ("function", "verdict", "outcome"),
    [
        ("wrong_below", "UNSOUND", "xfailed"), ("wrong_twice", "UNSOUND", "failed"),
        pytest.param("wrong_below", "CRASH", "failed", marks=pytest.mark.thorough),
    ],
)
def test_the_search_obeys_the_marker_and_the_xfail_file(
    library: pytest.Pytester, function: str, verdict: str, outcome: str
) -> None:
    library.path.joinpath("known.toml").write_text(ENTRY.format(verdict, "search = true"))
    library.makepyfile(test_it=f"""
        import mylib
        import pytest

        @pytest.mark.dp_oracle("gaussian.epsilon", xfail="known.toml")
        def test_it(sigma, sensitivity, delta, tmp_path):
            return mylib.{function}(sigma, sensitivity, delta)
    """)
    result = library.runpytest_inprocess("-p", "dp_oracle", "--dp-oracle-budget=24")
    result.assert_outcomes(passed=4, **{outcome: 1})


def test_importing_the_plugin_imports_nothing_but_the_standard_library() -> None:
    code = "import sys; import dp_oracle; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    loaded = set(done.stdout.split()) - set(sys.stdlib_module_names) - {"__main__", "__mp_main__"}
    assert loaded == {"dp_oracle"}


def test_the_gate_needs_no_pytest_until_a_test_suite_asks() -> None:
    code = "import sys; import empirical.gate.jobs; import dp_oracle; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=PATIENCE).returncode == 0
    assert dp_oracle.conformance is conformance
    with pytest.raises(AttributeError, match="no attribute 'conformity'"):
        dp_oracle.conformity  # noqa: B018


@pytest.mark.full
def test_unused_it_changes_nothing(library: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    library.makepyfile(test_it="import sys\ndef test_it():\n    assert 'oracle' not in sys.modules\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    listed = []
    for option in ("dp_oracle", "no:dp_oracle"):
        result = library.runpytest_subprocess("-p", option, "--strict-markers", "-v")
        listed.append([line for line in result.outlines if "::" in line])  # pytest names installed plugins, used or not
        result.assert_outcomes(passed=1)
    assert listed[0] == listed[1]
