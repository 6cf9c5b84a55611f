"""The vocabulary: one declaration a name, which owners may narrow and never change; old names tell the new ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from oracle.core import vocabulary
from oracle.core.domain import Parameter, positive
from oracle.core.errors import DomainError, OracleError
from oracle.core.former_names import FORMER
from oracle.core.registry import algorithms, bound, bounds
from oracle.core.vocabulary import TERMS, check

OWNERS = {
    **{f"bound {name}": item.parameters for name, item in bounds().items()},
    **{f"algorithm {name}": item.keys for name, item in algorithms().items()},
}


def test_every_term_is_declared_under_its_own_name_with_a_meaning() -> None:
    declared = {name: value for name, value in vars(vocabulary).items() if isinstance(value, Parameter)}
    assert declared == TERMS
    for name, term in TERMS.items():
        assert term.name == name
        assert len(term.meaning) > 5, name


def test_no_two_terms_mean_the_same() -> None:
    meanings = [term.meaning for term in TERMS.values()]
    assert len(set(meanings)) == len(meanings)


def test_the_four_noises_have_four_names_that_say_which_they_are() -> None:
    for name, word in (
        ("sigma", "released value"), ("noise_on_mean", "mean of a batch"), ("noise_on_sum", "sum of a batch"),
        ("noise_multiplier", "clipping norm"),
    ):
        assert word in TERMS[name].meaning
        assert TERMS[name].unit
    for name in ("eta", "step_size", "lam", "noise_std"):
        assert name not in TERMS


PURE = {
    "epsilon", "delta", "mu", "rho", "alpha", "rdp", "claimed_epsilon", "base_epsilon", "base_delta", "base_mu",
    "epsilon0", "slack", "failure_probability", "keep", "sampling_rate", "contraction", "contractions",
    "lipschitz_gradient", "lipschitz_prox", "threshold_epsilon", "threshold_delta", "threshold_scale", "rank_threshold",
    "rank", "fourth_moment",
}
"""Numbers without a unit that are no counts."""


def test_what_has_a_unit_tells_it() -> None:
    measured = {name for name, term in TERMS.items() if term.kind in ("real", "schedule")}
    assert {name for name in measured if not TERMS[name].unit} == PURE
    assert not any(term.unit for term in TERMS.values() if term.kind == "choice")


@pytest.mark.parametrize("owner", OWNERS)
def test_two_declarations_of_a_name_never_differ(owner: str) -> None:
    for parameter in OWNERS[owner]:
        term = TERMS[parameter.name]
        assert (parameter.kind, parameter.meaning, parameter.unit) == (term.kind, term.meaning, term.unit)
        assert parameter.narrows(term)
        if parameter.kind != "choice" and parameter.low is not None:
            assert term.low is None or parameter.low >= term.low


def test_every_term_is_used() -> None:
    used = {parameter.name for parameters in OWNERS.values() for parameter in parameters} | {"claimed_epsilon"}
    assert set(TERMS) - used == set()


@pytest.mark.parametrize(
    "wrong",
    [
        positive("sharpness", "no name of ours"),
        replace(vocabulary.sigma, meaning="standard deviation of the noise on the mean gradient"),
        replace(vocabulary.sigma, unit="gradient"),
        vocabulary.sigma.at_least(0),
        vocabulary.batch_size.at_least(0),
        vocabulary.delta.at_most(2),
        replace(vocabulary.delta, high=None),
        replace(vocabulary.sampling_rate, low=None),
        replace(vocabulary.steps, kind="real"),
        vocabulary.loss.choosing("squared", "hinge"),
        replace(vocabulary.learning_rate, infinite=True),
    ],
    ids=lambda parameter: f"{parameter.name}, {parameter.domain}, {parameter.meaning[:9]}",
)
def test_a_name_cannot_be_changed_or_widened(wrong: Parameter) -> None:
    with pytest.raises(OracleError, match=f"an owner: {wrong.name} is "):
        check("an owner", (wrong,))


@pytest.mark.parametrize(
    "narrowed",
    [
        vocabulary.sigma, vocabulary.sigma.above(1), vocabulary.delta.open(), vocabulary.steps.at_most(10**9),
        vocabulary.clip_norm.finite(), vocabulary.loss.choosing("squared"), vocabulary.keep.below(Fraction(3, 4)),
        vocabulary.diameter.at_most(5),
    ],
    ids=lambda parameter: f"{parameter.name}, {parameter.domain}",
)
def test_a_domain_may_be_narrowed(narrowed: Parameter) -> None:
    check("an owner", (narrowed,))
    assert narrowed.meaning == TERMS[narrowed.name].meaning


def test_an_upper_end_excludes_infinity() -> None:
    for narrowed in (vocabulary.diameter.at_most(5), vocabulary.diameter.below(5)):
        with pytest.raises(DomainError, match="diameter = inf is not a number"):
            narrowed.parse("inf")


def test_an_old_name_says_the_new_one() -> None:
    for old, new in FORMER.items():
        assert new
        assert set(new) <= set(TERMS), old
    for name, old, new in (
        ("noisy-cgd.mu", "sigma", "noise_on_mean"), ("noisy-gd.mu", "sigma", "noise_on_mean"),
        ("langevin.epsilon", "step_size", "learning_rate"), ("composition.optimal", "total_delta", "delta"),
        ("glmtron.epsilon", "records", "dataset_size"), ("dp-sgd.epsilon", "noise_std", "noise_on_mean"),
    ):
        with pytest.raises(
            DomainError, match=rf"{name} has no parameter {old} \(got 1\): its name is {new} now; it takes",
        ):
            bound(name).reference(**{old: 1})
    with pytest.raises(DomainError, match=r"gdp.epsilon has no parameter eta \(got 1\); it takes mu, delta"):
        bound("gdp.epsilon").reference(eta=1)
