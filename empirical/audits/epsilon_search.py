"""Which built pair a foreign target gives most away on: a small audit on each, with models that judge nothing later.

No pair is worst for every training. A logistic loss with labels 0 and 1, for example, has one and the same gradient at
zero for the records (x, 1) and (-x, 0), the two ends of `extremes`, and so betrays nothing on them at first; a flipped
label betrays it at once. The pilot audits have a seed of their own, so that the choice is independent of the models
that judge it, and the confidence of the audit is what it says. They ask for even odds only: their bounds are compared,
and believed by nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from empirical.audits.audit import Audit
from empirical.audits.audit_plan import AuditPlan
from oracle.core.errors import TargetError

SHARE = 20
"""A pilot audit has a twentieth of the budget, but at least LEAST models."""
LEAST = 200
EVEN_ODDS = 0.5
APART = 2**61  # added to the seed


def worst_pair(
    plan: AuditPlan, specs: Iterable[Mapping[str, Any]], carry_out: Callable[[AuditPlan], Audit]
) -> Mapping[str, Any]:
    """The spec of the pair with the largest pilot bound, the first where all are equal.

    A target that does not work with the first pair is not tried with the others: the audit itself then says why.
    """
    budget = min(plan.budget, max(LEAST, plan.budget // SHARE))
    best, most = None, 0.0
    for spec in specs:
        pilot = replace(plan, pair=spec, budget=budget, confidence=EVEN_ODDS, seed=plan.seed + APART)
        try:
            bound = carry_out(pilot).epsilon_lower
        except TargetError:  # a pair that is made of the target's own models may not suit it
            bound = None
        if best is None:
            if bound is None:
                return spec
            best, most = spec, bound
        elif bound is not None and bound > most:
            best, most = spec, bound
    assert best is not None, "there is a pair to try"
    return best
