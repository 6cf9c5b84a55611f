r"""Theorem 1 of document 002, privacy: phased SGD with noise tau_i = 8 B eta_i sqrt(log(1/delta)) / epsilon.

Where it is true. Let eta G <= 8, so that eta_i G <= 2 in every phase. A replaced record is in one phase; what was
released before has the same law, the phase's average moves by at most 4B eta_i (alg-2-sensitivity) whatever was
released, and all that follows looks at other records: post-processing. So the whole run, all phases released or the
last only, is a Gaussian mechanism with mu = 4B eta_i/tau_i, and its curve is exactly that of mu = 4B/sigma for noise
sigma eta_i (up to (n_i - 1)/n_i). With the printed noise mu = epsilon/(2 sqrt(log(1/delta))), which is the classical
calibration sqrt(2 log(5/(4 delta)))/epsilon (lem-1) or more noise than that if and only if delta <= 4/5. Beyond, on
[4/5, 124/125] and epsilon in (0, 1], ball arithmetic on a cover of the box shows that delta(epsilon) <= delta there.

Where it is false. (a) delta near 1: log(1/delta) tends to 0 and with it the noise. (b) The theorem promises privacy
without any condition on eta, which it has for the utility only. With a long step the first record decides the side on
which all later ones find the model: link the clip to [-1, 1], w_0 = 0, eta_1 = 10^6; the first record is e_0 with the
label 1 or -1, so that w = +-eta_1 e_0; the others of the phase are x_t = b e_t - a e_0 with the label 0, a eta_1 much
above 1, so that each of them finds a score below -1 (above 1) and answers by a step of length eta_1 along an axis of
its own. Nothing is random before the noise. The averages are 2 b eta_1 (n_1 - t)/n_1 apart along e_t, together about
2 eta_1 sqrt(n_1/3), where the noise is for 4 eta_1. Later phases with records 0 add only their noise to the last
release: mu^2 >= 4 b^2 sum_t ((n_1 - t)/n_1)^2 / (sigma^2 sum_i 16^-i), sigma = 8 sqrt(log(1/delta))/epsilon. It grows
with n: no constant in the noise repairs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.boxes import prove
from theorems.tools.either import log, root
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

Promise = Mapping[str, Callable[[Any], Any]]
"""The noise over B eta_i/epsilon as a function of delta, and which eta G are allowed."""

LEAN = (Fraction(1, 1000), 1 - Fraction(1, 10**6))  # a and, a little too small, b^2 = 1 - a^2
_LONG = Fraction(10**6)


def echoes(records: int) -> tuple[Fraction, int]:
    """The squared distance of the averages of phase 1 over (B eta_1)^2, along the axes of the answers; phases.

    Link the clip to [-1, 1]; the score that each later record finds is computed, in units of eta_1.
    """
    first, phases = records // 2, records.bit_length() - 1
    lean, square = LEAN
    along, answers = Fraction(1), Fraction(0)  # w along e_0 after the first record, over eta_1
    for t in range(2, first + 1):
        if lean * along * _LONG < 1:
            return Fraction(0), phases  # the answer would not be a full step
        answers += square * Fraction(2 * (first - t), first) ** 2
        along -= lean
    return answers, phases


def true_delta(epsilon: Fraction, delta: Fraction, squared: Fraction, noise: Callable[[Any], Any]) -> Enclosure:
    """delta at epsilon of a pair whose means are sqrt(squared) B eta_1 apart, under noise(delta) B eta_1/epsilon."""
    with ctx.workprec(200):
        mu = ball(squared).sqrt() * ball(epsilon) / abs(noise(ball(delta)))
        return Enclosure.of_ball(delta_ball(ball(epsilon), mu))


def refuses(answer: Any) -> bool:
    """Whether a condition is certainly not met; one that depends on a symbol is not certain."""
    return sympy.sympify(answer) is sympy.false


def judge_privacy(says: Promise, given: Domain) -> Finding:
    """Whether phased SGD is (epsilon, delta)-DP with says["noise"](delta) and every eta G that says["step"] allows."""
    noise, allowed = says["noise"], says["step"]
    if bool(allowed(_LONG)):
        for epsilon, delta in ((Fraction(99, 100), Fraction(1, 10**5)), (Fraction(1, 2), Fraction(1, 2))):
            answers, phases = echoes(1024)
            spread = sum((Fraction(1, 16**i) for i in range(phases)), Fraction(0))
            true = true_delta(epsilon, delta, answers / spread, noise)
            if given.contains(epsilon=epsilon, delta=delta) and not true.possibly_le(delta):
                return refuted("with a long step one record turns all later ones, and the last release tells", {
                    "epsilon": epsilon, "delta": delta, "n": 1024, "eta_1 G": _LONG, "a": LEAN[0],
                    "mu^2 sigma^2": answers, "true delta at epsilon": true})
    tried = 0
    for point in (*_corner(given), *given.points("epsilon", "delta")):
        epsilon, delta = point["epsilon"], point["delta"]
        moved = Fraction(4 * 511, 512)
        true = true_delta(epsilon, delta, moved**2, noise)
        tried += 1
        if not true.possibly_le(delta):
            return refuted("the noise is too small for the pair that attains the sensitivity (n = 1024, phase 1)", {
                "epsilon": epsilon, "delta": delta, "n_1": 512, "moved over B eta_1": moved,
                "1 - delta": 1 - delta, "1 - true delta": _rest(epsilon, delta, noise, moved)})
    steps = [
        computed("no eta G above 8 is allowed, and 8 is: eta_i G <= 2 in every phase",
                 refuses(allowed(8 + sympy.symbols("p", positive=True))) and bool(allowed(sympy.Integer(8)))),
        argued("a record is in one phase: the release of that phase is a Gaussian mechanism of sensitivity 4B eta_i "
               "whatever was released before, and the rest is post-processing"),
    ]
    high, delta_ = given["delta"].high or Fraction(1), given.symbol("delta")
    classical = 32 * sympy.log(sympy.Rational(5, 4) / delta_)  # (4 sqrt(2 log(1.25/delta)))^2
    surplus = sympy.exp(sympy.expand_log(sympy.simplify(noise(delta_) ** 2 - classical) / 32, force=True))
    enough = sympy.simplify(surplus * delta_)
    steps.append(computed(f"e^((noise^2 - classical^2)/32) = (4/5)/delta: enough noise by Lemma 1 for delta <= "
                          f"{min(high, Fraction(4, 5))}", vanishes(enough - sympy.Rational(4, 5))))
    if given["delta"].high_open:
        return undecided("nothing is against it at the points tried, and delta next to 1 is not covered", tried)
    if high > Fraction(4, 5):
        low = Fraction(4, 5)
        boxed = prove(given.box(delta=(low, high)) | {"epsilon": (Fraction(0), Fraction(1))},
                      lambda delta, epsilon: _margin(epsilon, delta, noise), pieces=4000)
        if boxed.counterexample is not None:
            return undecided("no point tried is against it, but one of the box is", boxed.scope)
        steps.append(computed(f"on [4/5, {high}] x [0, 1] delta(epsilon) <= delta, on a cover by balls", boxed.proved))
    limit = given["epsilon"].high
    steps.append(computed("epsilon is at most 1", limit is not None and limit <= 1))
    return proof(*steps, tried=tried)


def _corner(given: Domain) -> list[dict[str, Fraction]]:
    """A corner that is easy to read, if it meets the hypotheses."""
    corner = {"epsilon": Fraction(999, 1000), "delta": Fraction(999, 1000)}
    return [corner] if given.contains(**corner) else []


def _margin(epsilon: arb, delta: arb, noise: Callable[[Any], Any]) -> arb:
    """delta minus the true one at mu = 4 epsilon/noise, whose epsilon/mu is noise/4 also at epsilon = 0."""
    ratio, half = noise(delta) / 4, 2 * epsilon / noise(delta)
    root_two = arb(2).sqrt()
    true: arb = ((ratio - half) / root_two).erfc() / 2 - epsilon.exp() * ((ratio + half) / root_two).erfc() / 2
    return delta - true


def _rest(epsilon: Fraction, delta: Fraction, noise: Callable[[Any], Any], moved: Fraction) -> Enclosure:
    """1 minus the true delta, a sum of positive terms."""
    with ctx.workprec(200):
        mu = ball(moved) * ball(epsilon) / noise(ball(delta))
        ratio, half, root_two = ball(epsilon) / mu, mu / 2, arb(2).sqrt()
        return Enclosure.of_ball(((half - ratio) / root_two).erfc() / 2
                                 + ball(epsilon).exp() * ((ratio + half) / root_two).erfc() / 2)


def _printed(delta: Any) -> Any:
    return 8 * root(log(1 / delta))


_THEOREM = (
    r"Under Assumption 1 and if σ has (sub)gradient anywhere, for any $0 < \epsilon, \delta < 1$, Algorithm 2 is "
    r"(ϵ, δ) -DP."
)
_EPSILON = probability("epsilon").at_most(1)
_DELTA = Parameter("delta", low=Fraction(0), high=Fraction(124, 125), low_open=True)
_CURVE = (
    r"\eta G \le 8:\ \text{the run is a Gaussian mechanism with } \mu = 4B/\sigma,\ \tau_i = \sigma\eta_i;"
    r"\ (\epsilon, \delta)\text{-DP for } \sigma = 8B\sqrt{\log(1/\delta)}/\epsilon"
)
_LESS_NOISE = {"noise": lambda delta: 4 * root(log(1 / delta)), "step": lambda reach: reach <= 8}
_CLASSICAL = {"noise": lambda delta: 4 * root(2 * log(5 / delta / 4)), "step": lambda reach: reach <= 8}
_RESTS = ("nonconvex-nn/alg-2-sensitivity", "nonconvex-nn/lem-1", "background/balle-wang")

theorem = Claim(
    id="nonconvex-nn/thm-1-privacy", source="002, Theorem 1: (epsilon, delta)-DP for all epsilon, delta, whatever eta",
    quote=_THEOREM, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\tau_i = \frac{8B\eta_i\sqrt{\log(1/\delta)}}{\epsilon} \Rightarrow (\epsilon, \delta)\text{-DP for"
              r" } 0 < \epsilon, \delta < 1",
    words="phased SGD with the printed noise is (epsilon, delta)-DP for all epsilon and delta in (0, 1) and every step",
    hypotheses=(probability("epsilon"), probability("delta")),
    says={"noise": _printed, "step": lambda reach: reach > 0}, check=judge_privacy,
    flips=(Flip("eta G <= 8 and the noise of Lemma 1", _CLASSICAL, Verdict.UNDECIDED),),
    uses=("nonconvex-nn/lem-2",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=_CURVE + r" \text{ if } \epsilon \le 1,\ \delta \le 124/125",
        words="if eta G <= 8, phased SGD with noise sigma eta_i is a Gaussian mechanism with mu = 4B/sigma (one record "
              "replaced, all phases released or the last), and (epsilon, delta)-DP with the printed noise for "
              "epsilon <= 1 and delta <= 0.992",
        says={"noise": _printed, "step": lambda reach: reach <= 8},
        hypotheses=(_EPSILON, _DELTA), check=judge_privacy, expected="HOLDS ARGUED",
        source="002, Theorem 1, with eta <= 8/G, epsilon <= 1 and delta <= 0.992",
        flips=(Flip("half the noise", _LESS_NOISE, Verdict.REFUTED),
               Flip("eta G <= 9", {"noise": _printed, "step": lambda reach: reach <= 9}, Verdict.UNDECIDED)),
        rests_on=_RESTS, true_variants={"[[]noise] sign": "the law of the noise is symmetric"},
    ),
)
near_one = replace(
    theorem, id="nonconvex-nn/thm-1-privacy-delta", source="002, Theorem 1 with a bound on the step: delta near 1",
    whose=Whose.READING, repair=None, repaired_by="nonconvex-nn/thm-1-privacy-repaired",
    words="with eta G <= 8, phased SGD with the printed noise is (epsilon, delta)-DP for every delta in (0, 1)",
    says={"noise": _printed, "step": lambda reach: reach <= 8},
    flips=(Flip("half as much noise again",
                {"noise": lambda delta: 12 * root(log(1 / delta)), "step": lambda reach: reach <= 8},
                Verdict.REFUTED),
           Flip("the noise of Lemma 1", _CLASSICAL, Verdict.UNDECIDED)),
)
long_steps = replace(
    theorem, id="nonconvex-nn/thm-1-privacy-steps", source="002, Theorem 1 for delta <= 0.992: any step",
    whose=Whose.READING, repair=None, repaired_by="nonconvex-nn/thm-1-privacy-repaired",
    words="phased SGD with the printed noise is (epsilon, delta)-DP for delta <= 0.992, whatever the step",
    hypotheses=(_EPSILON, _DELTA),
    flips=(Flip("twice the noise",
                {"noise": lambda delta: 16 * root(log(1 / delta)), "step": lambda reach: reach > 0}, Verdict.REFUTED),
           Flip("eta G <= 8", {"noise": _printed, "step": lambda reach: reach <= 8}, Verdict.HOLDS)),
)
no_output = Claim(
    id="nonconvex-nn/alg-2-no-output", source="002, Algorithm 2 has no line that says what is returned",
    quote=r"Denote $w_i = \bar{w}_i + \zeta_i$", whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\text{released: } w_k \text{ (Theorem 1), or } w_1, \dots, w_k",
    words="whether the last release or all of them come out, phased SGD is as private",
    hypotheses=(), says=None, check=None,
    readings=("nonconvex-nn/alg-2-no-output-reading-last", "nonconvex-nn/alg-2-no-output-reading-all"),
    expected="HOLDS ARGUED",
)


def judge_released(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(phase, k) bounds the mu^2, in units of (4B/sigma)^2, of what is released if the record is there.

    A constant link and records that do not move w attain it: the releases carry the record's shift from its phase on,
    each with the noises of all phases until then. The first of them, less noisy than all later, has all of it.
    """
    tried = 0
    for point in given.points("phase", "later"):
        phase, phases = point["phase"], point["phase"] + point["later"]
        shift = Fraction(4, 4**phase)  # over B eta
        noise = [Fraction(1, 16**i) for i in range(1, phases + 1)]  # variances over (sigma eta)^2
        last = shift**2 / sum(noise[phase - 1:], Fraction(0)) / 16  # what came before is known, or adds noise
        tried += 1
        if says(phase, phases) < last:
            return refuted("the releases tell more", {"phase": phase, "k": phases, "claimed": says(phase, phases),
                                                      "of the last release": last})
    phase_, later_ = given.symbol("phase"), given.symbol("later")
    return proof(
        computed("the shift of the record's phase over its own noise is 4B/sigma, whatever the phase",
                 vanishes((4 / 4**phase_) ** 2 / (16 / 16**phase_) - 1)
                 and never_negative(says(phase_, phase_ + later_) - 1)),
        argued("given the releases before, the phase's own is that Gaussian pair; those after it are functions of it, "
               "of other records and of fresh noise: the whole list, and its last entry, are post-processing"),
        tried=tried,
    )


