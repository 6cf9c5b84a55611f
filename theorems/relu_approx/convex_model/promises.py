r"""A false privacy claim of document 000: NoisyCGD on the convex ReLU model with the step sizes of Lemma 3.2.

Lemma 3.2 gives the loss of a record the smoothness |x|^2 + lambda. With step sizes below 2 / (|x|^2 + lambda) every
step would contract by c = 1 - eta lambda, and Theorem 2.8 bound the last iterate. The true smoothness is
a |x|^2 + lambda, a the number of active hyperplanes (claim relu-approx/lem-3.2), and a step that overshoots expands by
up to eta a |x|^2 - 1. That breaks the bound: an expansion after the canary's step lifts what that step has said above
all noise to come, whereas the theorem lets the noise of every step of an epoch cover it.

One output, squared loss, P = 6 hyperplanes, all active along e_1 and near it, |x| <= 1, eta = 1.9, lambda = 0.0005. U
and W are the unit vectors of e_1 and e_2 on the hyperplanes. k = 10 fixed batches, in each of 16 epochs:

    1      the canary e_1, label +-1000: a push of C/b along U; the other records forget what stood along U
    2, 3   v_U <- -10 v_U + noise         eta a |x|^2 = 11, the only steps beyond the true 2 / beta
    4      a projection along cos U + sin W, sin = 0.2, which carries a fifth of v_U over to v_W and forgets v_U
    5-10   records of zero: noise only

So v_W sums up the canary's pushes of all epochs, each with the noise of one step and hardly more. As long as nothing
but the canary is clipped all this is linear and Gaussian, with a squared mu that is 14.7 times that of one push against
the theorem's 2.5; `convex_relu_law` makes a certificate of that. The audit assumes none of it.

The hyperplanes are one draw, known to all: the theorem is about each. Their law is N(0, I) as in the document. Equal
records of a batch are counted, not repeated; that is all by which this differs from `noisy-cgd-convex-relu`.

Clipped gradients of several classes, the other gap in the document's claim (relu-approx/clip-convex), gave no violation
that we could find. The Jacobian of one clipped softmax gradient is a product of two non-negative matrices, so its
eigenvalues are non-negative and no step repeated expands. Searches over cycles of up to three such steps found growth
for four classes at the earliest (1.2 % a step at eta = 4 / |x|^2), only with records that are almost certainly
misclassified, and those cannot rest there: with weight decay their push must be balanced by well classified records,
whose gradients are so small that at most a few in a hundred records can be of the first kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from empirical.audits.audit_plan import AuditPlan
from empirical.audits.literal import Array, Literal, LiteralTarget
from empirical.pairs.pair import make_pair
from oracle.algorithms.convex_relu import convex_relu
from oracle.algorithms.convex_relu.convex_relu import noisy_cgd_convex_relu
from oracle.algorithms.shared import glm
from oracle.core.algorithm import Values
from oracle.core.domain import Number, non_negative_integer
from oracle.core.enclosure import Enclosure
from oracle.core.tape import Tape
from theorems.promise import CONFIDENCE, FalseClaim
from theorems.relu_approx.convex_model import promises_law

FIXED = {"loss": "squared", "outputs": 1, "clipping": "record"}
"""What the variant does not leave open."""


def _batches(features: Array, labels: Array, config: Values) -> list[tuple[Array, Array, Array]]:
    """Of each batch: its different records on the hyperplanes [m, P d], their labels, and how many they are."""
    u = convex_relu.hyperplanes(config, features.shape[1], Tape(config.hyperplane_seed))
    result = []
    for start in range(0, len(features), config.batch_size):
        batch = slice(start, start + config.batch_size)
        rows, counts = np.unique(np.column_stack([features[batch], labels[batch]]), axis=0, return_counts=True)
        wide = (rows[:, None, :-1] * (rows[:, :-1] @ u.T >= 0)[:, :, None]).reshape(len(rows), -1)
        there = wide.any(axis=1)  # a record of zeros has no gradient
        result.append((wide[there], rows[there, -1], counts[there].astype(np.float64)))
    return result


def counted(features: Array, labels: Array, config: Values, tape: Tape) -> Array:
    """The last iterates of NoisyCGD on the convex ReLU model, shape [M, P d]."""
    glm.check_data(features, labels, feature_norm=config.feature_norm)
    glm.batches(config.batch_size, len(features))
    eta, lam = float(config.learning_rate), float(config.regularisation)
    sigma, clip_norm = float(config.noise_on_mean), float(config.clip_norm)
    batches = _batches(features, labels, config)
    v = np.zeros((tape.models, config.hyperplanes * features.shape[1]))
    normals = tape.by("torch")
    for step in range(config.epochs * len(batches)):
        wide, targets, counts = batches[step % len(batches)]
        noise = normals.normal("noise", step, v.shape[1])
        moved = (1.0 - eta * lam) * v - (eta * sigma) * noise
        if len(wide):
            residual = v @ wide.T - targets
            norms = np.abs(residual) * np.linalg.norm(wide, axis=1)
            shares = counts * np.minimum(1.0, clip_norm / np.maximum(norms, clip_norm))
            moved -= (eta / config.batch_size) * ((residual * shares) @ wide)
        v = moved
    return v


counted_records = Literal(
    name="noisy-cgd-convex-relu-counted",
    document="000, eqs. 3.6-3.8 and 2.4",
    summary="NoisyCGD on the convex ReLU model, squared loss, with one known draw of the hyperplanes",
    parameters=(
        *(
            parameter for parameter in (*noisy_cgd_convex_relu.parameters, *noisy_cgd_convex_relu.training)
            if parameter.name not in FIXED
        ),
        non_negative_integer("hyperplane_seed", "of the tape whose first model's hyperplanes these are"),
    ),
    releases=counted,
)

_TARGET: dict[str, Any] = {
    "kind": "literal", "name": "theorems.relu_approx.convex_model.promises:counted_records",
    "config": {
        "hyperplanes": 6, "learning_rate": "1.9", "regularisation": "0.0005", "clip_norm": 1,
        "noise_on_mean": "0.00079", "batch_size": 5000, "epochs": 16, "feature_norm": 1, "hyperplane_seed": 18,
    },
}
_PAIR = {
    "kind": "built", "name": "overshooting-records", "batch_size": 5000, "batches": 10, "erase": "0.296034",
    "amplify": "0.982257", "copy": "0.296034", "sine": "0.2", "label": 1000,
}


def at_least(delta: Number) -> Enclosure:
    """The certified epsilon of the audited run."""
    target = LiteralTarget(_TARGET["name"], _TARGET["config"])
    return promises_law.at_least(make_pair(_PAIR, target), target.config)(delta)


lemma_3_2 = FalseClaim(
    id="000-lemma-3.2-step-sizes",
    claim="relu-approx/lem-3.2-consequence",
    document="000, Lemma 3.2 with Theorem 2.8",
    promise="NoisyCGD on 6 hyperplanes, eta = 1.9 < 2 / (|x|^2 + lambda), 10 batches and 16 epochs, is (3.38, 1e-5)-DP",
    fault="the smoothness is a |x|^2 + lambda, so that steps expand and Theorem 2.8 does not apply",
    plan=AuditPlan(
        target=_TARGET, pair=_PAIR, claimed="3.38", budget=100_000, confidence=CONFIDENCE, shard=5000,
    ),
    at_least=at_least,
)

clipped_classes = FalseClaim(
    id="000-clipped-classes",
    claim="relu-approx/clip-convex",
    document="000, Section 3.4 and Theorem 2.8",
    promise="NoisyCGD on clipped softmax gradients of three classes, 4 batches and 10 epochs, is (2.97, 1e-5)-DP",
    fault="the clipped gradients of three classes belong to no convex loss; Theorem 2.8 does not apply",
    plan=AuditPlan(
        target={
            "kind": "algorithm", "name": "noisy-cgd-convex-relu",
            "config": {
                "loss": "softmax", "outputs": 3, "hyperplanes": 4, "learning_rate": "0.9", "regularisation": "0.01",
                "clip_norm": "0.5",
                "clipping": "record", "noise_on_mean": "0.5", "batch_size": 5, "epochs": 10, "feature_norm": 1,
            },
        },
        pair={
            "kind": "built", "name": "label-flip", "records": 20, "dimension": 2, "feature_norm": 1, "label_low": 0,
            "label_high": 2, "neighbours": "replace",
        },
        claimed="2.97", budget=40_000, confidence=CONFIDENCE,
    ),
    expected="CONSISTENT",
    tested=2000,
)
