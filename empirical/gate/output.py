"""The results of the gate for people and for machines: a table, JSON, JUnit XML, and Markdown for a CI summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import Any
from xml.etree import ElementTree

from empirical.gate.result import AnyResult, Outcome, Result, TrainingResult, exit_code, severity
from empirical.gate.severity import Severity, everyday
from empirical.gate.vector_files import VERSION
from empirical.gate.verdicts import GateVerdict
from oracle.core.domain import clean
from oracle.core.plain import plain_object
from oracle.running.console import print_table, say
from oracle.running.markdown import block, shown, table

COLUMNS = ("target", "bound", "verdict", "cases", "outcome", "worst")
_LISTED = 10  # failing cases that are printed; JSON has them all
_CODES = {
    0: "passed", 1: "FAILED", 2: "no verdict: a target cannot be used",
    3: "undecided: nothing was judged, or answers lie below a formula that is no proof against them",
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
            say("\n" + "\n  ".join(lines))
        if len(failed) > _LISTED:
            say(f"\nand {_more(result, failed)} of {result.target} (--json lists them all)")
    said = [line for result in results for line in remarks(result)]
    if said:
        say("\n" + "\n".join(said))
    say(verdict_line(results))


def rows(result: AnyResult) -> Iterator[tuple[str, ...]]:
    """The table's rows: one for each verdict that occurred."""
    if isinstance(result, TrainingResult):
        yield (result.target, result.claim, result.verdict, "-", _outcome([result]), result.reason)
        return
    if not result.outcomes:
        yield (result.target, result.bound, "-", "0", "no verdict", result.unusable)
    for verdict, grade in ((one, grade) for one in GateVerdict for grade in _grades(one)):
        same = [
            outcome for outcome in result.outcomes
            if outcome.judgement.verdict is verdict and outcome.judgement.severity is grade
        ]
        if same:
            name = str(verdict) if grade is None else f"{verdict}, {grade}"
            yield (result.target, result.bound, name, str(len(same)), _outcome(same), _worst_told(result, same))
    if result.not_offered:
        told = str(result.policy.offers)
        yield (result.target, result.bound, "not offered", str(result.not_offered), "not asked", told)


def _grades(verdict: GateVerdict) -> tuple[Severity | None, ...]:
    """The severities of an unsound answer, the gravest first; other verdicts have none."""
    return tuple(reversed(Severity)) if verdict is GateVerdict.UNSOUND else (None,)


def _worst_told(result: Result, same: Sequence[Outcome]) -> str:
    """The worst of them: inside the everyday box, if there is any, and then only said to be an extreme if not."""
    if same[0].judgement.verdict not in (GateVerdict.UNSOUND, GateVerdict.BELOW_FORMULA, GateVerdict.LOOSE):
        return ""
    ordinary = [outcome for outcome in same if everyday(outcome.case, result.unit)]
    worst = max(ordinary or same, key=severity)
    return worst.judgement.detail + ("" if ordinary else " (extreme input)" if worst.judgement.detail else "")


def _outcome(same: Sequence[Outcome | TrainingResult]) -> str:
    unsettled = sum(isinstance(item, Outcome) and item.undecided for item in same)
    failed = sum(not item.good for item in same) - unsettled
    expected = sum(item.good and item.expected_failure is not None for item in same)
    excused = sum(isinstance(item, Outcome) and item.good and bool(item.why) for item in same) - expected
    told = [
        f"{count} {word}" for count, word in (
            (failed, "FAILED"), (unsettled, "undecided"), (expected, "expected"), (excused, "unsupported"),
        ) if count > 0
    ]
    return ", ".join(told) or "good"


def failures(result: AnyResult) -> Iterator[list[str]]:
    """The lines of each failure: a headline, then the call, the answer and the truth."""
    if isinstance(result, TrainingResult):
        if not result.good:
            yield [f"{result.verdict}  {result.target}", result.why]
        return
    # The gravest first; among equals the search's, which are shrunk.
    for outcome in sorted((*result.failures, *result.undecided), key=lambda item: (_rank(item), item.case.tc_id)):
        yield told(outcome)


def _more(result: AnyResult, failed: Sequence[list[str]]) -> str:
    undecided = isinstance(result, Result) and result.undecided
    return f"{len(failed) - _LISTED} more failures" + (" and undecided answers" if undecided else "")


def _rank(outcome: Outcome) -> int:
    """0 for what is gross or no answer at all, rising to what is not known to be wrong."""
    if outcome.undecided:
        return 3
    return {Severity.MATERIAL: 1, Severity.NEGLIGIBLE: 2}.get(outcome.judgement.severity or Severity.GROSS, 0)


