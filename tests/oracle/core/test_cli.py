"""The oracle's commands end to end, as a person runs them: output, exit codes, and errors of one line."""

from __future__ import annotations

from fractions import Fraction

import pytest

import oracle
from oracle.core import registry
from oracle.core.attainment import TIGHTNESS
from tests.commands import command, output, parsed
from tests.opinions import OPINIONS
from tests.project.consoles import ROOT, run

GDP = ("bound", "gdp.epsilon", "mu=1", "delta=1e-5")
EPSILON = Fraction("4.37717809568122462765011629324201091315343851697")  # mpmath, sigma = sensitivity = 1, delta = 1e-5


# --- bound


def test_numbers_of_thousands_of_digits_fit_on_a_line() -> None:
    words = ("bound", "gaussian.epsilon", "sigma=1e-400", "sensitivity=1", "delta=1e-5")
    lines = output(*words).splitlines()
    assert all(len(line) <= 80 for line in lines)
    lower, upper = (Fraction(line.split()[1]) for line in lines[1:3])
    found = oracle.bound("gaussian.epsilon").reference(sigma="1e-400", sensitivity=1, delta="1e-5")
    assert found.lower.compare(lower) >= 0 >= found.upper.compare(upper)
    assert lower < upper < lower * (1 + Fraction(1, 10**30))


def test_a_bound_as_text() -> None:
    lines = output("bound", "gaussian.epsilon", "sigma=1", "sensitivity=1", "delta=1e-5").splitlines()
    assert lines[0] == "gaussian.epsilon(sigma=1, sensitivity=1, delta=1e-5)"
    ends = dict(line.split() for line in lines[1:3])
    assert list(ends) == ["lower", "upper"]
    lower, upper = Fraction(ends["lower"]), Fraction(ends["upper"])
    assert lower <= EPSILON <= upper
    assert upper - lower <= Fraction(11, 10**13)
    assert oracle.bound("gaussian.epsilon").summary in lines[3]
    assert lines[4:] == [
        "  value     certified: the formula lies between these ends",
        "  validity  proved here in writing, not every step computed",
        "            (relu-approx/lem-2.5)",
        "  tightness the truth: nothing on the unsafe side of it is right (two values at",
        "            that distance reach the Gaussian curve)",
        "  assumes   whatever was released before, neighbours move a query by at most",
        "            sensitivity in the l2-norm",
        "            the noise is Gaussian with the stated deviation on every coordinate,",
        "            fresh each time",
    ]


@pytest.mark.parametrize(("name", "words"), [
    ("laplace.delta", "proved here (background/laplace-curve)"),
    ("tree.epsilon", "proved here in writing, not every step computed (background/tree-aggregation)"),
])
def test_a_certified_value_does_not_pass_for_a_proved_guarantee(name: str, words: str) -> None:
    item = oracle.bound(name)
    assert item.example is not None
    given = [f"{key}={value}" for key, value in item.example.items()]
    told = " ".join(output("bound", name, *given).partition("\n  assumes ")[0].split())
    certified = f" value certified: the formula lies between these ends validity {words} tightness "
    _, found, after = told.partition(certified)
    assert found
    assert after.startswith(f"{TIGHTNESS[item.tightness.kind]} ({item.tightness.why})")
    assert (" attained " in after) == (item.tightness.kind == "bracketed")
    assert parsed("bound", name, *given, "--json")["validity"] == item.validity


def test_a_bound_as_json() -> None:
    words = ("bound", "gaussian.epsilon", "sigma=1", "sensitivity=1", "delta=1e-5", "--width", "1e-30", "--json")
    document = parsed(*words)
    lower, upper = document.pop("lower"), document.pop("upper")
    assert isinstance(lower, str)
    assert isinstance(upper, str)
    assert Fraction(lower) <= EPSILON <= Fraction(upper)
    assert Fraction(upper) - Fraction(lower) <= Fraction(11, 10**31)
    item = oracle.bound("gaussian.epsilon")
    assert document == {
        "bound": "gaussian.epsilon", "params": {"sigma": "1", "sensitivity": "1", "delta": "1e-5"}, "unit": "epsilon",
        "neighbours": item.neighbours, "threat_model": item.threat_model, "source": list(item.source),
        "validity": "argued", "tightness": {"kind": "truth", "why": item.tightness.why}, "attained": None,
        "width_reached": True,
        "hypotheses": [
            {"name": one.name, "kind": one.kind, "words": one.words, "status": "unknown"} for one in item.hypotheses
        ],
    }
    document = parsed("bound", "zcdp.epsilon", "rho=0.5", "delta=1e-5", "--json")
    assert 0.9 * float(document["lower"]) < float(document["attained"]) < float(document["lower"])


