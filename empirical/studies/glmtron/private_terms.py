r"""What the noise of privacy alone costs: the shuffled pass, and the tree against Theorem 5.2 (003; rates R9, R10).

With w* = 0 and labels 0 the risk is all due to private noise, and c = 1/2 is exact (`relu_chains`): one curve, not two.
Everything is in units of s^2 D_pri, s the noise of a step (2 f Gamma) or of a node (f Gamma).

Shuffled: Theorems 4.2 and 4.4 say 1/N.

Tree. Theorem 5.2, with the products that its units ask for, says at most

    s^2 (lg N/N) (3 eta lg N tr(H) + 1) (D_eff + D_pri).                                                      (printed)

The mean given the noise, u, is far smaller. In `relu_chains.node_weights` put y = q^{2^j}: (1 - y)^2/(1 - y^4) <= 1 - y
<= min(1, 2^j x), x = eta lambda/2, so that the sum over levels is at most min(lg N, N x), and 1 - q^{2N} <= min(1,
2 N x): with (eta s)^2 lambda/4 around it, and as eta lambda <= 1,

    risk of the mean <= s^2 (lg N + 1/4) D_pri/N^2,                                                        (improved)

one power of N better: certified here. But records are random, and what they do to the noise that is in w_t is not in
the mean: e_t = w_t - u_t. It has differences of variance at most (3/2) eta^2 S_t lambda a step, weighted by at most
min(1, N x)/x; U_t <= eta^2 s^2 (2 lg N + 3) (at most lg N + 1 live nodes of weight 1, and at most 1 - y <= 1 a level
for those that were dropped); and sum_t S_t is at most 3 times its part from U, for eta 3 tr(H) <= 1. So

    risk <= s^2 [(lg N + 1/4) D_pri/N^2 + (9/2) (2 lg N + 3) eta^2 tr(H) D_eff/N].                               (ours)

On lambda_i = i^-r the second term is of the order of eta times the first while eta N < d^r: the improved rate,
D_pri/N^2, is then right for the whole algorithm. Where all directions count and eta is kept (a flat spectrum, N large)
it is wrong: the second term is the larger one, of order 1/N, as printed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from empirical.studies.glmtron.relu_chains import (
    Pass,
    effective,
    node_weights,
    shuffled_sandwich,
    tree_sandwich,
)
from empirical.studies.glmtron.relu_data import (
    FOURTH_MOMENT,
    PREMISES,
    STEPS,
    pass_at,
    pass_noise,
    trained_risks,
    tree_noise,
    upper_bound,
)
from empirical.studies.glmtron.shuffled_rates import NEEDS
from empirical.studies.study import EQUAL, FLOAT, Array, Curve, Premise, Simulation, Spot, Study
from oracle.core.enclosure import ball

_MODELS = 4
_BITS = 160
_ABOVE = 1 + 1e-9


def _per_dimension(run: Pass) -> float:
    """s^2 D_pri."""
    return run.noise**2 * effective(run, 1)


def _exactly(of: Callable[[Pass], tuple[float, float]]) -> Callable[[Spot], Curve]:
    """The upper chain, which is exact at w* = 0 without label noise."""
    return lambda spot: (arb(of(pass_at(spot))[1] / _per_dimension(pass_at(spot))),)


def _sampled(name: str, keys: Callable[[Pass], dict[str, Any]]) -> Callable[[Spot, int, range], Array]:
    risks = trained_risks(name, keys, _MODELS)

    def sample(spot: Spot, seed: int, replicates: range) -> Array:
        return risks(spot, seed, replicates) / _per_dimension(pass_at(spot))

    return sample


def _silent(spot: Spot) -> bool:
    run = pass_at(spot)
    return run.label == 0 and not run.target.any()


def _power_of_two(spot: Spot) -> bool:
    return int(spot["N"]).bit_count() == 1


SILENT = Premise("w* = 0 and labels are 0: all risk is that of the noise", _silent)
FULL_TREE = Premise("the number of records is a power of two", _power_of_two)
_ALONE = {"target": 0, "label": 0, "noise": 1, "models": _MODELS}
_ESTIMAND = "expected excess population risk over s^2 D_pri, w* = 0, no label noise"

shuffled = Study(
    name="glmtron-private-term",
    source=("glmtron/thm-4.2", "glmtron/thm-4.2-private-repaired", "glmtron/thm-4.4"),
    statement="private term of DP-GLMtron: of the order of f^2 Gamma^2 D_pri/N, above and below",
    estimand=_ESTIMAND,
    generator="Gaussian features, lambda_i = i^-2; exact chain",
    axis="N",
    grid=tuple(4**k for k in range(3, 9)),
    setting={
        "spectrum": "power", "exponent": 2, "dimension": 512, "rate": Fraction(1, 5), "cooling": Fraction(-1, 5),
        **_ALONE,
    },
    predicted=Fraction(-1),
    margin=Fraction(1, 30),
    kind=EQUAL,
    exactness=FLOAT,
    premises=(*PREMISES, SILENT),
    exact=_exactly(shuffled_sandwich),
    bound=lambda spot: upper_bound(spot) / arb(_per_dimension(pass_at(spot))),
    simulation=Simulation(_sampled("dp-glmtron", pass_noise), (64, 256), 24, 2010, block=8),
    needs=NEEDS,
)


# --- the tree


def _printed(spot: Spot) -> arb:
    """Theorem 5.2 with all constants 1."""
    run = pass_at(spot)
    lg = run.records.bit_length() - 1
    own = FOURTH_MOMENT * run.rate * lg * run.trace + 1
    return arb(lg / run.records * own * (1 + effective(run, 0) / effective(run, 1)) * _ABOVE)


def _improved(spot: Spot) -> arb:
    """The bound on the mean given the noise."""
    return (ball(spot["N"].bit_length() - 1) + ball(Fraction(1, 4))) / ball(spot["N"]) ** 2


def _ours(spot: Spot) -> arb:
    """The bound on the whole."""
    run = pass_at(spot)
    lg = run.records.bit_length() - 1
    own = 4.5 * (2 * lg + 3) * run.rate**2 * run.trace * effective(run, 0) / effective(run, 1) / run.records
    return _improved(spot) + arb(own * _ABOVE)


def _linear(spot: Spot) -> Curve:
    """The risk of the mean given the noise over s^2 D_pri, in balls: lambda = i^-exponent, a constant step size."""
    records, eta = spot["N"], Fraction(spot["rate"])
    with ctx.workprec(_BITS):
        risk, dimension = arb(0), arb(0)
        for i in range(1, spot["dimension"] + 1):
            size = Fraction(1, i ** int(spot["exponent"]))
            risk += ball(eta**2 * size) * node_weights(ball(1 - eta * size / 2), records.bit_length() - 1)
            dimension += ball(min(Fraction(1), (records * eta * size) ** 2) / size)
        return (risk / (4 * arb(records) ** 2 * dimension),)


_TREE = ("glmtron/thm-5.2",)
_SHARP = ("glmtron/thm-5.2-sharp",)
_tree_risks = Simulation(_sampled("dp-taglmtron", tree_noise), (64, 256), 24, 2011, block=8)
_DECAYING = {
    "spectrum": "power", "exponent": 2, "dimension": 512, "rate": Fraction(1, 10), "cooling": 0, **_ALONE,
}
_FLAT = {"spectrum": "flat", "dimension": 4, "rate": Fraction(1, 16), "cooling": 0, **_ALONE}


tree_mean = Study(
    name="taglmtron-mean-given-noise",
    source=_SHARP,
    statement="tree noise in the mean over records: f^2 Gamma^2 D_pri O(log N)/N^2, eta N < d^2",
    estimand="excess risk of the mean of the release given the noise, over s^2 D_pri",
    generator="lambda_i = i^-2, 512 directions, eta = 1/10; closed form in balls",
    axis="N",
    grid=tuple(4**k for k in range(3, 10)),
    setting=_DECAYING,
    predicted=Fraction(-2),
    premises=(STEPS, SILENT, FULL_TREE),
    exact=_linear,
    bound=_improved,
)


def _tree(
    name: str, source: tuple[str, ...], statement: str, setting: dict[str, Any], bound: Callable[[Spot], arb],
    predicted: Fraction | None, grid: tuple[int, ...], simulation: Simulation | None = None,
) -> Study:
    return Study(
        name=name,
        source=source,
        statement=statement,
        estimand=_ESTIMAND,
        generator=f"Gaussian features, {setting['spectrum']} spectrum, eta = {setting['rate']}; exact chain",
        axis="N",
        grid=grid,
        setting=setting,
        predicted=predicted,
        exactness=FLOAT,
        premises=(*PREMISES, SILENT, FULL_TREE),
        exact=_exactly(tree_sandwich),
        bound=bound,
        simulation=simulation,
        needs=NEEDS,
    )


_SHORT, _LONG = tuple(4**k for k in range(3, 8)), tuple(4**k for k in range(3, 9))
tree_printed = _tree(
    "taglmtron-printed-bound", _TREE,
    "Theorem 5.2: private <= f^2 Gamma^2 (lg N/N)(3 eta lg N tr H + 1)(D_eff + D_pri)",
    _DECAYING, _printed, None, _SHORT,
)
tree_improved = _tree(
    "taglmtron-improved-rate", _SHARP,
    "private term of DP-TAGLMtron: f^2 Gamma^2 D_pri O(log N)/N^2, decaying spectrum",
    _DECAYING, _ours, Fraction(-2), _SHORT, _tree_risks,
)
flat_improved = _tree(
    "taglmtron-improved-rate-flat", _SHARP,
    "private term of DP-TAGLMtron: f^2 Gamma^2 D_pri O(log N)/N^2, flat spectrum",
    _FLAT, _ours, Fraction(-2), _LONG, _tree_risks,
)
flat_printed = _tree(
    "taglmtron-printed-rate-flat", _TREE,
    "private term of DP-TAGLMtron, flat spectrum: exponent -1 in N (Theorem 5.2)",
    _FLAT, _printed, Fraction(-1), _LONG,
)
