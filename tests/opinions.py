"""Second opinions: what each bound should be, by mpmath at two precisions or by exact rationals, without oracle code.

`OPINIONS` names the opinion on every registered bound; the formulas stand in `formulas`, in `opinion` and, for whole
families, in `topics`.
"""

from __future__ import annotations

from mpmath import mp, mpf

from tests.formulas import (
    composed_mu,
    composition_advanced,
    composition_delta,
    gaussian_delta,
    gaussian_excess,
    laplace_composed_delta,
    laplace_delta_by_integration,
    noisy_cgd_mu,
    noisy_gd_mu,
    rdp_epsilon,
    response_excess,
    tree_mu,
    zcdp_epsilon,
)
from tests.opinion import Root, Value, amplification, composition, sampled, shuffle, wor_gaussian
from tests.topics import gathered

OPINIONS: dict[str, Value | Root] = {
    **composition.OPINIONS,
    **shuffle.OPINIONS,
    "laplace-composed.delta": Value(lambda v: laplace_composed_delta(v, v["epsilon"]), digits=(45, 70)),
    "laplace-composed.epsilon": Root(lambda v, e: laplace_composed_delta(v, e) - v["delta"]),
    "composition.basic": Value(lambda v: v["steps"] * v["base_epsilon"]),
    "composition.advanced": Value(composition_advanced),
    "composition.optimal-delta": Value(lambda v: composition_delta(v, v["epsilon"])),
    "composition.optimal": Root(lambda v, e: composition_delta(v, e) - v["delta"]),
    "gaussian-classical.sigma": Value(
        lambda v: mp.sqrt(2 * mp.log(mpf(5) / 4 / v["delta"])) * v["sensitivity"] / v["epsilon"]
    ),
    "gaussian-composed.delta": Value(
        lambda v: gaussian_delta(composed_mu(v), v["epsilon"]) if v["steps"] else mpf(0)
    ),
    "gaussian-composed.epsilon": Root(
        lambda v, e: gaussian_excess(composed_mu(v), e, v["delta"]) if v["steps"] else mpf(0)
    ),
    "gdp.delta": Value(lambda v: gaussian_delta(v["mu"], v["epsilon"])),
    "randomised-response.delta": Value(lambda v: max(mpf(0), response_excess(v, v["epsilon"]))),
    "randomised-response.epsilon": Root(lambda v, e: response_excess(v, e) - v["delta"]),
    "rdp.epsilon": Value(rdp_epsilon),
    "tree.epsilon": Root(lambda v, e: gaussian_excess(tree_mu(v), e, v["delta"])),
    "zcdp.epsilon": Value(zcdp_epsilon, digits=(45, 70)),
    "gaussian.delta": Value(lambda v: gaussian_delta(v["sensitivity"] / v["sigma"], v["epsilon"])),
    "gaussian.epsilon": Root(lambda v, e: gaussian_excess(v["sensitivity"] / v["sigma"], e, v["delta"])),
    "gaussian.sigma": Root(lambda v, sigma: gaussian_excess(v["sensitivity"] / sigma, v["epsilon"], v["delta"])),
    "gdp.epsilon": Root(lambda v, e: gaussian_excess(v["mu"], e, v["delta"])),
    "laplace.delta": Value(
        lambda v: laplace_delta_by_integration(v["sensitivity"] / v["scale"], v["epsilon"]), digits=(45, 70)
    ),
    "noisy-gd.mu": Value(noisy_gd_mu),
    "noisy-cgd.mu": Value(noisy_cgd_mu),
    **sampled.OPINIONS,
    **amplification.OPINIONS,
    **wor_gaussian.OPINIONS,
    **gathered("OPINIONS"),
}
