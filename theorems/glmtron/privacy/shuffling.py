r"""Theorem 4.1: the privacy of the shuffled pass, with explicit constants, and where it does not apply.

Let X = log(N/delta). A step with f is (e, d)-DP for e <= 1 at f = sqrt(2 log(1.25/d))/e (lemma-D.1-repaired). With
d = delta/(2 (2N - 1)), delta/2 left for the clones (`glmtron.epsilon`, whose docstring has the proof for approximate
steps) and tanh(e/2) <= e/2, e^e <= e(1), log(1 + x) <= x the closed form of shuffling is at most epsilon for

    e = epsilon/(4 sqrt(e(1) log(8/delta)/N) + 4 e(1)/N),

provided that e <= 1 and e <= log(N/(16 log(4/delta))). (The clones ask for epsilon <= e. Where epsilon is above e
there is nothing to amplify: a record enters one step, so that the pass is (e, d)-DP.) So it is (epsilon, delta)-DP at

    f = sqrt(2 log(2.5 (2N - 1)/delta)) (4 sqrt(e(1) log(8/delta)/N) + 4 e(1)/N)/epsilon.

Assume delta <= 1/N and N >= 16 e(1) log(4/delta). The latter makes log(N/(16 log(4/delta))) >= 1; and with epsilon <=
sqrt(X/N), X <= 2 log(1/delta) < 16 e(1) log(8/delta) gives e < 1. Both assumptions leave N >= 300 only: N >= 16 e(1)
log(4N), and N/log(4N) rises from N = 1 on and is below 16 e(1) at 299. So X >= 2 log 300, N >= 8, and the f above is
at most c X/(epsilon sqrt N) for c = sup of sqrt(2 (1 + log(5)/X)) (4 sqrt(e(1)) + 4 e(1)/sqrt(300 X)), which falls in X
and is below 11 at its least X. That is Theorem 4.1 with c = 11, the document's own proof. With c = 1 it needs another
one (`blanket`); with c = 0, which f = O(.) admits, the pass is a function of the data and of the order alone.

A test against small c: only one record is not zero, and its clipped vector is +-gamma (one dimension). The average of
w_0, ..., w_{N-1} is then +-eta gamma a/N plus noise of variance (2 f gamma eta)^2 sum_a (a/N)^2, a uniform on 0 to
N - 1; above 1/2 in units of eta gamma with the one sign more often than e^epsilon times that with the other plus delta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.background.shuffling import closed
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as signed
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

_PRECISION = 120


# --- Lemma D.2


def order(epsilon0: arb, users: int, delta: arb) -> arb:
    """What Lemma D.2 has inside its O."""
    spread = epsilon0.exp() / users
    value: arb = (1 - (-epsilon0).exp()) * ((spread * (1 / delta).log()).sqrt() + spread)
    return value


def judge_lemma(constant: Fraction, given: Domain) -> Finding:
    """Whether `constant` times the expression of Lemma D.2 is at least the closed form: then the lemma has it."""
    tried = 0
    for point in given.points("part", "users", "delta", at_most=150):
        with ctx.workprec(_PRECISION):
            delta = ball(point["delta"])
            largest = (point["users"] / (16 * (2 / delta).log())).log()
            if not largest > 0:
                continue  # the lemma says nothing there
            local = largest * ball(point["part"])
            tried += 1
            if closed(local, point["users"], delta) > ball(constant) * order(local, point["users"], delta):
                return undecided(f"the closed form is larger at epsilon0 = {local.str(6)}", tried)
    k, share = sympy.Symbol("k", positive=True), sympy.Symbol("t", nonnegative=True)
    inner = share / (1 + share)  # k = e^-epsilon0 runs through [0, 1)
    with ctx.workprec(_PRECISION):
        enough = ball(constant) >= 8 * (ball(8).log() / ball(2).log()).sqrt()
    return proof(
        computed("tanh(epsilon0/2) = (1 - k)/(1 + k) is at most 1 - k, k = e^-epsilon0, on symbols",
                 never_negative((1 - inner) - (1 - inner) / (1 + inner)) and bool(k.is_positive)),
        computed("8 sqrt(log(4/delta)) <= constant sqrt(log(1/delta)) at delta = 1/2; the quotient falls with delta",
                 bool(enough) and given["delta"].high == Fraction(1, 2)),
        argued("log(1 + x) <= x; the closed form is valid: the written proof of `shuffle.epsilon`, from the clones"),
        argued("(epsilon0, delta0)-DP steps add (e^epsilon + 1)(1 + k/2) n delta0: background/fmt-approximate"),
        tried=tried,
    )


# --- (4) to (6)


Slopes = tuple[Any, Any]


def judge_four(slopes: Slopes, given: Domain) -> Finding:
    """Whether e^(x/2) - e^(-x/2) <= s1 x and e^x - 1 <= s2 x on the hypotheses' epsilon0."""
    high = given["epsilon0"].high
    parts: tuple[Callable[[arb], arb], ...] = (lambda x: (x / 2).exp() - (-x / 2).exp(), lambda x: x.exp() - 1)
    tried = 0
    for value in (*given.values("epsilon0"), Fraction(3, 2)):
        if not given.contains(epsilon0=value):
            continue
        tried += 1
        with ctx.workprec(_PRECISION):
            for name, part, slope in zip(("first", "second"), parts, slopes, strict=True):
                if part(ball(value)) > ball(Fraction(slope)) * ball(value):
                    return refuted("the exponentials are larger", {
                        "epsilon0": value, "part": name, "slope": slope, "left": Enclosure.of_ball(part(ball(value)))})
    if high is None:
        return undecided("no end of epsilon0 to hold it against", tried)
    x = sympy.Symbol("x", nonnegative=True)
    bends = (sympy.diff(2 * sympy.sinh(x / 2), x, 2), sympy.diff(sympy.exp(x) - 1, x, 2))
    with ctx.workprec(_PRECISION):
        ends = [bool(part(ball(high)) <= ball(Fraction(slope)) * ball(high))
                for part, slope in zip(parts, slopes, strict=True)]
    return proof(
        computed("(1 - e^-x) sqrt(e^x) = e^(x/2) - e^(-x/2) and (1 - e^-x) e^x = e^x - 1",
                 vanishes((1 - sympy.exp(-x)) * sympy.exp(x / 2) - sympy.exp(x / 2) + sympy.exp(-x / 2),
                          (1 - sympy.exp(-x)) * sympy.exp(x) - sympy.exp(x) + 1)),
        computed("both are convex on x >= 0 and 0 at 0", all(bend.is_nonnegative for bend in bends)),
        computed(f"at the largest epsilon0, {high}, both are below their chords, certified", all(ends)),
        tried=tried,
    )


