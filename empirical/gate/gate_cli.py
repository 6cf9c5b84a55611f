"""The command `dp-oracle gate`: another implementation, in any language, judged against the certified bounds."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from empirical.gate import output, xfail
from empirical.gate.gate_run import SEARCH, SEARCH_SECONDS
from empirical.gate.jobs import BoundJob
from empirical.gate.offers import spoken
from empirical.gate.result import AnyResult, Result, exit_code
from empirical.gate.training_jobs import BUDGET, CONFIDENCE, DELTA, Job, TrainingJob, read
from oracle.core.errors import DomainError
from oracle.running.console import INTERRUPTED, Sign, progress
from oracle.running.isolated import MEMORY, TIMEOUT
from oracle.running.outputs import Outputs

_BOUND, _TRAINING, _LIMITS, _OUTPUT = (
    {"rich_help_panel": name} for name in ("A bound", "A training", "Limits", "Expected failures and output")
)


def register(app: typer.Typer) -> None:
    """Add this command to the dp-oracle command."""
    app.command("gate")(judge_target)


def judge_target(
    target: Annotated[
        str | None, typer.Argument(help="The function to judge: pkg.mod:fn or path/to/file.py:fn.")
    ] = None,
    cmd: Annotated[
        str | None, typer.Option(help="In place of TARGET: a program that speaks JSON lines (see above).")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="In place of TARGET: a TOML file that says what to judge.")
    ] = None,
    bound: Annotated[
        list[str] | None,
        typer.Option(help="The bound it implements (`dp-oracle bounds`); repeated for a program only.", **_BOUND),
    ] = None,
    slack: Annotated[
        str | None, typer.Option(help="Fail if an answer is so many times looser than the truth, say 1.05.", **_BOUND)
    ] = None,
    slack_absolute: Annotated[
        str | None, typer.Option(help="What an answer may add to the truth, or to slack times it, say 0.25.", **_BOUND)
    ] = None,
    rounding: Annotated[
        str | None, typer.Option(help="Relative error that is forgiven as rounding (1e-12).", **_BOUND)
    ] = None,
    fail_on: Annotated[
        str | None, typer.Option(help="Severity from which UNSOUND fails: negligible, material, gross.", **_BOUND)
    ] = None,
    below_formula: Annotated[
        str | None, typer.Option(help="What BELOW_FORMULA is: undecided (exit code 3), fail or pass.", **_BOUND)
    ] = None,
    offers: Annotated[
        list[str] | None,
        typer.Option(help="All that it offers: sigma=0.3..50, neighbours=add_remove, alpha=integers.", **_BOUND),
    ] = None,
    case: Annotated[
        list[int] | None, typer.Option(help="Only this case, by its tcId, and no search; repeatable.", **_BOUND)
    ] = None,
    search: Annotated[
        int | None, typer.Option(help=f"Examples to search beyond the vectors; 0 for none ({SEARCH}).", **_BOUND)
    ] = None,
    search_seconds: Annotated[
        float | None, typer.Option(help=f"After which the search is cut short ({SEARCH_SECONDS:g}).", **_BOUND)
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="TARGET trains, fn(dataset, seed) -> array, and claims this.", **_TRAINING)
    ] = None,
    delta: Annotated[str | None, typer.Option(help=f"Claimed delta ({DELTA}).", **_TRAINING)] = None,
    budget: Annotated[int | None, typer.Option(help=f"Models a data set ({BUDGET}).", **_TRAINING)] = None,
    confidence: Annotated[
        float | None, typer.Option(help=f"Of the lower bound on epsilon ({CONFIDENCE}).", **_TRAINING)
    ] = None,
    pair: Annotated[
        Path | None, typer.Option(help="npz file of X0, y0, X1, y1; by default the worst pair found.", **_TRAINING)
    ] = None,
    canary: Annotated[str | None, typer.Option(help="Pair to build, as for `dp-oracle audit`.", **_TRAINING)] = None,
    neighbours: Annotated[str | None, typer.Option(help="replace or add_remove.", **_TRAINING)] = None,
    batched: Annotated[bool, typer.Option("--batched", help="TARGET is fn(dataset, seeds).", **_TRAINING)] = False,
    seed: Annotated[int | None, typer.Option(help="Of the search, or of the audit (0).", **_LIMITS)] = None,
    timeout: Annotated[
        float | None, typer.Option(help=f"Seconds for a call or an answer ({TIMEOUT:g}).", **_LIMITS)
    ] = None,
    memory: Annotated[int | None, typer.Option(help=f"MB that it may use ({MEMORY}).", **_LIMITS)] = None,
    xfail_file: Annotated[
        Path | None, typer.Option("--xfail", help="TOML file of expected failures, strict both ways.", **_OUTPUT)
    ] = None,
    write_xfail: Annotated[
        Path | None, typer.Option(help="Write the present failures as such a file, to start from.", **_OUTPUT)
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all results as JSON.", **_OUTPUT)] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML.", **_OUTPUT)] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Append a Markdown summary, say to $GITHUB_STEP_SUMMARY.", **_OUTPUT)
    ] = None,
    sign: Sign = None,
) -> None:
    """Judge an implementation of a bound, in any language, against certified values.

    A function is called with the bound's parameters by name (`dp-oracle bounds`
    lists them) and returns a number, or {"lower": ..., "upper": ...}. It refuses
    an input by raising ValueError or TypeError. It runs in a process of its own:

      dp-oracle gate mylib.accounting:epsilon --bound gaussian.epsilon

    A program (--cmd) reads one JSON object a line from standard input and answers
    each by one line, with value, or lower and upper, or refused:

      {"id": 1, "bound": "gaussian.epsilon", "input": {"sigma": 1.0, ...}}

      {"id": 1, "value": 4.38}   or   {"id": 1, "refused": "delta is too small"}

    Every certified case of the bound is asked, then hypothesis searches for worse
    ones. Each answer gets a verdict:

      TIGHT, LOOSE      good: on the safe side; LOOSE fails only with --slack

      UNSOUND           it claims more privacy (or accuracy) than is true; the
                        gap is negligible (1e-6 of the truth, or what nobody
                        notices), material (up to 1 %) or gross: --fail-on says
                        from where on it fails, --rounding (1e-12 of the truth)
                        what is no gap at all

      BELOW_FORMULA     below an upper bound, and not known to be wrong:
                        undecided, or what --below-formula says

      REFUSED           good on invalid input, and where a word of a parameter
                        (neighbours=replace) is refused throughout

      ACCEPTED_INVALID, CRASH, TIMEOUT     never good

    With --epsilon, TARGET is a training, fn(dataset, seed), and an audit decides:
    CONSISTENT (good), VIOLATION, or INVALID (it cannot be audited).

    What a library knows to be wrong stands in a file of its own (--xfail, which
    --write-xfail begins), and what is judged in CI in another (--config):

      xfail = "dp-oracle-xfail.toml"

      [\\[gate]]
      target = "mylib.accounting:epsilon"
      bound = "gaussian.epsilon"
      slack = 1.05
      offers = {sigma = \\[0.3, 50], neighbours = \\["add_remove"]}

    A question outside of what a library offers is not asked.

    Exit code 0: good. 1: something failed, or an expected failure did not. 2: bad
    usage, or the target cannot be used. 3: undecided, nothing was judged, or only
    BELOW_FORMULA is left. 130: interrupted; what was done is told.
    """
    given = {
        "slack": slack, "slack_absolute": slack_absolute, "rounding": rounding, "fail_on": fail_on,
        "below_formula": below_formula, "offers": None if offers is None else spoken(offers),
        "search": search, "search_seconds": search_seconds, "seed": seed,
        "timeout": timeout, "memory": memory,
    }
    told: dict[str, Any] = {
        "target": target, "command": cmd, "bound": bound, "case": case, "epsilon": epsilon, "delta": delta,
        "budget": budget, "confidence": confidence, "pair": None if pair is None else str(pair), "canary": canary,
        "neighbours": neighbours, "batched": batched or None,
    }
    given, told = ({key: value for key, value in words.items() if value is not None} for words in (given, told))
    outputs = {"write-xfail": write_xfail, "json": json_file, "junit": junit, "markdown": markdown}
    files = {name: None if path is None else path.absolute() for name, path in outputs.items()}
    xfail_path, key = (None if path is None else path.absolute() for path in (xfail_file, sign))
    with contextlib.ExitStack() as stack:
        if config is not None:
            if told:
                raise DomainError(f"{', '.join(told)}: not with --config, whose file says what is judged")
            stack.enter_context(contextlib.chdir(_folder(config)))
            jobs, listed = read(Path(config.name), given)
            xfail_path = xfail_path or listed
        else:
            jobs = [_job(told, given)]
        expected = xfail.Xfails() if xfail_path is None else xfail.load(Path(os.path.relpath(xfail_path)))
        inputs = {"config": None if config is None else Path(config.name), "xfail": xfail_path}
        for number, job in enumerate(jobs, 1):
            if isinstance(job, TrainingJob) and job.pair is not None:
                inputs[f"pair of gate {number}"] = Path(job.pair)
        targets = [job.training if isinstance(job, TrainingJob) else job.target for job in jobs]
        out = Outputs(files, inputs=inputs, targets=targets, commands=[job.command for job in jobs], sign=key)
        results, interrupted = _carried_out(jobs, expected)
    out.json("json", lambda: output.document(results))
    out.text("junit", lambda: output.junit(results))
    out.text("markdown", lambda: output.markdown(results), append=True)
    out.text("write-xfail", lambda: xfail.text_of([entry for result in results for entry in result.to_xfails()]))
    output.print_results(results)
    raise typer.Exit(INTERRUPTED if interrupted else exit_code(results))


def _folder(config: Path) -> Path:
    if not os.path.isfile(config):
        raise DomainError(f"config = {config} cannot be read: there is no such file")
    return config.parent


def _job(told: dict[str, Any], given: dict[str, Any]) -> Job:
    """What the command line alone asks for."""
    if not {"target", "command"} & set(told):
        raise DomainError("a gate needs a TARGET with --bound (or --epsilon), or --cmd, or --config")
    asked = {**told, **given}
    training = "epsilon" in asked
    if training == ("bound" in asked):
        raise DomainError("a gate needs --bound (what is computed) or --epsilon (what a training claims), and not both")
    alien = {
        "slack", "slack_absolute", "rounding", "fail_on", "below_formula", "offers", "search", "search_seconds", "case",
    } if training else {
        "delta", "budget", "confidence", "pair", "canary", "neighbours", "batched"
    }
    for key in asked:
        if key in alien:
            raise DomainError(f"{key} = {asked[key]} is for a {'bound' if training else 'training'}")
    if training:
        return TrainingJob(**{"training" if key == "target" else key: value for key, value in asked.items()})
    names, only = tuple(dict.fromkeys(asked.pop("bound"))), asked.pop("case", None)
    if only is not None:
        asked.setdefault("search", 0)
    return BoundJob(**asked, bounds=names, only=None if only is None else frozenset(only))


def _carried_out(jobs: list[Job], expected: xfail.Xfails) -> tuple[list[AnyResult], bool]:
    """The results of the jobs, and whether someone lost patience before the last."""
    # The search keeps nothing; without this, hypothesis would leave a folder where the command is run.
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(tempfile.gettempdir()) / "dp-oracle-hypothesis"))
    results: list[AnyResult] = []
    try:
        for job in jobs:
            for result in _results(job, expected):
                results.append(result)
                if isinstance(result, Result) and result.interrupted:
                    return results, True
    except KeyboardInterrupt:
        return results, True
    return results, False


def _results(job: Job, expected: xfail.Xfails) -> Iterator[AnyResult]:
    if isinstance(job, TrainingJob):
        yield job.carry_out(expected)
        return
    with progress() as bar:
        def follow(name: str) -> Any:
            task = bar.add_task(name, total=None)
            return lambda done, total: bar.update(task, completed=done, total=total)

        yield from job.carry_out(expected, follow)
