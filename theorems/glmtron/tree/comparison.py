r"""Remark 8 of document 003, and what abstract, introduction and conclusion say of it: which algorithm costs less?

The noise. At one epsilon and delta the shuffled pass has f_s = c ln(N/delta)/(epsilon sqrt(N)) (Theorem 4.1, c hidden)
and the tree f_t = sqrt(2 ceil(lg(N+1)) ln(1/delta))/epsilon: f_t^2/f_s^2 = 2 ceil(lg(N+1)) ln(1/delta) N/(c
ln(N/delta))^2, of the order N. So the printed bounds, f_s^2 Gamma^2 D_pri/N and (at least) f_t^2 Gamma^2 lg N D_pri/N,
differ by a factor of the order N: the remark is false of the bounds. With the sharpened bound, (5/4 + 3 kappa) f_t^2
Gamma^2 lg N D_pri/N^2 where eta N D_eff <= kappa D_pri, the N goes: as L/(a + L)^2 <= 1/(4a) for L = ln(1/delta), a =
ln N = m ln 2, the ratio of the bounds is at most (5/4 + 3 kappa)/c^2 times (m + 1)/(2 ln 2): a factor of the order lg
N, as remarked. Of the errors the remark is then true on such spectra, and false on a flat spectrum with a fixed step
size, where the tree's error is of the order f_t^2/N: it loses by a factor of the order N.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.tree.chain import LEVELS, LOAD, dimension, lifetimes, tree_risk
from theorems.glmtron.tree.sharp import one_direction, whole
from theorems.tools.studied import by_study
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

HIDDEN = Fraction(6)
"""The constant c of the shuffled pass: what the curve of clones gives is below it."""


def noise_ratio(levels: int, power: Fraction, hidden: Fraction) -> arb:
    """f_t^2/f_s^2 for 2^levels records and delta = N^-power."""
    size = ball(2**levels).log()
    ratio: arb = 2 * (levels + 1) * ball(power) * size * 2**levels / (ball(hidden * (1 + power)) * size) ** 2
    return ratio


def most_noise(levels: Any, records: Any, hidden: Fraction) -> Any:
    """What f_t^2/f_s^2 is at most, whatever delta is: (m + 1) N/(2 c^2 m ln 2), with 69/100 for ln 2."""
    return (levels + 1) * records / (2 * sympy.Rational(69, 100) * hidden**2 * levels)


def noise_steps() -> tuple[ProofStep, ...]:
    """That it is at most that."""
    a, size = sympy.symbols("a L", positive=True)
    return (
        computed("L/(a + L)^2 <= 1/(4 a), as (a + L)^2 - 4 a L is a square, on symbols",
                 vanishes((a + size) ** 2 - 4 * a * size - (a - size) ** 2)),
        computed("ln 2 is above 69/100, certified", bool(arb(2).log() > ball(Fraction(69, 100)))),
    )


def judge_bounds(says: tuple[Any, Any], given: Domain) -> Finding:
    """Whether the printed private bounds differ by at most says[0](lg N, N) at one epsilon and delta, c = says[1]."""
    tried = range(min(given.values("levels", most=20)), 40)
    for levels in tried:
        with ctx.workprec(64):
            ratio = levels * noise_ratio(levels, Fraction(11, 10), Fraction(says[1]))
            if ratio > ball(says[0](levels, 2**levels)):
                return refuted("the printed bounds differ by more, certified: by a factor of the order N", {
                    "N": 2**levels, "delta": "N^-1.1", "c": says[1],
                    "ratio of the bounds at least": ratio.str(8, radius=False),
                    "claimed at most": says[0](levels, 2**levels)})
    m, size = 1 + sympy.Symbol("k", nonnegative=True), sympy.Symbol("N", positive=True)
    return proof(
        *noise_steps(),
        computed("2 (lg N + 1) lg N times that is at most what is claimed, on symbols", never_negative(
            sympy.simplify(says[0](m, size) - 2 * (m + 1) * m * most_noise(m, size, says[1])))),
        argued("(alpha eta tr(H) lg N + 1)(1 + D_eff/D_pri) <= 2 (lg N + 1) for alpha eta tr(H), lambda_1 <= 1"),
        tried=len(tried),
    )


def judge_sharp_bounds(says: Any, given: Domain) -> Finding:
    """Whether the sharpened bound over (5/4 + 3 kappa)/c^2 times that of the shuffled pass is <= says (lg N + 1)."""
    tried = 0
    for point in given.points("levels", "power", most={"levels": 30}):
        with ctx.workprec(64):
            ratio = point["levels"] * noise_ratio(point["levels"], point["power"], Fraction(1)) / 2 ** point["levels"]
            tried += 1
            if ratio > ball(says * (point["levels"] + 1)):
                return refuted("the bounds differ by more, certified", {
                    "N": 2 ** point["levels"], "delta": f"N^-{point['power']}", "ratio": ratio.str(8, radius=False),
                    "claimed": says * (point["levels"] + 1)})
            if not (ratio <= ball(says * (point["levels"] + 1)) and point["power"] > 0):
                return undecided("no delta below 1", tried)
    with ctx.workprec(64):
        enough = bool(ball(says) >= 1 / (2 * arb(2).log()))
    return proof(
        *noise_steps(),
        computed("so the ratio is at most (lg N + 1)/(2 ln 2), which is at most what is claimed, certified", enough),
        tried=tried,
    )


def judge_equal(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether (load lg N + 1)(1 + D_eff/D_pri), the printed bounds' ratio at one f over lg N, is <= says(lg N)."""
    for point in given.points("levels", "load", "share"):
        ratio = (point["load"] * point["levels"] + 1) * (1 + point["share"])
        if ratio > says(point["levels"]):
            return refuted("the bounds differ by more than that at one noise multiplier", {
                "lg N": point["levels"], "alpha eta tr(H)": point["load"], "D_eff/D_pri": point["share"],
                "ratio over lg N": ratio, "claimed": says(point["levels"])})
    m, load, share = (given.chart(name) for name in ("levels", "load", "share"))
    return proof(computed("(load lg N + 1)(1 + D_eff/D_pri) is at most what is claimed, on symbols",
                          never_negative(sympy.simplify(says(m) - (load * m + 1) * (1 + share)))))


