r"""Table 1, the bounds that introduction and conclusion repeat, and numbers of the experiments' privacy.

Theorem 4.2's private term is f^2 Gamma^2 D_pri/N. With f = L/(epsilon sqrt N) of Theorem 4.1 (L a logarithm) it is L^2
Gamma^2 D_pri/(N^2 epsilon^2), the entry of Table 1; that of Theorem 5.2, f^2 log(N)/N (D_eff + D_pri) with f =
L/epsilon, has N epsilon^2 below, and not N^2 epsilon^2. Document 002 has 1/sqrt(n) + min{sqrt(d)/(n epsilon),
(n epsilon)^(-2/3)} for ReLU regression after its Theorem 6. It is for |x| <= 1, and W(W + B) is in its constant: with
|x| <= sqrt(d) one rescales x by 1/sqrt(d) and w by sqrt(d), and the constant grows by up to d.

The noise of the last prefix sum, in units of gamma, one record replaced, at one (epsilon, delta): 2 f sqrt(N) for the
shuffled pass (N independent noises of 2 f gamma) and f' sqrt(popcount(N)) for the tree (f' for a leaf that moves by 2).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import Parameter, positive
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.privacy.shuffling import explicit_noise
from theorems.tools.leading_points import led
from theorems.tools.printed import rounds_to
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import positive as signed
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, at_points, computed, instance, proof, refuted, undecided

_PRECISION = 100
_N, _EPSILON, _DELTA = 550, Fraction(1, 20), Fraction("9.67e-4")


def judge_entry(entry: Callable[..., Any], given: Domain, *, tree: bool) -> Finding:
    """Whether entry(D_eff, D_pri, N, epsilon) is the private term, Gamma and logarithms set to 1."""
    names, tried = ("effective", "private", "records", "epsilon"), 0

    def true(effective: Any, private: Any, n: Any, epsilon: Any) -> Any:
        if tree:  # f = 1/epsilon
            return (1 / epsilon) ** 2 / n * (effective + private)
        return (1 / epsilon) ** 2 / n / n * private  # f = 1/(epsilon sqrt N)

    for point in led(given, at_most=80, effective="1", private="1", records="2", epsilon="1"):
        values = [point[name] for name in names]
        tried += 1
        if entry(*values) != true(*values):
            return refuted("the theorem's private term is another", {
                "D_eff": values[0], "D_pri": values[1], "N": values[2], "epsilon": values[3],
                "private term": true(*values), "entry": entry(*values)})
    symbols = [given.symbol(name) for name in names]
    return proof(computed("it is the theorem's term with its f, on symbols",
                          vanishes(entry(*symbols) - true(*symbols))), tried=tried)


def judge_shuffled(entry: Callable[..., Any], given: Domain) -> Finding:
    """Of DP-GLMtron: Theorem 4.2 with the f of Theorem 4.1."""
    return judge_entry(entry, given, tree=False)


def judge_tree(entry: Callable[..., Any], given: Domain) -> Finding:
    """Of DP-TAGLMtron: Theorem 5.2 with the f of Theorem 5.1."""
    return judge_entry(entry, given, tree=True)


def judge_quoted(quoted: Callable[..., Any], given: Domain) -> Finding:
    """Whether a quoted bound is that of document 002 for ReLU regression, in both branches of its minimum."""
    tried = 0

    def original(n: Any, e: Any, d: Any) -> tuple[Any, Any]:  # squared and cubed, so that all is rational
        return d / (n * e) ** 2, 1 / (n * e) ** 2

    for point in given.points("records", "epsilon", "dimension", at_most=80):
        values = [point[name] for name in ("records", "epsilon", "dimension")]
        tried += 1
        if tuple(quoted(*values)) != original(*values):
            return refuted("document 002 has another bound", {
                "N": values[0], "epsilon": values[1], "d": values[2], "quoted": quoted(*values),
                "original": original(*values)})
    symbols = [given.symbol(name) for name in ("records", "epsilon", "dimension")]
    return proof(computed("both branches are those of document 002, on symbols",
                          vanishes(*(a - b for a, b in zip(quoted(*symbols), original(*symbols), strict=True)))),
                 tried=tried)


def judge_rescaled(growth: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether W (W + B) grows by growth(d, B/W) when features of norm sqrt(d) are rescaled to norm 1."""
    tried = 0

    def true(d: Any, share: Any, root: Any) -> Any:
        return root * (root + share) / (1 + share)  # W -> sqrt(d) W, B stays

    for point in given.points("root", "share", at_most=80):
        root, share = point["root"], point["share"]
        tried += 1
        if growth(root, share) != true(root**2, share, root):
            return refuted("it grows by another factor", {
                "sqrt(d)": root, "B/W": share, "factor": true(root**2, share, root), "claimed": growth(root, share)})
    root_, share_ = given.symbol("root"), given.symbol("share")
    return proof(
        computed("sqrt(d) W (sqrt(d) W + B) over W (W + B), on symbols",
                 vanishes(growth(root_, share_) - true(root_**2, share_, root_))),
        computed("it rises without bound with d: its derivative in sqrt(d) is positive, on symbols",
                 signed(sympy.diff(true(root_**2, share_, root_), root_))),
        tried=tried,
    )


