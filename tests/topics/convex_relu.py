"""What the generic tests need to know of the convex ReLU model: its constants, from eigenvalues of small Hessians."""

from __future__ import annotations

from mpmath import mp, mpf

from tests.opinion import Numbers, Value


def largest_curvature(loss: str) -> mpf:
    """The largest eigenvalue of the loss's Hessian in the scores, at the scores where it is largest."""
    if loss == "softmax":
        p = [mpf(1) / 2, mpf(1) / 2]
        hessian = mp.matrix(2, 2)
        for i in range(2):
            for j in range(2):
                hessian[i, j] = (p[i] if i == j else 0) - p[i] * p[j]
        return max(mp.eigsy(hessian, eigvals_only=True))
    return mpf(1) if loss == "squared" else mpf(1) / 2 * (1 - mpf(1) / 2)


def beta(v: Numbers) -> mpf:
    """The curvature times |t|^2 = a |x|^2, and the ridge."""
    return largest_curvature(v["loss"]) * v["active"] * v["feature_norm"] ** 2 + v["regularisation"]


def step(v: Numbers) -> mpf:
    """Where eta beta - 1 reaches 1, or meets 1 - eta lambda."""
    return 2 / (beta(v) if v["step_rule"] == "expansion" else beta(v) + v["regularisation"])


def contraction(v: Numbers) -> mpf:
    """The larger of the two ends; they may nearly cancel 1."""
    with mp.extradps(20):
        result = max(abs(1 - v["learning_rate"] * v["regularisation"]), abs(1 - v["learning_rate"] * beta(v)))
    return +result


OPINIONS = {
    "convex-relu.smoothness": Value(beta),
    "convex-relu.contraction": Value(contraction),
    "convex-relu.step": Value(step),
}
