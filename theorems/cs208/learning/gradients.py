r"""Noisy and clipped gradients in document 004: unbiased or not, how clipping is meant, and how long noise is.

Length of noise. For Z standard normal in k dimensions, E|Z|^2 = k, and m_k = E|Z| = sqrt 2 Gamma((k+1)/2)/Gamma(k/2).
m_k^2 <= k (a variance is not negative), and m_k m_{k+1} = 2 Gamma(k/2 + 1)/Gamma(k/2) = k: so m_k >= k/sqrt(k+1).
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, non_negative_integer, positive, positive_integer, probability, real
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import Formula, formula
from theorems.given import Domain
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted

_UNBIASED = r"In both cases, \tilde{g}_t is an unbiased estimate of g_t : $E[\tilde{g}_t] = g_t$"


def judge_fixed(says: Formula, given: Domain) -> Finding:
    """Whether says(n) is each record's expected weight in the mean of a uniform batch of a fixed size."""
    tried = 0
    for point in given.points("batch_size", "left_out", most={"batch_size": 4, "left_out": 4}):
        b, n = point["batch_size"], point["batch_size"] + point["left_out"]
        batches = list(itertools.combinations(range(n), b))
        weight = sum((Fraction(1, b) for batch in batches if 0 in batch), Fraction(0)) / len(batches)
        tried += 1
        if says(Fraction(n)) != weight:
            return refuted("a record has another expected weight", {"n": n, "|B|": b, "claimed": says(Fraction(n)),
                                                                    "weight": weight})
    b, left = given.symbol("batch_size"), given.symbol("left_out")
    n = b + left
    share = sympy.combsimp((sympy.binomial(n - 1, b - 1) / sympy.binomial(n, b)).rewrite(sympy.gamma))
    return proof(
        computed("a record is in C(n-1, |B|-1) of the C(n, |B|) batches, with weight 1/|B|: 1/n in all",
                 vanishes(sympy.combsimp(share / b - says(n)))),
        tried=tried,
    )


def judge_poisson(says: Formula, given: Domain) -> Finding:
    """The same, says(n, p), for a Poisson batch, the mean over those drawn, 0 if nobody is: (1 - (1-p)^n)/n."""
    tried = 0
    for n, p in itertools.product(given.values("size", most=4), (Fraction(1, 2), *given.values("rate"))):
        weight = Fraction(0)
        for drawn in itertools.product((0, 1), repeat=n):
            if drawn[0]:
                weight += p ** sum(drawn) * (1 - p) ** (n - sum(drawn)) / sum(drawn)
        tried += 1
        if says(n, p) != weight:
            return refuted("a record has another expected weight: the batch may be empty",
                           {"n": n, "p": p, "claimed": says(n, p), "weight": weight})
    n_, p_ = given.symbol("size"), given.symbol("rate")
    k = sympy.Symbol("k", positive=True, integer=True)
    share = sympy.binomial(n_ - 1, k - 1) / k / sympy.binomial(n_, k)
    return proof(
        computed("C(n-1, k-1)/k = C(n, k)/n: each batch of k gives the record 1/n of its probability",
                 vanishes(sympy.combsimp(share.rewrite(sympy.gamma)) - 1 / n_)),
        computed("what is claimed is (1 - (1-p)^n)/n, on symbols", vanishes(says(n_, p_) - (1 - (1 - p_) ** n_) / n_)),
        argued("the probabilities of all batches but the empty one add up to 1 - (1-p)^n"), tried=tried,
    )