def judge_monotone(exponents: tuple[Callable[[Any], Any], ...], given: Domain) -> Finding:
    """Whether the exponents rise with r, and are 2/3, 3/4 and 2/5, 3/7 at r = 2 and 3."""
    told = ((Fraction(2, 3), Fraction(3, 4)), (Fraction(2, 5), Fraction(3, 7)))
    for exponent, values in zip(exponents, told, strict=True):
        for r, value in zip((2, 3), values, strict=True):
            if exponent(Fraction(r)) != value:
                return refuted("another exponent", {"r": r, "exponent": exponent(Fraction(r)), "claimed": value})
    tried = len(given.values("r"))
    r_ = given.chart("r")
    return proof(
        computed("both derivatives are positive for r > 1, on symbols",
                 all(signed(sympy.diff(exponent(r_), next(iter(r_.free_symbols)))) for exponent in exponents)),
        computed("they are r/(1 + r) and r/(1 + 2r), on symbols",
                 vanishes(exponents[0](r_) - r_ / (1 + r_), exponents[1](r_) - r_ / (1 + 2 * r_))), tried=tried)


def judge_iterations(iterations: Callable[[int, int], int], given: Domain) -> Finding:
    """Whether iterations(k*, N) is the number of steps of the pass, N, for H = diag(1, 0, ...) and eta = 1/sqrt(N)."""
    for records in (4, 100):
        cut = sum(Fraction(value) >= Fraction(1, int(records**0.5)) for value in (1, 0, 0))  # lambda >= 1/(N eta)
        if iterations(cut, records) != records:
            return refuted("the pass has N steps, and k* counts eigenvalues", {
                "N": records, "eigenvalues": "1, 0, 0", "eta": f"1/{int(records**0.5)}", "k*": cut,
                "claimed steps": iterations(cut, records)})
    return instance("the pass has N steps")


def judge_delta(says: dict[int, str], given: Domain) -> Finding:
    """Whether N delta rounds to these numbers at delta = N^-1.1."""
    for records, text in says.items():
        with ctx.workprec(_PRECISION):
            value = Enclosure.of_ball((-ball(Fraction(1, 10)) * ball(records).log()).exp())
        if rounds_to(value, text) is not True:
            return refuted("N delta is another number", {"N": records, "N delta": value, "claimed": text})
    return instance("N delta = N^-0.1, certified")


def judge_sizes(sizes: tuple[int, ...], given: Domain) -> Finding:
    """Whether delta = N^-1.1 and an average of N iterates exist for every size."""
    for size in sizes:
        if size < 1:
            return refuted("neither N^-1.1 nor an average of N iterates exists", {"N": size})
    return instance("all sizes are at least 1")


def judge_clones(constant: Fraction, given: Domain) -> Finding:
    """Whether f = constant log(N/delta)/(epsilon sqrt N) is at least the least proved noise by clones, at points."""
    tried = 0
    for records in (320, 1000):
        for delta in (Fraction(1, records), Fraction(1, records**2)):
            for share in (Fraction(1), Fraction(1, 2), Fraction(1, 10)):
                with ctx.workprec(_PRECISION):
                    logs = (records / ball(delta)).log()
                    unit = (logs / records).sqrt()
                epsilon = Fraction(float(unit.mid())) * share
                least = bound("glmtron.sigma").reference(
                    dataset_size=records, epsilon=epsilon, delta=delta, method="upper")
                tried += 1
                with ctx.workprec(_PRECISION):
                    if not ball(constant) * logs / (ball(epsilon) * ball(records).sqrt()) >= least.ball:
                        return undecided(f"less than the proved noise at N = {records}, delta = {delta}", tried)
    return at_points("at least the least noise that clones prove", tried, {
        "N": "320, 1000", "delta": "1/N, 1/N^2", "epsilon": "1, 1/2, 1/10 of sqrt(log(N/delta)/N)"})


