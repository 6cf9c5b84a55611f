"""Batched training against loops over models: the twins, the literal references, plain torch and Opacus, in one run.

    nox -s bench                                    every bound, the accountants, then the trainings
    nox -s bench -- --docs                          the same; rewrites docs/trainings.md between its two markers
    python benchmarks/trainings.py [--quick --json FILE]

Every figure comes from a fresh process. With one thread the clock is the processor time of that process, which a busy
machine hurts less, and the best of the runs of a few seconds counts. With all threads it is the wall's: a figure for an
idle machine only. Few models are what a user has: the twin trains 1,000 in all, once, in a process that has trained
none before, so that whatever a first call costs is in the figure. A twin trains chunks of models on all threads, each
by one; a loop has what torch makes of them, and beside a twin on all threads stands the better of its figures with one
and with all. Everybody trains in float64, and where Opacus takes part in float32, too, torch's default, on the same
data with the same noise: a loop trains one model after the other on given batches from given weights (a twin draws its
own for every model), and "apart" is how far its model ends from the reference's in float64 when the noise is all but
taken away, so that like is compared with like. Memory is the rise of the peak over what imports and a first small
training take, less the models themselves; it does not depend on the number of steps, of which there are few.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from accountants import DOCS, peak_megabytes
from accountants_tables import rewrite
from fresh import asked
from trainings_tables import FEW, LEAST, MARKS, goals, markdown, plain, times

SHAPES = {  # records and features
    "noisy-cgd": (200, 10), "dp-sgd-network": (200, 10), "dp-sgd-multilayer": (100, 20),
    "dp-sgd-multilayer/4": (100, 4), "dp-sgd-multilayer/784": (100, 784), "phased-sgd": (100_000, 50),
    "dp-glmtron": (550, 1024), "dp-taglmtron": (550, 1024),
}
COMMON = {"loss": "logistic", "learning_rate": "0.1", "clip_norm": "0.5", "batch_size": 40}
NETWORK = {
    "activation": "tanh", "hidden_units": 16, "initial_scale": 1, "dataset_size": 200, "neighbours": "add_remove",
}
DEEP = {
    "depth": 2, "hidden_units": 256, "layer_radius": 100, "centre": "start", "dataset_size": 100,
    "neighbours": "add_remove",
}
PASS = {"learning_rate": "0.01", "clip_norm": 1, "initial_std": 0, "clip": "shorten"}
TASKS: dict[str, dict[str, Any]] = {
    "noisy-cgd": {**COMMON, "regularisation": "0.1", "noise_on_mean": "0.1", "epochs": 20, "feature_norm": 1},
    "dp-sgd-network": {**COMMON, **NETWORK, "noise_on_mean": "0.1", "steps": 100},
    "dp-sgd-multilayer": {**COMMON, **DEEP, "batch_size": 10, "noise_on_mean": "0.01", "steps": 10},
    **{
        f"dp-sgd-multilayer/{inputs}": {**COMMON, **DEEP, "batch_size": 10, "noise_on_mean": "0.01", "steps": 10}
        for inputs in (4, 784)
    },
    "phased-sgd": {
        "link": "tanh", "label_bound": 1, "base_learning_rate": "0.1", "noise_over_step": 1, "initial_radius": 0,
    },
    "dp-glmtron": {**PASS, "noise_over_sensitivity": 1},
    "dp-taglmtron": {**PASS, "noise_multiplier": 1, "neighbours": "replace"},
}
NOISE = {
    "noisy-cgd": "noise_on_mean", "dp-sgd-network": "noise_on_mean", "dp-sgd-multilayer": "noise_on_mean",
    "dp-sgd-multilayer/4": "noise_on_mean", "dp-sgd-multilayer/784": "noise_on_mean", "phased-sgd": "noise_over_step",
    "dp-glmtron": "noise_over_sensitivity", "dp-taglmtron": "noise_multiplier",
}
SHORT: dict[str, dict[str, Any]] = {"noisy-cgd": {"epochs": 1}, "dp-sgd-network": {"steps": 2}}  # memory is measured
MODELS = {  # of the twin; a loop trains LOOP of them
    "noisy-cgd": 26_212, "dp-sgd-network": 1984, "dp-sgd-multilayer": 2136,
    "dp-sgd-multilayer/4": 4272, "dp-sgd-multilayer/784": 60, "phased-sgd": 1000, "dp-glmtron": 512,
    "dp-taglmtron": 512,
}
LOOP = 3
TIMES = 3  # processes that train few models, of which the best counts
MEMORY_MODELS = (10_000, 100_000)
SECONDS = 4  # of runs, of which the best counts
LIMIT = {"one": 60, "all": 30}  # seconds for a figure; threads that wait for each other on a busy machine take for ever

PRECISIONS = ("float64", "float32")
Trainer = Callable[[int], Any]  # a number of models -> their final weights, [models, ...]


def kind(task: str) -> str:
    """The algorithm that a task trains: its name up to the slash, after which stands how the task differs."""
    return task.partition("/")[0]


def data(task: str) -> tuple[Any, Any]:
    import numpy as np

    rng, (records, dimension) = np.random.default_rng(0), SHAPES[task]
    features = rng.normal(size=(records, dimension))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return features, (rng.random(records) < 0.5).astype(float)


def given(task: str, config: Any) -> tuple[list[Any], Callable[[int], Any]]:
    """The batches that every model of a loop sees, and the weights from which a model starts."""
    import numpy as np

    from oracle.algorithms.networks import dp_sgd_multilayer, dp_sgd_network
    from oracle.core.tape import Tape

    (records, dimension), size = SHAPES[task], config.batch_size
    if task == "noisy-cgd":
        epoch = [np.arange(start, start + size) for start in range(0, records, size)]
        return epoch * config.epochs, lambda model: np.zeros(dimension)
    masks = [Tape(0).bernoulli("batch", step, records, size / records)[0] for step in range(config.steps)]

    def start(model: int) -> Any:
        tape = Tape(0, LOOP).one(model)
        if task == "dp-sgd-network":
            return dp_sgd_network.initial(config, dimension, tape)
        return dp_sgd_multilayer.flat(dp_sgd_multilayer.initial(config, dimension, tape))

    return [np.flatnonzero(mask) for mask in masks], start


# One function a contestant: it imports, and returns what trains.


def twin(task: str, config: Any, precision: str = "float64") -> Trainer:
    import torch

    from oracle import algorithm
    from oracle.core.tape import Tape

    item, (features, labels), dtype = algorithm(kind(task)), data(task), getattr(torch, precision)
    return lambda models: item.train_batched(features, labels, config, Tape(0, models), dtype=dtype)


def reference(task: str, config: Any, precision: str = "float64") -> Trainer:
    """In float64, whatever is asked."""
    from oracle import algorithm
    from oracle.core.tape import Tape

    item, (features, labels) = algorithm(kind(task)), data(task)
    return lambda models: [item.reference(features, labels, config, Tape(0, models).one(m)) for m in range(models)]


def tensors(task: str, config: Any, precision: str) -> tuple[Any, list[Any], Callable[[int], Any]]:
    """The precision as torch names it, the batches as tensors, and where a model starts."""
    import torch

    batches, start = given(task, config)
    dtype = getattr(torch, precision)
    features, labels = (torch.as_tensor(part, dtype=dtype) for part in data(task))
    return dtype, [(features[batch], labels[batch]) for batch in batches], start


def opacus(task: str, config: Any, precision: str = "float64") -> Trainer:
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer
    from torch import nn

    dtype, parts, start = tensors(task, config, precision)
    eta, clip_norm = float(config.learning_rate), float(config.clip_norm)
    noise = float(getattr(config, NOISE[task]))
    dimension, size, units = SHAPES[task][1], config.batch_size, getattr(config, "hidden_units", 0)

    def network() -> nn.Module:
        if task == "noisy-cgd":
            return nn.Linear(dimension, 1, bias=False)
        if task == "dp-sgd-network":
            return nn.Sequential(nn.Linear(dimension, units), nn.Tanh(), nn.Linear(units, 1))
        first, last = nn.Linear(dimension, units, bias=False), nn.Linear(units, 1, bias=False)
        return nn.Sequential(first, nn.ReLU(), last)

    scale = math.sqrt(units) if kind(task) == "dp-sgd-multilayer" else 1.0

    def one(model: int) -> Any:
        net = network().to(dtype)
        nn.utils.vector_to_parameters(torch.as_tensor(start(model), dtype=dtype), net.parameters())
        begun = [part.detach().clone() for part in net.parameters()]
        private = GradSampleModule(net)
        optimiser = DPOptimizer(
            torch.optim.SGD(private.parameters(), lr=eta, weight_decay=float(getattr(config, "regularisation", 0))),
            noise_multiplier=noise * size / clip_norm, max_grad_norm=clip_norm, expected_batch_size=size,
        )
        loss, total = nn.BCEWithLogitsLoss(), torch.zeros_like(nn.utils.parameters_to_vector(net.parameters()))
        for x, y in parts:
            optimiser.zero_grad()
            loss(scale * private(x)[:, 0], y).backward()
            optimiser.step()
            if kind(task) == "dp-sgd-multilayer":  # projected around the start, and averaged
                with torch.no_grad():
                    for part, middle in zip(net.parameters(), begun, strict=True):
                        far = (part - middle).norm()
                        part.copy_(middle + (part - middle) * min(1.0, float(config.layer_radius) / scale / float(far)))
                    total += nn.utils.parameters_to_vector(net.parameters()) / len(parts)
        return total if kind(task) == "dp-sgd-multilayer" else nn.utils.parameters_to_vector(net.parameters()).detach()

    return lambda models: [one(model) for model in range(models)]


def torch_loop(task: str, config: Any, precision: str = "float64") -> Trainer:
    """What one writes without a library: gradients by hand where they are r x, by torch.func for the network."""
    import torch
    from torch.func import grad, vmap
    from torch.nn.functional import binary_cross_entropy_with_logits as logistic

    dtype, parts, start = tensors(task, config, precision)
    eta, clip_norm = float(config.learning_rate), float(config.clip_norm)
    noise = float(getattr(config, NOISE[task]))
    lam, width = float(getattr(config, "regularisation", 0)), getattr(config, "hidden_units", 0)
    dimension, size = SHAPES[task][1], config.batch_size

    def loss(weights: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        first, bias, second, last = torch.split(weights, [width * dimension, width, width, 1])
        hidden = torch.tanh(first.view(width, dimension) @ x + bias)
        return logistic((hidden @ second + last[0]), y)

    by_autograd = vmap(grad(loss), in_dims=(None, 0, 0))

    def one(model: int) -> torch.Tensor:
        weights = torch.as_tensor(start(model), dtype=dtype)
        for x, y in parts:
            if task == "noisy-cgd":
                gradients = (torch.sigmoid(x @ weights) - y)[:, None] * x
            else:
                gradients = by_autograd(weights, x, y)
            share = (clip_norm / gradients.norm(dim=1)).clamp(max=1.0)
            drift = share @ gradients / size + lam * weights
            weights = weights - eta * (drift + noise * torch.randn_like(weights))
        return weights

    return lambda models: [one(model) for model in range(models)]


CONTESTANTS = {"twin": twin, "reference": reference, "torch loop": torch_loop, "Opacus": opacus}
_LOOPS = ("torch loop", "Opacus")
OUT = {  # those who do not take part: what they would have to be taught is the algorithm
    **{task: _LOOPS[:1] for task in TASKS if kind(task) == "dp-sgd-multilayer"}, "phased-sgd": _LOOPS,
    "dp-glmtron": _LOOPS, "dp-taglmtron": _LOOPS,
}


# What a fresh process does.


def parsed(task: str, **changes: Any) -> Any:
    from oracle import algorithm

    return algorithm(kind(task)).parse({**TASKS[task], **changes})


def timed(work: Callable[[], Any], seconds: float, clock: Callable[[], float]) -> float:
    """The best time of a call, called again until so many seconds are spent."""
    best, begin = math.inf, clock()
    while best == math.inf or clock() - begin < seconds:
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def measure_speed(task: str, contestant: str, precision: str, threads: str, quick: bool) -> dict[str, Any]:
    """Models a second, and how far the model is from the reference's without noise, relative to its size."""
    import numpy as np
    import torch

    if threads == "one":
        torch.set_num_threads(1)
    try:
        quiet = parsed(task, **{NOISE[task]: "1e-12"})
        ends = [np.asarray(CONTESTANTS[name](task, quiet, precision)(1)[0]) for name in ("reference", contestant)]
        train = CONTESTANTS[contestant](task, parsed(task), precision)
        models = (MODELS[task] if contestant == "twin" else LOOP) // (10 if quick else 1) or 1
        clock = time.process_time if threads == "one" else time.perf_counter
        best = timed(lambda: train(models), 0 if quick else SECONDS, clock)
    except Exception as error:  # whatever a peer raises is its result
        return {"failure": type(error).__name__}
    apart = float(np.linalg.norm(ends[1] - ends[0]) / np.linalg.norm(ends[0]))
    return {"per_second": models / best, "models": models, "apart": apart, "threads": torch.get_num_threads()}


