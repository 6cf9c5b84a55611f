r"""NoisyCGD tuned by a Poisson number of runs: the literal reference (document 000, Section 5).

A grid of candidates (eta_i, lambda_i) is given (the document's grid of learning rates, each with its own lambda).

    K ~ Poisson(mean)
    for each of K runs:  i uniform from the grid;  theta = NoisyCGD(eta_i, lambda_i) with fresh noise;  score theta
    release the theta of the best score, or nothing if K = 0

K, the candidates and the other runs stay hidden. Released is a vector (1, theta), or zeros for "nothing". Of equal
scores the first wins: runs are exchangeable, so that is a fair draw. A score that is no number is the worst.

Left open by the document: on which data the score is taken. Here on the last `validation_records` records, which are
public: they are not trained on and NOT protected. The score is then a function of the model and is paid for with it; a
score on the protected records would have to be private itself. It is the mean loss there (negative) or the accuracy.

The guarantee: neighbours differ in one of the other records. A run is mu-GDP with the largest mu of the grid, since a
mixture with weights that do not depend on the data is no worse than its worst part; Theorem 5.1 (in
`oracle.bounds.tuning.tuning`) turns that and the mean into epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle.algorithms.hidden_state import noisy_cgd
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import CONTRACTS, DISJOINT_BATCHES, REPLACE
from oracle.algorithms.shared.glm import Array
from oracle.algorithms.tuning.poisson_tuning import BEST_OF_POISSON
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, said, towards
from oracle.core.errors import DomainError
from oracle.core.records import told
from oracle.core.registry import bound
from oracle.core.tape import Tape

_MOST_RUNS = 10**9


@dataclass(frozen=True)
class RunTape(Tape):
    """The draws of one of a model's runs."""

    run: int = 0

    def stream(self, purpose: str, step: int, count: int) -> np.random.Philox:
        """A stream under a name of the run's own."""
        return super().stream(f"run {self.run}/{purpose}", step, count)


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the accounting assumes."""
    glm.check_data(features, labels, loss=config.loss)
    kept = protected(config, features.shape[0])
    glm.check_data(features[:kept], labels[:kept], feature_norm=config.feature_norm)
    glm.batches(config.batch_size, kept)


def protected(config: Values, records: int) -> int:
    """The number of records that are trained on, which are the first; a DomainError if the configuration has none."""
    if not config.learning_rates:
        raise DomainError("learning_rates = [] is outside its domain: a grid of one candidate at least")
    if config.score == "accuracy" and config.loss != "logistic":
        raise DomainError(f"score = accuracy is outside its domain: the {config.loss} loss has no classes")
    if config.mean_runs > _MOST_RUNS:
        raise DomainError(f"mean_runs = {told(config.mean_runs)} is outside its domain: at most {_MOST_RUNS} runs")
    if config.validation_records >= records:
        raise DomainError(
            f"validation_records = {config.validation_records} is outside its domain: less than the {records} records"
        )
    return int(records - config.validation_records)


def candidate(config: Values, index: int) -> Values:
    """The configuration of NoisyCGD for one entry of the grid."""
    rate, ridge = config.learning_rates[index], config.regularisations[index]
    return Values(**{**vars(config), "learning_rate": rate, "regularisation": ridge})


def _reach(config: Values, count: int) -> float:
    """The farthest of the candidates."""
    steps = config.epochs * (count - config.validation_records) // config.batch_size
    return max(glm.reach(candidate(config, index), steps) for index in range(len(config.learning_rates)))


def quality(features: Array, labels: Array, config: Values, theta: Array) -> float:
    """The score of a model on public records, record by record."""
    total = 0.0
    for x, y in zip(features, labels, strict=True):
        value = float(x @ theta)
        if config.score == "accuracy":
            total += float((value > 0) == (y == 1))
        elif config.loss == "linear":
            total += value
        elif config.loss == "squared":
            total -= (value - y) ** 2 / 2
        else:
            total -= float(np.logaddexp(0.0, value)) - y * value
    return -np.inf if np.isnan(total) else total / len(labels)


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """What one tuning releases: (1, theta) of the best run, or zeros, shape [1 + d]."""
    check(features, labels, config)
    kept = protected(config, features.shape[0])
    released, best, chosen = np.zeros(1 + features.shape[1]), -np.inf, -1
    runs = int(tape.poisson("runs", 0, float(config.mean_runs))[0])
    for run in range(runs):
        # A uniform that rounds to 1 belongs to the last candidate.
        count = len(config.learning_rates)
        index = min(int(tape.uniform("candidate", run, 1)[0, 0] * count), count - 1)
        told = None if recorder is None else _of_run(recorder, run)
        own = RunTape(tape.seed, tape.models, tape.first_model, run)
        theta = noisy_cgd.train(features[:kept], labels[:kept], candidate(config, index), own, told)
        score = quality(features[kept:], labels[kept:], config, theta)
        if chosen < 0 or score > best:
            released, best, chosen = np.concatenate([[1.0], theta]), score, run
    if recorder is not None:
        recorder("release", runs=runs, run=chosen)
    return released


def _of_run(recorder: Any, run: int) -> Any:
    return lambda kind, **facts: recorder(kind, run=run, **facts)


def _protected(config: Values) -> list[Values]:
    """The plan of NoisyCGD on the protected records, one a candidate, with what is known of its loss."""
    kept = protected(config, config.dataset_size)
    plain = [
        Values(
            **{**vars(candidate(config, index)), "dataset_size": kept}
        ) for index in range(len(config.learning_rates))
    ]
    return [Values(**{**vars(one), **noisy_cgd.facts(one)}) for one in plain]


def _worst(config: Values) -> dict[str, Any]:
    """The mean, and the mu of the worst candidate, rounded up."""
    curve = bound("noisy-cgd.mu")
    candidates = (noisy_cgd.hidden(one) for one in _protected(config))
    worst = max(curve.at(given).upper.to_fraction() for given in candidates if given is not None)
    return {"base_mu": worst, "mean_runs": config.mean_runs}


def _all(one: Condition) -> Condition:
    return Condition(
        "runs-gaussian-dp", lambda config: all(map(one.holds, _protected(config))), f"for every candidate: {one.text}"
    )


_CONDITIONS = (
    *BEST_OF_POISSON, *towards("runs-gaussian-dp", REPLACE), _all(DISJOINT_BATCHES), _all(CONTRACTS),
    said("runs-gaussian-dp", "public_validation", "the records that score are public"),
)

poisson_tuned_noisy_cgd = Algorithm(
    name="poisson-tuned-noisy-cgd",
    document="000, Section 5",
    summary="the best of a Poisson number of runs of NoisyCGD, each with hyper-parameters drawn from a grid",
    parameters=(
        vocabulary.loss.choosing(*glm.LOSSES), vocabulary.learning_rates, vocabulary.regularisations,
        vocabulary.clip_norm.finite(), vocabulary.noise_on_mean.above(0), vocabulary.batch_size,
        vocabulary.epochs.at_least(1), vocabulary.feature_norm, vocabulary.mean_runs, vocabulary.validation_records,
    ),
    training=(vocabulary.score,),
    setting=(
        vocabulary.dataset_size, vocabulary.delta.open(), vocabulary.neighbours, vocabulary.run_count,
        vocabulary.released_runs,
    ),
    stated=(vocabulary.public_validation,),
    trained=lambda config: {"run_count": "poisson", "released_runs": "best_run", "public_validation": "true"},
    released="output",
    neighbours="replace",
    guarantees=(
        Guarantee("poisson-tuning.epsilon", "by the privacy curve of the worst candidate's run", _worst, _CONDITIONS),
    ),
    check=check,
    reach=_reach,
    reference=train,
    batched="oracle.algorithms.tuning.torch_tuned_noisy_cgd:twin",
    source=("relu-approx/thm-5.1", "relu-approx/thm-2.8-formula"),
)
