r"""DP-GLMtron with thresholds from DP-Threshold (document 003, Algorithms 1 and 2): the weaker of two guarantees.

Every step of the pass first asks DP-Threshold, for its own w_t, for a clipping norm gamma_t; the records of the
thresholds are others than those of the pass, and a record's place says which it is. Let one record be replaced.

- One of the pass: gamma_t is drawn from what was released before it and from records that both data sets share. Given
  gamma_t, the step is what `glmtron.epsilon` assumes: a Gaussian release of noise 2 f gamma_t against 2 gamma_t.
- One of the thresholds: the N calls release three histograms each, every call for a model that was computed from what
  earlier calls released, from records that both data sets share and from noise: adaptive calls, `dp-threshold.epsilon`.

So the whole is (epsilon, delta)-DP for the larger of the two epsilons at the same delta, not for their sum, and that is
the least that these two bounds give.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.algorithms.glmtron import dp_threshold_privacy, glmtron_privacy
from oracle.algorithms.glmtron.dp_threshold_privacy import HISTOGRAMS
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.attainment import one_sided
from oracle.core.enclosure import Enclosure
from oracle.core.registry import Bound

_MOST = 33_333  # records of the pass; dp-threshold.epsilon composes no more histograms


def _pass(values: Values) -> Values:
    return Values(
        noise_over_sensitivity=values.noise_over_sensitivity, dataset_size=values.dataset_size, delta=values.delta,
        method="upper",
    )


def _thresholds(values: Values, histograms: Any) -> Values:
    return Values(
        threshold_epsilon=values.threshold_epsilon, threshold_delta=values.threshold_delta, histograms=histograms,
        calls=values.dataset_size, delta=values.delta,
    )


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    thresholds = dp_threshold_privacy.epsilon.certify(_thresholds(values, HISTOGRAMS), width)
    return glmtron_privacy.epsilon.certify(_pass(values), width).maximum(thresholds)


def _epsilon_fast(xp: Any, values: Values) -> Any:
    histograms = xp.full_like(values.threshold_epsilon, float(HISTOGRAMS))
    return xp.maximum(  # of which a NaN comes through: the reference decides there
        glmtron_privacy.epsilon.vectorised(xp, _pass(values)),
        dp_threshold_privacy.epsilon.vectorised(xp, _thresholds(values, histograms)),
    )


epsilon = Bound(
    name="glmtron-adaptive.epsilon",
    unit="epsilon",
    tightness=one_sided("the larger of two bounds that are not attained"),
    summary="an epsilon for which DP-GLMtron with thresholds from other records is (epsilon, delta)-DP",
    formula=(
        r"\max\left(\varepsilon_{\mathrm{GLMtron}}(f, N, \delta),\ \varepsilon_{\mathrm{Threshold}}(\varepsilon',"
        r" \delta', 3, N, \delta)\right)"
    ),
    parameters=(
        vocabulary.noise_over_sensitivity.above(0), vocabulary.dataset_size.at_most(_MOST),
        vocabulary.threshold_epsilon, vocabulary.threshold_delta, vocabulary.delta.open(),
    ),
    assumes=(
        "replace", "one-pass", "secret-order", "shortening", "gaussian-noise", "past-thresholds", "other-records",
        "fixed-histograms", "noisy-test", "laplace-noise",
    ),
    neighbours="replace",
    threat_model="all_iterates",
    released="all_iterates",
    source=(
        "glmtron/budget-twice-reading-disjoint", "glmtron/thm-4.1-steps", "glmtron/threshold-composition-exact",
        "background/laplace-curve",
    ),
    validity="argued",
    certify=_epsilon,
    vectorised=_epsilon_fast,
    example={
        "noise_over_sensitivity": "3.5143", "dataset_size": "550", "threshold_epsilon": "0.0027",
        "threshold_delta": "8.8e-7", "delta": "9.67e-4",
    },
)
