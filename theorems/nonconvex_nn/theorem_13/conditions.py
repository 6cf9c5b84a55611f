r"""What the hypotheses of Theorem 13 come to, and what Remarks 15 and 16 say of them and of (7).

m >= c_m T^7 C^(-8) and n >= c_n C (sqrt(L m) + sqrt(m d)) sqrt(T)/(R eps) force n >= c_n sqrt(c_m) (sqrt L + sqrt d)
T^4 /(C^3 R eps): a data set is never small next to T, so an argument with few records and many steps is outside of the
theorem. At that n the privacy error is S L^(3/2) R^3 (L m + d)/(C^2 sqrt(T) (sqrt L + sqrt d)^2), of the order of m:
(7) says something only from n = m T^(1/4) ... on, T^(29/4) for m = T^7. eps < c_1 q^2 T makes the T batches of q n
records, q T passes over the data, at least sqrt(eps T/c_1) passes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer
from theorems.claim import Checker, Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.theorem_13.formulas import at_most, exactly, same
from theorems.nonconvex_nn.theorem_13.proof_algebra import before, privacy_term, step_size
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Formula = Callable[..., Any]
_HIDDEN = ("T", "C", "R", "epsilon", "L", "d", "c_m", "c_n")
_VACUOUS = ("S", "L", "R", "C", "m", "T", "d")
_SILENT = ("S", "L", "R", "T", "d", "epsilon")
_SETTING = ("S", "L", "R", "T", "m", "d", "n", "epsilon")
_MORE = {"1 % less": "a smaller bound is one, too"}


def least_records(clip: Any, layers: Any, width: Any, d: Any, steps: Any, radius: Any, epsilon: Any) -> Any:
    """The n that Theorem 13 asks for, its hidden factors read as 1."""
    roots = sympy.sqrt(layers * width) + sympy.sqrt(width * d)
    return clip * roots * sympy.sqrt(steps) / (radius * epsilon)


def _forced(t: Any, c: Any, r: Any, e: Any, layers: Any, d: Any, c_m: Any, c_n: Any) -> Any:
    return c_n * least_records(c, layers, c_m * t**7 / c**8, d, t, r, e)


def _at_threshold(s: Any, layers: Any, r: Any, c: Any, m: Any, t: Any, d: Any) -> Any:
    return privacy_term(s, layers, r, t, m, d, least_records(c, layers, m, d, t, r, 1), 1)


def _silent(s: Any, layers: Any, r: Any, t: Any, d: Any, e: Any) -> Any:
    return sympy.sqrt(privacy_term(s, layers, r, t, t**7, d, 1, e))


def judge_without_clip(eta: Formula, given: Domain) -> Finding:
    """Whether the noise's term, with the step eta(L, R, C, m, T), does not change with C."""
    tried = 0
    for values in _settings(given):
        s, layers, r, t, m, d, n, e = values
        terms = [before(eta(layers, r, clip, m, t), s, layers, clip, t, m, d, n, e) for clip in (1, 64)]
        tried += 1
        if sympy.simplify(terms[0] - terms[1]) != 0:
            return refuted("the noise's term is another at C = 64 than at C = 1", {
                **dict(zip(_SETTING, values, strict=True)), "eta at C = 1": eta(layers, r, sympy.Integer(1), m, t),
                "eta at C = 64": eta(layers, r, sympy.Integer(64), m, t),
                "ratio of the terms": sympy.nsimplify(sympy.simplify(terms[1] / terms[0]))})
    s_, layers_, r_, t_, m_, d_, n_, e_ = (given.symbol(name) for name in _SETTING)
    clip_ = sympy.Symbol("C", positive=True)
    slope = sympy.diff(before(eta(layers_, r_, clip_, m_, t_), s_, layers_, clip_, t_, m_, d_, n_, e_), clip_)
    return proof(computed("the derivative in C vanishes, on symbols", bool(sympy.simplify(slope) == 0)), tried=tried)


def _settings(given: Domain) -> list[list[Any]]:
    """The setting of Figure 2 with S = R = 1 and one step an epoch, then the domain's own points."""
    of_figure = dict(zip(_SETTING, (1, 3, 1, 200, 256, 784, 60000, 1), strict=True))
    points = [of_figure] if given.contains(**of_figure) else []
    points += list(given.points(*_SETTING, at_most=20))
    return [[exactly(point[name]) for name in _SETTING] for point in points]


