r"""What document 000 says around Theorem 2.8: step sizes, and the constant c.

|1 - eta x| < 1 is eta x (2 - eta x) > 0. For eta beta > 2 the theorem's c is above 1 and its value stays bounded as the
epochs grow; but losses of curvature lambda, which are beta-smooth, too, have the law of a linear recursion, and as
lambda falls their mu^2 tends to E/k. |1 - eta beta| <= |1 - eta lambda| is eta (beta - lambda)
(eta (beta + lambda) - 2) <= 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.cyclic_value import squared, value
from theorems.tools.exact_shift_programme import exact_linear, optimum, touched_steps
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

_SHARES = tuple(Fraction(v) for v in ("1/2", "9/10", "999/1000"))


def judge_step_sizes(limit: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether every step size below limit(beta, M) has c < 1, and no larger range does; else losses that need more."""
    tried, expanding = 0, ""
    for point in given.points("lam", "excess"):
        lam, beta = point["lam"], point["lam"] + point["excess"]
        for patterns, share in ((2, share) for share in _SHARES):
            tried += 1
            eta = share * limit(beta, patterns)
            c = max(abs(1 - eta * lam), abs(1 - eta * beta))
            if c <= 1:
                continue
            expanding = f"c = {c} at lambda = {lam}, beta = {beta}, eta = {eta}, and no losses found that need more"
            for epochs in (10, 100):
                claimed = value(squared, c, 2, epochs)
                true = exact_linear(1 - eta * lam, touched_steps(batches=2, epochs=epochs, position=2))
                if claimed < true:
                    return refuted(
                        "quadratics of curvature lambda, lambda-strongly convex and beta-smooth, have a larger mu",
                        {"M": patterns, "beta": beta, "lambda": lam, "eta": eta, "c": c, "batches": 2,
                         "epochs": epochs, "mu^2 claimed": claimed, "mu^2 of these losses": true},
                    )
    if expanding:
        return undecided(expanding, tried)
    lam, more = given.symbol("lam"), given.symbol("excess")
    share, patterns_ = sympy.Symbol("s", positive=True), sympy.Symbol("M", integer=True, positive=True)
    beta = lam + more
    inside, beyond = limit(beta, patterns_) / (1 + share), limit(beta, patterns_) * (1 + share)
    return proof(
        computed("below it 1 - (1 - eta x)^2 > 0 for x = lambda and x = beta: c < 1",
                 all(sympy.factor(1 - (1 - inside * x) ** 2).is_positive for x in (lam, beta))),
        computed("beyond it 1 - (1 - eta beta)^2 < 0: c > 1, so the range is the largest",
                 sympy.factor(1 - (1 - beyond * beta) ** 2).is_negative),
        argued("with c < 1 Theorem 2.8 applies (thm-2.8-formula)"),
        tried=tried,
    )


