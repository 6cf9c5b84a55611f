r"""The displays that close the proof of Theorem 13, recomputed on symbols: step size, width, the three terms.

With Delta = S L^(3/2) R/sqrt(T) of (24), eta = S L^2 R^2/(C T sqrt(m) Delta) of (20) and (22) is sqrt(L) R/(C
sqrt(mT)); sigma^2 = T C^2/(n eps)^2 (all logarithms and hidden constants read as 1) makes S L sqrt(m) eta sigma^2 (m^2
L + m d)/C the printed privacy term: C cancels. (25) with that Delta is m >= L^35 R^10 S^(-22) T^7 C^(-8): "Poly(S, L,
R)" has a negative power of S. What Lemma 25 needs, S L^2 R^3/(Delta C sqrt(m)) <= L^(-6) m^(-3/8) Delta^(3/4) with that
Delta, is m >= L^43 S^(-6) R^10 T^7 C^(-8) instead: the same powers of T and C.
"""

from __future__ import annotations

from typing import Any

import sympy

from oracle.core.domain import Parameter, positive, probability, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.theorem_13.formulas import at_least, exactly, same
from theorems.tools.symbolic_signs import never_negative
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

T_, C_, M_, D_, N_, EPS_ = (positive(name) for name in ("T", "C", "m", "d", "n", "epsilon"))
HALF = sympy.Rational(1, 2)


def closing_delta(s: Any, layers: Any, radius: Any, steps: Any) -> Any:
    """Delta of (24)."""
    return s * layers ** (3 * HALF) * radius / sympy.sqrt(steps)


def step_size(layers: Any, radius: Any, clip: Any, width: Any, steps: Any) -> Any:
    """eta of (20) and (22) with Delta of (24), free of S."""
    return sympy.sqrt(layers) * radius / (clip * sympy.sqrt(width * steps))


def before(eta: Any, s: Any, layers: Any, clip: Any, steps: Any, width: Any, d: Any, n: Any, epsilon: Any) -> Any:
    """The noise's term before eta is put in: S L sqrt(m) eta sigma^2 (m^2 L + m d)/C."""
    sigma2 = steps * clip**2 / (n * epsilon) ** 2
    return s * layers * sympy.sqrt(width) * eta * sigma2 * (width**2 * layers + width * d) / clip


def privacy_term(s: Any, layers: Any, radius: Any, steps: Any, width: Any, d: Any, n: Any, epsilon: Any) -> Any:
    """The privacy error of (7) without logarithms, L + d/m in place of the maximum."""
    return s * layers ** (3 * HALF) * radius * width**2 * (layers + d / width) * sympy.sqrt(steps) / (n * epsilon) ** 2


def width_25(s: Any, layers: Any, radius: Any, clip: Any, delta: Any) -> Any:
    """The width of (25), without logarithms."""
    return layers**56 * radius**24 * delta**-14 * s**-8 * clip**-8


def width_needed(s: Any, layers: Any, radius: Any, steps: Any, clip: Any) -> Any:
    """The m at which S L^2 R^3/(Delta C sqrt(m)) = L^-6 m^(-3/8) Delta^(3/4), Delta of (24)."""
    delta = closing_delta(s, layers, radius, steps)
    return (s * layers**2 * radius**3 / (delta * clip) * layers**6 * delta ** sympy.Rational(-3, 4)) ** 8


def judge_max(factor: Any, given: Domain) -> Finding:
    """Whether max(L, d/m) <= L + d/m <= factor max(L, d/m)."""
    tried = 0
    for point in given.points("L", "d", "m", at_most=40):
        one, other = exactly(point["L"]), exactly(point["d"]) / exactly(point["m"])
        tried += 1
        if not max(one, other) <= one + other <= factor * max(one, other):
            return refuted("not between", {"L": one, "d/m": other, "sum": one + other, "factor": factor})
    if given.contains(L=1, d=1, m=1) and factor < 2:
        return refuted("not between", {"L": 1, "d/m": 1, "sum": 2, "factor": factor})
    least, more = sympy.symbols("least more", nonnegative=True)  # the smaller of both, and what the other is more
    positives = all(given.symbol(name).is_positive for name in ("L", "d", "m"))
    return proof(
        computed("a + (a + t) is at least a + t, and at most factor (a + t)", positives and never_negative(least)
                 and never_negative(sympy.sympify(factor) * (least + more) - (2 * least + more))),
        tried=tried,
    )


