"""What theorems assume: every hypothesis of every bound, with one name and one sentence.

A bound lists the names of its own (`assumes`); `HYPOTHESES` has their sentences, and a name that does not stand here is
an error, as one that the vocabulary lacks. What a bound's parameters say already (their domains, `oracle_error`) is no
hypothesis; where they alone can settle one, it has a `check`. How a training's configuration decides them is the
business of its guarantees (`oracle.core.algorithm`), which have no sentences of their own for these. Names in a
sentence are parameters of the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

from oracle.core.errors import OracleError

MET, NOT_MET, UNKNOWN, ROUNDED = "met", "not met", "unknown", "rounded"
"""Whether a hypothesis is true; ROUNDED where it asks for what is exact, and floating point comes close."""
NONE: tuple[str, ...] = ()
"""What a bound assumes that says nothing beyond its parameters; it has to say so."""
IN_WORDS_NONE = "none beyond its parameters"

KINDS = {
    "relation": "which data sets are neighbours",
    "query": "how much one record can do",
    "noise": "law of the noise",
    "sampling": "which records a step reads",
    "release": "what is seen",
    "losses": "losses, maps and steps",
    "start": "where a training starts",
    "set": "the constraint set",
    "base": "what is known of the mechanisms that are put together",
    "data": "law and range of the data",
    "risk": "which risk is bounded",
}


@dataclass(frozen=True)
class Hypothesis:
    """Something a theorem assumes; `check`, on a bound's parameters, is None where these do not say."""

    name: str
    kind: str
    words: str
    check: Callable[[SimpleNamespace], bool | None] = lambda values: None

    def status(self, values: SimpleNamespace) -> str:
        """Whether the parameters of a bound meet it."""
        return status(self.check(values))


def status(holds: bool | None) -> str:
    """A decision in words."""
    return UNKNOWN if holds is None else MET if holds else NOT_MET


def together(found: list[str]) -> str:
    """The status of a hypothesis that several conditions decide: each must be met."""
    return next((status for status in (NOT_MET, UNKNOWN, ROUNDED, MET) if status in found), UNKNOWN)


def named(owner: str, names: tuple[str, ...]) -> tuple[Hypothesis, ...]:
    """The hypotheses of these names, or an OracleError that says which is none."""
    for name in names:
        if name not in HYPOTHESES:
            raise OracleError(f"{owner}: {name} is no hypothesis (oracle/core/hypotheses.py)")
    if len(set(names)) < len(names):
        raise OracleError(f"{owner} has a hypothesis twice: {', '.join(names)}")
    return tuple(HYPOTHESES[name] for name in names)


def _unbounded(values: SimpleNamespace) -> bool | None:
    return True if values.diameter == math.inf else None


def _replaced(values: SimpleNamespace) -> bool | None:
    return True if getattr(values, "neighbours", None) == "replace" else None


def _of(kind: str, **sentences: str) -> list[Hypothesis]:
    """Hypotheses of one kind, by name: an underscore stands for a hyphen."""
    return [Hypothesis(name.replace("_", "-"), kind, words) for name, words in sentences.items()]