def judge_five(constant: Fraction, given: Domain) -> Finding:
    """Whether 3/2 sqrt(L/N) + 2/N <= constant sqrt(L/N) for L = log(1/delta): what (5) drops from (4)."""
    tried = 0
    for point in given.points("log_delta", "records", at_most=100):
        logs, n = point["log_delta"], point["records"]
        tried += 1
        with ctx.workprec(_PRECISION):
            unit = (ball(logs) / n).sqrt()
            if 3 * unit / 2 + ball(Fraction(2, n)) > ball(constant) * unit:
                return refuted("the dropped term is not below it", {
                    "log(1/delta)": logs, "N": n, "constant": constant,
                    "(4) over the root": Enclosure.of_ball(ball(Fraction(3, 2)) + ball(Fraction(2, n)) / unit)})
    logs_, n_ = given.chart("log_delta"), given.chart("records")
    slack = sympy.Rational(constant.numerator, constant.denominator) - sympy.Rational(3, 2)
    return proof(
        computed("slack^2 log(1/delta)/N is at least 4/N^2, on symbols", never_negative(slack**2 * logs_ * n_ - 4)
                 and bool(slack > 0)),
        tried=tried,
    )


Six = tuple[str, Callable[[Any, Any, Any], Any]]
"""What (6) bounds from above, "f" or "epsilon", and by what, from f, c A and sqrt(N)."""


