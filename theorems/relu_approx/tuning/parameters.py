"""Which parameters document 000's three methods have left to tune (Section 6).

DP-SGD (2.2), NoisyCGD (2.4) and the models (3.6) or a ReLU network have the step size, the clipping constant C, the
batch size, the noise scale, the epochs, the regularisation, and the number P of hyperplanes or the width W. Batch size,
noise and epochs are printed; mu then fixes c and, with the step size, lambda (tuning-monotone). C is given nowhere.
"""

from __future__ import annotations

from theorems.claim import Claim, Flip, Whose
from theorems.given import Domain
from theorems.verdict import Finding, Verdict, instance, refuted

_METHODS = {
    "DP-SGD, ReLU network": {"eta", "C", "b", "sigma", "E", "W"},
    "DP-SGD, convex model": {"eta", "C", "b", "sigma", "E", "P"},
    "NoisyCGD, convex model": {"eta", "C", "b", "sigma", "E", "P", "lambda"},
}
_PRINTED = ("b", "sigma", "E", "lambda")


def judge_free(fixed: tuple[str, ...], given: Domain) -> Finding:
    """Whether, with these parameters fixed, one is left besides the step size in each of the three alternatives."""
    for method, parameters in _METHODS.items():
        left = sorted(parameters - set(fixed) - {"eta"})
        if len(left) != 1:
            return refuted("another number of parameters is left", {"method": method, "left": ", ".join(left)})
    return instance("W for the ReLU network, P for the convex models")


_QUOTE = r"in addition to the learning rate $\eta$ , we have in all alternatives only one hyperparameter to tune"

one = Claim(
    id="relu-approx/one-hyperparameter",
    source="000, Section 6: only one hyperparameter besides the learning rate; the clipping constant is nowhere given",
    quote=_QUOTE,
    whose=Whose.PRINTED,
    statement=r"|\{\text{parameters to tune}\} \setminus \{\eta\}| = 1",
    words="besides the learning rate each of the three alternatives has one hyperparameter to tune",
    hypotheses=(),
    says=None,
    check=None,
    readings=("relu-approx/one-hyperparameter-reading-clip", "relu-approx/one-hyperparameter-reading-fixed"),
    uses=("relu-approx/tuning-monotone",),
    expected="AMBIGUOUS PROVED",
)

clip = Claim(
    id="relu-approx/one-hyperparameter-reading-clip",
    source="000, Section 6, read with the clipping constant C of (2.2) among what is to be chosen",
    quote=_QUOTE,
    whose=Whose.READING,
    statement=r"\{\eta, C, W\} \setminus \{\eta\} \text{ has one element}",
    words="with nothing fixed but what the document prints, one hyperparameter besides the learning rate is left",
    hypotheses=(),
    says=_PRINTED,
    check=judge_free,
    flips=(Flip("C fixed, too", (*_PRINTED, "C"), Verdict.HOLDS),),
    repaired_by="relu-approx/one-hyperparameter-reading-fixed",
    rests_on=("relu-approx/tuning-monotone",),
    expected="REFUTED PROVED",
)

fixed_clip = Claim(
    id="relu-approx/one-hyperparameter-reading-fixed",
    source="000, Section 6, read with the clipping constant C fixed beforehand, at a value that it does not tell",
    quote=_QUOTE,
    whose=Whose.READING,
    statement=r"\{\eta, W\} \setminus \{\eta\} \text{ or } \{\eta, P\} \setminus \{\eta\} \text{ has one element}",
    words="with the clipping constant fixed, too, one hyperparameter besides the learning rate is left: W or P",
    hypotheses=(),
    says=(*_PRINTED, "C"),
    check=judge_free,
    flips=(Flip("C free", _PRINTED, Verdict.REFUTED), Flip("lambda free", ("b", "sigma", "E", "C"), Verdict.REFUTED)),
    rests_on=("relu-approx/tuning-monotone",),
    expected="HOLDS PROVED",
)