def judge_trade_off(terms: tuple[Formula, Formula], given: Domain) -> Finding:
    """Whether the first formula of T falls and the second, of T and the rest, rises."""
    falling, rising = terms
    for point in given.points("T", "rest"):
        t, rest = exactly(point["T"]), exactly(point["rest"])
        for name, gain in (("first", falling(t, rest) - falling(2 * t, rest)),
                           ("last", rising(2 * t, rest) - rising(t, rest))):
            if not sympy.N(gain, 20) > 0:
                return refuted(f"the {name} term goes the other way", {
                    "T": t, "2 T": 2 * t, "rest": rest, "term": name})
    t, rest = given.symbol("T"), given.symbol("rest")
    return proof(
        computed("the first term has a negative derivative in T",
                 sympy.simplify(sympy.diff(falling(t, rest), t)).is_negative),
        computed("the last one has a positive derivative", sympy.simplify(sympy.diff(rising(t, rest), t)).is_positive),
    )


def judge_rising(term: Formula, given: Domain) -> Finding:
    """Whether a formula of m, L and d rises with m."""
    for point in given.points("m", "L", "d", at_most=40):
        m, layers, d = (exactly(point[name]) for name in ("m", "L", "d"))
        if not sympy.N(term(2 * m, layers, d) - term(m, layers, d), 20) > 0:
            return refuted("it does not rise", {**point, "at m": term(m, layers, d), "at 2 m": term(2 * m, layers, d)})
    symbols = [given.symbol(name) for name in ("m", "L", "d")]
    slope = sympy.expand(sympy.simplify(sympy.diff(term(*symbols), symbols[0])))
    return proof(computed("its derivative in m is positive, on symbols", slope.is_positive))


def order_in_width(true: Formula, what: str) -> Checker:
    """Whether true(L, m, d) is at least a constant times the claimed power of m as m grows, by the quotient's limit."""

    def judge(claimed: Formula, given: Domain) -> Finding:
        d, m = sympy.Symbol("d", positive=True), given.symbol("m", "m")
        for layers in given.values("L"):
            quotient = sympy.limit(true(layers, m, d) / claimed(m), m, sympy.oo)
            if quotient == 0:
                constant = 100  # a hidden one
                wide = next(10**k for k in range(40) if constant * true(layers, 10**k, 1) < claimed(10**k))
                return refuted_by(
                    f"{what} is less, whatever the constant", {
                        "L": layers, "d": 1, "m": wide, "constant": constant,
                        "asked for": sympy.N(true(layers, wide, 1), 12), "claimed": sympy.N(claimed(wide), 12)},
                    computed("the quotient tends to 0 as m grows, on symbols", quotient == 0),
                )
        limit = sympy.limit(true(given.chart("L"), m, d) / claimed(m), m, sympy.oo)
        return proof(
            computed("the quotient has a positive limit as m grows, on symbols", limit.is_positive),
            argued("C, R, T and epsilon enter as one factor that does not change with m"),
            tried=len(given.values("m")),
        )

    return judge


_PRINTED_ORDER = order_in_width(
    lambda layers, m, d: least_records(1, layers, m, d, 1, 1, 1), "the n that the theorem asks for")
_CORRECTED_ORDER = order_in_width(
    lambda layers, m, d: sympy.sqrt(m * d + (layers - 2) * m**2 + m), "what |G_t| <= R asks of n")


def _claim(name: str, source: str, statement: str, words: str, names: tuple[str, ...], says: Any, check: Checker,
           **others: Any) -> Claim:
    return Claim(f"nonconvex-nn/{name}", source, statement, words, tuple(map(positive, names)), says, check,
                 **{"expected": "HOLDS PROVED", "severity": Stake.UTILITY, **others})


