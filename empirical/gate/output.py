"""The results of the gate for people and for machines: a table, JSON, JUnit XML, and Markdown for a CI summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import Any
from xml.etree import ElementTree

from empirical.gate.result import AnyResult, Outcome, Result, TrainingResult, exit_code
from empirical.gate.vector_files import VERSION
from empirical.gate.verdicts import GateVerdict
from oracle.core.console import print_table
from oracle.core.plain import plain_object

COLUMNS = ("target", "bound", "verdict", "cases", "outcome", "worst")
_LISTED = 10  # failing cases that are printed; JSON has them all
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold
_CODES = {
    0: "passed", 1: "FAILED", 2: "no verdict: a target cannot be used", 3: "undecided: nothing was judged",
    130: "interrupted",
}


def document(results: Sequence[AnyResult]) -> dict[str, Any]:
    """The JSON document of a run, valid under schemas/result.schema.json."""
    return plain_object({
        "schema": "result.schema.json",
        "generator": {"name": "dp-oracle", "version": metadata.version("dp-oracle"), "vectorsVersion": VERSION},
        "exitCode": exit_code(results), "results": results,
    })


def print_results(results: Sequence[AnyResult]) -> None:
    """The table, then every failure with its exact call, then what else must be said, and the verdict on it all."""
    print_table(COLUMNS, [row for result in results for row in rows(result)])
    for result in results:
        failed = list(failures(result))
        for lines in failed[:_LISTED]:
            print("\n" + "\n  ".join(lines))
        if len(failed) > _LISTED:
            print(f"\nand {len(failed) - _LISTED} more failures of {result.target} (--json lists them all)")
    said = [line for result in results for line in remarks(result)]
    if said:
        print("\n" + "\n".join(said))
    print(verdict_line(results))


def rows(result: AnyResult) -> Iterator[tuple[str, ...]]:
    """The table's rows: one for each verdict that occurred."""
    if isinstance(result, TrainingResult):
        yield (result.target, result.claim, result.verdict, "-", _outcome([result]), result.reason)
        return
    if not result.outcomes:
        yield (result.target, result.bound, "-", "0", "no verdict", result.unusable)
    for verdict, count in result.counts.items():
        if count:
            same = [outcome for outcome in result.outcomes if outcome.judgement.verdict is verdict]
            worst = result.worst(verdict) if verdict in (GateVerdict.UNSOUND, GateVerdict.LOOSE) else None
            yield (
                result.target, result.bound, str(verdict), str(count), _outcome(same),
                "" if worst is None else worst.judgement.detail,
            )


def _outcome(same: Sequence[Outcome | TrainingResult]) -> str:
    failed = sum(not item.good for item in same)
    expected = sum(item.good and item.expected_failure is not None for item in same)
    excused = sum(isinstance(item, Outcome) and item.good and bool(item.why) for item in same) - expected
    told = [
        f"{count} {word}" for count, word in ((failed, "FAILED"), (expected, "expected"), (excused, "unsupported"))
        if count > 0
    ]
    return ", ".join(told) or "good"


def failures(result: AnyResult) -> Iterator[list[str]]:
    """The lines of each failure: a headline, then the call, the answer and the truth."""
    if isinstance(result, TrainingResult):
        if not result.good:
            yield [f"{result.verdict}  {result.target}", result.why]
        return
    for outcome in sorted(result.failures, key=lambda item: item.case.tc_id):  # the search's, shrunk, come first
        yield told(outcome)


def told(outcome: Outcome) -> list[str]:
    """A case as a person wants it who must mend what is wrong."""
    case, judged, truth = outcome.case, outcome.judgement, outcome.case.expected
    name = case.name if case.tc_id else f"{case.bound}, search"
    comment = f" ({case.comment})" if case.comment and case.tc_id else ""
    lines = [
        f"{judged.verdict}  {name}{comment}", f"call       {outcome.call}",
        f"answer     {judged.answer}" + (f": {judged.detail}" if judged.detail else ""),
        "certified  a refusal" if truth is None
        else f"certified  [{float(truth.lower):.17g}, {float(truth.upper):.17g}]",
    ]
    if case.flags and case.tc_id:
        lines.append(f"flags      {', '.join(case.flags)}")
    return lines + ([f"why        {outcome.why}"] if outcome.why else [])


