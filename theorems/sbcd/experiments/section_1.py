r"""What document 001 says in Section 1 of its accounting, and the batches that the accounting assumes.

Composition adds the touches of all epochs; the accounting multiplies each of them by factors below 1 for the steps that
follow without the record, so one block never loses more than composition says, and as much where no step follows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer
from oracle.core.enclosure import Enclosure
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.experiments.curves import contributions
from theorems.sbcd.privacy.orders import shares, steps_keep_order
from theorems.tools.printed import rounds_to
from theorems.tools.readings import reading
from theorems.verdict import Finding, Verdict, argued, at_points, computed, instance, proof, refuted, sampled

Epoch = tuple[tuple[int, ...], ...]
_ONE = Fraction(1)
_SMALL = {"batches": 3, "epochs": 3}


def independent(n: int, b: int) -> Iterator[Epoch]:
    """All epochs of n/b batches, each sampled from all records, as Corollary 4.5 says."""
    return itertools.product(itertools.combinations(range(n), b), repeat=n // b)


def partition(n: int, b: int) -> Iterator[Epoch]:
    """All epochs that run through the records once."""
    for order in itertools.permutations(range(n)):
        yield tuple(order[start:start + b] for start in range(0, n, b))


def judge_batches(epochs: Callable[[int, int], Iterator[Epoch]], given: Domain) -> Finding:
    """Whether each record is in exactly one batch of every epoch that can happen."""
    tried = 0
    for at in given.points("b", "batches", most={"b": 2, "batches": 3}):
        n = at["b"] * at["batches"]
        for epoch in epochs(n, at["b"]):
            tried += 1
            times = [sum(record in batch for batch in epoch) for record in range(n)]
            if times != [1] * n:
                return refuted("a record is in no batch, or in several", {
                    "n": n, "b": at["b"], "epoch": [list(batch) for batch in epoch], "batches with record 0": times[0],
                })
    return proof(
        sampled(f"all {tried} epochs of at most 3 batches of at most 2 enumerated", tried > 0),
        argued("a permutation puts each record in one place, and the place divided by b, rounded down, is one batch"),
    )


def judge_one_block(printed: str, given: Domain) -> Finding:
    """Whether one block's loss is that share of composition's, the sum of its touches (Figure 1's setting)."""
    with ctx.workprec(128):
        found = contributions([Fraction(1, 100)] * 30, 20)  # the worst position
        ratio = Enclosure.of_ball(sum(found, arb(0)) / (30 * found[-1]))  # the last touch has not decayed
    if not rounds_to(ratio, printed):
        return refuted("another share, certified", {"L_F": "0.99", "epochs": 30, "ratio": ratio, "claimed": printed})
    return instance(f"the ratio is {printed}")


def judge_every_setting(share: Fraction, given: Domain) -> Finding:
    """Whether one block's loss is at most that share of composition's, whatever the setting."""
    for at in given.points("noise", "product", "batches", "epochs", at_most=60, most=_SMALL):
        noise = (at["noise"],) * at["epochs"]
        found = sum(shares(noise, at["batches"], at["batches"] - 1, at["product"]))
        if found > share * sum(1 / o for o in noise):
            return refuted("composition says no more, exactly", {
                "noise": at["noise"], "q": at["product"], "batches": at["batches"], "epochs": at["epochs"],
                "j_0": at["batches"] - 1, "claimed share": share,
            })
    o, q, w = given.symbol("noise"), given.symbol("product"), sympy.Symbol("w", nonnegative=True)
    return proof(
        computed("a factor is at most 1", sympy.simplify(1 - q * w / (q * w + o)).is_nonnegative),
        computed("the share is at least 1", share >= 1),
    )


def judge_two_losses(constants: Callable[[Fraction], Fraction], given: Domain) -> Finding:
    """Whether the loss grows with h, L_F = constants(h), h = 1/4, 1/2, 1: then more noise is needed for the same."""
    points = [Fraction(1, 4), Fraction(1, 2), _ONE]
    for batches, epochs in ((2, 2), (3, 2)):
        losses = [sum(shares((_ONE,) * epochs, batches, batches - 1, constants(h) ** 2)) for h in points]
        for (small, large), (less, more) in zip(itertools.pairwise(points), itertools.pairwise(losses), strict=True):
            if more <= less:
                return refuted("the loss falls, so less noise is enough", {
                    "h": f"{small} and {large}", "eta": 1, "L_F": f"{constants(small)} and {constants(large)}",
                    "batches": batches, "epochs": epochs, "R/alpha in touches": f"{less} and {more}",
                })
    return at_points("the loss grows with h", 4)


def judge_growth(grows: bool, given: Domain) -> Finding:
    """Whether the loss never falls as L_F grows (True), strictly if a step without the record follows a touch."""
    tried = 0
    for at in given.points("noise", "batches", "epochs", at_most=60, most=_SMALL):
        for position, (small, large) in itertools.product(
            range(at["batches"]), itertools.pairwise(sorted(given.values("product")))
        ):
            noise = (at["noise"],) * at["epochs"]
            less, more = (sum(shares(noise, at["batches"], position, q)) for q in (small, large))
            follows = at["batches"] > 1 and (at["epochs"] > 1 or position < at["batches"] - 1)
            tried += 1
            if less > more if grows else less < more:
                told = {**at, "j_0": position, "q": f"{small}, {large}"}
                return refuted("the loss moves the other way, exactly", told)
            if (less < more) is not follows:
                return refuted("strict where no step follows, or the reverse", {**at, "j_0": position})
    o, q = given.symbol("noise"), given.symbol("product")
    return proof(
        steps_keep_order(o, q, sympy.Integer(1)),
        computed("a touch leaves the spread positive, so the factor of a step after it grows strictly", o.is_positive),
        tried=tried,
    )


_SAMPLED = r"which contains b different training instances whose indices are sampled from $\{0, 1, \dots, n-1\}$."
_SIGNIFICANT = "our algorithm’s privacy loss is significantly smaller than that of composition theory."
_BIGGER = (
    "we need noise of larger variance to achieve the same level of differential privacy if the Lipschitz "
    "constant of the loss gradient is bigger"
)
_SHAPE = (positive_integer("b"), positive_integer("batches"))
_BLOCK = (
    positive("noise"), positive("product", "q, the square of L_F L_T"), positive_integer("batches"),
    positive_integer("epochs"),
)

once = Claim(
    id="sbcd/one-batch-per-epoch",
    source="001, Corollary 4.5 and the proof sketch of Theorem 4.6 (one and only one different mini-batch)",
    quote=_SAMPLED, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\#\{j : i_0 \in B_k^j\} = 1",
    words="the batches of an epoch contain each record exactly once, as Theorem 4.6 assumes",
    hypotheses=_SHAPE, says=None, check=None,
    readings=("sbcd/one-batch-per-epoch-reading-sampled", "sbcd/one-batch-per-epoch-repaired"),
    expected="AMBIGUOUS ARGUED",
)
once_sampled = reading(
    once, "sampled", source="001, Corollary 4.5, each batch sampled from all records",
    statement=r"\#\{j : i_0 \in B_k^j\} = 1 \text{ for sampled batches}",
    words="batches sampled from all records contain each record exactly once an epoch", says=independent,
    check=judge_batches, flips=(Flip("batches that partition the records", partition, Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
once_repaired = reading(
    once, "repaired", source="001, Theorem 4.6, for batches that partition the records",
    statement=r"\bigsqcup_j B_k^j = \{0, \dots, n-1\} \implies \#\{j : i_0 \in B_k^j\} = 1",
    words="batches that partition the records contain each record exactly once an epoch", says=partition,
    check=judge_batches, flips=(Flip("sampled batches", independent, Verdict.REFUTED),),
    true_variants={"any batches": "without a batch there is no record"},
    survivors={"beyond *": "larger epochs than those enumerated: for them the proof stands in words only"},
    expected="HOLDS ARGUED",
)
smaller = Claim(
    id="sbcd/smaller-than-composition", source="001, Section 1: significantly smaller than by composition",
    quote=_SIGNIFICANT, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\varepsilon_K \ll \alpha \sum_k \frac{\eta S_g^2}{4b^2 o_k}",
    words="the accounting gives significantly less loss than composition",
    hypotheses=_BLOCK, says=None, check=None,
    readings=("sbcd/smaller-than-composition-reading-one-block", "sbcd/smaller-than-composition-reading-every-setting",
              "sbcd/whole-network-gain"),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fig-1-rho"),
    expected="AMBIGUOUS ARGUED",
)
smaller_one = reading(
    smaller, "one-block", source="001, Section 1, one block at Figure 1's setting, L_F = 0.99",
    statement=r"\varepsilon_K = 0.1007\,\alpha \sum_k \frac{\eta S_g^2}{4b^2 o_k} \quad (L_F = 0.99,\ K = 30,"
              r"\ j_0 = 20)",
    words="the loss of one block, the others fixed, is 0.1007 of composition's at Figure 1's setting, j_0 = 20",
    hypotheses=(), says="0.1007", check=judge_one_block, flips=(Flip("a twentieth", "0.0500", Verdict.REFUTED),),
    rests_on=("sbcd/thm-4.6-repaired",), expected="HOLDS ARGUED",
)
smaller_every = reading(
    smaller, "every-setting", source="001, Section 1, whatever the setting",
    statement=r"\varepsilon_K \le 0.99\,\alpha \sum_k \frac{\eta S_g^2}{4b^2 o_k}",
    words="in every setting the accounting of one block gives at least 1 % less loss than composition",
    says=Fraction(99, 100), check=judge_every_setting, flips=(Flip("no more than composition", _ONE, Verdict.HOLDS),),
    repaired_by="sbcd/smaller-than-composition-reading-one-block", expected="REFUTED PROVED",
)
smoothness = Claim(
    id="sbcd/noise-vs-smoothness",
    source="001, Section 1: larger variance is needed if the Lipschitz constant of the loss gradient is bigger",
    quote=_BIGGER, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\beta < \beta' \implies \varepsilon_K(\beta) \le \varepsilon_K(\beta')",
    words="a bigger Lipschitz constant of the loss's gradient needs more noise for the same privacy",
    hypotheses=_BLOCK, says=None, check=None,
    readings=("sbcd/noise-vs-smoothness-reading-two-losses", "sbcd/noise-vs-smoothness-repaired"),
    uses=("sbcd/lem-4.1",),
    expected="AMBIGUOUS PROVED",
)
smoothness_losses = reading(
    smoothness, "two-losses", source="001, Section 1, the losses h theta^2/2 at eta = 1, S_g fixed",
    statement=r"\beta < \beta' \implies \varepsilon_K(\beta) < \varepsilon_K(\beta') \quad"
              r" (\mathcal{F} = \tfrac{\beta}{2}\theta^2,\ \eta = 1)",
    words="of two losses the one whose gradient has the bigger Lipschitz constant needs more noise", hypotheses=(),
    says=lambda h: abs(1 - h), check=judge_two_losses, flips=(Flip("of the step", lambda h: h, Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
smoothness_repaired = reading(
    smoothness, "repaired", source="001, Section 1, for the Lipschitz constant of the gradient step",
    statement=r"L_F < L_F' \implies \varepsilon_K(L_F) \le \varepsilon_K(L_F'), \text{ strictly if a step without the"
              r" record follows a touch}",
    words="a bigger Lipschitz constant of the gradient step never gives the accounting less loss, and gives more if a "
          "step without the record follows one with it",
    says=True, check=judge_growth, flips=(Flip("never more", False, Verdict.REFUTED),),
    true_variants={"any batches": "without a batch nothing is lost"}, expected="HOLDS PROVED",
)
