r"""What enters one step of the accounting of document 001: the noise of (9), a touch, and the sensitivity.

A step with the record moves a Gaussian's mean by eta S_g/b at the variance 2 eta o. For two Gaussians of one variance v
with means m apart, alpha times -(x-m)^2/(2v) plus 1 - alpha times -x^2/(2v) is -(x - alpha m)^2/(2v) + alpha (alpha-1)
m^2/(2v): so R_alpha/alpha = m^2/(2v), here eta S_g^2/(4 b^2 o).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive, positive_integer, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.network.algebra import never_negative
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided


def judge_variance(time: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether 2 time(t, eta) o is the variance of the law after one step of (8), 2 eta o, for t in [0, eta]."""
    tried = 0
    for point in led(given, eta="1", share="1/2", noise="1"):
        eta, t, o = point["eta"], point["share"] * point["eta"], point["noise"]
        tried += 1
        if time(t, eta) != eta:
            return refuted(
                "the time of the process is not the step size before its end",
                {"eta": eta, "t": t, "o": o, "variance of (8)": 2 * eta * o, "variance of (9)": 2 * time(t, eta) * o},
            )
    eta_, o_ = given.symbol("eta"), given.symbol("noise")
    return proof(
        computed("2 eta o at every time, on symbols",
                 vanishes(2 * time(given.chart("share") * eta_, eta_) * o_ - 2 * eta_ * o_)),
        tried=tried,
    )


def gaussian_rate() -> Any:
    """R_alpha/alpha of N(m, v) against N(0, v) by completing the square, as a function of symbols m and v; or None."""
    x, m = sympy.symbols("x m", real=True)
    alpha, v = sympy.symbols("alpha v", positive=True)
    exponent = alpha * -((x - m) ** 2) / (2 * v) + (1 - alpha) * -(x**2) / (2 * v)
    left = sympy.expand(exponent + (x - alpha * m) ** 2 / (2 * v))  # what is left integrates to e^left
    rate = sympy.simplify(left / (alpha - 1) / alpha)
    return None if rate.has(x) or rate.has(alpha) else sympy.Lambda((m, v), rate)


def judge_touch(gain: Callable[..., Any], given: Domain) -> Finding:
    """Whether a step with the record adds at most gain(eta, S, b, o): its mean moves by eta S/b, variance 2 eta o."""
    names = ("eta", "sensitivity", "batch_size", "noise")
    rate, tried = gaussian_rate(), 0
    for point in given.points(*names, at_most=150):
        eta, size, batch, o = (Fraction(point[name]) for name in names)
        true = (eta * size / batch) ** 2 / (2 * (2 * eta * o))
        tried += 1
        if gain(eta, size, batch, o) < true:
            return refuted(
                "the Gaussian step, which attains it, loses more",
                {"eta": eta, "S_g": size, "b": batch, "o": o, "claimed": gain(eta, size, batch, o), "exact": true},
            )
    eta_, size_, batch_, o_ = (given.symbol(name) for name in names)
    return proof(
        computed("R_alpha/alpha of two Gaussians is (difference of means)^2/(2 variance), by completing the square",
                 rate is not None and all(alpha > 1 for alpha in given.values("alpha"))),
        computed("the difference eta S/b at the variance 2 eta o gives at most what is claimed, on symbols",
                 rate is not None and never_negative(gain(eta_, size_, batch_, o_)
                                                     - rate(eta_ * size_ / batch_, 2 * eta_ * o_))),
        argued("given what came before, the step is such a release: composition adds it up, and T is post-processing"),
        tried=tried,
    )


