"""Files that commands write: told before the work where they cannot be, whole or as they were, never over an input."""

from __future__ import annotations

import ast
import errno
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer
from typer.models import ArgumentInfo

from oracle.core.errors import DomainError, OracleError, OutputError
from oracle.running import outputs
from oracle.running.console import UNWRITTEN, run
from oracle.running.outputs import Outputs, append_bytes, write_bytes
from oracle.running.store import Store
from reports.cli import app

ROOT = Path(__file__).parents[3]
CLAIM = ("check", "relu-approx/lem-3.2")
LARGE = 100_000


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """A disk that is full beyond so many bytes of a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def unwritable(kind: str, folder: Path) -> Path:
    path = folder / kind.replace(" ", "-")
    if kind == "a folder":
        path.mkdir()
    elif kind == "in a file":
        path.write_text("")
        return path / "x"
    elif kind == "a link to itself":
        path.symlink_to(path.name)
    elif kind == "a pipe that nobody reads":
        os.mkfifo(path)
    elif kind == "a full device":
        return Path("/dev/full")
    elif kind == "too long a name":
        return folder / ("x" * 300)
    return path


KINDS = (
    "a folder", "in a file", "a link to itself", "a pipe that nobody reads", "a full device", "too long a name",
)


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_written_is_told_before_the_work(kind: str, tmp_path: Path) -> None:
    path = unwritable(kind, tmp_path)
    for roles in ({"files": {"json": path}}, {"files": {}, "stores": {"json": path}}):
        if kind != "a full device" or "stores" not in roles:
            with pytest.raises(OracleError, match=r"json = .* cannot be written: "):
                Outputs(**roles)
    assert [entry.name for entry in tmp_path.rglob("*.partial")] == []


def test_a_disk_that_is_full_is_told_before_the_work_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_text("what stood there")
    with no_file_above(1000), pytest.raises(OracleError, match=r"json = .* cannot be written: File too large"):
        Outputs({"json": path})
    assert path.read_text() == "what stood there"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the rights to give up rights")
@pytest.mark.parametrize("kind", ["a read-only file", "a folder of others"])
def test_rights_that_are_missing_are_told_before_the_work(kind: str, tmp_path: Path) -> None:
    place = tmp_path
    while place != place.parent:  # whoever has no rights must find the way
        place.chmod(place.stat().st_mode | 0o755)
        place = place.parent
    (path := tmp_path / "old").write_text("old")
    path.chmod(0o644)
    tmp_path.chmod(0o777 if kind == "a read-only file" else 0o755)
    os.seteuid(65534)
    try:
        with pytest.raises(OracleError, match=r"json = .* cannot be written: Permission denied"):
            Outputs({"json": path})
    finally:
        os.seteuid(0)
    assert path.read_text() == "old"


@pytest.mark.parametrize("write", [write_bytes, append_bytes])
def test_a_disk_that_fills_leaves_the_old_file_whole(write: object, tmp_path: Path) -> None:
    assert callable(write)
    path = tmp_path / "old"
    path.write_text("what stood there")
    with no_file_above(50_000), pytest.raises(OutputError, match="cannot be written"):
        write(path, b"x" * LARGE)
    assert path.read_text() == "what stood there"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod", "write"])
def test_a_step_that_fails_leaves_the_old_file_whole(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old"
    path.write_text("what stood there")

    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(outputs.os, step, fails)
    with pytest.raises(OutputError, match="No space left on device"):
        write_bytes(path, b"new")
    monkeypatch.undo()
    assert path.read_text() == "what stood there"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_kill_in_the_middle_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_text("what stood there")
    code = (
        "import os, signal, sys; from pathlib import Path; from oracle.running import outputs\n"
        "outputs.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "outputs.write_bytes(Path(sys.argv[1]), b'x' * 10**6)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, capture_output=True)
    assert done.returncode == -9, done.stderr
    assert path.read_text() == "what stood there"


def test_rights_and_links_of_a_file_stay(tmp_path: Path) -> None:
    (path := tmp_path / "old").write_text("old")
    path.chmod(0o640)
    (link := tmp_path / "link").symlink_to("old")
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("way", ["the same", "a link", "a hard link", "another name"])
@pytest.mark.parametrize("role", ["input", "store", "another output", "target", "command"])
def test_an_output_that_is_something_else_is_refused(role: str, way: str, tmp_path: Path) -> None:
    (other := tmp_path / "other.py").write_text("def f(): pass")
    path = tmp_path / "out"
    if way == "the same":
        path = other
    elif way == "another name":
        path = tmp_path / "x" / ".." / "other.py"
        (tmp_path / "x").mkdir()
    elif way == "a link":
        path.symlink_to(other)
    else:
        path.hardlink_to(other)
    roles = {
        "input": {"inputs": {"config": other}}, "store": {"stores": {"store": other}}, "another output": {},
        "target": {"targets": [f"{other}:f"]}, "command": {"commands": [f"python {other} --fast"]},
    }[role]
    files = {"json": path, **({"junit": other} if role == "another output" else {})}
    with pytest.raises(DomainError, match=r"is outside its domain: .* is the same file"):
        Outputs(files, **roles)  # type: ignore[arg-type]
    assert other.read_text() == "def f(): pass"


def test_a_file_beside_a_store_and_code_that_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="the journal of store is the same file"):
        Outputs({"json": tmp_path / "s-journal"}, stores={"store": tmp_path / "s"})
    for code in (outputs.__file__, __file__):
        with pytest.raises(DomainError, match="it holds code that runs here"):
            Outputs({"json": Path(code)})
    for place in ("empirical/gate/vectors/gdp.delta.json", "empirical/gate/schemas/new", "reports/templates/new"):
        with pytest.raises(DomainError, match="what is read here stands there"):
            Outputs({"json": ROOT / place})
    Outputs({"json": Path(os.devnull), "junit": Path(os.devnull)})
    Outputs({}, stores={"findings": tmp_path / "s", "store": tmp_path / "s"})


def test_a_program_that_is_found_on_the_path_is_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (program := tmp_path / "train").write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DomainError, match="the command's train is the same file"):
        Outputs({"json": program}, commands=["train --fast"])
    Outputs({"json": tmp_path / "fast"}, commands=["train fast"])
    assert program.read_text() == "#!/bin/sh\n"


def test_the_code_that_runs_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(outputs, "_running", lambda: looked.append(1) or set())
    Outputs({f"figure {number}": tmp_path / f"{number}.svg" for number in range(20)})
    assert len(looked) == 1  # thousands of modules, for dozens of files, took seconds


def working() -> typer.Typer:
    made = typer.Typer()

    @made.command()
    def work(json_file: Path, text_file: Path) -> None:
        out = Outputs({"json": json_file, "text": text_file})
        out.json("json", {"verdict": "x" * LARGE})
        out.text("text", "small\x1b[31m\u202e")
        print("the verdict")
        raise typer.Exit(1)

    return made


def test_a_verdict_that_cannot_be_written_is_printed_and_has_its_own_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    json_file, text_file = tmp_path / "a.json", tmp_path / "b.txt"
    json_file.write_text("old")
    with no_file_above(70_000):
        assert run(working(), [str(json_file), str(text_file)]) == UNWRITTEN
    told = capsys.readouterr()
    assert told.out == "the verdict\n"
    assert told.err.count("\n") == 1
    assert "json = " in told.err
    assert json_file.read_text() == "old"
    assert text_file.read_text() == "small\ufffd[31m\ufffd"
    assert run(working(), [str(json_file), str(text_file)]) == 1
    assert UNWRITTEN not in (0, 1, 2, 3, 70)


def test_a_claim_is_told_where_its_files_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(outputs.os, "replace", fails)
    assert run(app, [*CLAIM, "--json", str(tmp_path / "f.json")]) == UNWRITTEN
    told = capsys.readouterr()
    assert "1 of 1 verdicts as expected" in told.out
    assert told.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_store_on_a_full_disk_costs_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = typer.Typer()

    @made.command()
    def work(name: str) -> None:
        with Store(tmp_path / name) as store:
            store.write("shard", "small", "", b"kept")
            with no_file_above(50_000):
                store.write("shard", "large", "", b"x" * LARGE)
                store.write("shard", "larger", "", b"x" * LARGE)
            print(store.read("shard", "small", ""), store.read("shard", "large", ""))

    assert run(made, ["store"]) == UNWRITTEN
    told = capsys.readouterr()
    assert told.out == "b'kept' None\n"
    assert told.err.count("\n") == 1
    assert "store = " in told.err


def test_what_is_no_file_is_written_to_as_it_is(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from oracle.running.outputs import Outputs\n"
        "print('before'); out = Outputs({'json': Path(sys.argv[1])}); out.json('json', [1]); print('after')"
    )
    with (tmp_path / "all").open("w") as file:
        for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/null"):
            subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, stdout=file, check=True)
    whole = "before\n[\n  1\n]\nafter\n"
    assert (tmp_path / "all").read_text() == 3 * whole + "before\nafter\n"
    os.mkfifo(pipe := tmp_path / "pipe")
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    descriptor = os.open(pipe, os.O_WRONLY)  # waits for the reader
    out = Outputs({"json": pipe})
    os.close(descriptor)
    out.json("json", [1])
    os.close(out._opened["json"])
    assert reader.communicate()[0] == "[\n  1\n]\n"


WRITES = {"write_text", "write_bytes", "savez", "savez_compressed", "savetxt", "copyfile", "savefig"}
ALLOWED = {
    "oracle/running/outputs.py": "the one place", "oracle/running/console.py": "the traceback of a crash of ours",
    "oracle/running/isolated_worker.py": "descriptors of a worker",
    "oracle/running/keeper.py": "nothing in the place of a program's pipes",
    "empirical/gate/league/peer_trainings.py": "arrays in a folder that is thrown away",
    "empirical/audits/shard_store.py": "arrays in memory", "empirical/studies/runs.py": "arrays in memory",
    "reports/figures.py": "pictures in memory",
}


def writes(tree: ast.AST) -> Iterator[str]:
    """Calls that may open a file for writing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            words = [one.value for one in given if isinstance(one, ast.Constant)]
            if name in ("open", "fdopen") and (
                any(isinstance(word, str) and set(word) & set("wax+") and len(word) < 4 for word in words)
                or any(isinstance(one, ast.Attribute) and one.attr in ("O_WRONLY", "O_RDWR") for one in ast.walk(node))
            ):
                yield name
            elif isinstance(node.func, ast.Attribute) and (name in WRITES or ast.unparse(node.func) == "np.save"):
                yield f".{name}"
            elif name in ("replace", "rename") and ast.unparse(node.func) in ("os.replace", "os.rename"):
                yield f"os.{name}"


