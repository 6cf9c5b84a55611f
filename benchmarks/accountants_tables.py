"""What accountants.py measured, as tables for people and as goals met or missed."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

MARKS = ("<!-- benchmark: nox -s bench -- --docs -->", "<!-- end of benchmark -->")
LIGHT, HEAVY, CERTIFIED = 100, 1000, 5  # times dp-accounting's PLD
DIGITS, WIDTH, PER_SECOND, ONE_CALL, GROWTH = 10, 1e-9, 5000, 1.0, 2


def described(name: str, problem: dict[str, Any]) -> str:
    """A problem in words."""
    values = problem["values"]
    delta = f"delta={values['delta']}"
    if name == "P1":
        return f"P1 Gaussian, sigma={values['sigma']}, {delta}"
    if "sampling_rate" not in values:
        noise = f"b={values['scale']}" if "scale" in values else f"sigma={values['sigma']}"
        return f"{name} {'Laplace' if 'scale' in values else 'Gaussian'} x {values['steps']}, {noise}, {delta}"
    relation = "replace" if values["neighbours"] == "replace" else "add/remove"
    sampling = f"q={values['sampling_rate']}, T={values['steps']}"
    return f"{name.split()[0]} Poisson {relation}, sigma={values['sigma']}, {sampling}, {delta}"


def number(value: float) -> str:
    """Three digits."""
    return f"{value:.0f}" if 100 <= abs(value) < 1e6 else f"{value:.3g}"


def signed(cell: dict[str, Any]) -> str:
    """The signed error of an answer, or why there is none."""
    if "failure" in cell:
        return "–" if cell["failure"] == "not offered" else str(cell["failure"])
    return f"{cell['error']:+.1e}" if math.isfinite(cell["error"]) else str(cell["value"])


def ratio(problem: dict[str, Any], seconds: float) -> float:
    """How many times as long dp-accounting's PLD takes."""
    return float(problem["measured"]["dpa PLD"].get("ms", math.nan)) / 1e3 / seconds


def fast_seconds(problem: dict[str, Any]) -> float:
    """One epsilon in a batch, by numpy."""
    return float(problem["measured"]["numpy"].get("microseconds", math.inf)) / 1e6


def goals(result: dict[str, Any]) -> list[dict[str, Any]]:
    """One entry a goal: what was asked, whether it was met, and the worst figure. What was not measured is missed."""
    problems: dict[str, dict[str, Any]] = result["problems"]
    found: list[dict[str, Any]] = []

    def judge(goal: str, worst: tuple[float, str], met: bool, unit: str) -> None:
        found.append({"goal": goal, "met": met, "worst": f"{number(worst[0])}{unit}{worst[1]}"})

    def least(names: list[str], value: Any) -> tuple[float, str]:
        # NaN (nothing measured) counts as the worst
        return min(((-math.inf if math.isnan(v := value(problems[n])) else v), f" ({n})") for n in names)

    composed = [n for n in problems if n != "P1"]
    heavy = [n for n in composed if problems[n]["values"].get("sigma") == "1"]
    for names, least_ratio, which in ((composed, LIGHT, "composed"), (heavy, HEAVY, "heavy (sigma = 1)")):
        if names:
            worst = least(names, lambda p: ratio(p, fast_seconds(p)))
            text = f"fast, in a batch: {least_ratio:,} times as fast as dp-accounting's PLD on {which} problems"
            judge(text, worst, worst[0] >= least_ratio, " times")
    if problems:
        worst = least(list(problems), lambda p: digits(p["measured"]["fast"], p["measured"]["reference"]))
        judge(f"fast: {DIGITS} correct digits", worst, worst[0] >= DIGITS, " digits")
        wide = least(list(problems), lambda p: -p["measured"]["reference"].get("width", math.nan))
        judge(f"reference: width at most {WIDTH:g}", (-wide[0], wide[1]), -wide[0] <= WIDTH, "")
        worst = least(list(problems), lambda p: ratio(p, p["measured"]["reference"].get("ms", math.nan) / 1e3))
        text = f"reference: {CERTIFIED} times as fast as dp-accounting's PLD on every problem"
        judge(text, worst, worst[0] >= CERTIFIED, " times")
        slow = least(list(problems), lambda p: -p["measured"]["fast"].get("ms", math.nan))
        judge(f"fast, one call: at most {ONE_CALL:g} ms", (-slow[0], slow[1]), -slow[0] <= ONE_CALL, " ms")
    slowest = max((c.get("microseconds", math.inf), n) for n, c in result["throughput"].items())
    rate = 1e6 / slowest[0]
    judge(f"fast: {PER_SECOND:,} everyday epsilons a second, numpy and torch", (rate, f" ({slowest[1]})"),
          rate >= PER_SECOND, " a second")
    left = max((100 * c.get("by_reference", math.inf), n) for n, c in result["throughput"].items())
    judge("fast: no everyday epsilon is left to the reference", (left[0], f" ({left[1]})"), left[0] == 0, " %")
    grown = max((growth(result["steps"], path), f" ({path})") for path in ("reference", "fast"))
    text = f"an epsilon at T = 10^7 costs at most {GROWTH} times one at T = 10^3"
    judge(text, grown, grown[0] <= GROWTH, " times")
    return found


