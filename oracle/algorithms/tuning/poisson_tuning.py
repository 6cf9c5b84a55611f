"""Private tuning: a Poisson number of runs, each with hyper-parameters drawn at random, of which the best is released.

The number of runs stays hidden, and nothing is released if there was none. What one run costs is the configuration's
base_mu (for noisy cyclic gradient descent, the value of `noisy-cgd.mu` for the worst of the hyper-parameters).
"""

from __future__ import annotations

from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, equals, said

BEST_OF_POISSON = (
    equals("poisson-runs", "run_count", "poisson"), equals("best-run", "released_runs", "best_run"),
)
_CONDITIONS = (*BEST_OF_POISSON, said("runs-gaussian-dp", "gaussian_dp"))


def _parameters(config: Values) -> dict[str, object]:
    return {"base_mu": config.base_mu, "mean_runs": config.mean_runs}


poisson_tuning = Algorithm(
    name="poisson-tuning",
    document="000, Section 5",
    summary="tuning of hyper-parameters by the best of a Poisson number of private runs",
    parameters=(vocabulary.base_mu, vocabulary.mean_runs),
    setting=(vocabulary.delta.open(), vocabulary.run_count, vocabulary.released_runs),
    stated=(vocabulary.gaussian_dp,),
    released="output",
    neighbours="any",
    guarantees=(
        Guarantee("poisson-tuning-renyi.epsilon", "by Renyi divergences", _parameters, _CONDITIONS),
        Guarantee("poisson-tuning.epsilon", "by the privacy curve of a run", _parameters, _CONDITIONS),
    ),
    source=("relu-approx/thm-5.1", "background/poisson-tuning"),
)
