r"""The vocabulary: every parameter name, declared once, with one meaning, one unit and one domain.

Bounds, algorithms, plans, examples, vectors and the command take their parameters from here. An owner may narrow a
domain (`steps.at_most(10**9)`, `delta.open()`, `loss.choosing("squared")`), because a theorem or a
computation needs it; it can neither widen it nor change what the name means. `check` holds every owner to that.

The four noises, which the field mixes up most, have four names:

    sigma              standard deviation of the Gaussian noise on the value that is released
    noise_on_mean      ... on the mean of a batch's gradients
    noise_on_sum       ... on the sum of a batch's gradients
    noise_multiplier   noise_on_sum in units of clip_norm; noise_on_mean = noise_multiplier * clip_norm / batch_size
"""

from __future__ import annotations

import sys

from oracle.core.domain import (
    Parameter,
    choice,
    extended,
    flag,
    non_negative,
    non_negative_integer,
    positive,
    positive_integer,
    real,
    schedule,
    unit_interval,
)
from oracle.core.errors import OracleError

# --- what is guaranteed
epsilon = non_negative("epsilon", "epsilon of the guarantee")
delta = unit_interval("delta", "delta of the guarantee")
mu = positive("mu", "Gaussian-DP parameter of the guarantee")
rho = non_negative("rho", "zero-concentrated DP parameter")
alpha = real("alpha", "order of the Renyi divergence").above(1)
rdp = non_negative("rdp", "Renyi divergence at the order alpha")
neighbours = choice(
    "neighbours", "replace", "add_remove",
    meaning="which data sets are neighbours: a record is replaced, or added or removed while all else stays as it is",
)
released = choice(
    "released", "last_iterate", "average_iterate", "all_iterates", meaning="what is published of a training",
)
released_runs = choice("released_runs", "best_run", "all_runs", meaning="what is published of a tuning")
claimed_epsilon = positive("claimed_epsilon", "an epsilon to be judged: is it proved?")
base_epsilon = non_negative(
    "base_epsilon", "epsilon of the one mechanism that is amplified, composed or run many times",
)
base_delta = unit_interval("base_delta", "delta of the one mechanism that is amplified, composed or run many times")
base_mu = positive("base_mu", "Gaussian-DP parameter of the one mechanism that is run many times")
epsilon0 = non_negative("epsilon0", "epsilon of each user's local randomiser")
slack = unit_interval("slack", "what may be added to the total delta").open()
failure_probability = unit_interval("failure_probability", "probability beta that what is promised fails").open()

# --- noise
sigma = positive("sigma", "standard deviation of the Gaussian noise on the released value", unit="released value")
noise_on_mean = non_negative(
    "noise_on_mean", "standard deviation of the Gaussian noise on the mean of a batch's gradients", unit="gradient",
)
noise_on_sum = positive(
    "noise_on_sum", "standard deviation of the Gaussian noise on the sum of a batch's gradients", unit="gradient",
)
noise_multiplier = positive(
    "noise_multiplier", "standard deviation of the Gaussian noise on a sum over the clipping norm of its terms",
    unit="clip_norm",
)
noise_over_sensitivity = non_negative(
    "noise_over_sensitivity", "standard deviation of the Gaussian noise of a step over the sensitivity of that step",
    unit="sensitivity of the step",
)
noise_over_step = positive(
    "noise_over_step", "standard deviation of the noise that a phase adds to its output, over that phase's step size",
    unit="gradient",
)
diffusion = positive(
    "diffusion", "a step adds Gaussian noise of variance 2 learning_rate diffusion^2 to the iterate",
    unit="iterate / sqrt(learning_rate)",
)
noise_variances = schedule(
    "noise_variances",
    "o_i: update (or epoch) i adds Gaussian noise of variance 2 learning_rate o_i inside its proximal map",
    unit="iterate^2 / learning_rate",
)
iterate_noise = schedule(
    "iterate_noise", "standard deviation of the Gaussian noise that step i adds to the iterate", unit="iterate",
)
scale = positive(
    "scale", "scale b of noise of density exp(-|v|/b) on the released value: Laplace for a number",
    unit="released value",
)
noise_law = choice(
    "noise_law", "laplace", "gamma", "gaussian",
    meaning="law of the noise: of density exp(-|v|/b) on a number or on a vector, or Gaussian",
)
noise_scale = positive(
    "noise_scale",
    "scale of the noise: b of density exp(-|v|/b), or the standard deviation where noise_law is gaussian",
    unit="released value",
)
noise_formula = choice(
    "noise_formula", "exact", "printed-variance", "printed-std",
    meaning="the noise of Algorithm 8: exact, or the text's formula, read in either way, which promises too much",
)
label_noise = non_negative("label_noise", "standard deviation of the label noise, at most", unit="label")
keep = unit_interval("keep", "probability of telling the true bit").at_least("1/2").below(1)
temperature = positive("temperature", "temperature T: a model has density exp(-(sum of the losses)/T)", unit="loss")

