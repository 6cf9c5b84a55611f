"""What trainings.py measured, as tables for people and as goals met or missed."""

from __future__ import annotations

import math
from typing import Any

MARKS = ("<!-- trainings: nox -s bench -- --docs -->", "<!-- end of trainings -->")
LEAST = {  # times a loop over Opacus models
    "noisy-cgd": 1000, "dp-sgd-network": 100, "dp-sgd-multilayer": 50, "dp-sgd-multilayer/4": 50,
}
FEW = 1000  # models in all, for which the same is asked
PRECISION = "float32"  # torch's default, in which models are trained
THREADS = {"one": "one thread each", "all": "all cores, and Opacus as it likes best"}
RATES = {"dp-glmtron": 100, "dp-taglmtron": 30}  # models a second
GROWTH, APART = 16, 1e-4  # megabytes; relative
DESCRIBED = {
    "noisy-cgd": "NoisyCGD, logistic, n=200, d=10, b=40, 20 epochs",
    "dp-sgd-network": "DP-SGD, 10-16-1 tanh network, n=200, b=40 (Poisson), 100 steps",
    "dp-sgd-multilayer": "002 Alg. 10, 20-256-1 ReLU network, n=100, b=10 (Poisson), 10 steps",
    "dp-sgd-multilayer/4": "002 Alg. 10, the same with 4 inputs: 4-256-1",
    "dp-sgd-multilayer/784": "002 Alg. 10, the same with the 784 inputs of MNIST: 784-256-1 (random records)",
    "phased-sgd": "002 Alg. 2, phased SGD, tanh link, n=100,000, d=50 (one chunk of models: one core)",
    "dp-glmtron": "003 Alg. 1, DP-GLMtron, N=550, d=1024",
    "dp-taglmtron": "003 Alg. 3, DP-TAGLMtron, N=550, d=1024",
}


def number(value: float) -> str:
    """Three digits, and commas; a dash for what is not known."""
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def times(speed: dict[str, Any], name: str) -> float:
    """How many models the twin trains while another trains one; NaN if that was not measured."""
    return float(speed["twin"].get("per_second", math.nan)) / float(speed[name].get("per_second", math.nan))


def with_few(told: dict[str, Any], row: str) -> dict[str, Any]:
    """The cells of a row with the twin's of few models in place of that of many."""
    return {**told["speed"][row], "twin": told["few"].get(row, {})}


def goals(result: dict[str, Any]) -> list[dict[str, Any]]:
    """One entry a goal: what was asked, whether it was met, and the figure. What was not measured is missed."""
    found: list[dict[str, Any]] = []

    def judge(goal: str, figure: float, met: bool, unit: str) -> None:
        found.append({"goal": goal, "met": met, "figure": f"{number(figure)}{unit}"})

    for task, told in result["tasks"].items():
        for threads, words in THREADS.items() if task in LEAST else ():
            ratio = times(told["speed"][f"{PRECISION} {threads}"], "Opacus")
            text = f"{task}: {LEAST[task]:,} times as fast as a loop over Opacus models, {PRECISION}, {words}"
            judge(text, ratio, ratio >= LEAST[task], " times")
            few = times(with_few(told, f"{PRECISION} {threads}"), "Opacus")
            judge(f"{text}, {FEW:,} models in all", few, few >= LEAST[task], " times")
        if task in RATES:
            rate = float(told["speed"]["float64 all"]["twin"].get("per_second", math.nan))
            judge(f"{task}: {RATES[task]} models a second, all cores", rate, rate >= RATES[task], " a second")
    for task, told in result["tasks"].items():
        if not told["memory"]:
            continue
        few, many = (cell.get("megabytes", math.nan) for cell in told["memory"].values())
        sizes = " and ".join(f"{int(models):,}" for models in told["memory"])
        text = f"{task}: memory of {sizes} models, but for the models themselves, {GROWTH} MB apart at most"
        judge(text, many - few, many - few <= GROWTH, " MB")
    rows = [row for told in result["tasks"].values() for name, row in told["speed"].items() if name.endswith("one")]
    cells = [cell for row in rows for cell in row.values()]
    far = [float(cell.get("apart", math.nan)) for cell in cells]
    worst = math.nan if any(map(math.isnan, far)) else max(far)
    judge(f"all train the same models: at most {APART:g} apart without noise", worst, worst <= APART, "")
    return found


def plain(result: dict[str, Any]) -> str:
    """Every figure, one table a training, then the goals."""
    lines = []
    for task, told in result["tasks"].items():
        lines.append(f"\n{DESCRIBED[task]}")
        lines.append(f"  {'':10}{'threads':8}{'who':14}{'models/s':>12}{'twin : this':>14}{'apart':>12}")
        for row, speed in told["speed"].items():
            precision = row.split()[0]
            for name, cell in speed.items():
                threads = str(cell.get("threads", "–"))
                if "failure" in cell:
                    lines.append(f"  {precision:10}{threads:8}{name:14}{cell['failure']:>12}")
                    continue
                ratio, apart = number(times(speed, name)), f"{cell['apart']:.0e}"
                lines.append(
                    f"  {precision:10}{threads:8}{name:14}{number(cell['per_second']):>12}{ratio:>14}{apart:>12}"
                )
            if row in told["few"]:
                lines.append(f"  {precision:10}{'':8}{f'twin, {FEW:,} models once: {few_cell(told, row)}'}")
        lines += [f"  memory: {line}" for line in memory_lines(told["memory"])]
    lines.append("")
    lines += [f"{'met   ' if g['met'] else 'MISSED'}  {g['goal']}: {g['figure']}" for g in result["goals"]]
    return "\n".join(lines)


def few_cell(told: dict[str, Any], row: str) -> str:
    """The rate of the twin with few models, and how many it trains while Opacus trains one."""
    if row not in told["few"]:
        return "–"
    cells = with_few(told, row)
    return cells["twin"].get("failure") or f"{number(cells['twin']['per_second'])}, {number(times(cells, 'Opacus'))}"


def memory_lines(memory: dict[str, Any]) -> list[str]:
    """Peak memory at each number of models."""
    return [
        f"{int(models):,} models: " + (
            cell.get("failure") or f"{cell['megabytes']:.1f} MB and {cell['own']:.1f} MB of models, "
            f"peak of the process {cell['peak']:.0f} MB"
        )
        for models, cell in memory.items()
    ]


def markdown(result: dict[str, Any]) -> str:
    """The table of the page and the goals."""
    others = ("reference", "torch loop", "Opacus")
    own = ("training", "precision", "cores", "twin: models a second")
    few = f"twin, {FEW:,} models once: the same, : Opacus"
    head = (*own, few, *(f"{name}: the same, twin : {name}" for name in others))
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for task, told in result["tasks"].items():
        for row, speed in told["speed"].items():
            cells = [DESCRIBED[task], row.split()[0], str(speed["twin"].get("threads", "–"))]
            cells.append(speed["twin"].get("failure") or number(speed["twin"]["per_second"]))
            cells.append(few_cell(told, row))
            for name in others:
                cell = speed.get(name, {"failure": "–"})
                cells.append(cell.get("failure") or f"{number(cell['per_second'])}, {number(times(speed, name))}")
            lines.append("| " + " | ".join(cells) + " |")
    lines.append("")
    for task, told in result["tasks"].items():
        lines += [f"- {task}, {line}." for line in memory_lines(told["memory"])]
    for g in result["goals"]:
        lines.append(f"- Goal {'met' if g['met'] else '**missed**'}: {g['goal']}; {g['figure']}.")
    return "\n".join(lines) + "\n"
