r"""The conditions on the width in Section 6 and Appendix C of document 002, solved exactly; hidden constants are 1.

(19) and the last step of the path in Lemma 25 ask that a distance is at most the radius of Lemma 19, L^{-6} m^{-3/8}
log(m)^{-3/2} Delta^{3/4}. The remainder of Lemma 19 is S w^{4/3} L^3 sqrt(m log m); that it is at most Delta means w <=
S^{-3/4} L^{-9/4} m^{-3/8} log(m)^{-3/8} Delta^{3/4}. So S belongs to the radius, and it is from this radius, not from
the printed one, that (19) has its S^{3/4} L^{9/4}; its Delta^{3/4} has the wrong sign in either case.

Lemma 27 asks m w^{2/3} L >= log(n L^2/xi) at w = R/sqrt(m), which is m^{2/3} R^{2/3} L: m >= R^{-1} L^{-3/2} log^{3/2}.
The printed third power is enough where the logarithm is at least 1, and more than enough. That a smaller R asks for a
larger m is right for the probability that is quoted; it is no need of the statement, since a bound of the gradient on a
larger ball is one on the smaller ball inside.

(21) and (22) are eta <= Delta/(S L sqrt(m) C) and eta T >= S L^2 R^2/(C sqrt(m) Delta): some eta meets both if and only
if S L^2 R^2/(C sqrt(m) Delta) <= T Delta/(S L sqrt(m) C), which is Delta^2 >= S^2 L^3 R^2/T. The lemma itself says
Delta = O(S L^{3/2} R/sqrt(T)), the other direction.
"""

from __future__ import annotations

from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.nonconvex_nn.wide_network.monomials import suffices, threshold
from theorems.verdict import Verdict


def _radius_19(depth: Any, width: Any, log: Any, loss: Any) -> Any:
    """The radius of Lemma 19 as printed."""
    return depth**-6 * width ** sympy.Rational(-3, 8) * log ** sympy.Rational(-3, 2) * loss ** sympy.Rational(3, 4)


def remainder(slope: Any, depth: Any, log: Any, loss: Any, width: Any, omega: Any) -> Any:
    """The remainder of Lemma 19 over Delta; the unknown is what omega must not exceed."""
    return slope * omega ** sympy.Rational(4, 3) * depth**3 * sympy.sqrt(width * log) / loss


_S, _C, _L, _R = positive("S"), positive("C"), positive_integer("L").at_least(2), positive("R")
_DELTA, _LOG, _T = positive("Delta"), positive("log_m", "log m"), positive_integer("T")
_DEEPER = "L is at least 2: a larger power of it is enough, too"
_WITH_CONSTANT = {"1 % more": "a wider network is enough, too"}

