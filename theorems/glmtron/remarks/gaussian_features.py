r"""Document 003, Section 1: bounded features and labels, which Gaussian ones are not, whatever the bound.

For x ~ N(0, 1) and z > 0, P(x > z) > z/(1 + z^2) phi(z) > 0: the difference of the two sides has the derivative
-2 phi(z)/(1 + z^2)^2 < 0 and the limit 0 at infinity. A feature vector is at least as long as a coordinate of it, and a
label ReLU(<w*, x>) + noise with Gaussian noise of deviation s exceeds C with probability at least P(noise > C). So a
bound C fails with probability at least 2 z/(1 + z^2) phi(z), z = C/s, for the features, and at least half of that for
the labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Exceeds = Callable[[Any, Any], Any]
"""Of z and phi(z): a number below P(|x| > z), x a standard Gaussian, that is positive."""


def judge_exceeds(says: Exceeds, given: Domain) -> Finding:
    """Whether P(|x| > z) > says(z, phi(z)) > 0 for all z."""
    tried = 0
    for z in given.values("bound", most=20):
        with ctx.workprec(128):
            at = ball(z)
            density = (-at * at / 2).exp() / (2 * arb.pi()).sqrt()
            claimed, true = says(at, density), 2 * normal_upper_tail(at)
            tried += 1
            if not 0 < claimed < true:
                return refuted("it is not positive, or the probability is smaller", {
                    "z": z, "claimed": Enclosure.of_ball(claimed), "P(|x| > z)": Enclosure.of_ball(true)})
    z_ = given.symbol("bound", "z")
    phi = sympy.exp(-(z_**2) / 2) / sympy.sqrt(2 * sympy.pi)
    rest = sympy.erfc(z_ / sympy.sqrt(2)) - says(z_, phi)
    return proof(
        computed("P(|x| > z) less that falls: its derivative is -4 phi(z)/(1 + z^2)^2 < 0",
                 vanishes(sympy.diff(rest, z_) + 4 * phi / (1 + z_**2) ** 2)),
        computed("both vanish at infinity", sympy.limit(rest, z_, sympy.oo) == 0),
        computed("it is positive for z > 0", signed_positive(says(z_, phi)) and signed_positive(given.chart("bound"))),
        argued("|x|_2 is at least a coordinate's size, and |y| at least the noise where that is positive"),
        tried=tried,
    )


unbounded = Claim(
    id="glmtron/prose-gaussian-unbounded", source="003, Section 1: bounded features and labels (of [33])",
    quote="lyl < O(1), which does not hold even for normal Gaussian distributions.",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\Pr[|x| > zs] > \frac{2z}{1 + z^2}\varphi(z) > 0 \text{ for all } z > 0,\ x \sim \mathcal{N}(0, s^2)",
    words="no bound on the norm holds for Gaussian features or labels: each is exceeded with positive probability",
    hypotheses=(positive("bound", "z"),), says=lambda z, phi: 2 * z / (1 + z**2) * phi, check=judge_exceeds,
    flips=(
        Flip("never exceeded", lambda z, phi: 0 * z, Verdict.REFUTED),
        Flip("the upper estimate 2 phi/z", lambda z, phi: 2 * phi / z, Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)