WORDS = re.compile("open|" + "|".join((*sorted(WRITES), r"np\s*\.\s*save", r"os\s*\.\s*(replace|rename)")))
"""What stands in every text that `writes` finds something in: few are worth a tree."""


def test_no_other_place_opens_files_for_writing() -> None:
    found = {
        place.relative_to(ROOT).as_posix(): list(writes(ast.parse(text)))
        for room in ("oracle", "empirical", "theorems", "reports") for place in (ROOT / room).rglob("*.py")
        if WORDS.search(text := place.read_text(encoding="utf-8"))
    }
    named = {name for name, calls in found.items() if calls}
    assert "open" in found["oracle/running/outputs.py"]
    assert named - set(ALLOWED) == {"oracle/running/store.py"}
    assert found["oracle/running/store.py"] == ["os.replace"]  # a damaged store, put aside
    assert set(ALLOWED) <= named


LINES: dict[str, tuple[str, ...]] = {
    "audit": ("noisy-cgd",), "one-run": ("noisy-cgd",), "mutants": (), "check": CLAIM[1:], "false-claims": (),
    "gate": ("oracle:bound", "--bound", "laplace.delta"), "holes": (), "league": (),
    "rates": ("exponential-mechanism",), "report": (), "vectors make": (), "vectors fill": (), "vectors describe": (),
}
WRITTEN = {
    "audit": ("--store", "--json"), "one-run": ("--json",), "mutants": ("--json",), "check": ("--store", "--json"),
    "false-claims": ("--store", "--json"), "gate": ("--write-xfail", "--json", "--junit", "--markdown"),
    "holes": ("--json", "--markdown"), "league": ("--store", "--json", "--markdown"),
    "rates": ("--json", "--figures", "--store"), "report": ("--out", "--findings", "--store"),
    "vectors make": ("--out",), "vectors fill": ("--folder",), "vectors describe": ("--folder",),
}
READ = {"--config", "--pair", "--xfail", "--sign", "--key", "--signature"}


