"""What document 001 says of other works, of practice and of machines: content that no computation here decides.

Each has its words and the reason, so that nobody takes it for checked. Where the document's own reference list speaks
to the matter, the reason says so.
"""

from __future__ import annotations

from theorems.claim import Claim, Stake
from theorems.tools.unchecked import unchecked_claim


def told(name: str, place: str, quote: str, words: str, reason: str) -> Claim:
    """A printed sentence that is not checkable, and why."""
    return unchecked_claim(
        "sbcd", "001", name, place, words, quote, reason, statement=rf"\text{{{words}}}", severity=Stake.EDITORIAL,
    )


_ELSEWHERE = "what other works say or do is not computed, and their texts are not at hand"

memorise = told(
    "prior-memorise", "Section 1, first paragraph",
    "deep neural networks are shown to memorize the training data [34] so that we can even reconstruct part of the "
    "training data from the learned model parameters [19].",
    "networks memorise training data, part of which can be reconstructed from the learned parameters", _ELSEWHERE,
)
accountants = told(
    "prior-accountants", "Section 2: most accountants rely on composition",
    "Most accountant methods rely on the composition theorem of differential privacy. In this regard, Abadi et al. [1] "
    "introduces the momentum accountant, Mironov [25] further proposes Rényi differential privacy (RDP), which turns "
    "out a better tool to analyze the algorithm’s privacy loss.",
    "most accountants rely on composition, and Renyi divergence is the better tool",
    f"{_ELSEWHERE}; Section 1 calls the accountant of [1] the moment, not the momentum accountant",
)
dp_sgd = told(
    "prior-dp-sgd", "Section 2: DP-SGD [29]",
    "DP-SGD [29] is the most popular one, which involves the addition of calibrated noise to the clipped per-sample "
    "gradients in each iterative update.",
    "DP-SGD, noise on clipped gradients of single records, is the most popular method, and from [29]",
    f"{_ELSEWHERE}; Section 1 gives [1] for it",
)
unrecorded = told(
    "states-unrecorded", "Section 2: the hidden state assumption is more practical",
    "In real-life applications, the intermediate states usually cannot be tracked, so the hidden state assumption is "
    "more practical.",
    "in real applications the intermediate states usually cannot be tracked", "what is usual is not computed",
)
small_loss = told(
    "prior-small-loss", "Section 1, third paragraph",
    "privacy loss (usually less than 1) under some strict assumption such as strongly convex loss function and "
    "gradient Lipschitzness.",
    "earlier works on the hidden state claim a converged loss, usually less than 1", _ELSEWHERE,
)
proposed = told(
    "prior-feldman", "Section 2: the hidden state assumption comes from [13]",
    r"It is first proposed in [13], which also proves that a sequence of contractive maps can exhibit bounded "
    r"(α, ε) -RDP.",
    "the hidden state assumption was first proposed in [13], with a bound for sequences of contractive maps",
    "priority is not computed; a bound for sequences of contractive maps is checked in background/fmit18",
)
descent = told(
    "prior-block-descent", "Section 2, on block coordinate descent",
    "It not only helps prevent the vanishing gradient problem [35] but also facilitates distributed or parallel "
    "implementations [23].",
    "block coordinate descent helps against vanishing gradients and can be run in parallel", _ELSEWHERE,
)
lifting = told(
    "prior-lifting", "Section 2, on block coordinate descent",
    "which is then extended by Gu et al. [16], Mangold et al. [24].",
    "the lifting of [35] is extended in [16] and [24]",
    f"{_ELSEWHERE}; by its title in the reference list [24] is about private coordinate descent for composite "
    "empirical risk, not about lifting networks, and so a private block method before this one",
)
enforced = told(
    "prior-lipschitz", "Section 2, on Lipschitz networks",
    "it is challenging to accurately enforce the Lipschitz constant of neural networks. Gouk et al. [15] address this "
    "challenge by using power iteration to approximate the layerwise Lipschitz constant.",
    "Lipschitz constants of networks are hard to enforce, and [15] approximates them by power iteration",
    f"{_ELSEWHERE}; what one power iteration guarantees is checked in eq-2-reading-estimate",
)
novel = told(
    "adaptive-novel", "abstract",
    "in contrast to existing methods, we adopt a novel approach by utilizing calibrated noise sampled from adaptive "
    "distributions",
    "existing methods do not use noise from adaptive distributions", f"priority is not computed, and {_ELSEWHERE}",
)
change_rate = told(
    "change-rate", "Section 4.2, before Assumption 4.4 and after Corollary 4.5",
    "It is an extension of Ye and Shokri [32, Lemma 3.2] to the cases of non-convex loss functions, proximal gradient "
    "descent and adaptive calibrated noise.",
    "the change rate of the divergence in one step extends Lemma 3.2 of Ye and Shokri",
    "the lemma that is meant, and the c_t that Section 4.2 says it has, do not stand in the document",
)
part_of_epoch = told(
    "prior-part-of-epoch", "after Theorem 4.6, why it is tighter",
    r"By contrast, Ye and Shokri [32] approximate the bound $\varepsilon_K(\alpha, j_0)$ by part of iterations in one "
    "epoch rather than the whole epoch.",
    "Ye and Shokri take part of an epoch's iterations where Theorem 4.6 takes all", _ELSEWHERE,
)
trade_off = told(
    "prior-trade-off", "Section 4.3, end",
    "which is consistent with the utility-privacy trade-off [2, 3].",
    "that less noise is better for utility agrees with the trade-off of [2] and [3]", _ELSEWHERE,
)
effective = told(
    "effective", "Section 5", "The experiment results validate the effectiveness of Algorithm 2.",
    "the experiments validate the effectiveness of Algorithm 2",
    "the runs cannot be repeated from what is printed (table-1-underspecified), and no other method was run beside it; "
    "after 10 epochs it is at chance level (table-1-chance)",
)
machine = told(
    "one-gpu", "Section 5", "All the experiments can be efficiently executed on a single NVIDIA RTX 5000 Ada GPU.",
    "all experiments run efficiently on one graphics card", "the runs and the machine are not at hand",
)
