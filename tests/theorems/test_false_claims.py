"""The false privacy claims: each is what the document promises, no better, and an audit finds it out.

The audits have fixed seeds. Where a test asks for a violation it rests on confidence 0.999: were the promise true, the
test would pass with probability at most 0.001.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import special
from typer.testing import CliRunner

from empirical.audits.audit import run
from empirical.audits.literal import LiteralTarget
from empirical.audits.targets import make_target
from empirical.pairs.pair import make_pair
from empirical.pairs.pair_files import differing
from oracle.algorithms.convex_relu.convex_relu import hyperplanes
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError
from oracle.core.registry import algorithm, bound
from oracle.core.tape import Tape
from reports.cli import app
from tests.tiers import later
from theorems.promise import COLUMNS, CONFIDENCE, AuditedPromise, FalseClaim, chosen, false_claims
from theorems.relu_approx.convex_model import promises_law
from theorems.relu_approx.convex_model.promises import FIXED, counted_records
from theorems.relu_approx.tuning import promises as relu_approx
from theorems.sbcd.privacy import algorithm_2 as sbcd
from theorems.sbcd.privacy.promises import FixedStart, fixed_start

pytestmark = pytest.mark.full

ALL = list(false_claims().values())
DEAR = {"000-poisson-tuning", "002-theorem-1-large-steps", "001-theorem-4.6", "000-lemma-3.2-step-sizes",
        "003-dp-threshold"}
"""At night, and by `nox -s audit`, which carries out all of them."""


@pytest.mark.parametrize("item", later(ALL, lambda item: item.id in DEAR, "thorough", lambda item: item.id))
def test_the_audit_comes_out_as_expected(item: FalseClaim) -> None:
    judged = AuditedPromise(item, run(item.planned(item.tested)))
    assert judged.good, judged.audit.reason
    assert item.plan.confidence == CONFIDENCE
    if judged.true is not None and item.expected == "VIOLATION":
        assert float(judged.true[0]) > judged.audit.claimed
    assert len(judged.row()) == len(COLUMNS)
    json.dumps(judged.to_json(), allow_nan=False)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "repair"),
    [
        ("000-lemma-3.2-step-sizes", {"learning_rate": "0.3"}),  # below 2 over the true smoothness
        ("002-algorithm-8-variance", {"noise_formula": "exact"}),
        ("002-theorem-1-large-steps", {"base_learning_rate": 8}),
        ("003-glmtron-clip", {"clip": "shorten"}),
        ("003-tree-replaced-record", {"noise_multiplier": "13.5724"}),
        ("004-dp-gd-replaced-record", {"noise_on_mean": "0.96898"}),
        ("004-gaussian-mechanism-large-epsilon", {"noise_on_mean": "0.06"}),
        ("004-objective-perturbation-no-jacobian", {"correction": "cms11"}),
    ],
)
def test_the_same_audit_acquits_what_is_repaired(name: str, repair: dict[str, object]) -> None:
    """The promises are true then, so that a violation would be found with probability at most 0.001."""
    item = false_claims()[name]
    target = {**item.plan.target, "config": {**item.plan.target["config"], **repair}}
    repaired = replace(item, plan=replace(item.plan, target=target))
    assert AuditedPromise(repaired, run(repaired.planned(item.tested))).audit.verdict == "CONSISTENT"


@pytest.mark.parametrize("item", ALL, ids=lambda item: item.id)
def test_target_and_pair_are_made_from_json_alone(item: FalseClaim) -> None:
    target = make_target(json.loads(json.dumps(item.plan.target)))
    assert target.spec() == item.plan.target
    pair = make_pair(item.plan.pair, target)
    released = target.releases(pair.features[1], pair.labels[1], Tape(1, 3, 5))
    # A model's release does not depend on which models are trained with it, but for the last bits.
    alone = target.releases(pair.features[1], pair.labels[1], Tape(1, 1, 6))
    np.testing.assert_allclose(released[1], alone[0], rtol=1e-9, atol=1e-12)


# --- the promises are the documents' own, rounded to their side


def test_the_classical_multiplier_is_rounded_up() -> None:
    """sqrt(2 log(1.25/delta)), which is the noise that documents 002, 003 and 004 take at epsilon = 1."""
    printed = math.sqrt(2 * math.log(1.25e5))
    configs = {item.id: item.plan.target["config"] for item in ALL if "config" in item.plan.target}
    for name in ("002-algorithm-8-variance", "002-algorithm-8-deviation", "003-glmtron-clip"):
        assert 0 <= float(configs[name]["noise_over_sensitivity"]) - printed < 1e-4
    assert 0 <= 10 * float(configs["004-dp-gd-replaced-record"]["noise_on_mean"]) - printed < 1e-3
    assert 0 <= 100 * float(configs["004-gaussian-mechanism-large-epsilon"]["noise_on_mean"]) - printed < 1e-3


def test_the_printed_noise_of_the_tree_is_rounded_up() -> None:
    config = false_claims()["003-tree-replaced-record"].plan.target["config"]
    levels = math.ceil(math.log2(3 + 1))
    assert 0 <= float(config["noise_multiplier"]) - math.sqrt(2 * levels * math.log(1e5)) < 1e-3


def test_the_runs_that_are_tuned_have_the_epsilon_of_the_document() -> None:
    own = bound("gaussian.epsilon").at({"sigma": 1, "sensitivity": relu_approx.MU, "delta": "1e-5"})
    assert own.certainly_le("1.33")
    assert false_claims()["000-poisson-tuning"].plan.pair["value"] == relu_approx.MU


def test_the_promise_of_theorem_4_6_is_the_sum_of_both_blocks() -> None:
    item = false_claims()["001-theorem-4.6"]
    config = item.plan.target["config"]
    block = bound("sbcd.rdp").at({
        "alpha": 2, "sensitivity": 2 * sbcd.CLIP_NORM, "batch_size": 1, "learning_rate": 1,
        "noise_variances": config["noise_variances"], "batches": sbcd.RECORDS, "batch_position": 1,
        "lipschitz_gradient": 1, "lipschitz_prox": 1,
    })
    rho = Fraction("0.36")
    assert block.contains(rho)  # at alpha = 2 that is twice rho of a block, rho of both
    promised = bound("zcdp.epsilon").at({"rho": rho, "delta": item.plan.delta})
    assert promised.certainly_le(item.plan.claimed)


def test_theorem_4_6_is_refuted_by_certificate_too() -> None:
    """In (epsilon, delta), and at alpha = 2: the binary divergence of the test against 2 rho = 0.72."""
    item = false_claims()["001-theorem-4.6"]
    proved = sbcd.at_least(item.plan.delta)
    assert not proved.possibly_le("5.38")
    assert not proved.possibly_le(item.plan.claimed)
    q = float(sbcd.failure().upper())
    assert math.log((1 - q) ** 2 / q + q**2 / (1 - q)) > 5


# --- Theorem 4.6: the hypotheses hold, and the run is what the proof says


def test_the_run_of_dp_sbcd_is_the_walk_of_the_proof() -> None:
    """Block 1 follows the map of the docstring and block 0 only its noise, on the tape of the literal reference."""
    item = false_claims()["001-theorem-4.6"]
    target = make_target(item.plan.target)
    pair = make_pair(item.plan.pair, target)
    tape = Tape(3, 2)
    released = target.releases(pair.features[1], pair.labels[1], tape)
    clip_norm, std, square = float(sbcd.CLIP_NORM), float(sbcd.STD), float(sbcd.AMPLIFIER) ** 2
    hidden, output = np.ones(2), np.zeros(2)
    for step in range(sbcd.RECORDS):
        push = clip_norm if step == 0 else np.clip(square * output / (1 + output**2) ** 2, -clip_norm, clip_norm)
        hidden = hidden + std * tape.normal("noise", 2 * step, 1)[:, 0]
        output = output + push + std * tape.normal("noise", 2 * step + 1, 1)[:, 0]
    np.testing.assert_allclose(released, np.stack([hidden, output], axis=1), rtol=1e-9)


def test_the_hypotheses_of_theorem_4_6_hold_in_the_run() -> None:
    """On the literal reference: no clipped gradient beyond C, and eta x^2 <= 2 for the inputs of both blocks."""
    item = false_claims()["001-theorem-4.6"]
    literal = fixed_start
    config = literal.parse(item.plan.target["config"])
    pair = make_pair(item.plan.pair, make_target(item.plan.target))
    sums: list[float] = []

    def recorder(kind: str, **facts: object) -> None:
        if kind == "update":
            sums.append(float(np.abs(facts["clipped_sum"]).max()))

    tape = FixedStart(5, 1, 0, (1.0, 0.0))
    algorithm("dp-sbcd").reference(pair.features[1], pair.labels[1], config, tape, recorder)
    assert len(sums) == 2 * sbcd.RECORDS
    assert max(sums) <= float(sbcd.CLIP_NORM) * (1 + 1e-12)
    assert max(sums[1::2]) == pytest.approx(float(sbcd.CLIP_NORM))
    assert sbcd.AMPLIFIER**2 / 4 <= 2
    assert float(np.abs(pair.features[1]).max()) == 1.0
    assert 2 * Fraction(item.plan.target["config"]["noise_variances"][0]) == sbcd.STD**2


# --- Lemma 3.2 of document 000: the promise is Theorem 2.8's, and the variant is the registered algorithm


def test_the_promises_of_theorem_2_8_have_the_contraction_of_the_document() -> None:
    """mu for sensitivity 2C and c = 1 - eta lambda, which needs eta <= 2 / (lambda + beta), beta = |x|^2 + lambda."""
    for name, curvature in (("000-lemma-3.2-step-sizes", 1), ("000-clipped-classes", Fraction(1, 2) * 4)):
        item = false_claims()[name]
        config = item.plan.target["config"]
        eta, lam, norm = (Fraction(str(config[key])) for key in ("learning_rate", "regularisation", "feature_norm"))
        assert eta <= 2 / (2 * lam + curvature * norm**2)
        pair = make_pair(item.plan.pair, make_target(item.plan.target))
        mu = bound("noisy-cgd.mu").at({
            "sensitivity": 2 * Fraction(str(config["clip_norm"])), "batch_size": config["batch_size"],
            "noise_on_mean": config["noise_on_mean"], "contraction": 1 - eta * lam,
            "batches": len(pair.labels[0]) // config["batch_size"], "epochs": config["epochs"],
        })
        promised = bound("gaussian.epsilon").at({
            "sigma": 1, "sensitivity": mu.upper.to_fraction(), "delta": item.plan.delta
        })
        assert promised.certainly_le(item.plan.claimed)
        assert not promised.possibly_le(float(item.plan.claimed) - 0.01)  # no better than what is promised


def test_the_true_smoothness_lets_the_steps_expand() -> None:
    item = false_claims()["000-lemma-3.2-step-sizes"]
    config = counted_records.parse(item.plan.target["config"])
    normals = hyperplanes(config, 2, Tape(config.hyperplane_seed))
    assert (normals[:, 0] >= 0).all()
    amplified = float(config.learning_rate) * float(item.plan.pair["amplify"]) ** 2
    assert amplified * len(normals) == pytest.approx(11, abs=1e-3)


def test_lemma_3_2_is_refuted_by_certificate_too() -> None:
    proved = false_claims()["000-lemma-3.2-step-sizes"].at_least
    assert proved is not None
    assert not proved("1e-5").possibly_le("9.63")


def test_the_certified_law_is_that_of_the_run() -> None:
    """Means and variances of 4000 models: each of the four is off by five of its standard errors once in 10^6."""
    item = false_claims()["000-lemma-3.2-step-sizes"]
    target = make_target(item.plan.target)
    assert isinstance(target, LiteralTarget)
    pair = make_pair(item.plan.pair, target)
    final = promises_law.process(pair, target.config)
    models = 4000
    released = target.releases(pair.features[1], pair.labels[1], Tape(7, models))
    sums = released.reshape(models, target.config.hyperplanes, 2).sum(axis=1)
    for axis in (0, 1):
        mean, std = (float(value.mid()) for value in final.along(np.eye(2)[axis]))
        assert abs(sums[:, axis].mean() - mean) < 5 * std / math.sqrt(models)
        assert abs(sums[:, axis].var() / std**2 - 1) < 5 * math.sqrt(2 / models)


def test_the_certified_law_refuses_other_pairs() -> None:
    item = false_claims()["000-lemma-3.2-step-sizes"]
    target = make_target(item.plan.target)
    assert isinstance(target, LiteralTarget)
    pair = make_pair(item.plan.pair, target)
    with pytest.raises(DomainError, match="hyperplane_seed = 3"):
        promises_law.at_least(pair, Values(**{**vars(target.config), "hyperplane_seed": 3}))
    labelled = replace(pair, labels=(pair.labels[0], pair.labels[1] + 1.0))
    with pytest.raises(DomainError, match="labels are 0"):
        promises_law.process(labelled, target.config)


def test_counting_equal_records_is_the_registered_algorithm() -> None:
    config = {
        "hyperplanes": 3, "learning_rate": "0.7", "regularisation": "0.05", "clip_norm": "0.4", "noise_on_mean": "0.1",
        "batch_size": 6, "epochs": 3, "feature_norm": 1,
    }
    rng = np.random.default_rng(0)
    features = np.repeat(rng.uniform(-0.6, 0.6, (4, 2)), 3, axis=0)
    features[-1] = 0.0
    labels = np.repeat(rng.normal(size=4), 3)
    tape = Tape(9)  # the hyperplanes of its only model are those of hyperplane_seed = 9
    target = make_target({
        "kind": "literal", "name": "theorems.relu_approx.convex_model.promises:counted_records",
        "config": {**config, "hyperplane_seed": 9},
    })
    registered = algorithm("noisy-cgd-convex-relu")
    expected = registered.reference(features, labels, registered.parse({**config, **FIXED}), tape)
    np.testing.assert_allclose(target.releases(features, labels, tape)[0], expected.ravel(), rtol=1e-9)


def test_the_noise_of_theorem_1_is_rounded_up() -> None:
    item = false_claims()["002-theorem-1-large-steps"]
    printed = 8 * math.sqrt(math.log(1e5)) / float(item.plan.claimed)
    assert 0 <= float(item.plan.target["config"]["noise_over_step"]) - printed < 2e-3


# --- the certified numbers are about the audited runs


def releases_of(name: str, models: int) -> tuple[np.ndarray, np.ndarray]:
    """Releases on both data sets, from different models of one tape."""
    item = false_claims()[name]
    target = make_target(item.plan.target)
    pair = make_pair(item.plan.pair, target)
    first, second = (
        target.releases(pair.features[side], pair.labels[side], Tape(11, models, side * models)) for side in (0, 1)
    )
    return first, second


@pytest.mark.parametrize(
    ("name", "event", "rates"),
    [
        ("003-dp-threshold", lambda s: s[:, 0] == 4.0, (1 - math.exp(-5) / 4, 6.7862e-4)),
        ("003-glmtron-clip", lambda w: w[:, 0] > 0.8, (None, 0.88897)),
        ("004-objective-perturbation-no-jacobian", lambda w: (w[:, 0] >= 0) & (w[:, 0] <= 1), (0.0123450, 0.0587527)),
    ],
)
def test_the_tests_of_the_certificates_have_their_rates(name, event, rates) -> None:
    """20,000 models a side; a rate is off by five standard errors (and one count) less than once in 10^6."""
    models = 20_000
    for released, rate in zip(releases_of(name, models), rates, strict=True):
        seen = float(event(released).mean())
        if rate is None:
            assert seen <= 1e-3
        else:
            assert abs(seen - rate) <= 5 * math.sqrt(rate * (1 - rate) / models) + 1 / models


def test_the_answers_of_theorem_1_are_as_far_apart_as_certified() -> None:
    """The same draws on both data sets: what is left is the distance of the means, in units of the noise."""
    item = false_claims()["002-theorem-1-large-steps"]
    target = make_target(item.plan.target)
    pair = make_pair(item.plan.pair, target)
    first, second = (target.releases(pair.features[side], pair.labels[side], Tape(0)) for side in (0, 1))
    step = float(item.plan.target["config"]["base_learning_rate"]) / 4
    noise = float(item.plan.target["config"]["noise_over_step"]) * step * math.sqrt(sum(16.0**-i for i in range(9)))
    mu = float(np.linalg.norm((second - first)[0, 1:])) / noise
    own = bound("gaussian.epsilon").at({"sigma": 1, "sensitivity": mu, "delta": "1e-5"})
    assert item.at_least is not None
    assert own.to_floats()[0] == pytest.approx(item.at_least("1e-5").to_floats()[0], rel=1e-6)


# --- literal variants and the command


def test_the_printed_thresholds_empty_the_fullest_bin() -> None:
    target = make_target({
        "kind": "literal", "name": "theorems.glmtron.promises:literal_threshold",
        "config": {"histogram_batches": 30, "threshold_epsilon": 1, "threshold_delta": "1e-5"},
    })
    labels = np.full(30, 2.0)
    labels[:25] = 1.0
    features = np.zeros((30, 1))
    assert (target.releases(features, labels, Tape(0, 200)) == math.sqrt(2 * 8.0)).all()  # the bin [4, 8)
    labels[0] = 2.0
    assert (target.releases(features, labels, Tape(0, 200)) == math.sqrt(2 * 2.0)).mean() > 0.98  # the bin [1, 2)
    with pytest.raises(DomainError, match="histogram_batches = 30"):
        target.releases(features[:20], labels[:20], Tape(0, 1))


def test_the_tuned_release_is_the_best_of_its_runs() -> None:
    tape = Tape(2, 400)
    config = relu_approx.poisson_tuned_gaussian.parse({"mean_runs": 3, "rank_threshold": "-0.3"})
    released = relu_approx.tuned(np.array([[0.25]]), np.zeros(1), config, tape)
    runs = tape.poisson("runs", 0, 3.0)
    for model in range(tape.models):
        uniform = np.concatenate([tape.one(model).uniform("release", first, 8)[0] for first in (0, 8, 16)])
        y = 0.25 + special.ndtri(uniform[: runs[model]])
        below = y[y < -0.3]
        expected = 0.0 if runs[model] == 0 else below[0] if len(below) else y.max()
        np.testing.assert_allclose(released[model], [float(runs[model] > 0), expected], rtol=1e-9)


def test_a_literal_variant_is_no_algorithm_and_must_exist() -> None:
    for item in (counted_records, fixed_start, relu_approx.poisson_tuned_gaussian):
        with pytest.raises(DomainError, match="unknown"):
            algorithm(item.name)
    # No module, none of ours, no variable, and a variable that is something else.
    here = "theorems.sbcd.privacy.promises"
    for name in ("nothing", "os:path", "theorems.nothing:x", f"{here}:no", f"{here}:RECORDS"):
        with pytest.raises(DomainError, match=f"literal = {name} is unknown"):
            make_target({"kind": "literal", "name": name, "config": {}})
    with pytest.raises(DomainError, match="no-such-claim"):
        chosen(["no-such-claim"])


def test_an_added_record_at_the_end_is_found() -> None:
    short, long = np.zeros((2, 3)), np.vstack([np.zeros((2, 3)), np.ones((1, 3))])
    assert differing((short, long), (np.zeros(2), np.zeros(3)), "add_remove") == 2


def test_the_command_tells_promises_and_verdicts(tmp_path) -> None:
    listed = CliRunner().invoke(app, ["false-claims", "--list"])
    assert listed.exit_code == 0
    assert "001-theorem-4.6" in listed.output
    out = tmp_path / "found.json"
    arguments = ["false-claims", "002-algorithm-8-deviation", "--budget", "2000", "--json", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "1 of 1 verdicts as expected" in result.output
    found = json.loads(out.read_text())
    assert found[0]["audit"]["verdict"] == "VIOLATION"
    assert found[0]["true_is"] == "exact"
    unknown = CliRunner().invoke(app, ["false-claims", "no-such-claim"])
    assert isinstance(unknown.exception, DomainError)


def test_a_verdict_that_is_not_expected_fails_the_command() -> None:
    """Too few models certify nothing: the violation is not found, and that is a regression."""
    result = CliRunner().invoke(app, ["false-claims", "004-gaussian-mechanism-large-epsilon", "--budget", "200"])
    assert result.exit_code == 1, result.output
    assert "0 of 1 verdicts as expected" in result.output
