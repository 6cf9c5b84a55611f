"""The accountants of dp-oracle and of its peers on one set of problems, measured in one run.

    nox -s bench                                    every bound (run.py), then the accountants
    nox -s bench -- --docs                          the same; rewrites docs/accountants.md between its two markers
    python benchmarks/accountants.py --problems P1 P7 --quick

Every figure comes from a fresh process with one thread, which imports, notes its peak memory, makes the call (memory is
the rise of the peak) and repeats it (time is the best of three, or of as many as a tenth of a second holds; what a
bound keeps for its parameters is dropped before each). The truth is the middle of the certified enclosure, made in this
run. A peer gets the best call it offers: autodp its exact or Renyi accountant, as its Fourier accountant answers
-0.0048 to everything; prv-accountant eps_error = 0.1 (its cost grows with the inverse); the rest their defaults. This
process imports nothing large, so that its children do not inherit its memory.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from accountants_tables import goals, markdown, plain, rewrite
from fresh import asked

TIMEOUT = 120
LEAST_SECONDS = 0.1  # of calls: the first few of a millisecond tell how cold a process is
STEPS = tuple(10**k for k in range(3, 8))  # of the cost against the number of steps
DOCS = Path(__file__).resolve().parents[1] / "docs"


@dataclass(frozen=True)
class Problem:
    """One question for an epsilon: the bound that answers it, and the exact values as a user types them."""

    bound: str
    values: dict[str, str]

    def number(self, name: str, default: float = 1.0) -> float:
        """A value as a peer takes it."""
        return float(Fraction(self.values[name])) if name in self.values else default

    @property
    def steps(self) -> int:
        """How many releases are composed."""
        return int(self.values.get("steps", "1"))

    @property
    def replaces(self) -> bool:
        """Whether neighbours differ by the replacement of a record."""
        return self.values.get("neighbours") == "replace"


def sampled(sigma: str, rate: str, steps: str, delta: str, neighbours: str = "add_remove") -> Problem:
    """Poisson-sampled Gaussian steps."""
    values = {"sigma": sigma, "sampling_rate": rate, "steps": steps, "delta": delta, "neighbours": neighbours}
    return Problem("poisson-gaussian.epsilon", values)


PROBLEMS = {
    "P1": Problem("gaussian.epsilon", {"sigma": "1", "sensitivity": "1", "delta": "1e-5"}),
    "P2": Problem("gaussian-composed.epsilon", {"sigma": "30", "sensitivity": "1", "steps": "1000", "delta": "1e-6"}),
    **{f"P3 s={s}": sampled(s, "1/60", "24000", "1e-5") for s in ("1", "5", "15")},
    **{f"P4 s={s}": sampled(s, "1/60", "24000", "1e-5", "replace") for s in ("1", "5", "15")},
    **{f"P5 {delta}": sampled("1", "0.01", "1000", delta) for delta in ("1e-5", "1e-12", "1e-15")},
    "P6": sampled("0.3", "0.1", "100", "1e-5"),
    "P7": Problem("laplace-composed.epsilon", {"scale": "10", "sensitivity": "1", "steps": "100", "delta": "1e-5"}),
}
EVERYDAY = {"sigma": (-0.1, 1.3), "sampling_rate": (-3, -0.5), "steps": (2.3, 5), "delta": (-9, -2)}  # powers of ten


class NotOfferedError(Exception):
    """The library has no call for the problem."""


Call = Callable[[], tuple[float, float, float]]  # lower end, answer, upper end; NaN where a library has no ends


def only(value: Any) -> tuple[float, float, float]:
    """An answer without ends."""
    return math.nan, float(value), math.nan


# One function a library: it imports, and returns the call that is measured.


def dpa_pld(problem: Problem) -> Call:
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import privacy_loss_distribution as pld

    relation = NeighboringRelation.REPLACE_ONE if problem.replaces else NeighboringRelation.ADD_OR_REMOVE_ONE

    def call() -> tuple[float, float, float]:
        if "scale" in problem.values:
            one = pld.from_laplace_mechanism(problem.number("scale"))
        else:
            sigma, rate = problem.number("sigma"), problem.number("sampling_rate")
            one = pld.from_gaussian_mechanism(sigma, sampling_prob=rate, neighboring_relation=relation)
        composed = one if problem.steps == 1 else one.self_compose(problem.steps)
        return only(composed.get_epsilon_for_delta(problem.number("delta")))

    return call


def dpa_rdp(problem: Problem) -> Call:
    import dp_accounting as dpa
    from dp_accounting.rdp import RdpAccountant

    relation = dpa.NeighboringRelation.REPLACE_ONE if problem.replaces else dpa.NeighboringRelation.ADD_OR_REMOVE_ONE

    def call() -> tuple[float, float, float]:
        if "scale" in problem.values:
            event = dpa.LaplaceDpEvent(problem.number("scale"))
        else:
            event = dpa.GaussianDpEvent(problem.number("sigma"))
        if "sampling_rate" in problem.values:
            event = dpa.PoissonSampledDpEvent(problem.number("sampling_rate"), event)
        accountant = RdpAccountant(neighboring_relation=relation)
        return only(accountant.compose(event, problem.steps).get_epsilon(problem.number("delta")))

    return call


def prv(problem: Problem) -> Call:
    import prv_accountant as peer

    if problem.replaces:
        raise NotOfferedError

    def call() -> tuple[float, float, float]:
        if "scale" in problem.values:
            step = peer.LaplaceMechanism(mu=1 / problem.number("scale"))
        elif "sampling_rate" in problem.values:
            step = peer.PoissonSubsampledGaussianMechanism(problem.number("sampling_rate"), problem.number("sigma"))
        else:
            step = peer.GaussianMechanism(problem.number("sigma"))
        delta = problem.number("delta")
        accountant = peer.PRVAccountant(
            prvs=[step], eps_error=0.1, delta_error=delta / 1000, max_self_compositions=[problem.steps]
        )
        lower, _, upper = accountant.compute_epsilon(delta=delta, num_self_compositions=[problem.steps])
        return float(lower), float(upper), float(upper)

    return call


def opacus_prv(problem: Problem) -> Call:
    from opacus.accountants import PRVAccountant

    if problem.replaces or "scale" in problem.values:
        raise NotOfferedError

    def call() -> tuple[float, float, float]:
        accountant = PRVAccountant()
        accountant.history = [(problem.number("sigma"), problem.number("sampling_rate"), problem.steps)]
        return only(accountant.get_epsilon(problem.number("delta")))

    return call


def autodp(problem: Problem) -> Call:
    from autodp import mechanism_zoo as zoo
    from autodp import transformer_zoo

    if problem.replaces:
        raise NotOfferedError

    def call() -> tuple[float, float, float]:
        if "scale" in problem.values:
            step = zoo.LaplaceMechanism(problem.number("scale"))
            composed = transformer_zoo.Composition()([step], [problem.steps])
        elif "sampling_rate" in problem.values:
            rate = problem.number("sampling_rate")
            composed = zoo.SubsampleGaussianMechanism(
                {"prob": rate, "sigma": problem.number("sigma"), "coeff": problem.steps}
            )
        else:
            step = zoo.ExactGaussianMechanism(problem.number("sigma"))
            composed = transformer_zoo.ComposeGaussian()([step], [problem.steps])
        return only(composed.get_approxDP(problem.number("delta")))

    return call


def reference(problem: Problem) -> Call:
    from oracle import bound

    item = bound(problem.bound)

    def call() -> tuple[float, float, float]:
        lower, upper = item.at(problem.values).to_floats()
        return lower, (lower + upper) / 2, upper

    return call


def fast(problem: Problem) -> Call:
    import numpy as np

    from oracle import bound

    item = bound(problem.bound)
    point = {k: v if k == "neighbours" else np.asarray([problem.number(k)]) for k, v in problem.values.items()}
    return lambda: only(item.fast(**point)[0])


PEERS = {"dpa PLD": dpa_pld, "dpa RDP": dpa_rdp, "prv": prv, "Opacus PRV": opacus_prv, "autodp": autodp}
SINGLE: dict[str, Callable[[Problem], Call]] = {"reference": reference, "fast": fast, **PEERS}
BATCHES = ("numpy", "torch")


# What a fresh process does.


def peak_megabytes() -> float:
    """The largest resident memory of this process so far."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e6 / 1024)


