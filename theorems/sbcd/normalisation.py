r"""Equation (2) and where Algorithms 1 and 2 of document 001 put it: what normalising the weights does and does not do.

Power iteration approaches the spectral norm from below, so dividing by its estimate can leave a norm above rho. The map
N(theta) = theta min(rho/|theta|, 1) is post-processing: it costs no privacy in one step. But it is not nonexpansive
in the Frobenius norm, in which the log-Sobolev constants are counted: where |theta| > rho its derivative is rho/|theta|
times I - A B^T with A = theta/|theta| and B = u v^T of the leading singular vectors, <A, B> = 1; the norm of such an
oblique projection is |A|_F |B|_F, which is up to sqrt(r) for rank r, and sqrt(r) at the identity.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, vector
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

Diagonal = tuple[Fraction, ...]


def power_estimate(values: Diagonal, iterations: int) -> Fraction:
    """The square of the norm that power iteration of a diagonal matrix from (1, ..., 1) estimates: |A v|^2 / |v|^2."""
    start = [value ** (2 * iterations) for value in values]
    return sum(((v * s) ** 2 for v, s in zip(values, start, strict=True)), Fraction(0)) / sum(s**2 for s in start)


def judge_estimate(squared: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether dividing by an estimated norm leaves every diagonal matrix with norm at most rho = 1."""
    tried = 0
    for values in itertools.product((Fraction(2), Fraction(1), Fraction(3, 2)), repeat=2):
        tried += 1
        after = max(values) ** 2 * min(1 / squared(values), Fraction(1))
        if after > 1:
            return refuted(
                "the normalised matrix has a norm above rho, exactly",
                {"theta": f"diag{tuple(map(str, values))}", "rho": "1", "estimated norm squared": str(squared(values)),
                 "norm squared after (2)": str(after)},
            )
    small, more = sympy.symbols("s m", positive=True)  # the norm of diag(s, s + m), in any order, is s + m
    pairs = (((small, small), small), ((small, small + more), small + more), ((small + more, small), small + more))
    if any(sympy.simplify(squared(pair) - norm**2) != 0 for pair, norm in pairs):
        return undecided("no case fails", tried)
    return proof(argued("|theta| min(rho/|theta|, 1) = min(rho, |theta|) for the true norm"))


def normalised(values: Diagonal) -> Diagonal:
    """N at rho = 1 for a diagonal matrix with positive entries, exactly."""
    scale = min(1 / max(values), Fraction(1))
    return tuple(value * scale for value in values)


def _squared_distance(one: Diagonal, other: Diagonal) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(one, other, strict=True)), Fraction(0))


def judge_lipschitz(squared_constant: Callable[[int], int], given: Domain) -> Finding:
    """Whether N is Lipschitz in the Frobenius norm with that squared constant of the rank, on diagonal matrices."""
    tried, steepest = 0, Fraction(0)
    for rank in (1, 2, 3):
        for h in (Fraction(1, 10), Fraction(1, 100)):
            # From the identity: the leading entry grows while the others shrink, which N does to them twice.
            for share in (Fraction(1), Fraction(1, 2), Fraction(1, rank)):
                tried += 1
                here: Diagonal = (Fraction(1),) * rank
                there: Diagonal = (1 + h, *[1 - share * h] * (rank - 1))
                ratio = _squared_distance(normalised(here), normalised(there)) / _squared_distance(here, there)
                steepest = max(steepest, ratio / squared_constant(rank))
                if ratio > squared_constant(rank):
                    return refuted(
                        "two matrices move apart by more than the constant",
                        {"theta": f"diag{tuple(map(str, here))}", "theta'": f"diag{tuple(map(str, there))}", "rho": "1",
                         "squared ratio of distances": str(ratio), "claimed": str(squared_constant(rank))},
                    )
    # |I - a b^T| = |a| |b| for a.b = 1, here for the identity of rank 2: a = (1, 1), b = (1, 0); |a|^2 |b|^2 = 2 = r.
    jacobian = sympy.eye(2) - sympy.Matrix([1, 1]) * sympy.Matrix([[1, 0]])
    largest = max((jacobian.T * jacobian).eigenvals())
    if largest != squared_constant(2):
        return undecided("no pair fails; not attained", tried)
    return at_points(
        "the derivative is rho/|theta| times an oblique projection of norm |theta|_F/|theta|_2 <= sqrt(r), attained at "
        f"the identity (module docstring); {tried} pairs near it, the steepest {float(steepest):.3f} of the constant",
        Scope("points", tried, tried, {"rank": "1, 2, 3"}),
    )


