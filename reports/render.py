"""From the collected report to one self-contained HTML page: no script, no network, formulas as MathML.

What cannot be shown rightly is an error, never a page with a hole: an undefined name in the template, LaTeX that does
not parse, or a command that the converter leaves as it stood.
"""

from __future__ import annotations

import functools
import html
import importlib
import importlib.util
from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, Decimal
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from jinja2 import Environment, PackageLoader, StrictUndefined
from latex2mathml.converter import convert_to_element
from markupsafe import Markup

from empirical.audits.audit import Audit
from empirical.audits.tightness import summary
from empirical.gate.league import league_tables
from empirical.mutants.mutant import SEVERITIES
from empirical.studies import record
from oracle.core.errors import OracleError
from oracle.core.registry import VALIDITIES
from reports.model import ClaimEntry, Report
from theorems.claim import by_severity
from theorems.show import WHOSE, scope_in_words
from theorems.verdict import Verdict

if TYPE_CHECKING:
    from reports.figures import Figure

VERDICT_MEANINGS = {
    "HOLDS": "the statement was found true, on the evidence named beside it",
    "REFUTED": "the statement is false: the witness is a counterexample that can be recomputed",
    "UNDECIDED": "the check came to no end; never counted as a pass",
    "AMBIGUOUS": "the document's words have readings of different verdicts, each a claim of its own",
    "VACUOUS": "nothing satisfies the hypotheses; never counted as a pass",
    "NOT_CHECKABLE": "the statement is too imprecise, or out of reach, to be checked by machine",
}
EVIDENCE_MEANINGS = {
    "PROVED": "every step computed: computer algebra, exact or certified arithmetic, for all values in scope",
    "ARGUED": "a written proof; the steps that are not computed are shown",
    "CERTIFIED_ON_BOX": "certified for every point of a stated box of parameters",
    "CHECKED_AT_POINTS": "certified at the points named, not between them",
    "STATISTICAL": "measured, with a stated confidence",
    "CITED": "taken from the literature; not checked here",
}
NEIGHBOUR_MEANINGS = {
    "replace": "one record is replaced", "add_remove": "one record is added or removed",
    "any": "whichever relation the sensitivity was measured under",
}
THREAT_MEANINGS = {
    "all_iterates": "the adversary sees everything that is released on the way",
    "last_iterate": "the adversary sees the last iterate only (hidden state)",
}
# latex2mathml writes these relations as identifiers, which a browser sets without any space around them.
_RELATIONS = {"\u27f9": "\u27f9", "\u27fa": "\u27fa", "~": "\u223c", ":": ":", ";": ";"}
_BARS = ("|", "\u2016")


@functools.lru_cache(maxsize=4096)
def mathml(latex: str) -> Markup:
    """A formula as a MathML element."""
    try:
        root = convert_to_element(latex, display="block")
    except Exception as error:  # the converter raises a class of its own for each kind of slip
        raise OracleError(f"formula {latex!r} does not convert: {type(error).__name__}") from None
    for element in root.iter():
        element.text = html.unescape(element.text or "") or None  # the converter writes its characters as entities
        if "\\" in (element.text or ""):
            raise OracleError(f"formula {latex!r} contains {element.text}, which the converter does not know")
    for parent in list(root.iter()):
        for element, following in zip_longest(parent, parent[1:]):
            _space(element, following)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _space(element: ElementTree.Element, following: ElementTree.Element | None) -> None:
    """Give operators the spaces of TeX, where the converter leaves none or a browser would add too many."""
    text = element.text or ""
    if element.tag == "mi" and text in _RELATIONS:
        element.tag, element.text = "mo", _RELATIONS[text]
    elif element.tag == "mo" and text in _BARS:
        element.attrib |= {"lspace": "0", "rspace": "0", "stretchy": "false"}
    elif element.tag in ("mi", "mo") and len(text) > 1 and text.isalpha():
        opened = following is not None and (following.text == "(" or following.text == "{")
        element.tag = "mo"
        element.attrib |= {"lspace": "0.167em", "rspace": "0" if opened else "0.167em"}


