r"""Does Theorem 2.8 cover document 000's experiments? Where the false lemmas meet the privacy of Section 6.

The stated epsilons of NoisyCGD are Theorem 2.8's with c = 1 - eta lambda, which needs of every step, at every point of
Appendix H's grid, that it contracts by c. With ten classes it never does: the clipped step is no gradient step, and at
the softmax output p = (1/1000, 18, 1, ..., 1)/(sum), the first class being the label, the field's Jacobian has along
a direction w the value -kappa tau, tau = C/|t|, |t|^2 = a |x|^2, kappa = 0.0115. So the step's factor is at least about
1 - eta lambda + eta C |t| kappa, more than 1 at every eta of the grid, from 10^-3 on (a batch of equal records).

With two classes the clipped loss is convex. Its field is clipped unless the other class has probability s <= tau/sqrt2,
and there its curvature is 2 s (1 - s) |t|^2: at most h = sqrt2 C |t| - C^2 (if |t| >= sqrt2 C), which is attained at
the edge and grows with the number a <= P of active hyperplanes. Then c = 1 - eta lambda exactly if eta (h + 2 lambda)
<= 2. (Lemma 3.2's constant, even repaired, is not what decides: clipping makes the loss smoother.)

What is refuted is that the guarantee follows: no other proof is known here. Whether a run at such a point loses more
than its stated epsilon is a different question, which is not decided. eta lambda = 5.4e-5 as in Figure 1; C = 1, since
the document does not tell it; |x|^2 = 1 (unit norms) or 87.8 (pixels in [0, 1]; the usual mean for MNIST, not measured
here), as in lem-3.2-consequence.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.experiments.reporting import STEP_EXPONENTS
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Scope, Verdict, argued, computed, proof, refuted, undecided

_DROP = Fraction("5.4e-5")  # eta lambda


@dataclass(frozen=True)
class GridPoint:
    """A point of the grid: eta = 10^exponent, P hyperplanes, |x|^2 and the number of classes."""

    exponent: Fraction
    hyperplanes: int
    square: Fraction
    classes: int

    def pull(self, active: int) -> arb:
        """eta h, the largest curvature of the clipped loss with two classes times the step size, in balls; C = 1."""
        square = ball(active * self.square)
        clips = active * self.square >= 2
        return self.eta() * ((2 * square).sqrt() - 1 if clips else square / 2)

    def eta(self) -> arb:
        """10^exponent, in balls."""
        return arb(10) ** ball(self.exponent)

    def witness(self, active: int) -> dict[str, str]:
        """The run in words."""
        return {
            "eta": f"10^({self.exponent})", "P": str(self.hyperplanes), "|x|^2": str(self.square),
            "classes": str(self.classes), "active": str(active), "eta lambda": str(_DROP),
        }


def runs() -> list[GridPoint]:
    """MNIST's grid of Appendix H for both scalings, with ten classes and with two, the mildest first."""
    return [
        GridPoint(*point)
        for point in itertools.product(STEP_EXPONENTS, (64, 128, 256), (Fraction(1), Fraction("87.8")), (10, 2))
    ]


def expansion(run: GridPoint, active: int) -> Enclosure:
    """A lower bound of the clipped step's factor for ten classes: |S w| / |w| at the p and along a w near the worst."""
    weights = [Fraction(1, 1000), Fraction(18), *[Fraction(1)] * 8]
    p = [w / sum(weights) for w in weights]
    r = [v - (i == 0) for i, v in enumerate(p)]
    square = sum(v * v for v in r)
    size = range(10)
    project = [[(i == j) - r[i] * r[j] / square for j in size] for i in size]
    field = [
        [sum((project[i][m] * ((m == j) * p[m] - p[m] * p[j]) for m in size), Fraction(0)) for j in size] for i in size
    ]
    values = np.array([[float(v) for v in row] for row in field])
    lowest = np.linalg.eigh((values + values.T) / 2)[1][:, 0]
    w = [Fraction(round(1000 * v), 1000) for v in lowest]  # floats only choose the direction
    image = [sum((field[i][j] * w[j] for j in size), Fraction(0)) for i in size]
    with ctx.workprec(64):
        # eta |t|^2 tau / |r| with tau = C/|t|, C = 1: the clip is active because |r| > tau.
        length = ball(active * run.square).sqrt()
        scale = run.eta() * length / ball(square).sqrt()
        moved = [(1 - ball(_DROP)) * ball(a) - scale * ball(b) for a, b in zip(w, image, strict=True)]
        return Enclosure.of_ball((sum((v * v for v in moved), arb(0)) / ball(sum(v * v for v in w))).sqrt())


def judge_coverage(covered: Callable[[GridPoint], bool], given: Domain) -> Finding:
    """Whether at every covered run a clipped step contracts by 1 - eta lambda, however many hyperplanes are active."""
    chosen = [run for run in runs() if covered(run)]
    for run in chosen:
        active = run.hyperplanes // 2 if run.classes > 2 else run.hyperplanes
        with ctx.workprec(64):
            pull = run.pull(active)
            factor = expansion(run, active) if run.classes > 2 else Enclosure.of_ball(abs(1 - ball(_DROP) - pull))
        if not factor.possibly_le(1 - _DROP) and (run.classes > 2 or pull > 1):
            return refuted(
                "a clipped step moves two models farther apart than c allows, certified: Theorem 2.8 does not give the "
                "stated epsilon",
                {**run.witness(active), "step factor": str(factor), "claimed c": str(1 - _DROP)},
            )
    return undecided("no expansion found", Scope("points", len(runs()), len(chosen)))


Curvature = Callable[[Any, Any, Callable[[Any], Any]], Any]
"""The largest curvature of the clipped two-class loss where the clip acts, of (C, |t|, sqrt)."""


