"""Batched training against loops over models: the twins, the literal references, plain torch and Opacus, in one run.

    nox -s bench                                    every bound, the accountants, then the trainings
    nox -s bench -- --readme                        the same; rewrites the sections of README.md between their markers
    python benchmarks/trainings.py [--quick --json FILE]

Every figure comes from a fresh process. With one thread the clock is the processor time of that process, which a busy
machine hurts less, and the best of the runs of a few seconds counts. With all threads it is the wall's, and one run: a
figure for an idle machine only.
Everybody trains in float64 on the same data with the same noise: a loop trains one model after the other on given
batches from given weights (a twin draws its own for every model), and "apart" is how far its model ends from the
reference's when the noise is all but taken away, so that like is compared with like. Memory is the rise of the peak
over what imports and a first small training take, less the models themselves; it does not depend on the number of
steps, of which there are few.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from accountants import README, THREADS, peak_megabytes
from accountants_tables import rewrite
from trainings_tables import MARKS, goals, markdown, plain

RECORDS, DIMENSION, BATCH = 200, 10, 40
COMMON = {"loss": "logistic", "eta": "0.1", "clip_norm": "0.5", "batch_size": BATCH}
NETWORK = {"activation": "tanh", "width": 16, "initial_std": 1, "dataset_size": RECORDS, "neighbours": "add_remove"}
TASKS: dict[str, dict[str, Any]] = {
    "noisy-cgd": {**COMMON, "lam": "0.1", "sigma": "0.1", "epochs": 20, "feature_norm": 1},
    "dp-sgd-network": {**COMMON, **NETWORK, "noise_std": "0.1", "steps": 100},
}
NOISE = {"noisy-cgd": "sigma", "dp-sgd-network": "noise_std"}
SHORT: dict[str, dict[str, Any]] = {"noisy-cgd": {"epochs": 1}, "dp-sgd-network": {"steps": 2}}
MODELS = {"noisy-cgd": 10_000, "dp-sgd-network": 500}  # of the twin; a loop trains LOOP of them
LOOP = 3
MEMORY_MODELS = (10_000, 100_000)
SECONDS = 4  # of runs, of which the best counts
LIMIT = {"one": 60, "all": 20}  # seconds for a figure; threads that wait for each other on a busy machine take for ever

Trainer = Callable[[int], Any]  # a number of models -> their final weights, [models, ...]


def data() -> tuple[Any, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    features = rng.normal(size=(RECORDS, DIMENSION))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return features, (rng.random(RECORDS) < 0.5).astype(float)


def given(task: str, config: Any) -> tuple[list[Any], Callable[[int], Any]]:
    """The batches that every model of a loop sees, and the weights from which a model starts."""
    import numpy as np

    from oracle.tape import Tape
    from oracle.training.dp_sgd_network import initial

    if task == "noisy-cgd":
        epoch = [np.arange(start, start + BATCH) for start in range(0, RECORDS, BATCH)]
        return epoch * config.epochs, lambda model: np.zeros(DIMENSION)
    masks = [Tape(0).bernoulli("batch", step, RECORDS, BATCH / RECORDS)[0] for step in range(config.steps)]
    return [np.flatnonzero(mask) for mask in masks], lambda model: initial(config, DIMENSION, Tape(0, LOOP).one(model))


# One function a contestant: it imports, and returns what trains.


def twin(task: str, config: Any) -> Trainer:
    from oracle import algorithm
    from oracle.tape import Tape

    item, (features, labels) = algorithm(task), data()
    return lambda models: item.train_batched(features, labels, config, Tape(0, models))


def reference(task: str, config: Any) -> Trainer:
    from oracle import algorithm
    from oracle.tape import Tape

    item, (features, labels) = algorithm(task), data()
    return lambda models: [item.reference(features, labels, config, Tape(0, models).one(m)) for m in range(models)]


def opacus(task: str, config: Any) -> Trainer:
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer
    from torch import nn

    batches, start = given(task, config)
    features, labels = (torch.as_tensor(part) for part in data())
    parts = [(features[batch], labels[batch]) for batch in batches]
    eta, clip_norm, noise = float(config.eta), float(config.clip_norm), float(getattr(config, NOISE[task]))

    def one(model: int) -> Any:
        if task == "noisy-cgd":
            net: nn.Module = nn.Linear(DIMENSION, 1, bias=False)
        else:
            net = nn.Sequential(nn.Linear(DIMENSION, config.width), nn.Tanh(), nn.Linear(config.width, 1))
        net = net.double()
        nn.utils.vector_to_parameters(torch.as_tensor(start(model)), net.parameters())
        private = GradSampleModule(net)
        optimiser = DPOptimizer(
            torch.optim.SGD(private.parameters(), lr=eta, weight_decay=float(getattr(config, "lam", 0))),
            noise_multiplier=noise * BATCH / clip_norm, max_grad_norm=clip_norm, expected_batch_size=BATCH,
        )
        loss = nn.BCEWithLogitsLoss()
        for x, y in parts:
            optimiser.zero_grad()
            loss(private(x)[:, 0], y).backward()
            optimiser.step()
        return nn.utils.parameters_to_vector(net.parameters()).detach()

    return lambda models: [one(model) for model in range(models)]


def torch_loop(task: str, config: Any) -> Trainer:
    """What one writes without a library: gradients by hand where they are r x, by torch.func for the network."""
    import torch
    from torch.func import grad, vmap
    from torch.nn.functional import binary_cross_entropy_with_logits as logistic

    batches, start = given(task, config)
    features, labels = (torch.as_tensor(part) for part in data())
    parts = [(features[batch], labels[batch]) for batch in batches]
    eta, clip_norm, noise = float(config.eta), float(config.clip_norm), float(getattr(config, NOISE[task]))
    lam, width = float(getattr(config, "lam", 0)), getattr(config, "width", 0)

    def loss(weights: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        first, bias, second, last = torch.split(weights, [width * DIMENSION, width, width, 1])
        hidden = torch.tanh(first.view(width, DIMENSION) @ x + bias)
        return logistic((hidden @ second + last[0]), y)

    by_autograd = vmap(grad(loss), in_dims=(None, 0, 0))

    def one(model: int) -> torch.Tensor:
        weights = torch.as_tensor(start(model))
        for x, y in parts:
            if task == "noisy-cgd":
                gradients = (torch.sigmoid(x @ weights) - y)[:, None] * x
            else:
                gradients = by_autograd(weights, x, y)
            share = (clip_norm / gradients.norm(dim=1)).clamp(max=1.0)
            drift = share @ gradients / BATCH + lam * weights
            weights = weights - eta * (drift + noise * torch.randn_like(weights))
        return weights

    return lambda models: [one(model) for model in range(models)]


CONTESTANTS = {"twin": twin, "reference": reference, "torch loop": torch_loop, "Opacus": opacus}


# What a fresh process does.


def parsed(task: str, **changes: Any) -> Any:
    from oracle import algorithm

    return algorithm(task).parse({**TASKS[task], **changes})


def timed(work: Callable[[], Any], seconds: float, clock: Callable[[], float]) -> float:
    """The best time of a call, called again until so many seconds are spent."""
    best, begin = math.inf, clock()
    while best == math.inf or clock() - begin < seconds:
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def measure_speed(task: str, contestant: str, threads: str, quick: bool) -> dict[str, Any]:
    """Models a second, and how far the model is from the reference's without noise, relative to its size."""
    import numpy as np
    import torch

    if threads == "one":
        torch.set_num_threads(1)
    try:
        quiet = parsed(task, **{NOISE[task]: "1e-12"})
        ends = [np.asarray(CONTESTANTS[name](task, quiet)(1)[0]) for name in ("reference", contestant)]
        train = CONTESTANTS[contestant](task, parsed(task))
        models = (MODELS[task] if contestant == "twin" else LOOP) // (10 if quick else 1) or 1
        clock = time.process_time if threads == "one" else time.perf_counter
        best = timed(lambda: train(models), 0 if quick or threads == "all" else SECONDS, clock)
    except Exception as error:  # whatever a peer raises is its result
        return {"failure": type(error).__name__}
    apart = float(np.linalg.norm(ends[1] - ends[0]) / np.linalg.norm(ends[0]))
    return {"per_second": models / best, "models": models, "apart": apart, "threads": torch.get_num_threads()}


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
    return measure_speed(task, rest[0], rest[1], quick)


