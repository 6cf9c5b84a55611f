"""What document 003 says that cannot be checked here: runs whose setting is not given, and what other works show.

No run can be repeated as printed: w*, the label noise, the kind and scale of the Bernoulli data, C_2, a, alpha, C_1,
the size of the estimating batch, the number of repetitions and the start of DP-SGD and DP-FTRL are not given, and the
figures are images.
"""

from __future__ import annotations

from functools import partial

from theorems.claim import Stake
from theorems.tools.unchecked import unchecked_claim

_HOLES = (
    "w*, the label noise, the kind and scale of the Bernoulli data (signs or one-hot), alpha, a, b, C_1, C_2, the "
    "estimating batch, the repetitions and the start of the baselines are not given; with them it would be settled by "
    "one pass of each algorithm at d = 1024, lambda_i = i^-2 and i^-3, eta = 1/100, delta = N^-1.1, epsilon = 0.05, "
    "0.2, 0.5 and N = 50, 150, ..., 550: the mean of |w - w*|_H^2 with its standard error"
)
_MNIST = (
    "the labels and their scale, the split, the model that stands in for w*, alpha, a, b, C_1, C_2 and the repetitions "
    "are not given; with them it would be settled by one pass of each algorithm over MNIST at eta = 1/20, epsilon = "
    "0.05, 0.2, 0.5 and N = 100, 200, ..., 1000"
)
_TEXTS = "what other works show; the texts of those works, which are not among the documents, would settle it"


unchecked = partial(unchecked_claim, "glmtron", "003")

# --- runs

setup = unchecked(
    "exp-setup", "Section 6, the setting of Figure 2", "the setting of Figure 2 is complete",
    "The dimensionality of the data was fixed at 1,024 to maintain consistency across trials.", _HOLES,
)
figure_1 = unchecked(
    "fig-1", "Figure 1: trajectories with smaller and larger noise",
    "in two dimensions DP-SGD stays at a saddle point and DP-GLMtron leaves it, for two noises",
    "(a) Trajectory with smaller noise (b) Trajectory with larger noise",
    "w*, w_0, eta, N and the two noises are not given; with them one run of each algorithm in two dimensions, "
    "symmetric Bernoulli data without label noise, would settle it; why SGD does not cross is fig-1-mechanism",
)
decay = unchecked(
    "fig-2-decay", "Section 6: i^-3 has lower risk than i^-2 at all budgets",
    "the risk at lambda_i of the order i^-3 is below that at i^-2 for every algorithm and budget",
    "exhibit the lower excess risk under the same training algorithms and conditions regardless of privacy budget.",
    _HOLES + "; the risk of w = 0 is lower there, too, so that it must be divided by that",
)
ranking = unchecked(
    "fig-2-ranking", "Section 6: the proposed algorithms are consistently better",
    "DP-GLMtron and DP-TAGLMtron have lower excess risk than DP-SGD and DP-FTRL, consistently",
    "show that DP-GLMtron and DP-TAGLMitron consistently outperform DP-SGD and DP-FTRL regarding excess risk, "
    "particularly as the sample size increased.", _HOLES + "; a start at 0 holds the baselines still "
                                                           "(sgd-saddle-prose)",
    uses=("glmtron/exp-setup",),
)
poor = unchecked(
    "fig-2-poor", "Section 6: DP-SGD and DP-FTRL converge poorly",
    "DP-SGD and DP-FTRL converge poorly even with large data",
    "the DP-SGD and DP-FTRL exhibit poor convergence performance even with comparatively large data sizes.", _HOLES,
)
budgets = unchecked(
    "fig-2-eps", "Section 6: a larger budget, a lower risk", "the excess risk falls from epsilon = 0.05 to 0.5",
    "increasing the privacy budget from € = 0.05 to € = 0.5 resulted in lower excess risks for both "
    "algorithms.", _HOLES,
)
sizes = unchecked(
    "fig-2-N", "Figure 2: the risk against N", "the excess risk falls as N grows from 50 to 550",
    "comparing excess risk across different sample sizes and privacy budgets.", _HOLES,
)
panels = unchecked(
    "fig-2-panels", "Section 6: which panels are which (scanned)", "Figures 2d to 2f have the decay i^-3",
    "Figures (2fl{2¢e), which illustrate data with eigenvalue decay",
    "the scan has 2f to 2e for what must be 2d to 2f, and the panels are images: the printed page would settle it",
    severity=Stake.EDITORIAL,
)
mnist = unchecked(
    "fig-3-mnist", "Figure 3: MNIST", "the excess risks on MNIST are those of Figure 3",
    "we evaluate the performance of four different differential privacy (DP) algorithms",
    _MNIST,
)
undefined = unchecked(
    "fig-3-excess-undefined", "Appendix B: average excess risk on MNIST", "the excess risk on MNIST is what is plotted",
    "The primary metric for evaluation was the average excess risk across varying dataset sizes and ¢ values.",
    "excess risk needs w*, which MNIST does not have: which model stands in for it is not said, and naming it would "
    "settle it",
)
tight = unchecked(
    "fig-3-text", "Appendix B, epsilon = 0.05", "at epsilon = 0.05 DP-TAGLMtron is best at all N, DP-GLMtron rises "
                                                "with N",
    "achieving the lowest excess risk, while DP-GLMtron’s excess risk increased with larger sample sizes.", _MNIST,
)
moderate = unchecked(
    "fig-3-text-moderate", "Appendix B, epsilon = 0.2", "at epsilon = 0.2 the gap narrows and DP-SGD worsens with N",
    "DP-SGD’s performance suffered with larger sample sizes, highlighting its sensitivity to sample size under "
    "moderate "
    "privacy levels.", _MNIST,
)
relaxed = unchecked(
    "fig-3-text-relaxed", "Appendix B, epsilon = 0.5", "at epsilon = 0.5 both proposed algorithms are markedly better",
    "Our proposed methods markedly outperformed both DP-SGD and DP-FTRL", _MNIST,
)
figure_4 = unchecked(
    "fig-4", "Figure 4: budgets by algorithm", "the excess risks at three budgets are those of Figure 4",
    "Figure 4: Performance of Different Algorithms under Various Privacy Budgets.",
    "the curves are images of which two numbers of an axis are left; their values, and " + _MNIST,
)
same_issue = unchecked(
    "fig-4-claims", "Appendix B: DP-SGD faces the same issue", "DP-SGD's risk, too, depends on the budget",
    "we demonstrate the sensitivity of the privacy budget for each algorithm, and it is clear that DP-SGD faces the "
    "same "
    "issue.", "which issue is not said, and the curves are images; naming it, and Figure 4's values, would settle it",
)
ftrl_larger = unchecked(
    "fig-4-claims-ftrl", "Appendix B: DP-FTRL's final risk is above DP-TAGLMtron's",
    "DP-FTRL converges, to a risk significantly larger than DP-TAGLMtron's",
    "it can be observed that the excess risk for DP-FTRL is significantly larger than that of", _HOLES,
)

