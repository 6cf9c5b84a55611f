"""The convex ReLU model: constants against Hessians, the step sizes of document 000, and what clipping destroys."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, arb_mat, ctx
from hypothesis import given
from hypothesis import strategies as st

import oracle
from oracle.algorithms.convex_relu.convex_relu_smoothness import CURVATURE
from oracle.core.enclosure import Enclosure, ball
from tests.checks import check_anywhere

SMOOTHNESS, CONTRACTION, STEP = (
    oracle.bound(f"convex-relu.{name}") for name in ("smoothness", "contraction", "step")
)
LOSSES = list(CURVATURE)
fractions = st.fractions(min_value=Fraction(1, 100), max_value=10, max_denominator=100)
scores = st.lists(st.fractions(min_value=-5, max_value=5, max_denominator=20), min_size=2, max_size=4)


@pytest.mark.parametrize("bound", [SMOOTHNESS, CONTRACTION, STEP], ids=lambda item: item.name)
@given(data=st.data())
def test_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


# --- the constants


def softmax(z: list[Fraction]) -> list[arb]:
    top = max(z)
    weights = [ball(value - top).exp() for value in z]
    total = sum(weights, arb(0))
    return [weight / total for weight in weights]


def hessian(p: list[arb]) -> arb_mat:
    """diag p - p p^T."""
    return arb_mat([[(p[i] if i == j else arb(0)) - p[i] * p[j] for j in range(len(p))] for i in range(len(p))])


@given(scores)
def test_softmax_curves_by_at_most_a_half(z: list[Fraction]) -> None:
    """Gershgorin's discs: every row's absolute sum is 2 p (1 - p), certainly below 1/2 or not provably above it."""
    matrix = hessian(softmax(z))
    for i in range(len(z)):
        row = sum((abs(matrix[i, j]) for j in range(len(z))), arb(0))
        assert not row > ball(CURVATURE["softmax"])


def test_softmax_curves_by_a_half() -> None:
    matrix = hessian(softmax([Fraction(0), Fraction(0)]))
    direction = arb_mat([[1], [-1]])
    quotient = (direction.transpose() * matrix * direction)[0, 0] / 2
    assert quotient.contains(arb(1) / 2)


@pytest.mark.parametrize("active", [1, 2, 7])
@given(lam=fractions)
def test_the_squared_loss_has_exactly_this_curvature(active: int, lam: Fraction) -> None:
    """Along t the second derivative of (t^T v - y)^2 / 2 + lambda |v|^2 / 2 is |t|^2 + lambda; here x = (3, 4) / 2."""
    t = [Fraction(3, 2), Fraction(2)] * active
    truth = sum((value**2 for value in t), Fraction(0)) + lam
    result = SMOOTHNESS.reference(loss="squared", active=active, feature_norm="2.5", regularisation=lam)
    assert result.contains(truth)


def test_known_values() -> None:
    """The claim's smallest counterexample: |x| = 1, two active hyperplanes, lambda = 1, curvature 3 and not 2."""
    point: dict[str, Any] = {"active": 2, "feature_norm": 1, "regularisation": 1}
    assert SMOOTHNESS.reference(loss="squared", **point) == Enclosure.exactly(3)
    assert SMOOTHNESS.reference(loss="softmax", **point) == Enclosure.exactly(2)
    assert SMOOTHNESS.reference(loss="logistic", **point).contains(Fraction(3, 2))


@pytest.mark.parametrize("loss", LOSSES)
@given(
    active=st.integers(1, 300), norm=fractions, lam=st.fractions(min_value=0, max_value=5, max_denominator=50),
)
def test_the_step_sizes_are_where_the_contraction_turns(loss: str, active: int, norm: Fraction, lam: Fraction) -> None:
    """At 2/beta c is 1, beyond it is above; up to 2/(lambda + beta) it is 1 - eta lambda, beyond it is above that."""
    model: dict[str, Any] = {"loss": loss, "active": active, "feature_norm": norm, "regularisation": lam}
    beta = CURVATURE[loss] * active * norm**2 + lam
    ridge, most = 2 / (lam + beta), 2 / beta
    assert STEP.reference(step_rule="expansion", **model).contains(most)
    assert STEP.reference(step_rule="ridge", **model).contains(ridge)
    assert CONTRACTION.reference(learning_rate=most, **model).contains(max(Fraction(1), abs(1 - most * lam)))
    assert not CONTRACTION.reference(learning_rate=most * Fraction(1001, 1000), **model).possibly_le(1)
    for eta in (ridge, ridge / 2):
        assert CONTRACTION.reference(learning_rate=eta, **model).contains(1 - eta * lam)
    assert not CONTRACTION.reference(learning_rate=ridge * Fraction(1001, 1000), **model).possibly_le(1 - ridge * lam)


