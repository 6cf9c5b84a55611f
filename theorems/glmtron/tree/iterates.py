r"""Lemmas E.4 and E.5 of document 003: one step of the second moments, without noise and with that of the tree.

A step without noise. x_t is independent of w_{t-1}; averaged over x and -x, (relu(a) - relu(b))^2 is (a-b)^2/2 for
scores of one sign and (a^2+b^2)/2 otherwise, between (a-b)^2/4 and (a-b)^2/2, and (relu(a) - relu(b)) x is (a-b) x/2.
So A_t = A - (eta/2)(HA + AH) + eta^2 c M o A + eta^2 sigma^2 H with a c between 1/4 and 1/2 in the order of matrices.

The noise of the tree. Gamma_t = v_t - v_{t-1} adds the node that is born at answer t and takes away those that are
dropped: with b zeros at the end of t in binary, E[Gamma_t Gamma_t^T] = (1 + b) s^2 I, and a node born at j and dropped
at t makes E[Gamma_j Gamma_t^T] = -s^2 I: minus, not plus. Given all noise, E[R_t ... R_j] = (I - eta H/2)^{t-j+1}, so
the crossing terms come to -2 eta^2 s^2 sum_{j<b} (I - eta H/2)^{2^j} <= 0 exactly. They may be dropped in an upper
bound, but a lower bound without them is false: where lambda is small, A_t - A_0 is eta^2 s^2 times the number of ones
of t in binary, not t times anything.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, non_negative, positive, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.tree.chain import LEVELS, WEAKER, covariance, fresh
from theorems.glmtron.tree.sharp import paired, scores
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled, undecided


def square(form: Any, a: Any, b: Any) -> bool:
    """Whether a quadratic form of two numbers is never negative: trace and determinant of its matrix."""
    matrix = sympy.hessian(sympy.expand(form), (a, b))
    return vanishes(form - sympy.Matrix([a, b]).dot(matrix * sympy.Matrix([a, b])) / 2) and bool(
        matrix.trace() >= 0 and matrix.det() >= 0)


def judge_shares(says: tuple[Any, Any], given: Domain) -> Finding:
    """Whether the paired square of two relus lies between says[0] and says[1] times (a - b)^2."""
    low, high = (sympy.Rational(str(one)) for one in says)
    tried = 0
    for point in given.points("a", "b"):
        for c, d in scores(point["a"], point["b"]):
            true = Fraction((max(0, c) - max(0, d)) ** 2 + (max(0, -c) - max(0, -d)) ** 2) / 2
            least, most = (one * (c - d) ** 2 for one in says)
            tried += 1
            if not least <= true <= most:
                return refuted("two scores with another share", {
                    "scores": f"{c} and {d}", "paired square": true, "at least": least, "at most": most})
    a, b = given.symbol("a"), given.symbol("b")
    return proof(
        computed("the share lies between the two, for all signs of the scores, on symbols", all(
            square(form, a, b) or never_negative(form) for c, d in scores(a, b)
            for form in (paired(c, d) - low * (c - d) ** 2, high * (c - d) ** 2 - paired(c, d)))),
        computed("(relu(a) - relu(b)) x is (a - b) x/2 on average over x and -x, for all signs", all(
            vanishes((sympy.Max(0, c) - sympy.Max(0, d) - sympy.Max(0, -c) + sympy.Max(0, -d)) / 2 - (c - d) / 2)
            for c, d in scores(a, b))),
        argued("x_t is independent of w_{t-1} and has the law of -x_t, and E z = 0: the terms add up as in the text"),
        tried=tried,
    )


def judge_growth(says: Callable[[int], Any], given: Domain) -> Finding:
    """Whether a step adds at least says(t) eta^2 s^2 I to (I - (eta/2) T(eta/2)) o A; one direction, exactly.

    Compared at all answers: w* = 0, no label noise, Gaussian features, so that the second moment is exact.
    """
    tried = 0
    for point in given.points("levels", "load", most={"levels": 4}):
        eta = point["load"] / 3
        q, mean, rest, floor = 1 - eta / 2, Fraction(0), Fraction(0), Fraction(0)
        for t in range(1, 2 ** point["levels"] + 1):
            rest = q**2 * rest + eta**2 * Fraction(5, 4) * (mean + rest)
            mean = q**2 * mean + eta**2 * fresh(q, t)
            floor = (1 - eta + eta**2 * Fraction(3, 4)) * floor + eta**2 * says(t)
            tried += 1
            if mean + rest < floor:
                return refuted("the second moment is smaller than the recursion, exactly", {
                    "lambda": 1, "eta": eta, "answer": t, "exact over eta^2 s^2": (mean + rest) / eta**2,
                    "claimed at least": floor / eta**2})
    return undecided("no answer tried is against it", tried)


def judge_crossing(says: Callable[[Any, int], Any], given: Domain) -> Finding:
    """Whether tree noise, with crossing terms, adds says(q, zeros) eta^2 s^2 to E u^2 at such an answer."""
    tried = 0
    for point in given.points("q", "zeros", most={"zeros": 4}):
        q, zeros = point["q"], point["zeros"]
        size = 2 ** (zeros + 1)
        for t in (2**zeros, 3 * 2**zeros):
            cross = sum((2 * q ** (t - j) * covariance(2 * size, j, t) for j in range(1, t)), Fraction(0))
            tried += 1
            if says(q, zeros) != covariance(2 * size, t, t) + cross:
                return refuted("the tree, walked, adds something else", {
                    "q": q, "answer": t, "claimed": says(q, zeros), "added": covariance(2 * size, t, t) + cross})
    q_ = given.symbol("q")
    return proof(
        sampled("a new node has its variance, a dropped one of level j its variance less twice q^(2^j): up to 4 zeros",
                all(vanishes(says(q_, b) - (1 + sum((1 - 2 * q_ ** (2**j) for j in range(b)), sympy.Integer(0))))
                    for b in range(5))),
        argued("answer t drops the nodes of levels below b, of which that of level j was born 2^j answers before"),
        tried=tried,
    )


def judge_upper(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether says(lg N, f, gamma) is at least E[Gamma_t Gamma_t^T] = (1 + b) f^2 gamma^2, b <= lg N zeros."""
    tried = 0
    for point in given.points("levels", "f", "gamma", most={"levels": 4}):
        levels, f, gamma = point["levels"], point["f"], point["gamma"]
        most = max(covariance(2**levels, t, t) for t in range(1, 2**levels + 1)) * f**2 * gamma**2
        tried += 1
        if says(levels, f, gamma) < most:
            return refuted("the change of the noise is larger", {
                "N": 2**levels, "f": f, "gamma": gamma, "E[Gamma^2]": most, "claimed": says(levels, f, gamma)})
    m, f_, gamma_ = 1 + sympy.Symbol("k", nonnegative=True), given.symbol("f"), given.symbol("gamma")
    q = 1 / (1 + sympy.Symbol("t", nonnegative=True))
    return proof(
        computed("(1 + lg N) f^2 gamma^2 is at most what is claimed, on symbols",
                 never_negative(says(m, f_, gamma_) - (1 + m) * f_**2 * gamma_**2)),
        computed("the crossing terms are minus a sum of powers of q: at most 0", never_negative(q, q**2)),
        sampled("an answer up to 2^m drops at most m nodes (m <= 4)", tried > 0),
        argued("quadratic terms 1 to 3 and crossing term 1 are those of Lemma E.4"),
        tried=tried,
    )