# --- what one record can do
sensitivity = positive(
    "sensitivity",
    "how far one record moves the released value, or the sum of a batch's gradients (clipped to C: 2C "
    "where it is replaced), in the l2-norm", unit="released value",
)
sensitivities = schedule(
    "sensitivities", "S_i of each update that reads the record: one entry a block and epoch", unit="gradient",
)
clip_norm = extended(
    "clip_norm", "norm C that each record's gradient (over all its weights) is clipped to; inf: none", unit="gradient",
).above(0)
clip = choice(
    "clip", "shorten", "printed-max",
    meaning="how a vector is clipped; the second is the document's misprint, which bounds no norm",
)
clipping = choice(
    "clipping", "record", "output", meaning="the whole gradient to C, or each output's part to C / sqrt(k)",
)
loss_range = positive("loss_range", "length B of the interval that every loss is clipped to", unit="loss")
estimate_range = positive("estimate_range", "l2-diameter of what a block's estimate is clipped to", unit="estimate")
estimate_low = real("estimate_low", "lower end of what a block's estimate is clipped to", unit="estimate")
estimate_high = real("estimate_high", "upper end of what a block's estimate is clipped to", unit="estimate")
feature_norm = positive(
    "feature_norm", "no record's features are longer; for a kernel the root of its largest K(x, x)", unit="feature",
)
label_bound = positive("label_bound", "B: labels, and a bounded link, lie in [-B, B]", unit="label")

# --- counts
dataset_size = positive_integer("dataset_size", "number n of records, a constant of the mechanism", unit="records")
batch_size = positive_integer(
    "batch_size", "number of records of a batch, expected if it is random; what their sum is divided by",
    unit="records",
)
divisor = positive("divisor", "constant by which the sum of a batch's clipped gradients is divided", unit="records")
batches = positive_integer("batches", "number k of batches an epoch", unit="batches")
epochs = non_negative_integer("epochs", "number of passes over the data", unit="epochs")
steps = non_negative_integer(
    "steps", "number of steps: of batches, releases or mechanisms, one after the other", unit="steps",
)
sampling_rate = unit_interval(
    "sampling_rate", "share of the records in a batch: the probability that a record is in it",
)
draws = positive_integer("draws", "number of draws with replacement", unit="records")
record_position = positive_integer(
    "record_position", "position in the pass of the record that is protected, the last such one if there are several",
    unit="records",
)
batch_position = positive_integer(
    "batch_position", "which batch of an epoch holds the record: 1 is the first, `batches` the last", unit="batches",
)
users = positive_integer("users", "number of users whose reports mix", unit="records")
leaves = positive_integer("leaves", "number of leaves of the tree, one a step", unit="steps")
blocks = positive_integer("blocks", "number of disjoint blocks of records", unit="blocks")
calls = positive_integer("calls", "calls on the same records, one a training step", unit="steps")
histograms = positive_integer("histograms", "histograms of a call, on the same records; the algorithm makes 3")
histogram_batches = positive_integer("histogram_batches", "number K of batch means of a histogram", unit="batches")
candidates = positive_integer("candidates", "number K of models to choose from")
mean_runs = positive("mean_runs", "mean m of the Poisson number of runs", unit="runs")
validation_records = positive_integer(
    "validation_records", "how many records, the last ones, are public and serve to score", unit="records",
)
threshold_records = positive_integer(
    "threshold_records", "how many records, the last ones, are for the thresholds only", unit="records",
)

