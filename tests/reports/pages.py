"""A report's page taken apart, and small reports to put together: what the tests of this folder share."""

from __future__ import annotations

import functools
import re
from collections import Counter
from html.parser import HTMLParser

from oracle.running.console import run
from reports import audit_figures, figures, rate_figures
from reports.cli import app
from reports.model import Report, ReportScope
from reports.render import render

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Everything that the assertions below ask of a page, gathered in one pass."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.headings: list[int] = []
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.math_within: Counter[str] = Counter()  # formulas by the id of the article around them
        self.article = ""
        self.unlabelled: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.tags[tag] += 1
        if tag not in VOID:
            self.open.append(tag)
        if "id" in given:
            self.ids[given["id"]] += 1
        self.links += [given[key] for key in ("href", "xlink:href") if key in given]
        self.loads += [given[key] for key in ("src", "srcset", "data", "action", "poster") if key in given]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "article":
            self.article = given["id"]
        if tag == "math":
            self.math_within[self.article] += 1
        if tag == "svg" and not given.get("aria-label"):
            self.unlabelled.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else on line {self.getpos()[0]}"


def nothing() -> ReportScope:
    return ReportScope(bounds=(), claims=(), audits={}, mutants=(), false_claims=(), studies={})


@functools.cache
def fixed_figures() -> tuple[figures.Figure, ...]:
    return figures.gaussian_curve(), figures.noisy_cgd_epochs()


def page_of(report: Report) -> str:
    rates = map(rate_figures.rate_figure, report.rates)
    audits = audit_figures.audits(report), audit_figures.over_epochs(report)
    return render(report, figures=[*fixed_figures(), *audits, *rates])


def run_here(*arguments: str) -> int:
    return run(app, ["report", *arguments])