def judge_processing(maps: tuple[Callable[[int], int], Callable[[int], int]], given: Domain) -> Finding:
    """Whether mapping three outcomes, one map a data set, never raises e^{(alpha-1) R_alpha}, over a grid of laws."""
    grid = [tuple(Fraction(n, 6) for n in cut) for cut in itertools.product(range(1, 5), repeat=3) if sum(cut) == 6]
    tried = 0
    for laws in itertools.product(grid, repeat=2):
        images = [
            [sum((w for i, w in enumerate(law) if image(i) == j), Fraction(0)) for j in range(3)]
            for law, image in zip(laws, maps, strict=True)
        ]
        for alpha in (2, 3):
            tried += 1
            before = sum((a**alpha / b ** (alpha - 1) for a, b in zip(*laws, strict=True)), Fraction(0))
            after = sum((a**alpha / b ** (alpha - 1) for a, b in zip(*images, strict=True) if b), Fraction(0))
            if after > before:
                return refuted("the divergence grows", {"P": str(laws[0]), "Q": str(laws[1]), "alpha": str(alpha)})
    a, b, c, d = sympy.symbols("a b c d", positive=True)  # merging two outcomes, alpha = 2: the gap is a square
    gap = a**2 / b + c**2 / d - (a + c) ** 2 / (b + d) - (a * d - b * c) ** 2 / (b * d * (b + d))
    if sympy.simplify(gap) != 0:
        return undecided("not shown", tried)
    return at_points(
        "a map that does not look at the data merges outcomes, and merging lowers the moment: the gap at alpha = 2 is "
        f"a square (computer algebra); {tried} pairs and orders exactly",
        Scope("points", tried, tried),
    )


Iteration = Callable[[Any, Any, Callable[[Any], Any]], Any]
"""(theta, the step to add, the normalisation) -> theta after the iteration."""


def judge_order(iteration: Iteration, given: Domain) -> Finding:
    """Whether theta after an iteration has norm at most rho: a number at rho = 1, eta = 1/10, gradient -1; symbols."""
    after = iteration(Fraction(1), Fraction(1, 10), lambda theta: max(min(theta, Fraction(1)), Fraction(-1)))
    if abs(after) > 1:
        return refuted(
            "the step after the normalisation leaves the ball",
            {"theta": "1", "rho": "1", "eta": "1/10", "gradient": "-1", "theta after": str(after)},
        )
    normalise = sympy.Function("normalise")
    theta, step = sympy.symbols("theta step", real=True)
    if iteration(theta, step, normalise).func != normalise:
        return undecided("within the ball at one point; what is returned " "is not what the normalisation gives", 1)
    return proof(argued("what is normalised last has norm min(rho, |theta|)"))


def judge_product(relation: Callable[[int, int], bool], given: Domain) -> Finding:
    """Whether the Lipschitz constant of two linear layers stands in that relation to the product of theirs."""
    for one, two in itertools.product(itertools.product((1, 0, 2), repeat=2), repeat=2):
        whole, product = max(a * b for a, b in zip(one, two, strict=True)), max(one) * max(two)
        if not relation(whole, product):
            return refuted(
                "the composition has another constant",
                {"theta_0": f"diag{one}", "theta_1": f"diag{two}", "constant": str(whole),
                            "product": str(product)},
            )
    return proof(argued("|f(g(x)) - f(g(y))| <= L_f |g(x) - g(y)| <= L_f L_g |x - y|"))


_WEIGHTS = (vector("theta"), positive("rho"))