def remarks(result: AnyResult) -> Iterator[str]:
    """What else must be said of a result."""
    if isinstance(result, TrainingResult):
        return
    name = f"{result.target}, {result.bound}"
    if result.interrupted:
        yield f"{name}: interrupted after {len(result.outcomes)} cases"
    if result.unusable and result.outcomes:
        yield f"{name}: {result.unusable}"
    for item in result.unsupported:
        yield f"{name}: {item}"
    known = [outcome for outcome in result.expected_failures if outcome.expected_failure is not None]
    for place in dict.fromkeys(o.expected_failure.place for o in known if o.expected_failure is not None):
        same = [o for o in known if o.expected_failure is not None and o.expected_failure.place == place]
        yield f"{name}: {len(same)} expected {same[0].judgement.verdict} by {place}: {same[0].why}"
    if result.searched is not None:
        yield f"{name}: {result.searched.told}"
        for entry in result.searched.not_found:
            yield f"  {entry.verdict} is expected of the search by {entry.place}, and was not found this time"
        for outcome in result.searched.worst:
            if outcome.good:
                yield f"  {outcome.judgement.verdict} at worst: {outcome.call} = {outcome.judgement.answer}, " + (
                    outcome.judgement.detail or "as certified"
                )


def verdict_line(results: Sequence[AnyResult]) -> str:
    """The last line: what it all comes to."""
    judged = sum(len(item.outcomes) if isinstance(item, Result) else 1 for item in results)
    failed = sum(len(item.failures) if isinstance(item, Result) else not item.good for item in results)
    return f"gate: {_CODES[exit_code(results)]}; {judged} {'case' if judged == 1 else 'cases'} judged, {failed} failed"


def junit(results: Sequence[AnyResult]) -> str:
    """JUnit XML: a suite for each result, a test case for each case; what is excused is skipped, with the reason."""
    root = ElementTree.Element("testsuites", name="dp-oracle gate")
    for result in results:
        suite = ElementTree.SubElement(root, "testsuite", name=_xml(f"{result.target} {_subject(result)}"))
        cases = list(_training_case(result) if isinstance(result, TrainingResult) else _bound_cases(result))
        for name, kind, message, text in cases:
            case = ElementTree.SubElement(suite, "testcase", classname=_xml(result.target), name=_xml(name))
            if kind:
                ElementTree.SubElement(case, kind, message=_xml(message)).text = _xml(text)
        for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(attribute, str(sum(case[1] == kind for case in cases)))
        suite.set("tests", str(len(cases)))
        suite.set("time", f"{result.seconds:.3f}")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _subject(result: AnyResult) -> str:
    return result.bound if isinstance(result, Result) else result.claim


def _bound_cases(result: Result) -> Iterator[tuple[str, str, str, str]]:
    """Name, kind of trouble, message and text of each test case."""
    if result.unusable or result.interrupted:
        message = result.unusable or "interrupted"
        yield (f"{result.bound}/target", "error", message, message)
    for outcome in result.outcomes:
        yield (outcome.case.name, *_trouble(outcome))
    if result.searched is not None:
        found = [outcome for outcome in result.searched.worst if not outcome.good or outcome.expected_failure]
        for outcome in found:
            yield (f"{result.bound}/search {outcome.judgement.verdict}", *_trouble(outcome))
        if not found:
            kind = "" if result.searched.judged else "skipped"
            yield (f"{result.bound}/search", kind, result.searched.told, result.searched.told)


def _trouble(outcome: Outcome) -> tuple[str, str, str]:
    judged = outcome.judgement
    if not outcome.good:
        return "failure", f"{judged.verdict}: {outcome.why or judged.detail}", "\n".join(told(outcome))
    excused = outcome.expected_failure is not None or outcome.why
    return ("skipped" if excused else "", f"{judged.verdict}: {outcome.why}", outcome.call)


def _training_case(result: TrainingResult) -> Iterator[tuple[str, str, str, str]]:
    kind = "error" if result.verdict == "INVALID" else "failure"
    if result.good:
        kind = "" if result.expected_failure is None else "skipped"
    yield (f"{result.target} {result.claim}", kind, result.why or result.reason, result.reason)


def _xml(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def markdown(results: Sequence[AnyResult]) -> str:
    """A section for a CI summary: what it comes to, a table, and the failures with their calls."""
    lines = [f"### dp-oracle {verdict_line(results)}", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for result in results for row in rows(result)]
    lines.append("")
    for result in results:
        failed = list(failures(result))
        for headline, *details in failed[:_LISTED]:
            lines += [f"- **{_cell(headline)}**", "", "  ```", *(f"  {line}" for line in details), "  ```"]
        if len(failed) > _LISTED:
            lines.append(f"- and {len(failed) - _LISTED} more failures of {_cell(result.target)}")
    said = [line.strip() for result in results for line in remarks(result)]
    return "\n".join([*lines, "", *(f"- {_cell(line)}" for line in said), ""])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")
