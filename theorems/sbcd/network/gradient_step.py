r"""Lemma 4.1 of document 001: what a gradient step does to distances, for which parameters, and when it contracts.

A gradient step has the Lipschitz constant max |1 - eta h| over curvatures h in [omega, beta]; (1 - eta h)^2 is convex
in h, so an end decides. For a batch the Hessian of an inner block is gamma/b (I kron sum_i x_i x_i^T), definite exactly
if the x_i span; x = 0 has none at all, so what serves for every x is omega = 0, and no contraction.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive, unit_interval, vector
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.network.algebra import never_negative
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted

Bound = Callable[[Any, Any, Any], Any]


def judge_step(bound: Bound, given: Domain) -> Finding:
    """Whether bound(eta, omega, beta) is the largest |1 - eta h| for h from omega to beta = omega + width."""
    return _largest(bound, given, lambda omega: omega, "a quadratic in the class moves points farther apart", argued(
        "grad F(a) - grad F(b) = H (a - b) for a symmetric H between omega and beta (mean value), so the step moves "
        "a - b by I - eta H, whose eigenvalues are 1 - eta h"))


def judge_uniform(bound: Bound, given: Domain) -> Finding:
    """Whether bound(eta, omega, beta) is the largest |1 - eta h|, h the curvature of any x, |x|^2 <= X: [0, beta]."""
    return _largest(bound, given, lambda omega: 0 * omega,
                    "x = 0 meets Assumption 3.1, and its sub-problem has no curvature")


def _largest(
    bound: Bound, given: Domain, least: Callable[[Any], Any], against: str, *before: ProofStep,
) -> Finding:
    """Whether the bound is the largest |1 - eta h| for h from least(omega) to beta."""
    tried = 0
    for point in led(given, at_most=150, eta="1", omega="1/2", width="1/2"):
        eta, omega, beta = point["eta"], point["omega"], point["omega"] + point["width"]
        for share in (Fraction(n, 4) for n in range(5)):
            tried += 1
            h = least(omega) + share * (beta - least(omega))
            if abs(1 - eta * h) > bound(eta, omega, beta):
                return refuted(against, {
                    "eta": eta, "omega": omega, "beta": beta, "curvature": h, "|1 - eta h|": abs(1 - eta * h),
                    "claimed": bound(eta, omega, beta),
                })
    eta_, omega_, width_ = (given.symbol(name) for name in ("eta", "omega", "width"))
    low, beta_, part = least(omega_), omega_ + width_, sympy.symbols("p", nonnegative=True)
    t = part / (1 + part)  # a share of the way from the least curvature to beta

    def square(at: Any) -> Any:
        return (1 - eta_ * (low + at * (beta_ - low))) ** 2

    chord = sympy.factor(t * square(1) + (1 - t) * square(0) - square(t))
    ends = sympy.Max(abs(1 - eta_ * low), abs(1 - eta_ * beta_))
    return proof(
        *before,
        computed("(1 - eta h)^2 lies below its chord, by eta^2 t (1 - t) times the square of the range of h, so an end "
                 "of the range is largest", never_negative(chord)),
        computed("the constant claimed is the larger of the two ends, which the quadratics of these curvatures attain",
                 vanishes(bound(eta_, omega_, beta_) - ends)),
        tried=tried,
    )


def judge_threshold(threshold: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether |1 - eta omega| is the larger term up to eta = threshold(omega, beta), and |1 - eta beta| from there."""
    tried = 0
    for point in given.points("share", "beta"):
        omega, beta = point["share"] * point["beta"], point["beta"]
        for part in (Fraction(1, 10**6), Fraction(1, 2), Fraction(1), Fraction(1001, 1000), Fraction(3, 2)):
            eta = part * threshold(omega, beta)
            convex, smooth = abs(1 - eta * omega), abs(1 - eta * beta)
            tried += 1
            if (convex < smooth) if part <= 1 else (convex > smooth):
                return refuted(
                    "the other term dominates there",
                    {"omega": omega, "beta": beta, "eta": eta, "|1 - eta omega|": convex, "|1 - eta beta|": smooth},
                )
    beta_, omega_ = given.symbol("beta"), given.chart("share") * given.symbol("beta")
    below, above = sympy.symbols("p s", nonnegative=True)

    def gap(eta: Any) -> Any:
        return sympy.factor((1 - eta * omega_) ** 2 - (1 - eta * beta_) ** 2)

    up_to, from_there = (threshold(omega_, beta_) * part for part in (below / (1 + below), 1 + above))
    return proof(
        computed("for eta up to the threshold (1 - eta omega)^2 - (1 - eta beta)^2 has no negative term, on symbols",
                 never_negative(gap(up_to))),
        computed("from the threshold on its negative has none (at omega = beta both are 0, the limit)",
                 never_negative(-gap(from_there))),
        tried=tried,
    )


