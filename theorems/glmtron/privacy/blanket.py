r"""Theorem 4.1 without a constant: f = log(N/delta)/(epsilon sqrt N) is enough, by what any two Gaussian steps share.

Let X = log(N/delta), delta <= 1/N, N >= 16 e log(4/delta), epsilon <= sqrt(X/N). As in `shuffling` that leaves N >= 300
only, X <= 2 log(1/delta) < N/(8 e), X >= 2 log 300. A step's mean moves by at most 2 gamma, its noise has the deviation
2 f gamma: by at most mu = 1/f = epsilon sqrt(N)/X in units of the noise. One record is x0 or x1; at a step, given what
came before, let g0 and g1 be the densities that it would have, w = (g0 + g1)/2, and g that of another record o.

1. For a > 0 and p = e^-a, w exceeds e^a g by (g0 + g1)/2 - e^a g <= half the sum of what g0 and g1 exceed it by: by a
mass of at most G(a), the hockey stick divergence of two Gaussians mu apart. So g is within p G(a) (total variation) of
p w + (1-p) times some other law: with o's coin of probability p its answer does not depend on o. All other records at
once: (N-1) p G(a), which costs (1 + e^epsilon)(N-1) p G(a) of delta.
2. Let U be the steps of the C records with that coin, C of the law Bin(N-1, p), and of the one that differs. Given U
and where the others stand, the one that differs is at each step of U as likely: the transcript has the densities (1 +
V) q and (1 - V) q, where q has w at every step of U, V is the mean over U of v = (g0 - g1)/(g0 + g1) = tanh(Z/2), Z =
log(g0/g1). So the divergence is (1 + e^epsilon) E_q max(0, V - tanh(epsilon/2)) <= 2 q(V > tanh(epsilon/2)).
3. Under w, Z is +-m^2/2 plus m times a normal variable, m <= mu its distance, whatever came before: E e^{lv} = E
cosh(lv) <= E cosh(lZ/2) = e^{l^2 m^2/8} cosh(l m^2/4) <= e^{l^2 s^2/2}, s^2 = (mu^2/4)(1 + mu^2/4). By Chernoff's bound
q(V > t) <= e^{-(C+1) k}, k = t^2/(2 s^2), on average at most (1 - p (1 - e^-k))^N <= exp(-N p k/(1 + k)).
4. a = mu sqrt(2 (X+1)) + mu^2/2: G(a) <= e^{-X-1}/2, and N e^-X = delta: step 1 costs delta (1 + e^epsilon) p/(4 e/2)
<= delta/2. As mu <= 1/sqrt X, a <= sqrt(2 + 2/X) + 1/(2X). epsilon/mu = X/sqrt N, and tanh(epsilon/2) over epsilon/2
falls: k >= K X^2/N. Step 3 costs 2 exp(-p K X^2/(1 + K X (X/N))), at most delta/2 if p K X^2 >= (1 + K X/(8 e)) (X -
log 300 + log 4), a quadratic inequality in X without real roots.

More noise is as private. Nothing of it needs the records' steps to be like each other, nor clones: the loss of
sqrt(2X) that (epsilon0, delta0)-DP steps have against Gaussian ones is what the constant of `shuffling`, 11, is for.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb, ctx

from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.privacy.shuffling import at_spots, theorem
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, instance, proof, undecided

_PRECISION = 120
_LEAST = 300
"""No N below that meets the assumptions (`shuffling.theorem_steps`)."""


def gaussian_excess(a: arb, mu: arb) -> arb:
    """G(a): what one Gaussian exceeds e^a times another by, mu apart."""
    value: arb = normal_upper_tail(a / mu - mu / 2) - a.exp() * normal_upper_tail(a / mu + mu / 2)
    return value


def proved_delta(records: int, epsilon: arb, mu: arb, a: arb) -> arb:
    """The delta of the docstring, steps 1 to 3, for one N, epsilon, mu and a."""
    p, t = (-a).exp(), (epsilon / 2).tanh()
    rate = t**2 / (2 * (mu**2 / 4) * (1 + mu**2 / 4))
    value: arb = (2 * (1 - p * (1 - (-rate).exp())) ** records
                  + (1 + epsilon.exp()) * (records - 1) * p * gaussian_excess(a, mu))
    return value


def judge_one(constant: Fraction, given: Domain) -> Finding:
    """Whether f = constant log(N/delta)/(epsilon sqrt N) makes the pass private: the proof above, or the canary."""

    def lacking(records: int, delta: Fraction, epsilon: arb, noise: arb) -> str:
        logs, mu = (records / ball(delta)).log(), 1 / noise if noise > 0 else arb(10) ** 9
        enough = proved_delta(records, epsilon, mu, mu * (2 * logs + 2).sqrt() + mu**2 / 2) <= ball(delta)
        return "" if enough else f"the proof gives more than delta = {delta} at N = {records}"

    against, short, tried = at_spots(constant, given, lacking)
    if against:
        return against
    if short or constant < 1:
        return undecided(f"no test tried is against it, and {short or 'the proof is for a constant of 1'}", tried)
    return proof(
        *law_steps(), *number_steps(),
        argued("the coins of the other records, the place of the one that differs and the densities 1 + V and 1 - V, "
               "as in the docstring, 1 and 2; what is known to the adversary is every iterate"),
        argued("e^x >= 1 + x; Chernoff's bound for sums whose terms have such moments given what came before"),
        tried=tried,
    )


def law_steps() -> tuple[ProofStep, ...]:
    """Steps 2 and 3 of the docstring, on symbols."""
    v, z, m, c, size = sympy.symbols("v z m c epsilon", real=True)
    p, kept = (1 / (1 + sympy.Symbol(name, nonnegative=True)) for name in ("p", "k"))  # run through (0, 1]
    t = (sympy.exp(size) - 1) / (sympy.exp(size) + 1)
    middle = m**2 / 2
    return (
        computed("(1 + v) - e^epsilon (1 - v) = (1 + e^epsilon)(v - t) and (1 + e^epsilon)(1 - t) = 2, t = "
                 "tanh(epsilon/2), on symbols",
                 vanishes((1 + v) - sympy.exp(size) * (1 - v) - (1 + sympy.exp(size)) * (v - t),
                          (1 + sympy.exp(size)) * (1 - t) - 2, t - sympy.tanh(size / 2).rewrite(sympy.exp))),
        computed("cz - (z - m^2/2)^2/(2 m^2) is cm^2/2 + c^2 m^2/2 less a square: E cosh(cz) = e^(c^2 m^2/2) cosh(c "
                 "m^2/2); with c = l/2 and cosh(u) <= e^(u^2/2) the exponent is l^2 (m^2/4)(1 + m^2/4)/2, on symbols",
                 vanishes(c * z - (z - middle) ** 2 / (2 * m**2) - c * middle - c**2 * m**2 / 2
                          + (z - middle - c * m**2) ** 2 / (2 * m**2),
                          (c / 2) ** 2 * m**2 / 2 + (c / 2 * middle) ** 2 / 2
                          - c**2 * (m**2 / 4) * (1 + m**2 / 4) / 2)),
        computed("x - tanh x rises, so that |tanh x| <= |x| and log cosh u <= u^2/2, on symbols",
                 vanishes(sympy.diff(z - sympy.tanh(z), z) - sympy.tanh(z) ** 2,
                          sympy.diff(z**2 / 2 - sympy.log(sympy.cosh(z)), z) - (z - sympy.sinh(z) / sympy.cosh(z)))),
        computed("e^-k <= 1 - p (1 - e^-k): with C of the law Bin(N-1, p), E e^(-(C+1) k) <= (1 - p (1 - e^-k))^N",
                 never_negative(1 - p * (1 - kept) - kept)),
    )


def number_steps() -> tuple[ProofStep, ...]:
    """Step 4 of the docstring, certified for all N, delta and epsilon."""
    with ctx.workprec(_PRECISION):
        e, least = arb(1).exp(), 2 * ball(_LEAST).log()
        small, widest = ball(299) < 16 * e * ball(4 * 299).log(), 1 / (8 * e).sqrt()  # of epsilon
        p = (-((2 + 2 / least).sqrt() + 1 / (2 * least))).exp()
        rate = ((widest / 2).tanh() / (widest / 2)) ** 2 / (2 * (1 + 1 / (4 * least)))
        spared, curb = (ball(_LEAST) / 4).log(), rate / (8 * e)
        square, linear = p * rate - curb, 1 - curb * spared  # square X^2 - linear X + spared
        first, second = linear**2 < 4 * square * spared and square > 0, (1 + widest.exp()) / (2 * e) <= ball(
            Fraction(1, 2))
    return (
        computed("the assumptions leave no N below 300, and epsilon^2 <= X/N < 1/(8 e), certified", bool(small)),
        computed("step 1 costs at most delta/2: (1 + e^epsilon)/(2 e) <= 1/2 for epsilon^2 <= 1/(8 e), certified",
                 bool(second)),
        computed("step 3 costs at most delta/2: the quadratic inequality in X has no real roots, certified",
                 bool(first)),
    )


def judge_gain(records: int, given: Domain) -> Finding:
    """Whether, with so many records, a noise is enough in a random order and not in an order that is known."""
    if records < 1:
        return undecided("no records", 1)
    with ctx.workprec(_PRECISION):
        delta = 1 / arb(records)
        logs = (records / delta).log()
        if not records >= 16 * arb(1).exp() * (4 / delta).log():
            return undecided("fewer records than the proof asks for", 1)
        epsilon = (logs / records).sqrt()
        mu = 1 / logs.sqrt()
        shuffled = proved_delta(records, epsilon, mu, mu * (2 * logs + 2).sqrt() + mu**2 / 2)
        known = gaussian_excess(epsilon, mu)
        if not (shuffled <= delta < known):
            return undecided("no gain is certified", 1)
        return instance("one noise, a delta proved in a random order and attained in a known one", {
            "N": records, "epsilon": epsilon.str(8, radius=False), "f": (1 / mu).str(8, radius=False),
            "delta": delta.str(8, radius=False), "delta in a random order, at most": shuffled.str(8, radius=False),
            "delta in a known order": Enclosure.of_ball(known)})


amplified = Claim(
    id="glmtron/intro-amplification", source="003, Section 4: shuffling amplifies privacy [17], read of this algorithm",
    quote="Also, such shuffling can amplify privacy[17].", whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"N = 10^6,\ \delta = \tfrac1N,\ \varepsilon = \sqrt{\tfrac{\log(N/\delta)}{N}},\ f = "
              r"\sqrt{\log(N/\delta)}:\quad \delta_{\text{random}} \le \delta < \delta_{\text{known}}",
    words="with a million records a noise makes the pass private in a random order that would not do in a known order",
    hypotheses=(), says=10**6, check=judge_gain, expected="HOLDS ARGUED", rests_on=("glmtron/thm-4.1-reading-one",),
    flips=(Flip("a hundred records", 100, Verdict.UNDECIDED),),
    true_variants={"1 % *": "any number of records from some 310 on will do", "one more": "likewise"},
)
theorem_one = reading(
    theorem, "one", source="003, Theorem 4.1 without a constant, delta <= 1/N, N >= 16 e log(4/delta)",
    statement=r"f = \frac{\log(N/\delta)}{\varepsilon\sqrt N} \text{ gives } (\varepsilon, \delta)\text{-DP for }"
              r" \varepsilon \le \sqrt{\tfrac{\log(N/\delta)}{N}},\ \delta \le \tfrac1N,\ N \ge 16e\log\tfrac4\delta",
    words="f = log(N/delta)/(epsilon sqrt N), without a constant, makes DP-GLMtron private for epsilon up to "
          "sqrt(log(N/delta)/N), delta up to 1/N and N at least 16 e log(4/delta)",
    says=Fraction(1), check=judge_one,
    flips=(Flip("eleven", Fraction(11), Verdict.HOLDS), Flip("a hundredth", Fraction(1, 100), Verdict.REFUTED),
           Flip("a half", Fraction(1, 2), Verdict.UNDECIDED)),
    true_variants={"1 % more": "more noise is as private", "one more": "more noise is as private"},
    expected="HOLDS ARGUED",
)
