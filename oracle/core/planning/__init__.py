"""What is proved of a training configuration: every guarantee of its algorithm, held against its hypotheses.

A guarantee is PROVED where all hypotheses of its bound are met, CONDITIONAL where the configuration does not say or
floating point meets one only up to rounding, of which the theorem says nothing, and DOES NOT APPLY where one is not
met. Bounds on the risk are judged alike, beside those on privacy. A plan comes from a file or a mapping of keys
(`plan`), or from a training of ours (`plan_of_training`), whose implementation makes most hypotheses true.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values
from oracle.core.domain import Number, Value, parse_all, word
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError, PrecisionError
from oracle.core.hypotheses import MET, NOT_MET, ROUNDED, UNKNOWN, Hypothesis, together
from oracle.core.planning.accounting import epsilon_of
from oracle.core.reading import read_toml
from oracle.core.registry import algorithm, algorithms, bound

PROVED, CONDITIONAL, DOES_NOT_APPLY, UNDECIDED = "PROVED", "CONDITIONAL", "DOES NOT APPLY", "UNDECIDED"


@dataclass(frozen=True)
class JudgedHypothesis:
    """A hypothesis of a bound held against a configuration, and the conditions that decided it, in words."""

    hypothesis: Hypothesis
    status: str
    conditions: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class JudgedGuarantee:
    """A guarantee held against a configuration; of `epsilon` and `risk` it has what its bound is about, or neither."""

    guarantee: Guarantee
    status: str
    hypotheses: tuple[JudgedHypothesis, ...]
    parameters: Mapping[str, str]
    epsilon: Enclosure | None
    delta: Fraction
    reason: str = ""
    risk: Enclosure | None = None


@dataclass(frozen=True)
class Plan:
    """What is known of one configuration: every guarantee judged, and the best that is proved."""

    algorithm: Algorithm
    config: Values
    judged: tuple[JudgedGuarantee, ...]
    risks: tuple[JudgedGuarantee, ...] = ()

    @property
    def best(self) -> JudgedGuarantee | None:
        """The proved guarantee of the least epsilon; None if nothing is proved."""
        return _least(item for item in self.judged if item.status == PROVED)

    @property
    def best_of_exact_arithmetic(self) -> JudgedGuarantee | None:
        """The same of the guarantees that would be proved if nothing were rounded."""
        return _least(
            item for item in self.judged
            if item.epsilon is not None and all(one.status in (MET, ROUNDED) for one in item.hypotheses)
        )

    @property
    def claim_is_proved(self) -> bool | None:
        """Whether a proved guarantee is at most the claimed epsilon; None without a claim."""
        if self.config.claimed_epsilon is None:
            return None
        best = self.best
        return best is not None and best.epsilon is not None and best.epsilon.certainly_le(self.config.claimed_epsilon)


def _least(judged: Iterable[JudgedGuarantee]) -> JudgedGuarantee | None:
    known = [item for item in judged if item.epsilon is not None]
    return min(known, key=lambda item: item.epsilon.upper.to_fraction(), default=None)  # type: ignore[union-attr]


def read(path: Path) -> tuple[Algorithm, dict[str, Any]]:
    """The algorithm and the keys of a TOML file; every fault of the file is a DomainError that names it."""
    given = read_toml(path, parse_float=Decimal)
    for name, value in given.items():
        if isinstance(value, dict):
            raise DomainError(f"{name} is a table; the keys of a configuration stand at the top of the file")
    if "algorithm" not in given:
        raise DomainError(f"{path} has no key algorithm: one of {', '.join(algorithms())}")
    item = algorithm(str(given.pop("algorithm")))
    return item, {name: word(value) for name, value in given.items()}


def judge(item: Algorithm, config: Values) -> Plan:
    """Every guarantee of the algorithm, held against a plan's configuration."""
    judged, risks = (
        tuple(_judge(guarantee, config) for guarantee in group) for group in (item.guarantees, item.risks)
    )
    return Plan(item, config, judged, risks)


def plan(item: Algorithm, given: Mapping[str, Any]) -> Plan:
    """What is proved of a configuration, given by its keys."""
    return judge(item, item.parse_plan(given))


def plan_of_training(item: Algorithm, config: Values, *, records: int, delta: Number) -> Plan:
    """What is proved of our own training with a parsed configuration on that many records."""
    return judge(item, item.as_trained(config, records=records, delta=vocabulary.delta.open().rational(delta)))