def judge_two_classes(says: Curvature, given: Domain) -> Finding:
    """The curvature at the clip's edge in balls, and that eta (h + 2 lambda) <= 2 makes every step contract by c."""
    tried = 0
    with ctx.workprec(100):
        for point in given.points("clip", "hyperplanes", "square"):
            clip, active, square = point["clip"], point["hyperplanes"], point["square"]
            if active * square < 2 * clip**2:
                continue  # nothing is clipped up to the steepest point: the curvature is |t|^2/2
            tried += 1
            length = ball(active * square).sqrt()
            edge = ball(clip) / (arb(2).sqrt() * length)
            true = 2 * edge * (1 - edge) * length**2
            claimed = says(ball(clip), length, lambda value: arb(value).sqrt())
            if not claimed.is_finite():
                return undecided(f"no number at {point}", tried)
            if not true.overlaps(claimed):
                return refuted(
                    "the clipped loss has another curvature at the edge, certified",
                    {"C": clip, "a": active, "|x|^2": square, "curvature": true.str(10), "claimed": claimed.str(10)},
                )
    clip, over, eta, lam, k = sympy.symbols("C w eta lambda kappa", positive=True)
    s = sympy.symbols("u", nonnegative=True)
    length = sympy.sqrt(2) * clip + over  # |t| >= sqrt2 C
    part = s / (2 * (1 + s))  # s in [0, 1/2)
    largest = says(clip, length, sympy.sqrt)
    signs = all(given.symbol(name).is_positive for name in ("clip", "square", "hyperplanes"))
    return proof(
        argued("where the clip acts the two-class field has no curvature, and before it 2 s (1 - s) |t|^2 at the "
               "other class's probability s <= C/(sqrt2 |t|)"),
        computed("2 s (1 - s) rises up to s = 1/2", never_negative(2 - 4 * part)),
        computed("at the edge it is the claimed h", vanishes(
            2 * clip / (sympy.sqrt(2) * length) * (1 - clip / (sympy.sqrt(2) * length)) * length**2 - largest)),
        computed("h rises with |t|^2 = a |x|^2, so that a = P is the worst",
                 signs and never_negative(sympy.diff(largest, over))),
        computed("(1 - eta lambda) + (1 - eta lambda - eta kappa) = 2 - eta (kappa + 2 lambda), which is not negative",
                 vanishes((1 - eta * lam) + (1 - eta * (lam + k)) - (2 - eta * (k + 2 * lam)))),
        argued("so |1 - eta lambda - eta kappa| <= 1 - eta lambda for every curvature kappa in [0, h]"),
        tried=tried,
    )


_GRID = (positive("clip", "C"), positive_integer("hyperplanes", "P"), positive("square", "|x|^2"))

coverage = Claim(
    id="relu-approx/experiments-privacy",
    source="000, Sections 3.4 and 6 with Appendix H: the NoisyCGD models have the stated epsilon by Theorem 2.8",
    quote=(
        "To have similar privacy guarantees for the base models trained using NoisyCGD, we adjust the "
        r"regularization constant $\lambda$ accordingly (as depicted in Section 5) which leads to equal final "
        r"$(\varepsilon,\delta)$ -DP guarantees for the hyperparameter tuning algorithms."
    ),
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\lVert S_\eta(v) - S_\eta(v') \rVert \le (1 - \eta\lambda) \lVert v - v' \rVert"
              r" \text{ for every } (\eta, P) \text{ of the grid, ten classes}",
    words="Theorem 2.8 gives NoisyCGD's stated epsilon at every point of the experiments' grid (joint clip at C = 1, "
          "|x|^2 = 1 or 87.8, half of the hyperplanes active, eta lambda = 5.4e-5: assumed, not told)",
    hypotheses=(), says=lambda run: run.classes == 10, check=judge_coverage,
    flips=(Flip("ten classes and the smallest eta", lambda run: run.classes == 10 and run.exponent == -3
                and run.square == 1, Verdict.REFUTED),
           Flip("two classes, all of the grid", lambda run: run.classes == 2, Verdict.REFUTED),
           Flip("two classes and the smallest eta", lambda run: run.classes == 2 and run.exponent == -3,
                Verdict.UNDECIDED)),
    uses=("relu-approx/thm-2.8-formula", "relu-approx/thm-2.8-c", "relu-approx/thm-2.8-eta", "relu-approx/lem-3.2",
          "relu-approx/lem-3.2-consequence", "relu-approx/clip-convex", "relu-approx/clip-preserves",
          "relu-approx/sec-3.4-strong", "relu-approx/def-2.7"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"k = 2,\ \eta\,(\sqrt{2P}\,C\lVert x\rVert - C^2 + 2\lambda) \le 2 \implies c = 1 - \eta\lambda",
        words="for a two-class model Theorem 2.8 holds with c = 1 - eta lambda at the step sizes that the clipped loss "
              "allows",
        hypotheses=_GRID,
        says=lambda clip, length, sqrt: sqrt(2) * clip * length - clip**2,
        check=judge_two_classes,
        expected="HOLDS ARGUED",
        source="000, Section 6, for a two-class model and step sizes that the true smoothness allows",
        flips=(
            Flip("half of the hyperplanes active",
                 lambda clip, length, sqrt: clip * length - clip**2, Verdict.REFUTED),
            Flip("the unclipped curvature", lambda clip, length, sqrt: length**2 / 2, Verdict.REFUTED),
        ),
        rests_on=("relu-approx/thm-2.8-formula", "relu-approx/thm-2.8-c-repaired",
                  "relu-approx/clip-convex-scalar", "relu-approx/def-2.7-repaired"),
    ),
)
