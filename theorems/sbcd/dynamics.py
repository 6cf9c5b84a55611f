r"""Section 4 of document 001 over many steps: log-Sobolev constants, decay, convergence, and what it is compared with.

Units: eta = 1/2, S_g = b = 1: a touch adds a = 1/(8 o) to rho = R_alpha/alpha and a step's noise has variance o. With
q = (L_F L_T)^2 the law's spread V = 1/c obeys V' = q V + L_T^2 o, and a step without the record multiplies rho by
q V / V' < 1 (the repaired Corollary 4.5). So rho never exceeds the sum of the touches, linear in the epochs, which is
composition. If q < 1, V tends to a fixed point where that factor is q, and with N >= 2 batches rho at the end of an
epoch, the record in the last batch, converges to a/(1 - q^{N-1}). If q = 1 or q > 1 the factors tend to 1 too fast, and
rho grows linearly. With one batch every step is a touch and nothing decays. A touch in the very last step has the decay
1, an empty product, so "smaller than 1" is too much even when the indices of (11) are set right.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.sbcd.accounting import BlockSetting, recursion, spread
from theorems.sbcd.closed_form import PRINTED, REPAIRED, Form, proved
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, cited, proof, refuted, undecided

ONE = Fraction(1)


def setting(
    epochs: int, batches: int, *, before: int | None = None, gradient: Fraction = ONE, prox: Fraction = ONE
) -> BlockSetting:
    """A block with unit noise; the record stands in the last batch unless said otherwise."""
    return BlockSetting((ONE,) * epochs, batches, batches - 1 if before is None else before, gradient, prox)


def judge_variance(time: Callable[[sympy.Symbol], sympy.Expr], given: Domain) -> Finding:
    """Whether the noise of (9), 2 time o, is that of (8), 2 eta o, for every eta."""
    eta = sympy.symbols("eta", positive=True)
    gap = sympy.simplify(2 * time(eta) - 2 * eta)
    if gap == 0:
        return proof(argued("2 eta o on both sides"))
    return refuted(
        "the time of the process is not the step size before its end",
        {"eta": "2", "t": str(time(sympy.Integer(2))), "variance of (8)": "4 o",
                    "variance of (9)": f"{2 * time(sympy.Integer(2))} o"},
    )


def judge_touch(gain: Callable[..., sympy.Expr], given: Domain) -> Finding:
    """Whether a step with the record adds at most gain(eta, S, b, o): its mean moves by eta S/b, variance 2 eta o."""
    eta, s, b, o = sympy.symbols("eta S b o", positive=True)
    true = (eta * s / b) ** 2 / (2 * (2 * eta * o))
    if sympy.simplify(gain(eta, s, b, o) - true).is_nonnegative:
        return proof(argued(
            "R_alpha/alpha of two Gaussians is (difference of means)^2 / (2 variance) (computer algebra); "
            "it adds up by composition, and T is post-processing"
        ))
    at = {eta: 1, s: 1, b: 2, o: 1}
    if gain(eta, s, b, o).subs(at) >= true.subs(at):
        return undecided("enough at a point", 1)
    return refuted(
        "the Gaussian step, which attains it, loses more",
        {"eta": "1", "S_g": "1", "b": "2", "o": "1", "claimed": str(gain(eta, s, b, o).subs(at)),
                    "exact": str(true.subs(at))},
    )


def judge_constants(exponent: Callable[[Any, Any, Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether Lemma 4.7's sum, with that exponent of L_F L_T halved for (k, k', j, j', N), solves the recursion."""
    tried = 0
    for gradient, prox in ((Fraction(1, 2), Fraction(1, 3)), (Fraction(2), Fraction(1)), (Fraction(1), Fraction(3, 4))):
        for batches, k, j in ((2, 0, 1), (2, 1, 1), (3, 2, 0), (3, 1, 2)):
            tried += 1
            noise = tuple(Fraction(n + 1, n + 2) for n in range(k + 1))
            q = (gradient * prox) ** 2
            steps = [(e, i) for e in range(k) for i in range(batches)] + [(k, i) for i in range(j)]
            # 1/c = 2 eta L_T^2 sum o q^exponent; the recursion is 1/c' = L_T^2 (L_F^2/c + 2 eta o), eta = 1/2.
            closed = prox**2 * sum((noise[e] * q ** exponent(k, e, j, i, batches) for e, i in steps), Fraction(0))
            true = spread(BlockSetting(noise, batches, 0, gradient, prox), k, j)
            if closed != true:
                return refuted(
                    "the sum does not solve the recursion, exactly",
                    {"L_F": str(gradient), "L_T": str(prox), "batches": str(batches), "k": str(k), "j": str(j),
                     "noise": ", ".join(map(str, noise)), "1/c by the sum": str(closed), "1/c": str(true)},
                )
    k, e, j, i, n = sympy.symbols("k e j i n", integer=True)
    raised = exponent(k, e, j + 1, i, n) - exponent(k, e, j, i, n) - 1
    own = exponent(k, k, i + 1, i, n)
    renamed = exponent(k + 1, e, 0, i, n) - exponent(k, e, n, i, n)  # step n of an epoch is step 0 of the next
    if any(sympy.expand(gap) != 0 for gap in (raised, own, renamed)):
        return undecided("no case fails", tried)
    return proof(argued(
        "by induction (the exponents as polynomials of their indices, computer algebra): a step multiplies the sum by "
        "q, which raises every exponent by one, and adds its own term with exponent 0; the last step of an epoch is "
        f"the start of the next; equal to the recursion in exact rationals at {tried} settings"
    ))


