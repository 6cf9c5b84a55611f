"""What document 002 says of multi-layer networks that cannot be checked here: runs, other papers, who was first.

The figures are images without values. What would settle each run stands in its reason; all of them need, beyond what is
printed: the loss (one output node, ten classes: say logistic loss of one class against the rest), the batch size (say M
= 256), the noise (that of dp-sgd-multilayer.sigma at the stated epsilon and delta), the projection (say centre =
"start" and its radius, or none), and images divided by 28.
"""

from __future__ import annotations

from functools import partial

from theorems.claim import Stake
from theorems.tools.unchecked import unchecked_claim

_RUN = ("no run was made here; batch size, loss, projection radius, seeds and the values of the curve are not given. "
        "It would be settled by: ")
_TEXTS = "what other papers show; their texts are not among the documents"


_unchecked = partial(unchecked_claim, "nonconvex-nn", "002")

figure_1 = _unchecked(
    "fig-1", "Figure 1: the NTRF error at widths 200, 500, 2000, R/sqrt(m) = 0.1 to 1.9, mean of 10 runs",
    "the approximation error on MNIST is that of Figure 1",
    r"In this particular experiment, we set the width of MLPs for each layer as $\{200, 500, 2000\}$, respectively. "
    r"Each model is trained for 200 epochs with a learning rate of 10^{-2} . R/\sqrt{m} varies "
    r"from 0.1 to 1.9 with a step of "
    "0.2. Figure 1 reports the average results of 10 runs.",
    _RUN + "projected SGD on the linearised three-layer network at these widths and radii, 200 epochs at step 0.01, 10 "
           "starts, all 60000 images; and the same at equal R, which Figure 1 does not vary (fig-1-confounded)",
)
small = _unchecked(
    "fig-1-small", "Section 6.1: the approximation error is a small and meaningful value (Figure 1)",
    "the approximation error of (7) is small on MNIST",
    "Figure 1 shows that the approximation error in the upper bound of Theorem 13 yields a small and meaningful value",
    _RUN + "the values of the runs of fig-1, and what counts as small; the radii are outside Lemma 18 (fig-1-omega)",
    uses=("nonconvex-nn/fig-1",),
)
figure_2 = _unchecked(
    "fig-2", "Figure 2: the test loss against C, width 256, 200 epochs, eta = 0.01, n = 60000, epsilon = 1",
    "the test loss of DP-SGD does not change with C in [1, 64]",
    r"we apply the DP-SGD optimizer to a three-layer MLP model with a width of 256, and train the model for 200 epochs "
    r"with a learning rate of $\eta = 0.01$, using a training set of 60,000 samples. We set "
    r"$\epsilon = 1$ and $\delta = 1/n^2$.",
    _RUN + "C = 1, 2, 4, ..., 64 with 10 seeds each, M = 256 (T = 46875), eta = 0.01, epsilon = 1, delta = 1/n^2: "
           "whether the 95 % intervals of the mean test loss all meet; and the same with eta = 0.01/C, which is what "
           "the theory is about",
    uses=("nonconvex-nn/fig-2-theory-mismatch",),
)
figure_3 = _unchecked(
    "fig-3", "Figure 3: the test error against m, n = 5000, epsilon = 1, C = 20, 200 epochs, eta = 0.01, 10 runs",
    "the test error of DP-SGD first falls and then rises with the width",
    r"In Figure 3, we plot the mean testing error and 95% confidence interval based on 10 runs of the DP-SGD optimizer "
    r"with different values of m .",
    _RUN + "m = 8, 16, ..., 2048 (the grid is not printed) with 10 seeds each, n = 5000, M = 256 (T = 3906), eta = "
           "0.01, C = 20, epsilon = 1, delta = 1/n^2: whether the least mean test error is at no end of the grid, "
           "outside of the 95 % intervals of both ends",
    uses=("nonconvex-nn/rem-15-m",),
)
figure_4 = _unchecked(
    "fig-4", "Figure 4: the test error against T, n = 60000, m = 256, 10 runs",
    "the test error of DP-SGD first falls and then rises with T",
    "which illustrates how the testing loss will change as T increases with the setting of $n = 60,000$ and $m = 256$.",
    _RUN + "T = 100, 300, 1000, ..., 100000 with 10 seeds each, M = 256, C = 20, eta = 0.01, epsilon = 1, delta = "
           "1/n^2, the noise anew for every T: whether the least mean test error is at no end of the grid, outside of "
           "the intervals of both",
    uses=("nonconvex-nn/rem-15-T",),
)
figure_4_parameters = _unchecked(
    "fig-4-params", "Section 6.1: the other parameters of Figure 4 are the same as above",
    "C, eta and delta of Figure 4 are those of Figure 3, and its T are chosen",
    "Other parameters are the same as above.",
    "the T are not printed; C = 20, eta = 0.01, epsilon = 1 and delta = 1/n^2 of Figure 3 can be meant, its 200 epochs "
    "cannot, since they fix T M; at that m and C Theorem 13 is about at most 67 steps (fig-4-steps)",
    severity=Stake.EDITORIAL,
)
trade_off = _unchecked(
    "fig-3-trade-off", "Section 6.1: Figures 3 and 4 show a trade-off in m and T, as the theory has it",
    "the curves of Figures 3 and 4 have their least values inside, as Remark 15 says of the bound",
    "The curves in Figure 3 and Figure 4 show that the excess population risk has a trade-off in choosing the network "
    "width m and training iteration T , with neither of them being too large or too small.",
    "the curves are images; the runs of fig-3 and fig-4 would show it. That the bound has both tendencies in T is "
    "rem-15-T; in m only one of them is proved (rem-15-m), the other is rem-15-approx-zero",
    uses=("nonconvex-nn/fig-3", "nonconvex-nn/fig-4", "nonconvex-nn/rem-15-T", "nonconvex-nn/rem-15-approx-zero"),
)
figure_5 = _unchecked(
    "fig-5", "Figure 5: the test error against n, m = n^(1/4)/2, T = 50 n^(2/5), epsilon = 1, C = 20",
    "the test error of DP-SGD falls with n in the setting of Figure 5",
    "In Figure 5, we plot the impact of n on the testing error of DP-SGD.",
    _RUN + "n = 1000, 2000, ..., 60000 (subsets of MNIST; the grid is not printed), m = ceil(n^(1/4)/2), T = ceil(50 "
           "n^(2/5)), M = 256, C = 20, eta = 0.01, epsilon = 1, delta = 1/n^2, 10 seeds each: whether the mean test "
           "error falls; the widths are 3 to 8 units",
    uses=("nonconvex-nn/fig-5-params", "nonconvex-nn/fig-5-each-term"),
)
figure_5_nonprivate = _unchecked(
    "fig-5-nonprivate", "Section 6.1: for large n DP-SGD performs like SGD without privacy (Figure 5)",
    "at the largest n of Figure 5 the test errors with and without noise are about the same",
    "Furthermore, Figure 5 demonstrates that the performance of DP-SGD is similar to that of non-private SGD when the "
    "sample size is sufficiently large.",
    _RUN + "the runs of fig-5 once more without noise and without clipping, same m, T, M and eta; similar if the 95 % "
           "intervals of both mean test errors at n = 60000 meet. The text describes no such curve",
    uses=("nonconvex-nn/fig-5",),
)
single_output = _unchecked(
    "exp-single-output", "Section 6.1: networks with one output node on MNIST, which has ten classes",
    "the experiments are about the networks and the risk of Theorem 13",
    "we conducted experiments using a three-layer MLP model on the MNIST dataset.",
    "the text's networks have one output and an S-Lipschitz loss, MNIST has ten classes; the loss is not named, and "
    "testing loss, testing error and excess population risk stand for each other. One class against the rest with "
    "logistic loss (S = 1) would be within the theory; ten outputs with cross-entropy are not",
)
differences = _unchecked(
    "alg-10-differences", "Section 6: three slight differences between Algorithm 10 and DP-SGD of Abadi et al. (2016)",
    "but for start, projection and average Algorithm 10 is DP-SGD as Abadi and others have it",
    "Note that there are slight differences between Algorithm 10 and the one in Abadi et al. (2016).",
    _TEXTS + "; to be held against it: the divisor, which here is |B_t| (alg-10-empty-batch, thm-13-privacy)",
)
common = _unchecked(
    "asm-4-common", "Section 6: Assumption 4 is commonly used (Chen et al. 2020, Cao and Gu 2019)",
    "a parameter space around 0 is commonly assumed in the analysis of wide networks",
    "which is commonly used in the previous work on analyzing theoretical behaviors of multi-layer neural networks "
    "such as Chen et al. (2020); Cao & Gu (2019a).",
    _TEXTS + "; the lemmas that the proof quotes are about balls around W(0)",
    severity=Stake.EDITORIAL,
)
needed = _unchecked(
    "alg-10-projection-needed", "Section 6: the projection is necessary for the analysis",
    "without a projection the analysis of Theorem 13 does not go through",
    "In fact, the projection step is also necessary for our analysis.",
    "about every possible analysis; Lemma 25 bounds the way of W without using the projection",
    severity=Stake.EDITORIAL,
)
lee = _unchecked(
    "rem-15-wide-limit", "Remark 15: Lee et al. and Jacot et al. on wide networks",
    "wide networks are trained as their linearisation is", "as pointed out by Lee et al. (2020); Jacot et al. (2020); "
                                                           "Lee et al. (2018).", _TEXTS, severity=Stake.EDITORIAL,
)
open_effect = _unchecked(
    "rem-15-C-open", "Remark 15: the effect of C, large or small, remains an open problem",
    "nobody knows what a large or a small C does", "However, the effect of C , whether large or "
                                                   "small, remains an open problem.",
    "about what is not known; of the bound alone it is rem-15 and rem-15-C-small", severity=Stake.EDITORIAL,
)
studies = _unchecked(
    "rem-16-studies", "Remark 16: low-rank gradients (Zhou et al.), restricted Lipschitz continuity (Li et al.)",
    "studies with further assumptions avoid the number of weights, for convex losses only",
    "To address this weakness, recent studies have proposed additional assumptions on the gradient or loss of neural "
    "networks, such as low-rank gradients Zhou et al. (2020) and restricted Lipschitz continuity Li et al. (2022).",
    _TEXTS,
)
future = _unchecked(
    "rem-16-future", "Remark 16: the number of weights could be removed from the utility",
    "with such assumptions the bound need not depend on the number of weights",
    "we believe that it is possible to remove the dependency on the number of weights in the utility by combining our "
    "theoretical analysis with those assumptions.", "a belief; no assumption is stated precisely enough to be tried",
    severity=Stake.EDITORIAL,
)
first = _unchecked(
    "abstract-first-multilayer", "abstract and Section 1: the first excess population risk of "
                                 "DP-SGD for multi-layer networks",
    "nobody had bounded the excess population risk of DP-SGD for wide multi-layer networks before",
    "By utilizing recent advances in Neural Tangent Kernel theory, we provide the first excess population risk when "
    "both the sample size and the width of the network are sufficiently large.",
    "a claim about all earlier work; and the bound is thm-13-utility", uses=("nonconvex-nn/thm-13-utility",),
)
corroborate = _unchecked(
    "intro-corroborate", "Section 1: experiments corroborate the theory",
    "the experiments corroborate the theoretical findings",
    "We also provide experimental studies to corroborate our theoretical findings.",
    "the figures are images; what they are said to show is outside of the theorem's hypotheses (fig-5-params, "
    "fig-1-confounded) or not what it says (fig-2-theory-mismatch)",
    uses=("nonconvex-nn/fig-1-confounded", "nonconvex-nn/fig-2-theory-mismatch", "nonconvex-nn/fig-5-params"),
)
standard = _unchecked(
    "conclusion-standard", "conclusion: the standard DP-SGD method was analysed",
    "the method that Theorem 13 is about is the standard DP-SGD",
    "Finally, we analyzed the standard DP-SGD method for general multi-layer neural networks and provided an upper "
    "bound for the excess population risk.",
    _TEXTS + "; the differences that the text itself names are alg-10-differences",
    uses=("nonconvex-nn/alg-10-differences", "nonconvex-nn/thm-13-utility"),
)