def judge_probability(factor: Any, given: Domain) -> Finding:
    """Whether log(4/xi) <= factor log(1/xi) for xi in (0, 1/e], where log(1/xi) = 1 + t, t >= 0."""
    tried = 0
    for point in given.points("t"):
        logarithm = 1 + exactly(point["t"])
        tried += 1
        if sympy.N(sympy.log(4) + logarithm - factor * logarithm, 30) > 0:
            return refuted("the logarithm grows by more", {
                "log(1/xi)": logarithm, "log(4/xi)": sympy.N(sympy.log(4) + logarithm, 12), "factor": factor})
    t = given.symbol("t")
    return proof(
        computed("factor (1 + t) - log(4) - (1 + t) >= 0, by the signs of its coefficients", never_negative(
            sympy.expand((sympy.sympify(factor) - 1) * (1 + t) - sympy.log(4)))),
        tried=tried,
    )


def judge_twice(factor: Any, given: Domain) -> Finding:
    """Whether 1 + sqrt(l) <= factor sqrt(l) for l >= 1; 1/sqrt(T) is common to both sides."""
    tried = 0
    for point in given.points("log", "T", at_most=40):
        root = sympy.sqrt(exactly(point["log"]) / exactly(point["T"]))
        tried += 1
        if sympy.N(1 / sympy.sqrt(exactly(point["T"])) + root - factor * root, 30) > 1e-25:
            return refuted("both terms are more", {**point, "factor": factor})
    more = sympy.Symbol("more", nonnegative=True)  # sqrt(l) = 1 + more
    return proof(
        computed("factor (1 + s) - 1 - (1 + s) >= 0 where sqrt(l) = 1 + s", never_negative(given.chart("log") - 1)
                 and never_negative(sympy.expand(sympy.sympify(factor) * (1 + more) - 2 - more))),
        tried=tried,
    )


def judge_expectation(factor: Any, given: Domain) -> Finding:
    """Whether E X <= 1 makes X <= factor(xi) with probability at least 1 - xi: X = 1/p or 0, and Markov."""
    tried = 0
    for point in given.points("xi"):
        xi = exactly(point["xi"])
        tried += 1
        if factor(xi) < 1 / xi:
            share = (xi + 1 / factor(xi)) / 2  # between xi and 1/factor
            return refuted("a loss of mean 1 that is more with a larger probability", {
                "xi": xi, "factor": factor(xi), "loss": 1 / share, "with probability": share})
    xi_ = given.symbol("xi")
    return proof(computed("at least 1/xi, on symbols", never_negative(sympy.simplify(factor(xi_) * xi_ - 1))),
                 argued("P(X > a E X) < 1/a (Markov)"), tried=tried)


_ROOT = ("L", "R", "C", "m", "T")
_TERM = ("S", "L", "R", "T", "m", "d", "n", "epsilon")
_WIDTH = ("S", "L", "R", "T", "C")
_MANY = {"any *": "the identity of powers holds for all numbers for which both sides are defined"}


def _params(names: tuple[str, ...]) -> tuple[Parameter, ...]:
    return tuple(positive(name) for name in names)


def _substituted(*values: Any) -> Any:
    s, layers, radius, steps, width, d, n, epsilon = values
    clip = sympy.Symbol("C", positive=True)
    eta = step_size(layers, radius, clip, width, steps)
    return sympy.simplify(before(eta, s, layers, clip, steps, width, d, n, epsilon))