_PHASE = (Parameter("phase", kind="integer", low=Fraction(1)), Parameter("later", kind="integer", low=Fraction(0)))
last_released = Claim(
    id="nonconvex-nn/alg-2-no-output-reading-last", source="002, Theorem 1: w_k is what comes out",
    quote=no_output.quote, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\mu(w_k) \le 4B/\sigma", words="the last release is a function of a Gaussian pair with mu = 4B/sigma",
    hypotheses=_PHASE, says=lambda phase, phases: 1, check=judge_released,
    flips=(Flip("half of it", lambda phase, phases: Fraction(1, 2), Verdict.REFUTED),),
    rests_on=("nonconvex-nn/alg-2-sensitivity",),
    true_variants={"1 % more": "a larger mu is a bound, too", "1 -> 2*": "a larger mu is a bound, too",
                   "squared": "1 is its own square", "beyond *": "a larger mu is a bound, too"},
    expected="HOLDS ARGUED",
)
all_released = replace(
    last_released, id="nonconvex-nn/alg-2-no-output-reading-all", source="002, Algorithm 2: every w_i comes out",
    statement=r"\mu(w_1, \dots, w_k) = 4B/\sigma",
    words="all releases together are a function of a Gaussian pair with mu = 4B/sigma: no more is told",
)
