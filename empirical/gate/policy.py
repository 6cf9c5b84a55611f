"""How strictly a target is judged: the slack, the rounding, what fails, and what the library offers at all.

    TIGHT, LOOSE     pass; LOOSE fails if a slack was asked for
    UNSOUND          fails, from the severity `fail_on` on (negligible, the default: every one); below it, it is told
    BELOW_FORMULA    not unsound: `undecided` (the default, exit code 3), `fail` for whoever implements that very
                     formula, or `pass` for whoever has a better one
    REFUSED          passes on invalid input, and on a word that is refused throughout
    the others       fail
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from empirical.gate.making.cases import Case
from empirical.gate.offers import EVERYTHING, Offers
from empirical.gate.severity import Severity
from empirical.gate.verdicts import ROUNDING, Answer, GateVerdict, Judgement, judge
from oracle.core.registry import Bound

UNDECIDED, FAIL, PASS = BELOW = ("undecided", "fail", "pass")


@dataclass(frozen=True)
class Policy:
    """What is allowed: `slack` times the truth plus `slack_absolute`, or any safe answer if both are None."""

    slack: Fraction | None = None
    slack_absolute: Fraction | None = None
    rounding: Fraction = ROUNDING
    fail_on: Severity = Severity.NEGLIGIBLE
    below_formula: str = UNDECIDED
    offers: Offers = EVERYTHING

    @property
    def loose_fails(self) -> bool:
        """Whether a slack was asked for."""
        return self.slack is not None or self.slack_absolute is not None

    def judge(self, bound: Bound, case: Case, answer: Answer) -> Judgement:
        """The verdict on an answer to a case of a bound."""
        return judge(
            case, answer, safe=bound.safe, slack=self.slack or Fraction(1), rounding=self.rounding,
            slack_absolute=self.slack_absolute or Fraction(0), tightness=bound.tightness.kind, unit=bound.unit,
        )

    def passes(self, case: Case, judgement: Judgement, *, unsupported: bool = False) -> bool:
        """Whether a verdict is good without being expected."""
        match judgement.verdict:
            case GateVerdict.TIGHT:
                return True
            case GateVerdict.LOOSE:
                return not self.loose_fails
            case GateVerdict.BELOW_FORMULA:
                return self.below_formula == PASS
            case GateVerdict.UNSOUND:
                return judgement.severity is not None and not judgement.severity.reaches(self.fail_on)
            case GateVerdict.REFUSED:
                return not case.valid or unsupported
        return False

    def undecided(self, judgement: Judgement) -> bool:
        """Whether a verdict that does not pass is no failure either."""
        return judgement.verdict is GateVerdict.BELOW_FORMULA and self.below_formula == UNDECIDED

    def to_json(self) -> dict[str, str | None]:
        """What a result says of it."""
        return {
            "slack": None if self.slack is None else str(self.slack),
            "slackAbsolute": None if self.slack_absolute is None else str(self.slack_absolute),
            "rounding": str(self.rounding), "failOn": str(self.fail_on), "belowFormula": self.below_formula,
            "offers": str(self.offers),
        }


DEFAULT = Policy()
