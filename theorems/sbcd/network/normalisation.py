r"""Equation (2) and where Algorithms 1 and 2 of document 001 put it: what normalising the weights does and does not do.

Power iteration approaches the spectral norm from below, so dividing by its estimate can leave a norm above rho. The map
N(theta) = theta min(rho/|theta|, 1) is post-processing: it costs no privacy in one step. But it is not nonexpansive
in the Frobenius norm, in which the log-Sobolev constants are counted: where |theta| > rho its derivative is rho/|theta|
times I - A B^T with A = theta/|theta| and B = u v^T of the leading singular vectors, <A, B> = 1; the norm of such an
oblique projection is |A|_F |B|_F, which is up to sqrt(r), r the smaller side of the matrix, and sqrt(r) at the
identity.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, non_negative, positive, positive_integer, real, vector
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.network.algebra import never_negative
from theorems.sbcd.privacy.mixture import hessian_gap
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled, undecided

Diagonal = tuple[Fraction, ...]


def power_estimate(values: Diagonal, iterations: int) -> Fraction:
    """The square of the norm that power iteration of a diagonal matrix from (1, ..., 1) estimates: |A v|^2 / |v|^2."""
    start = [value ** (2 * iterations) for value in values]
    return sum(((v * s) ** 2 for v, s in zip(values, start, strict=True)), Fraction(0)) / sum(s**2 for s in start)


def judge_estimate(squared: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether dividing by an estimated norm leaves every diagonal matrix with norm at most rho."""
    for rho in (Fraction(1), *given.values("rho")):
        for ratio in itertools.product((Fraction(2), Fraction(1), Fraction(3, 2)), repeat=2):
            values = tuple(rho * part for part in ratio)
            after = max(values) ** 2 * min(rho**2 / squared(values), Fraction(1))
            if after > rho**2:
                return refuted(
                    "the normalised matrix has a norm above rho, exactly",
                    {"theta": f"diag{tuple(map(str, values))}", "rho": rho, "estimated norm squared": squared(values),
                     "norm squared after (2)": after},
                )
    return undecided("no diagonal matrix tried has a larger norm", 9 * len(given.values("rho")))