def judge_six(says: Six, given: Domain) -> Finding:
    """Whether (6) holds at the largest epsilon that (5) allows, c A/(f sqrt N), with equality: it is (5) then."""
    bounded, most = says
    tried = 0
    for point in led(given, multiplier="2", logs="1", root="1"):
        f, logs, n = point["multiplier"], point["logs"], point["root"]
        tried += 1
        left = {"f": f, "epsilon": logs / (f * n)}[bounded]
        if left != most(f, logs, n):
            return refuted("(5) allows it, and it is against (6)", {
                "f": f, "c A": logs, "sqrt(N)": n, "epsilon by (5)": logs / (f * n), "left of (6)": left,
                "right of (6)": most(f, logs, n)})
    f_, logs_, n_ = (given.symbol(name) for name in ("multiplier", "logs", "root"))
    left_ = {"f": f_, "epsilon": logs_ / (f_ * n_)}[bounded]
    return proof(computed("both sides are equal at epsilon = c A/(f sqrt N), on symbols",
                          vanishes(most(f_, logs_, n_) - left_)), tried=tried)


# --- Theorem 4.1


def spots(given: Domain) -> Iterator[tuple[int, Fraction, Fraction]]:
    """(N, delta, share of the largest epsilon) within the hypotheses that the docstring uses."""
    for records in (320, 1000, 10**4, 10**6):
        for delta in (Fraction(1, records), Fraction(1, records**2)):
            with ctx.workprec(_PRECISION):
                if not records >= 16 * arb(1).exp() * (4 / ball(delta)).log():
                    continue
            for share in given.values("share"):
                yield records, delta, share


def explicit_noise(records: int, delta: arb) -> arb:
    """The f of the docstring times epsilon."""
    e = arb(1).exp()
    spread = 4 * (e * (8 / delta).log() / records).sqrt() + 4 * e / records
    value: arb = (2 * (ball(Fraction(5, 2)) * (2 * records - 1) / delta).log()).sqrt() * spread
    return value


def canary_rates(records: int, noise: arb) -> tuple[arb, arb]:
    """How often the average of the iterates is above 1/2 with either sign of the one record that is not zero."""
    shares = [Fraction(age, records) for age in range(records)]
    std = 2 * noise * ball(sum((share**2 for share in shares), Fraction(0))).sqrt()
    power, alarm = (
        sum((normal_upper_tail((ball(Fraction(1, 2)) - sign * ball(a)) / std) for a in shares), arb(0)) / records
        for sign in (1, -1))
    return power, alarm


Lacking = Callable[[int, Fraction, arb, arb], str]
"""What a proof lacks for N records, delta, epsilon and the noise f, in words; empty if nothing."""


