"""The report's figures as SVG text, ready to stand inside an HTML page.

The same data give the same bytes: no date, no random ids, no pyplot state. Text stays text (it scales, is searchable
and needs no embedded font). The colours follow Okabe and Ito's palette for colour-blind readers (its green darkened
for contrast), and each series differs in line or marker as well.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter

from oracle.core.enclosure import Enclosure
from oracle.core.registry import bound

BLUE, VERMILION, GREEN, INK = "#0072B2", "#D55E00", "#007A5A", "#222222"
_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dp-oracle",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],  # alike in width, so that the layout fits any of them
    "font.size": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
}


@dataclass(frozen=True)
class Figure:
    """A picture with what stands below it and what is read out instead of it."""

    id: str
    caption: str
    description: str
    svg: str


def draw(name: str, description: str, caption: str, paint: Callable[[Axes], None], *, height: float = 3.3) -> Figure:
    """A figure that `paint` paints."""
    with matplotlib.rc_context(_STYLE):
        canvas = Canvas(figsize=(5.6, height), layout="constrained")
        FigureCanvasSVG(canvas)
        canvas.patch.set_alpha(0)
        axes = canvas.add_subplot()
        axes.patch.set_alpha(0)
        paint(axes)
        target = io.StringIO()
        canvas.savefig(target, format="svg", metadata={"Date": None})
    return Figure(name, caption, description, inline(target.getvalue(), name=name, description=description))


def inline(text: str, *, name: str, description: str) -> str:
    """An SVG document as an element of a page: scalable, named for screen readers, and with ids of its own."""
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            # matplotlib's style element is a rule for "*", which would reach the whole page.
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    for size in ("width", "height"):
        root.attrib.pop(size)
    root.attrib |= {
        "role": "img", "aria-label": description, "stroke-linejoin": "round", "stroke-linecap": "butt",
    }
    used = set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", text))
    for element in root.iter():
        if _HREF in element.attrib:
            element.set("href", element.attrib.pop(_HREF))
        own = element.attrib.pop("id", None)
        for key, value in element.attrib.items():
            if key != "aria-label":
                element.set(key, re.sub(r"^#|(?<=url\()#", f"#{name}-", value) if _refers(key, value) else value)
        if own in used:
            element.set("id", f"{name}-{own}")
    ElementTree.register_namespace("", _SVG[1:-1])
    return ElementTree.tostring(root, encoding="unicode")


def _refers(key: str, value: str) -> bool:
    """Whether an attribute names another element (and is no colour such as #0072b2)."""
    return key == "href" or "url(#" in value


def _power_of_ten(value: float, _: object = None) -> str:
    exponent = round(float(np.log10(value)))
    return f"10{str(exponent).translate(_SUPERSCRIPT)}"


def gaussian_curve() -> Figure:
    """Certified epsilon against delta for mu-GDP, mu in {0.5, 1, 2}."""
    deltas = [Fraction(1, 10**k) for k in range(1, 13)]
    curves: dict[str, list[Enclosure]] = {
        mu: [bound("gdp.epsilon").reference(mu=mu, delta=delta) for delta in deltas] for mu in ("2", "1", "0.5")
    }

    def paint(axes: Axes) -> None:
        looks = ((VERMILION, "s", "-"), (BLUE, "o", "--"), (GREEN, "^", "-."))
        for (mu, curve), (colour, marker, line) in zip(curves.items(), looks, strict=True):
            upper = [enclosure.to_floats()[1] for enclosure in curve]
            axes.plot([float(d) for d in deltas], upper, color=colour, marker=marker, linestyle=line, markersize=4.5,
                      label=f"μ = {mu}")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(_power_of_ten))
        axes.xaxis.minorticks_off()
        axes.set(xlabel="δ", ylabel="ε", ylim=(0, None))
        axes.legend()

    lower, upper = curves["1"][4].to_decimals()
    return draw(
        "figure-gaussian",
        "Line chart: epsilon falls as delta grows from 1e-12 to 0.1; the curves for mu = 2, 1 and 0.5 lie in that "
        "order from top to bottom.",
        "The Gaussian privacy curve: the least ε at each δ for a μ-GDP mechanism. Every marker is a certified value; "
        f"at μ = 1, δ = 1e-5 it lies in [{lower}, {upper}].",
        paint,
    )


def noisy_cgd_epochs() -> Figure:
    """Hidden-state epsilon of NoisyCGD against epochs, in the setting of Figure 1 of document 000."""
    epochs = np.arange(1, 401)
    curves = {}
    for product in ("0", "5.4e-5", "1e-4", "2e-4"):
        mu = bound("noisy-cgd.mu").fast(
            sensitivity=2, batch_size=1, noise_on_mean=15, contraction=float(1 - Fraction(product)), batches=60,
            epochs=epochs,
        )
        curves[product] = bound("gdp.epsilon").fast(mu=mu, delta=1e-5)

    def paint(axes: Axes) -> None:
        looks = ((INK, ":"), (VERMILION, "-."), (BLUE, "--"), (GREEN, "-"))
        for (product, curve), (colour, line) in zip(curves.items(), looks, strict=True):
            axes.plot(epochs, curve, color=colour, linestyle=line, linewidth=1.8, label=f"ηλ = {product}")
        axes.set(xlabel="epochs", ylabel="ε at δ = 1e-5", xlim=(0, 400), ylim=(0, None))
        axes.legend(loc="lower right")

    last = ", ".join(f"{curve[-1]:.4f} (ηλ = {product})" for product, curve in curves.items())
    return draw(
        "figure-noisy-cgd",
        "Line chart: epsilon grows with the number of epochs and flattens the sooner, the larger the product of step "
        "size and regularisation.",
        "NoisyCGD, last iterate released: ε against epochs in the setting of Figure 1 of document 000 (N = 60000, "
        "b = 1000, noise multiplier 15, replace-one), whose DP-SGD curve is not drawn. After 400 epochs, rounded: "
        f"{last}.",
        paint,
    )