def judge_less(proved: str, given: Domain) -> Finding:
    """Whether the tree's last prefix sum has less noise than the shuffled pass, whose f is proved so, at N = 550."""
    digits = bin(_N).count("1")
    tree = bound("taglmtron.sigma").reference(
        dataset_size=_N, epsilon=_EPSILON, delta=_DELTA, neighbours="replace")
    with ctx.workprec(_PRECISION):
        f = {
            "clones": lambda: bound("glmtron.sigma").reference(
                dataset_size=_N, epsilon=_EPSILON, delta=_DELTA, method="upper").ball,
            "explicit": lambda: explicit_noise(_N, ball(_DELTA)) / ball(_EPSILON),
        }[proved]()
        theirs, ours = 2 * f * ball(_N).sqrt(), tree.ball * ball(digits).sqrt()
        told = {"N": _N, "epsilon": _EPSILON, "delta": _DELTA, "tree": Enclosure.of_ball(ours),
                "shuffled pass": Enclosure.of_ball(theirs)}
    if ours >= theirs:
        return refuted("the tree's sum has no less noise", told)
    if not ours < theirs:
        return undecided("which of the two has less noise is not certain", 1)
    return instance("the tree's sum has less noise", told)


_TERMS = (positive("effective", "D_eff"), positive("private", "D_pri"), positive("records", "N"), positive("epsilon"))
_GLMTRON = lambda effective, private, n, e: private / (n * e) ** 2  # noqa: E731