def at_spots(constant: Fraction, given: Domain, lacking: Lacking) -> tuple[Finding | None, str, int]:
    """Of f = constant log(N/delta)/(epsilon sqrt N): a refutation by the canary, what a proof lacks, and the spots."""
    tried, short = 0, ""
    for records, delta_, share in spots(given):
        with ctx.workprec(_PRECISION):
            delta = ball(delta_)
            logs = (records / delta).log()
            epsilon = ball(share) * (logs / records).sqrt()
            noise = ball(constant) * logs / (epsilon * ball(records).sqrt())
            tried += 1
            if records <= 320 and noise < 1:
                still = 1 - ball(Fraction(records // 2 + 1, records)), arb(0)  # without noise: a/N > 1/2 or not
                power, alarm = canary_rates(records, noise) if noise > 0 else still
                if power > epsilon.exp() * alarm + delta:
                    return refuted("the average of the iterates tells the sign of one record, certified", {
                        "N": records, "delta": delta_, "epsilon": Enclosure.of_ball(epsilon),
                        "f": Enclosure.of_ball(noise),
                        "average above 1/2, sign +": Enclosure.of_ball(power),
                        "average above 1/2, sign -": Enclosure.of_ball(alarm)}), "", tried
            short = short or lacking(records, delta_, epsilon, noise)
    return None, short, tried


def judge_theorem(constant: Fraction, given: Domain) -> Finding:
    """Whether f = constant log(N/delta)/(epsilon sqrt N) makes the pass private: the proof above, or the canary."""

    def lacking(records: int, delta: Fraction, epsilon: arb, noise: arb) -> str:
        enough = noise * epsilon >= explicit_noise(records, ball(delta))
        return "" if enough else f"less than the proved noise at N = {records}, delta = {delta}"

    against, short, tried = at_spots(constant, given, lacking)
    if against or short:
        return against or undecided(f"no test tried is against it, but it is {short}", tried)
    return proof(*theorem_steps(constant), tried=tried)


def theorem_steps(constant: Fraction) -> tuple[ProofStep, ...]:
    """The steps of the docstring."""
    x = sympy.Symbol("x", positive=True)
    e = sympy.E
    rate = sympy.sqrt(2 * (1 + sympy.log(5) / x)) * (4 * sympy.sqrt(e) + 4 * e / sympy.sqrt(300 * x))
    with ctx.workprec(_PRECISION):
        e_, least = arb(1).exp(), 2 * ball(300).log()
        value = (2 * (1 + ball(5).log() / least)).sqrt() * (4 * e_.sqrt() + 4 * e_ / (300 * least).sqrt())
        small = ball(299) < 16 * e_ * (ball(4 * 299)).log()
        fits = 16 * e_ > 2
    n = sympy.Symbol("n", positive=True)
    rising = sympy.diff(n / sympy.log(4 * n), n) * sympy.log(4 * n) ** 2 - (sympy.log(4 * n) - 1)
    return (
        computed("the two assumptions leave no N below 300: N/log(4N) rises and is below 16 e at 299",
                 bool(small) and vanishes(rising) and bool(ball(4).log() > 1)),
        computed("epsilon <= sqrt(X/N) gives a step's epsilon below 1, since X <= 2 log(1/delta) < 16 e log(8/delta)",
                 bool(fits)),
        computed("the factor sqrt(2 (1 + log(5)/X))(4 sqrt(e) + 4 e/sqrt(300 X)) falls in X, both of its factors do",
                 all(signed(-sympy.diff(part, x)) for part in rate.args if part.has(x))),
        computed(f"at X = 2 log 300 it is at most {constant}, certified", bool(value <= ball(constant))),
        argued("so the f of the docstring is at most c log(N/delta)/(epsilon sqrt N); more noise is as private"),
        argued("the pass at that f: lemma-D.1-repaired at (e, d), then clones for approximate steps and the closed "
               "form (`glmtron.epsilon` and `shuffle.epsilon` have the proofs)"),
        study_step("glmtron-amplification"), study_step("glmtron-amplification-closed-form"),
    )


_LOGS = (positive("multiplier", "f"), positive("logs", "c A, A the root of the logarithms"), positive("root", "sqrt N"))
_THEOREM = (
    "Suppose DP-GLMtron is applied to N input samples with a noise multiplier set to f = O(%) Under these conditions, "
    "the algorithm satisfies (e, 0)-differential privacyf()rg = 0(1 / W)’"
)

lemma = Claim(
    id="glmtron/lemma-D.2-shuffle", source="003, Lemma D.2 ([17]), with 14 for its constant and delta <= 1/2",
    quote="Then for any 6 € [0,1] such that ey < log(m) As is (€,0 + O(e*don))-DP where ¢ is:",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\varepsilon = 14 (1 - e^{-\varepsilon_0})\left(\sqrt{\frac{e^{\varepsilon_0}\log(1/\delta)}{n}} +"
              r" \frac{e^{\varepsilon_0}}{n}\right),\quad \varepsilon_0 \le \log\frac{n}{16\log(2/\delta)}",
    words="n shuffled adaptive steps of (epsilon0, 0)-DP are (epsilon, delta)-DP for 14 times the expression of the "
          "lemma, and a delta0 of the steps adds O(e^epsilon delta0 n)",
    hypotheses=(Parameter("part", low=Fraction(0), high=Fraction(1), meaning="epsilon0 over its largest value"),
                positive_integer("users"), Parameter("delta", low=Fraction(0), high=Fraction(1, 2), low_open=True)),
    says=Fraction(14), check=judge_lemma,
    flips=(Flip("a constant of 1", Fraction(1), Verdict.UNDECIDED),),
    rests_on=("background/shuffle-clones", "background/fmt-approximate"),
    true_variants={"1 % more": "a larger bound is one, too", "one more": "a larger bound is one, too",
                   "1 % less": "13.86 is 8 sqrt(3) rounded up: just enough",
                   "any users": "where no epsilon0 meets the lemma's condition it says nothing"},
    expected="HOLDS ARGUED",
)
four = Claim(
    id="glmtron/eq-4", source="003, (4) (scanned: 3/2 and 2 are read off the line before)",
    quote="1 ((T+e0) — (1 —e0/2)) \\/m (1 +2¢0) —1)]1[) “)",
    whose=Whose.READING, severity=Stake.PROOF,
    statement=r"e^{\varepsilon_0/2} - e^{-\varepsilon_0/2} \le \tfrac32\varepsilon_0,\quad"
              r" e^{\varepsilon_0} - 1 \le 2\varepsilon_0,\quad \varepsilon_0 \le 1",
    words="for epsilon0 <= 1 the expression of Lemma D.2 is at most epsilon0 (3/2 sqrt(log(1/delta)/N) + 2/N)",
    hypotheses=(Parameter("epsilon0", low=Fraction(0), high=Fraction(1)),),
    says=(Fraction(3, 2), Fraction(2)), check=judge_four,
    flips=(Flip("1 and 1", (Fraction(1), Fraction(1)), Verdict.REFUTED),),
    uses=("glmtron/lemma-D.2-shuffle",),
    true_variants={"*1 % more": "a larger slope is above it, too", "*one more": "a larger slope is above it, too",
                   "*1 % less": "the slopes have room at epsilon0 = 1: 1.0422 and 1.7183 are enough"},
    expected="HOLDS PROVED",
)
beyond_one = Claim(
    id="glmtron/eq-4-no-range", source="003, (4), 'assuming epsilon <= 1' (the total one) and no range for epsilon0",
    quote="Assuming ¢ < 1 , we can infer the existence of some constant ¢; > 0 such that:",
    whose=Whose.READING, severity=Stake.PROOF,
    statement=four.statement.replace(r",\quad \varepsilon_0 \le 1", ""),
    words="(4) holds whatever epsilon0 is",
    hypotheses=(Parameter("epsilon0", low=Fraction(0)),),
    says=(Fraction(3, 2), Fraction(2)), check=judge_four, repaired_by="glmtron/eq-4",
    flips=(Flip("slopes beyond all points tried", (Fraction(10**600), Fraction(10**600)), Verdict.UNDECIDED),),
    expected="REFUTED PROVED",
)
five = Claim(
    id="glmtron/eq-5", source="003, (5): the term 2/N of (4) goes into the constant, which is 7/2 then",
    quote="QIOg(;'%/éO) , we obtain:",
    whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\tfrac32\sqrt{\tfrac{\log(1/\delta)}{N}} + \tfrac2N \le \tfrac72\sqrt{\tfrac{\log(1/\delta)}{N}}",
    words="(4)'s bracket is at most 7/2 sqrt(log(1/delta)/N) where delta <= 1/e",
    hypotheses=(Parameter("log_delta", low=Fraction(1), meaning="log(1/delta)"), positive_integer("records", "N")),
    says=Fraction(7, 2), check=judge_five,
    flips=(Flip("3/2, as if 2/N were not there", Fraction(3, 2), Verdict.REFUTED),),
    uses=("glmtron/eq-4",), true_variants={"1 % more": "a larger one is enough", "one more": "a larger one is enough"},
    expected="HOLDS PROVED",
)
six = Claim(
    id="glmtron/eq-6-sign", source="003, (6) (scanned: what is bounded, f or epsilon, cannot be told)",
    quote=r"f<e \/210g (co-1.25-€EN/5) - log(2/6) ©)",
    whose=Whose.TYPO, severity=Stake.PROOF,
    statement=r"f \le \frac{cA}{\sqrt N} \text{ or } \hat\varepsilon \le \frac{cA}{f\sqrt N},\quad"
              r" A = \sqrt{2\log(1.25 e^\varepsilon N/(c_2\delta))\log(2/\delta)}",
    words="(5) with delta/2 and delta0 gives (6): an upper bound on f, or on epsilon",
    hypotheses=_LOGS, says=None, check=None,
    readings=("glmtron/eq-6-sign-reading-f", "glmtron/eq-6-sign-repaired"), expected="AMBIGUOUS PROVED",
)
six_epsilon = reading(
    six, "repaired", source="003, (6) as an upper bound on epsilon, c A/(f sqrt N)",
    words="(6) bounds epsilon by c A/(f sqrt N), as (5) does",
    says=("epsilon", lambda f, logs, n: logs / (f * n)), check=judge_six,
    flips=(Flip("an upper bound on f", ("f", lambda f, logs, n: logs / n), Verdict.REFUTED),),
    true_variants={"any *": "it is an identity"},
    expected="HOLDS PROVED",
)
six_f = reading(
    six, "f", source="003, (6) as an upper bound on f",
    words="(6) bounds the noise multiplier f from above by c A/sqrt N",
    says=("f", lambda f, logs, n: logs / n), check=judge_six,
    flips=(Flip("an upper bound on epsilon", ("epsilon", lambda f, logs, n: logs / (f * n)), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
theorem = Claim(
    id="glmtron/thm-4.1", source="003, Theorem 4.1, with a clip that shortens and thresholds known before a step",
    quote=_THEOREM, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"f = O\Big(\frac{\log(N/\delta)}{\varepsilon\sqrt N}\Big) \text{ gives } (\varepsilon, \delta)"
              r"\text{-DP for } \varepsilon = O\Big(\sqrt{\frac{\log(N/\delta)}{N}}\Big)",
    words="f of the order log(N/delta)/(epsilon sqrt N) makes DP-GLMtron private for epsilon of the order "
          "sqrt(log(N/delta)/N)",
    hypotheses=(Parameter("share", low=Fraction(0), high=Fraction(1), low_open=True,
                          meaning="epsilon over sqrt(log(N/delta)/N)"),),
    says=None, check=None,
    readings=("glmtron/thm-4.1-reading-constant", "glmtron/thm-4.1-reading-one", "glmtron/thm-4.1-reading-any"),
    uses=("glmtron/lemma-D.1", "glmtron/lemma-D.2-shuffle", "glmtron/eq-4", "glmtron/eq-5", "glmtron/eq-6-sign",
          "glmtron/clip"),
    expected="AMBIGUOUS ARGUED",
)
theorem_constant = reading(
    theorem, "constant", source="003, Theorem 4.1 with c = 11, delta <= 1/N, N >= 16 e log(4/delta)",
    statement=r"f = \frac{11\log(N/\delta)}{\varepsilon\sqrt N} \text{ gives } (\varepsilon, \delta)\text{-DP for }"
              r" \varepsilon \le \sqrt{\tfrac{\log(N/\delta)}{N}},\ \delta \le \tfrac1N,\ N \ge 16e\log\tfrac4\delta",
    words="f = 11 log(N/delta)/(epsilon sqrt N) makes DP-GLMtron private for epsilon up to sqrt(log(N/delta)/N), delta "
          "up to 1/N and N at least 16 e log(4/delta)",
    says=Fraction(11), check=judge_theorem,
    flips=(Flip("a hundredth", Fraction(1, 100), Verdict.REFUTED), Flip("one", Fraction(1), Verdict.UNDECIDED)),
    rests_on=("glmtron/lemma-D.1-repaired", "background/shuffle-clones"),
    true_variants={"1 % *": "more noise is as private, and 10.3 is enough", "one more": "more noise is as private"},
    expected="HOLDS ARGUED",
)
theorem_any = reading(
    theorem, "any", source="003, Theorem 4.1 with O(.) for 'at most of the order': f = 0 is allowed",
    words="any f of at most the order log(N/delta)/(epsilon sqrt N) makes DP-GLMtron private, f = 0 included",
    says=Fraction(0), check=judge_theorem, repaired_by="glmtron/thm-4.1-reading-constant",
    flips=(Flip("eleven", Fraction(11), Verdict.HOLDS),), expected="REFUTED PROVED",
)
