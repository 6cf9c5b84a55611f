"""What document 000 says that cannot be checked here: training runs, what other papers show, and who was first.

No run can be repeated: preprocessing, clipping norm, widths, code and seeds are not given, and the figures are images.
"""

from __future__ import annotations

from functools import partial

from theorems.claim import Stake, Whose
from theorems.tools.unchecked import unchecked_claim

_IMAGE = "the curves are images without values, and no training run was made"
_TEXTS = "what other papers show; their texts are not among the documents"


unchecked = partial(unchecked_claim, "relu-approx", "000")

# --- runs

table_1 = unchecked(
    "table-1", "Table 1: six MNIST accuracies, means of 5 runs",
    "the tuned models have the MNIST accuracies of Table 1",
    r"Table 1: MNIST model accuracies vs. $\varepsilon$ -values for the DP hyperparameter tuning algorithm when "
    r"$\delta=10^{-5}$ . The number of candidate models K is Poisson distributed with mean 20.",
    "needs training runs of the models; none was made", statement=r"0.927, 0.929, 0.916;\ 0.944, 0.949, 0.944",
    uses=("relu-approx/tables-eps",),
)
table_2 = unchecked(
    "table-2", "Table 2: six CIFAR-10 accuracies, means of 5 runs",
    "the tuned models have the CIFAR-10 accuracies of Table 2",
    r"Table 2: CIFAR-10 model accuracies vs. $\varepsilon$ -values for the DP hyperparameter tuning algorithm when "
    r"$\delta = 10^{-5}$ . The number of candidate models K is Poisson distributed with mean m=20.",
    "needs training runs of the models; none was made", statement=r"0.416, 0.417, 0.427;\ 0.455, 0.459, 0.471",
    uses=("relu-approx/tables-eps-cifar",),
)
figure_2 = unchecked(
    "fig-2", "Figure 2: MNIST accuracy against epsilon", "MNIST accuracies over 400 epochs are those of Figure 2",
    r"Figure 2: MNIST Comparisons: Test accuracies vs. the spent privacy budget $\varepsilon$ , when $\delta=10^{-5}$ "
    r"and "
    "each model is trained for 400 epochs.", _IMAGE,
)
figure_2_text = unchecked(
    "fig-2-text", "Section 6.2: both convex methods lead to better models than DP-SGD on the ReLU network (MNIST)",
    "in Figure 2 both convex methods are better than the ReLU network",
    "both DP-SGD and the noisy cyclic mini-batch GD applied to the stochastic dual problem lead to better "
    "utility models than DP-SGD applied to the ReLU network.", _IMAGE + "; held against Table 1 it is fig-2-text-table",
)
figure_2_logistic = unchecked(
    "fig-2-logistic", "Section 6.2: the convex model significantly outperforms logistic regression (Figures 2, 3)",
    "the convex model is significantly more accurate than tuned logistic regression",
    "We observe that the proposed convex model significantly outperforms logistic regression, which has been the most "
    "accurate model considered in the literature for hidden state DP analysis up to now.",
    _IMAGE + "; no accuracy of logistic regression is printed and no test named",
)
figure_2_abadi = unchecked(
    "fig-2-abadi", "Section 6.2: DP-SGD's final accuracies are not far from those of Abadi et al. (2016)",
    "DP-SGD's accuracies are close to those of Abadi et al. at half the epsilon",
    "Notice also that the final accuracies for DP-SGD are not far from the accuracies obtained by Abadi et al. (2016) "
    r"using a three-layer network for corresponding $\varepsilon$ -values",
    _TEXTS + ", and 'not far' names no distance; the factor 2 between the relations is addremove-factor-2",
)
figure_3 = unchecked(
    "fig-3", "Figure 3: CIFAR-10 accuracy against epsilon (its caption names the ReLU network only)",
    "CIFAR-10 accuracies over 400 epochs are those of Figure 3",
    r"Figure 3: Cifar-10 Comparisons: Test accuracies vs. the spent privacy budget $\varepsilon$ , when "
    r"$\delta=10^{-5}$ "
    "and each model is trained for 400 epochs.", _IMAGE,
)
figure_4 = unchecked(
    "fig-4", "Figure 4 and Appendix E.1: without privacy the approximation improves with P (MNIST)",
    "without privacy the stochastic dual problem's accuracy rises with P",
    "Appendix E.1 also shows that in the non-private case, the stochastic problem approximates the ReLU problem better "
    "as P increases.", _IMAGE + "; of the training loss it is proved, fig-4-nested",
)
figure_5 = unchecked(
    "fig-5", "Figure 5 and Appendix E.2: under DP-SGD P = 128 is not far from the optimum (MNIST)",
    "under DP-SGD P = 128 is close to the best number of hyperplanes",
    "Based on these comparisons, we conclude that P=128 is not far from optimum",
    _IMAGE + "; that the noise grows with P is fig-5-noise",
)
figure_7 = unchecked(
    "fig-7", "Figure 7 and Appendix I: FashionMNIST accuracy (its caption names the ReLU network only)",
    "FashionMNIST accuracies over 400 epochs are those of Figure 7",
    r"Figure 7: FashionMNIST Comparisons: Test accuracies vs. the spent privacy budget $\varepsilon$ , when "
    r"$\delta = 10^{-5}$ and each model is trained for 400 epochs.", _IMAGE,
)
performance = unchecked(
    "eta-lambda-performance", "Section 2.2: eta lambda = 2e-4 affects the performance considerably, 1e-4 weakly",
    "eta lambda = 2e-4 harms the model's accuracy considerably and 1e-4 weakly",
    r"in experiments we observe that $\eta\lambda=2\cdot 10^{-4}$ is experimentally found to already affect the model "
    r"performance considerably whereas $\eta\lambda=1\cdot 10^{-4}$ affects only weakly.",
    "a training run on MNIST: neither its data nor its numbers are at hand",
    statement=r"\text{accuracy}(\eta\lambda = 2 \cdot 10^{-4}) \ll \text{accuracy}(10^{-4}) \approx \text{accuracy}(0)",
)
plateaus = unchecked(
    "plateaus-coincide", "Section 2.2: accuracy and privacy guarantees plateau at about the same time",
    "the model's accuracy and its epsilon stop changing at about the same epoch",
    "We experimentally observe that the plateauing of the model accuracy and privacy guarantees happens approximately "
    "at the same time.", "the accuracies by epoch are not printed; how epsilon converges is relu-approx/forgetting",
    statement=r"E_{\mathrm{accuracy\ plateau}} \approx E_{\varepsilon\ \mathrm{plateau}}",
    uses=("relu-approx/forgetting",),
)
widths = unchecked(
    "app-H-W", "Section 6 and Appendix H: the grids of the hidden width W are depicted in Appendix H",
    "Appendix H gives the grids of the ReLU network's hidden width",
    "The hyperparameter grids used in the experiments are depicted in Appendix H.",
    "the two grids of W are blank in the document's text; only W = 200 is named, in Appendix E",
    statement=r"W \in \{\,\}", severity=Stake.EDITORIAL,
)
pretrained = unchecked(
    "cifar-logistic-reading-pretrained", "Section 6, read of models on features of pre-trained layers",
    "on pre-trained features of CIFAR-10 logistic regression and the ReLU network are about equally accurate",
    "we experimentally observe that the DP-SGD trained logistic regression gives similar accuracies as the DP-SGD "
    "trained "
    "ReLU network.", "no accuracy of logistic regression is printed, and no run was made", whose=Whose.READING,
)
tempered = unchecked(
    "sec-6-tempered", "Section 6: tempered sigmoids would likely improve the baseline",
    "one-hidden-layer networks with tempered sigmoids are more accurate than those with ReLU",
    "Although one hidden-layer networks with tempered sigmoid activations (Papernot et al., 2021) would likely yield "
    "improved results", "needs training runs; none was made", severity=Stake.EDITORIAL,
)

