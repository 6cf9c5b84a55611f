r"""Sentences of document 001 around its theorems: convex losses, the order of updates, sigma for o, composition.

Cross-entropy: logsumexp(z) - z_y has the Hessian diag(p) - p p^T, and for weights p the form E v^2 - (E v)^2 =
E (v - v')^2 / 2 >= 0, v' an independent copy; z = theta x is linear in theta and in x, not in both. Updates: the
gradient of theta_d reads U_d; with the old one, as "simultaneously" says, theta moves otherwise than with the new one,
as listed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, real
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.sbcd.privacy.one_step import gaussian_rate
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, computed, proof, refuted


def judge_entropy(blocks: tuple[str, ...], given: Domain) -> Finding:
    """Whether cross-entropy of theta x is convex in each of the blocks; "both" is theta and x jointly."""
    if "both" in blocks:
        with ctx.workprec(64):
            middle, end = arb(2).log(), (1 + (-ball(Fraction(1))).exp()).log()  # theta = x = 0, and theta = x = 1 or -1
        if middle > end:
            return refuted(
                "the middle of a segment lies above its ends",
                {"loss": "log(1 + e^(-theta x))", "ends (theta, x)": "(1, 1) and (-1, -1)", "at the ends": end.str(8),
                 "in the middle": middle.str(8)},
            )
    z, w = sympy.symbols("z w", real=True)
    rest = sympy.symbols("r", positive=True)
    total = sympy.exp(z) + sympy.exp(w) + rest  # all other classes as one number
    p, q = sympy.exp(z) / total, sympy.exp(w) / total
    own, cross = sympy.diff(sympy.log(total), z, 2), sympy.diff(sympy.log(total), z, w)
    first, second = sympy.symbols("m_1 m_2", real=True)  # E v and E v^2 under the weights p
    theta, x, step, t = sympy.symbols("theta x h t", real=True)
    lines = {"theta": (theta + t * step) * x, "x": theta * (x + t * step)}
    return proof(
        computed("the Hessian of logsumexp is diag(p) - p p^T, any number of classes", vanishes(own - (p - p**2))
                 and vanishes(cross + p * q)),
        computed("v^T (diag(p) - p p^T) v = E v^2 - (E v)^2 = E (v - v')^2 / 2 >= 0",
                 vanishes((second - 2 * first * first + second) / 2 - (second - first**2))),
        computed("theta x is linear along every line of the block, and - z_y is linear",
                 all(vanishes(sympy.diff(lines[block], t, 2)) for block in blocks)),
    )


def judge_gap(gap: Callable[[Any, Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether gap(eta, x_0, U, U') is theta with the new U' minus theta with the old U: one number a block, r = 0."""
    def moved(theta: Any, eta: Any, x: Any, hidden: Any) -> Any:
        return theta - eta * (theta * x - hidden) * x

    tried = 0
    for point in led(given, at_most=120, eta="1/2", x="1", old="0", new="1"):
        eta, x, old, new = (point[name] for name in ("eta", "x", "old", "new"))
        true = moved(Fraction(1), eta, x, new) - moved(Fraction(1), eta, x, old)
        tried += 1
        if gap(eta, x, old, new) != true:
            return refuted(
                "the two orders of the updates give different iterates",
                {"theta_0": 1, "x_0": x, "eta": eta, "U_0 before": old, "U_0 after": new,
                 "simultaneous": moved(Fraction(1), eta, x, old), "as listed": moved(Fraction(1), eta, x, new),
                 "claimed difference": gap(eta, x, old, new)},
            )
    eta_, x_, old_, new_ = (given.symbol(name) for name in ("eta", "x", "old", "new"))
    theta = sympy.symbols("theta", real=True)
    true_ = moved(theta, eta_, x_, new_) - moved(theta, eta_, x_, old_)
    shown = vanishes(gap(eta_, x_, old_, new_) - true_)
    return proof(computed("the difference of the two iterates, on symbols", shown), tried=tried)


