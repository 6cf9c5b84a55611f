r"""Section 4 of document 001 over many steps: decay, growth, convergence, and what it is compared with.

Units: eta = 1/2, S_g = b = 1: a touch adds a = 1/(8 o) to rho = R_alpha/alpha and a step's noise has variance o. With
q = (L_F L_T)^2 the law's spread V = 1/c obeys V' = q V + L_T^2 o, and a step without the record multiplies rho by
f = q V / V' < 1 (the repaired Corollary 4.5). So rho never exceeds the sum of the touches, linear in the epochs, which
is composition. With W = V/L_T^2 it is W' = q W + o and f = q W/(q W + o): all that rho is made of grows with q.

From a fixed start W_t = o (1 - q^t)/(1 - q), so over the N - 1 steps between two touches of a record in the last batch
the factors multiply to q^{N-1} (1 - y)/(1 - y q^{N-1}), y = q^{kN}: for q < 1 below q^{N-1} and tending to it, so that
rho' = f rho + a stays below a/(1 - q^{N-1}) and tends to it. For q = 1 the exact law of F = identity is K/(8N) and
grows; the bound of q > 1 is larger still; with one batch every step is a touch. A touch in the very last step has the
decay 1, an empty product, so "smaller than 1" is too much even when the indices of (11) are set right.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from oracle.core.domain import positive, positive_integer
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.sbcd.network.algebra import never_negative
from theorems.sbcd.privacy.accounting import STEP, BlockSetting, exact_law, recursion
from theorems.sbcd.privacy.closed_form import PRINTED, REPAIRED, Form, induction
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

ONE = Fraction(1)


def setting(
    epochs: int, batches: int, *, before: int | None = None, gradient: Fraction = ONE, prox: Fraction = ONE,
    noise: Fraction = ONE,
) -> BlockSetting:
    """A block with constant noise; the record stands in the last batch unless said otherwise."""
    return BlockSetting((noise,) * epochs, batches, batches - 1 if before is None else before, gradient, prox)


def judge_decay(says: tuple[Form, bool], given: Domain) -> Finding:
    """Whether the decay of a form is at most 1 (below it, if asked), 1 only at the last step, and falls with K."""
    form, strict = says
    tried = 0
    simple: dict[str, Any] = {"noise": "1", "batches": 2, "lipschitz_gradient": "1", "lipschitz_prox": "1"}
    for point in led(given, at_most=12, most={"batches": 3}, **simple):
        gradient, prox, batches, noise = (
            point[name] for name in ("lipschitz_gradient", "lipschitz_prox", "batches", "noise")
        )
        for before, epoch in itertools.product(range(batches), range(2)):
            values = [
                form.decay(setting(epochs, batches, before=before, gradient=gradient, prox=prox, noise=noise), epoch)
                for epochs in range(epoch + 1, epoch + 4)
            ]
            tried += 1
            known = [v for v in values if v is not None]
            falling = all(later < earlier for earlier, later in itertools.pairwise(known))
            last = before == batches - 1 and not strict  # where a decay of 1 is no error, after one epoch
            above = any(v > 1 or (v == 1 and (i > 0 or not last)) for i, v in enumerate(known))
            if len(known) < len(values) or above or not falling:
                return refuted(
                    "not below 1 and falling with the epochs",
                    {"L_F": gradient, "L_T": prox, "noise": noise, "batches": batches, "j_0": before, "epoch": epoch,
                     "decay after 1, 2, 3 epochs": ", ".join(
                         "division by zero" if v is None else str(v) for v in values
                     )},
                )
    q, v, added = sympy.symbols("q V s", positive=True)
    factor = q * v / (q * v + added)
    k, ago, after = sympy.symbols("k d i", integer=True, nonnegative=True)
    size = given.chart("batches")  # n/b; d + 1 epochs from the touch on, and i batches after it in its own
    count = sympy.expand(form.exponent(k, k + 1 + ago, size, size - 1 - after))
    return proof(
        *induction(form),
        computed("each factor q V/(q V + L_T^2 o) lies strictly between 0 and 1",
                 factor.is_positive is True and (1 - factor).factor().is_positive is True),
        computed("(n/b - 1) d + i steps without the record follow a touch, none exactly if it is in the very last step",
                 vanishes(count - ((size - 1) * ago + after)) and (size - 1).is_positive is True),
        computed("the decay is not claimed to be below 1 at the last step", not strict),
        tried=tried,
    )


def judge_exponential(touches: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether K epochs lose at least touches(K, base, constant) touches; they lose at most K, whatever L_F."""
    count, base, constant = sympy.symbols("K", positive=True), given.chart("base"), given.symbol("constant")
    outgrows = sympy.limit(touches(count, base, constant) / count, count, sympy.oo) == sympy.oo
    for point in led(given, base="11/10", constant="1"):
        epochs = 1
        while epochs < 2**60 and not touches(arb(epochs), ball(point["base"]), ball(point["constant"])) > epochs:
            epochs *= 2
        if epochs < 2**60 and outgrows:
            return refuted(
                "K epochs lose at most K touches, whatever L_F, and every such exponential outgrows K",
                {"base": point["base"], "constant": point["constant"], "epochs": epochs, "touches at most": epochs},
            )
    return undecided("no base and constant tried outgrows K", 1)