def judge_noise(says: Formula, given: Domain) -> Finding:
    """Whether the mean of g + Z is says(g): Z and -Z have one law, and the integral of z phi(z) is 0."""
    for point in given.points("gradient", "spread"):
        g, s = point["gradient"], point["spread"]
        if says(g) != ((g + s) + (g - s)) / 2:
            return refuted("noise and its mirror image have another mean",
                           {"gradient": g, "noise": f"{s} or {-s}", "claimed": says(g)})
    g, s, z = given.symbol("gradient"), given.symbol("spread"), sympy.symbols("z", real=True)
    density = sympy.exp(-(z**2) / 2) / sympy.sqrt(2 * sympy.pi)
    mean = sympy.integrate(z * density, (z, -sympy.oo, sympy.oo))
    mass = sympy.integrate(density, (z, -sympy.oo, sympy.oo))
    return proof(computed("the normal density integrates to 1, and z times it to 0; the spread scales it",
                          vanishes(g * mass + s * mean - says(g))))


def judge_clipped(level: Fraction, given: Domain) -> Finding:
    """Whether the mean of gradients clipped at level times the largest norm is the mean: of 10, -1 and -1."""
    gradients = [Fraction(10), Fraction(-1), Fraction(-1)]
    clip = level * 10
    cut = [max(-clip, min(clip, g)) for g in gradients]
    if sum(cut) != sum(gradients):
        return refuted("the mean of the clipped gradients is another", {
            "gradients": "10, -1, -1", "C": clip, "mean": sum(gradients) / 3, "clipped mean": sum(cut) / 3})
    norm, more = sympy.symbols("v s", nonnegative=True)
    return proof(computed("a gradient whose norm is at most C is not changed",
                          level >= 1 and vanishes(sympy.Min(norm, norm + more) - norm)))


def judge_iterate(says: Formula, given: Domain) -> Finding:
    """Whether a gradient is at a noisy iterate on average what it is at the noiseless one: at theta + Z and theta - Z.

    Of polynomials up to degree 3 the mean of these two at Z = spread is that of normal noise of this spread.
    """
    for point in [{"theta": Fraction(1, 2), "spread": Fraction(1, 2)}, *given.points("theta", "spread")]:
        t, s = point["theta"], point["spread"]
        mean = (Fraction(says(t + s)) + Fraction(says(t - s))) / 2
        if mean != says(t):
            return refuted("after a noisy step the expected gradient is not that of the noiseless descent",
                           {"noiseless iterate": t, "noise of the iterate": s, "gradient there": says(t),
                            "expected gradient": mean})
    t, s = given.symbol("theta"), given.symbol("spread")
    return proof(
        computed("at theta + Z and theta - Z the gradient has on average its value at theta",
                 vanishes((says(t + s) + says(t - s)) / 2 - says(t))),
        argued("Z and -Z have one law; by induction over the steps the expected iterate is the noiseless one"),
    )


def judge_clip(says: Formula, given: Domain) -> Finding:
    """Whether says(|z|, C) is the factor that shortens z to C where it is longer, and leaves it alone else."""
    tried = 0
    for point in [{"norm": Fraction(100), "clip": Fraction(1)}, *given.points("norm", "clip")]:
        norm, clip = point["norm"], point["clip"]
        wanted = clip / norm if norm > clip else Fraction(1)
        tried += 1
        if says(norm, clip) != wanted:
            return refuted("the vector is not clipped: a long one must get the length C, a short one stay",
                           {"|z|": norm, "C": clip, "factor": says(norm, clip), "length": says(norm, clip) * norm})
    norm, clip, more = given.symbol("norm"), given.symbol("clip"), sympy.symbols("s", nonnegative=True)
    return proof(
        computed("a vector of length C + s gets the length C", clip.is_positive is True
                 and vanishes(says(clip + more, clip) * (clip + more) - clip)),
        computed("one of length |z| <= C = |z| + s stays", norm.is_positive is True
                 and vanishes(says(norm, norm + more) - 1)),
        tried=tried,
    )