def judge_decay(says: tuple[Form, bool], given: Domain) -> Finding:
    """Whether the decay of a form is below 1 (strictly if asked), and falls strictly as epochs are added, N >= 2."""
    form, strict = says
    tried = 0
    for gradient in (Fraction(9, 10), ONE, Fraction(11, 10)):
        for batches in (2, 3):
            for before in range(batches):
                for epoch in range(2):
                    values = [
                        form.decay(setting(epochs, batches, before=before, gradient=gradient), epoch)
                        for epochs in range(epoch + 1, epoch + 4)
                    ]
                    tried += 1
                    known = [v for v in values if v is not None]
                    falling = all(later < earlier for earlier, later in itertools.pairwise(known))
                    if len(known) < len(values) or max(known) > 1 or (strict and max(known) == 1) or not falling:
                        return refuted(
                            "not below 1 and falling with the epochs",
                            {"L_F": str(gradient), "batches": str(batches), "j_0": str(before), "epoch": str(epoch),
                             "decay after 1, 2, 3 epochs": ", ".join(
                                 "division by zero" if v is None else str(v) for v in values
                             )},
                        )
    if strict or not proved(form):
        return undecided("no case fails", tried)
    return proof(argued(
        "the form is the product, over the steps without the record that follow, of 1/(1 + 2 eta o c/L_F^2) < 1 "
        "(thm-4.6-repaired's induction); no step follows the last one, where it is 1, and an epoch of two or more "
        f"batches adds some; exact at {tried} settings"
    ))