Batch = Sequence[tuple[int, ...]]


def spans(batch: Batch) -> Any:
    """Whether the vectors of a batch span their space."""
    columns = sympy.Matrix(batch)
    return (columns.T * columns).det() > 0


def judge_contraction(contracts: Callable[[Batch], bool], given: Domain) -> Finding:
    """Whether a rule says rightly for which batches x_1, ..., x_b some eta gives Lemma 4.1 a bound below 1."""
    tried = 0
    for size, count in ((1, 1), (2, 1), (2, 2), (2, 3), (3, 1), (3, 3)):
        vectors = list(itertools.product((1, 0, -1), repeat=size))
        for batch in itertools.islice(itertools.combinations_with_replacement(vectors, count), 60):
            tried += 1
            gram = sympy.Matrix(batch).T * sympy.Matrix(batch)  # b/gamma times the Hessian of each row
            truly = all(gram[:k, :k].det() > 0 for k in range(1, size + 1))  # definite, by Sylvester
            if bool(contracts(batch)) != truly:
                return refuted(
                    "the Hessian is singular, omega = 0, so L_F >= |1 - 0| = 1 for every eta"
                    if not truly else "the Hessian is definite, so a small eta contracts",
                    {"x": list(batch), "definite": truly, "bound of Lemma 4.1": "below 1" if truly else ">= 1"},
                )
    h, more = sympy.symbols("h s", positive=True)
    beta = h + more
    eta = 1 / beta
    return proof(
        argued("v^T (sum_i x_i x_i^T) v = sum_i <x_i, v>^2 vanishes for some v, other than 0, exactly if the x_i do "
               "not span"),
        computed("a definite Hessian has curvatures h in (0, beta], and eta = 1/beta gives 0 <= 1 - eta h < 1",
                 never_negative(1 - eta * h) and (eta * h).is_positive is True),
        computed("a singular one has the curvature 0, and |1 - eta 0| = 1", bool(abs(1 - eta * 0) == 1)),
        tried=tried,
    )