def measure_few(task: str, precision: str, threads: str) -> dict[str, Any]:
    """Models a second of a user who trains FEW in all: the first training of a process, after its imports."""
    import torch

    if threads == "one":
        torch.set_num_threads(1)
    clock = time.process_time if threads == "one" else time.perf_counter
    train = twin(task, parsed(task), precision)
    begin = clock()
    train(FEW)
    return {"per_second": FEW / (clock() - begin), "models": FEW}


def measure_memory(task: str, models: int) -> dict[str, Any]:
    """Megabytes that training so many models takes at its peak, but for the models themselves."""
    train = twin(task, parsed(task, **SHORT[task]))
    train(1)
    before = peak_megabytes()
    final = train(models)
    own = final.numel() * final.element_size() / 1e6
    return {"megabytes": peak_megabytes() - before - own, "peak": peak_megabytes(), "own": own}


def work(words: list[str], quick: bool) -> dict[str, Any]:
    """The measurement that the words name, in this process."""
    what, task, *rest = words
    if what == "memory":
        return measure_memory(task, int(rest[0]))
    if what == "few":
        return measure_few(task, rest[0], rest[1])
    return measure_speed(task, rest[0], rest[1], rest[2], quick)


# What the parent does.


def ask(words: list[str], quick: bool) -> dict[str, Any]:
    """The measurement from a fresh process, with one thread unless all are asked for."""
    threads = words[-1] == "all"
    return asked(__file__, words, quick=quick, limit=LIMIT["all" if threads else "one"], threads=threads)


