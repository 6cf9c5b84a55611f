"""What document 003 says of itself: captions and the checklist, held against its own text.

The headings of the appendix and the sentences that the checklist points to are listed here from the text; a check looks
for the words that would have to be there.
"""

from __future__ import annotations

from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.verdict import Finding, Verdict, instance, refuted, undecided

_APPENDIX = (
    "A Algorithms", "B Additional Experiment", "Sensitivity of Privacy Budgets.", "C Supported Lemmas", "D DP-GLMtron",
    "D.1 Privacy Guarantee", "D.2 Utility Guarantee", "E DP-TAGLMtron", "E.1 Privacy Guarantee", "E.2 Utility "
                                                                                                 "Guarantee",
    "E.3 Specific Disrtibutions",
)
_SETTING = (
    "varying privacy budgets (£) set at 0.05, 0.2, and 0.5 with § = ,,,11.1", "two eigenvalue decay scenarios",
    "The dimensionality of the data was fixed at 1,024", "The learning rate was initially set to 10~2",
    "the sample size, which varied from 50 to 550 and increased in steps to 100",
    "a ReLLU regression model with noise to be trained using the previously mentioned algorithms",
    "The algorithms underwent a single iteration over generated data.",
    "The primary metric for evaluation was the average excess risk across varying dataset sizes",
    "we also consider DP-SGD [1]] and DP-FTRL [22] as baselines.",
)
_PROOFS = (
    "We are now prepared to prove Theorem 4. 1] utilizing the lemmas discussed above.",
    "Proof of Lemma According to the update rule of DP-TAGLMtron, we know:", "Proof of Corollary.",
)

Sought = tuple[tuple[str, ...], tuple[str, ...]]
"""The texts in which to look, and the words of which each must be in one of them."""


def judge_mentions(says: Sought, given: Domain) -> Finding:
    """Whether every sought word is in one of the texts."""
    texts, words = says
    missing = [word for word in words if not any(word.lower() in text.lower() for text in texts)]
    if missing:
        return refuted("no text has it", {"missing": ", ".join(missing), "texts": "; ".join(texts)})
    return instance("every word is in one of the texts", {"words": ", ".join(words)})


def judge_data(says: tuple[str, str], given: Domain) -> Finding:
    """Whether a caption's title and its sentence name one kind of data."""
    title, sentence = says
    kinds = [{word for word in ("MNIST", "generated") if word in text} for text in says]
    if len(kinds[0] | kinds[1]) > 1:
        return refuted("the title names MNIST and the sentence generated data", {"title": title, "sentence": sentence})
    if not all(kinds):
        return undecided("one of the two names no kind of data", 1)
    return instance("one kind of data is named", {"title": title, "sentence": sentence})


def textual(
    name: str, place: str, quote: str, words: str, says: Sought, fixed: Sought, repaired: str,
    severity: Stake = Stake.EDITORIAL,
) -> Claim:
    """A reading of what the document says of itself that its text is against, and what the text does have."""
    return Claim(
        id=f"glmtron/{name}", source=f"003, {place}", quote=quote, whose=Whose.READING, severity=severity,
        statement=rf"\text{{{words}}}", words=words, hypotheses=(), says=says, check=judge_mentions,
        expected="REFUTED PROVED",
        repair=Repair(
            statement=rf"\text{{{repaired}}}", words=repaired, says=fixed, expected="HOLDS PROVED",
            true_variants={} if len(fixed[0]) == 1 else {
                "[[]0[]] * another word": "another of the places mentions it, too, or none of the words is there"},
        ),
    )


_TITLE = "Comparative Performance of Various Differential Privacy Algorithms on MNIST Across Different Privacy Budgets."

caption = Claim(
    id="glmtron/fig-3-caption", source="003, Figure 3, its caption",
    quote="Figure 3: Comparative Performance of Various Differential Privacy Algorithms on MNIST Across Different "
          "Privacy "
          "Budgets.",
    whose=Whose.TYPO, severity=Stake.EDITORIAL, statement=r"\text{Figure 3 has one kind of data}",
    words="title and sentence of the caption name one kind of data", hypotheses=(),
    says=(_TITLE, "on generated Bernoulli distributed data"), check=judge_data, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\text{Figure 3 is about MNIST}", words="with the sentence about MNIST the caption names one kind",
        says=(_TITLE, "on the MNIST dataset"), expected="HOLDS PROVED",
    ),
)
compute = textual(
    "checklist-compute", "Checklist, 8: compute resources are in the appendix",
    "Justification: The Experiments Compute Resources are discussed in the Appendix.",
    "a section of the appendix discusses compute resources", (_APPENDIX, ("compute",)), (_APPENDIX, ("experiment",)),
    "the appendix has an additional experiment, and no section on compute resources",
)
error_bars = textual(
    "checklist-error-bars", "Checklist, 7: error bars, answered with yes",
    "Justification: The factors that will influence the experiment are discussed.",
    "the setting names error bars, a number of repetitions or a significance test",
    (_SETTING, ("error",)), (_SETTING, ("average",)), "the setting names an average, and no spread",
)
reproducible = textual(
    "checklist-reproducible", "Checklist, 4 and 6: all training details are specified",
    "Justification: We provide the detailed experiment setup",
    "the setting names w*, the label noise, the clip's constants and the estimating batch",
    (_SETTING, ("w*", "sigma", "C_2", "estimating")), (_SETTING, ("learning rate", "dimension", "privacy budgets")),
    "the setting names learning rate, dimension and budgets, and no w*, sigma, C_2 or estimating batch",
)
proofs = Claim(
    id="glmtron/checklist-proofs", source="003, Checklist, 3: all proofs are included",
    quote="Justification: All assumptions and proofs are included in the submission.", whose=Whose.PRINTED,
    severity=Stake.PROOF, statement=r"\text{every theorem has a proof in the appendix}",
    words="the appendix has a proof of every theorem", hypotheses=(), says=None,
    check=citing(Verdict.NOT_CHECKABLE, "Sections D.2 and E.2 end in displays with the terms of Theorems 4.2, 4.4 and "
                 "5.2 and have no heading that names them, and the scan drops cross-references: a text with its "
                 "references would tell which proof is whose. Whether the steps are right is judged one by one"),
    expected="NOT_CHECKABLE CITED",
)
named_proofs = Claim(
    id="glmtron/checklist-proofs-repaired", source="003, appendix: which proofs it announces by name, as scanned",
    severity=Stake.PROOF, statement=r"\text{proofs of Theorem 4.1, of lemmas and of the corollary are announced}",
    words="the appendix announces proofs of Theorem 4.1, of lemmas and of the corollary by name",
    hypotheses=(), says=(_PROOFS, ("Theorem 4. 1", "Lemma", "Corollary")), check=judge_mentions,
    flips=(Flip("Theorem 5.2", (_PROOFS, ("Theorem 5.2",)), Verdict.REFUTED),), expected="HOLDS PROVED",
    true_variants={"[[]0[]] * another word": "another of the places mentions it, too"},
)
limitations = textual(
    "checklist-limitations", "Checklist, 2: limitations are discussed (read as a section of their own)",
    "Justification: The paper provides a discussion on the limitation and future direction.",
    "a section discusses limitations and future directions",
    (("1 Introduction", "2 Related Work", "3 Preliminaries", "4 Proposed DP-GLMtron Algorithm",
      "5 Advanced DP-TAGLMtron", "6 Empirical Simulation", "7 Conclusions"), ("limitation", "future")),
    (("To address limitations with small privacy budgets, we developed DP-TAGLMtron",), ("limitation",)),
    "one sentence of the conclusion speaks of limitations, and none of future directions",
)