def judge_growth(says: tuple[str, Callable[[Any], Any]], given: Domain) -> Finding:
    """Whether R/alpha after K epochs is "at least" or "at most" so many touches, for every L_F >= 1 and n/b."""
    relation, touches = says
    cases = [(g, n, k) for g in (ONE, Fraction(11, 10), Fraction(2)) for n in (1, 2) for k in (1, 2, 8, 16)]
    for gradient, batches, epochs in cases:
        true = 8 * recursion(setting(epochs, batches, gradient=gradient))
        if true > {"at least": epochs, "at most": touches(epochs)}[relation]:
            return refuted(
                "the recursion itself is larger",
                {"L_F": str(gradient), "batches": str(batches), "epochs": str(epochs),
                            "touches": str(true), "claimed": str(touches(epochs))},
            )
    if relation == "at least":
        for epochs in range(1, 400):
            if touches(epochs) > epochs:
                return refuted(
                    "every factor of the recursion is at most 1, so K epochs lose at most K touches, whatever L_F",
                    {"L_F": "1", "batches": "2", "epochs": str(epochs), "touches at most": str(epochs),
                     "claimed": f"{float(touches(epochs)):.6g}"},
                )
    epochs_ = sympy.symbols("K", positive=True)
    if relation == "at least" or sympy.simplify(touches(epochs_) - epochs_).is_nonnegative is not True:
        return undecided("no case fails", len(cases))
    return proof(argued(
        "every factor 1/(1 + 2 eta o c/L_F^2) is at most 1, so the loss is at most the sum of the touches, "
        f"linear in K, whatever L_F; exact at {len(cases)} cases"
    ))


def judge_convergence(converges: Callable[[Fraction, int], bool], given: Domain) -> Finding:
    """Hold a rule (q, batches) -> whether rho converges as the epochs grow against the recursion and its limit."""
    cases = [(g, n) for g in (Fraction(1, 2), Fraction(9, 10), ONE, Fraction(3, 2)) for n in (1, 2, 3)]
    for gradient, batches in cases:
        q = gradient**2
        early, late = (recursion(setting(epochs, batches, gradient=gradient)) for epochs in (12, 24))
        limit = Fraction(1, 8) / (1 - q ** (batches - 1)) if q < 1 and batches > 1 else None
        rate = q ** (6 * (batches - 1))  # of twelve epochs; half the exponent leaves room for the spread to settle
        truly = limit is not None and early <= late <= limit and limit - late <= (limit - early) * rate
        grows = late - early > Fraction(12, 8) / 3  # at least a third of a touch for each further epoch
        if truly == grows:
            return undecided(f"q = {q}, N = {batches}: unclear", len(cases))
        if converges(q, batches) != truly:
            return refuted(
                "the recursion behaves otherwise, in exact rationals",
                {"L_F L_T": str(gradient), "batches": str(batches), "R/alpha after 12 epochs": f"{float(early):.6f}",
                 "R/alpha after 24 epochs": f"{float(late):.6f}", "limit": "none" if limit is None else str(limit)},
            )
    return at_points(
        f"for q < 1 and two or more batches it tends to a/(1 - q^(N-1)), else it grows linearly ({len(cases)} cases "
        "exactly; the module docstring has the fixed point)",
        Scope("points", len(cases), len(cases)),
    )


def judge_prox(sign: int, given: Domain) -> Finding:
    """Whether the bound over several epochs grows (1) or falls (-1) with L_T."""
    tried = 0
    for gradient in (Fraction(1, 2), ONE):
        for batches, epochs in ((2, 3), (3, 2)):
            tried += 1
            small, large = (
                recursion(setting(epochs, batches, gradient=gradient, prox=prox)) for prox in (Fraction(1, 2), ONE)
            )
            if sign * (large - small) <= 0:
                return refuted(
                    "the bound moves the other way, exactly",
                    {"L_F": str(gradient), "batches": str(batches), "epochs": str(epochs), "L_T = 1/2": str(small),
                     "L_T = 1": str(large)},
                )
    return at_points(
        "a smaller L_T keeps the law tighter, which raises the log-Sobolev constants and speeds the decay",
        Scope("points", tried, tried),
    )