table = Claim(
    id="glmtron/table-1", source="003, Table 1, DP-GLMtron (scanned), the private term",
    quote="DP-GLMtron O(Le + ;'f ) Q(Bet 4 ;ﬂ ) e=0(75) -", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\frac{f^2\Gamma^2 D_{\mathrm{pri}}}{N},\ f = \frac{L}{\varepsilon\sqrt N} \Rightarrow"
              r" \tilde O\Big(\frac{D_{\mathrm{pri}}}{N^2\varepsilon^2}\Big)",
    words="the private term of Theorem 4.2 with the f of Theorem 4.1 is D_pri/(N^2 epsilon^2), Gamma and logarithms "
          "aside",
    hypotheses=_TERMS, says=_GLMTRON, check=judge_shuffled,
    flips=(Flip("N epsilon^2", lambda effective, private, n, e: private / n / e**2, Verdict.REFUTED),),
    true_variants={"any *": "it is an identity"}, expected="HOLDS PROVED",
)
conclusion = Claim(
    id="glmtron/conclusion-repeat", source="003, Section 7: the bound of the introduction again (scanned)",
    quote="DP-GLMtron, provides an excess population risk upper bound of O(% + 1\\?52'2 )", whose=Whose.READING,
    severity=Stake.UTILITY, statement=table.statement, words="the conclusion's bound is that of Table 1",
    hypotheses=_TERMS, says=_GLMTRON, check=judge_shuffled,
    flips=(Flip("N epsilon", lambda effective, private, n, e: private / n / e, Verdict.REFUTED),),
    true_variants={"any *": "it is an identity"}, expected="HOLDS PROVED",
)
tree_row = Claim(
    id="glmtron/table-1-taglm-row", source="003, Table 1, DP-TAGLMtron (scanned: N or N^2 below cannot be told)",
    quote="DP-TAGLMtron O( eff+DeLL§e“) - - -", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\frac{D_{\mathrm{eff}} + D_{\mathrm{pri}}}{N\varepsilon^2} \text{ or }"
              r" \frac{D_{\mathrm{eff}} + D_{\mathrm{pri}}}{N^2\varepsilon^2}",
    words="the private term of Theorem 5.2 with the f of Theorem 5.1, over N epsilon^2 or over N^2 epsilon^2",
    hypotheses=_TERMS, says=None, check=None,
    readings=("glmtron/table-1-taglm-row-reading-N", "glmtron/table-1-taglm-row-reading-N2"),
    expected="AMBIGUOUS PROVED",
)
tree_n = reading(
    tree_row, "N", source="003, Table 1, DP-TAGLMtron, read with N epsilon^2",
    words="the private term of Theorem 5.2 is (D_eff + D_pri)/(N epsilon^2), Gamma and logarithms aside",
    says=lambda effective, private, n, e: (effective + private) / (n * e**2), check=judge_tree,
    flips=(Flip("N^2", lambda effective, private, n, e: (effective + private) / (n * e) ** 2, Verdict.REFUTED),),
    true_variants={"any *": "it is an identity"}, expected="HOLDS PROVED",
)
tree_n2 = reading(
    tree_row, "N2", source="003, Table 1, DP-TAGLMtron, read with N^2 epsilon^2",
    words="the private term of Theorem 5.2 is (D_eff + D_pri)/(N^2 epsilon^2), Gamma and logarithms aside",
    says=lambda effective, private, n, e: (effective + private) / (n * e) ** 2, check=judge_tree,
    flips=(Flip("N", lambda effective, private, n, e: (effective + private) / (n * e**2), Verdict.HOLDS),),
    repaired_by="glmtron/table-1-taglm-row-reading-N", expected="REFUTED PROVED",
)
quoted = Claim(
    id="glmtron/intro-33-bound", source="003, Section 1: the bound of [33], document 002 after Theorem 6 (scanned)",
    quote="provide a utility upper bound of 6(# +min{", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\min\{\sqrt d/(N\varepsilon), (N\varepsilon)^{-2/3}\}",
    words="the branches sqrt(d)/(N epsilon) and (N epsilon)^(-2/3), squared and cubed, are those of document 002",
    hypotheses=(positive("records", "N"), positive("epsilon"), positive("dimension", "d")),
    says=lambda n, e, d: (d / (n * e) ** 2, 1 / (n * e) ** 2), check=judge_quoted,
    flips=(Flip("d for its root", lambda n, e, d: (d**2 / (n * e) ** 2, 1 / (n * e) ** 2), Verdict.REFUTED),),
    true_variants={"any *": "it is an identity"}, expected="HOLDS PROVED",
)
rescaled = Claim(
    id="glmtron/intro-33-scaling", source="003, Section 1: dimension-dependent for |x| <= sqrt(d)",
    quote="leading to a dimension- dependent upper bound when considering Bernoulli or O(1)-subGaussian data where",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\frac{\sqrt d\,W(\sqrt d\,W + B)}{W(W + B)} = \frac{\sqrt d(\sqrt d + B/W)}{1 + B/W}",
    words="rescaled to features of norm 1 the constant W(W + B) of the bound of [33] grows with d",
    hypotheses=(Parameter("root", low=Fraction(1), meaning="sqrt(d)"), positive("share", "B/W")),
    says=lambda root, share: root * (root + share) / (1 + share), check=judge_rescaled,
    flips=(Flip("not at all", lambda root, share: 1 + 0 * root, Verdict.REFUTED),),
    uses=("glmtron/intro-33-bound",), expected="HOLDS PROVED",
)
monotone = Claim(
    id="glmtron/remark-5-monotone-algebra", source="003, Remark 5: faster decay, lower risk, r = 2 and 3",
    quote="faster eigenvalue decay (e.g. » = 2, 3) consistently resulted in lower excess risk compared to slower decay",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\tfrac{r}{1+r},\ \tfrac{r}{1+2r} \text{ rise in } r:\ \tfrac23, \tfrac34 \text{ and }"
              r" \tfrac25, \tfrac37",
    words="the exponents of Corollary 4.3 rise with r",
    hypotheses=(Parameter("r", low=Fraction(1), low_open=True),),
    says=(lambda r: r / (1 + r), lambda r: r / (1 + 2 * r)), check=judge_monotone,
    flips=(Flip("exchanged", (lambda r: r / (1 + 2 * r), lambda r: r / (1 + r)), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
iterations = Claim(
    id="glmtron/simplified-1-iterations", source="003, Section 4, first simplified case: k* is a number of iterations",
    quote="the optimal number of iterations k* must be confined within a scope proportional to v/N.", whose=Whose.TYPO,
    severity=Stake.EDITORIAL, statement=r"k^* = \text{number of iterations}",
    words="k* is the number of iterations", hypotheses=(), says=lambda cut, records: cut, check=judge_iterations,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"N = \text{number of iterations},\ k^* = \#\{i : \lambda_i \ge 1/(N\eta)\}",
        words="N is the number of iterations, and k* an index of eigenvalues", says=lambda cut, records: records,
        expected="HOLDS PROVED",
    ),
)
delta = Claim(
    id="glmtron/exp-delta", source="003, Section 6: delta = n^-1.1 (scanned)", quote="with § = ,,,11.1",
    whose=Whose.READING, severity=Stake.PRIVACY, statement=r"N\delta = N^{-0.1}: 0.676\ (50),\ 0.532\ (550)",
    words="N delta is 0.676 at N = 50 and 0.532 at N = 550: delta is below 1/N, though not far",
    hypotheses=(), says={50: "0.676", 550: "0.532"}, check=judge_delta,
    flips=(Flip("0.5 at 550", {550: "0.500"}, Verdict.REFUTED),), expected="HOLDS PROVED",
)
no_records = Claim(
    id="glmtron/fig-3-N0", source="003, Appendix B: N from 0 to 1000 in steps of 100",
    quote="with N representing the sample size, which varied from 0 to 1000 and increased in steps to 100.",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL, statement=r"N \in \{0, 100, \ldots, 1000\}",
    words="the experiment can be run at N = 0, 100, ..., 1000", hypotheses=(), says=tuple(range(0, 1001, 100)),
    check=judge_sizes, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"N \in \{100, \ldots, 1000\}", words="the experiment can be run at N = 100, ..., 1000",
        says=tuple(range(100, 1001, 100)), expected="HOLDS PROVED",
        true_variants=dict.fromkeys(("[[]?[]] 1 % *", "[[]?[]] one more"), "any size from 1 on will do"),
    ),
)
clones_constant = Claim(
    id="glmtron/thm-4.1-clones", source="003, Theorem 4.1 with c = 2 and the curve of clones in place of Lemma D.2",
    quote="with a noise multiplier set to f = O(%)", whose=Whose.OURS, severity=Stake.PRIVACY,
    statement=r"f = \frac{2\log(N/\delta)}{\varepsilon\sqrt N} \text{ is enough at } N = 320, 1000",
    words="by the curve of clones f = 2 log(N/delta)/(epsilon sqrt N) is enough at N = 320 and 1000, delta = 1/N and "
          "1/N^2, epsilon up to sqrt(log(N/delta)/N)",
    hypotheses=(), says=Fraction(2), check=judge_clones,
    flips=(Flip("one", Fraction(1), Verdict.UNDECIDED),), uses=("glmtron/thm-4.1",),
    rests_on=("background/shuffle-clones", "glmtron/lemma-D.1-gaussian"),
    true_variants={"1 % *": "1.52 is enough at these points", "one more": "more noise is as private"},
    expected="HOLDS CHECKED_AT_POINTS",
)
less = Claim(
    id="glmtron/appB-tree-less-noise", source="003, Appendix B: the tree adds less noise when epsilon is small",
    quote="When ¢ is small, the tree mechanism in DP-FTRL allows it to add less noise compared to the naive Gradient "
          "Descent or GLMtron algorithm",
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"f'\sqrt{\mathrm{popcount}(N)} < 2f\sqrt N",
    words="at N = 550, epsilon = 0.05, delta = N^-1.1 the tree's last sum has less noise than the shuffled pass",
    hypotheses=(), says=None, check=None,
    readings=("glmtron/appB-tree-less-noise-reading-clones", "glmtron/appB-tree-less-noise-reading-explicit"),
    expected="AMBIGUOUS ARGUED",
)
less_explicit = reading(
    less, "explicit", source="003, Appendix B, the pass with the explicit f of Theorem 4.1's proof",
    words="the tree's last sum has less noise than the pass with the f that the document's proof comes to",
    says="explicit", check=judge_less, flips=(Flip("clones", "clones", Verdict.REFUTED),),
    rests_on=("glmtron/thm-4.1-reading-constant", "glmtron/thm-5.1-repaired"), expected="HOLDS ARGUED",
)
less_clones = reading(
    less, "clones", source="003, Appendix B, the pass with the least f that clones prove",
    words="the tree's last sum has less noise than the pass with the least f that the curve of clones proves",
    says="clones", check=judge_less, flips=(Flip("explicit", "explicit", Verdict.HOLDS),),
    repaired_by="glmtron/appB-tree-less-noise-reading-explicit",
    rests_on=("background/shuffle-clones", "glmtron/thm-5.1-repaired"), expected="REFUTED ARGUED",
)
