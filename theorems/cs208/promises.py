r"""False privacy claims of document 004: the noise of DP gradient descent, and what objective perturbation has to pay.

One step of DP-GD on linear losses releases a Gaussian of known mean and variance: mu is C/(n sigma), or twice that
where a record is replaced. The slides' sigma is sqrt(2 log(1.25/delta)) / epsilon times C/n.

- Data sets of one size are neighbours by replacement (x, x' in X^n): the mean moves by 2C/n, not by C/n.
- No range is given for epsilon; for epsilon = 10 and delta = 1e-5 the noise is too small even for C/n.

Objective perturbation without its Jacobian: the density of the release at theta is that of the random linear term at
b(theta) times |det b'(theta)|, and the determinants of the two data sets differ. At n = 1 and lambda = 0.05 the ratio
of the determinants is up to 1 + 1/(4 n lambda) = 6. (The slides leave the constants open; those without a correction
are one reading.) With s(z) = 1/(1 + e^-z), b(theta) = 1 - s(theta) - lambda theta for the record (1, 1) and -lambda
theta for the record 0; b has the density e^{-|b|/2}/4. Hence theta in [0, 1] has the probabilities

    (e^{-(1 - s(1) - lambda)/2} - e^{-1/4}) / 2     and     (1 - e^{-lambda/2}) / 2,     of ratio e^1.56.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from empirical.audits.audit_plan import AuditPlan
from oracle.core.domain import Number
from oracle.core.enclosure import Enclosure, ball
from theorems.promise import CONFIDENCE, FalseClaim
from theorems.tools.decisions import epsilon_of_test

_RECORDS = 10


def _one_step(neighbours: str, noise_on_mean: str, claimed: str, budget: int) -> AuditPlan:
    config = {
        "loss": "linear", "learning_rate": 1, "clip_norm": 1, "noise_on_mean": noise_on_mean, "steps": 1,
        "dataset_size": _RECORDS, "neighbours": neighbours,
    }
    return AuditPlan(
        target={"kind": "algorithm", "name": "dp-gd", "config": config},
        pair={"kind": "built", "name": "full-batch-canary", "records": _RECORDS, "dimension": 1},
        claimed=claimed, budget=budget, confidence=CONFIDENCE, estimator="gdp",
    )


replaced_record = FalseClaim(
    id="004-dp-gd-replaced-record",
    claim="cs208/dp-gd-sensitivity",
    document="004, DP Gradient Descent",
    promise="a step with the Gaussian mechanism's noise for sensitivity C/n is (1, 1e-5)-DP on X^n",
    fault="a replaced record moves the mean of clipped gradients by 2C/n",
    plan=_one_step("replace", "0.48449", "1", 100_000),
)

large_epsilon = FalseClaim(
    id="004-gaussian-mechanism-large-epsilon",
    claim="cs208/gaussian-mechanism",
    document="004, Gaussian mechanism",
    promise="sigma^2 = 2 (GS/epsilon)^2 log(1.25/delta) is (epsilon, delta)-DP; here (10, 1e-5)",
    fault="the formula is a theorem for epsilon <= 1 only",
    plan=_one_step("add_remove", "0.048449", "10", 1_000_000),
    tested=200_000,
)

def no_jacobian_at_least(delta: Number) -> Enclosure:
    """The epsilon of the test whether theta lies in [0, 1]."""
    ridge = Fraction("0.05")

    def rates() -> tuple[arb, arb]:
        lowest = 1 - 1 / (1 + arb(-1).exp()) - ball(ridge)
        return ((-lowest / 2).exp() - arb(-1 / 4).exp()) / 2, (1 - (-ball(ridge) / 2).exp()) / 2

    return epsilon_of_test(delta, rates)


no_jacobian = FalseClaim(
    id="004-objective-perturbation-no-jacobian",
    claim="cs208/objective-perturbation",
    document="004, Objective Perturbation",
    promise="noise of density exp(-epsilon |b| / 2) in the objective is (1, 0)-DP, whatever n lambda",
    fault="the change of variables is not paid for",
    plan=AuditPlan(
        target={
            "kind": "algorithm", "name": "objective-perturbation",
            "config": {
                "loss": "logistic", "regularisation": "0.05", "epsilon": 1, "correction": "none", "feature_norm": 1,
            },
        },
        pair={
            "kind": "built", "name": "zeroed-record", "records": 1, "dimension": 1, "feature_norm": 1, "label": 1,
        },
        delta="1e-9", claimed="1", budget=100_000, confidence=CONFIDENCE,
    ),
    at_least=no_jacobian_at_least,
)