# --- other papers

rates = unchecked(
    "intro-rates", "Section 1: the rates of Bassily et al. 2019 and 2021, Arora et al. 2023, Lowy et al. 2024",
    "the best known rates of private convex and non-convex optimisation are those of the introduction",
    r"State-of-the-art empirical risk minimization (ERM) bounds for private convex optimization are of the order "
    r"$O(\frac{1}{\sqrt{n}} + \frac{\sqrt{d}}{\varepsilon n})$ , where n is the number of training data entries, d the "
    r"dimension of the parameter space and $\varepsilon$ the DP parameter (Bassily et al., 2019).",
    _TEXTS + "; how the rates compare is intro-rates-worse, and that the first is no rate of ERM is intro-rates-erm",
    statement=r"O\Big(\tfrac{1}{\sqrt n} + \tfrac{\sqrt d}{\varepsilon n}\Big),\ O\Big(\tfrac{1}{n^{1/3}} +"
              r" \tfrac{d^{1/5}}{(\varepsilon n)^{2/5}}\Big),\ O\Big(\tfrac{d^{1/3}}{(\varepsilon n)^{2/3}}\Big)",
)
inferior = unchecked(
    "app-J-inferior", "Appendix J: shuffled disjoint batches have an inferior trade-off (Chua et al. 2024)",
    "shuffled disjoint batches give a worse privacy-utility trade-off than random mini-batches",
    "however it has been shown in Chua et al. (2024a;b) that the data-shuffling combined with disjoint batches leads "
    "to an "
    "inferior privacy-utility trade-off compared to random mini-batch sampling.",
    _TEXTS + ", and the document shows no training with shuffled batches",
)
bok = unchecked(
    "ye-shokri-slightly-reading-bok", "Section 2.2, read as slightly lower in the experiments of Bok et al. (2024)",
    "in the experiments of Bok et al. Theorem 2.8 has slightly lower bounds than the Renyi analysis",
    "however, as also illustrated by the experiments of Bok et al. (2024), the bounds given by Thm. 2.8 lead "
    r"to slightly lower $(\varepsilon, \delta)$ -DP bounds for NoisyCGD.", _TEXTS, whose=Whose.READING,
    statement=r"\varepsilon_{\mathrm{YS}} - \varepsilon_{\mathrm{Thm.\,2.8}} \text{ is small in Bok et al. 2024}",
)
difficult = unchecked(
    "intro-dp-sgd-difficult", "Section 1: DP-SGD is difficult to implement (Chua et al. 2024a)",
    "DP-SGD is often difficult to implement in practice",
    "an alternative for DP-SGD that is often difficult to implement in practical settings (Chua et al., 2024a).",
    _TEXTS, severity=Stake.EDITORIAL,
)
deeper = unchecked(
    "convex-deeper", "Section 3.1: convex formulations of convolutional and of deeper networks",
    "two-layer convolutional and multi-layer ReLU networks have convex formulations",
    "We remark that convex formulations have also be shown for two-layer convolutional networks (Bartan & Pilanci, "
    "2019) "
    "and for multi-layer ReLU networks (Ergen & Pilanci, 2021).", _TEXTS, severity=Stake.EDITORIAL,
)
first = unchecked(
    "first-results", "Sections 1 and 7: the first high privacy-utility trade-offs by hidden state analysis",
    "nobody had trained models of this accuracy with hidden state guarantees before",
    "we have given the first high privacy-utility trade-off results using the hidden state DP analysis.",
    "a claim about all earlier work; and the guarantees are those of experiments-privacy",
    uses=("relu-approx/experiments-privacy",),
)
local_name = unchecked(
    "tuning-c-reading-name", "Section 5, c read as a name for eta lambda in this paragraph",
    "c is another name for eta lambda",
    r"Then, we fix the value of the constant $c=\eta\cdot\lambda$ for NoisyCGD",
    "a name for eta lambda states nothing that could be false", statement=r"c := \eta\lambda", severity=Stake.EDITORIAL,
    whose=Whose.READING,
)
