"""Private tuning: a Poisson number of runs, each with hyper-parameters drawn at random, of which the best is released.

The number of runs stays hidden, and nothing is released if there was none. What one run costs is the configuration's mu
(for noisy cyclic gradient descent, the value of `noisy-cgd.mu` for the worst of the hyper-parameters).
"""

from __future__ import annotations

from oracle.core.domain import choice, positive, probability
from oracle.core.planning import Guarantee, Recipe, equals, flag, said
from oracle.core.registry import Values

_HYPOTHESES = (
    equals("the number of runs is Poisson and hidden", "runs", "poisson"),
    equals("only the best run is released", "released", "best_run"),
    said("every run is mu-GDP, its score and its choice of hyper-parameters included", "gaussian_dp"),
)


def _parameters(config: Values) -> dict[str, object]:
    return {"mu": config.mu, "mean": config.mean, "delta": config.delta}


poisson_tuning = Recipe(
    algorithm="poisson-tuning",
    summary="tuning of hyper-parameters by the best of a Poisson number of private runs",
    parameters=(
        positive("mu", "Gaussian-DP parameter of one run"), positive("mean", "mean number of runs"),
        probability("delta"), choice("runs", "poisson", "fixed"), choice("released", "best_run", "all_runs"),
    ),
    optional=(flag("gaussian_dp", "whether every run is mu-GDP"),),
    guarantees=(
        Guarantee("poisson-tuning-renyi.epsilon", "by Renyi divergences", _parameters, _HYPOTHESES),
        Guarantee("poisson-tuning.epsilon", "by the privacy curve of a run", _parameters, _HYPOTHESES),
    ),
    source=("relu-approx/thm-5.1", "background/poisson-tuning"),
)