estimate = Claim(
    id="sbcd/eq-2", source="001, (2) with the spectral norm approximated by power iteration",
    quote=(
        r"we use power iteration [15] to approximate the spectral norm $\tilde{\lambda}_d$ of each layer and "
        "normalize the corresponding parameter θ_d given the designated bound of the Lipschitz constant ρ_d by"
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\lVert \theta_d \min(\rho_d/\tilde\lambda_d, 1) \rVert_2 \le \rho_d",
    words="after (2), with power iteration's estimate of the norm, the spectral norm is at most rho",
    hypotheses=_WEIGHTS, says=lambda values: power_estimate(values, 1), check=judge_estimate,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert \theta_d \min(\rho_d/\lVert\theta_d\rVert_2, 1) \rVert_2 \le \rho_d",
        words="after (2), with the true norm, the spectral norm is at most rho",
        says=lambda values: max(values) ** 2,
        expected="HOLDS ARGUED",
        source="001, (2) with the spectral norm itself",
        flips=(Flip("three power iterations", lambda values: power_estimate(values, 3), Verdict.REFUTED),),
    ),
)
lipschitz = Claim(
    id="sbcd/norm-nonexpansive",
    source="001, Section 4.2: the scaling (2) clearly does not contribute to the privacy loss",
    quote="it is clear that the scaling operation of θ in (2) does not contribute to the privacy loss",
    whose=Whose.READING,
    severity=Severity.PROOF,
    statement=r"\lVert N(\theta) - N(\theta') \rVert_F \le \lVert \theta - \theta' \rVert_F",
    words="inside the recursion of log-Sobolev constants the scaling (2) costs nothing: it is nonexpansive",
    hypotheses=_WEIGHTS, says=lambda rank: 1, check=judge_lipschitz,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=(
            r"\lVert N(\theta) - N(\theta') \rVert_F \le \sqrt{r}\,\lVert \theta - \theta' \rVert_F,\ r ="
            r" \mathrm{rank}"
        ),
        words=(
            "the scaling (2) is sqrt(r)-Lipschitz in the Frobenius norm, so it can shrink a log-Sobolev constant "
            "by r"
        ),
        says=lambda rank: rank,
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Section 4.2, with the true constant",
        hypotheses=(*_WEIGHTS, positive_integer("rank")),
    ),
)
processing = Claim(
    id="sbcd/norm-post-processing", source="001, Section 4.2, the same sentence for one release",
    quote="it is clear that the scaling operation of θ in (2) does not contribute to the privacy loss",
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"R_\alpha(N_\# P \,\|\, N_\# Q) \le R_\alpha(P \,\|\, Q)",
    words="for one release the scaling (2) is post-processing and costs no privacy",
    hypotheses=_WEIGHTS, says=(lambda outcome: min(outcome, 1),) * 2, check=judge_processing,
    flips=(Flip("a map that looks at the data", (lambda outcome: outcome, lambda outcome: (outcome + 1) % 3),
                Verdict.REFUTED),),
    expected="HOLDS CHECKED_AT_POINTS",
)
order = Claim(
    id="sbcd/alg-order", source="001, Algorithms 1 and 2: normalise, then update theta_d",
    quote="Normalize θ_d by (2) with coefficient ρ . Update θ_d based on (8)",
    whose=Whose.READING,
    severity=Severity.PROOF,
    statement=r"\lVert\theta_d\rVert_2 \le \rho \text{ after every iteration}",
    words="the algorithms as listed, which normalise before the update, return weights of norm at most rho",
    hypotheses=_WEIGHTS, says=lambda theta, step, normalise: normalise(theta) + step, check=judge_order,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert\theta_d\rVert_2 \le \rho \text{ after every iteration}",
        words="normalising after the update returns weights of norm at most rho",
        says=lambda theta, step, normalise: normalise(theta + step),
        expected="HOLDS ARGUED",
        source="001, Section 4.2: theta is updated by (8) and then normalised by (2)",
        flips=(Flip("before it, and a step inwards", lambda theta, step, normalise: normalise(theta) - step,
                 Verdict.UNDECIDED),),
    ),
)
product = Claim(
    id="sbcd/global-lipschitz", source="001, Section 3.1: the global Lipschitz constant is the product of the layers'",
    quote="so the global Lipschitz constant is the product of the Lipschitz constant of each layer [26].",
    whose=Whose.PRINTED,
    statement=r"\mathrm{Lip}(f_1 \circ f_0) = \mathrm{Lip}(f_1)\,\mathrm{Lip}(f_0)",
    words="the network's Lipschitz constant is the product of its layers' constants",
    hypotheses=_WEIGHTS, says=operator.eq, check=judge_product,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathrm{Lip}(f_1 \circ f_0) \le \mathrm{Lip}(f_1)\,\mathrm{Lip}(f_0)",
        words="the network's Lipschitz constant is at most the product of its layers' constants",
        says=operator.le,
        expected="HOLDS ARGUED",
        source="001, Section 3.1, as an upper bound",
        flips=(Flip("smaller", operator.lt, Verdict.REFUTED),),
    ),
)