def judge_normalised(divisor: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether theta min(rho/divisor(|theta|), 1) has the norm min(rho, |theta|), for |theta| > 0."""
    tried = 0
    for point in given.points("norm", "rho"):
        norm, rho = point["norm"], point["rho"]
        after = norm * min(rho / divisor(norm), Fraction(1))
        tried += 1
        if after != min(rho, norm):
            return refuted("the norm is not min(rho, |theta|)", {"norm": norm, "rho": rho, "after (2)": after})
    small, more = given.symbol("norm"), sympy.symbols("s", nonnegative=True)
    rho_ = given.symbol("rho")
    large = rho_ + more  # a norm beyond rho; and below, rho is small + more
    return proof(
        computed("for |theta| = rho + s the factor rho/|theta| is at most 1, and leaves rho",
                 never_negative(1 - rho_ / divisor(large)) and vanishes(large * rho_ / divisor(large) - rho_)),
        computed("for rho = |theta| + s the factor rho/|theta| is at least 1, and theta stays (norms are homogeneous)",
                 never_negative((small + more) / divisor(small) - 1)),
        tried=tried,
    )


def normalised(values: Diagonal) -> Diagonal:
    """N at rho = 1 for a diagonal matrix with positive entries, exactly."""
    scale = min(1 / max(values), Fraction(1))
    return tuple(value * scale for value in values)


def _squared_distance(one: Diagonal, other: Diagonal) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(one, other, strict=True)), Fraction(0))


def judge_lipschitz(squared_constant: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether N is Lipschitz in the Frobenius norm with that squared constant of the smaller side, and no smaller."""
    tried = 0
    for side in given.values("side"):
        for h in (Fraction(1, 10), Fraction(1, 1000)):
            # From the identity: the leading entry grows while the others shrink, which N does to them twice.
            for share in (Fraction(1), Fraction(1, 2), Fraction(1, max(1, side - 1))):
                tried += 1
                here: Diagonal = (Fraction(1),) * side
                there: Diagonal = (1 + h, *[1 - share * h] * (side - 1))
                ratio = _squared_distance(normalised(here), normalised(there)) / _squared_distance(here, there)
                if ratio > squared_constant(side):
                    return refuted(
                        "two matrices move apart by more than the constant",
                        {"theta": f"diag{tuple(map(str, here))}", "theta'": f"diag{tuple(map(str, there))}", "rho": "1",
                         "squared ratio of distances": ratio, "claimed": squared_constant(side)},
                    )
    a, b = sympy.symbols("A B", positive=True)  # |a|^2, |b|^2 for a.b = 1; M v = v - a (b.v), M^T v = v - b (a.v)
    gram = sympy.Matrix([[a, 1], [1, b]])
    flat = sympy.eye(2)
    transposed = sympy.Matrix.hstack(*[flat[:, k] - flat[:, 1] * gram[0, k] for k in range(2)])
    projected = sympy.Matrix.hstack(*[flat[:, k] - flat[:, 0] * gram[1, k] for k in range(2)])
    square = projected * transposed
    side_, step = given.symbol("side"), sympy.symbols("h", positive=True)
    others = side_ - 1
    near = others * (1 - (1 - step / others) / (1 + step)) ** 2 / (step**2 + others * (step / others) ** 2)
    return proof(
        argued("where the leading singular value is simple and above rho, N has the derivative rho/|theta| times "
               "I - A B^T, <A, B> = 1, |B|_F = 1 and |A|_F^2 <= r; elsewhere it is the identity or an edge between"),
        computed("(I - a b^T)(I - a b^T)^T has on span{a, b} the eigenvalues |a|^2 |b|^2 and 0 (inner products only)",
                 vanishes(square.trace() - a * b) and vanishes(square.det())),
        computed("diag(1 + h, 1 - h/(r-1), ...) against the identity attains r as h vanishes, for a symbol r",
                 vanishes(sympy.limit(near, step, 0) - squared_constant(side_))),
        tried=tried,
    )


def judge_processing(maps: tuple[Callable[[int], int], Callable[[int], int]], given: Domain) -> Finding:
    """Whether mapping three outcomes, one map a data set, never raises e^{(alpha-1) R_alpha}, over a grid of laws."""
    grid = [tuple(Fraction(n, 6) for n in cut) for cut in itertools.product(range(1, 5), repeat=3) if sum(cut) == 6]
    tried = 0
    for laws, alpha in itertools.product(itertools.product(grid, repeat=2), given.values("alpha")):
        images = [
            [sum((w for i, w in enumerate(law) if image(i) == j), Fraction(0)) for j in range(3)]
            for law, image in zip(laws, maps, strict=True)
        ]
        tried += 1
        with ctx.workprec(160):
            before, after = (_moment(one, other, alpha) for one, other in (laws, images))
            if after > before:
                return refuted("the divergence grows", {"P": str(laws[0]), "Q": str(laws[1]), "alpha": alpha})
    p, q, factor = sympy.symbols("p q c", positive=True)
    order = given.chart("alpha")
    value = p**order * q ** (1 - order)
    return proof(
        sampled("both data sets are mapped alike: so are three outcomes", all(
            maps[0](i) == maps[1](i) for i in range(3))),
        computed("p^alpha q^(1-alpha) is homogeneous of degree 1", vanishes(
            sympy.powsimp(sympy.expand_power_base(value.subs({p: factor * p, q: factor * q}, simultaneous=True)))
            / value - factor)),
        computed("its Hessian is alpha (alpha-1) p^(alpha-2) q^(-alpha-1) times v v^T, v = (q, -p), and alpha > 1",
                 hessian_gap().is_zero_matrix and (order - 1).is_positive is True),
        argued("so it is convex, and merging outcomes (a, b) and (c, d) lowers the sum; general laws by approximation"),
        tried=tried,
    )


def _moment(first: Any, second: Any, alpha: Fraction) -> arb:
    """sum p^alpha q^{1-alpha}; infinite where q = 0 < p."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a]
    if not all(b for _, b in pairs):
        return arb("inf")
    return sum(((ball(a).log() * ball(alpha) + ball(b).log() * (1 - ball(alpha))).exp() for a, b in pairs), arb(0))


def _clipped(rho: Fraction, theta: Fraction) -> Fraction:
    return max(min(theta, rho), -rho)


Iteration = Callable[[Any, Any, Callable[[Any], Any]], Any]
"""(theta, the step to add, the normalisation) -> theta after the iteration."""


def judge_order(iteration: Iteration, given: Domain) -> Finding:
    """Whether theta after an iteration has norm at most rho: numbers theta = rho, and symbols."""
    tried = 0
    for point in led(given, rho="1", step="1/10"):
        rho, step = point["rho"], point["step"]
        after = iteration(rho, step, functools.partial(_clipped, rho))
        tried += 1
        if abs(after) > rho:
            return refuted(
                "the step after the normalisation leaves the ball",
                {"theta": rho, "rho": rho, "eta": abs(step), "gradient": -1 if step > 0 else 1, "theta after": after},
            )
    rho_, part = given.symbol("rho"), sympy.symbols("p", nonnegative=True)
    theta, step = sympy.symbols("theta step", real=True)
    after = iteration(theta, step, lambda _: rho_ * (1 - part) / (1 + part))  # any number of absolute value <= rho
    return proof(
        computed("whatever number within [-rho, rho] the normalisation returns, the iteration's result lies there, too",
                 never_negative(rho_ - after) and never_negative(rho_ + after)),
        argued("the same for matrices, whose norm after (2) is at most rho"),
        tried=tried,
    )


def judge_product(relation: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the Lipschitz constant of two layers stands in that relation to the product of theirs."""
    tried = 0
    for point in given.points("first", "second"):
        one, two = point["first"], point["second"]
        # diag(one, 0) followed by diag(two, 0), which multiply, or by diag(0, two), which do not.
        for layer in ((two, Fraction(0)), (Fraction(0), two)):
            whole, product = one * layer[0], one * two
            tried += 1
            if not relation(whole, product):
                return refuted(
                    "the composition has another constant",
                    {"theta_0": f"diag({one}, 0)", "theta_1": f"diag({layer[0]}, {layer[1]})", "constant": whole,
                     "product": product},
                )
    first, second = given.symbol("first"), given.symbol("second")
    apart, lost, more, slack = sympy.symbols("d m o s", nonnegative=True)
    middle = first * apart - lost  # |g(x) - g(y)|, at most first times |x - y| = d
    out = second * middle - more  # |f(g(x)) - f(g(y))|, at most second times that
    below = sympy.simplify(relation(slack, slack + more))
    return proof(
        computed("L_f L_g d - |f(g(x)) - f(g(y))| = L_f (what g loses) + (what f loses) >= 0, so by induction for "
                 "any number of layers", never_negative(first * second * apart - out)),
        computed("the relation is true of every pair w and w + s, s >= 0", below in (True, sympy.true)),
        tried=tried,
    )


_WEIGHTS = (vector("theta"), positive("rho"))
_ORDER = Parameter("alpha", low=Fraction(1), low_open=True)
_LISTED = "Normalize θ_d by (2) with coefficient ρ . Update θ_d based on (8)"
_SCALING = "it is clear that the scaling operation of θ in (2) does not contribute to the privacy loss"
_POWER = (
    r"we use power iteration [15] to approximate the spectral norm $\tilde{\lambda}_d$ of each layer and "
    "normalize the corresponding parameter θ_d given the designated bound of the Lipschitz constant ρ_d by"
)

estimate = Claim(
    id="sbcd/eq-2", source="001, (2) with the spectral norm approximated by power iteration",
    quote=_POWER,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\lVert \theta_d \min(\rho_d/\tilde\lambda_d, 1) \rVert_2 \le \rho_d",
    words="after (2) the spectral norm is at most rho: with power iteration's estimate, or with the norm itself",
    hypotheses=_WEIGHTS, says=None, check=None, readings=("sbcd/eq-2-reading-estimate", "sbcd/eq-2-repaired"),
    expected="AMBIGUOUS PROVED",
    repair=Repair(
        statement=r"\lVert \theta_d \min(\rho_d/\lVert\theta_d\rVert_2, 1) \rVert_2 ="
                  r" \min(\rho_d, \lVert\theta_d\rVert_2)",
        words="after (2), with the true norm of theta, not 0, the spectral norm is the smaller of rho and what it was",
        says=lambda norm: norm, check=judge_normalised,
        hypotheses=(positive("norm", "|theta|"), positive("rho")),
        expected="HOLDS PROVED",
        source="001, (2) with the spectral norm itself",
        flips=(Flip("half the norm", lambda norm: norm / 2, Verdict.REFUTED),),
    ),
)
estimate_reading = reading(
    estimate, "estimate", source="001, (2) with one power iteration's estimate, as a guarantee",
    words="after (2), with power iteration's estimate of the norm, the spectral norm is at most rho",
    says=lambda values: power_estimate(values, 1), check=judge_estimate,
    flips=(Flip("three power iterations", lambda values: power_estimate(values, 3), Verdict.REFUTED),
           Flip("the norm itself, proved elsewhere", lambda values: max(values) ** 2, Verdict.UNDECIDED)),
    expected="REFUTED PROVED",
)
lipschitz = Claim(
    id="sbcd/norm-nonexpansive",
    source="001, Section 4.2: the scaling (2) clearly does not contribute to the privacy loss",
    quote=_SCALING,
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\text{the scaling (2) does not contribute to the privacy loss}",
    words="the scaling (2) does not contribute to the privacy loss: of one release, or inside the recursion",
    hypotheses=_WEIGHTS, says=None, check=None,
    readings=("sbcd/norm-post-processing", "sbcd/norm-nonexpansive-reading-recursion"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=(
            r"\lVert N(\theta) - N(\theta') \rVert_F \le \sqrt{r}\,\lVert \theta - \theta' \rVert_F,\ r ="
            r" \min(m, n), \text{ and no smaller constant serves}"
        ),
        words=(
            "the scaling (2) is sqrt(r)-Lipschitz in the Frobenius norm, r the smaller side of the matrix, and no "
            "better, so it can shrink a log-Sobolev constant by r"
        ),
        says=lambda side: side, check=judge_lipschitz,
        expected="HOLDS ARGUED",
        source="001, Section 4.2, with the true constant",
        hypotheses=(vector("theta"), positive_integer("side", "r").at_least(2)),
        flips=(Flip("nonexpansive", lambda side: 1, Verdict.REFUTED),),
    ),
)
lipschitz_reading = reading(
    lipschitz, "recursion",
    source="001, Section 4.2: the scaling (2) may be left out of the recursion of log-Sobolev constants",
    statement=r"\lVert N(\theta) - N(\theta') \rVert_F \le \lVert \theta - \theta' \rVert_F",
    words="inside the recursion of log-Sobolev constants the scaling (2) costs nothing: it is nonexpansive",
    hypotheses=(vector("theta"), positive_integer("side").at_least(2)), says=lambda side: 1, check=judge_lipschitz,
    flips=(Flip("the smaller side of the matrix", lambda side: side, Verdict.HOLDS),), expected="REFUTED PROVED",
)
processing = Claim(
    id="sbcd/norm-post-processing", source="001, Section 4.2, the same sentence for one release",
    quote=_SCALING,
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"R_\alpha(N_\# P \,\|\, N_\# Q) \le R_\alpha(P \,\|\, Q)",
    words="for one release the scaling (2), which does not look at the data, is post-processing and costs no privacy",
    hypotheses=(vector("theta"), _ORDER), says=(lambda outcome: min(outcome, 1),) * 2, check=judge_processing,
    flips=(Flip("a map that looks at the data", (lambda outcome: outcome, lambda outcome: (outcome + 1) % 3),
                Verdict.REFUTED),),
    true_variants={"* squared": "0 and 1 are their squares"},
    survivors={"* beyond *": "a map of more than three outcomes: for them the proof stands in words only"},
    expected="HOLDS ARGUED",
)
order = Claim(
    id="sbcd/alg-order", source="001, Algorithms 1 and 2: normalise, then update theta_d; Section 4.2: the other order",
    quote=_LISTED,
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\lVert\theta_d\rVert_2 \le \rho \text{ after every iteration}",
    words="the weights are controlled by (2): before the update, as listed, or after it, as Section 4.2 says",
    hypotheses=_WEIGHTS, says=None, check=None, readings=("sbcd/alg-order-reading-listed", "sbcd/alg-order-repaired"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=r"\lVert\theta_d\rVert_2 \le \rho \text{ after every iteration}",
        words="normalising after the update returns weights of norm at most rho",
        says=lambda theta, step, normalise: normalise(theta + step), check=judge_order,
        hypotheses=(positive("rho"), real("step")),
        expected="HOLDS ARGUED",
        source="001, Section 4.2: theta is updated by (8) and then normalised by (2)",
        flips=(Flip("before it, and a step inwards", lambda theta, step, normalise: normalise(theta) - abs(step) / 2,
                    Verdict.REFUTED),),
        rests_on=("sbcd/eq-2-repaired",),
        true_variants={"sign": "the ball is symmetric", "1 % less": "the ball is convex",
                       "+ -> -*": "whatever is normalised last lies in the ball"},
    ),
)
order_reading = reading(
    order, "listed", source="001, Algorithms 1 and 2 as listed: normalise, then update theta_d",
    words="the algorithms as listed, which normalise before the update, return weights of norm at most rho",
    hypotheses=(positive("rho"), real("step")), says=lambda theta, step, normalise: normalise(theta) + step,
    check=judge_order,
    flips=(Flip("after it", lambda theta, step, normalise: normalise(theta + step), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
product = Claim(
    id="sbcd/global-lipschitz", source="001, Section 3.1: the global Lipschitz constant is the product of the layers'",
    quote="so the global Lipschitz constant is the product of the Lipschitz constant of each layer [26].",
    whose=Whose.PRINTED,
    statement=r"\mathrm{Lip}(f_1 \circ f_0) = \mathrm{Lip}(f_1)\,\mathrm{Lip}(f_0)",
    words="the network's Lipschitz constant is the product of its layers' constants",
    hypotheses=(non_negative("first"), non_negative("second")), says=operator.eq, check=judge_product,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathrm{Lip}(f_D \circ \dots \circ f_0) \le \prod_d \mathrm{Lip}(f_d)",
        words="the network's Lipschitz constant is at most the product of its layers' constants",
        says=operator.le,
        expected="HOLDS PROVED",
        source="001, Section 3.1, as an upper bound",
        flips=(
            Flip("smaller", operator.lt, Verdict.REFUTED),
            Flip("and the product at most 10^8", lambda w, p: sympy.And(w <= p, p <= 10**8), Verdict.UNDECIDED),
        ),
    ),
)