def measure_all(task: str, quick: bool) -> dict[str, Any]:
    """The cells of every contestant of a training, by precision and threads: "float32 all" and the like."""
    speed: dict[str, Any] = {}
    for precision in PRECISIONS if "Opacus" not in OUT.get(task, ()) else PRECISIONS[:1]:
        for threads, names in (("one", CONTESTANTS), ("all", ("twin", "Opacus"))):
            speed[f"{precision} {threads}"] = {
                name: ask(["speed", task, name, precision, threads], quick) for name in names
                if name not in OUT.get(task, ()) and (name != "reference" or precision == "float64")
            }
        cells = [speed[f"{precision} {threads}"].get("Opacus", {}) for threads in ("all", "one")]
        if any(cells):
            speed[f"{precision} all"]["Opacus"] = max(cells, key=lambda cell: float(cell.get("per_second", 0)))
    return speed


def measure_few_models(task: str, rows: list[str], quick: bool) -> dict[str, Any]:
    """The cells of the twin with few models, by precision and threads; the best of some fresh processes."""
    cells = {
        row: [ask(["few", task, *row.split()], quick) for _ in range(1 if quick else TIMES)] for row in rows
    }
    return {row: max(tried, key=lambda cell: float(cell.get("per_second", 0))) for row, tried in cells.items()}