# What the parent does.


def ask(words: list[str], quick: bool) -> dict[str, Any]:
    """The measurement from a fresh process, with one thread unless all are asked for."""
    print(" ".join(words), end=" ", file=sys.stderr, flush=True)
    command = [sys.executable, "-W", "ignore", __file__, *(["--quick"] if quick else []), "--worker", *words]
    environment = {**os.environ, **({} if words[-1] == "all" else dict.fromkeys(THREADS, "1"))}
    try:
        limit = LIMIT["all" if words[-1] == "all" else "one"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=limit)
        answer = json.loads(done.stdout) if done.returncode == 0 else {"failure": f"exit {done.returncode}"}
    except subprocess.TimeoutExpired:
        answer = {"failure": "timeout"}
    print(answer.get("failure", "ok"), file=sys.stderr, flush=True)
    return dict(answer)


def measure(tasks: list[str], quick: bool) -> dict[str, Any]:
    """Everything, as one JSON object."""
    result: dict[str, Any] = {"quick": quick, "tasks": {}}
    for task in tasks:
        speed = {
            threads: {name: ask(["speed", task, name, threads], quick) for name in names}
            for threads, names in (("one", CONTESTANTS), ("all", ("twin", "Opacus")))
        }
        memory = {str(models): ask(["memory", task, str(models)], quick) for models in MEMORY_MODELS}
        result["tasks"][task] = {"config": TASKS[task], "speed": speed, "memory": memory}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="one run each, of a tenth of the models")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure")
    parser.add_argument("--readme", action="store_true", help="rewrite the table in README.md")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        with contextlib.redirect_stdout(sys.stderr):
            answer = work(options.worker, options.quick)
        print(json.dumps(answer))
        return
    result = measure(list(TASKS), options.quick)
    result["goals"] = goals(result)
    print(plain(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if options.readme:
        broken = [task for task, told in result["tasks"].items() if "failure" in told["speed"]["one"]["twin"]]
        if broken:
            raise SystemExit(f"README.md is as it was: no twin was measured for {', '.join(broken)}")
        rewrite(README, markdown(result), MARKS)


if __name__ == "__main__":
    main()