def test_a_step_that_forgets_everything() -> None:
    """eta = 1/lambda and next to no curvature: c is as small as eta (beta - lambda) allows, with all its digits."""
    point: dict[str, Any] = {"loss": "squared", "active": 1, "regularisation": 1.0, "learning_rate": 1.0}
    assert CONTRACTION.reference(feature_norm="1e-50", **point).contains(Fraction(1, 10**100))
    assert CONTRACTION.fast(feature_norm=1e-50, **point) == pytest.approx(1e-100)


@pytest.mark.parametrize(
    ("square", "planes", "paper", "true", "counts"),
    [
        ("1", 128, 4.0, 0.0625, (6, 4)),
        ("1", 256, 4.0, 0.03125, (6, 3)),
        ("87.8", 64, 0.0456, 0.00142, (4, 1)),
        ("87.8", 128, 0.0456, 0.00071, (4, 0)),
        ("883", 32, 0.0045, 0.00028, (2, 0)),
    ],
)
def test_step_sizes_of_document_000(
    square: str, planes: int, paper: float, true: float, counts: tuple[int, int]
) -> None:
    """Its grid 10^(-1/2), ..., 10^-3 against 2/beta, with beta as printed (a = 1) and as it is (half the hyperplanes).

    |x|^2 = 87.8 and 883 are the usual means of MNIST and CIFAR-10 for pixels in [0, 1].
    """
    grid = [Fraction(1, 10**power) for power in range(1, 7)]  # of the squares
    for active, printed, count in ((1, paper, counts[0]), (planes // 2, true, counts[1])):
        norm = Fraction(math.isqrt(int(Fraction(square) * 10**20)), 10**10)
        limit = STEP.reference(
            step_rule="expansion", loss="softmax", active=active, feature_norm=norm, regularisation=0,
        )
        assert limit.to_floats()[0] == pytest.approx(printed, rel=0.02)
        assert sum(eta <= limit.lower.to_fraction() ** 2 for eta in grid) == count
        assert sum(eta <= limit.upper.to_fraction() ** 2 for eta in grid) == count


# --- clipping


def clipped(z: list[Fraction], label: int, limit: Fraction) -> arb_mat:
    """The Jacobian in the scores of the softmax gradient p - y, clipped to the limit, where clipping acts."""
    p = softmax(z)
    r = [value - int(i == label) for i, value in enumerate(p)]
    norm = sum((value * value for value in r), arb(0)).sqrt()
    assert norm > ball(limit), "clipping does not act there"
    size = range(len(z))
    across = arb_mat([[int(i == j) - r[i] * r[j] / norm**2 for j in size] for i in size])
    return ball(limit) / norm * (across * hessian(p))


def by_class(z: list[Fraction], label: int, limit: Fraction) -> arb_mat:
    """The Jacobian of p - y with each entry clipped to the limit by itself: rows of clipped entries are struck out."""
    p = softmax(z)
    matrix = hessian(p)
    for i, value in enumerate(p):
        size = abs(value - int(i == label))
        assert size > ball(limit) or size < ball(limit)
        if size > ball(limit):
            for j in range(len(z)):
                matrix[i, j] = arb(0)
    return matrix


def along(matrix: arb_mat, direction: list[Fraction]) -> arb:
    """The quotient d^T J d / d^T d: no smaller than the least eigenvalue of the symmetric part."""
    column = arb_mat([[ball(value)] for value in direction])
    return (column.transpose() * matrix * column)[0, 0] / (column.transpose() * column)[0, 0]


WORST = [Fraction(value) for value in ("-0.79904", "0.54494", "0.2541")]


def test_clipping_three_classes_together_destroys_monotonicity() -> None:
    """Label 0, scores (0, 1, -1), limit 0.1: along WORST the clipped gradient falls; its Jacobian is not symmetric."""
    with ctx.workprec(128):
        jacobian = clipped([Fraction(0), Fraction(1), Fraction(-1)], 0, Fraction(1, 10))
        quotient = along(jacobian, WORST)
        assert quotient < 0
        assert abs(quotient + ball(Fraction("6.08e-4"))) < ball(Fraction(1, 10**6))
        largest = max(abs(jacobian[i, j] - jacobian[j, i]).mid() for i in range(3) for j in range(3))
        assert abs(largest - ball(Fraction("3.3e-3"))) < ball(Fraction(1, 10**4))


def test_a_step_then_expands() -> None:
    """64 active hyperplanes, |x| = C = 1, eta = 0.01, eta lambda = 1e-4: document 000 has c = 0.9999, not above 1.

    In the scores of that record a step is (1 - eta lambda) I - eta a J, J clipped at C / sqrt(a) = 1/8.
    """
    with ctx.workprec(128):
        jacobian = clipped([Fraction(0), Fraction(1), Fraction(-1)], 0, Fraction(1, 8))
        step = ball(1 - Fraction(1, 10**4)) * arb_mat([[int(i == j) for j in range(3)] for i in range(3)])
        step -= ball(Fraction(64, 100)) * jacobian
        column = arb_mat([[ball(value)] for value in WORST])
        moved = step * column
        factor = ((moved.transpose() * moved)[0, 0] / (column.transpose() * column)[0, 0]).sqrt()
        assert factor > ball(Fraction("1.0003"))
        assert CONTRACTION.reference(
            learning_rate="0.01", loss="softmax", active=64, feature_norm=1, regularisation="0.01"
        ).contains(1 - Fraction(1, 10**4))


def test_clipping_class_by_class_destroys_it_too() -> None:
    """Label 0, three equal scores, limit 1/2: the label's entry -2/3 is clipped, the others 1/3 are not."""
    with ctx.workprec(128):
        jacobian = by_class([Fraction(0)] * 3, 0, Fraction(1, 2))
        assert along(jacobian, [Fraction(5), Fraction(1), Fraction(1)]) < 0


def test_clipping_logistic_losses_together_destroys_it_too() -> None:
    """Two scores of slopes w = p (1 - p): (I - r r^T/|r|^2) diag(w) has a direction of decrease."""
    with ctx.workprec(128):
        p = [1 / (1 + ball(-value).exp()) for value in (Fraction(0), Fraction(3))]
        square = p[0] ** 2 + p[1] ** 2  # labels 0: r = p
        matrix = arb_mat([
            [(int(i == j) - p[i] * p[j] / square) * p[j] * (1 - p[j]) for j in range(2)] for i in range(2)
        ])
        assert any(along(matrix, [Fraction(1), Fraction(n, 10)]) < 0 for n in range(-50, 51))


@given(st.lists(st.fractions(min_value=-5, max_value=5, max_denominator=20), min_size=2, max_size=2), st.integers(0, 1))
def test_two_classes_stay_monotone(z: list[Fraction], label: int) -> None:
    """Where clipping acts the Jacobian is 0: p - y is a multiple of (1, -1), and so is everything that M maps to."""
    with ctx.workprec(256):
        p = softmax(z)
        norm = (2 * (1 - p[label]) ** 2).sqrt()
        limit = Fraction(1, 10**6)
        if not norm > ball(limit):
            return
        jacobian = clipped(z, label, limit)
        for i in range(2):
            for j in range(2):
                assert jacobian[i, j].contains(0)
                assert jacobian[i, j].rad() < arb(10) ** -50


@given(scores, st.data())
def test_softmax_gradients_have_norm_at_most_the_root_of_two(z: list[Fraction], data: st.DataObject) -> None:
    label = data.draw(st.integers(0, len(z) - 1))
    r = [value - int(i == label) for i, value in enumerate(softmax(z))]
    assert not sum((value * value for value in r), arb(0)) > 2
