"""The figures of the audits: what attacks achieve against what is proved, and NoisyCGD over its epochs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes

from empirical.audits.audit import Audit
from empirical.audits.audit_plan import AuditPlan
from empirical.audits.campaigns import EPOCHS, OVER_EPOCHS
from empirical.audits.targets import make_target
from empirical.audits.tightness import FREE, GAUSSIAN
from empirical.pairs.pair import make_pair
from oracle.core.planning import proved_epsilon
from oracle.core.registry import algorithm, bound
from reports.figures import BLUE, GREEN, INK, VERMILION, Figure, draw
from reports.model import Report

LOSSES = ("linear", "better")


def audits(report: Report) -> Figure:
    """The audits' lower confidence bounds beside the exact and the proved epsilon, a line a plan."""
    named: dict[str, list[Audit]] = {}
    for name, item in report.audits:
        if name not in OVER_EPOCHS:
            named.setdefault(name, []).append(item)
    rows = list(reversed(named.items()))

    def paint(axes: Axes) -> None:
        labels: set[str] = set()

        def mark(x: float | None, place: int, label: str, **look: object) -> None:
            value = float("nan") if x is None else x
            axes.plot(value, place, label=None if label in labels else label, linestyle="none", **look)  # type: ignore[arg-type]
            labels.add(label)

        for place, (_, items) in enumerate(rows):
            most = items[0].claimed
            axes.plot([0, most], [place, place], color="#BBBBBB", linewidth=1, zorder=1)
            mark(most, place, "proved: ε ≤", marker="|", color=VERMILION, markersize=11, markeredgewidth=2.2, zorder=2)
            exact = None if items[0].exact is None else float(items[0].exact[0])
            mark(exact, place, "exact on this pair", marker="D", color=GREEN, markerfacecolor="white", zorder=3)
            for item in items:
                free = item.plan.estimator != GAUSSIAN
                mark(
                    item.epsilon_lower, place, "audit: ε ≥" if free else "audit, Gaussian law known",
                    marker="o" if free else "s", color=BLUE if free else INK, markersize=5, zorder=4,
                )
        axes.set_yticks(range(len(rows)), [name for name, _ in rows], fontsize=8.5)
        axes.set_xscale("symlog", linthresh=4.0)
        axes.set_xticks([0, 1, 2, 3, 4, 8, 16, 32, 64], ["0", "1", "2", "3", "4", "8", "16", "32", "64"])
        axes.set(xlabel="ε, linear up to 4, logarithmic beyond", xlim=(0, None), ylim=(-0.6, max(len(rows), 1) - 0.4))
        axes.grid(visible=False, axis="y")
        if rows:
            axes.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=2, handletextpad=0.2, columnspacing=1)

    described = "; ".join(
        f"{name} by {item.plan.estimator}: "
        + ("no bound" if item.epsilon_lower is None else f"at least {item.epsilon_lower:.3f}")
        + f", proved at most {item.claimed:.3f}"
        for name, item in report.audits if name not in OVER_EPOCHS
    )
    return draw(
        "figure-audits",
        f"Dot chart of lower confidence bounds on epsilon. {described}.",
        "What attacks achieve against what is proved. A dot to the right of its orange bar would be a violation; the "
        "diamond is the true ε of the audited pair, which no sound audit passes except by its stated error. From bar "
        "to diamond is what the proof gives away or the adversary misses, from diamond to dot what statistics cost.",
        paint,
        height=1.1 + 0.27 * len(rows),
    )


@dataclass(frozen=True)
class Epsilons:
    """One kind of epsilon of NoisyCGD at every number of epochs."""

    epochs: np.ndarray
    proved: list[float]
    composed: list[float]
    exact: dict[str, list[float]]


def epsilons() -> Epsilons:
    """Proved, composed and exact epsilons of the audits over epochs, at every number of epochs up to the last."""
    most = max(EPOCHS)
    plans = {losses: OVER_EPOCHS[f"NoisyCGD, {losses} losses, epochs: 1"] for losses in LOSSES}
    delta = plans["linear"].delta
    item, config = algorithm("noisy-cgd"), plans["linear"].target["config"]
    records = int(plans["linear"].pair["records"])
    proved, composed = [], []
    for epochs in range(1, most + 1):
        parsed = item.parse({**config, "epochs": epochs})
        proved.append(proved_epsilon(item, parsed, records=records, delta=delta).to_floats()[1])
        # A record is in one step of an epoch.
        multiplier = parsed.batch_size * parsed.noise_on_mean / (2 * parsed.clip_norm)
        everything_seen = bound("gaussian-composed.epsilon").reference(
            sigma=multiplier, sensitivity=1, steps=epochs, delta=delta
        )
        composed.append(everything_seen.to_floats()[1])
    exact = {losses: [_exact(plan, epochs) for epochs in range(1, most + 1)] for losses, plan in plans.items()}
    return Epsilons(np.arange(1, most + 1), proved, composed, exact)


def _exact(plan: AuditPlan, epochs: int) -> float:
    """The exact epsilon of a plan's pair with another number of epochs."""
    longer = replace(plan, target={**plan.target, "config": {**plan.target["config"], "epochs": epochs}})
    law = make_pair(longer.pair, make_target(longer.target)).law
    assert law is not None, "a plan over epochs has an exact law"
    return law.epsilon(plan.delta).to_floats()[0]


def over_epochs(report: Report) -> Figure:
    """NoisyCGD over its epochs: proved, composed, exact for two adversaries, audited."""
    known = epsilons()
    audited = [
        (int(item.plan.target["config"]["epochs"]), name.split()[1], item) for name, item in report.audits
        if name in OVER_EPOCHS
    ]

    def paint(axes: Axes) -> None:
        axes.plot(known.epochs, known.composed, color="#777777", linestyle=":", label="composition: all iterates seen")
        axes.plot(known.epochs, known.proved, color=VERMILION, linewidth=1.8, label="proved: the last iterate only")
        axes.plot(known.epochs, known.exact["better"], color=GREEN, linestyle="--", label="exact, better losses")
        axes.plot(known.epochs, known.exact["linear"], color=BLUE, linestyle="-.", label="exact, linear losses")
        looks = {
            ("linear", GAUSSIAN): ("s", INK, "audited, linear, Gaussian law known"),
            ("linear", FREE): ("o", BLUE, "audited, linear"), ("better", FREE): ("^", GREEN, "audited, better"),
        }
        for kind, (marker, colour, label) in looks.items():
            found = [(e, item) for e, losses, item in audited if (losses, item.plan.estimator) == kind]
            heights = [float("nan") if item.epsilon_lower is None else item.epsilon_lower for _, item in found]
            axes.plot([e for e, _ in found], heights, marker, color=colour, markersize=5, label=label)
        axes.set(xlabel="epochs", ylabel="ε at δ = 1e-5", xlim=(0, max(EPOCHS) + 0.5), ylim=(0, None))
        axes.legend(fontsize=8, loc="upper left")

    last = known.epochs[-1]
    shown = (
        f"after {last} epochs: composition {known.composed[-1]:.3f}, proved {known.proved[-1]:.3f}, exact "
        f"{known.exact['better'][-1]:.3f} with better and {known.exact['linear'][-1]:.3f} with linear losses"
    )
    return draw(
        "figure-over-epochs",
        f"Line chart over epochs. {shown[0].upper()}{shown[1:]}; audits lie below the exact values.",
        "NoisyCGD, three batches, convex losses, the canary in the last batch: what is proved of the last iterate, "
        "what is true of it for two choices of the other records' losses, and what audits of trained models certify; "
        f"{shown}.",
        paint,
        height=4.2,
    )