def options(made: typer.Typer, before: str = "") -> Iterator[tuple[str, str]]:
    """Every command with every option of it that is a path."""
    for group in made.registered_groups:
        assert group.typer_instance is not None
        yield from options(group.typer_instance, f"{group.name} ")
    for command in made.registered_commands:
        for name, hint in get_type_hints(command.callback, include_extras=True).items():
            kind, *more = get_args(hint) or (hint,)
            if Path in (kind, *get_args(kind)) and not isinstance(more[0], ArgumentInfo):
                words = (more[0].default, *(more[0].param_decls or ()))  # typer takes the first name for a default
                declared = [one for one in words if isinstance(one, str) and one.startswith("--")]
                yield f"{before}{command.name}", (declared or [f"--{name.replace('_', '-')}"])[0]


def test_every_option_that_is_a_path_is_known_here() -> None:
    found = set(options(app)) - {("vectors lint", "--folder")}
    assert len(found) > 30
    assert {one for one in found if one[1] not in READ} == {(name, one) for name in WRITTEN for one in WRITTEN[name]}
    signed = {name for name, one in found if one == "--sign"}
    assert signed == {name for name in WRITTEN if not name.startswith("vectors")}


@pytest.mark.parametrize(("name", "option"), [(name, one) for name in WRITTEN for one in WRITTEN[name]], ids=str)
def test_every_output_of_every_command_is_looked_at_before_the_work(
    name: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert run(app, [*name.split(), *LINES[name], option, str(tmp_path / "file" / "below")]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "cannot be" in told.err
    assert "below" in told.err