# --- steps
learning_rate = positive("learning_rate", "size eta of a gradient step", unit="iterate / gradient")
learning_rates = schedule("learning_rates", "size of a gradient step, one entry a candidate", unit="iterate / gradient")
base_learning_rate = positive(
    "base_learning_rate", "eta; phase i, from 1 on, takes gradient steps of size eta / 4^i", unit="iterate / gradient",
)
regularisation = non_negative(
    "regularisation", "lambda of the ridge lambda |theta|^2 / 2, which is not clipped", unit="gradient / iterate",
)
regularisations = schedule(
    "regularisations", "lambda of the ridge of each candidate", low_open=False, unit="gradient / iterate",
)
group_penalty = positive("group_penalty", "weight of the sum of the group norms", unit="loss / iterate")
regulariser = choice("regulariser", "none", "l2", "l1", meaning="r of every block")
contraction = unit_interval("contraction", "Lipschitz constant c of every gradient step")
contractions = schedule("contractions", "Lipschitz constant (or factor) of step i, which may exceed 1", low_open=False)
drift = schedule("drift", "how far the two maps of step i differ at most", low_open=False, unit="iterate")
shift = schedule("shift", "how much of the distance step i pays off", low_open=False, unit="iterate")
diameter = extended(
    "diameter", "diameter of a convex set that holds every iterate (every step projects on it); inf: none",
    unit="iterate",
)
constraint_radius = positive(
    "constraint_radius", "largest distance of a point of the constraint set from the minimiser", unit="iterate",
)
radius = positive("radius", "radius of the ball around 0 on which iterates are projected", unit="iterate")
layer_radius = positive(
    "layer_radius", "R: layers stay within R / sqrt(hidden_units) of their start, or within R of 0", unit="iterate",
)
weight_bound = positive("weight_bound", "W: iterates are projected onto the ball of radius 2W around 0", unit="iterate")
projected_dimension = positive_integer("projected_dimension", "number m of rows of the Gaussian projection")
iterate = choice("iterate", "average", "last", meaning="which iterate is the output")
initial_std = non_negative(
    "initial_std", "standard deviation of the entries of the initial point; 0 starts at 0", unit="iterate",
)
initial_scale = positive("initial_scale", "of the initial weights, over the root of a unit's inputs", unit="iterate")
initial_radius = non_negative("initial_radius", "w_0 is uniform in a ball of this radius; 0: w_0 = 0", unit="iterate")
centre = choice(
    "centre", "start", "origin", meaning="what layers are projected around: their start, or 0 as in the text",
)
partition = choice(
    "partition", "known", "hidden",
    meaning="how records are put into batches; hidden: drawn uniformly once, and never revealed",
)
sampling = choice(
    "sampling", "poisson", "without_replacement", "with_replacement", "cyclic", meaning="how each batch is drawn",
)
order = choice("order", "given", "shuffled", meaning="blocks of consecutive places, or of randomly permuted ones")
proposal_std = positive("proposal_std", "standard deviation of a proposal of the sampler", unit="iterate")
grid_points = positive_integer("grid_points", "points of the grid on every axis").at_least(2)
grid_radius = positive("grid_radius", "largest coordinate of the grid", unit="iterate")
solver_error = non_negative(
    "solver_error", "largest distance of the solver's answer from the minimiser", unit="iterate",
)
oracle_error = non_negative("oracle_error", "largest error of a gradient; 0 if gradients are exact", unit="gradient")
gradient_oracle = choice(
    "gradient_oracle", "bisection", "subgradient",
    meaning="how the Moreau envelope's derivative is found; subgradient is Algorithm 4",
)

