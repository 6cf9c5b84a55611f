"""Where the parameters of document 004's mechanisms are drawn: perturbation, aggregation, moments and descent."""

from __future__ import annotations

from empirical.gate.ranges import SMALLEST, Corners, Maps, Ranges

RANGES: Ranges = {
    **{
        (name, parameter): logs
        for name in ("output-perturbation-gaussian.epsilon", "output-perturbation-gaussian.sigma")
        for parameter, logs in {
            "lipschitz": (-0.5, 0.5), "strong_convexity": (-2.0, 2.0), "solver_error": (-6.0, 0.0),
        }.items()
    },
    ("output-perturbation-gaussian.epsilon", "sigma"): (-3.0, 2.0),
    ("output-perturbation-gaussian.sigma", "epsilon"): (-8.0, 4.0),
    ("output-perturbation-gaussian.sigma", "delta"): (-250.0, -0.3),
    # What the curvature costs stays below epsilon here; test_objective_perturbation goes to that edge.
    ("objective-perturbation.scale", "curvature"): (-4.0, 0.0),
    ("objective-perturbation.scale", "dataset_size"): (2.0, 6.0),
    ("objective-perturbation.scale", "regularisation"): (-1.0, 4.0),
    ("objective-perturbation.scale", "epsilon"): (-0.5, 4.0),
    ("objective-perturbation.ridge", "epsilon"): (-6.0, 2.5),
    ("objective-perturbation-gaussian.epsilon", "lipschitz"): (-0.5, 0.5),
    ("objective-perturbation-gaussian.epsilon", "noise_on_sum"): (-1.5, 6.0),
    ("exponential-mechanism.utility", "dataset_size"): (0.0, 9.0),
    ("exponential-mechanism.utility", "candidates"): (0.0, 15.0),
    ("subsample-aggregate-gaussian.epsilon", "estimate_range"): (-0.5, 0.5),
    ("subsample-aggregate-gaussian.epsilon", "sigma"): (-5.0, 4.0),
    ("sufficient-statistics-gaussian.epsilon", "sigma"): (-5.0, 4.0),
    ("dp-gd.epsilon", "clip_norm"): (-0.5, 0.5),
    ("dp-gd.epsilon", "noise_on_mean"): (-4.0, 4.0),
    ("dp-gd.sigma", "epsilon"): (-8.0, 4.0),
    ("dp-gd.sigma", "delta"): (-250.0, -0.3),
    # No batch is larger than the data set; and no noise multiplier is so small that the steps need a long contour.
    ("dp-sgd.epsilon", "clip_norm"): (-0.3, 0.0),
    ("dp-sgd.epsilon", "dataset_size"): (0.5, 2.0),
    ("dp-sgd.epsilon", "batch_size"): (0.0, 0.5),
    ("dp-sgd.epsilon", "noise_on_mean"): (0.0, 0.5),
}

MAPS: Maps = {
    # One step, which the opinion integrates from the definition, is the business of poisson-gaussian.epsilon.
    ("dp-sgd.epsilon", "steps"): lambda u: 0 if u < 0.04 else int(10 ** (2.5 + 1.5 * u)),
    ("dp-sgd.epsilon", "delta"): lambda u: 10 ** (-12 + 11.5 * u),
}

# Ratios beyond 1e60 take the reference thousands of bits and seconds a point where epsilon is solved for.
_FAR, _SMALL, _LARGE = (1e-8, 1.0, 3.0, 1e8), (SMALLEST, 1e-310, 1e-160, 1e-8, 1.0, 3.0, 1e8), (1e-8, 1.0, 1e8, 1e160)

CORNERS: Corners = {
    **{
        (name, parameter): values
        for name in ("output-perturbation-gaussian.epsilon", "output-perturbation-gaussian.sigma")
        for parameter, values in {
            "lipschitz": _SMALL, "strong_convexity": _LARGE, "dataset_size": (1, 3, 2**53, int(1e100)),
            "solver_error": (0.0, *_SMALL),
        }.items()
    },
    ("output-perturbation-gaussian.epsilon", "sigma"): _LARGE,
    ("output-perturbation-gaussian.sigma", "epsilon"): (0.0, *_FAR),
    ("objective-perturbation.scale", "curvature"): (0.0, SMALLEST, 1e-300, 1e-8, 1.0),
    ("objective-perturbation.scale", "dataset_size"): (2, 3, 10**6, 2**53, int(1e300)),
    ("objective-perturbation.scale", "regularisation"): (1.0, 3.0, 1e160),
    ("objective-perturbation.scale", "epsilon"): (0.5, 1.0, 3.0, 1e160),
    ("objective-perturbation.ridge", "epsilon"): (SMALLEST, 1e-300, 1e-8, 1.0, 700.0, 3000.0),
    ("objective-perturbation-gaussian.epsilon", "lipschitz"): _SMALL,
    ("objective-perturbation-gaussian.epsilon", "noise_on_sum"): _LARGE,
    ("subsample-aggregate-gaussian.epsilon", "estimate_range"): _SMALL,
    ("subsample-aggregate-gaussian.epsilon", "sigma"): _LARGE,
    ("sufficient-statistics-gaussian.epsilon", "sigma"): _LARGE,
    ("dp-gd.epsilon", "clip_norm"): _SMALL,
    ("dp-gd.epsilon", "noise_on_mean"): _LARGE,
    ("dp-gd.epsilon", "steps"): (0, 1, 2, 10**6, 2**53),
    ("dp-gd.sigma", "clip_norm"): _SMALL,
    ("dp-gd.sigma", "epsilon"): (0.0, *_FAR),
    ("dp-sgd.epsilon", "clip_norm"): (0.5, 1.0, 30.0),
    ("dp-sgd.epsilon", "dataset_size"): (100, 10**4),
    ("dp-sgd.epsilon", "batch_size"): (1, 50, 100),
    ("dp-sgd.epsilon", "noise_on_mean"): (0.5, 1.0),
    ("dp-sgd.epsilon", "steps"): (0, 1, 1000),
    ("dp-sgd.epsilon", "delta"): (1e-15, 1e-5, 0.3, 1 - 2**-53),
}

FEW_POINTS: dict[str, int] = {
    "dp-sgd.epsilon": 12, "dp-gd.sigma": 120, "output-perturbation-gaussian.sigma": 120,
    "objective-perturbation-gaussian.epsilon": 120,
}