def forget() -> None:
    """Drop what a bound keeps for its parameters (caches of limited size), so that a repeated call starts anew."""
    for name, module in list(sys.modules.items()):
        if name.startswith("oracle."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear") and value.cache_parameters()["maxsize"] is not None:
                    value.cache_clear()


def timed(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The best seconds of a few calls, or of all that `LEAST_SECONDS` hold (one, if it is long); and an answer."""
    best, answer, spent, calls = math.inf, None, 0.0, 0
    while calls < repeats or (repeats > 1 and spent < LEAST_SECONDS):
        forget()
        start = time.perf_counter()
        answer = work()
        seconds = time.perf_counter() - start
        best, spent, calls = min(best, seconds), spent + seconds, calls + 1
        if best > 10:
            break
    return best, answer


def measure_single(library: str, problem: Problem, repeats: int) -> dict[str, Any]:
    try:
        call = SINGLE[library](problem)
        before = peak_megabytes()
        first, (lower, value, upper) = timed(call, 1)
        memory = peak_megabytes() - before
        best = first if first > 10 or repeats == 1 else min(first, timed(call, repeats - 1)[0])
    except NotOfferedError:
        return {"failure": "not offered"}
    except Exception as error:  # whatever a peer raises is its result
        return {"failure": type(error).__name__}
    ends = {} if math.isnan(lower) else {"lower": lower, "upper": upper, "width": upper - lower}
    return {"ms": 1e3 * best, "value": value, "megabytes": memory, **ends}


def measure_batch(namespace: str, name: str, arrays: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Time of one epsilon in a batch, and the share of points which float64 left to the reference."""
    from dataclasses import replace

    from oracle import Enclosure, bound
    from oracle.core.algorithm import Values

    item, by_reference = bound(name), 0
    if namespace == "torch":
        import torch

        torch.set_num_threads(1)
        arrays = {k: v if isinstance(v, str) else torch.tensor(v) for k, v in arrays.items()}

    def counted(values: Values, width: Fraction) -> Enclosure:
        nonlocal by_reference
        by_reference += 1
        return item.certify(values, width)

    def cut(points: int) -> dict[str, Any]:
        return {k: v if isinstance(v, str) else v[:points] for k, v in arrays.items()}

    before = peak_megabytes()
    probe, _ = timed(lambda: item.fast(**cut(20)), 2)
    points = min(len(arrays["delta"]), max(20, int(1200 / probe)))  # a minute, where the reference answers
    replace(item, certify=counted).fast(**cut(points))
    memory = peak_megabytes() - before
    best, _ = timed(lambda: item.fast(**cut(points)), repeats)
    return {
        "microseconds": 1e6 * best / points, "points": points, "by_reference": by_reference / points,
        "megabytes": memory,
    }


def around(problem: Problem, points: int) -> dict[str, Any]:
    """Points around a problem, drawn as run.py draws them."""
    import numpy as np
    from run import draw

    from oracle import bound

    rng = np.random.default_rng(0)
    return {p.name: draw(p, problem.values[p.name], points, rng) for p in bound(problem.bound).parameters}


def everyday(points: int) -> dict[str, Any]:
    """Points as training runs have them."""
    import numpy as np

    rng = np.random.default_rng(0)
    drawn: dict[str, Any] = {name: 10 ** rng.uniform(low, high, points) for name, (low, high) in EVERYDAY.items()}
    return {**drawn, "steps": np.round(drawn["steps"]), "neighbours": "add_remove"}


def work(words: list[str], quick: bool) -> dict[str, Any]:
    """The measurement that the words name, in this process."""
    repeats, points = (1, 1000) if quick else (3, 10_000)
    what, library, *rest = words
    if what == "single":
        return measure_single(library, PROBLEMS[rest[0]], repeats)
    if what == "steps":
        return measure_single(library, sampled("5", "0.001", rest[0], "1e-6"), 5 * repeats)
    if what == "around":
        problem = PROBLEMS[rest[0]]
        return measure_batch(library, problem.bound, around(problem, points), repeats)
    return measure_batch(library, "poisson-gaussian.epsilon", everyday(points), repeats)


# What the parent does.


def ask(words: list[str], quick: bool) -> dict[str, Any]:
    """The measurement from a fresh process with one thread."""
    return asked(__file__, words, quick=quick, limit=TIMEOUT if words[0] == "single" else 10 * TIMEOUT)


def measure(names: list[str], quick: bool) -> dict[str, Any]:
    """Everything, as one JSON object."""
    problems = {}
    for name in names:
        row = {library: ask(["single", library, name], quick) for library in SINGLE}
        row |= {namespace: ask(["around", namespace, name], quick) for namespace in BATCHES}
        middle = row["reference"].get("value", math.nan)
        for cell in row.values():
            if "value" in cell:
                cell["error"] = cell["value"] - middle
        problems[name] = {"bound": PROBLEMS[name].bound, "values": PROBLEMS[name].values, "measured": row}
    steps = {str(t): {path: ask(["steps", path, str(t)], quick) for path in ("reference", "fast")} for t in STEPS}
    throughput = {namespace: ask(["everyday", namespace], quick) for namespace in BATCHES}
    return {"quick": quick, "problems": problems, "throughput": throughput, "steps": steps}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--problems", nargs="+", default=["P"], metavar="NAME", help="as P3, or 'P3 s=1'")
    parser.add_argument("--quick", action="store_true", help="one run each and 1,000 points")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table of the page")
    parser.add_argument("--docs", action="store_true", help="rewrite that table in docs/accountants.md")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        with contextlib.redirect_stdout(sys.stderr):  # a peer prints as it searches
            answer = work(options.worker, options.quick)
        print(json.dumps(answer))
        return
    names = [name for name in PROBLEMS if name.startswith(tuple(options.problems))]
    if not names:
        parser.error(f"--problems = {' '.join(options.problems)}: none of {', '.join(PROBLEMS)} begins so")
    result = measure(names, options.quick)
    result["goals"] = goals(result)
    print(plain(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(result), encoding="utf-8")
    if options.docs:
        rewrite(DOCS / "accountants.md", markdown(result))


if __name__ == "__main__":
    main()