def test_a_width_that_little_work_does_not_reach_is_told() -> None:
    few = ("bound", "poisson-gaussian.epsilon", "sigma=1", "sampling_rate=0.001", "steps=2", "delta=1e-5",
           "neighbours=add_remove")
    assert "  width     more than 1e-12, to answer soon; --width asks" in output(*few)
    assert parsed(*few, "--json")["width_reached"] is False
    asked = parsed(*few, "--width", "1e-4", "--json")
    assert asked["width_reached"] is True
    assert Fraction(asked["upper"]) - Fraction(asked["lower"]) <= Fraction(asked["upper"]) / 9_000
    assert "  width  " not in output("bound", "gaussian.epsilon", "sigma=1", "sensitivity=1", "delta=1e-5")


def test_decimals_are_exact_and_not_doubles() -> None:
    """0.1 is a tenth: sensitivity/scale = 1/10 = epsilon gives exactly 0; with doubles 0.3/3 would not."""
    document = parsed("bound", "laplace.delta", "scale=3", "sensitivity=0.3", "epsilon=0.1", "--json")
    assert (document["lower"], document["upper"]) == ("0", "0")
    document = parsed(
        "bound", "noisy-gd.mu", "sensitivity=1/60", "dataset_size=1", "noise_on_mean=1/120", "contraction=1",
        "steps=1e0", "--json",
    )
    assert (document["lower"], document["upper"]) == ("2", "2")


@pytest.mark.parametrize("value", ["10", "1e-3", "1e6"])
def test_round_values_print(value: str) -> None:
    """mu = L for one step: a power of ten is the commonest of all answers."""
    document = parsed(
        "bound", "noisy-gd.mu", f"sensitivity={value}", "dataset_size=1", "noise_on_mean=1", "contraction=0", "steps=1",
        "--json",
    )
    assert Fraction(document["lower"]) <= Fraction(value) <= Fraction(document["upper"])


def test_a_value_far_below_the_doubles_has_digits() -> None:
    document = parsed("bound", "gaussian.delta", "sigma=1e8", "sensitivity=1", "epsilon=1e4", "--json")
    assert document["lower"].startswith("4.11018414414458100")
    assert document["lower"].endswith("e-217147240951625913823426")
    assert document["upper"].endswith("e-217147240951625913823426")


def test_a_width_below_the_doubles() -> None:
    document = parsed(*GDP, "--width", "1e-400", "--json")
    lower, upper = Fraction(document["lower"]), Fraction(document["upper"])
    assert lower <= upper
    assert upper - lower <= Fraction(11, 10**401)
    assert abs(lower - EPSILON) < Fraction(1, 10**45)


# --- listings


def test_bounds_are_listed_with_their_parameters() -> None:
    listed = {entry["bound"]: entry for entry in parsed("bounds", "--json")}
    assert list(listed) == sorted(registry.bounds()) == sorted(OPINIONS)
    for name, item in registry.bounds().items():
        entry = listed[name]
        assert set(entry) == {
            "bound", "unit", "summary", "formula", "parameters", "neighbours", "threat_model", "released", "safe",
            "source", "validity", "tightness", "hypotheses",
        }
        assert entry["tightness"] == item.tightness.to_json()
        assert [(one["name"], one["kind"], one["words"]) for one in entry["hypotheses"]] == [
            (one.name, one.kind, one.words) for one in item.hypotheses
        ]
        assert (entry["unit"], entry["neighbours"], entry["threat_model"], entry["validity"]) == (
            item.unit, item.neighbours, item.threat_model, item.validity,
        )
        assert [(p["name"], p["kind"], p["domain"]) for p in entry["parameters"]] == [
            (p.name, p.kind, p.domain) for p in item.parameters
        ]
    lines = output("bounds").splitlines()
    assert len(lines) == 1 + len(registry.bounds()), "one line a bound: nothing is folded"
    for name, item in registry.bounds().items():
        [line] = [line for line in lines if line.split()[0] == name]
        assert item.summary in line
        assert f" {item.validity} " in line
        assert ", ".join(p.name for p in item.parameters) in line


def test_algorithms_are_listed_with_what_they_release() -> None:
    [entry] = [entry for entry in parsed("algorithms", "--json") if entry["algorithm"] == "noisy-cgd"]
    assert set(entry) == {
        "algorithm", "document", "summary", "released", "guarantees", "risks", "neighbours", "parameters", "source",
        "reference", "batched", "deterministic",
    }
    assert entry["released"] == "last_iterate"
    assert set(entry["guarantees"]) <= set(registry.bounds())
    item = oracle.algorithm("noisy-cgd")
    assert [p["name"] for p in entry["parameters"]] == [p.name for p in (*item.parameters, *item.training)]
    text = output("algorithms")
    for word in ("noisy-cgd", "last_iterate", "noisy-cgd.mu"):
        assert word in text