@functools.cache
def paper_title(paper: str) -> str:
    """What a paper's package says of itself in its first line, or nothing where there is no such package."""
    name = f"theorems.{paper.replace('-', '_')}"
    if importlib.util.find_spec(name) is None:
        return ""
    text = importlib.import_module(name).__doc__ or ""
    return text.strip().split("\n", 1)[0].removeprefix("Claims of ").rstrip(".")


def worst_first(entries: Sequence[ClaimEntry]) -> list[ClaimEntry]:
    """The claims in the order of every list for people."""
    place = {item.id: at for at, item in enumerate(by_severity(entry.checked.claim for entry in entries))}
    return sorted(entries, key=lambda entry: place[entry.checked.claim.id])


def by_paper(entries: Sequence[ClaimEntry]) -> list[tuple[str, list[ClaimEntry]]]:
    """The claims grouped by paper, papers in order of name, what matters most first."""
    ordered = sorted(worst_first(entries), key=lambda entry: entry.checked.claim.paper)
    return [(paper, list(group)) for paper, group in groupby(ordered, key=lambda entry: entry.checked.claim.paper)]


def refuted(entries: Sequence[ClaimEntry], *, of_document: bool) -> list[ClaimEntry]:
    """The refuted claims that are statements of a document, or those that are not, what matters most first."""
    return worst_first([
        entry for entry in entries
        if entry.checked.finding.verdict is Verdict.REFUTED and entry.checked.claim.of_document is of_document
    ])


def audited(report: Report) -> dict[str, list[str]]:
    """The ids of the false privacy claims by the claim that each is about."""
    result: dict[str, list[str]] = {}
    for item in report.false_claims:
        result.setdefault(item.false_claim.claim, []).append(item.false_claim.id)
    return result


def largest(audits: Iterable[Audit]) -> int:
    """The most models that one of some audits trained on each data set."""
    return max(item.plan.budget for item in audits)


def round_down(value: str | float, digits: int = 4) -> str:
    """A number with so many decimals, never above itself: what is certified as a lower bound stays one in print."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_FLOOR))


def environment() -> Environment:
    """The template environment: everything is escaped, and an unknown name is an error."""
    result = Environment(
        loader=PackageLoader("reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )
    result.filters["mathml"] = mathml
    result.filters["plain"] = lambda word: word.lower().replace("_", " ")
    result.filters["thousands"] = lambda number: f"{number:,}".replace(",", "\u202f")
    result.filters["round_down"] = round_down
    result.filters["paper_title"] = paper_title
    result.filters["scope_in_words"] = scope_in_words
    return result


def render(report: Report, *, figures: Sequence[Figure]) -> str:
    """The report as the text of an HTML page."""
    return environment().get_template("report.html.j2").render(
        report=report,
        totals=report.totals,
        papers=by_paper(report.claims),
        worst_first=worst_first,
        known={entry.checked.claim.id: entry for entry in report.claims},
        refuted=refuted(report.claims, of_document=True),
        refuted_readings=refuted(report.claims, of_document=False),
        whose_meanings=WHOSE,
        audited=audited(report),
        as_recorded=lambda item: record.differs(item, record.known(item.study)) == "",
        largest=largest,
        figures={figure.id: figure for figure in figures},
        campaigns={name: audit.plan for name, audit in report.audits},  # one line a campaign, however many estimators
        summary=summary(list(report.tightness)),
        markup=Markup,
        verdict_meanings=VERDICT_MEANINGS,
        evidence_meanings=EVIDENCE_MEANINGS,
        severity_meanings=SEVERITIES,
        neighbour_meanings=NEIGHBOUR_MEANINGS,
        threat_meanings=THREAT_MEANINGS,
        validity_meanings=VALIDITIES,
        league_summary_columns=league_tables.SUMMARY_COLUMNS,
        league_summaries=league_tables.summaries(report.league),
        league_columns=league_tables.COLUMNS,
        league_cells=league_tables.cells,
        training_columns=league_tables.TRAINING_COLUMNS,
        training_cells=league_tables.training_cells,
        auditor_columns=league_tables.AUDITOR_COLUMNS,
        auditor_cells=league_tables.auditor_cells,
    )
