"""What the generic tests need to know of DP-SBCD: the recursion step by step, and directions."""

from __future__ import annotations

from mpmath import mp, mpf

from tests.formulas import gaussian_excess
from tests.opinion import Numbers, Root, Value


def share(v: Numbers, position: int) -> mpf:
    """R / alpha by Corollary 4.5 of document 001 with the exponent -1, one step after the other, from a fixed start."""
    rho = spread = mpf(0)  # the spread is 1/c
    gradient, prox = v["lipschitz_gradient"] ** 2, v["lipschitz_prox"] ** 2
    for noise in v["noise_variances"]:
        added = 2 * v["learning_rate"] * noise
        for batch in range(1, int(v["batches"]) + 1):
            moved = gradient * spread
            if batch == position:
                rho += v["learning_rate"] * v["sensitivity"] ** 2 / (4 * v["batch_size"] ** 2 * noise)
            else:
                rho = rho / (1 + added / moved) if moved > 0 else mpf(0)
            spread = prox * (moved + added)
    return rho


def shares(v: Numbers) -> list[mpf]:
    """One for each position."""
    return [share(v, position) for position in range(1, int(v["batches"]) + 1)]


def mixed(v: Numbers) -> mpf:
    """The log of the mean of exponentials; tiny divergences need as many more digits."""
    alpha, exponents = v["alpha"], [v["alpha"] * (v["alpha"] - 1) * rho for rho in shares(v)]
    top = max(exponents)
    if top == 0:
        return mpf(0)
    with mp.extradps(10 + max(0, -int(mp.log10(top)))):
        result = top + mp.log(mp.fsum(mp.exp(x - top) for x in exponents) / len(exponents))
    return result / (alpha - 1)


def composed(v: Numbers) -> mpf:
    """Half the squared distance of the two means in units of the noise's standard deviation, update by update."""
    pairs = zip(v["sensitivities"], v["noise_variances"], strict=True)
    return mp.fsum((v["learning_rate"] * s / v["batch_size"]) ** 2 / (2 * v["learning_rate"] * o) for s, o in pairs) / 2


def converted(rho: mpf, delta: mpf) -> mpf:
    """zCDP's epsilon: the conversion at the order 1 + t where its derivative rho - (log(1/delta) - log(1+t))/t^2 is 0.

    Newton's method in log t, from the right of the root of a convex function, so that no bracket is needed.
    """
    if rho == 0:
        return mpf(0)
    log = -mp.log(delta)
    s = min((mp.log(log) - mp.log(rho)) / 2, log)
    for _ in range(200):
        t = mp.exp(s)
        step = (rho * t**2 + mp.log1p(t) - log) / (2 * rho * t**2 + t / (1 + t))
        s -= step
        if abs(step) < mpf(10) ** (-mp.dps // 2):  # the minimum is flat: half the digits are enough
            break
    alpha = 1 + mp.exp(s)
    return max(mpf(0), rho * alpha + (log - mp.log(alpha)) / (alpha - 1) + mp.log1p(-1 / alpha))


OPINIONS = {
    "sbcd.rdp": Value(lambda v: v["alpha"] * share(v, int(v["batch_position"]))),
    "sbcd-mixed.rdp": Value(mixed),
    "sbcd.epsilon": Value(lambda v: converted(max(shares(v)), v["delta"])),
    "sbcd-composition.rdp": Value(lambda v: v["alpha"] * composed(v)),
    "sbcd-composition.epsilon": Root(
        lambda v, epsilon: gaussian_excess(mp.sqrt(2 * composed(v)), epsilon, v["delta"])
    ),
}