def judge_cooled(says: Any, given: Domain) -> Finding:
    """The same with alpha eta tr(H) lg N = load <= 1, the step size of Lemmas E.2, E.6 and E.7."""
    for point in given.points("load", "share"):
        ratio = (point["load"] + 1) * (1 + point["share"])
        if ratio > says:
            return refuted("the bounds differ by more than that", {**point, "ratio over lg N": ratio, "claimed": says})
    load, share = given.chart("load"), given.chart("share")
    return proof(computed("(load + 1)(1 + D_eff/D_pri) is at most what is claimed, on symbols",
                          never_negative(sympy.simplify(says - (load + 1) * (1 + share)))))


def shuffled(eta: Fraction, records: int) -> arb:
    """The risk of the shuffled pass over s^2 in balls: one direction of variance 1, w* = 0, Gaussian features."""
    q, kept, moment, total = ball(1 - eta / 2), ball(1 - eta + eta**2 * Fraction(3, 2)), arb(0), arb(0)
    for t in range(records):
        total += moment * (1 + 2 * q * (1 - q ** (records - t - 1)) / (1 - q))
        moment = kept * moment + ball(eta**2)
    return total / (4 * records**2)


def judge_flat(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether on one direction, eta = 1/3, the tree costs at most says(lg N, N) times the shuffled pass (c = 6)."""
    tried, eta = range(min(given.values("levels", most=3)), 13), Fraction(1, 3)
    for levels in tried:
        with ctx.workprec(96):
            share = one_direction(eta, levels) / shuffled(eta, 2**levels)
            ratio = share * noise_ratio(levels, Fraction(11, 10), HIDDEN)
            if ratio > ball(says(levels, 2**levels)):
                return refuted("the tree costs more, certified, and the ratio grows like N", {
                    "spectrum": 1, "eta": eta, "N": 2**levels, "delta": "N^-1.1", "c": HIDDEN,
                    "claimed": says(levels, 2**levels), "ratio of the errors": ratio.str(8, radius=False)})
    m, size = 1 + sympy.Symbol("k", nonnegative=True), 2 + sympy.Symbol("n", nonnegative=True)
    tree, other = whole(m, size, 3, sympy.Rational(1, 3), 1, 1, 1), (size - 1) / (36 * size**2)
    return proof(
        *noise_steps(),
        computed("the bound of thm-5.2-sharp-whole over what the shuffled pass costs at least, times the ratio of the "
                 "noise, is at most what is claimed, on symbols",
                 never_negative(sympy.simplify(says(m, size) - tree / other * most_noise(m, size, HIDDEN)))),
        argued("the iterates of the shuffled pass but the first have E d^2 >= eta^2 s^2 and covariances >= 0"),
        tried=len(tried),
    )


def judge_lower(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether tree noise costs at least says(N) s^2 D_pri/N, as independent noise does: spectrum 1, 1/4, ..., 1/256."""
    spectrum, eta = tuple(Fraction(1, 4**k) for k in range(5)), Fraction(1, 8)
    for levels in given.values("levels", most=7):
        records = 2**levels
        exact, pri = tree_risk(spectrum, eta, records), dimension(spectrum, eta, records, 1)
        if exact < says(records) * pri / records:
            return refuted("tree noise costs less, exactly", {
                "spectrum": ", ".join(map(str, spectrum)), "eta": eta, "N": records, "D_pri": pri,
                "risk times N/D_pri": f"{float(exact * records / pri):.6g}", "claimed": says(records)})
    n = sympy.Symbol("N", positive=True)
    return proof(
        computed("1/(4 N^3) is at least what is claimed, on symbols", never_negative(1 / (4 * n**3) - says(n))),
        argued("w* = 0: by the root in the last answer risk >= (eta s/N)^2 tr(H)/4, and D_pri <= (eta N)^2 tr(H)"),
        tried=len(given.values("levels", most=7)),
    )


def judge_nodes(says: tuple[int, Callable[[int], int]], given: Domain) -> Finding:
    """Whether an answer's noise has at least says[0] and at most says[1](lg N) nodes, N a power of two."""
    tried = 0
    for levels in given.values("levels", most=7):
        nodes = lifetimes(2**levels)
        for count in range(1, 2**levels + 1):
            live = sum(born <= count < dropped for born, dropped in nodes)
            tried += 1
            if not says[0] <= live <= says[1](levels):
                return refuted("another number of nodes", {"N": 2**levels, "answer": count, "nodes": live})
    m = given.symbol("levels")
    return proof(
        computed("m ones at most are no more than what is claimed, on symbols", never_negative(says[1](m) - m)),
        computed("a number above 0 has a one", says[0] <= 1),
        argued("a number below 2^m has at most m binary digits, and 2^m has one 1: a node a one"), tried=tried,
    )


def judge_shift(says: Any, given: Domain) -> Finding:
    """Whether, without noise, the mean that Algorithm 3 returns is that of Algorithm 1 plus says (w_N - w_0)/N.

    Algorithm 3 moves to -eta (l_0 + ... + l_t), Algorithm 1 by -eta l_t, w_0 = 0; one direction, relu, exactly.
    """
    tried = 0
    for levels in given.values("levels", most=4):
        records, eta = 2**levels, Fraction(1, 4)
        data = [(Fraction((3 * t) % 7 - 3), Fraction(t % 3)) for t in range(records)]
        by_steps, by_sums, gathered = [Fraction(0)], [Fraction(0)], Fraction(0)
        for x, y in data:
            by_steps.append(by_steps[-1] - eta * x * (max(Fraction(0), x * by_steps[-1]) - y))
            gathered += x * (max(Fraction(0), x * by_sums[-1]) - y)
            by_sums.append(-eta * gathered)
        moved = (sum(by_sums[1:], Fraction(0)) - sum(by_steps[:-1], Fraction(0))) / records
        tried += 1
        if moved != says * (by_steps[-1] - by_steps[0]) / records:
            return refuted("the two means differ by something else", {
                "N": records, "difference": moved, "(w_N - w_0)/N": (by_steps[-1] - by_steps[0]) / records})
    first, middle, last = sympy.symbols("w_0 S w_N", real=True)
    return proof(
        computed("(w_1 + ... + w_N) - (w_0 + ... + w_{N-1}) = w_N - w_0, on symbols",
                 vanishes(middle + last - (first + middle) - says * (last - first))),
        argued("w_0 = 0: -eta times a sum is what the steps add up to, so the iterates are the same"), tried=tried,
    )


def judge_free(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether with f = says(levels in all, epsilon, ln(1/delta)) the tree's sqrt(levels)/f is free of N."""
    eps, log, levels, other = sympy.symbols("epsilon L l k", positive=True)
    if any(level < 1 for level in given.values("levels")):
        return undecided("no tree", 1)
    one, two = (sympy.simplify(n / says(n, eps, log) ** 2) for n in (levels, other))
    if not vanishes(one - two):
        return refuted("the guarantee depends on N", {"levels/f^2": one})
    return proof(computed("ceil(lg(N+1))/f^2 is epsilon^2/(2 ln(1/delta)) for every N, on symbols",
                          vanishes(one - eps**2 / (2 * log))))


_SHARE = Parameter("share", low=Fraction(0), high=Fraction(1), low_open=True, meaning="D_eff/D_pri, below lambda_1")
QUOTE = "aligns with that in Theorem@, with the primary difference being a factor of log, N. It is intuitive"
_SAME = "glmtron/remark-8-reading-"
_READINGS = tuple(_SAME + name for name in ("bounds", "equal-noise", "errors", "errors-one", "errors-flat"))


def _compared(name: str, source: str, quote: str, words: str) -> Claim:
    return Claim(
        id=f"glmtron/{name}", source=source, quote=quote, whose=Whose.PRINTED, severity=Stake.UTILITY,
        statement=r"\text{private}_{\text{tree}} / \text{private}_{\text{shuffled}} = O(\log N)", words=words,
        hypotheses=(), says=None, check=None, expected="AMBIGUOUS STATISTICAL", readings=_READINGS,
    )


remark = _compared(
    "remark-8", "003, Remark 8: the two algorithms differ by a factor of log2 N", QUOTE,
    "the private term of DP-TAGLMtron is that of DP-GLMtron up to a factor of log2 N",
)
abstract = _compared(
    "abstract-log-factor", "003, abstract", "with only an additional factor of O(log N) in the utility upper bound.",
    "DP-TAGLMtron has the utility of DP-GLMtron up to a factor O(log N)",
)
intro = _compared(
    "intro-log-factor", "003, Section 1, contribution 2",
    "DP-GLMtron only with an additional factor of O(log V). This finding indicates that DP-TAGLMtron",
    "the bound of DP-TAGLMtron is that of DP-GLMtron up to a factor O(log N)",
)
conclusion = _compared(
    "conclusion-comparable", "003, Section 7",
    "developed DP-TAGLMtron, which offers performance comparable to DP-GLMtron but supports",
    "the two algorithms have comparable performance",
)
bounds = Claim(
    id="glmtron/remark-8-reading-bounds", source="003, Remark 8 of the printed bounds, at one epsilon and delta",
    quote=QUOTE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\text{bound}_{5.2}/\text{bound}_{4.2} \le 10 \log_2 N,\quad f_s = "
              r"\tfrac{6\ln(N/\delta)}{\varepsilon\sqrt N},"
              r"\ f_t = \tfrac{\sqrt{2\lceil\lg(N+1)\rceil\ln(1/\delta)}}{\varepsilon}",
    words="at one epsilon and delta the printed private bounds differ by at most 10 lg N",
    hypotheses=(LEVELS,), says=(lambda levels, n: 10 * levels, HIDDEN), check=judge_bounds,
    expected="REFUTED PROVED", flips=(Flip("N (lg N + 1)^2", (lambda m, n: n * (m + 1) ** 2, HIDDEN), Verdict.HOLDS),),
    repair=Repair(
        statement=r"\eta N D_{eff} \le \kappa D^{pri} \Rightarrow \text{sharp bound}/\text{bound}_{4.2} \le "
                  r"\tfrac{5/4 + 3\kappa}{c^2} \cdot \tfrac34 (\log_2 N + 1)",
        words="with the sharpened bound they differ by a factor of the order lg N where eta N D_eff <= kappa D_pri",
        hypotheses=(LEVELS, positive("power", "ln(1/delta)/ln N")), says=Fraction(3, 4), check=judge_sharp_bounds,
        expected="HOLDS ARGUED", rests_on=("glmtron/thm-5.2-sharp-every-spectrum-repaired",),
        flips=(Flip("a tenth", Fraction(1, 10), Verdict.REFUTED),),
        true_variants={"*more": "a weaker bound", "1 % less": "1/(2 ln 2) = 0.7213 would do"},
    ),
)
equal_noise = Claim(
    id="glmtron/remark-8-reading-equal-noise", source="003, Remark 8 of the printed bounds, at one noise multiplier f",
    quote=QUOTE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\log_2 N (\alpha\eta\log_2 N\operatorname{tr} H + 1)(1 + D_{eff}/D^{pri}) \le 4 \log_2 N",
    words="at one f the printed private bounds differ by at most 4 lg N",
    hypotheses=(LEVELS, LOAD, _SHARE), says=lambda levels: 4 + 0 * levels, check=judge_equal,
    expected="REFUTED PROVED", flips=(Flip("2 (lg N + 1)", lambda levels: 2 * (levels + 1), Verdict.HOLDS),),
    repair=Repair(
        statement=r"\alpha\eta\operatorname{tr}(H)\log_2 N \le 1,\ \lambda_1 \le 1 \Rightarrow \text{ratio} \le "
                  r"4\log_2 N",
        words="they do at the lemmas' step size, alpha eta tr(H) lg N <= 1, and for lambda_1 <= 1; else it is lg^2 N",
        hypotheses=(Parameter("load", low=Fraction(0), high=Fraction(1), low_open=True, meaning="alpha eta tr(H) lg N"),
                    _SHARE),
        says=Fraction(4), check=judge_cooled, expected="HOLDS PROVED",
        flips=(Flip("three", Fraction(3), Verdict.REFUTED),), true_variants={"*more": "a weaker bound"},
    ),
)
errors = Claim(
    id="glmtron/remark-8-reading-errors",
    source="003, Remark 8 of the errors, at one epsilon and delta, lambda_i = i^-2",
    quote=QUOTE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\text{private error}_{\text{tree}} \le \text{private error}_{\text{shuffled}},\ \lambda_i = i^{-2}",
    words="on a decaying spectrum the tree costs no more than the shuffled pass with the noise that clones prove, and "
          "the ratio does not grow with N",
    hypotheses=(), says="taglmtron-against-glmtron", check=lambda says, given: by_study(says),
    expected="HOLDS STATISTICAL",
    flips=(Flip("flat", "taglmtron-against-glmtron-flat", Verdict.REFUTED),
           Flip("the closed form", "taglmtron-against-glmtron-closed-form", Verdict.HOLDS)),
)
errors_flat = Claim(
    id="glmtron/remark-8-reading-errors-flat",
    source="003, Remark 8 of the errors, one direction (study taglmtron-against-glmtron-flat: violated, too)",
    quote=QUOTE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\text{private error}_{\text{tree}} \le 3\, \text{private error}_{\text{shuffled}},\ H = 1,\ \eta = 1/3",
    words="on a flat spectrum with a fixed step size the tree costs at most 3 times what the shuffled pass costs",
    hypotheses=(LEVELS,), says=lambda levels, n: Fraction(3), check=judge_flat, expected="REFUTED PROVED",
    flips=(Flip("10 N lg N", lambda levels, n: 10 * n * levels, Verdict.HOLDS),),
    repaired_by="glmtron/remark-8-reading-bounds-repaired",
)
lower = Claim(
    id="glmtron/remark-8-lower",
    source="003, Remark 8: the same lower bound (with the constant 3/512, proved of DP-GLMtron on Gaussian features)",
    quote="most by a factor of log, IV and adheres to the same lower bound as DP-GLMtron with a different noise",
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"\text{private} \ge \tfrac3{512} f^2\Gamma^2 D^{pri}/N",
    words="DP-TAGLMtron obeys the lower bound of DP-GLMtron with its own noise", hypotheses=(LEVELS,),
    says=lambda n: Fraction(3, 512), check=judge_lower, expected="REFUTED PROVED", uses=("glmtron/lemma-E.5-lower",),
    flips=(Flip("1/(4 N^3) in place of 3/512", lambda n: Fraction(1, 4) / n**3, Verdict.HOLDS),),
    repaired_by="glmtron/thm-5.2-sharp-power",
)
nodes = Claim(
    id="glmtron/remark-8-nodes", source="003, Remark 8: how many Gaussian vectors, answers with the current vector",
    quote="privacy is derived from a combination of at most [log, NV + 1] and at least one random Gaussian",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"1 \le \#\text{nodes} \le \lceil\log_2 N + 1\rceil",
    words="an answer's noise is that of at least one and at most lg N + 1 nodes; lg N would do", hypotheses=(LEVELS,),
    says=(1, lambda levels: levels + 1), check=judge_nodes, expected="HOLDS ARGUED",
    flips=(Flip("two at least", (2, lambda levels: levels + 1), Verdict.REFUTED),
           Flip("fewer", (1, lambda levels: levels - 1), Verdict.REFUTED)),
    true_variants={"?0? sign": "a weaker bound", "?1? 1 % more": "a weaker bound", "?1? squared": "a weaker bound",
                   "?1? * -> *": "a weaker bound"},
)
consistent = Claim(
    id="glmtron/remark-8-bias-variance", source="003, Remark 8: bias and variance are those of Theorem 4.2",
    quote="consistent with those in Theorem .2} This alignment extends to the non-private results, with the only",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\bar w^{(3)} = \bar w^{(1)} + (w_N - w_0)/N \text{ without private noise}",
    words="without private noise the two algorithms have the same iterates; their means differ by (w_N - w_0)/N, as "
          "one begins at w_1 and the other at w_0, so bias and variance are of one order",
    hypotheses=(LEVELS,), says=1, check=judge_shift, expected="HOLDS ARGUED",
    flips=(Flip("equal means", 0, Verdict.REFUTED),),
)
no_limit = Claim(
    id="glmtron/remark-8-epsilon", source="003, Remark 8: no epsilon = O(1/sqrt(N))",
    quote="variance. Moreover, in contrast to Algorithm DP-TAGLMtron does not necessitate ¢ = O(1/v/N)",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\lceil\lg(N+1)\rceil/f^2 = \varepsilon^2/(2\ln(1/\delta)) \text{ for every } N",
    words="the tree's guarantee at its f does not depend on N: no epsilon is excluded as N grows", hypotheses=(LEVELS,),
    says=lambda levels, eps, log: sympy.sqrt(2 * levels * log) / eps, check=judge_free, expected="HOLDS PROVED",
    flips=(Flip("without the levels", lambda levels, eps, log: sympy.sqrt(2 * log) / eps, Verdict.REFUTED),),
    true_variants={"sign": "the square alone counts"},
)