def told(outcome: Outcome) -> list[str]:
    """A case as a person wants it who must mend what is wrong."""
    case, judged, truth = outcome.case, outcome.judgement, outcome.case.expected
    name = case.name if case.tc_id else f"{case.bound}, search"
    comment = f" ({case.comment})" if case.comment and case.tc_id else ""
    lines = [
        " ".join(filter(None, [str(judged.verdict), str(judged.severity or "")])) + f"  {name}{comment}",
        f"call       {outcome.call}",
        f"answer     {judged.answer}" + (f": {judged.detail}" if judged.detail else ""),
        "certified  a refusal" if truth is None
        else f"certified  [{float(truth.lower):.17g}, {float(truth.upper):.17g}]",
    ]
    if truth is not None and truth.attained is not None:
        lines.append(f"attained   {float(truth.attained):.17g}: the truth is not below")
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
    if result.not_offered:
        yield f"{name}: {result.not_offered} cases not offered, and not asked ({result.policy.offers})"
    passed = [o for o in result.outcomes if o.good and o.judgement.severity is not None and o.expected_failure is None]
    if passed:
        yield f"{name}: {len(passed)} unsound answers below {result.policy.fail_on}, which --fail-on lets pass"
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
    asked = [
        item.questions if isinstance(item, Result) else {"judged": 1, "failed": int(not item.good), "undecided": 0}
        for item in results
    ]
    judged, failed, undecided = (sum(item[key] for item in asked) for key in ("judged", "failed", "undecided"))
    searched = judged - sum(len(item.outcomes) if isinstance(item, Result) else 1 for item in results)
    told = f"gate: {_CODES[exit_code(results)]}; {judged} {'case' if judged == 1 else 'cases'} judged"
    told += (f" ({searched} by the search)" if searched else "") + f", {failed} failed"
    return told + (f", {undecided} undecided" if undecided else "")


def junit(results: Sequence[AnyResult]) -> str:
    """JUnit XML: a suite for each result, a test case for each case; what is excused is skipped, with the reason."""
    root = ElementTree.Element("testsuites", name="dp-oracle gate")
    for result in results:
        suite = ElementTree.SubElement(root, "testsuite", name=f"{result.target} {_subject(result)}")
        cases = list(_training_case(result) if isinstance(result, TrainingResult) else _bound_cases(result))
        for name, kind, message, text in cases:
            case = ElementTree.SubElement(suite, "testcase", classname=result.target, name=name)
            if kind:
                ElementTree.SubElement(case, kind, message=message).text = text
        for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(attribute, str(sum(case[1] == kind for case in cases)))
        suite.set("tests", str(len(cases)))
        suite.set("time", f"{result.seconds:.3f}")
    ElementTree.indent(root)
    return clean(ElementTree.tostring(root, encoding="unicode", xml_declaration=True)) + "\n"


def _subject(result: AnyResult) -> str:
    return result.bound if isinstance(result, Result) else result.claim


def _bound_cases(result: Result) -> Iterator[tuple[str, str, str, str]]:
    """Name, kind of trouble, message and text of each test case."""
    if result.unusable or result.interrupted:
        message = result.unusable or "interrupted"
        yield (f"{result.bound}/target", "error", message, message)
    for outcome in result.outcomes:
        yield (outcome.case.name, *_trouble(outcome))
    if result.not_offered:
        message = f"{result.not_offered} cases not offered: {result.policy.offers}"
        yield (f"{result.bound}/not offered", "skipped", message, message)
    if result.searched is not None:
        found = [outcome for outcome in result.searched.worst if not outcome.good or outcome.expected_failure]
        for outcome in found:
            yield (f"{result.bound}/search {outcome.judgement.verdict}", *_trouble(outcome))
        if not found:
            kind = "" if result.searched.judged else "skipped"
            yield (f"{result.bound}/search", kind, result.searched.told, result.searched.told)


def _trouble(outcome: Outcome) -> tuple[str, str, str]:
    judged = outcome.judgement
    if outcome.undecided:
        return "skipped", f"{judged.verdict}, undecided: {judged.detail}", "\n".join(told(outcome))
    if not outcome.good:
        graded = f"{judged.verdict} {judged.severity}" if judged.severity is not None else str(judged.verdict)
        return "failure", f"{graded}: {outcome.why or judged.detail}", "\n".join(told(outcome))
    excused = outcome.expected_failure is not None or outcome.why
    return ("skipped" if excused else "", f"{judged.verdict}: {outcome.why}", outcome.call)


def _training_case(result: TrainingResult) -> Iterator[tuple[str, str, str, str]]:
    kind = "error" if result.verdict == "INVALID" else "failure"
    if result.good:
        kind = "" if result.expected_failure is None else "skipped"
    yield (f"{result.target} {result.claim}", kind, result.why or result.reason, result.reason)


def markdown(results: Sequence[AnyResult]) -> str:
    """A section for a CI summary: what it comes to, a table, and the failures with their calls."""
    lines = [f"### dp-oracle {verdict_line(results)}", ""]
    lines += table(COLUMNS, [row for result in results for row in rows(result)])
    lines.append("")
    for result in results:
        failed = list(failures(result))
        for headline, *details in failed[:_LISTED]:
            lines += [f"- **{shown(headline)}**", "", *block(details, indent="  ")]
        if len(failed) > _LISTED:
            lines.append(f"- and {_more(result, failed)} of {shown(result.target)}")
    said = [line.strip() for result in results for line in remarks(result)]
    return "\n".join([*lines, "", *(f"- {shown(line)}" for line in said), ""])