def digits(answer: dict[str, Any], truth: dict[str, Any]) -> float:
    """How many digits of an answer are correct."""
    if "error" not in answer or "value" not in truth:
        return math.nan
    return min(16.0, -math.log10(max(abs(answer["error"]) / truth["value"], 1e-300)))


def growth(steps: dict[str, Any], path: str) -> float:
    """The time for the most steps over that for the fewest."""
    times = [cell[path].get("ms", math.inf) for _, cell in sorted(steps.items(), key=lambda item: int(item[0]))]
    return float(times[-1] / times[0])


def plain(result: dict[str, Any]) -> str:
    """Every figure, one table a problem, then throughput, cost against T and the goals."""
    lines = []
    for name, problem in result["problems"].items():
        rows = problem["measured"]
        lines.append(f"\n{described(name, problem)}: epsilon = {rows['reference'].get('value', math.nan):.12f}")
        lines.append(f"  {'library':14}{'ms':>12}{'PLD : this':>12}{'error':>12}{'width':>10}{'MB':>8}")
        for library, cell in rows.items():
            if "failure" in cell:
                lines.append(f"  {library:14}{cell['failure']}")
                continue
            ms = cell["ms"] if "ms" in cell else cell["microseconds"] / 1e3
            error = signed(cell) if "value" in cell else f"{cell['points']:,} pts"
            width = f"{cell['width']:.0e}" if "width" in cell else ""
            times = ratio(problem, ms / 1e3)
            lines.append(
                f"  {library:14}{number(ms):>12}{number(times):>12}{error:>12}{width:>10}{cell['megabytes']:>8.1f}"
            )
    lines += ["", *throughput_lines(result), *steps_lines(result), ""]
    lines += [f"{'met   ' if g['met'] else 'MISSED'}  {g['goal']}: {g['worst']}" for g in result["goals"]]
    return "\n".join(lines)


def throughput_lines(result: dict[str, Any]) -> list[str]:
    """Epsilons a second over everyday points."""
    lines = []
    for namespace, cell in result["throughput"].items():
        told = cell.get("failure") or (
            f"{1e6 / cell['microseconds']:,.0f} epsilons a second over {cell['points']:,} everyday points, "
            f"{100 * cell['by_reference']:.2f} % of them answered by the reference"
        )
        lines.append(f"{namespace}: {told}")
    return lines


def steps_lines(result: dict[str, Any]) -> list[str]:
    """Milliseconds for one epsilon at each number of steps."""
    lines = []
    for path in ("reference", "fast"):
        cells = [f"{number(cell[path].get('ms', math.nan))} ms (T = {int(t):,})" for t, cell in result["steps"].items()]
        lines.append(f"{path}, sigma=5, q=0.001, delta=1e-6: {', '.join(cells)}")
    return lines


def markdown(result: dict[str, Any]) -> str:
    """The compact table of the page, the throughput and the goals."""
    head = (
        "problem", "certified epsilon", "`reference`: ms, width", "`fast`: one call ms, batched µs",
        "dp-accounting PLD: ms, error", "prv-accountant upper: ms, error", "Opacus PRV: error", "autodp: error",
    )
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, problem in result["problems"].items():
        rows = problem["measured"]
        ours, fast, batch = rows["reference"], rows["fast"], rows["numpy"]
        cells = [
            described(name, problem), f"{ours.get('value', math.nan):.12f}",
            f"{number(ours.get('ms', math.nan))}, {ours.get('width', math.nan):.0e}",
            f"{number(fast.get('ms', math.nan))}, {number(batch.get('microseconds', math.nan))}",
            *(f"{number(rows[key]['ms'])}, {signed(rows[key])}" if "ms" in rows[key] else signed(rows[key])
              for key in ("dpa PLD", "prv")),
            signed(rows["Opacus PRV"]), signed(rows["autodp"]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *(f"- {line}." for line in throughput_lines(result) + steps_lines(result))]
    for g in result["goals"]:
        lines.append(f"- Goal {'met' if g['met'] else '**missed**'}: {g['goal']}; worst {g['worst']}.")
    return "\n".join(lines) + "\n"


def rewrite(page: Path, table: str, marks: tuple[str, str] = MARKS) -> None:
    """Put the table between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    between = re.compile(f"{re.escape(marks[0])}\n.*?{re.escape(marks[1])}", re.DOTALL)
    if len(between.findall(text)) != 1:
        raise SystemExit(f"{page} must hold the lines {marks[0]} and {marks[1]} once, in this order")
    page.write_text(between.sub(lambda _: f"{marks[0]}\n{table}{marks[1]}", text), encoding="utf-8")