def judge_sensitivity(share: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether share(change, n, b) is how far a batch's mean moves when one of n gradients changes by that much."""
    tried = 0
    for point in led(given, at_most=100, change="2", batch_size=2, batches=2):
        change, batch, records = point["change"], point["batch_size"], point["batch_size"] * point["batches"]
        gradients = [Fraction(0)] * min(batch, 5)  # the others' values cancel
        moved = (sum(gradients) + change) / batch - sum(gradients) / batch
        tried += 1
        if share(change, records, batch) != moved:
            return refuted(
                "the batch's mean moves otherwise than by S_g / b",
                {"n": records, "b": batch, "change of a gradient": change, "S_g": share(change, records, batch) * batch,
                 "S_g / b": share(change, records, batch), "moved": moved},
            )
    change_, batch_, batches_ = (given.symbol(name) for name in ("change", "batch_size", "batches"))
    others, own = sympy.symbols("s g", real=True)  # the sum of the b - 1 other gradients, whatever b, and the own one
    moved_ = (others + own + change_) / batch_ - (others + own) / batch_
    return proof(
        computed("the mean of a batch of b gradients, one of which changes, moves by the change over b, on symbols",
                 vanishes(share(change_, batch_ * batches_, batch_) - moved_)),
        tried=tried,
    )


def judge_finite(clip: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether gradients gamma (theta x - U) x, passed through clip(., C), differ by at most 2C for every theta."""
    tried, beyond = 0, ""
    for point in led(given, limit="1", gamma="1"):
        limit, gamma = point["limit"], point["gamma"]
        theta = 2 * limit / gamma + 1
        one, other = clip(gamma * theta, limit), clip(Fraction(0), limit)  # of the records (x, U) = (1, 0) and (0, 0)
        moved = one - other
        beyond = beyond or (f"a gradient beyond C = {limit}" if max(abs(one), abs(other)) > limit else "")
        tried += 1
        if abs(moved) > 2 * limit:
            return refuted(
                "the gradients of two records differ by more, and by as much as one likes as theta grows",
                {"gamma": gamma, "theta": theta, "records (x, U)": "(1, 0) and (0, 0)", "S_g at most": 2 * limit,
                 "difference": moved},
            )
    if beyond:
        return undecided(beyond, tried)
    limit_, more = given.symbol("limit"), sympy.symbols("s", nonnegative=True)
    cases = ((limit_, limit_ + more), (more + limit_, more), (limit_, -limit_ - more), (more + limit_, -more))
    return proof(
        computed("a gradient beyond the limit, within it, or beyond it on the other side comes out within [-C, C]", all(
            never_negative(size - clip(value, size)) and never_negative(size + clip(value, size))
            for size, value in cases) and given.symbol("gamma").is_positive is True),
        argued("a clipped vector has norm at most C, and two of them differ by at most 2C (triangle inequality)"),
        tried=tried,
    )


_ALPHA = Parameter("alpha", low=Fraction(1), low_open=True)
_TOUCH = (_ALPHA, positive("eta"), positive("sensitivity"), positive_integer("batch_size"), positive("noise"))
_CHANGE = (positive("change"), positive_integer("batch_size"), positive_integer("batches", "n/b"))
_TOTAL = r"The l_2 sensitivity of the total gradient $\mathbb{E}_D \nabla \mathcal{F}(\theta)$ is finite."

variance = Claim(
    id="sbcd/eq-9-t", source="001, (9): N(0, 2t o(eta, k, j) I), t the time in the process, for the law after a step",
    quote=(
        r"\tilde{\Theta} = T_{\#}(F_{\#}(\Theta) * \mathcal{N}(0, 2t \cdot o(\eta, k, j) \mathbb{I}_d)) "
        r"\quad (9)"
    ),
    whose=Whose.TYPO,
    statement=r"\tilde\Theta = T_\#(F_\#(\Theta) * \mathcal{N}(0, 2t\, o(\eta,k,j))), \quad t \in [0, \eta]",
    words="the law after a step of (8) has the noise 2 t o, t not bound to be eta",
    hypotheses=(positive("eta"), unit_interval("share", "t/eta"), positive("noise")), says=lambda t, eta: t,
    check=judge_variance,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\tilde\Theta = T_\#(F_\#(\Theta) * \mathcal{N}(0, 2\eta\, o(\eta,k,j)))",
        words="the noise of (9) is 2 eta o, that of (8)",
        says=lambda t, eta: eta,
        expected="HOLDS PROVED",
        source="001, (9) with 2 eta o",
        flips=(Flip("eta^2", lambda t, eta: eta**2, Verdict.REFUTED),),
        true_variants={"any *": "the variance 2 eta o is the same expression for all numbers"},
    ),
)
variance_of_noise = Claim(
    id="sbcd/o-is-variance", source="001, Section 4.3 (and Section 5, final noise variance): o is called the variance",
    quote="i.e., the variance of the noise",
    whose=Whose.TYPO,
    statement=r"\mathrm{Var} = o(\eta, k, j) \text{ in (8)}",
    words="o is the variance of the noise of a step, and not 2 eta o",
    hypotheses=variance.hypotheses, says=lambda t, eta: Fraction(1, 2), check=judge_variance,
    flips=(Flip("2 eta o", lambda t, eta: eta, Verdict.HOLDS),),
    repaired_by="sbcd/eq-9-t-repaired",
    expected="REFUTED PROVED",
)
touch = Claim(
    id="sbcd/cor-4.5-case2", source="001, Corollary 4.5, case 2 (o where it prints sigma, S_g of the summed gradient)",
    quote=(
        r"\text{ is upper bounded by } \frac{R_\alpha(\theta_k^j \|\theta'^j\|)}{\alpha} + \frac{\eta "
        r"S_g^2}{4b^2 \cdot \sigma(\eta, k, j)}."
    ),
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\frac{R_\alpha'}{\alpha} \le \frac{R_\alpha}{\alpha} + \frac{\eta S_g^2}{4b^2 o}",
    words="a step with the record, whose summed gradient moves by up to S_g, adds up to eta S_g^2/(4 b^2 o) to R/alpha",
    hypotheses=_TOUCH, says=lambda eta, s, b, o: eta * s**2 / (4 * b**2 * o), check=judge_touch,
    flips=(
        Flip("8 in place of 4", lambda eta, s, b, o: eta * s**2 / (8 * b**2 * o), Verdict.REFUTED),
        Flip("2 in place of 4, which is weaker", lambda eta, s, b, o: eta * s**2 / (2 * b**2 * o), Verdict.HOLDS),
    ),
    uses=("sbcd/assump-4.4",), rests_on=("sbcd/assump-4.4-repaired", "sbcd/norm-post-processing"),
    true_variants={"1 % more": "a larger bound is a bound, too", "any sensitivity": "only its square enters"},
    expected="HOLDS ARGUED",
)
sensitivity = Claim(
    id="sbcd/assump-4.4", source="001, Assumption 4.4: S_g is the sensitivity of E_D grad F, and enters as S_g/b",
    quote=_TOTAL,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"S_g = \max \lVert \mathbb{E}_D \nabla\mathcal{F} - \mathbb{E}_{D'} \nabla\mathcal{F} \rVert_2",
    words="S_g/b is how far a batch's mean moves: S_g the sensitivity of the mean gradient, or of the total one",
    hypotheses=_CHANGE, says=None, check=None, readings=("sbcd/assump-4.4-reading-mean", "sbcd/assump-4.4-repaired"),
    expected="AMBIGUOUS PROVED",
    repair=Repair(
        statement=r"S_g = \max \left\lVert \sum_{D} \nabla\mathcal{F} - \sum_{D'} \nabla\mathcal{F} \right\rVert_2",
        words="S_g/b, with S_g the sensitivity of the summed gradient, is how far a batch's mean moves",
        says=lambda change, n, b: change / b, check=judge_sensitivity,
        expected="HOLDS PROVED",
        source="001, Assumption 4.4 with the sum over D, gradients clipped or otherwise bounded",
        flips=(Flip("the mean over D", lambda change, n, b: change / n / b, Verdict.REFUTED),),
        true_variants={"any change": "a change of either sign moves the mean so",
                       "any batches": "the number of the other batches does not enter"},
    ),
)
sensitivity_mean = reading(
    sensitivity, "mean", source="001, Assumption 4.4 with E_D the mean over the data",
    words="S_g/b, with S_g the sensitivity of the mean gradient over the data, is how far a batch's mean moves",
    says=lambda change, n, b: change / n / b, check=judge_sensitivity,
    flips=(Flip("the sum over D", lambda change, n, b: change / b, Verdict.HOLDS),), expected="REFUTED PROVED",
)
finite = Claim(
    id="sbcd/assump-4.4-finite", source="001, Assumption 4.4, for the sub-problems of (4), without clipping",
    quote=(
        r"$S_g = \max_{D, D', \theta} \|\mathbb{E}_D \nabla \mathcal{F}(\theta) - "
        r"\mathbb{E}_{D'} \nabla \mathcal{F}(\theta)\|_2$"
    ),
    whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\max_\theta \lVert \nabla\mathcal{F}(\theta; D) - \nabla\mathcal{F}(\theta; D') \rVert < \infty"
              r" \text{ for (4)}",
    words="the gradients of an inner sub-problem, not clipped, differ by a bounded amount, whatever theta is",
    hypotheses=(positive("limit", "C"), positive("gamma")), says=lambda gradient, limit: gradient, check=judge_finite,
    uses=("sbcd/assump-3.1",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"S_g \le 2C \text{ for gradients clipped to } C",
        words="gradients clipped to C differ by at most 2C, whatever theta is",
        says=lambda gradient, limit: sympy.Max(-limit, sympy.Min(limit, gradient)),
        expected="HOLDS ARGUED",
        source="001, Assumption 4.4, with clipping, which Algorithm 2 does not do",
        true_variants={"sign": "the ball is symmetric", "1 % less": "the ball is convex"},
    ),
)
