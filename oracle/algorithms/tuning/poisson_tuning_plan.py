"""Private tuning: a Poisson number of runs, each with hyper-parameters drawn at random, of which the best is released.

The number of runs stays hidden, and nothing is released if there was none. What one run costs is the configuration's mu
(for noisy cyclic gradient descent, the value of `noisy-cgd.mu` for the worst of the hyper-parameters).
"""

from __future__ import annotations

from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Recipe, equals, said
from oracle.core.registry import Values

_HYPOTHESES = (
    equals("the number of runs is Poisson and hidden", "runs", "poisson"),
    equals("only the best run is released", "released", "best_run"),
    said("every run is mu-GDP, its score and its choice of hyper-parameters included", "gaussian_dp"),
)


def _parameters(config: Values) -> dict[str, object]:
    return {"mu": config.base_mu, "mean": config.mean_runs, "delta": config.delta}


poisson_tuning = Recipe(
    algorithm="poisson-tuning",
    summary="tuning of hyper-parameters by the best of a Poisson number of private runs",
    parameters=(
        vocabulary.base_mu, vocabulary.mean_runs,
        vocabulary.delta.open(), vocabulary.run_count, vocabulary.released_runs,
    ),
    optional=(vocabulary.gaussian_dp,),
    guarantees=(
        Guarantee("poisson-tuning-renyi.epsilon", "by Renyi divergences", _parameters, _HYPOTHESES),
        Guarantee("poisson-tuning.epsilon", "by the privacy curve of a run", _parameters, _HYPOTHESES),
    ),
    source=("relu-approx/thm-5.1", "background/poisson-tuning"),
)
