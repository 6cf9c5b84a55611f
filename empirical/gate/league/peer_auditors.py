"""The auditors of real libraries, as functions that `gate_auditors` can judge.

Each hands over what the library documents: in jax-privacy held-in scores are the higher ones, and significance is one
minus confidence. Methods that assume Gaussian DP are judged on Gaussian pairs only, methods of one run on canaries that
were put in by fair coins. The libraries are imported inside the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from empirical.estimators.binomial import Array
from empirical.estimators.coverage import PAIRS
from empirical.gate.adapters import installed_version
from empirical.gate.league.auditor_cases import AuditorVerdict, Record, judge
from empirical.gate.league.league import AuditorRow


@dataclass(frozen=True)
class PeerAuditor:
    """One method of a library: what it assumes, and how many audits of how many models judge it."""

    library: str
    distribution: str
    method: str
    function: Callable[..., Any]
    gaussian: bool = False
    one_run: bool = False
    repetitions: int = 400
    models: int = 200
    overclaims: tuple[str, ...] = ()

    def expected(self, pair: str) -> str:
        """The verdict that is known of it on a pair; a change in either direction is a regression."""
        return AuditorVerdict.OVERCLAIMS if pair in self.overclaims else AuditorVerdict.VALID

    @property
    def version(self) -> str | None:
        """The version that is installed, or None."""
        return installed_version(self.distribution)

    def judge(self, *, repetitions: int | None = None, seed: int = 0) -> tuple[Record, ...]:
        """One record a pair on which the method promises a bound."""
        return judge(
            self.function, name=f"{self.library} {self.method}", repetitions=repetitions or self.repetitions,
            pairs=[pair for pair in PAIRS if pair.gaussian or not self.gaussian], models=self.models,
            one_run=self.one_run, seed=seed,
        )

    def rows(self) -> Iterator[AuditorRow]:
        """What is found on each pair."""
        for record in self.judge():
            yield AuditorRow(
                library=self.library, version=self.version or "", auditor=self.method, pair=record.pair,
                true_epsilon=record.truth, confidence=record.confidence, repetitions=record.repetitions,
                overclaims=record.overclaims, crashes=record.crashes, median=record.median, verdict=str(record.verdict),
                as_expected=str(record.verdict) == self.expected(record.pair),
            )


def _canary_scores(scores_a: Array, scores_b: Array) -> Any:
    from jax_privacy.auditing import CanaryScoreAuditor

    return CanaryScoreAuditor(in_canary_scores=scores_b, out_canary_scores=scores_a)


def jax_clopper_pearson(scores_a: Array, scores_b: Array, *, delta: float, confidence: float) -> Any:
    """Bounds of the two rates at every threshold, corrected for their number."""
    return _canary_scores(scores_a, scores_b).epsilon_clopper_pearson(significance=1 - confidence, delta=delta)


def jax_clopper_pearson_two_sided(scores_a: Array, scores_b: Array, *, delta: float, confidence: float) -> Any:
    """The same for both directions of the definition."""
    return _canary_scores(scores_a, scores_b).epsilon_clopper_pearson(
        significance=1 - confidence, delta=delta, one_sided=False
    )


def jax_clopper_pearson_split(scores_a: Array, scores_b: Array, *, delta: float, confidence: float) -> Any:
    """A threshold from half of the scores, the bound from the other."""
    from jax_privacy.auditing import Split

    return _canary_scores(scores_a, scores_b).epsilon_clopper_pearson(
        significance=1 - confidence, delta=delta, threshold_strategy=Split(seed=0)
    )


def jax_gdp(scores_a: Array, scores_b: Array, *, delta: float, confidence: float) -> Any:
    """A bound on mu, and the epsilon of that mu."""
    return _canary_scores(scores_a, scores_b).epsilon_from_gdp(significance=1 - confidence, delta=delta)


def jax_one_run(scores_a: Array, scores_b: Array, *, delta: float, confidence: float) -> Any:
    """Many canaries in one run."""
    return _canary_scores(scores_a, scores_b).epsilon_one_run(significance=1 - confidence, delta=delta)


def jax_one_run_fdp(scores_a: Array, scores_b: Array, *, delta: float, confidence: float) -> Any:
    """The same for the trade-off curve of a Gaussian mechanism, which is what the library inverts."""
    return _canary_scores(scores_a, scores_b).epsilon_one_run_fdp(significance=1 - confidence, delta=delta)


AUDITORS = (
    PeerAuditor("jax-privacy", "jax-privacy", "epsilon_clopper_pearson", jax_clopper_pearson),
    PeerAuditor(
        "jax-privacy", "jax-privacy", "epsilon_clopper_pearson(one_sided=False)", jax_clopper_pearson_two_sided
    ),
    PeerAuditor("jax-privacy", "jax-privacy", "epsilon_clopper_pearson(Split)", jax_clopper_pearson_split),
    # It takes the absolute value of a lower bound on mu, so that no evidence (below 0) is read as much of it.
    PeerAuditor(
        "jax-privacy", "jax-privacy", "epsilon_from_gdp", jax_gdp, gaussian=True,
        overclaims=("identical", "gaussian 0.5"),
    ),
    PeerAuditor("jax-privacy", "jax-privacy", "epsilon_one_run", jax_one_run, one_run=True, models=400),
    PeerAuditor(
        "jax-privacy", "jax-privacy", "epsilon_one_run_fdp", jax_one_run_fdp, gaussian=True, one_run=True,
        repetitions=50, models=400,
    ),
)
