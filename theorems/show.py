"""What `dp-oracle check` prints: a page of a claim, or a few lines where many are checked, and a summary at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from oracle.core.plain import plain_object
from oracle.running.console import print_line, print_wrapped, say
from theorems.claim import Checked, Claim, Whose, by_severity
from theorems.graph import Standing, consequences, users
from theorems.run import Failed
from theorems.verdict import Evidence, Finding, Verdict

Lines = list[tuple[str, str]]

WHOSE = {
    Whose.PRINTED: "printed in the document", Whose.TYPO: "printed in the document, evidently a misprint",
    Whose.READING: "our reading of words that can be read otherwise", Whose.OURS: "ours",
}


def scope_in_words(finding: Finding) -> str:
    """How much of the hypotheses a finding covers."""
    scope = finding.scope
    if scope is None:
        return "nothing was computed"
    if scope.kind == "all":
        return "every value that meets the hypotheses"
    if scope.kind == "instance":
        refutes = finding.verdict is Verdict.REFUTED
        return "one instance, which refutes" if refutes else "the printed numbers and no more"
    kind = "points" if scope.kind == "points" else "pieces of a box"
    where = "; ".join(f"{name}: {words}" for name, words in scope.region.items())
    return f"{scope.met} of {scope.tried} {kind} met the hypotheses" + (f" ({where})" if where else "")


def brief(item: Checked) -> Lines:
    """What everybody wants to know."""
    lines = [("claims", item.claim.words), ("because", item.finding.summary)]
    if item.finding.witness:
        lines.append(("witness", ", ".join(f"{key} = {value}" for key, value in item.finding.witness.items())))
    return lines


def page(item: Checked, table: Mapping[str, Claim], known: Standing) -> Lines:
    """All that is known of a claim; verdicts of other claims are the found ones, else the established ones."""

    def listed(names: Iterable[str]) -> str:
        ordered = (one.id for one in by_severity(table[name] for name in names))
        return ", ".join(f"{name} ({known[name].verdict.value}, {known[name].evidence.value})" for name in ordered)

    asked = item.claim
    first, *others = brief(item)
    quoted = [("document", f'"{asked.quote}"')] if asked.quote else []
    lines = [first, *quoted, ("whose", WHOSE[asked.whose]), ("matters", asked.severity.value)]
    lines += [("formally", asked.statement)]
    lines += [("given", f"{parameter.name}: {parameter.domain}" + (parameter.meaning and f" ({parameter.meaning})"))
              for parameter in asked.hypotheses]
    lines += [*others, ("scope", scope_in_words(item.finding))]
    lines += [(step.kind, step.words) for step in item.finding.steps]
    if item.capped_by:
        lines += [("capped", f"no stronger than {item.capped_by}, on which the check rests")]
    falls, survives = consequences(table, asked.id, known)
    related = (
        ("readings", asked.readings), ("uses", asked.uses), ("rests on", asked.rests_on),
        ("used by", users(table, asked.id)), ("falls", falls), ("survives", survives),
    )
    lines += _repair(item, known) + [(label, listed(names)) for label, names in related if names]
    return lines + _studies(asked)


def _studies(asked: Claim) -> Lines:
    """The studies of utility rates that are about a claim, with what is on record of them."""
    from empirical.studies import record  # with all that studies need it takes a second to load
    from empirical.studies.study import studies

    found = [(name, record.known(item)) for name, item in studies().items() if asked.id in item.source]
    return [("study", f"{name}: {'not run' if entry is None else f'{entry.verdict}, {entry.reason}'}")
            for name, entry in found]


def _repair(item: Checked, known: Standing | None = None) -> Lines:
    name = item.claim.repaired_by
    if name is None:
        return []
    found = "" if known is None else f" ({known[name].verdict.value}, {known[name].evidence.value})"
    return [("repair", name + found)]


def as_json(item: Checked | Failed, table: Mapping[str, Claim], known: Standing) -> dict[str, Any]:
    """The stable JSON object of one claim, or its id and the error.

    id, source, quote (the document's words), statement (LaTeX), words, whose, severity, hypotheses (name, domain);
    verdict, evidence, summary, witness (name: number as text), scope (kind, tried, met, region; or null) and steps
    (words, computed) are what was found; expected, expected_evidence, as_expected and difference compare it with what
    is established; capped_by, repaired_by, readings, uses, rests_on, used_by, falls, survives are ids.
    """
    if isinstance(item, Failed):
        return {"id": item.claim.id, "error": item.error, "traceback": item.traceback}
    falls, survives = consequences(table, item.claim.id, known)
    return item.to_json() | plain_object({"used_by": users(table, item.claim.id), "falls": falls, "survives": survives})


def print_claim(item: Checked | Failed, table: Mapping[str, Claim], known: Standing, *, whole: bool) -> None:
    """One claim on standard output."""
    if isinstance(item, Failed):
        print_line("ERROR     ", f"{item.claim.id}   {item.error}")
        return
    finding = item.finding
    print_line(f"{finding.verdict.value:9} ", f"{item.claim.id}   ({item.claim.source})   "
               f"evidence: {finding.evidence.value}")
    for label, text in page(item, table, known) if whole else brief(item) + _repair(item):
        print_line(f"  {label:9} ", text)
    if not item.as_expected:
        print_line(f"  {'differs':9} ", item.difference, "bold red")


def print_summary(outcomes: Sequence[Checked | Failed], *, counts: bool) -> None:
    """Counts by paper, what is not proved by us, what differs, and how many are as expected."""
    checked = [item for item in outcomes if isinstance(item, Checked)]
    if counts:
        for paper in sorted({item.claim.paper for item in outcomes}):
            found = [item.finding for item in checked if item.claim.paper == paper]
            verdicts, evidence = Counter(f.verdict for f in found), Counter(f.evidence for f in found)
            counted = (*(f"{verdicts[kind]} {kind.value}" for kind in Verdict if verdicts[kind]), "|",
                       *(f"{evidence[kind]} {kind.value}" for kind in Evidence if evidence[kind]))
            print_line(f"{paper:12} ", " ".join(counted))
        for label, names in (
            ("CITED", [item.claim.id for item in checked if item.finding.evidence is Evidence.CITED]),
            ("UNDECIDED", [item.claim.id for item in checked if item.finding.verdict is Verdict.UNDECIDED]),
        ):
            print_wrapped(f"{label:12} ", ", ".join(names) or "none")
    for item in outcomes:
        wrong = f"ERROR        {item.claim.id}: {item.error}" if isinstance(item, Failed) else (
            "" if item.as_expected else f"CHANGED      {item.claim.id}: {item.difference}"
        )
        if wrong:
            print_line("", wrong, "bold red")
    say(f"{sum(item.as_expected for item in checked)} of {len(outcomes)} verdicts as expected")