def trained_plan(item: Algorithm, given: Mapping[str, Any]) -> Plan:
    """What is proved of our own training, given by its keys with dataset_size, and delta unless it is pure."""
    wanted = {parameter.name for parameter in (*item.parameters, *item.training)} | {"noise_multiplier"}
    asked = {"dataset_size": vocabulary.dataset_size}
    if "delta" in given or any(key.name == "delta" for key in item.keys):
        asked["delta"] = vocabulary.delta.open()
    extra = tuple(parameter for name, parameter in asked.items() if name not in wanted)
    values = parse_all(f"the training of {item.name}", extra, {k: v for k, v in given.items() if k not in wanted})
    config = item.parse({name: value for name, value in given.items() if name in wanted})
    known = {**vars(config), **values}
    return judge(item, item.as_trained(config, records=known["dataset_size"], delta=known.get("delta", Fraction(0))))


def proved_epsilon(item: Algorithm, config: Values, *, records: int, delta: Number) -> Enclosure:
    """The least epsilon that is proved of our own training; a DomainError says why nothing is."""
    found = plan_of_training(item, config, records=records, delta=delta)
    if found.best is None or found.best.epsilon is None:
        raise DomainError(f"algorithm = {item.name} has no guarantee: {why_not(found)}")
    return found.best.epsilon


def epsilon_of_exact_arithmetic(found: Plan) -> Enclosure:
    """What audits hold a training to: the least epsilon that would be proved of it if nothing were rounded."""
    best = found.best_of_exact_arithmetic
    if best is None or best.epsilon is None:
        raise DomainError(f"algorithm = {found.algorithm.name} has no guarantee: {why_not(found)}")
    return best.epsilon


def why_not(found: Plan) -> str:
    """Why nothing is proved, in words."""
    if not found.judged:
        return "no bound accounts for it"
    return "; ".join(f"{item.guarantee.bound}: {item.reason}" for item in found.judged)


def judged_hypotheses(guarantee: Guarantee, config: Values) -> tuple[JudgedHypothesis, ...]:
    """Every hypothesis of the guarantee's bound, decided by its conditions; one without any is unknown."""

    def judged(hypothesis: Hypothesis) -> JudgedHypothesis:
        found = [(item.text, item.status(config)) for item in guarantee.conditions if item.decides == hypothesis.name]
        found = found or [(hypothesis.words, UNKNOWN)]
        return JudgedHypothesis(hypothesis, together([status for _, status in found]), tuple(found))

    return tuple(judged(hypothesis) for hypothesis in bound(guarantee.bound).hypotheses)


def _judge(guarantee: Guarantee, config: Values) -> JudgedGuarantee:
    hypotheses = judged_hypotheses(guarantee, config)
    delta = Fraction(getattr(config, "delta", None) or 0)
    about_risk = bound(guarantee.bound).unit == "risk"

    def unmet(status: str) -> str:
        return "; ".join(dict.fromkeys(
            words for item in hypotheses for words, found in item.conditions if found == status
        ))

    def result(
        status: str, parameters: Mapping[str, Any], value: Enclosure | None, reason: str = ""
    ) -> JudgedGuarantee:
        texts = {name: _text(value) for name, value in parameters.items()}
        needs_delta = not about_risk and (bound(guarantee.bound).unit != "epsilon" or "delta" in texts)
        at = delta if needs_delta else Fraction(0)
        epsilon, risk = (None, value) if about_risk else (value, None)
        return JudgedGuarantee(guarantee, status, hypotheses, texts, epsilon, at, reason, risk)

    if unmet(NOT_MET):
        return result(DOES_NOT_APPLY, {}, None, "not met: " + unmet(NOT_MET))
    parameters: Mapping[str, Any] | None = {}
    try:
        parameters = guarantee.parameters(config)
        if parameters is None:
            return result(CONDITIONAL, {}, None, "a key that the bound needs is not given")
        if about_risk:
            value = bound(guarantee.bound).at(parameters)
        else:
            parameters = _with_delta(guarantee.bound, parameters, delta)
            value = epsilon_of(guarantee.bound, parameters, delta)
    except DomainError as error:
        return result(DOES_NOT_APPLY, parameters or {}, None, str(error))
    except PrecisionError as error:
        return result(UNDECIDED, parameters or {}, None, str(error))
    missing = {"not said": unmet(UNKNOWN), "met up to rounding only": unmet(ROUNDED)}
    reason = "; ".join(f"{words}: {which}" for words, which in missing.items() if which)
    return result(CONDITIONAL if reason else PROVED, parameters, value, reason)


def _with_delta(name: str, parameters: Mapping[str, Any], delta: Fraction) -> Mapping[str, Any]:
    asks = any(parameter.name == "delta" for parameter in bound(name).parameters)
    return {**parameters, "delta": delta} if asks and "delta" not in parameters else parameters


def _text(value: Value) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