def judge_written(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """The same with the noise as the proof writes it, gamma f^2 g: variance gamma^2 f^4 a node."""
    tried = 0
    for point in given.points("levels", "f", "gamma", most={"levels": 3}):
        levels, f, gamma = point["levels"], point["f"], point["gamma"]
        tried += 1
        least = f**4 * gamma**2  # one node
        if says(levels, f, gamma) < least:
            return refuted("one node alone has a larger variance", {
                "N": 2**levels, "f": f, "gamma": gamma, "E[Gamma^2] at least": least,
                "claimed": says(levels, f, gamma)})
    m, f_, gamma_ = 1 + sympy.Symbol("k", nonnegative=True), given.symbol("f"), given.symbol("gamma")
    return proof(
        computed("(1 + lg N) f^4 gamma^2 is at most what is claimed, on symbols",
                 never_negative(says(m, f_, gamma_) - (1 + m) * f_**4 * gamma_**2)),
        argued("an answer up to 2^m adds a node and drops at most m, all of them independent"),
        tried=tried,
    )


def judge_covariance(says: int, given: Domain) -> Finding:
    """Whether E[Gamma_j Gamma_t] is says s^2 for a node that is born at j and dropped at t, and 0 if there is none."""
    tried = 0
    for zeros in given.values("zeros", most=4):
        t = 2**zeros
        for j in range(1, t):
            tried += 1
            shared = (t - j).bit_count() == 1  # 2^Q - 2^i
            if covariance(t, j, t) != says * shared:
                return refuted("walking the tree gives another covariance", {
                    "j": j, "t": t, "E[Gamma_j Gamma_t]/s^2": covariance(t, j, t), "claimed": says * shared})
    k = sympy.Symbol("k", integer=True, nonnegative=True)
    total = 2 ** (k + 1) - 1  # the sum of 2^0, ..., 2^k
    return proof(
        computed("2^(Q-1) + ... + 2^i = 2^Q - 2^i, by induction: the sums of the text are the births of dropped nodes",
                 vanishes(total.subs(k, k + 1) - total - 2 ** (k + 1), total.subs(k, 0) - 1)),
        argued("a node enters with + at its birth and with - when it is dropped"),
        tried=tried,
    )


def judge_reflection(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether E[R | past, noise] = 1 - eta says(zero), one direction of variance 1, R = 1 - eta 1[x w > 0] x^2.

    `zero` is the share of E x^2 where x w = 0: all of it at w = 0, where the indicator is 0.
    """
    tried = 0
    for eta in given.values("eta"):
        for zero in given.values("zero"):
            true = 1 - eta * (1 - zero) / 2
            tried += 1
            if 1 - eta * says(zero) != true:
                return refuted("the first step, from w_0 = 0: the indicator is 0 and R = I", {
                    "w": 0 if zero == 1 else "a point", "eta": eta, "lambda": 1, "E[R]": true,
                    "claimed": 1 - eta * says(zero)})
    zero_ = given.chart("zero")
    return proof(
        computed("x and -x share the indicator's second moment: half of what x.w = 0 leaves, on symbols",
                 vanishes(says(zero_) - (1 - zero_) / 2)),
        argued("x_t is independent of all earlier records and of every node, drawn or to be drawn, and w_{t-1} is a "
               "function of those: shared noise changes nothing, and given all noise E[R_t ... R_j] = (I - eta H/2)^k"),
        tried=tried,
    )


def judge_rows(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether E|w|^2 has as many rows as says(d); the trace of the outer product w w^T is it, with one."""
    for d in given.values("d"):
        w = sympy.Matrix(range(1, min(d, 5) + 1))
        norm, outer = w.dot(w), w * w.T
        if says(d) != 1 or outer.trace() != norm:
            return refuted("a number is no matrix", {
                "d": d, "rows of the norm": 1, "rows of the matrix": d, "claimed rows": says(d)})
    return proof(
        computed("one row for every d, on symbols", vanishes(says(given.symbol("d")) - 1)),
        argued("the trace of the outer product is the squared norm"),
    )


_SCORES = (non_negative("a"), non_negative("b"))
_NOISE = (LEVELS, positive("f"), positive("gamma"))
_ZEROS = Parameter("zeros", kind="integer", low=Fraction(0), meaning="zeros at the end of the answer's number, binary")
_LOAD = Parameter("load", low=Fraction(0), high=Fraction(1), low_open=True, meaning="3 eta lambda")

e4 = Claim(
    id="glmtron/lemma-E.4", source="003, Lemma E.4 (as Lemma D.4 without private noise)",
    quote="Lemma E.4 (Generic bounds on the GLM-tron iterates [49]). Suppose that Assumption [3.6|holds.",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"(I - \tfrac\eta2 T(\tfrac\eta2)) \circ A + \eta^2\sigma^2 H \preceq A_t \preceq "
              r"(I - \tfrac\eta2 T(2\eta)) \circ A + \eta^2\sigma^2 H",
    words="a step without private noise has between 1/4 and once the fourth moment term (1/2 would do)",
    hypotheses=_SCORES, says=(Fraction(1, 4), Fraction(1)), check=judge_shares, expected="HOLDS ARGUED",
    flips=(Flip("half below", (Fraction(1, 2), Fraction(1)), Verdict.REFUTED),
           Flip("a third above", (Fraction(1, 4), Fraction(1, 3)), Verdict.REFUTED)),
    true_variants={"?0? 1 % less": "a weaker bound", "?0? sign": "a weaker bound", "?1? 1 % more": "a weaker bound",
                   "?1? 1 % less": "1/2 would do", "?1? one more": "a weaker bound"},
)
_INCREMENT = (
    r"By denoting T'; = v; — v;_1 and noticing that v; is a combination of at most O([log, t]) Gaussian"
)
_RECURSION = "hold. Consider the DP-TAGLMtron algorithm, we have the following recursion:"
upper = Claim(
    id="glmtron/lemma-E.5-upper", source="003, Lemma E.5, the upper recursion: which noise has an increment?",
    quote=_RECURSION, whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"A_t \preceq \ldots + \eta^2 f^2 (\lceil\log_2 N\rceil + 1) E[\gamma^4 + \gamma^2] I + \ldots",
    words="f^2 (lg N + 1)(gamma^4 + gamma^2) is at least the second moment of an increment of the noise (the power 4 "
          "is damaged in the text; E.7 has it, too)",
    hypotheses=_NOISE, says=None, check=None, expected="AMBIGUOUS ARGUED",
    readings=("glmtron/lemma-E.5-upper-reading-algorithm", "glmtron/lemma-E.5-upper-reading-proof"),
)
PRINTED_NOISE = lambda levels, f, gamma: f**2 * (levels + 1) * (gamma**4 + gamma**2)  # noqa: E731
upper_algorithm = Claim(
    id="glmtron/lemma-E.5-upper-reading-algorithm",
    source="003, Lemma E.5 with the noise of Algorithm 4: f gamma a node",
    quote=_RECURSION, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"E[\Gamma_t\Gamma_t^\top] \preceq f^2 (\log_2 N + 1)(\gamma^4 + \gamma^2) I, "
              r"\text{ crossing terms} \preceq 0",
    words="with noise f gamma a node the upper recursion holds: gamma^2 alone would do, and the crossing terms, which "
          "the proof bounds by positive ones, are negative",
    hypotheses=_NOISE, says=PRINTED_NOISE, check=judge_upper, expected="HOLDS ARGUED",
    uses=("glmtron/lemma-E.5-P", "glmtron/E.5-covariance", "glmtron/E.5-conditional-R"),
    rests_on=("glmtron/lemma-E.4", "glmtron/E.5-covariance-repaired"), true_variants={
        **WEAKER, "** -> * (operator 4)": "any term >= 0 beside gamma^2 will do", "any f": "the square alone counts",
        "any gamma": "even powers alone count"},
    flips=(Flip("one node", lambda levels, f, gamma: f**2 * gamma**2, Verdict.REFUTED),
           Flip("gamma^2 alone", lambda levels, f, gamma: f**2 * gamma**2 * (levels + 1), Verdict.HOLDS)),
)
upper_written = Claim(
    id="glmtron/lemma-E.5-upper-reading-proof", source="003, Lemma E.5 with the noise of its proof: gamma f^2 g a node",
    quote=_INCREMENT, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\Gamma_t = \sum_q \gamma f^2 g_q \Rightarrow E[\Gamma_t\Gamma_t^\top] \preceq "
              r"f^2 (\log_2 N + 1)(\gamma^4 + \gamma^2) I",
    words="with noise gamma f^2 a node, as the proof writes, the printed term bounds an increment's second moment",
    hypotheses=_NOISE, says=PRINTED_NOISE, check=judge_written, expected="REFUTED PROVED",
    flips=(Flip("f^4", lambda levels, f, gamma: f**4 * gamma**2 * (levels + 1), Verdict.HOLDS),),
    repaired_by="glmtron/lemma-E.5-upper-reading-algorithm",
)
lower = Claim(
    id="glmtron/lemma-E.5-lower", source="003, Lemma E.5, the lower recursion, and the end of its proof",
    quote="Therefore, the iteration of A; will be the same case in DP-", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"A_t \succeq (I - \tfrac\eta2 T(\tfrac\eta2)) \circ A_{t-1} + \eta^2\sigma^2 H "
              r"+ 4\eta^2\bar\Gamma^2 f^2 I",
    words="every step adds at least 4 eta^2 f^2 Gamma^2 I, as the increments of the noise are uncorrelated",
    hypotheses=(LEVELS, _LOAD), says=lambda t: Fraction(4), check=judge_growth, expected="REFUTED PROVED",
    uses=("glmtron/lemma-E.4",),
    flips=(Flip("one node a step", lambda t: Fraction(1), Verdict.REFUTED),
           Flip("nothing", lambda t: Fraction(0), Verdict.UNDECIDED)),
    repair=Repair(
        statement=r"E[u_{t}u_t^\top] = Q E[u_{t-1}u_{t-1}^\top] Q + \eta^2 s^2 (1 + b - 2\sum_{j<b} Q^{2^j}),\ "
                  r"Q = I - \eta H/2",
        words="the noise adds 1 + b - 2 (q + q^2 + q^4 + ...), b terms, times eta^2 s^2 at an answer with b zeros at "
              "its end: less than nothing for small eta lambda and b >= 2",
        hypotheses=(unit_interval("q"), _ZEROS),
        says=lambda q, zeros: 1 + sum(1 - 2 * q ** (2**j) for j in range(zeros)),
        check=judge_crossing, expected="HOLDS ARGUED",
        flips=(Flip("no crossing terms", lambda q, zeros: 1 + zeros, Verdict.REFUTED),),
        true_variants={"any q": "an identity of polynomials"},
        survivors={"beyond argument 1 = *": "the zeros are tried up to 4; beyond, the sum is that of the argument"},
    ),
)
crossing_sign = Claim(
    id="glmtron/E.5-covariance", source="003, proof of Lemma E.5: E[Gamma_j Gamma_t^T] as a sum of squares",
    quote="These results arise because only I'; is dependent on g, for ¢ € Q(t).", whose=Whose.PRINTED,
    severity=Stake.PROOF, statement=r"E[\Gamma_j\Gamma_t^\top] = +\gamma^2 f^2 I,\quad j \in Q(t)",
    words="an increment has the covariance + s^2 with those at which its nodes were born", hypotheses=(_ZEROS,),
    says=1, check=judge_covariance, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"E[\Gamma_j\Gamma_t^\top] = -s^2 I,\quad j \in Q(t);\qquad 0 \text{ otherwise}",
        words="it has the covariance - s^2 with them, as a dropped node leaves with a minus, and 0 with others",
        says=-1, expected="HOLDS ARGUED",
    ),
)
conditional = Claim(
    id="glmtron/E.5-conditional-R", source="003, proof of Lemma E.5: the mean of R_t given the noise (Lemma C.2)",
    quote="(crossing term 3) = 0,", whose=Whose.READING, severity=Stake.PROOF,
    statement=r"E[R_t \mid \text{past, noise}] = I - \eta H/2",
    words="given the past and all noise R_t has the mean I - eta H/2, at every step",
    hypotheses=(positive("eta"), unit_interval("zero", "the share of E x^2 where x.w = 0")),
    says=lambda zero: Fraction(1, 2), check=judge_reflection, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"E[R_t \mid \text{past, noise}] = I - \eta (H - E[xx^\top 1[x^\top w_{t-1} = 0]])/2",
        words="it has that mean where x.w_{t-1} = 0 has no mass: not at the first step, w_0 = 0, nor for one-hot "
              "records; shared noise is no obstacle, and what the proof needs, E[(relu(x.w) - relu(x.w*)) x] = H (w - "
              "w*)/2, "
              "holds for every w",
        says=lambda zero: (1 - zero) / 2, expected="HOLDS ARGUED",
        true_variants={"any eta": "the step size multiplies both sides",
                       "any zero": "an identity; no other share exists"},
    ),
)
scalar = Claim(
    id="glmtron/E.5-scalar-matrix", source="003, proof of Lemma E.5: a number set equal to a matrix",
    quote="Ay = E[|w; — w.[3] = E[(w; — w.)(w; — w.) ]", whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"E\|w_t - w_*\|_2^2 = E[(w_t - w_*)(w_t - w_*)^\top]",
    words="the squared norm, a number, is the outer product, a matrix with as many rows as there are directions",
    hypotheses=(Parameter("d", kind="integer", low=Fraction(1)),), says=lambda d: d, check=judge_rows,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"A_t := E[(w_t - w_*)(w_t - w_*)^\top],\quad E\|w_t - w_*\|^2 = \operatorname{tr} A_t",
        words="A_t is the outer product; the squared norm is its trace, one number", says=lambda d: 1 + 0 * d,
        expected="HOLDS ARGUED",
        true_variants={"squared": "one is its own square", "+ -> - (operator 2)": "nothing, taken away"},
    ),
)