path = Claim(
    id="nonconvex-nn/lem-25", source="002, Lemma 25 and its proof, 'The last inequality holds, if': the condition on m",
    quote=r"with $m \geq O(L^{56} R^{24} \Delta^{-14} S^{-8} C^{-8} [\log(m)]^{12})$ it holds uniformly",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"m \ge L^{56} R^{24} \Delta^{-14} S^{-8} C^{-8} \log(m)^{12} \Rightarrow"
              r" \frac{SL^2R^3}{\Delta C\sqrt m} \le L^{-6} m^{-3/8} \log(m)^{-3/2} \Delta^{3/4}",
    words="with the m of Lemma 25 the path of the iterates stays within the radius omega",
    hypotheses=(_S, _C, _L, _R, _DELTA, _LOG),
    says=lambda s, c, depth, r, loss, log: depth**56 * r**24 * log**12 / (loss**14 * s**8 * c**8),
    check=suffices(
        lambda s, c, depth, r, loss, log, m: s * depth**2 * r**3 / (loss * c * sympy.sqrt(m))
        / _radius_19(depth, m, log, loss), 8, unknown="m", what="the path 2 T eta R against omega"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"m \ge S^8 L^{64} R^{24} \Delta^{-14} C^{-8} \log(m)^{12}",
        words="with m >= S^8 L^64 R^24 Delta^-14 C^-8 log(m)^12 the path stays within omega",
        says=lambda s, c, depth, r, loss, log: s**8 * depth**64 * r**24 * log**12 / (loss**14 * c**8),
        expected="HOLDS PROVED", true_variants={**_WITH_CONSTANT, "64 -> 65*": _DEEPER},
        flips=(Flip("L^63", lambda s, c, depth, r, loss, log: s**8 * depth**63 * r**24 * log**12 / (loss**14 * c**8),
                    Verdict.REFUTED),),
    ),
)
equation_19 = Claim(
    id="nonconvex-nn/lem-22-eq-19", source="002, proof of Lemma 22, (19): Delta^{3/4}",
    quote=r"\implies m^{\frac{1}{8}} \geq \tilde{\Omega}(RS^{\frac{3}{4}} L^{\frac{9}{4}} \Delta^{\frac{3}{4}}). "
          r"\quad (19)",
    whose=Whose.TYPO, severity=Stake.PROOF,
    statement=r"m \ge (R S^{3/4} L^{9/4} \Delta^{3/4})^8 \Leftrightarrow \frac{R}{\sqrt m} \le \omega",
    words="(19) is the m at which R/sqrt(m) is within the radius of Lemma 19 (with S in it, logarithms left out)",
    hypotheses=(_S, _L, _R, _DELTA), says=lambda s, depth, r, loss: r**8 * s**6 * depth**18 * loss**6,
    check=suffices(
        lambda s, depth, r, loss, m: remainder(s, depth, 1, loss, m, r / sympy.sqrt(m)), 6, unknown="m",
        what="S w^(4/3) L^3 sqrt(m) at w = R/sqrt(m) against Delta"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"m^{1/8} \ge R S^{3/4} L^{9/4} \Delta^{-3/4}",
        words="R/sqrt(m) is within the radius if m^{1/8} >= R S^{3/4} L^{9/4} Delta^{-3/4} (logarithms left out)",
        says=lambda s, depth, r, loss: r**8 * s**6 * depth**18 / loss**6,
        expected="HOLDS PROVED", true_variants={**_WITH_CONSTANT, "18 -> 19*": _DEEPER},
        flips=(Flip("L^2 for L^{9/4}", lambda s, depth, r, loss: r**8 * s**6 * depth**16 / loss**6, Verdict.REFUTED),),
    ),
)
agrees = Claim(
    id="nonconvex-nn/lem-19-S-agrees", source="002, (19): the radius of Lemma 19 on the left, S^{3/4} L^{9/4} on the "
                                              "right",
    quote=r"Note by Lemma 19 that this implicitly indicates that",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"m^{1/8} \ge R S^{3/4} L^{9/4} \Delta^{-3/4} \log(m)^{3/2} \Rightarrow"
              r" \frac{R}{\sqrt m} \le L^{-6} m^{-3/8} \log(m)^{-3/2} \Delta^{3/4}",
    words="the powers of S and L in (19) are those of Lemma 19's radius as printed (the sign of Delta's mended)",
    hypotheses=(_S, _L, _R, _DELTA, _LOG),
    says=lambda s, depth, r, loss, log: r**8 * s**6 * depth**18 * log**12 / loss**6,
    check=suffices(
        lambda s, depth, r, loss, log, m: r / sympy.sqrt(m) / _radius_19(depth, m, log, loss), 8, unknown="m",
        what="R/sqrt(m) against the printed radius"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"m^{1/8} \ge R L^6 \Delta^{-3/4} \log(m)^{3/2}",
        words="the printed radius asks for m^{1/8} >= R L^6 Delta^{-3/4} log(m)^{3/2}, without S",
        says=lambda s, depth, r, loss, log: r**8 * depth**48 * log**12 / loss**6,
        expected="HOLDS PROVED", true_variants={**_WITH_CONSTANT, "any S": "S does not enter", "48 -> 49*": _DEEPER},
    ),
)
_LAMBDA = positive("log", "log(n L^2/xi)").at_least(1)
_FAILURE = suffices(
    lambda depth, r, log, square: log / (sympy.cbrt(square) * r ** sympy.Rational(2, 3) * depth), 3, unknown="m^2",
    what="log(n L^2/xi) against m w^(2/3) L at w = R/sqrt(m)",
)
logarithm = Claim(
    id="nonconvex-nn/lem-27-m",
    source="002, Lemma 27: the condition on m, for the probability 1 - O(n L^2) exp[-Omega(m w^{2/3} L)]",
    quote=r"The probability could be reduced to $1 - \xi$ if $m \geq O(R^{-1}L^{-3/2}[\log(nL/\xi)]^3)$",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"m^2 \ge R^{-2} L^{-3} \lambda^6 \Rightarrow m \omega^{2/3} L \ge \lambda,\ \omega = R/\sqrt m",
    words="m >= R^-1 L^{-3/2} log^3 makes the quoted probability 1 - xi, if Lemma 22 applies (the logarithm at least "
          "1)",
    hypotheses=(_L, _R, _LAMBDA), says=lambda depth, r, log: log**6 / (depth**3 * r**2), check=_FAILURE,
    flips=(Flip("without R", lambda depth, r, log: log**6 / depth**3, Verdict.REFUTED),
           Flip("the power 3/2 of the logarithm", lambda depth, r, log: log**3 / (depth**3 * r**2), Verdict.HOLDS),
           Flip("the power 1", lambda depth, r, log: log**2 / (depth**3 * r**2), Verdict.REFUTED)),
    true_variants={**_WITH_CONSTANT, "6 -> 7*": "a larger power of a logarithm above 1 is enough, too",
                   "[*][*] -> [*] (operator 2)": "3L is at most L^3 for L >= 2"},
    expected="HOLDS PROVED",
)
logarithm_sharp = Claim(
    id="nonconvex-nn/lem-27-m-sharp", source="a finding of ours: the power of the logarithm that Lemma 27 of 002 needs",
    statement=r"m \omega^{2/3} L \ge \lambda \Leftrightarrow m^2 \ge R^{-2} L^{-3} \lambda^3",
    words="the quoted probability is 1 - xi exactly from m = R^-1 L^{-3/2} log^{3/2} on",
    severity=Stake.PROOF, hypotheses=(_L, _R, _LAMBDA), says=lambda depth, r, log: log**3 / (depth**3 * r**2),
    check=threshold(
        lambda depth, r, log, square: log / (sympy.cbrt(square) * r ** sympy.Rational(2, 3) * depth), 3,
        unknown="m^2", what="log(n L^2/xi) against m w^(2/3) L at w = R/sqrt(m)"),
    flips=(Flip("the power 3", lambda depth, r, log: log**6 / (depth**3 * r**2), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)


def _both_steps(s: Any, c: Any, depth: Any, r: Any, t: Any, m: Any, square: Any) -> Any:
    """The least eta T of (22) over the largest of (21); the unknown is Delta^2."""
    loss = sympy.sqrt(square)
    return s * depth**2 * r**2 / (c * sympy.sqrt(m) * loss) / (t * loss / (s * depth * sympy.sqrt(m) * c))


_BALANCE = (_S, _C, _L, _DELTA, positive_integer("m"))
upper_step = Claim(
    id="nonconvex-nn/lem-25-eq-21", source="002, proof of Lemma 25, (21)",
    quote=r"SL\sqrt{m}T\eta C \leq O(T\Delta) \implies \eta \leq O\left(\frac{\Delta\kappa}{SL\sqrt{m}C}\right) \quad "
          r"(21)",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"SL\sqrt m\, T\eta C \le T\Delta \Leftrightarrow \eta^{-2} \ge S^2L^2C^2m/\Delta^2",
    words="(21): S L sqrt(m) T eta C <= T Delta if and only if eta <= Delta/(S L sqrt(m) C)",
    hypotheses=_BALANCE, says=lambda s, c, depth, loss, m: (s * depth * c) ** 2 * m / loss**2,
    check=threshold(lambda s, c, depth, loss, m, q: s * depth * sympy.sqrt(m) * c / (sympy.sqrt(q) * loss), 2,
                    unknown="eta^-2", what="S L sqrt(m) T eta C against T Delta"),
    flips=(Flip("without C", lambda s, c, depth, loss, m: (s * depth) ** 2 * m / loss**2, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
lower_step = Claim(
    id="nonconvex-nn/lem-25-eq-22", source="002, proof of Lemma 25, (22), from (S L sqrt(m)/C) L R^2/(eta m)",
    quote=r"\frac{SL^2R^2}{C\eta\sqrt{m}} \leq O(T\Delta) \implies \eta T \geq \Omega\left(\frac{SL^2R^2}{\kappa "
          r"C\sqrt{m}\Delta}\right) \quad (22)",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\frac{SL\sqrt m}{C}\cdot\frac{LR^2}{\eta m} \le T\Delta \Leftrightarrow (\eta T)^2 \ge "
              r"\frac{S^2L^4R^4}{C^2 m \Delta^2}",
    words="(22): the start's distance costs at most T Delta if and only if eta T >= S L^2 R^2/(C sqrt(m) Delta)",
    hypotheses=(*_BALANCE, _R), says=lambda s, c, depth, loss, m, r: s**2 * depth**4 * r**4 / (c**2 * m * loss**2),
    check=threshold(lambda s, c, depth, loss, m, r, q: s * depth * sympy.sqrt(m) / c * depth * r**2 / m
                    / (sympy.sqrt(q) * loss), 2, unknown="(eta T)^2", what="(S L sqrt(m)/C) L R^2/(eta m) against T "
                        "Delta"),
    flips=(Flip("L for L^2", lambda s, c, depth, loss, m, r: s**2 * depth**2 * r**4 / (c**2 * m * loss**2),
                Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
start = Claim(
    id="nonconvex-nn/lem-25-start", source="002, proof of Lemma 25: |W(0) - W*|^2 becomes L R^2/m",
    quote=r"\frac{3T\eta C^2}{2} + \frac{LR^2}{2\eta m} + \frac{\eta}{2} \sum_{t=1}^T \|\mathbf{G}_t\|_F^2",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"\sum_{l=1}^L (R/\sqrt m)^2 = LR^2/m",
    words="W* within R/sqrt(m) in each of L layers is within L R^2/m of the start, squared",
    hypotheses=(_L, _R, positive_integer("m")), says=lambda depth, r, m: depth * r**2 / m,
    check=threshold(lambda depth, r, m, q: depth * (r / sympy.sqrt(m)) ** 2 / q, 1, unknown="|W(0) - W*|^2",
                    what="L times (R/sqrt(m))^2"),
    flips=(Flip("without L", lambda depth, r, m: r**2 / m, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)

_STEPS = (_S, _C, _L, _R, _T, positive_integer("m"))
feasible = Claim(
    id="nonconvex-nn/lem-25-eq-20-24", source="002, proof of Lemma 25: (21) and (22) give (24)",
    quote=r"Thus, combining (20), (21) and (22) we must have",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\exists \eta:\ (21), (22) \Leftrightarrow \Delta^2 \ge \frac{S^2 L^3 R^2}{T}",
    words="a step size meets (21) and (22) if and only if Delta >= S L^{3/2} R/sqrt(T), hidden constants 1",
    hypotheses=_STEPS, says=lambda s, c, depth, r, t, m: s**2 * depth**3 * r**2 / t,
    check=threshold(_both_steps, 1, unknown="Delta^2", what="the least eta T of (22) against the largest of (21)"),
    flips=(Flip("L for L^{3/2}", lambda s, c, depth, r, t, m: s**2 * depth**2 * r**2 / t, Verdict.REFUTED),),
    true_variants={"any *": "the two sides are equal at that Delta for all numbers that are not 0"},
    expected="HOLDS PROVED",
)
direction = Claim(
    id="nonconvex-nn/lem-25-Delta", source="002, Lemma 25: Delta = O(S L^{3/2} R/sqrt(T)), against (24)",
    quote=r"$\Delta = O(\frac{SL^{\frac{3}{2}} R}{\sqrt{T}})$ with $m \geq O(L^{56} R^{24}",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\Delta \le \frac{S L^{3/2} R}{\sqrt T} \Rightarrow \exists \eta:\ (21), (22)",
    words="every Delta up to S L^{3/2} R/sqrt(T), as Lemma 25 says, admits a step size with (21) and (22)",
    hypotheses=(*_STEPS, positive("part", "what is multiplied to the largest Delta^2").at_most(1)),
    says=lambda s, c, depth, r, t, m, part: part * s**2 * depth**3 * r**2 / t,
    check=suffices(
        lambda s, c, depth, r, t, m, part, square: _both_steps(s, c, depth, r, t, m, square), 1, unknown="Delta^2",
        what="the least eta T of (22) against the largest of (21)"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\Delta \ge \frac{S L^{3/2} R}{\sqrt T} \Rightarrow \exists \eta:\ (21), (22)",
        words="every Delta from S L^{3/2} R/sqrt(T) on admits a step size with (21) and (22)",
        says=lambda s, c, depth, r, t, m, part: s**2 * depth**3 * r**2 / (t * part),
        expected="HOLDS PROVED",
        true_variants={"1 % more": "a larger Delta is enough, too", "3 -> 4*": _DEEPER,
                       "any C": "C cancels", "any m": "m cancels"},
    ),
)