# --- losses and models
loss = choice(
    "loss", "linear", "squared", "logistic", "softmax", "pseudo-huber",
    meaning="loss of a record's score or scores; logistic is one an output where there are several",
)
lipschitz = positive(
    "lipschitz", "Lipschitz constant L of every record's loss: its largest gradient norm", unit="gradient",
)
smoothness = positive(
    "smoothness", "largest curvature beta of any record's loss, its ridge included", unit="gradient / iterate",
)
strong_convexity = positive("strong_convexity", "strong convexity of the objective", unit="gradient / iterate")
curvature = non_negative(
    "curvature", "largest second derivative of a record's loss along its features", unit="loss / score^2",
)
link = choice("link", "tanh", "sigmoid", "clip", "constant", "sign", meaning="mean of a label, given the score")
link_lipschitz = non_negative(
    "link_lipschitz",
    "Lipschitz constant G of the link, or of the derivative of the Moreau envelope that stands for it",
    unit="label / score",
)
envelope_smoothness = positive("envelope_smoothness", "smoothness beta of the Moreau envelope", unit="label / score")
activation = choice("activation", "tanh", "relu", meaning="of the hidden units")
hidden_units = positive_integer("hidden_units", "number of units of each hidden layer")
layers = non_negative_integer("layers", "D: hidden layers; the blocks are theta_0, ..., theta_D")
depth = positive_integer("depth", "number L of layers of weights").at_least(2)
outputs = positive_integer("outputs", "number of outputs: 1 for a number, else one a class")
degree = positive_integer("degree", "degree of the multinomial kernel")
hyperplanes = positive_integer("hyperplanes", "number P of random hyperplanes")
active = positive_integer("active", "number of hyperplanes that are active for any record, at most; all P always serve")
spectral_norm = extended(
    "spectral_norm", "rho: spectral norm of a block before its update; inf: any", unit="iterate").above(0,
)
lipschitz_gradient = non_negative(
    "lipschitz_gradient", "Lipschitz constant L_F of every gradient step as it is run, clipping included; may exceed 1",
)
lipschitz_prox = non_negative(
    "lipschitz_prox",
    "Lipschitz constant L_T of all that follows the noise of a step: 1 for the proximal map of a convex "
    "function, not for a normalisation by the spectral norm",
)
weights = schedule("weights", "the model w, an entry a feature", low=None, unit="iterate")
weight_norm = non_negative(
    "weight_norm", "|w|: the length of the released iterate that the step starts from", unit="iterate",
)
dimension = positive_integer("dimension", "number d of parameters, or of directions in which gradients lie")
estimator = choice("estimator", "mean", "median", "slope", meaning="what is computed on each block")
variance_floor = positive("variance_floor", "least variance of x that the slope is divided by", unit="feature^2")
score = choice("score", "loss", "accuracy", meaning="by which the best run is chosen on the public records")

# --- thresholds and tuning
threshold_epsilon = positive(
    "threshold_epsilon", "epsilon' of one histogram: Laplace noise of scale 2/epsilon' on a count",
)
threshold_delta = unit_interval(
    "threshold_delta", "delta' of one histogram: a bin speaks above 1 + (2/epsilon') log(1/delta')",
).open()
threshold_scale = positive("threshold_scale", "clipping norm over the scale that DP-Threshold gives")
thresholds = choice(
    "thresholds", "fixed", "other_records", "same_records",
    meaning="where the clipping thresholds come from: no records, DP-Threshold on others, or those of the training",
)
model_variance = non_negative(
    "model_variance", "V, added to the third square for the noise of the labels", unit="label^2",
)
rank_threshold = real("rank_threshold", "outcomes below it are ranked first, then from the largest down")
run_count = choice("run_count", "poisson", "fixed", meaning="law of the number of runs")

# --- risk
distance = non_negative(
    "distance", "distance of the start from the minimiser or the true parameter, at most", unit="iterate",
)
target_norm = non_negative(
    "target_norm", "norm of the minimiser or the true parameter, at most; the start is 0", unit="iterate",
)
optimal_risk = non_negative("optimal_risk", "risk of the best parameter", unit="loss")
rank = positive("rank", "expected rank of the data matrix, at most")
spectrum = schedule("spectrum", "eigenvalues of the covariance of the features", unit="feature^2")
gap = schedule(
    "gap", "squared distance of the start from the truth along each eigenvector", low_open=False, unit="iterate^2",
)
fourth_moment = real("fourth_moment", "fourth-moment constant of the features; 3 for Gaussian ones").at_least(1)

# --- which formula
method = choice(
    "method", "upper", "lower", "closed-form", "exact", "wbk", "chain", "mixture", "sharp", "textbook",
    meaning="which of the proved values: a bound for every mechanism of the kind (upper) or the truth of one "
    "(lower), a theorem's formula (closed-form, wbk, textbook), the best constant (exact, sharp), or one "
    "of two pairs (chain, mixture)",
)
conversion = choice("conversion", "canonne", "mironov", meaning="whose conversion from Renyi divergence")
correction = choice(
    "correction", "sharp", "cms11", "none",
    meaning="what is paid for the change of variables: one factor 1 + c/(n lambda), two as published, or nothing",
)
step_rule = choice("step_rule", "expansion", "ridge", meaning="c <= 1, or c = 1 - eta lambda")