def judge_square(says: Formula, given: Domain) -> Finding:
    """Whether the loss of f(x) + Z against f(x') + Z, a normal law, has the variance says(d) for the difference d."""
    tried = 0
    for point in given.points("first", "second"):
        d = (point["first"], point["second"])
        tried += 1
        signs = [sum(z * one for z, one in zip(flip, d, strict=True)) for flip in itertools.product((1, -1), repeat=2)]
        variance = sum((one**2 for one in signs), Fraction(0)) / 4  # of <Z, d>, over signs of one spread
        if says(*d) != variance:
            return refuted("the privacy loss has another variance",
                           {**point, "claimed": says(*d), "variance": variance})
    d_, z_ = [given.symbol("first"), given.symbol("second")], sympy.symbols("z_1 z_2", real=True)
    log_ratio = sum(((z - d) ** 2 - z**2) / -2 for z, d in zip(z_, d_, strict=True))
    return proof(
        computed("the log ratio of the densities is <z, d> - |d|^2/2, linear in z, of variance |d|^2 in units of the "
                 "noise", vanishes(log_ratio - sum(z * d for z, d in zip(z_, d_, strict=True)) + says(*d_) / 2)),
        argued("the coordinates of the noise are independent; in k dimensions there are k such terms"),
        tried=tried,
    )


def length_steps(given: Domain) -> tuple[ProofStep, ...]:
    """A coordinate of the noise has the mean square sigma^2."""
    z, s = sympy.symbols("z", real=True), given.symbol("spread")
    square = sympy.integrate(z**2 * sympy.exp(-(z**2) / 2) / sympy.sqrt(2 * sympy.pi), (z, -sympy.oo, sympy.oo))
    return (computed("each coordinate has the mean square sigma^2", vanishes(square * s**2 - s**2)),)


def judge_length(says: tuple[Formula, Formula], given: Domain) -> Finding:
    """Whether the mean length of standard normal noise in k dimensions, squared, lies between the two formulas of k."""
    for k in given.values("parameters"):
        with ctx.workprec(100):
            half = ball(Fraction(k, 2))
            square = 2 * ((half + arb(1) / 2).lgamma() - half.lgamma()).exp() ** 2
            low, high = (ball(Fraction(formula_(k))) for formula_ in says)
            if square < low or square > high:
                return refuted("the mean length is another", {"k": k, "mean length squared": square.str(10),
                                                              "from": says[0](k), "to": says[1](k)})
    k = given.symbol("parameters")
    product = 2 * sympy.gamma(k / 2 + 1) / sympy.gamma(k / 2)
    return proof(
        computed("m_k m_(k+1) = k by Gamma(x + 1) = x Gamma(x)", vanishes(sympy.gammasimp(product) - k)),
        argued("m_k^2 <= E|Z|^2 = k, since a variance is not negative"),
        computed("so m_k^2 is at most k, and at least k^2/(k+1), and the two formulas say no more than that",
                 never_negative(says[1](k) - k, k**2 / (k + 1) - says[0](k))),
        computed("both are k to the first order", sympy.limit(says[0](k) / k, k, sympy.oo) == 1
                 and sympy.limit(says[1](k) / k, k, sympy.oo) == 1),
        study_step("noise-length"),
    )


_BATCHES = (positive_integer("batch_size", "|B|"), non_negative_integer("left_out", "n - |B|"))
_SQRT = "Noise is proportional to the square root of number of parameters."