_ALL = (
    *_of(
        "relation",
        replace="neighbours differ by replacing one record",
        add_remove="neighbours differ by adding or removing one record",
    ),
    Hypothesis(
        "constant-size", "relation",
        "the number of records that the algorithm uses is the same in neighbouring data sets", _replaced,
    ),
    *_of(
        "query",
        l2_sensitivity="whatever was released before, neighbours move a query by at most sensitivity in the l2-norm",
        real_queries="queries are numbers; whatever was released before, neighbours move one by at most sensitivity",
        short_terms="no record's term of a sum is longer than the norm in units of which the noise is given",
        short_gradients="no record's term of a sum of gradients is longer than clip_norm, wherever iterates can be",
        gradient_sensitivity="replacing a record moves the sum of a batch's gradients, at any iterate, by at most "
        "sensitivity",
        constant_divisor="the sum is divided by a constant, not by the number of records that were drawn",
        short_leaves="no leaf is longer than the norm in units of which the noise is given, and a record is one leaf",
        separate_terms="given what was released, gradients are sums of terms of single records",
        block_sensitivity="the gradients of a block have the given sensitivity at every iterate: clipping enforces it",
        update_sensitivity="sensitivities bound a term's change where its auxiliary variables change with the record",
        loss_range="all losses lie in one interval of length loss_range: they are clipped to it, or never outside",
        estimates_clipped="every block's estimate is clipped to one set of diameter estimate_range",
        unit_square="x and y of every record lie in [0, 1]: they are clipped to it, or never outside",
        one_bit="a record is one bit; it is told with probability keep, and the other bit else",
        fixed_histograms="bins and batches do not depend on the records",
        noisy_test="a bin is released where its noisy count exceeds the threshold; no other bin, and nothing else",
        past_thresholds="clipping norms depend on what was released before, not otherwise on the records of the pass",
        shortening="clipping shortens: no record's vector is longer than the clipping norm of its step",
        other_records="the thresholds come from other records than the pass, and a record's place says which it is",
    ),
    *_of(
        "noise",
        gaussian_noise="the noise is Gaussian with the stated deviation on every coordinate, fresh each time",
        laplace_noise="the noise is Laplace of the stated scale on every number, fresh each time",
        radial_noise="the noise vector has a density proportional to exp(-|v|/s), s the stated scale",
        past_noise="the noise of a step is scaled by the norm of the released iterate it starts from, of nothing else",
        late_noise="a node's noise is scaled by the largest clipping norm of its leaves",
        fixed_noise="the noise depends neither on the data nor on the iterate",
        exact_law="the model is drawn from this law, not from an approximation to it",
        public_measure="the base measure does not depend on the data",
        uniform_measure="the base measure is uniform on candidates that do not depend on the data",
    ),
    *_of(
        "sampling",
        poisson_sampling="every record enters a batch with the sampling rate, on its own and afresh at each step",
        without_replacement="every batch is drawn afresh, uniformly and without replacement",
        fresh_batches="every batch is drawn afresh: without replacement, or Poisson with a constant divisor",
        with_replacement="the sample is made of independent uniform draws with replacement",
        secret_batches="which records were drawn stays secret",
        order_blind="the mechanism does not see the order of its sample",
        full_batches="every step reads all records",
        cyclic_batches="the batches are disjoint and of one size, fixed, and read in cyclic order",
        record_in_batch="the record that differs is in the batch of the given position",
        hidden_partition="the partition into batches is uniform, drawn once and hidden",
        one_pass="one pass, a record a step, in an order that does not depend on the records",
        secret_order="the order is uniformly random and secret",
        record_at_position="every private record is at record_position or before",
        disjoint_batches="batches are disjoint and of one size; records are assigned to them without looking",
        disjoint_phases="records are assigned to phases without looking, each to one",
        disjoint_blocks="the blocks are disjoint, and a record's place alone decides its block",
        shuffled_reports="reports reach the analyst in uniformly random order, or randomisers run in such an order",
    ),
    *_of(
        "release",
        last_iterate="only the last iterate is released",
        phase_averages="of each phase only the noisy average is released",
        only_moments="the means of x^2, xy, x and y are released, and nothing else that sees the data",
        only_noisy_gradients="everything released is computed from the noisy gradients",
        exact_minimiser="the released minimiser is exact",
        poisson_runs="the number of runs is Poisson and hidden",
        best_run="only the best run is released, or that there was none",
    ),
    *_of(
        "losses",
        contracting_steps="every gradient step, as it is run on any batch, is Lipschitz with constant contraction",
        lipschitz_maps="the map of every step has the given Lipschitz constant, on either data set",
        bounded_drift="on neighbouring data the maps of step i differ by at most drift_i, everywhere",
        linear_iteration="iterates are numbers: X <- contractions_i X + drift_i b plus noise, b the bit to be told",
        lipschitz_losses="every record's loss is convex, and lipschitz-Lipschitz without being clipped",
        no_expansion="no gradient step moves two iterates apart: losses are smooth and steps short enough",
        strongly_convex_losses="every record's loss has curvature between strong_convexity and smoothness",
        convex_losses="every record's loss is convex",
        lipschitz_loss="every record's loss is lipschitz-Lipschitz wherever the minimiser can be",
        ridge="the regulariser has the given strong convexity, and is the same for all data sets",
        smooth_margins="every loss is a twice continuously differentiable function of one product <x, theta>",
        curved_margins="that function's second derivative times |x|^2 is at most curvature",
        near_minimiser="the solver's answer is always within solver_error of the minimiser",
        block_lipschitz="gradient step and proximal map have the given Lipschitz constants, clipping included",
        independent_inputs="all that a step reads besides its batch is independent of the data: there is one block",
        rising_link="the link rises",
        lipschitz_link="the link, or the derivative that stands for it, has Lipschitz constant link_lipschitz",
        convex_relu_model="the loss is that of the convex ReLU model, at most active hyperplanes acting on a record",
        convex_clipping="gradients are not clipped, or clipping keeps the loss convex and no more curved",
        relu_updates="a step's gradient is the mean of (relu(<w, x>) - y) x over its records, unclipped",
        fixed_features="the feature map does not depend on the data",
    ),
    *_of(
        "start",
        independent_start="the start does not depend on the data",
        start_at_distance="the start is at most distance from the minimiser or the true parameter",
        start_at_zero="the start is 0",
        start_at_gap="the start has the given gap along the eigenvectors",
    ),
    Hypothesis(
        "bounded-set", "set", "every iterate before the last is in a convex set of the given diameter: it is projected",
        _unbounded,
    ),
    *_of(
        "set",
        whole_space="the minimum is taken over all of R^d",
        projected_weights="every iterate is projected onto the ball of radius 2 weight_bound (2 target_norm) around 0",
        counted_directions="dimension counts all coordinates, or the constraint set is the whole space and it counts "
        "the directions in which gradients lie",
        all_directions="dimension counts all coordinates, not only the directions in which gradients lie",
        convex_set="iterates are projected onto a convex set that holds the minimiser, or not at all",
        constraint_radius="no point of the constraint set is farther than constraint_radius from the minimiser",
        gaussian_projection="the projection is a matrix of independent Gaussians, drawn without looking",
    ),
    *_of(
        "base",
        pure_mechanisms="each mechanism is base_epsilon-DP, whatever those before it released",
        private_mechanisms="each mechanism is (base_epsilon, base_delta)-DP, whatever those before it released",
        private_base="the mechanism that runs on the sample is (base_epsilon, base_delta)-DP under the same relation",
        gaussian_dp="the mechanism is mu-GDP",
        renyi_dp="the Renyi divergence of order alpha between neighbours is at most rdp, both ways",
        concentrated_dp="the mechanism is rho-zCDP",
        local_randomisers="every user's report is epsilon0-LDP, whatever was reported before",
        runs_gaussian_dp="every run is base_mu-GDP, its score and choice of hyper-parameters included",
        runs_private="every run is (base_epsilon, base_delta)-DP, its score and choice of hyper-parameters included",
        worst_runs="nothing but that is known of the runs and of how they are ranked: the bound is for the worst",
    ),
    *_of(
        "data",
        short_features="no record's features are longer than 1",
        bounded_features="no record's features are longer than feature_norm",
        bounded_labels="labels, and a bounded link, lie in [-B, B]: B = label_bound",
        unit_labels="labels and link lie in [0, 1]",
        independent_records="records are drawn independently from one law",
        symmetric_features="x and -x have one law",
        gaussian_features="features are Gaussian with the given spectrum",
        fourth_moments="features have the given spectrum, and fourth moments within fourth_moment of it",
        well_specified="the mean of a label, given x, is the link at <w*, x>",
        relu_labels="the mean of a label, given x, is relu(<w*, x>), and its variance at most label_noise^2",
        bounded_target="the parameter that is aimed at is no longer than target_norm",
        data_rank="the expected rank of the data matrix is at most rank",
        isotropic_features="features have dimension entries, and the identity for second moment",
        monotone_surrogate="the surrogate's gradient is strongly monotone with constant strong_convexity",
        best_risk="some parameter has a risk of at most optimal_risk",
    ),
    *_of(
        "risk",
        unclipped="no gradient is clipped",
        judged_average="what is judged is the average of the iterates",
        judged_last="what is judged is the last iterate",
        judged_phase="what is judged is the last phase's release: the average of its iterates, with its noise",
        judged_draw="what is judged is the model that is drawn",
        calibrated="noise and step size are those of the formula, chosen for epsilon and delta",
        excess_empirical_risk="bounded is the excess empirical risk: on these records, over the least in the set",
        excess_population_risk="bounded is the excess population risk: over that of the true parameter",
        population_risk="bounded is the population risk itself, not the excess over the best",
    ),
)
HYPOTHESES: dict[str, Hypothesis] = {item.name: item for item in _ALL}
"""All of them, by name."""
if len(HYPOTHESES) < len(_ALL):
    raise OracleError("two hypotheses have one name (oracle/core/hypotheses.py)")