def test_help_names_the_commands() -> None:
    text = output("--help")
    for word in ("bound", "bounds", "algorithms"):
        assert word in text
    assert output() == text


# --- errors


BAD = {
    "unknown name": (("bound", "gaussian.nope", "x=1"), "gaussian.nope"),
    "missing parameter": (("bound", "gdp.epsilon", "mu=1"), "delta"),
    "extra parameter": ((*GDP, "sigma=1"), "sigma"),
    "out of domain": (("bound", "gdp.epsilon", "mu=-1", "delta=1e-5"), "mu = -1"),
    "not a number": (("bound", "gdp.epsilon", "mu=one", "delta=1e-5"), "mu = one"),
    "nan": (("bound", "gdp.epsilon", "mu=nan", "delta=1e-5"), "mu = nan"),
    "inf": (("bound", "gdp.epsilon", "mu=inf", "delta=1e-5"), "mu = inf"),
    "duplicated key": ((*GDP, "mu=2"), "mu is given twice"),
    "no equals sign": ((*GDP, "delta"), "delta"),
    "bad width": ((*GDP, "--width", "thin"), "width = thin"),
    "unknown option": ((*GDP, "--nope"), "--nope"),
    "unknown command": (("nope",), "nope"),
    "no bound": (("bound",), "name"),
    "no parameters": (("bound", "gdp.epsilon"), "mu"),
    "delta of one": (("bound", "gdp.epsilon", "mu=1", "delta=1"), "delta = 1 "),
    "empty value": (("bound", "gdp.epsilon", "mu=", "delta=1e-5"), "mu = "),
    "absurd exponent": (("bound", "gdp.epsilon", "mu=1e999999999", "delta=1e-5"), "mu = 1e999999999"),
    "division by zero": (("bound", "gdp.epsilon", "mu=1/0", "delta=1e-5"), "mu = 1/0"),
    "not an integer": (
        ("bound", "noisy-gd.mu", "sensitivity=1", "dataset_size=2.5", "noise_on_mean=1", "contraction=1", "steps=1"),
        "dataset_size = 2.5",
    ),
    "no key": ((*GDP, "=1"), "=1"),
    "zero width": ((*GDP, "--width", "0"), "width = 0"),
    "negative width": ((*GDP, "--width", "-1e-3"), "width = -1e-3"),
    "width without value": ((*GDP, "--width"), "--width"),
    "width as a parameter": ((*GDP, "width=1e-3"), "width"),
    "self as a parameter": ((*GDP, "self=1"), "self"),
    "thousands of digits": (("bound", "gdp.epsilon", "mu=" + "1" * 5000, "delta=1e-5"), "mu = 111"),
    "two lines": (("bound", "gdp.epsilon", "mu=1\n2", "delta=1e-5"), "mu = 1"),
    "surplus argument": (("bounds", "surplus"), "surplus"),
}


def is_one_line(code: int, text: str, errors: str, mentioned: str, *, expected: int = 2) -> None:
    """The exit code, nothing on standard output, and one line that names the culprit on standard error."""
    assert code == expected, errors[-500:]
    assert text == ""
    assert "Traceback" not in errors
    assert len(errors.splitlines()) == 1, errors
    assert errors.startswith("error: ")
    assert mentioned in errors
    assert len(errors) < (1500 if "is unknown; known" in errors else 400), "only a list of names may be long"


@pytest.mark.parametrize("case", BAD)
def test_an_error_is_one_line_and_exit_code_two(case: str) -> None:
    words, mentioned = BAD[case]
    done = command(*words)
    is_one_line(done.returncode, done.stdout, done.stderr, mentioned)


def test_what_no_precision_decides_is_undecided() -> None:
    done = command("bound", "gaussian.delta", "sigma=1", "sensitivity=1", "epsilon=1e4000")
    is_one_line(done.returncode, done.stdout, done.stderr, "bits", expected=3)


# --- a process of its own, as a shell starts it


@pytest.mark.parametrize(("case", "code"), [
    ("out of domain", 2), pytest.param(None, 0, marks=pytest.mark.full),
])
def test_a_process_ends_with_the_same_words_and_code(case: str | None, code: int) -> None:
    words = BAD[case][0] if case else (*GDP, "--json")
    alone, here = run(ROOT, "-m", "reports.cli", *words), command(*words)
    assert alone.returncode == code
    assert (alone.returncode, alone.stdout, alone.stderr) == (here.returncode, here.stdout, here.stderr)