def measure(tasks: list[str], quick: bool) -> dict[str, Any]:
    """Everything, as one JSON object."""
    result: dict[str, Any] = {"quick": quick, "tasks": {}}
    for task in tasks:
        speed = measure_all(task, quick)
        sizes = MEMORY_MODELS if task in SHORT else ()
        memory = {str(models): ask(["memory", task, str(models)], quick) for models in sizes}
        few = measure_few_models(task, list(speed), quick) if task in LEAST else {}
        ratios = {row: times(cells, "Opacus") for row, cells in speed.items() if "Opacus" in cells}
        result["tasks"][task] = {
            "config": TASKS[task], "speed": speed, "few": few, "memory": memory, "times Opacus": ratios,
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="one run each, of a tenth of the models")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure")
    parser.add_argument("--docs", action="store_true", help="rewrite the table in docs/trainings.md")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="these trainings only")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        with contextlib.redirect_stdout(sys.stderr):
            answer = work(options.worker, options.quick)
        print(json.dumps(answer))
        return
    if options.docs and options.tasks != list(TASKS):
        parser.error("the table of the page needs all trainings")
    result = measure(options.tasks, options.quick)
    result["goals"] = goals(result)
    print(plain(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if options.docs:
        broken = [task for task, told in result["tasks"].items() if "failure" in told["speed"]["float64 one"]["twin"]]
        if broken:
            raise SystemExit(f"docs/trainings.md is as it was: no twin was measured for {', '.join(broken)}")
        rewrite(DOCS / "trainings.md", markdown(result), MARKS)


if __name__ == "__main__":
    main()
