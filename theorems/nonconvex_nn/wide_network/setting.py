r"""The setting of Section 6 of document 002: Assumption 4, the loss, and what is said there that cannot be checked
here.

Assumption 4 takes all layers within R of 0. The start of Algorithm 10 is not there: |W_l(0)|^2 is 2/m times a
chi-squared variable of m^2 degrees for the layers between hidden ones, with mean 2m. The lemmas of Appendix C are about
balls around the start.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, real
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.unchecked import unchecked_claim
from theorems.verdict import Finding, Verdict, computed, proof, refuted

Formula = Callable[..., Any]


def judge_start(says: Formula, given: Domain) -> Finding:
    """Whether the start W(0) lies within R of the centre says(W(0)) in each layer, hidden ones of m x m."""
    tried = 0
    for point in led(given, width=256, radius="1"):
        width, radius = point["width"], point["radius"]
        away = Fraction(says(Fraction(1))) - 1  # the centre is a multiple of the start
        tried += 1
        if away == 0:
            continue
        with ctx.workprec(100):  # |W_l(0)|^2 = (2/m) chi^2_{m^2}: the lower incomplete gamma function
            inside = ball(width * radius**2 / (4 * away**2)).gamma_lower(arb(width) ** 2 / 2, regularized=1)
            if inside < ball(Fraction(1, 2)):
                return refuted("the start is far outside, with nearly full probability", {
                    "m": width, "R": radius, "mean of |W_l(0)|^2": 2 * width, "centre over start": away + 1,
                    "P(within R)": Enclosure.of_ball(inside)})
    start, radius_ = sympy.Symbol("w", real=True), given.symbol("radius")
    return proof(computed("the start is at the centre, on symbols, and R > 0",
                          vanishes(says(start) - start) and radius_.is_positive is True), tried=tried)


def judge_loss(says: Formula, given: Domain) -> Finding:
    """Whether a loss of the score is non-negative, convex and 1-Lipschitz."""
    f, p = sympy.Symbol("f", real=True), sympy.Symbol("p", positive=True)
    first, second = (sympy.simplify(sympy.diff(says(f), f, k).subs(f, sympy.log(p))) for k in (1, 2))
    tried = 0
    for score in given.values("score"):
        slope = sympy.diff(says(f), f).subs(f, sympy.Rational(str(Fraction(score))))
        tried += 1
        if bool(sympy.N(abs(slope), 50) > 1):
            return refuted("steeper than 1", {"score": score, "slope": slope})
    return proof(
        computed("its slope is between -1 and 1, with e^f = p > 0", never_negative(1 - first, 1 + first)),
        computed("its second derivative is not negative", never_negative(second)),
        computed("its value is not negative", sympy.simplify(says(sympy.log(p))).is_nonnegative is True),
        tried=tried,
    )


parameters = Claim(
    id="nonconvex-nn/asm-4-start",
    source="002, Assumption 4, read of the start of Algorithm 10: is it in the parameter space?",
    quote=r"the parameter space of the network is $\mathcal{W} = \mathcal{B}(\mathbf{0}, R)$, i.e., for all "
          r"$\mathbf{W} \in "
          r"\mathcal{W} : \|\mathbf{W}_l\|_F \leq R$, for all $l \in [L]$.",
    whose=Whose.READING, severity=Stake.UTILITY, statement=r"W^{(0)} \in \mathcal{B}(0, R)",
    words="the random start lies in the parameter space, the ball of radius R around 0 in every layer",
    hypotheses=(positive_integer("width", "m"), positive("radius", "R")), says=lambda start: 0 * start,
    check=judge_start, expected="REFUTED PROVED",
    repair=Repair(statement=r"\mathcal{W} = \{W: \|W_l - W_l^{(0)}\|_F \le R/\sqrt m\}",
                  words="a ball around the start in every layer, as Lemmas 18 to 27 have it, contains the start",
                  says=lambda start: start, expected="HOLDS PROVED",
                  true_variants={"any width": "the start is at its own centre at every width"},
                  flips=(Flip("around half of the start", lambda start: start / 2, Verdict.REFUTED),)),
)
loss = Claim(
    id="nonconvex-nn/loss-class", source="002, Section 6: a non-negative, differentiable, S-Lipschitz convex loss",
    quote=r"we also have a non-negative, differentiable, and S -Lipschitz convex loss function",
    whose=Whose.READING, severity=Stake.EDITORIAL, statement=r"\ell(f) = \log(1 + e^f),\ S = 1",
    words="the logistic loss is of the kind that Section 6 asks for, with S = 1; the squared loss is not",
    hypotheses=(real("score", "f"),), says=lambda f: sympy.log(1 + sympy.exp(f)), check=judge_loss,
    flips=(Flip("the squared loss", lambda f: f**2, Verdict.REFUTED),
           Flip("twice the logistic loss", lambda f: 2 * sympy.log(1 + sympy.exp(f)), Verdict.REFUTED)),
    true_variants={"1 % less": "a smaller multiple is less steep", "1 -> 2*": "log(2 + e^f) is of that kind, too"},
    expected="HOLDS PROVED",
)


unchecked = partial(unchecked_claim, "nonconvex-nn", "002", severity=Stake.PROOF)

lemma_21 = unchecked(
    "lem-21-every-depth", "Lemma 21 (Lemma 8.2 of Allen-Zhu et al. 2019), one hidden constant for all depths",
    "within omega hidden layers move by O(omega L^{5/2} sqrt(log m)), with a constant that does not depend on L",
    r"\|h_{i,j} - h_{i,j}^{(0)}\| \leq O(\omega L^{5/2} \sqrt{\log m}) \quad (18)",
    "a lemma of another paper with hidden constants, whose text is not at hand; a proof, their values, or "
    "networks with L growing and m > L^6 in which |h_L - h_L(0)|/(omega L^{5/2} sqrt(log m)) grows "
    "would settle it. At every given depth it is lem-21",
)
lemma_22 = unchecked(
    "lem-22-every-depth", "Lemma 22, one hidden constant for all depths",
    "within R/sqrt(m) the gradients of f and of the loss are O(sqrt(m)) and O(S sqrt(m)), free of L",
    r"1. $\|\nabla_{\mathbf{W}_i} f(\mathbf{W}; \mathbf{x}_i)\|_F = O(\sqrt{m})$",
    "its proof needs a bound, free of L, of the products W_L ... D_l for all W of the ball, which it never states "
    "(lem-22-backward); such a bound with its constants would settle it, or starts with L growing at which the norm of "
    "W_L D_{L-1} ... D_1 grows. At every given depth it is lem-22", severity=Stake.UTILITY,
    uses=("nonconvex-nn/lem-22-backward", "nonconvex-nn/lem-22-ntk"),
)
hardest = unchecked(
    "relu-hardest", "Section 6: the ReLU is arguably one of the most difficult activations",
    "the ReLU is one of the most difficult activations to analyse",
    r"which is arguably one of the most difficult activation functions to analyze due to its non-smoothness.",
    "an opinion without a measure", severity=Stake.EDITORIAL,
)
unequal = unchecked(
    "widths-footnote", "footnote 7: widths of the same order", "the result extends to widths of the same order",
    r"Our result can be extended to the setting where the widths of each layer are not equal in the same order.",
    "no statement for unequal widths is printed; one with its constants would settle it", severity=Stake.EDITORIAL,
)
first_rate = unchecked(
    "ntk-arora", "Section 6: Arora et al. (2019) give the first non-asymptotic rate for the kernel",
    "Arora et al. were first to give a non-asymptotic rate of convergence of the kernel",
    r"Recently, Arora et al. (2019) gives the first non-asymptotic convergence rate for the NTK matrix Θ_t",
    "what other papers show, and who was first; for this document's scaling see ntk-limit-scaling",
    severity=Stake.EDITORIAL,
)
control = unchecked(
    "ntk-control", "Section 6: f and f_ntk differ by what Theta_t and Theta_0 differ by",
    "the difference of the kernels controls that of the network and its linearisation",
    r"we can also control the difference between $f(W^{(t)}, x)$ and $f_{ntk}(W^{(t)}, x)$ by the term $\|\Theta_t - "
    r"\Theta_0\|_F$.",
    "no bound is printed: one in terms of the kernels, the loss and the time would settle it",
)
similar = unchecked(
    "convex-dynamics", "Appendix C, after Lemma 19: DP-SGD is similar to noised convex SGD (it names Algorithm 5 for "
                       "10)",
    "near the start DP-SGD on the network is similar to noisy SGD on a convex loss",
    r"**the DP-SGD algorithm is similar to the noised SGD convex optimization**. Algorithm 5 is similar to the "
    r"dynamics of convex "
    r"optimization.", "'similar' names no distance; Algorithm 5 is another algorithm, for links without a gradient",
    severity=Stake.EDITORIAL,
)