step = Claim(
    id="nonconvex-nn/thm-13-eta", source="002, Theorem 13: the step size, against the proof's own display",
    quote=r"with step size $\eta = \Theta(\frac{\sqrt{LR}}{C\sqrt{mT}})$",
    whose=Whose.TYPO, severity=Stake.UTILITY,
    statement=r"\eta = \frac{\sqrt{LR}}{C\sqrt{mT}}",
    words="the step size that the proof chooses is sqrt(L R)/(C sqrt(m T))",
    hypotheses=_params(_ROOT),
    says=lambda layers, radius, clip, width, steps: sympy.sqrt(layers * radius) / (clip * sympy.sqrt(width * steps)),
    check=same(_ROOT, lambda layers, radius, clip, width, steps: layers**2 * radius**2 / (
        clip * steps * sympy.sqrt(width) * closing_delta(1, layers, radius, steps)),
        "S L^2 R^2/(C T sqrt(m) Delta) with Delta of (24), on symbols", "the proof's step is another"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta = \frac{\sqrt{L} R}{C\sqrt{mT}}",
        words="the step size that the proof chooses is sqrt(L) R/(C sqrt(m T))",
        says=step_size, expected="HOLDS PROVED", source="002, Theorem 13 with R outside of the root",
        flips=(Flip("R^2", lambda layers, radius, clip, width, steps: sympy.sqrt(layers) * radius**2 / (
            clip * sympy.sqrt(width * steps)), Verdict.REFUTED),),
    ),
)
step_in_proof = Claim(
    id="nonconvex-nn/thm-13-eta-proof", source="002, proof of Theorem 13: the step size with Delta under the root",
    quote=r"$\eta = \Theta(\frac{SL^2R^2}{CT\sqrt{m\Delta}})$",
    whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"\eta = \frac{SL^2R^2}{CT\sqrt{m\Delta}}",
    words="the proof's step size, with Delta under the root, is the one that (22) asks for",
    hypotheses=_params(("R", "delta", "m")), says=lambda radius, delta, width: radius**2 / sympy.sqrt(width * delta),
    check=same(("R", "delta", "m"), lambda radius, delta, width: radius**2 / (sympy.sqrt(width) * delta),
               "R^2/(sqrt(m) Delta), S = L = C = T = 1, on symbols", "(22) asks for another step"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta = \frac{SL^2R^2}{CT\sqrt{m}\,\Delta}",
        words="the step size that (22) asks for has Delta beside the root",
        says=lambda radius, delta, width: radius**2 / (sympy.sqrt(width) * delta), expected="HOLDS PROVED",
        source="002, proof of Theorem 13, as in (22)",
        flips=(Flip("Delta^2", lambda radius, delta, width: radius**2 / (sympy.sqrt(width) * delta**2),
                    Verdict.REFUTED),),
        true_variants=_MANY,
    ),
)
term = Claim(
    id="nonconvex-nn/thm-13-algebra", source="002, proof of Theorem 13: eta and sigma^2 put into the noise's term",
    quote=(
        r"\tilde{O}\left(\frac{SL^{3/2}R\sqrt{T}\log(1/\delta)\log(1/\gamma)m^2}{n^2\epsilon^2}(L + d/m) + "
        r"\frac{SL^{\frac{3}{2}}R}{\sqrt{T}}\right)"
    ),
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\frac{SL\sqrt{m}\,\eta\sigma^2(m^2L + md)}{C} = \frac{SL^{3/2}R\sqrt{T}m^2(L + d/m)}{n^2\epsilon^2}",
    words="with the proof's step and noise (logarithms apart) the noise's term is the printed privacy error, without C",
    hypotheses=_params(_TERM), says=privacy_term,
    check=same(_TERM, _substituted, "S L sqrt(m) eta sigma^2 (m^2 L + m d)/C with eta and sigma put in, on symbols"),
    flips=(Flip("T in place of sqrt(T)", lambda *v: privacy_term(*v) * sympy.sqrt(v[3]), Verdict.REFUTED),
           Flip("m in place of m^2", lambda *v: privacy_term(*v) / v[4], Verdict.REFUTED)),
    true_variants=_MANY,
    uses=("nonconvex-nn/lem-25", "nonconvex-nn/lem-25-noise-norm", "nonconvex-nn/lem-25-eq-20-24"),
    expected="HOLDS PROVED",
)
noise = Claim(
    id="nonconvex-nn/thm-13-sigma",
    source="002, proof of Theorem 13: sigma^2, against sigma_t at |B_t| = M, logarithms apart",
    quote=r"$\sigma^2 = \tilde{O}(\frac{TC^2\log(1/\delta)}{n^2\epsilon^2})$",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\Big(\frac{qC\sqrt{T}}{M\epsilon}\Big)^2 = \frac{TC^2}{n^2\epsilon^2}, \quad q = M/n",
    words="the one sigma of Algorithm 10 and of the proof is sigma_t of the theorem for batches of the size M",
    hypotheses=_params(("T", "C", "n", "epsilon", "M")), says=lambda t, c, n, e, size: t * c**2 / (n * e) ** 2,
    check=same(("T", "C", "n", "epsilon", "M"),
               lambda t, c, n, e, size: (size / n * c * sympy.sqrt(t) / (size * e)) ** 2,
               "(q C sqrt(T)/(M epsilon))^2 with q = M/n, on symbols"),
    flips=(Flip("over M^2", lambda t, c, n, e, size: t * c**2 / (size * e) ** 2, Verdict.REFUTED),),
    true_variants=_MANY, expected="HOLDS PROVED",
)
maximum = Claim(
    id="nonconvex-nn/thm-13-algebra-max", source="002, (7) has max(L, d/m) where the proof has L + d/m",
    quote=r"\max(L, \frac{d}{m})", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\max(L, d/m) \le L + d/m \le 2\max(L, d/m)",
    words="max(L, d/m) in (7) is L + d/m of the proof up to a factor of 2",
    hypotheses=(positive("L"), positive("d"), positive("m")), says=sympy.Integer(2), check=judge_max,
    flips=(Flip("a factor of 3/2", sympy.Rational(3, 2), Verdict.REFUTED),),
    true_variants=dict.fromkeys(("1 % more", "squared"), "a larger factor is one, too"),
    expected="HOLDS PROVED",
)
least_width = Claim(
    id="nonconvex-nn/thm-13-m-star", source="002, Theorem 13: m* from (25) with Delta of (24), logarithms apart",
    quote=r"m^*(\xi, R, L, S, T, C) = \tilde{\Omega}(\text{Poly}(S, L, R) T^7 C^{-8} [\log(1/\xi)]^3)",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"L^{56}R^{24}\Delta^{-14}S^{-8}C^{-8} = L^{35}R^{10}S^{-22}\, T^7 C^{-8}",
    words="(25) is T^7 C^-8 times L^35 R^10 S^-22, which is no polynomial in S",
    hypotheses=_params(_WIDTH), says=lambda s, layers, radius, steps, clip: (
        layers**35 * radius**10 * s**-22 * steps**7 * clip**-8),
    check=same(_WIDTH, lambda s, layers, radius, steps, clip: width_25(
        s, layers, radius, clip, closing_delta(s, layers, radius, steps)), "(25) with Delta of (24), on symbols"),
    flips=(Flip("T^6", lambda s, layers, radius, steps, clip: layers**35 * radius**10 * s**-22 * steps**6 * clip**-8,
                Verdict.REFUTED),),
    uses=("nonconvex-nn/lem-25",),
    true_variants=_MANY, expected="HOLDS PROVED",
)
right_width = Claim(
    id="nonconvex-nn/thm-13-m-star-solved",
    source="ours: what the last inequality of Lemma 25's first display asks of m",
    severity=Stake.UTILITY,
    statement=r"\frac{SL^2R^3}{\Delta C\sqrt{m}} \le L^{-6}m^{-3/8}\Delta^{3/4} \iff m \ge L^{43}S^{-6}R^{10}T^7C^{-8}",
    words="solved for m, the proof's condition is L^43 S^-6 R^10 T^7 C^-8: T^7 C^-8 stands, the other powers do not",
    hypotheses=_params(_WIDTH), says=lambda s, layers, radius, steps, clip: (
        layers**43 * s**-6 * radius**10 * steps**7 * clip**-8),
    check=same(_WIDTH, width_needed, "both sides equal at that m, Delta of (24), on symbols"),
    flips=(Flip("the powers of (25)", lambda s, layers, radius, steps, clip: (
        layers**35 * radius**10 * s**-22 * steps**7 * clip**-8), Verdict.REFUTED),),
    true_variants=_MANY, expected="HOLDS PROVED",
)
displays = Claim(
    id="nonconvex-nn/thm-13-m-displays", source="002, proof of Theorem 13: two widths, the first display and (25)",
    quote=r"$m \geq \tilde{\Omega}(L^{56}R^{16}\Delta^{-14}S^{-2}C^{-8}[\log(nL + 1/\xi)]^3)$",
    whose=Whose.READING, severity=Stake.PROOF,
    statement=r"L^{56}R^{16}\Delta^{-14}S^{-2}C^{-8} \ge L^{56}R^{24}\Delta^{-14}S^{-8}C^{-8}",
    words="the width of the proof's first line is enough for (25), which the same proof needs at its end",
    hypotheses=(positive("S"), positive("R")), says=lambda s, radius: radius**16 * s**-2,
    check=at_least(("S", "R"), lambda s, radius: radius**24 * s**-8, "at least R^24 S^-8, on symbols"),
    uses=("nonconvex-nn/thm-13-m-star",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"m \ge L^{56}R^{24}\Delta^{-14}S^{-8}C^{-8}", words="the width of (25) is enough for (25)",
        says=lambda s, radius: radius**24 * s**-8, expected="HOLDS PROVED", source="002, (25)",
        true_variants={"1 % more": "a wider network, too"},
    ),
)
linearised = Claim(
    id="nonconvex-nn/thm-13-linearisation-step", source="002, proof of Theorem 13: m >= log(m)^3 L^12 R^2 T^3",
    quote=r"And we can simplify the left term assuming $m \geq \Omega(\log(m)^3L^{12}R^2T^3)$.",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"SR^{4/3}L^3\sqrt{\log m}\,m^{-1/6} \le \frac{SLR}{\sqrt T} \iff m \ge (\log m)^3L^{12}R^2T^3",
    words="the linearisation error R^(4/3) L^3 sqrt(log m) m^(-1/6) is at most L R/sqrt(T) from that width on",
    hypotheses=_params(("L", "R", "T", "log")), says=lambda layers, radius, steps, logarithm: (
        logarithm**3 * layers**12 * radius**2 * steps**3),
    check=at_least(("L", "R", "T", "log"), lambda layers, radius, steps, logarithm: (
        radius ** sympy.Rational(4, 3) * layers**3 * sympy.sqrt(logarithm * steps) / (layers * radius)) ** 6,
        "at least the sixth power of R^(1/3) L^2 sqrt(log m) sqrt(T), on symbols"),
    flips=(Flip("T^2", lambda layers, radius, steps, logarithm: logarithm**3 * layers**12 * radius**2 * steps**2,
                Verdict.REFUTED),),
    true_variants={"1 % more": "a wider network, too"},
    uses=("nonconvex-nn/lem-18",),
    expected="HOLDS PROVED",
)
last_display = Claim(
    id="nonconvex-nn/thm-13-last-display",
    source="002, (7) against the proof's last display, which has 1/sqrt(T) beside it",
    quote=r"+ \frac{1}{\sqrt{T}} + \sqrt{\frac{\log(1/\xi)}{T}}",
    whose=Whose.READING, severity=Stake.EDITORIAL,
    statement=r"\frac{1}{\sqrt T} + \sqrt{\frac{\log(1/\xi)}{T}} \le \sqrt{\frac{\log(1/\xi)}{T}}",
    words="the two terms of the last display are at most once the first term of (7)",
    hypotheses=(real("log", "log(1/xi), xi <= 1/e").at_least(1), positive("T")),
    says=lambda logarithm, steps: sympy.sqrt(logarithm / steps),
    check=at_least(("log", "T"), lambda logarithm, steps: 1 / sympy.sqrt(steps) + sympy.sqrt(logarithm / steps),
                   "at least both terms"),
    flips=(Flip("both terms", lambda logarithm, steps: (1 + sympy.sqrt(logarithm)) / sympy.sqrt(steps),
                Verdict.HOLDS),),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{1}{\sqrt T} + \sqrt{\frac{\log(1/\xi)}{T}} \le 2\sqrt{\frac{\log(1/\xi)}{T}}",
        words="the two terms of the last display are at most twice the first term of (7), because xi <= 1/e",
        says=2, expected="HOLDS PROVED", source="002, (7) up to a factor of 2",
        check=judge_twice,
        flips=(Flip("3/2", sympy.Rational(3, 2), Verdict.REFUTED),),
        true_variants={"one more": "a larger factor is one, too"},
    ),
)
in_mean = Claim(
    id="nonconvex-nn/thm-13-expectation",
    source="002, proof of Theorem 13: it ends in a mean, the theorem in a probability",
    quote=r"\mathbb{E}_{\mathcal{A}_{SGD}}\left[\frac{1}{T} \sum_{i=1}^T L_{\mathcal{D}}(\mathbf{W}^{(i)})\right]",
    whose=Whose.READING, severity=Stake.PROOF, statement=r"\mathbb{E}X \le b \implies \mathbb{P}(X \le b) \ge 1 - \xi",
    words="what bounds the mean of the loss bounds the loss with the theorem's probability",
    hypotheses=(probability("xi"),), says=lambda xi: sympy.Integer(1), check=judge_expectation,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E}X \le b \implies \mathbb{P}(X \le b/\xi) \ge 1 - \xi",
        words="1/xi times a bound on the mean of the loss bounds the loss with probability 1 - xi",
        says=lambda xi: 1 / xi, expected="HOLDS ARGUED", source="002, proof of Theorem 13 with Markov's inequality",
        flips=(Flip("half of it", lambda xi: 1 / (2 * xi), Verdict.REFUTED),),
        true_variants={"1 % more": "a larger bound, too", "1 -> 2 *": "a larger bound, too"},
    ),
)
promised = Claim(
    id="nonconvex-nn/thm-13-prob",
    source="002, Theorem 13: 1 - xi - gamma - gamma_1; its proof ends with 1 - gamma - 4 xi",
    quote=r"then with probability at least $1 - \xi - \gamma - \gamma_1$ over the randomness of the algorithm",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\mathbb{P} \ge 1 - \xi - \gamma - \gamma_1 \text{ from events of } \gamma_1, \gamma, 4\xi",
    words="the proof's events fail with probability at most xi + gamma + gamma_1 in all",
    hypotheses=(), says=None, check=None,
    readings=("nonconvex-nn/thm-13-prob-reading-counted", "nonconvex-nn/thm-13-prob-reading-rescaled"),
    expected="AMBIGUOUS PROVED",
)
counted = Claim(
    id="nonconvex-nn/thm-13-prob-reading-counted", source="002, Theorem 13, read with the same xi as in its proof",
    quote=r"Thus under the previous lemma we have with probability $1 - \gamma - 4\xi$", whose=Whose.READING,
    severity=Stake.PROOF, statement=r"4\xi + \gamma + \gamma_1 \le \xi + \gamma + \gamma_1",
    words="the probabilities of the proof's events, counted as it counts them, add up to xi + gamma + gamma_1",
    hypotheses=tuple(probability(name) for name in ("xi", "gamma", "gamma_1")),
    says=lambda xi, gamma, other: xi + gamma + other,
    check=at_least(("xi", "gamma", "gamma_1"), lambda xi, gamma, other: 4 * xi + gamma + other, "at least their sum"),
    flips=(Flip("4 xi", lambda xi, gamma, other: 4 * xi + gamma + other, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/thm-13-prob-reading-rescaled", expected="REFUTED PROVED",
)
rescaled = Claim(
    id="nonconvex-nn/thm-13-prob-reading-rescaled", source="002, Theorem 13, read with xi/4 for xi in its proof",
    quote=promised.quote, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\log\frac{4}{\xi} \le (1 + \log 4)\log\frac{1}{\xi},\quad \xi \le e^{-1}",
    words="with xi/4 for xi, which costs a factor of at most 1 + log 4 in the logarithm, the proof's xi adds up to xi",
    hypotheses=(real("t", "log(1/xi) - 1").at_least(0),), says=1 + sympy.log(4), check=judge_probability,
    flips=(Flip("twice", sympy.Integer(2), Verdict.REFUTED),),
    true_variants=dict.fromkeys(("1 % more", "squared"), "a larger factor is one, too"),
    expected="HOLDS PROVED",
)
