"""The figure of a study: points with intervals, exact curve, bound, predicted slope, the counted range shaded."""

from __future__ import annotations

from fractions import Fraction

from matplotlib.axes import Axes

from empirical.studies.levels import DISAGREEMENT
from empirical.studies.outcome import StudyOutcome
from reports.figures import BLUE, GREEN, INK, VERMILION, Figure, draw


def rate_figure(outcome: StudyOutcome) -> Figure:
    """The errors of a study over its axis, both logarithmic."""
    study, levels = outcome.study, outcome.levels

    def paint(axes: Axes) -> None:
        axes.set(xscale="log", yscale="log", xlabel=study.axis, ylabel=study.estimand)
        if outcome.counted:
            axes.axvspan(
                float(outcome.counted[0]), float(outcome.counted[-1]), color="#DDDDDD", alpha=0.5, label="counted",
            )
        runs = [level for level in levels if level.mean is not None and level.error is not None]
        if runs:
            axes.errorbar(
                [float(level.at) for level in runs], [level.mean or 0.0 for level in runs],
                yerr=[DISAGREEMENT * (level.error or 0.0) for level in runs], fmt="o", color=BLUE, markersize=4,
                capsize=2, label=f"runs, ± {DISAGREEMENT:g} standard errors",
            )
        exact = [level for level in levels if level.exact is not None]
        for end in (0, 1) if exact else ():
            axes.plot(
                [float(level.at) for level in exact], [(level.exact or (0.0, 0.0))[end] for level in exact],
                color=GREEN, label="exact" if end else None,
            )
        bounds = [level for level in levels if level.bound is not None]
        if bounds:
            axes.plot(
                [float(level.at) for level in bounds], [level.bound or 0.0 for level in bounds], color=VERMILION,
                linestyle="--", label="bound",
            )
        last = next((level for level in reversed(levels) if level.value), None)
        if study.predicted is not None and last is not None and last.value is not None:
            axes.plot(*_predicted(study.grid, float(study.predicted), float(last.at), last.value), color=INK,
                      linestyle=":", label=f"slope {_short(study.predicted)}")
        axes.legend(loc="best")

    words = f"{study.name}: {outcome.verdict}. {outcome.reason}"
    return draw(f"rate-{study.name}", words, f"{words}. Predicted: {study.statement}.", paint)


def _predicted(
    grid: tuple[int | Fraction, ...], slope: float, at: float, value: float
) -> tuple[list[float], list[float]]:
    """The line of the predicted slope through the last point."""
    places = [float(one) for one in grid]
    return places, [value * (one / at) ** slope for one in places]


def _short(exponent: Fraction) -> str:
    return str(exponent) if exponent.denominator < 20 else f"{float(exponent):.3f}"