# --- other works

table_33 = unchecked(
    "table-1-33", "Table 1, DP-PGD of [33]", "the bound of [33] in Table 1 is that of its text",
    "DP-PGD O(mln{(NE>1/27 (NE)2/3 }+ - HXH2 S 1", "the entry's first branch cannot be read: the printed page would "
    "settle it; see intro-33-bound",
)
omission = unchecked(
    "intro-23", "Section 4: [23] on the omission", "the omitted slope makes GLMtron find near-optimal predictors "
                                                   "efficiently",
    "Furthermore, [23] demonstrates that this specific omission plays a significant role in GLMtron’s ability to "
    "efficiently identify a predictor that closely approximates the optimal solution.", _TEXTS,
)
stationary = unchecked(
    "intro-gradient-norm", "Section 2: [2] on gradient norms",
    "small gradients do not ensure that a private estimator is near a local minimum",
    "there exists no assurance that a differentially private estimator will converge to or even be near any "
    "significant "
    "local minimum.", _TEXTS, severity=Stake.EDITORIAL,
)
glm_rates = unchecked(
    "intro-glm-rates", "Section 2: rates of private generalised linear losses", "the rates of [21], [25], [34], [8] "
                                                                                "and [5]",
    "an early study on DP GLL [21]] revealed that, assuming features have bounded [ norm the error bound can",
    _TEXTS, severity=Stake.EDITORIAL,
)
released = unchecked(
    "checklist-code", "Checklist, 5: code after acceptance", "all data and code will be released after acceptance",
    "Justification: All data and code will be released after acceptance.", "a promise about the future: a public "
    "repository of the authors would settle it",
    severity=Stake.EDITORIAL,
)
