r"""What document 002 says of its second part: the abstract's sentence, and why footnote 5 speaks of functions.

Footnote 5: "we need to estimate both w* and phi". The law of a record depends on them by the score <w*, psi> + phi
only: (w* + c, phi - <c, psi>) gives the same law, and is within Assumption 3 for small c where M > 0. So no method can
estimate both, and Algorithm 9 estimates neither phi nor the sum: it releases a weight w. What the law fixes, for a link
that rises strictly, is the score, a function of x: that is why the risk is one of functions.

Abstract: "two-layer neural networks with sigmoid or ReLU activation functions". Theorems 10 and 11 have them as the
hidden layer's sigma_1; the output's sigma_2 maps to [0, 1] (Assumption 3), which a sigmoid does and a ReLU does not.
So the sentence holds for the hidden layer (with the sample sizes of Theorems 10 and 11, read as orders that are
enough), and does not for a network all of whose activations are ReLUs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Estimated = Callable[[Any, Any, Any], tuple[Any, ...]]
"""Of (w*, phi, psi) at one x: what is to be estimated."""


def judge_determined(says: Estimated, given: Domain) -> Finding:
    """Whether what is to be estimated is the same for all (w*, phi) of one law, and fixes that law."""
    tried = 0
    tenth = Fraction(1, 10)
    within = {"weight": 0 * tenth, "error": tenth, "feature": 10 * tenth, "shift": tenth}  # Assumption 3 with M = 1/10
    for point in (within, *given.points("weight", "error", "feature", "shift", at_most=200)):
        w, phi, psi, c = (point[name] for name in ("weight", "error", "feature", "shift"))
        tried += 1
        first, second = says(w, phi, psi), says(w + c, phi - c * psi, psi)
        if first != second:
            return refuted("two models with one law of the data differ in it", {
                "psi": psi, "w*": w, "phi": phi, "other w*": w + c, "other phi": phi - c * psi,
                "score of both": w * psi + phi, "estimated": ", ".join(map(str, first)),
                "for the other": ", ".join(map(str, second))})
    w_, phi_, psi_, c_ = (given.symbol(name) for name in ("weight", "error", "feature", "shift"))
    score = sympy.Symbol("score", real=True)
    told = says(w_, phi_, psi_)
    return proof(
        computed("it does not change with c in (w* + c, phi - c psi)",
                 vanishes(*(a - b for a, b in zip(told, says(w_ + c_, phi_ - c_ * psi_, psi_), strict=True)))),
        computed("it is the score <w*, psi> + phi", all(
            vanishes(one.subs(phi_, score - w_ * psi_) - score) for one in told) and len(told) == 1),
        argued("the law of a record given x depends on (w*, phi) by the score only, and fixes it for a link that rises "
               "strictly and a noise of mean 0 given x"),
        tried=tried,
    )


Maps = Mapping[str, tuple[Callable[[Any], Any], ...]]
"""By its name, the layers' activations that must map into [0, 1] (the output's), of a score s."""


def judge_output(says: Maps, given: Domain) -> Finding:
    """Whether every output activation maps into [0, 1], as Assumption 3 and Theorems 10 and 11 ask for."""
    tried = 0
    values = given.values("score")
    for name, activations in says.items():
        for activation in activations:
            for s in values:
                tried += 1
                value = activation(sympy.Rational(str(s)))
                if sympy.Or(value > 1, value < 0) == sympy.true:
                    return refuted("the output's activation leaves [0, 1]", {
                        "activation": name, "score": s, "value": value})
    s_ = given.symbol("score")
    return proof(
        computed("0 <= output <= 1 for all scores, and it rises", all(
            never_negative(activation(s_), 1 - activation(s_), sympy.diff(activation(s_), s_))
            for every in says.values() for activation in every)),
        argued("a hidden layer of sigmoids or ReLUs and such an output is a network of Theorem 10 or 11, whose sample "
               "sizes are enough (nonconvex-nn/thm-10-reading-order, nonconvex-nn/thm-11-reading-order)"),
        tried=tried,
    )


def sigmoid(score: Any) -> Any:
    """1/(1 + e^-s)."""
    return 1 / (1 + sympy.exp(-score))


def relu(score: Any) -> Any:
    """max(s, 0)."""
    return sympy.Max(score, 0)


footnote = Claim(
    id="nonconvex-nn/footnote-5", source="002, Section 5, footnote 5",
    quote="Note that since we need to estimate both w^* and ϕ , here we use a function instead of vector in the "
          "previous section.",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"(w^*, \phi(x)) \text{ is determined by the law of } (x, y)",
    words="w* and phi are both to be estimated: the law of the data determines them",
    hypotheses=(real("weight", "w*, one feature"), real("error", "phi(x)"), real("feature", "psi(x)"),
                real("shift", "c")),
    says=lambda w, phi, psi: (w, phi), check=judge_determined, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\langle w^*, \psi(x)\rangle + \phi(x) \text{ is determined by the law of } (x, y)",
        words="the score <w*, psi> + phi is what the law determines, a function of x, and neither w* nor phi",
        says=lambda w, phi, psi: (w * psi + phi,), expected="HOLDS ARGUED",
        flips=(Flip("phi alone", lambda w, phi, psi: (phi,), Verdict.REFUTED),
               Flip("twice the score", lambda w, phi, psi: (2 * (w * psi + phi),), Verdict.UNDECIDED)),
        true_variants={"only at argument 2 *": "a function of the score and of x is determined as well"},
    ),
)
abstract = Claim(
    id="nonconvex-nn/abstract-two-layer", source="002, abstract: two-layer networks",
    quote="In the second part of the paper, we extend our ideas to two-layer neural networks with sigmoid or ReLU "
          "activation functions in the well-specified model.",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"y = \sigma_2\Big(\sum_t b_t\sigma_1(\langle a_t, x\rangle)\Big) + \zeta,\ \sigma_1 \text{ (and }"
              r" \sigma_2\text{?) sigmoid or ReLU}",
    words="two-layer networks with sigmoid or ReLU activations are learnt: in the hidden layer, or in both",
    hypotheses=(real("score", "s"),), says=None, check=None,
    readings=("nonconvex-nn/abstract-two-layer-reading-hidden", "nonconvex-nn/abstract-two-layer-reading-both"),
    expected="AMBIGUOUS ARGUED",
)
hidden = reading(
    abstract, "hidden", source="002, abstract, Theorems 10 and 11: sigma_1, with a sigmoid as an example of sigma_2",
    statement=r"0 \le \sigma_2 \le 1,\ \sigma_1 \text{ sigmoid or ReLU: Theorems 10 and 11}",
    words="networks whose hidden units are sigmoids or ReLUs, with an output activation into [0, 1] such as a sigmoid",
    says={"sigmoid": (sigmoid,)}, check=judge_output,
    flips=(Flip("a ReLU", {"ReLU": (relu,)}, Verdict.REFUTED),
           Flip("twice a sigmoid", {"2 sigmoid": (lambda s: 2 * sigmoid(s),)}, Verdict.REFUTED)),
    uses=("nonconvex-nn/thm-10", "nonconvex-nn/thm-11"),
    rests_on=("nonconvex-nn/thm-10-reading-order", "nonconvex-nn/thm-11-reading-order"),
    true_variants=dict.fromkeys(("* 1 % less", "* squared", "* 1 -> 2 (constant 1)"),
                                "another output that rises within [0, 1]"),
    expected="HOLDS ARGUED",
)
both = reading(
    abstract, "both", source="002, abstract, read with one activation in both layers",
    statement=r"\sigma_1 = \sigma_2 \text{ sigmoid or ReLU}",
    words="networks all of whose activations, the output's too, are sigmoids or ReLUs",
    says={"sigmoid": (sigmoid,), "ReLU": (relu,)}, check=judge_output,
    flips=(Flip("sigmoids only", {"sigmoid": (sigmoid,)}, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/abstract-two-layer-reading-hidden", expected="REFUTED PROVED",
)