def judge_linear(touches: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether K epochs of one noise lose at most touches(K) touches, whatever L_F, L_T and n/b."""
    tried = 0
    for point in given.points(at_most=40, most={"batches": 3, "epochs": 8}):
        epochs, batches, gradient, prox = (
            point[name] for name in ("epochs", "batches", "lipschitz_gradient", "lipschitz_prox")
        )
        for there in (setting(epochs, batches, gradient=gradient, prox=prox), setting(epochs, 1)):
            tried += 1
            if 8 * exact_law(there) > touches(epochs):
                return refuted(
                    "linear maps lose more, exactly",
                    {**there.witness(), "touches lost": 8 * exact_law(there), "claimed": touches(epochs)},
                )
    count = given.symbol("epochs")
    return proof(
        computed("one epoch more may add one touch, and none lose nothing, on symbols",
                 never_negative(sympy.simplify(touches(count + 1) - touches(count) - 1))
                 and never_negative(touches(sympy.Integer(0)))),
        argued("a step without the record is post-processing, so its factor is at most 1"),
        tried=tried,
    )


def judge_convergence(converges: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Hold a rule (1 - q, n/b - 1) -> whether rho converges as the epochs grow against the regimes of q and n/b."""
    tried = 0
    first = {"lipschitz_gradient": ONE, "lipschitz_prox": ONE, "batches": 2}  # where the true loss grows, too
    for point in (first, *given.points("lipschitz_gradient", "lipschitz_prox", "batches", at_most=150)):
        q, batches = (point["lipschitz_gradient"] * point["lipschitz_prox"]) ** 2, point["batches"]
        tried += 1
        if bool(converges(1 - q, batches - 1)) != (q < 1 and batches > 1):
            there = [setting(epochs, min(batches, 3), prox=ONE) for epochs in (12, 24)]
            return refuted(
                "the loss behaves otherwise", {
                    "L_F L_T": point["lipschitz_gradient"] * point["lipschitz_prox"], "batches": batches,
                    "exact R/alpha of F = T = identity after 12 and 24 epochs": ", ".join(
                        str(exact_law(one)) for one in there)})
    q_, y, more = sympy.symbols("q y s", positive=True)
    n, k = given.chart("batches") + 1, sympy.symbols("k", integer=True, positive=True)
    spread = (1 - q_**k) / (1 - q_)  # W_k / o; what follows telescopes q W/W' over N - 1 steps
    step = sympy.simplify(q_ * spread / (q_ * spread + 1) - q_ * (1 - q_**k) / (1 - q_ ** (k + 1)))
    share = 1 / (1 + more)  # q^{N-1}, anything between 0 and 1
    factor = share * (1 - y) / (1 - y * share)
    limit = sympy.solve(y * share + 1 - y, y)[0]
    inside = y / (1 + y)
    gap = sympy.factor(share - factor.subs(y, inside))
    epochs = sympy.symbols("K", positive=True)
    identity = (epochs / 2) ** 2 / (2 * epochs * n)  # K touches of 1/2 in K N steps of variance 1
    signs = itertools.product((y, sympy.Integer(0), -y), (k, sympy.Integer(0)))  # of 1 - q and of n/b - 1
    return proof(
        computed("the rule says so exactly if 1 - q and n/b - 1 are positive, on symbols of every sign",
                 [bool(converges(*pair)) for pair in signs] == [True] + 5 * [False]),
        computed("q W/(q W + o) = q (1 - q^k)/(1 - q^(k+1)) for W_k = o (1 - q^k)/(1 - q)", step == 0),
        computed("the factor between two touches, q^(N-1)(1 - y)/(1 - y q^(N-1)), is at most q^(N-1) and tends to it",
                 never_negative(gap) and vanishes(sympy.limit(factor, y, 0) - share)),
        computed("rho = q^(N-1) rho + a has the fixed point a/(1 - q^(N-1))", vanishes(limit - 1 / (1 - share))),
        argued("so rho converges to it for q < 1 and N >= 2"),
        computed("for q = 1 the exact law of F = T = identity, K/(8 N) touches' worth, grows without bound",
                 vanishes(identity - epochs / (8 * n))),
        argued("the bound of q > 1 is above that of q = 1, and for N = 1 it is the sum of the touches"),
        tried=tried,
    )


def judge_prox(falls: bool, given: Domain) -> Finding:
    """Whether the bound over several epochs never grows (or, if not `falls`, never falls) where L_T is made smaller."""
    tried, moved = 0, 0
    names = ("lipschitz_gradient", "lipschitz_prox", "batches", "epochs", "noise")
    for point in given.points(*names, at_most=25, most={"batches": 3, "epochs": 3}):
        gradient, prox, batches, epochs, noise = (point[name] for name in names)
        small, large = (
            recursion(setting(epochs, batches, gradient=gradient, prox=size, noise=noise)) for size in (prox / 2, prox)
        )
        tried += 1
        moved += small != large
        if (small > large) if falls else (small < large):
            return refuted(
                "the bound moves the other way, exactly",
                {"L_F": gradient, "batches": batches, "epochs": epochs, "noise": noise, "L_T": prox,
                 "bound at L_T": large, "bound at L_T/2": small},
            )
    w, o = sympy.symbols("W o", positive=True)
    q = sympy.symbols("q", positive=True)
    factor, later = q * w / (q * w + o), q * w + o
    rises = [never_negative(sympy.diff(part, by)) for part in (factor, later) for by in (q, w)]
    rho, slope, bend = sympy.symbols("rho r f", nonnegative=True)  # rho, its derivative and that of the factor
    return proof(
        computed("W' = q W + o and the factor q W/(q W + o) grow with q and with W, so both grow with q, by induction",
                 all(rises)),
        computed("so does rho, times such a factor or plus a touch: the derivative f' rho + f rho' is >= 0",
                 never_negative(bend * rho + factor * slope)),
        computed("some settings tried differ, and in the direction claimed", moved > 0 and falls),
        tried=tried,
    )


def judge_prox_step(relation: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the loss after a step, T = L_T, stands so to that for twice the L_T: N(1, v) and N(0, v), exactly."""
    def after(v: Any, added: Any, slope: Any, prox: Any) -> Any:
        return (prox * slope) ** 2 / (2 * prox**2 * (slope**2 * v + added))

    tried = 0
    for at in led(given, eta="1/2", noise="1", spread="1", lipschitz_gradient="1", lipschitz_prox="1/2"):
        shape, prox = (at["spread"], 2 * at["eta"] * at["noise"], at["lipschitz_gradient"]), at["lipschitz_prox"]
        tried += 1
        if not relation(after(*shape, prox), after(*shape, 2 * prox)):
            return refuted("a linear T, one-to-one, changes no divergence, exactly", {
                "L_T": f"{prox} and {2 * prox}", "L_F": shape[2], "1/c": shape[0], "2 eta o": shape[1],
                "R/alpha after": f"{after(*shape, prox)} and {after(*shape, 2 * prox)}",
            })
    v, slope, prox = (given.symbol(name) for name in ("spread", "lipschitz_gradient", "lipschitz_prox"))
    added = 2 * given.symbol("eta") * given.symbol("noise")
    small, large = (sympy.simplify(after(v, added, slope, size)) for size in (prox, 2 * prox))
    return proof(computed("L_T cancels in the loss after a linear step, on symbols", bool(relation(small, large))),
                 tried=tried)


_BLOCK = (
    positive("noise"), positive_integer("batches"), positive_integer("epochs"), positive("lipschitz_gradient"),
    positive("lipschitz_prox"),
)
_DECAY = (
    positive("noise"), replace(positive_integer("batches"), low=Fraction(2)), positive("lipschitz_gradient"),
    positive("lipschitz_prox"),
)
_EXPONENTIAL = "Otherwise, the privacy loss will *increase exponentially*."

decays = Claim(
    id="sbcd/decay-lt-1", source="001, after Lemma 4.7: Algorithm 2 keeps the decay below 1 and falling with K",
    quote=(
        "More importantly, Algorithm 2 maintains the decay rate term smaller than 1 and decreases with the "
        "increase in K ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\left(\frac{c_k^{j_0+1}}{c_K^{n/b-1}} \left(\frac{1}{L_F^2 L_T^2}\right)^{(n/b-1)(K-k)-j_0}"
              r" \prod_{l=k}^{K} \frac{c_l^{j_0+1}}{c_l^{j_0}}\right)^{-1/L_T^2} < 1",
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
        expected="HOLDS PROVED",
        source="001, after Lemma 4.7, for the decay that the recursion of Corollary 4.5, repaired, has step by step",
        flips=(
            Flip("below 1 for every touch", (REPAIRED, True), Verdict.REFUTED),
            Flip("with the printed indices", (PRINTED, False), Verdict.REFUTED),
        ),
        rests_on=("sbcd/thm-4.6-form", "sbcd/lem-4.7"),
        true_variants={
            **dict.fromkeys(("* [[]last] [[]1] sign", "* [[]last] [[]1] 1 % *", "* [[]last] [[]1] squared"),
                            "0 is itself times, or to the power of, anything"),
            "* [[]power] squared": "1 is its square",
        },
    ),
)
exponential = Claim(
    id="sbcd/intro-exponential", source="001, Section 1: otherwise, the privacy loss will increase exponentially",
    quote=_EXPONENTIAL,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\text{not strongly convex} \implies \text{the privacy loss increases exponentially}",
    words="without strong convexity the privacy loss increases exponentially: the loss itself, or what theorems bound",
    hypotheses=_BLOCK, says=None, check=None,
    readings=("sbcd/intro-exponential-reading-loss", "sbcd/intro-exponential-reading-bounds"),
    expected="AMBIGUOUS CITED",
    repair=Repair(
        statement=r"\frac{R_\alpha}{\alpha} \le K\,\frac{\eta S_g^2}{4b^2 o} \text{ whatever } L_F",
        words=(
            "without strong convexity the hidden-state privacy loss grows at most linearly: it is below "
            "composition's"
        ),
        says=lambda epochs: epochs, check=judge_linear,
        expected="HOLDS ARGUED",
        source="001, Section 1, with what composition gives: one noise, one touch an epoch",
        flips=(Flip("half of it", lambda epochs: Fraction(1, 2) * epochs, Verdict.REFUTED),),
        rests_on=("sbcd/cor-4.5-case2", "sbcd/norm-post-processing"),
        true_variants={"1 % more": "a larger bound is a bound, too", "squared": "a larger bound is a bound, too",
                   "any lipschitz_*": "whatever L_F and L_T", "any noise": "touches are the unit: noise is not used"},
    ),
)
exponential_loss = reading(
    exponential, "loss", source="001, Section 1: the hidden-state loss itself grows exponentially",
    statement=r"L_F \ge 1 \implies \frac{R_\alpha}{\alpha} \ge C r^{K-1}\,\frac{\eta S_g^2}{4b^2 o}"
              r" \text{ for some } r > 1, C > 0",
    words="without strong convexity the hidden-state privacy loss grows like C r^K, for some r > 1",
    hypotheses=(positive("base", "r").above(1), positive("constant", "C")),
    says=lambda epochs, base, constant: constant * base ** (epochs - 1), check=judge_exponential,
    flips=(Flip("a share of linear growth", lambda epochs, base, constant: epochs / (1 + base), Verdict.UNDECIDED),),
    rests_on=("sbcd/intro-exponential-repaired",), expected="REFUTED ARGUED",
)
exponential_bounds = reading(
    exponential, "bounds", source="001, Section 1: the bounds of existing theorems do", severity=Stake.UTILITY,
    statement=r"\text{existing bounds grow exponentially without strong convexity}",
    words="what existing theorems bound the hidden-state loss by grows exponentially without strong convexity",
    hypotheses=(), says=None,
    check=citing(Verdict.NOT_CHECKABLE, "which theorems are meant is not said, and their texts are not at hand"),
    expected="NOT_CHECKABLE CITED",
)
convergence = Claim(
    id="sbcd/convergence-const", source="001, Section 4.3: with constant noise the privacy loss converges",
    quote=(
        r"when $o(\eta, k, j)$ is a constant, an equilibrium solution emerges between the privacy loss and the "
        "decay rate after several epochs, resulting in the convergence of privacy loss under the hidden state "
        "assumption."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"o \text{ constant} \implies \lim_{K \to \infty} \varepsilon_K(\alpha, j_0) < \infty",
    words="with constant noise the privacy loss of Theorem 4.6 converges as the epochs grow",
    hypotheses=_BLOCK[1:2] + _BLOCK[3:], says=lambda less, more: True, check=judge_convergence,
    uses=("sbcd/thm-4.6-eq-11", "sbcd/lem-4.7"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=(
            r"\lim_{K} \frac{\varepsilon_K}{\alpha} = \frac{\eta S_g^2}{4b^2 o}\,\frac{1}{1 - (L_F"
            r" L_T)^{2(n/b-1)}}"
            r" \iff L_F L_T < 1,\ n/b \ge 2 \quad (j_0 = n/b - 1)"
        ),
        words="with constant noise the bound of Theorem 4.6, repaired, converges exactly for L_F L_T < 1 and two or "
              "more batches",
        says=lambda less, more: less > 0 and more > 0,
        expected="HOLDS ARGUED",
        source="001, Section 4.3, for contractions",
        flips=(Flip("for L_F L_T <= 1", lambda less, more: less >= 0 and more > 0, Verdict.REFUTED),),
        rests_on=("sbcd/thm-4.6-form", "sbcd/lem-4.7"),
        true_variants={"any batches": "below one batch nothing is run, and both say so",
                       "any lipschitz_*": "only the square of L_F L_T enters"},
    ),
)
smaller_prox = Claim(
    id="sbcd/smaller-LT", source="001, after Corollary 4.5: the smaller L_T^2 is, the better the guarantee",
    quote="The smaller L_T^2 is, the better privacy guarantee will be obtained.",
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"L_T < L_T' \implies \varepsilon_K(L_T) < \varepsilon_K(L_T')",
    words="a smaller L_T gives a better guarantee: of the step that it belongs to, or of several epochs",
    hypotheses=_BLOCK, says=None, check=None,
    readings=("sbcd/smaller-LT-reading-step", "sbcd/smaller-LT-reading-epochs"),
    uses=("sbcd/cor-4.5-case1",),
    expected="AMBIGUOUS ARGUED",
)
smaller_prox_step = reading(
    smaller_prox, "step", source="001, after Corollary 4.5, of the decay in its case 1",
    statement=r"L_T < L_T' \implies R_\alpha(\text{after} ; L_T) < R_\alpha(\text{after} ; L_T')",
    words="a step without the record loses less for a smaller L_T",
    hypotheses=STEP[1:], says=operator.lt, check=judge_prox_step, flips=(Flip("as much", operator.eq, Verdict.HOLDS),),
    repaired_by="sbcd/smaller-LT-reading-epochs", expected="REFUTED PROVED",
)
smaller_prox_epochs = reading(
    smaller_prox, "epochs", source="001, after Corollary 4.5, through the log-Sobolev constants of several epochs",
    statement=r"L_T \le L_T' \implies \varepsilon_K(L_T) \le \varepsilon_K(L_T') \text{ (through the log-Sobolev"
              r" constants)}",
    words="over several epochs a smaller L_T never gives a larger bound",
    says=True, check=judge_prox, flips=(Flip("a larger one", False, Verdict.REFUTED),),
    rests_on=("sbcd/cor-4.5-case1-repaired",),
    true_variants={"any lipschitz_*": "only the squares of L_F and L_T enter"}, expected="HOLDS ARGUED",
    survivors=dict.fromkeys(("any batches", "any epochs"), "a run of less than one batch or epoch has no loss"),
)
tighter = Claim(
    id="sbcd/tighter-than-YS33", source="001, after Theorem 4.6: tighter than Ye and Shokri (2022), Theorem 3.3",
    quote=(
        "even when downgrading to the case of gradient descent with calibrated noise sampled from fixed "
        "distributions, Theorem 4.6 has a tighter bound than previous work [32, Theorem 3.3]."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_K^{(11)}(\alpha) \le \varepsilon_K^{\mathrm{YS}}(\alpha)",
    words="without a proximal map and with fixed noise, Theorem 4.6 is tighter than Theorem 3.3 of Ye and Shokri",
    hypotheses=_BLOCK, says=None,
    check=citing(Verdict.NOT_CHECKABLE,
                 "the text of Ye and Shokri (2022), Theorem 3.3, is not at hand, so neither bound can be compared"),
    expected="NOT_CHECKABLE CITED",
)