lemma_4_1 = Claim(
    id="sbcd/lem-4.1", source="001, Lemma 4.1",
    quote=r"is Lipschitz continuous with a constant $L_F \leq \max\{|1 - \eta\omega|, |1 - \eta\beta|\}$.",
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"L_F \le \max\{|1-\eta\omega|, |1-\eta\beta|\}",
    words="a gradient step on a function with curvature between omega and beta has that Lipschitz constant",
    hypotheses=(positive("eta"), non_negative("omega"), non_negative("width", "beta - omega")), check=judge_step,
    says=lambda eta, omega, beta: sympy.Max(abs(1 - eta * omega), abs(1 - eta * beta)),
    flips=(
        Flip("the smaller of the two", lambda eta, omega, beta: sympy.Min(abs(1 - eta * omega), abs(1 - eta * beta)),
             Verdict.REFUTED),
        Flip("the convexity term alone", lambda eta, omega, beta: abs(1 - eta * omega), Verdict.REFUTED),
    ),
    uses=("sbcd/lem-3.2",),
    true_variants={"any omega": "omega may be negative: the proof does not use its sign"},
    expected="HOLDS ARGUED",
)
uniform_4_1 = Claim(
    id="sbcd/lem-4.1-uniform", source="001, Section 4.2, after Lemma 4.1",
    quote=(
        "In addition, the bound of the Lipschitz constant derived in Lemma 4.1 does not depend on other parameters. "
        "That is to say, the bound in Lemma 4.1 is valid for arbitrary values of other parameters."
    ),
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"L_F \le \max\{|1-\eta\omega|, |1-\eta\beta|\} \text{ for every value of the other parameters}",
    words="Lemma 4.1's bound is valid for every value of the other parameters: with the omega of one, or of all",
    hypotheses=(positive("eta"), positive("omega"), non_negative("width", "beta - omega")), says=None, check=None,
    readings=("sbcd/lem-4.1-uniform-reading-one-omega", "sbcd/lem-4.1-uniform-repaired"),
    uses=("sbcd/lem-4.1", "sbcd/assump-3.1"),
    expected="AMBIGUOUS PROVED",
    repair=Repair(
        statement=r"|1 - \eta h| \le \max\{1, |1-\eta\beta|\} \text{ for every } \mathbf{x}",
        words="valid for every value of the other parameters is the bound with omega = 0, which is never below 1",
        says=lambda eta, omega, beta: sympy.Max(1, abs(1 - eta * beta)), check=judge_uniform,
        flips=(Flip("half of it", lambda eta, omega, beta: sympy.Max(1, abs(1 - eta * beta)) / 2, Verdict.REFUTED),),
        expected="HOLDS PROVED",
    ),
)
uniform_one = reading(
    uniform_4_1, "one-omega", source="001, Section 4.2, after Lemma 4.1, for the omega > 0 of one x",
    statement=r"|1 - \eta h| \le \max\{|1-\eta\omega|, |1-\eta\beta|\} \text{ for the curvature } h"
              r" \text{ of every } \mathbf{x},\ \omega > 0",
    words="Lemma 4.1's bound, with an omega above 0, is valid for every value of the other parameters",
    says=lambda eta, omega, beta: sympy.Max(abs(1 - eta * omega), abs(1 - eta * beta)), check=judge_uniform,
    flips=(Flip("omega = 0", lambda eta, omega, beta: sympy.Max(1, abs(1 - eta * beta)), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
threshold_4_1 = Claim(
    id="sbcd/lem-4.1-threshold", source="001, after Lemma 4.1",
    quote=(
        r"will be dominated by the convexity term $|1 - \eta\omega|$ when the step size $\eta \leq "
        r"\frac{2}{\omega + \beta}$ and otherwise the smoothness term $|1 - \eta\beta|$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\eta \le \frac{2}{\omega+\beta} \implies |1-\eta\omega| \ge |1-\eta\beta|,"
              r" \quad \eta \ge \frac{2}{\omega+\beta} \implies |1-\eta\omega| \le |1-\eta\beta|",
    words="the convexity term is the larger up to eta = 2/(omega + beta), and the smoothness term from there",
    hypotheses=(unit_interval("share", "omega/beta"), positive("beta")), says=lambda omega, beta: 2 / (omega + beta),
    check=judge_threshold,
    flips=(Flip("2/beta", lambda omega, beta: 2 / beta, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
contraction = Claim(
    id="sbcd/contraction", source="a finding on 001, Sections 3.2 and 4.2: what Assumption 3.1 gives Lemma 4.1",
    severity=Stake.PROOF,
    statement=r"\exists \eta:\ \max\{|1-\eta\omega|, |1-\eta\beta|\} < 1 \text{ for every inner sub-problem}",
    words="Lemma 4.1 gives a contraction for every batch that Assumption 3.1 admits",
    hypotheses=(vector("x"),), says=lambda batch: True, check=judge_contraction,
    uses=("sbcd/lem-4.1", "sbcd/hessian-xxT"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\exists \eta:\ \max\{|1-\eta\omega|, |1-\eta\beta|\} < 1 \iff"
                  r" \mathrm{span}\{\mathbf{x}_i\} = \mathbb{R}^m",
        words="Lemma 4.1 gives a contraction, for some eta, exactly if the inputs of the batch span their space",
        says=spans,
        expected="HOLDS ARGUED",
        source="a finding on 001, Section 4.2: which batches contract",
        flips=(
            Flip("a single input", lambda batch: len(batch[0]) == 1 and any(batch[0]), Verdict.REFUTED),
            Flip("as many records as inputs", lambda batch: len(batch) >= len(batch[0]), Verdict.REFUTED),
        ),
        rests_on=("sbcd/lem-4.1", "sbcd/hessian-xxT-repaired"),
        survivors={"beyond *": "for larger batches the rule stands in words only, as does its proof"},
    ),
)