hidden_n = _claim(
    "thm-13-hidden-n", "ours: the hypotheses of Theorem 13 on m and n together",
    r"n \ge c_n\sqrt{c_m}\,\frac{(\sqrt L + \sqrt d)\,T^4}{C^3R\epsilon}",
    "the hypotheses make n at least of the order of T^4/(C^3 R epsilon): no data set that meets them is small", _HIDDEN,
    lambda t, c, r, e, layers, d, c_m, c_n: c_n * sympy.sqrt(c_m) * (sympy.sqrt(layers) + sympy.sqrt(d)) * t**4 / (
        c**3 * r * e),
    at_most(_HIDDEN, _forced, "c_n C (sqrt(L m) + sqrt(m d)) sqrt(T)/(R eps), which rises with m, at the least m"),
    flips=(Flip("T^5", lambda t, c, r, e, layers, d, c_m, c_n: c_n * sympy.sqrt(c_m) * (
        sympy.sqrt(layers) + sympy.sqrt(d)) * t**5 / (c**3 * r * e), Verdict.REFUTED),),
    true_variants=_MORE,
)
vacuous = _claim(
    "thm-13-vacuous-privacy-term", "ours: the privacy error of (7) at the least n that "
                                   "Theorem 13 allows, factors read as 1",
    r"\frac{SL^{3/2}R^3(Lm + d)}{C^2\sqrt T(\sqrt L + \sqrt d)^2}",
    "at the least n allowed the privacy error is of the order of m/sqrt(T), which says nothing", _VACUOUS,
    lambda s, layers, r, c, m, t, d: s * layers ** sympy.Rational(3, 2) * r**3 * (layers * m + d) / (
        c**2 * sympy.sqrt(t) * (sympy.sqrt(layers) + sympy.sqrt(d)) ** 2),
    same(_VACUOUS, _at_threshold, "the privacy error with that n, on symbols"),
    flips=(Flip("no m", lambda s, layers, r, c, m, t, d: s * layers ** sympy.Rational(3, 2) * r**3 * (layers + d) / (
        c**2 * sympy.sqrt(t) * (sympy.sqrt(layers) + sympy.sqrt(d)) ** 2), Verdict.REFUTED),),
    true_variants={"any *": "an identity of powers"},
)
silent = _claim(
    "thm-13-vacuous-privacy-term-n", "ours: from which n on the privacy error of (7) is at most "
                                     "1, at m = T^7, factors read as 1",
    r"n \ge \frac{T^{29/4}}{\epsilon}\sqrt{SL^{3/2}R\,(L + d/T^7)}",
    "with m = T^7 the privacy error is at most 1 only from n = T^(29/4) ... on", _SILENT,
    lambda s, layers, r, t, d, e: t ** sympy.Rational(29, 4) * sympy.sqrt(
        s * layers ** sympy.Rational(3, 2) * r * (layers + d / t**7)) / e,
    same(_SILENT, _silent, "the n at which the privacy error is 1, on symbols"),
    flips=(Flip("T^7", lambda s, layers, r, t, d, e: t**7 * sympy.sqrt(
        s * layers ** sympy.Rational(3, 2) * r * (layers + d / t**7)) / e, Verdict.REFUTED),),
    true_variants={"any *": "an identity of powers"},
)
passes = _claim(
    "thm-13-multi-pass-count", "ours: the records that T batches of q n draw, if epsilon < c_1 q^2 T",
    r"\epsilon < c_1q^2T \implies \frac{TM}{n} = qT > \sqrt{\frac{\epsilon T}{c_1}}",
    "the noise of Theorem 13 is offered only for at least sqrt(epsilon T/c_1) passes over the data", ("epsilon", "T",
    "c_1"),
    lambda e, t, c: sympy.sqrt(e * t / c),
    at_most(("epsilon", "T", "c_1"), lambda e, t, c: sympy.sqrt(e / (c * t)) * t,
            "q T at the least q, the root of epsilon/(c_1 T), which rises with q"),
    flips=(Flip("T", lambda e, t, c: sympy.sqrt(e * t / c) * t, Verdict.REFUTED),), true_variants=_MORE,
    severity=Stake.PROOF,
)
free_of_clip = Claim(
    id="nonconvex-nn/rem-15", source="002, Remark 15: (7) does not depend on C, since eta is proportional to 1/C",
    quote=(
        r"Furthermore, the upper bound is independent of the clipping threshold C because we assume that $C \leq R$ "
        r"and the step size η depends on $\frac{1}{C}$"
    ),
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\frac{\partial}{\partial C} \frac{SL\sqrt m\,\eta(C)\,\sigma^2(C)\,(m^2L + md)}{C} = 0",
    words="with the theorem's step, proportional to 1/C, the noise's term of the bound does not change with C",
    hypotheses=tuple(map(positive, _SETTING)), says=step_size, check=judge_without_clip,
    flips=(Flip("a fixed step", lambda layers, r, clip, m, t: Fraction(1, 100), Verdict.REFUTED),
           Flip("1/C^2", lambda layers, r, clip, m, t: step_size(layers, r, clip**2, m, t), Verdict.REFUTED)),
    true_variants={"sign": "of either sign it does not change with C", "1 % *": "any multiple of 1/C does it",
                   "any *": "C cancels for all numbers", "[*] -> + *": "a step with other factors that C is none of"},
    uses=("nonconvex-nn/thm-13-algebra",), expected="HOLDS PROVED",
)
small_clip = _claim(
    "rem-15-C-small", "002, Remark 15: C cannot be too small, by m >= T^7 C^-8 (other factors read as 1)",
    r"m \ge T^7C^{-8} \iff C \ge (T^7/m)^{1/8}", "at a given width m, C must be at least (T^7/m)^(1/8)", ("T", "m"),
    lambda t, m: (t**7 / m) ** sympy.Rational(1, 8),
    same(("T", "m"), lambda t, m: t ** sympy.Rational(7, 8) * m ** sympy.Rational(-1, 8),
    "T^7 C^-8 = m there, on symbols"),
    quote=r"(which implies that C cannot be too small)", whose=Whose.READING,
    flips=(Flip("T/m", lambda t, m: (t / m) ** sympy.Rational(1, 8), Verdict.REFUTED),),
)
trade_off = _claim(
    "rem-15-T", "002, Remark 15: T should be neither too large nor too small, by the first and the last term of (7)",
    r"\frac{\partial}{\partial T}\sqrt{\frac{\log(1/\xi)}{T}} < 0 < \frac{\partial}{\partial T}\, k\sqrt{T}",
    "the first term of (7) falls with T and the privacy error rises with it", ("T", "rest"),
    (lambda t, rest: sympy.sqrt(rest / t), lambda t, rest: rest * sympy.sqrt(t)), judge_trade_off,
    quote="When T is large, the privacy", whose=Whose.PRINTED,
    flips=(Flip("exchanged", (lambda t, rest: rest * sympy.sqrt(t), lambda t, rest: sympy.sqrt(rest / t)),
                Verdict.REFUTED),),
    true_variants=dict.fromkeys(("[[]?[]] 1 % *", "[[]?[]] squared", "[[]1[]] [*] -> + *"),
                                "another formula that falls, or rises, with T"),
)
in_width = _claim(
    "rem-15-m", "002, Remark 15: the privacy error depends on poly(m), so that m cannot be arbitrarily large",
    r"\frac{\partial}{\partial m}\, m^2\Big(L + \frac dm\Big) > 0", "the privacy error rises with m", ("m", "L", "d"),
    lambda m, layers, d: m**2 * (layers + d / m), judge_rising,
    quote=r"However, m cannot be arbitrarily large because the privacy error depends on $\text{poly}(m)$.",
    whose=Whose.PRINTED,
    flips=(Flip("divided by m^2", lambda m, layers, d: layers + d / m, Verdict.REFUTED),),
    true_variants={"1 % *": "a multiple rises, too", "squared": "so does the square",
    "* -> *": "m^3 (...), 2 m (...) and m^2 (L + d m) rise, too"},
)
order = Claim(
    id="nonconvex-nn/rem-16", source="002, Remark 16: the assumption n >= O(m)",
    quote=r"The main weakness of Theorem 13 is the assumption of $n \geq O(m)$, which contradicts the "
          r"overparameterized "
          "setting in NTK theory",
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"n \ge \Omega(m)",
    words="Theorem 13 assumes n to be at least of the order of m", hypotheses=(), says=None, check=None,
    readings=("nonconvex-nn/rem-16-reading-printed", "nonconvex-nn/rem-16-reading-corrected"),
    expected="AMBIGUOUS ARGUED",
)
printed_order = Claim(
    id="nonconvex-nn/rem-16-reading-printed", source="002, Remark 16, read of the n that Theorem 13 prints",
    quote=order.quote, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"C(\sqrt{Lm} + \sqrt{md})\sqrt T/(R\epsilon) \ge c\, m",
    words="the n that Theorem 13 prints is of the order of m, where it is that of sqrt(m)",
    hypotheses=(positive_integer("L").at_least(3), positive_integer("m")), says=lambda m: m, check=_PRINTED_ORDER,
    flips=(Flip("sqrt(m)", lambda m: sympy.sqrt(m), Verdict.HOLDS),),
    repaired_by="nonconvex-nn/rem-16-reading-corrected", expected="REFUTED PROVED",
)
corrected_order = Claim(
    id="nonconvex-nn/rem-16-reading-corrected", source="002, Remark 16, read of the n that |G_t|_F <= R needs, L >= 3",
    quote=order.quote, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\sqrt{md + (L-2)m^2 + m} \ge c\, m, \quad L \ge 3",
    words="with the noise's true norm, sigma sqrt(m d + (L - 2) m^2 + m), the n that is needed is of the order of m",
    hypotheses=printed_order.hypotheses, says=lambda m: m, check=_CORRECTED_ORDER,
    flips=(Flip("m^2", lambda m: m**2, Verdict.REFUTED),),
    true_variants={"1 % *": "a constant does not matter", "any m": "the limit is the same"},
    rests_on=("nonconvex-nn/lem-25-noise-norm-repaired",),
    expected="HOLDS ARGUED",
)