minibatch = Claim(
    id="cs208/minibatch-unbiased", source="004, Robustness to Noise: the law of the minibatch is not said",
    quote=_UNBIASED, whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"E[\tilde g_t] = g_t",
    words="the mean gradient of a minibatch is unbiased: of a fixed size, or of those that a Poisson sample drew",
    hypotheses=_BATCHES, says=None, check=None,
    readings=("cs208/minibatch-unbiased-reading-poisson", "cs208/minibatch-unbiased-repaired"),
    expected="AMBIGUOUS PROVED",
    repair=Repair(
        statement=r"E\Big[\frac1{|B|} \mathbb{1}[i \in B]\Big] = \frac1n,\quad B \text{ uniform of a fixed size}",
        words="the mean gradient of a uniform minibatch of a fixed size is unbiased: every record weighs 1/n",
        says=lambda n: 1 / n, check=judge_fixed, expected="HOLDS PROVED",
        source="004, Robustness to Noise, for uniform batches of a fixed size",
        flips=(Flip("1/(n + 1)", lambda n: 1 / (n + 1), Verdict.REFUTED),),
    ),
)
minibatch_poisson = Claim(
    id="cs208/minibatch-unbiased-reading-poisson", quote=_UNBIASED, whose=Whose.READING, severity=Stake.UTILITY,
    source="004, Robustness to Noise, read of Poisson sampling (slide Improved Privacy Analysis), 0 for an empty batch",
    statement=r"E\Big[\frac{\mathbb{1}[i \in B]}{|B|}\Big] = \frac1n,\quad B \text{ Poisson}",
    words="the mean over those that a Poisson sample drew is unbiased",
    hypotheses=(positive_integer("size", "n"), probability("rate", "p")),
    says=lambda n, p: Fraction(1) / n, check=judge_poisson, repaired_by="cs208/minibatch-unbiased-repaired",
    flips=(Flip("as often as a batch is not empty", lambda n, p: (1 - (1 - p) ** n) / n, Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
noise = Claim(
    id="cs208/noise-unbiased", source="004, Robustness to Noise: Gaussian noise, given the iterate, without clipping",
    quote=_UNBIASED, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"E[g_t + \mathcal{N}(0, \sigma^2 I)] = g_t",
    words="a gradient plus Gaussian noise has the gradient for its mean",
    hypotheses=(real("gradient"), non_negative("spread", "sigma")), says=lambda g: g, check=judge_noise,
    flips=(Flip("half of it", lambda g: g / 2, Verdict.REFUTED),),
    true_variants={"any spread": "the sign of the spread changes nothing"}, expected="HOLDS PROVED",
)
noise_clipped = Claim(
    id="cs208/noise-unbiased-clipped", source="004, Robustness to Noise, read of the clipped gradients of DP-GD",
    quote=_UNBIASED, whose=Whose.READING, severity=Stake.UTILITY, statement=r"E[\hat g_t] = g_t",
    words="the noisy mean of clipped gradients is unbiased; here clipped to a tenth of the longest",
    hypotheses=(), says=Fraction(1, 10), check=judge_clipped, uses=("cs208/noise-unbiased",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"E[\hat g_t] = g_t \text{ if } C \ge \max_i \lVert \nabla\ell_i \rVert",
        words="it is unbiased where no gradient is longer than C", says=Fraction(1), expected="HOLDS PROVED",
        source="004, Robustness to Noise, for gradients that are not clipped",
        flips=(Flip("C twice the longest", Fraction(2), Verdict.HOLDS),),
        true_variants={"1 % more": "a larger C clips nothing, too", "one more": "a larger C clips nothing, too"},
    ),
)
iterate = Claim(
    id="cs208/noise-unbiased-iterate", source="004, Robustness to Noise, g_t read as the gradient of plain descent",
    quote=_UNBIASED, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"E[\nabla L(\tilde\theta_t)] = \nabla L(\theta_t),\quad \nabla L(\theta) = \theta^3",
    words="noisy descent follows plain descent on average; here on theta^4/4",
    hypotheses=(real("theta"), non_negative("spread")), says=lambda t: t**3, check=judge_iterate,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"E[\nabla L(\tilde\theta_t)] = \nabla L(\theta_t),\quad \nabla L(\theta) = 2\theta - 1",
        words="noisy descent follows plain descent on average where the gradient is linear; here on theta^2 - theta",
        says=lambda t: 2 * t - 1, expected="HOLDS ARGUED", source="004, Robustness to Noise, for quadratic losses",
        true_variants={
            "any spread": "the sign of the spread changes nothing", "1 % *": "another linear gradient",
            "sign": "another linear gradient", "*(constant *": "another linear gradient",
            "[*] -> + *": "another linear gradient", "- -> + *": "another linear gradient",
        },
    ),
)
clip = Claim(
    id="cs208/clip", source="004, DP Gradient Descent: the clipping",
    quote=r"Write $[\vec{z}]_C = \vec{z} \cdot \max\left(1, \frac{C}{\|\vec{z}\|_2}\right)$.",
    whose=Whose.TYPO, severity=Stake.PRIVACY, statement=r"[z]_C = z \max\Big(1, \frac{C}{\lVert z \rVert}\Big)",
    words="clipping multiplies by the larger of 1 and C/|z|, that is max(|z|, C)/|z|",
    hypotheses=(positive("norm", "|z|"), positive("clip", "C")), says=lambda norm, clip: sympy.Max(norm, clip) / norm,
    check=judge_clip, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"[z]_C = z \min\Big(1, \frac{C}{\lVert z \rVert}\Big)",
        words="clipping multiplies by the smaller of 1 and C/|z|: long vectors get the length C, short ones stay",
        says=lambda norm, clip: sympy.Min(norm, clip) / norm, expected="HOLDS PROVED",
        source="004, DP Gradient Descent, with the minimum",
    ),
)
sensitivity = Claim(
    id="cs208/l2-sensitivity", source="004, DP for Vector-Valued Functions: the norm of the sensitivity",
    quote=r"$$\|z\|_2 = \left(\sum_j |z_j|^2 \right)^{1/2}$$", whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\mathrm{Var}\log\frac{p(z)}{p'(z)} = \frac{\lVert f(x) - f(x') \rVert_2^2}{\sigma^2}",
    words="the privacy loss of the Gaussian mechanism depends on the data through this norm of the difference alone",
    hypotheses=(real("first"), real("second")), says=lambda one, two: one**2 + two**2, check=judge_square,
    flips=(Flip("the squared sum", lambda one, two: (one + two) ** 2, Verdict.REFUTED),), expected="HOLDS ARGUED",
)
root_of_parameters = Claim(
    id="cs208/noise-sqrt-params", source="004, Neural Networks & Privacy: the root mean square of the noise's length",
    quote=_SQRT, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"E\lVert \mathcal{N}(0, \sigma^2 I_k) \rVert^2 = k\sigma^2",
    words="the mean square of the noise's length is exactly the number of parameters times sigma^2",
    hypotheses=(positive_integer("parameters", "k"), non_negative("spread", "sigma")), says=lambda k, s: k * s**2,
    check=formula(
        ("parameters", "spread"), lambda k, s: sum((s * s for _ in range(k)), Fraction(0)), lambda k, s: k * s**2,
        "the squares of k coordinates add up to something else", "k squares of mean sigma^2 have the mean k sigma^2",
        more=length_steps,
    ),
    flips=(Flip("not growing", lambda k, s: s**2, Verdict.REFUTED),),
    true_variants={"any *": "an identity of expressions"}, expected="HOLDS PROVED",
)
noise_length = Claim(
    id="cs208/noise-params", source="004, Neural Networks & Privacy: the mean length of the noise", quote=_SQRT,
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\frac{k}{\sqrt{k+1}} \le \frac{E\lVert \mathcal{N}(0, \sigma^2 I_k) \rVert}{\sigma} \le \sqrt k",
    words="the mean length of the noise is sqrt k sigma, up to a factor between sqrt(k/(k+1)) and 1",
    hypotheses=(positive_integer("parameters", "k"),), says=(lambda k: k**2 / (k + Fraction(1)), lambda k: k),
    check=judge_length,
    flips=(Flip("exactly sqrt k", (lambda k: k, lambda k: k), Verdict.REFUTED),),
    true_variants={"[[]0[]] 1 -> 2 *": "k^2/(k+2) is below k^2/(k+1)"}, expected="HOLDS ARGUED",
)