def judge_sigma(noise: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether eta S^2/(4 b^2 noise(o, sigma)), sigma any other number, is what a Gaussian step of (8) loses."""
    rate, tried = gaussian_rate(), 0  # of eta = S_g = b = 1: means 1 apart at the variance 2 o
    for point in led(given, noise="1", sigma="2"):
        o, sigma = point["noise"], point["sigma"]
        true, claimed = sympy.nsimplify(rate(1, 2 * o)), 1 / (4 * noise(o, sigma))
        tried += 1
        if claimed != true:
            return refuted("sigma, the activation function elsewhere, is not the noise of (8)",
                           {"o": o, "sigma": sigma, "touch (eta = S_g = b = 1)": true, "claimed": claimed})
    o_, sigma_ = given.symbol("noise"), given.symbol("sigma")
    return proof(
        computed("R_alpha/alpha of two Gaussians, by completing the square, is the touch with o for sigma, on symbols",
                 vanishes(rate(1, 2 * o_) - 1 / (4 * noise(o_, sigma_)))), tried=tried,
    )


def judge_additive(loss: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether loss(v_1, v_2) is R_alpha/alpha of two Gaussian releases of these variances, their means moved by 1."""
    m, n, x, y = sympy.symbols("m n x y", real=True)
    alpha, v, w = sympy.symbols("alpha", positive=True), given.symbol("first"), given.symbol("second")

    def exponent(mean: Any, at: Any, spread: Any) -> Any:
        return alpha * -((at - mean) ** 2) / (2 * spread) + (1 - alpha) * -(at**2) / (2 * spread)

    left = sympy.expand(exponent(m, x, v) + exponent(n, y, w) + (x - alpha * m) ** 2 / (2 * v)
                        + (y - alpha * n) ** 2 / (2 * w))  # what is left of the squares integrates to e^left
    rate = sympy.simplify(left / (alpha - 1) / alpha)
    tried = 0
    for point in led(given, first="1", second="2"):
        one, other = point["first"], point["second"]
        true = sympy.Rational(rate.subs({m: 1, n: 1, v: one, w: other}))
        tried += 1
        if loss(one, other) != Fraction(int(true.p), int(true.q)):
            return refuted("the losses of two releases with different noises add up all the same",
                           {"v_1": one, "v_2": other, "means moved by": "1, 1", "claimed R/alpha": loss(one, other),
                            "R/alpha of both": true})
    return proof(
        computed("R_alpha/alpha of two Gaussian releases is m^2/(2v) + n^2/(2w), by completing the squares, and so is "
                 "what is claimed", vanishes(loss(v, w) - rate.subs({m: 1, n: 1}))), tried=tried,
    )


_CROSS = r"\mathcal{R} is the loss function, such as softmax cross-entropy function, which is convex w.r.t. θ_D ."
_USUALLY = (
    "they usually assume that the calibrated noise in each training iteration follows the same distribution and that "
    "the algorithm’s internal states, i.e., the model’s parameters in each training step, can be revealed to the "
    "adversaries."
)

entropy = Claim(
    id="sbcd/cross-entropy-convex", source="001, Section 3.1, and after (4): convex in both theta_D and x_D",
    quote=_CROSS, whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"z \mapsto \log\sum_i e^{z_i} - z_y,\ z = \theta_D \mathbf{x}_D, \text{ is convex in } \theta_D"
              r" \text{ and in } \mathbf{x}_D",
    words="soft-max cross-entropy is convex in theta_D and in x_D, each with the other fixed",
    hypotheses=(), says=("theta", "x"), check=judge_entropy,
    flips=(Flip("jointly", ("both",), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
simultaneous = Claim(
    id="sbcd/alg-simultaneous", source="001, Algorithms 1 and 2: simultaneously, and line by line",
    quote=r"Update $\theta_d, \mathbf{U}_d, \mathbf{x}_d$ simultaneously as follows:",
    whose=Whose.READING,
    statement=r"\theta_d \text{ updated with the old } \mathbf{U}_d \text{ is } \theta_d \text{ updated with the new}",
    words="updating theta, U and x simultaneously is the same as updating them line by line, as listed",
    hypotheses=(positive("eta"), real("x"), real("old"), real("new")), says=lambda eta, x, old, new: 0 * eta,
    check=judge_gap,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\theta_d^{\text{listed}} - \theta_d^{\text{simultaneous}} = \eta\,(U_d' - U_d)\,x_d",
        words="updated line by line, theta differs from simultaneous updates by eta times the move of U times x",
        says=lambda eta, x, old, new: eta * (new - old) * x,
        expected="HOLDS PROVED",
        true_variants={"any eta": "an identity, linear in eta"},
    ),
)
sigma = Claim(
    id="sbcd/cor-4.5-sigma", source="001, Corollary 4.5, both cases: sigma(eta, k, j), which is nowhere defined",
    quote=r"\frac{\eta S_g^2}{4b^2 \cdot \sigma(\eta, k, j)}.",
    whose=Whose.TYPO,
    statement=r"\frac{\eta S_g^2}{4b^2\,\sigma(\eta,k,j)} \text{ with } \sigma \ne o",
    words="the noise of Corollary 4.5 is a sigma that need not be the o of (8)",
    hypotheses=(positive("noise"), positive("sigma")), says=lambda o, sigma: sigma, check=judge_sigma,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{\eta S_g^2}{4b^2\,o(\eta,k,j)}",
        words="sigma of Corollary 4.5 is the o of (8) and (11)",
        says=lambda o, sigma: o,
        expected="HOLDS PROVED",
        true_variants={"any sigma": "sigma does not enter"},
    ),
)
identical = Claim(
    id="sbcd/composition-identical-noise", source="001, Section 1, second paragraph",
    quote=_USUALLY, whose=Whose.PRINTED,
    statement=r"\text{composition theorems assume one noise for all iterations}",
    words="composition-based accounting assumes the same noise in every iteration: of need, or usually",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/composition-identical-noise-reading-needed", "sbcd/composition-identical-noise-reading-usual"),
    expected="AMBIGUOUS CITED",
    repair=Repair(
        statement=r"R_\alpha = \alpha \sum_i \frac{m_i^2}{2 v_i} \text{ for all } v_i",
        words="the Renyi losses of Gaussian releases add up whatever their noises",
        hypotheses=(positive("first", "v_1"), positive("second", "v_2")),
        says=lambda first, second: 1 / (2 * first) + 1 / (2 * second), check=judge_additive,
        expected="HOLDS PROVED",
        flips=(Flip("the first noise for both", lambda first, second: 1 / first, Verdict.REFUTED),),
    ),
)
identical_needed = reading(
    identical, "needed", source="001, Section 1: composition needs one noise",
    statement=r"R_\alpha = \alpha \sum_i \frac{m_i^2}{2 v_1}",
    words="composition-based accounting takes one noise for all iterations, as it must",
    hypotheses=(positive("first", "v_1"), positive("second", "v_2")), says=lambda first, second: 1 / first,
    check=judge_additive,
    flips=(Flip("each with its own noise", lambda first, second: 1 / (2 * first) + 1 / (2 * second), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
identical_usual = reading(
    identical, "usual", source="001, Section 1: usual practice",
    statement=r"\text{composition-based accounting is usually done with one noise}",
    words="composition-based accounting is usually done with one noise for all iterations", says=None,
    check=citing(Verdict.NOT_CHECKABLE, "what is usual in the literature is not computed"),
    expected="NOT_CHECKABLE CITED",
)