# --- what a plan may state: facts that a theorem needs and a configuration does not show
convex = flag("convex", "whether every record's loss is convex")
convex_lipschitz = flag("convex_lipschitz", "whether every record's loss is convex and L-Lipschitz as it is")
scalar_output = flag("scalar_output", "whether the model has one output, so that clipping keeps its loss convex")
clipped = flag("clipped", "whether what a record contributes is clipped by itself, as the algorithm says")
constant_divisor = flag(
    "constant_divisor", "whether the sum is divided by a constant, not by the number that was drawn",
)
secret_batches = flag("secret_batches", "whether nobody learns which records were drawn")
fixed_size = flag("fixed_size", "whether the algorithm uses a constant for the number of records, whoever is present")
disjoint = flag(
    "disjoint", "whether every record is used in one batch, phase or block only, chosen without looking at it",
)
features_bounded = flag(
    "features_bounded",
    "whether every possible record's features have norm at most feature_norm, or 1 where there is no such key",
)
gradients_bounded = flag(
    "gradients_bounded", "whether every possible record's gradient has norm at most lipschitz wherever iterates can be",
)
labels_bounded = flag("labels_bounded", "whether every possible label, and a bounded link, lies in [-B, B]")
unit_labels = flag("unit_labels", "whether labels and link lie in [0, 1]")
link_rises = flag("link_rises", "whether the link is monotone")
released_norm = flag("released_norm", "whether |w| is that of the released iterate from which the step starts")
gaussian_projection = flag("gaussian_projection", "whether the projection is a matrix of independent N(0, 1/m) entries")
independent_hyperplanes = flag(
    "independent_hyperplanes", "whether the hyperplanes were drawn without looking at the data",
)
exact_minimiser = flag("exact_minimiser", "whether the minimiser is released exactly")
unconstrained = flag("unconstrained", "whether theta ranges over all of R^d")
linear_model = flag("linear_model", "whether a loss is a smooth function of <x, theta>")
exact_sampling = flag("exact_sampling", "whether the model is drawn from the law itself")
only_moments = flag("only_moments", "whether everything released is computed from the four noisy means")
shuffled = flag("shuffled", "whether the order is uniformly random and not released")
fixed_bins = flag("fixed_bins", "whether bins and batches do not depend on the records")
noisy_test = flag("noisy_test", "whether the noisy count, not the true one, must exceed the threshold to be released")
late_noise = flag("late_noise", "whether a node's noise is drawn, or rescaled, once the norms of its leaves are known")
later_records_public = flag("later_records_public", "whether the records after record_position are public")
public_validation = flag("public_validation", "whether the records that score the runs are public and not trained on")
gaussian_dp = flag("gaussian_dp", "whether every run is mu-GDP")
separate_records = flag(
    "separate_records", "whether each term of a gradient reads one record, and else only what was released",
)
other_inputs_independent = flag(
    "other_inputs_independent", "whether all else that a step reads is independent of the data",
)
all_coordinates = flag("all_coordinates", "whether dimension counts all coordinates, not only directions of gradients")
independent_records = flag("independent_records", "whether records are drawn independently from one law")
well_specified = flag("well_specified", "whether the mean of a label, given x, is the link at <w*, x>")
isotropic = flag("isotropic", "whether features have the identity for second moment")
symmetric = flag("symmetric", "whether x and -x have one law")

TERMS: dict[str, Parameter] = {
    value.name: value for value in vars(sys.modules[__name__]).values() if isinstance(value, Parameter)
}

def check(owner: str, parameters: tuple[Parameter, ...]) -> None:
    """An OracleError unless every parameter of an owner is a term of this vocabulary, its domain narrowed at most."""
    for parameter in parameters:
        term = TERMS.get(parameter.name)
        if term is None:
            raise OracleError(f"{owner}: {parameter.name} is no name of the vocabulary (oracle/core/vocabulary.py)")
        if not parameter.narrows(term):
            known = f"{term.meaning} ({term.domain})"
            raise OracleError(f"{owner}: {parameter.name} is {known}; an owner may narrow its domain, and no more")