def judge_contraction(threshold: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether max(|1 - eta lambda|, |1 - eta beta|) is the first one exactly for eta <= threshold(lambda, beta)."""
    tried = 0
    for point in given.points("lam", "excess"):
        lam, beta = point["lam"], point["lam"] + point["excess"]
        for share in (Fraction(7, 8), Fraction(99, 100), Fraction(1), Fraction(101, 100), Fraction(9, 8)):
            tried += 1
            eta = share * threshold(lam, beta)
            one, other = abs(1 - eta * lam), abs(1 - eta * beta)
            if (other <= one) != (share <= 1):
                return refuted(
                    "the other term of the maximum is the larger one" if other > one else "it is so beyond it, too",
                    {"lambda": lam, "beta": beta, "eta": eta, "|1 - eta lambda|": one, "|1 - eta beta|": other},
                )
    lam, more, share = given.symbol("lam"), given.symbol("excess"), sympy.Symbol("s", positive=True)

    def gap(scale: Any) -> sympy.Expr:
        eta = scale * threshold(lam, lam + more)
        return sympy.factor(sympy.simplify((1 - eta * (lam + more)) ** 2 - (1 - eta * lam) ** 2))

    return proof(
        computed("(1 - eta beta)^2 - (1 - eta lambda)^2 vanishes at the threshold", gap(1) == 0),
        computed("it is negative below the threshold", gap(1 / (1 + share)).is_negative),
        computed("and positive above it", gap(1 + share).is_positive),
        tried=tried,
    )


Squared = Callable[[Any, Any], Any]
"""(b sigma mu / L)^2 of so many batches and epochs."""


def judge_disjoint(says: Squared, given: Domain) -> Finding:
    """Whether composition gives fixed disjoint batches, all iterates released, that squared parameter."""
    j, first, more = sympy.symbols("j f e", integer=True, nonnegative=True)
    epoch, epochs = sympy.symbols("i", integer=True), given.symbol("epochs")
    touched = sympy.Sum(sympy.KroneckerDelta(j, first + 1), (j, 1, first + 1 + more)).doit()  # in batch f + 1 of any k
    total = sympy.Sum(sympy.simplify(touched), (epoch, 1, epochs)).doit()
    steps = (
        computed("of the steps of an epoch one uses the record, wherever it is, E of all: squares add up to E",
                 sympy.simplify(total - epochs) == 0),
        argued("such a step is L/(b sigma)-GDP by its Gaussian noise, any other has the same law on both data sets"),
    )
    points = list(given.points("batches", "epochs", most={"batches": 8, "epochs": 8}))
    for point in points:
        true = sum(touched_steps(batches=point["batches"], epochs=point["epochs"], position=1))
        if says(*point.values()) != true:
            return refuted_by("composition gives another parameter", {
                **point, "claimed mu^2": says(*point.values()), "mu^2": true, "in units of": "(L/(b sigma))^2"}, *steps)
    return proof(*steps, computed("that is the claimed number", sympy.simplify(
        total - says(given.symbol("batches"), epochs)) == 0), tried=len(points))


def judge_convex(says: Squared, given: Domain) -> Finding:
    """Whether without strong convexity, at c = 1, Theorem 2.8 gives that squared parameter, the optimum of shifts."""
    points = list(given.points("batches", "epochs", most={"batches": 8, "epochs": 8}))
    for point in points:
        best = optimum(Fraction(1), touched_steps(**point, position=point["batches"]))
        if says(*point.values()) != best:
            return refuted("shifts, which need no strong convexity, give another parameter, exactly", {
                **point, "claimed mu^2": says(*point.values()), "mu^2": best, "in units of": "(L/(b sigma))^2"})
    k, epochs = given.chart("batches", "k"), given.chart("epochs", "E")
    c, q, big_q, x = sympy.symbols("c q Q x", positive=True)
    claimed, n = says(k, epochs), k * (epochs - 1)

    def rate(power: Any) -> sympy.Expr:
        return sympy.diff(1 - sympy.exp(-power * x), x).subs(x, 0)  # of 1 - c^power in x = -log c, at c = 1

    return proof(
        computed("the second term of the theorem's value is (q/c)^2 (1 - c^2)(1 - Q) / ((1 - q)^2 (1 + Q)), where as c "
                 "rises to 1 the differences vanish like 2, n, k times -log c: its limit is the claimed number less 1",
                 sympy.simplify(squared(c, q, big_q) - 1 - (q / c) ** 2 * (1 - c**2) * (1 - big_q)
                                / ((1 - q) ** 2 * (1 + big_q))) == 0
                 and sympy.simplify(rate(2) * rate(n) / (rate(k) ** 2 * 2) - (claimed - 1)) == 0),
        computed("it is below E, what composition gives", sympy.factor(epochs - claimed).is_positive),
        argued("a gradient step on convex, beta-smooth losses is 1-Lipschitz for eta <= 2/beta (thm-2.8-formula)"),
        tried=len(points),
    )


_CURVATURES = (positive("lam"), non_negative("excess", "beta - lambda"))
_APART = (positive("lam"), positive("excess", "beta - lambda"))
_GENERALLY = (
    "This is reflected in the GDP bound of Thm. 2.8 in the constant c which generally equals "
    r"$|1-\eta\lambda|$ ."
)

step_sizes = Claim(
    id="relu-approx/thm-2.8-eta",
    source="000, Theorem 2.8: eta in (0, 2/M), where M is not introduced; evidently beta is meant",
    quote=r"Then, for any $\eta \in (0, 2/M)$ , NoisyCGD is $\mu$ -GDP",
    whose=Whose.TYPO,
    severity=Stake.PRIVACY,
    statement=r"\eta \in (0, 2/M) \implies \text{NoisyCGD is } \mu\text{-GDP for the } \mu \text{ of Theorem 2.8}",
    words="Theorem 2.8 holds for every step size below 2/M, M having nothing to do with beta",
    hypotheses=_CURVATURES,
    says=lambda beta, patterns: 2 / (patterns * Fraction(1)),
    check=judge_step_sizes,
    uses=("relu-approx/thm-2.8-formula",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta \in (0, 2/\beta) \iff c < 1, \text{ and then Theorem 2.8 applies}",
        words="Theorem 2.8 holds for every step size below 2/beta, and c < 1 for no others",
        says=lambda beta, patterns: 2 / beta,
        expected="HOLDS ARGUED",
        source="000, Theorem 2.8 with eta in (0, 2/beta)",
        flips=(Flip("3/beta", lambda beta, patterns: 3 / beta, Verdict.REFUTED),
               Flip("1/beta, which is not all", lambda beta, patterns: 1 / beta, Verdict.UNDECIDED)),
        rests_on=("relu-approx/thm-2.8-formula",),
    ),
)

contraction = Claim(
    id="relu-approx/thm-2.8-c",
    source="000, Section 2.2: c generally equals |1 - eta lambda|",
    quote=_GENERALLY,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\max\{|1-\eta\lambda|, |1-\eta\beta|\} = |1-\eta\lambda| \text{ generally}",
    words="the constant c of Theorem 2.8 is generally |1 - eta lambda|",
    hypotheses=_APART,
    says=None,
    check=None,
    readings=("relu-approx/thm-2.8-c-reading-every", "relu-approx/thm-2.8-c-repaired"),
    uses=("relu-approx/lem-3.2", "relu-approx/thm-2.8-eta"),
    expected="AMBIGUOUS PROVED",
)

every_step = Claim(
    id="relu-approx/thm-2.8-c-reading-every",
    source="000, Section 2.2, generally read as: for every step size that Theorem 2.8 admits",
    quote=_GENERALLY,
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\max\{|1-\eta\lambda|, |1-\eta\beta|\} = |1-\eta\lambda| \quad (0 < \eta < 2/\beta)",
    words="for every admissible step size the constant c of Theorem 2.8 is |1 - eta lambda|",
    hypotheses=_APART,
    says=lambda lam, beta: 2 / beta,
    check=judge_contraction,
    flips=(Flip("2/(lambda + beta)", lambda lam, beta: 2 / (lam + beta), Verdict.HOLDS),),
    repaired_by="relu-approx/thm-2.8-c-repaired",
    expected="REFUTED PROVED",
)

some_steps = Claim(
    id="relu-approx/thm-2.8-c-repaired",
    source="000, Section 2.2, generally read as: for eta <= 2/(lambda + beta), the step sizes for which it is true",
    quote=_GENERALLY,
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\max\{|1-\eta\lambda|, |1-\eta\beta|\} = |1-\eta\lambda| \iff \eta \le \frac{2}{\lambda+\beta}"
              r" \quad (\lambda < \beta)",
    words="the constant c of Theorem 2.8 is |1 - eta lambda| exactly for eta <= 2/(lambda + beta)",
    hypotheses=_APART,
    says=lambda lam, beta: 2 / (lam + beta),
    check=judge_contraction,
    flips=(Flip("2/beta", lambda lam, beta: 2 / beta, Verdict.REFUTED),
           Flip("1/beta", lambda lam, beta: 1 / beta, Verdict.REFUTED)),
    expected="HOLDS PROVED",
)

disjoint = Claim(
    id="relu-approx/intro-composition-requires",
    source="000, Section 1: composition analysis needs full batches or random subsampling",
    quote="Another weakness is that it requires either full batch training or random subsampling",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\text{fixed disjoint batches, all iterates released: no finite } \mu \text{ by composition}",
    words="composition gives no guarantee for disjoint batches that are fixed",
    hypotheses=(positive_integer("batches").at_least(2), positive_integer("epochs")),
    says=lambda batches, epochs: sympy.oo,
    check=judge_disjoint,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\mu = \frac{L}{b\sigma}\sqrt{E} \text{ for all iterates of } E \text{ epochs over fixed disjoint"
                  r" batches}",
        words="composed, E epochs over fixed disjoint batches are sqrt(E) L/(b sigma)-GDP, however many batches",
        says=lambda batches, epochs: epochs,
        expected="HOLDS ARGUED",
        source="000, Section 1, for fixed disjoint batches",
        flips=(Flip("E k, as if every step used the record", lambda batches, epochs: epochs * batches,
                    Verdict.REFUTED),),
        rests_on=("background/gdp-composition", "relu-approx/lem-2.5"),
    ),
)

merely_convex = Claim(
    id="relu-approx/strong-convexity-needed",
    source="000, Section 3.2: without strong convexity no amplification, read of smooth losses ((3.4) has kinks)",
    quote=(
        "is not generally strongly convex which prevents us using privacy amplification results such as Theorem 2.8 "
        "for NoisyCGD."
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\lambda = 0 \implies \text{no better than composition, } \mu = \frac{L}{b\sigma}\sqrt{E}",
    words="without strong convexity the last iterate of NoisyCGD has no better guarantee than all iterates composed",
    hypotheses=(positive_integer("batches").at_least(2), positive_integer("epochs").at_least(2)),
    says=lambda batches, epochs: Fraction(1) * epochs,
    check=judge_convex,
    rests_on=("relu-approx/thm-2.8-formula",),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\lambda = 0 \implies \mu = \frac{L}{b\sigma}\sqrt{1 + \frac{E - 1}{k}}",
        words="for convex, smooth losses the last iterate is sqrt(1 + (E - 1)/k) L/(b sigma)-GDP, k the number of "
              "batches: less than composition's sqrt(E)",
        says=lambda batches, epochs: 1 + (epochs - 1) / (batches * Fraction(1)),
        expected="HOLDS ARGUED",
        source="000, Theorem 2.8 for merely convex losses",
        flips=(Flip("E/k", lambda batches, epochs: epochs / (batches * Fraction(1)), Verdict.REFUTED),),
        rests_on=("relu-approx/thm-2.8-formula",),
    ),
)