def judge_sensitivity(share: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether S_g/b = share(change, n, b) bounds how far a batch's mean moves when one of n gradients changes so."""
    change, records, batch = sympy.symbols("change n b", positive=True)
    at = (Fraction(2), Fraction(4), Fraction(2))  # of four gradients, in batches of two, one changes from -1 to 1
    assumed, moved = share(*at), at[0] / at[2]
    if assumed < moved:
        return refuted(
            "the batch's mean moves farther than S_g / b",
            {"n": "4", "b": "2", "gradients": "1 instead of -1", "S_g": str(assumed * at[2]),
                        "S_g / b": str(assumed), "moved": str(moved)},
        )
    if sympy.simplify(share(change, records, batch) - change / batch).is_nonnegative is not True:
        return undecided("one case does not fail", 1)
    return proof(argued("one record changes the sum by S_g and the mean of its batch by S_g / b"))


def not_at_hand(_: object, given: Domain) -> Finding:
    """Theorem 3.3 of Ye and Shokri would be needed."""
    return cited(
        Verdict.NOT_CHECKABLE,
        "the text of Ye and Shokri (2022), Theorem 3.3, is not at hand, so neither bound can be compared",
    )


_BLOCK = (positive("eta"), positive("noise"), positive_integer("batches"), positive_integer("epochs"),
          non_negative("lipschitz_gradient"), non_negative("lipschitz_prox"))
_DECAY = (positive("noise"), replace(positive_integer("batches"), low=Fraction(2)), positive("lipschitz_gradient"))

variance = Claim(
    id="sbcd/eq-9-t", source="001, (9): N(0, 2t o(eta, k, j) I), t the time in the process",
    quote=(
        r"\tilde{\Theta} = T_{\#}(F_{\#}(\Theta) * \mathcal{N}(0, 2t \cdot o(\eta, k, j) \mathbb{I}_d)) "
        r"\quad (9)"
    ),
    whose=Whose.TYPO,
    statement=r"\mathcal{N}(0, 2t\, o) = \mathcal{N}(0, 2\eta\, o) \text{ for all } t \in [0, \eta]",
    words="the noise of (9), 2 t o, is the noise of (8), at every time of the process",
    hypotheses=_BLOCK, says=lambda eta: eta / 2, check=judge_variance,

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\tilde\Theta = T_\#(F_\#(\Theta) * \mathcal{N}(0, 2\eta\, o(\eta,k,j)))",
        words="the noise of (9) is 2 eta o, that of (8)",
        says=lambda eta: eta,
        expected="HOLDS ARGUED",
        source="001, (9) with 2 eta o",
        flips=(Flip("t = eta^2", lambda eta: eta**2, Verdict.REFUTED),),
    ),
)
touch = Claim(
    id="sbcd/cor-4.5-case2", source="001, Corollary 4.5, case 2 (o where it prints sigma)",
    quote=(
        r"\text{ is upper bounded by } \frac{R_\alpha(\theta_k^j \|\theta'^j\|)}{\alpha} + \frac{\eta "
        r"S_g^2}{4b^2 \cdot \sigma(\eta, k, j)}."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\frac{R_\alpha'}{\alpha} \le \frac{R_\alpha}{\alpha} + \frac{\eta S_g^2}{4b^2 o}",
    words="a step with the record adds eta S^2/(4 b^2 o) to R/alpha",
    hypotheses=_BLOCK, says=lambda eta, s, b, o: eta * s**2 / (4 * b**2 * o), check=judge_touch,
    flips=(
        Flip("8 in place of 4", lambda eta, s, b, o: eta * s**2 / (8 * b**2 * o), Verdict.REFUTED),
        Flip("2 in place of 4, which is weaker", lambda eta, s, b, o: eta * s**2 / (2 * b**2 * o), Verdict.HOLDS),
    ),
    uses=("sbcd/assump-4.4",), rests_on=("sbcd/assump-4.4-repaired",),
    expected="HOLDS ARGUED",
)
lemma_4_7 = Claim(
    id="sbcd/lem-4.7", source="001, Lemma 4.7",
    quote="satisfies c_k^j log-Sobolev inequality (LSI) and the constant c_k^j is calculated by:",
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=(
        r"\frac{1}{c_k^j} = 2\eta L_T^2 \Big(\sum_{k'<k}\sum_{j'} o_{k'}(L_F L_T)^{2((k-k')n/b - j' + j - 1)} +"
        r" \sum_{j'<j} o_k (L_F L_T)^{2(j-j'-1)}\Big)"
    ),
    words="the closed form of the log-Sobolev constants solves the one-step recursion from a fixed start",
    hypotheses=_BLOCK, says=lambda k, e, j, i, n: (k - e) * n + j - i - 1, check=judge_constants,
    flips=(
        Flip("without the -1", lambda k, e, j, i, n: (k - e) * n + j - i, Verdict.REFUTED),
        Flip("j' and j exchanged", lambda k, e, j, i, n: (k - e) * n + i - j + 1, Verdict.REFUTED),
    ),
    uses=("sbcd/lem-4.1", "sbcd/lem-4.2", "sbcd/norm-nonexpansive"),
    expected="HOLDS ARGUED",
)
decays = Claim(
    id="sbcd/decay-lt-1", source="001, after Lemma 4.7: Algorithm 2 keeps the decay below 1 and falling with K",
    quote=(
        "More importantly, Algorithm 2 maintains the decay rate term smaller than 1 and decreases with the "
        "increase in K ."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PROOF,
    statement=r"\left(\frac{c_k^{j_0+1}}{c_K^{n/b-1}} \left(\frac{1}{L_F^2 L_T^2}\right)^{(n/b-1)(K-k)-j_0}"
              r" \prod_{l=k}^{K} \frac{c_l^{j_0+1}}{c_l^{j_0}}\right)^{-1} < 1",
    words="the decay factor of (11), as printed, is below 1 and falls as K grows",
    hypotheses=_DECAY, says=(PRINTED, True), check=judge_decay,
    uses=("sbcd/thm-4.6-eq-11", "sbcd/lem-4.7"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\prod \left(1 + \frac{2\eta o\, c}{L_F^2}\right)^{-1} \le 1,"
            r" \text{ with equality only for } k = K - 1,\ j_0 = n/b - 1,"
            r" \text{ falling with } K \text{ for } n/b \ge 2",
        words=(
            "with the indices set right the decay is at most 1, is 1 only for a touch in the last step, and "
            "falls with K"
        ),
        says=(REPAIRED, False),
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, after Lemma 4.7, for the decay that Corollary 4.5 gives step by step",
        flips=(
            Flip("below 1 for every touch", (REPAIRED, True), Verdict.REFUTED),
            Flip("with the printed indices", (PRINTED, False), Verdict.REFUTED),
        ),
        rests_on=("sbcd/thm-4.6-repaired", "sbcd/cor-4.5-case1-repaired"),
    ),
)
exponential = Claim(
    id="sbcd/intro-exponential", source="001, Section 1: otherwise, the privacy loss will increase exponentially",
    quote="Otherwise, the privacy loss will *increase exponentially*.",
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\text{not strongly convex} \implies \frac{R_\alpha}{\alpha} \ge 1.1^{K-1}\,\frac{\eta S_g^2}{4b^2 o}",
    words="without strong convexity the hidden-state privacy loss grows exponentially, by 1.1 an epoch, say",
    hypotheses=_BLOCK, says=("at least", lambda epochs: Fraction(11, 10) ** (epochs - 1)), check=judge_growth,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{R_\alpha}{\alpha} \le K\,\frac{\eta S_g^2}{4b^2 o} \text{ whatever } L_F",
        words=(
            "without strong convexity the hidden-state privacy loss grows at most linearly: it is below "
            "composition's"
        ),
        says=("at most", lambda epochs: epochs),
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Section 1, with what composition gives",
        flips=(Flip("half of it", ("at most", lambda epochs: Fraction(1, 2) * epochs), Verdict.REFUTED),),
        rests_on=("sbcd/cor-4.5-case1-repaired", "sbcd/cor-4.5-case2"),
    ),
)
convergence = Claim(
    id="sbcd/convergence-const", source="001, Section 4.3: with constant noise the privacy loss converges",
    quote=(
        r"when $o(\eta, k, j)$ is a constant, an equilibrium solution emerges between the privacy loss and the "
        "decay rate after several epochs, resulting in the convergence of privacy loss under the hidden state "
        "assumption."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"o \text{ constant} \implies \lim_{K \to \infty} \varepsilon_K(\alpha, j_0) < \infty",
    words="with constant noise the privacy loss of Theorem 4.6 converges as the epochs grow",
    hypotheses=_BLOCK, says=lambda q, batches: True, check=judge_convergence,
    uses=("sbcd/thm-4.6-eq-11", "sbcd/lem-4.7"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=(
            r"\lim_{K} \frac{\varepsilon_K}{\alpha} = \frac{\eta S_g^2}{4b^2 o}\,\frac{1}{1 - (L_F"
            r" L_T)^{2(n/b-1)}}"
            r" \iff L_F L_T < 1,\ n/b \ge 2 \quad (j_0 = n/b - 1)"
        ),
        words="with constant noise the privacy loss converges exactly for L_F L_T < 1 and two or more batches",
        says=lambda q, batches: q < 1 and batches > 1,
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Section 4.3, for contractions",
        flips=(Flip("for L_F L_T <= 1", lambda q, batches: q <= 1 and batches > 1, Verdict.REFUTED),),
        rests_on=("sbcd/thm-4.6-repaired", "sbcd/lem-4.7"),
    ),
)
smaller_prox = Claim(
    id="sbcd/smaller-LT", source="001, after Corollary 4.5: the smaller L_T^2 is, the better the guarantee",
    quote="The smaller L_T^2 is, the better privacy guarantee will be obtained.",
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\frac{\partial \varepsilon_K}{\partial L_T} > 0 \text{ (through the log-Sobolev constants)}",
    words="over several epochs a smaller L_T gives a smaller privacy loss",
    hypotheses=_BLOCK, says=1, check=judge_prox, flips=(Flip("a larger one", -1, Verdict.REFUTED),),
    uses=("sbcd/cor-4.5-case1",), rests_on=("sbcd/cor-4.5-case1-repaired",),
    expected="HOLDS CHECKED_AT_POINTS",
)
sensitivity = Claim(
    id="sbcd/assump-4.4", source="001, Assumption 4.4: S_g is the sensitivity of E_D grad F, and enters as S_g/b",
    quote=r"The l_2 sensitivity of the total gradient $\mathbb{E}_D \nabla \mathcal{F}(\theta)$ is finite.",
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"S_g = \max \lVert \mathbb{E}_D \nabla\mathcal{F} - \mathbb{E}_{D'} \nabla\mathcal{F} \rVert_2",
    words="S_g/b, with S_g the sensitivity of the mean gradient over the data, bounds how far a batch's mean moves",
    hypotheses=_BLOCK, says=lambda change, n, b: change / n / b, check=judge_sensitivity,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"S_g = \max \left\lVert \sum_{D} \nabla\mathcal{F} - \sum_{D'} \nabla\mathcal{F} \right\rVert_2",
        words="S_g/b, with S_g the sensitivity of the summed gradient, bounds how far a batch's mean moves",
        says=lambda change, n, b: change / b,
        expected="HOLDS ARGUED",
        source="001, Assumption 4.4 with the sum over D",
    ),
)
tighter = Claim(
    id="sbcd/tighter-than-YS33", source="001, after Theorem 4.6: tighter than Ye and Shokri (2022), Theorem 3.3",
    quote=(
        "even when downgrading to the case of gradient descent with calibrated noise sampled from fixed "
        "distributions, Theorem 4.6 has a tighter bound than previous work [32, Theorem 3.3]."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\varepsilon_K^{(11)}(\alpha) \le \varepsilon_K^{\mathrm{YS}}(\alpha)",
    words="without a proximal map and with fixed noise, Theorem 4.6 is tighter than Theorem 3.3 of Ye and Shokri",
    hypotheses=_BLOCK, says=None, check=not_at_hand,
    expected="NOT_CHECKABLE CITED",
)
