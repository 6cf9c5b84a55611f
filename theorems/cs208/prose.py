"""What document 004 says that cannot be checked here: other papers' results, and who wrote what when."""

from __future__ import annotations

from theorems.claim import Stake, Whose
from theorems.cs208.judging import unchecked

_TEXTS = "what another paper shows; its text is not among the documents"

carlini = unchecked(
    "carlini", "Why ML with DP?: models memorise", "machine learning models memorise training data",
    "ML models memorize training data",
    _TEXTS + ": the models, the prompts and the extracted records of the two papers would settle it",
)
cifar = unchecked(
    "sota-cifar", "Neural Networks & Privacy: the state of the art of 2022",
    "a fine-tuned model has 96.7 % accuracy on CIFAR-10 with (1, 1e-5)-DP, and 99.7 % without",
    r"96.7% accuracy with $(1, 10^{-5})$ -DP (vs. 99.7% w/o DP)",
    _TEXTS + ": the trained model, its preprocessing, noise and number of steps would settle it",
    statement=r"96.7\,\% \text{ at } (1, 10^{-5})\text{-DP},\ 99.7\,\%",
)
tight = unchecked(
    "nasr-tight", "Neural Networks & Privacy: the analyses are nearly tight",
    "analyses of DP-SGD are nearly tight where all iterates are seen",
    "Current analyses of DP-SGD are nearly tight if adversary sees all intermediate",
    "the audits of another paper; 'nearly' names no gap. That the Gaussian composition behind full batches is exact is "
    "background/gdp-composition", uses=("background/gdp-composition",),
)
tune_public = unchecked(
    "hyperparameter-public", "Neural Networks & Privacy: tuning on public data",
    "hyperparameters can be tuned on a public data set", "Or can tune on a public dataset.",
    "costs no privacy by definition of public; whether it tunes well needs the two data sets", severity=Stake.EDITORIAL,
)
tune_private = unchecked(
    "hyperparameter-private", "Neural Networks & Privacy: tuning with privacy",
    "hyperparameters can be tuned privately at an additional cost",
    "Can do this privately, with additional cost in privacy.",
    "no algorithm and no cost is named; for a random number of runs it is background/poisson-tuning",
    severity=Stake.PRIVACY, uses=("background/poisson-tuning",),
)
fine_tuning = unchecked(
    "finetune-public", "Neural Networks & Privacy: pre-training on public data",
    "a model can be pre-trained on public data and fine-tuned on sensitive data",
    "and then fine-tune using a sensitive dataset.",
    "no model and no gain is named: accuracies with and without pre-training would settle it",
)
optimisation = unchecked(
    "erm-optimisation", "Supervised ML Output: what ERM does", "empirical risk minimisation turns learning into "
    "optimisation", "Turns learning into optimization.", "a description, which states nothing that could be "
    "false: nothing would settle it", severity=Stake.EDITORIAL,
)
penalty = unchecked(
    "regulariser-penalises", "Supervised ML Output: what a regulariser does",
    "the regulariser typically penalises large parameters", "typically penalizes", "'typically' names no regulariser",
    severity=Stake.EDITORIAL,
)
decompose = unchecked(
    "decompose-algorithms", "Modifying ML Algorithms: the approach",
    "existing algorithms can be decomposed into steps that are made private",
    "decompose existing ML/inference algorithms into steps that can be made DP",
    "no algorithm is named but linear regression, which is cs208/linreg-suffstats", severity=Stake.EDITORIAL,
    uses=("cs208/linreg-suffstats",),
)
typical = unchecked(
    "sa-aggregators", "Subsample & Aggregate: the usual aggregators",
    "the usual aggregators are a private clipped mean and a private median",
    "Typical aggregators: DP (clipped) mean, DP median",
    "a survey of uses would settle it; that both are private is cs208/sa-privacy and cs208/sa-median",
    severity=Stake.EDITORIAL, uses=("cs208/sa-privacy", "cs208/sa-median"),
)
accountants = unchecked(
    "accountants", "DP SGD: Improved Privacy Analysis: other accountants",
    "the moments accountant, truncated zCDP and f-DP recover a similar analysis",
    "But similar analysis can be recovered using the",
    _TEXTS + "; that sampling amplifies at a fixed Renyi order is cs208/amplification-recovered",
    uses=("cs208/amplification-recovered",),
)
moments_accountant = unchecked(
    "abadi-17", "DP SGD: Improved Privacy Analysis: the year of the moments accountant",
    "the paper by Abadi and others is of 2017", "Abadi-Chu-Goodfellow-McMahan-Mironov-Talwar-Zhang '17",
    "a reference: the proceedings would settle it (it is known as a paper of CCS 2016)", severity=Stake.EDITORIAL,
    whose=Whose.TYPO,
)
sgd_year = unchecked(
    "jkt-12", "DP-SGD: who and when", "DP-SGD is in Jain, Kothari and Thakurta 2012",
    "Jain-Kothari-Thakurta `12", "a reference: the three papers named would settle who has which algorithm",
    severity=Stake.EDITORIAL,
)
spelling = unchecked(
    "klnrs-spelling", "Exponential Mechanism for ML: a name", "the first author is spelled Kasiwiswanathan",
    "Kasiwiswanathan-Lee-Nissim-Raskhodnikova-Smith '11", "a reference: the paper would settle it (other documents "
    "spell Kasiviswanathan)", severity=Stake.EDITORIAL, whose=Whose.TYPO,
)
f_dp = unchecked(
    "doroshenko", "DP SGD: Improved Privacy Analysis: what the paper of 2022 is about",
    "the paper by Doroshenko and others is about f-DP", "[Dong et al. '19, Doroshenko et al. '22]",
    "a reference: its text would settle it (it is known for privacy loss distributions)", severity=Stake.EDITORIAL,
    whose=Whose.TYPO,
)
