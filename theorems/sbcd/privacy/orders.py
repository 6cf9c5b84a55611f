r"""In which order the accounting of one block puts losses: constant noise never loses less for one epoch more.

Write w = V/L_T^2 for the spread, q = (L_F L_T)^2 and p for the power of the factor (Corollary 4.5 prints 1/L_T^2; the
repair is 1). A step without the record multiplies R/alpha by (q w/(q w + o))^p, the step with it adds a touch, and both
leave w' = q w + o. Factor and spread grow with w and with q (derivatives), so a run of K epochs from a state with more
loss and more spread ends with more loss; one epoch more in front of K epochs of the same noise is such a state.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative_integer, positive, positive_integer
from oracle.core.enclosure import ball
from oracle.core.errors import DomainError
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.verdict import Finding, ProofStep, Verdict, computed, proof, refuted

LEAST = {"batches": 3, "position": 2}
"""How many batches and which positions are tried at points."""


def worth(noise: Iterable[Any], batches: int, position: int, product: Any, power: Any = None) -> Iterator[list[Any]]:
    """After each step, what each touch so far is worth in units of eta S_g^2/(4 b^2): numbers or balls; product is q.

    The power of the factors is 1 unless given.
    """
    found: list[Any] = []
    spread = 0 * product
    for o in noise:
        if not o > 0:
            raise DomainError("noise has a positive variance")
        for batch in range(batches):
            moved = product * spread
            if batch == position:
                found = [*found, 1 / o]
            elif found:
                factor = moved / (moved + o)
                found = [share * (factor if power is None else factor**power) for share in found]
            spread = moved + o
            yield found


def shares(noise: Iterable[Any], batches: int, position: int, product: Any, power: Any = None) -> list[Any]:
    """What each epoch's touch is worth at the end."""
    return list(worth(noise, batches, position, product, power))[-1]


def steps_keep_order(o: Any, q: Any, p: Any) -> ProofStep:
    """The derivatives of a step's factor and spread, for symbols with the signs that the hypotheses give them."""
    w = sympy.Symbol("w", positive=True)
    parts = ((q * w / (q * w + o)) ** p, q * w + o)
    signs = [sympy.factor(sympy.simplify(sympy.diff(part, by))).is_positive for part in parts for by in (w, q)]
    return computed(
        "a step's factor (q w/(q w + o))^p and the spread q w + o after it grow with w and with q (derivatives)",
        all(signs),
    )


def mixture_keeps_order() -> ProofStep:
    """The derivative of the loss of a random position in the loss of one of them."""
    order, one, rest = sympy.symbols("alpha a B", positive=True)
    mixed = sympy.log(sympy.exp(order * one) + rest) / order  # order stands for alpha - 1 > 0
    grows = sympy.diff(mixed, one).is_positive
    return computed("the loss of a random position grows with that of each position", grows)


def judge_growth(grows: bool, given: Domain) -> Finding:
    """Whether one epoch more of the same noise never lowers the loss (True), or never raises it."""
    tried = 0
    with ctx.workprec(100):
        for at in given.points("noise", "product", "power", "batches", "position", at_most=80, most=LEAST):
            o, shape = ball(at["noise"]), (at["batches"], at["position"], ball(at["product"]), ball(at["power"]))
            if at["position"] >= at["batches"]:
                continue
            tried += 1
            losses = [sum(shares((o,) * epochs, *shape), arb(0)) for epochs in (1, 2, 3)]
            for less, more in itertools.pairwise(losses):
                if more < less if grows else more > less:
                    return refuted("the loss moves the other way, certified", {**at, "less": less, "more": more})
    o, q, p = (given.symbol(name) for name in ("noise", "product", "power"))
    return proof(
        steps_keep_order(o, q, p),
        computed("a touch adds a positive number, and so an epoch leaves no less than nothing lost and no spread",
                 (1 / o).is_positive and o.is_positive),
        mixture_keeps_order(), tried=tried,
    )


grows = Claim(
    id="sbcd/constant-noise-grows", source="001, Theorem 4.6 for constant noise (finding)",
    severity=Stake.UTILITY,
    statement=r"o_k = o \implies \varepsilon_{K+1} \ge \varepsilon_K \text{ for any power } p > 0 \text{ of factors}",
    words="with constant noise the accounting never loses less for one epoch more, whatever the power of its factors",
    hypotheses=(
        positive("noise"), positive("product", "q, the square of L_F L_T"),
        positive("power", "1/L_T^2 as printed, or 1"), positive_integer("batches"),
        non_negative_integer("position", "j_0, below the number of batches"),
    ),
    says=True, check=judge_growth, flips=(Flip("never more", False, Verdict.REFUTED),),
    true_variants={"any batches": "without a batch nothing is lost",
                   "any position": "a record in no batch loses nothing"},
    expected="HOLDS PROVED",
)
