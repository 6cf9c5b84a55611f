"""Files that a command writes: whether they can be is known before the work, and each is whole or as it was.

`Outputs` is told of every file that a command writes and reads, before it works: a folder, a full disk, a file that
may not be written, and an output that is an input, another output, a store or code that runs are refused then. A text
goes into a file beside its place, to the disk, and then takes that place: a full disk or a kill -9 leaves the old file
whole. What cannot be written after the work is told and costs no verdict: the command goes on, and ends with the exit
code UNWRITTEN. No other module opens a file for writing (a test).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oracle.core.domain import clean, printable
from oracle.core.errors import DomainError, OracleError, OutputError
from oracle.core.plain import json_text
from oracle.running import opening

if TYPE_CHECKING:
    from oracle.running.signing import Signer

SIGNATURE = ".sig"
_PROBED = 2**16  # bytes that a disk must still hold before the work begins
_DESCRIPTOR = re.compile(r"(?:/dev/fd/|/dev/std|/proc/self/fd/)(\d+|out|err)")
_ROOT = Path(__file__).resolve().parents[2]  # told: outputs are held against it, and nothing there is read
_DATA = [_ROOT / "empirical" / "gate" / name for name in ("vectors", "schemas")] + [_ROOT / "reports" / "templates"]
"""Folders of this installation that hold certified answers and forms; `vectors` writes there, and no other command."""
_ASIDE = ("-journal", "-wal", "-shm")  # files that SQLite keeps beside a store


class Outputs:
    """The files of one command: checked when it is made, then written by the names of their options.

    An option that was not given is written nowhere. `inputs` are what is read, `targets` and `commands` the foreign
    code that runs; a store may serve several works. `sign` is the file of a private key: whatever is written gets a
    signature beside it, the stores when the command is done.
    """

    def __init__(
        self, files: Mapping[str, Path | None], *, stores: Mapping[str, Path | None] | None = None,
        inputs: Mapping[str, Path | None] | None = None, targets: Iterable[str | None] = (),
        commands: Iterable[str | None] = (), sign: Path | None = None,
    ) -> None:
        self._files = {name: path.absolute() for name, path in files.items() if path is not None}
        self._stores = {name: path.absolute() for name, path in (stores or {}).items() if path is not None}
        self._signer = None if sign is None else _signer(sign)
        self._opened: dict[str, int] = {}
        read = {name: path.absolute() for name, path in (inputs or {}).items() if path is not None}
        read |= _code(targets, commands)
        if sign is not None:
            read["sign"] = sign
            for name, path in (self._files | self._stores).items():
                if _is_special(path):
                    raise DomainError(f"{name} = {path} is outside its domain: a file, which can be signed")
        self._refuse_doubles(read)
        for name, path in (self._files | self._stores | self._signatures()).items():
            self._require(name, path)
        if self._signer is not None:
            for name, path in self._stores.items():
                self._signer.take_off(name, path)
                _last.append(lambda name=name, path=path: self._sign(name, path))  # type: ignore[misc]
        opening.tell()

    def text(self, name: str, text: str | Callable[[], str], *, append: bool = False) -> None:
        """Write a text, or what makes one, where the option was given."""
        path = self._files.get(name)
        if path is None:
            return
        content = clean(text if isinstance(text, str) else text()).encode()
        with told(f"{name} = {path}"):
            if name in self._opened:
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    sys.stdout.flush()  # it may be the same file
                write_all(self._opened[name], content)
                return
            (append_bytes if append else write_bytes)(path, content)
        self._sign(name, path)

    def json(self, name: str, value: Any) -> None:
        """Write a JSON document, or what makes one, where the option was given; records as `plain` says."""
        self.text(name, lambda: json_text(value() if callable(value) else value) + "\n")

    def _sign(self, name: str, path: Path) -> None:
        if self._signer is not None and path.exists():
            with told(f"{name} = {path}{SIGNATURE}"):
                write_bytes(Path(f"{path}{SIGNATURE}"), self._signer.signature(path))

    def _signatures(self) -> dict[str, Path]:
        if self._signer is None:
            return {}
        whole = self._files | self._stores
        return {f"the signature of {name}": Path(f"{path}{SIGNATURE}") for name, path in whole.items()}

    def _refuse_doubles(self, read: Mapping[str, Path]) -> None:
        """A DomainError where what is written is one file with something else that is written, read or run."""
        written = self._files | self._stores | self._signatures()
        aside = {
            f"the {end[1:]} of {name}": Path(f"{path}{end}") for name, path in self._stores.items() for end in _ASIDE
        }
        others, running = written | aside | dict(read), _running() if written else set()
        for name, path in written.items():
            if _is_special(path):
                continue
            for other, place in others.items():
                if other != name and not {name, other} <= set(self._stores) and _same(path, place):
                    raise DomainError(f"{name} = {path} is outside its domain: {other} is the same file")
            if str(_real(path)) in running:
                raise DomainError(f"{name} = {path} is outside its domain: it holds code that runs here")
            if any(_real(path).is_relative_to(folder) for folder in _DATA):
                raise DomainError(f"{name} = {path} is outside its domain: what is read here stands there")

    def _require(self, name: str, path: Path) -> None:
        """An OracleError unless a file can be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if name in self._stores and _is_special(path):
                raise OracleError(f"{name} = {path} cannot be written: it is no regular file")
            if _is_special(path):
                if not path.is_dir():
                    self._opened[name] = _open_special(path)
            elif _real(path).is_symlink():
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            elif path.exists():
                os.close(os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)))
            if path.is_dir():
                raise OracleError(f"{name} = {path} cannot be written: it is a folder")
            if not _is_special(path):
                with _beside(_real(path)) as (descriptor, _):
                    write_all(descriptor, bytes(_PROBED))
                    os.fsync(descriptor)
        except OSError as error:
            raise OracleError(f"{name} = {path} cannot be written: {error.strerror}") from None


def require_folder(name: str, path: Path) -> None:
    """Make a folder, or an OracleError unless files can be written there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with _beside(path / name) as (descriptor, _):
            write_all(descriptor, bytes(_PROBED))
    except OSError as error:
        raise OracleError(f"{name} = {path} cannot be written: {error.strerror}") from None


def write_bytes(path: Path, content: bytes) -> None:
    """Put a file in a place, whole or not at all; a folder that is missing is made, and a link is followed."""
    place = _real(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _beside(place) as (descriptor, partial):
            write_all(descriptor, content)
            with contextlib.suppress(FileNotFoundError, PermissionError):
                os.fchmod(descriptor, stat.S_IMODE(place.stat().st_mode))
            os.fsync(descriptor)
            os.replace(partial, place)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None


def append_bytes(path: Path, content: bytes) -> None:
    """Put bytes at the end of a file; where there is no room for all, it stays as it was."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            try:
                write_all(file.fileno(), content)
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None


def write_all(descriptor: int, content: bytes) -> None:
    """Write to an open file, however many calls that takes."""
    left = memoryview(content)
    while left := left[os.write(descriptor, left) :]:
        pass


_unwritten: list[str] = []  # what this command could not write, in words
_last: list[Callable[[], None]] = []  # what is to be done when it is done


def begin() -> None:
    """Forget an earlier command of this process; where an output was closed before it, what goes there goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process
    _unwritten.clear()
    _last.clear()


def end() -> bool:
    """Do what is left when a command is done; whether all that it wrote is written."""
    for step in _last:
        step()
    _last.clear()
    return not _unwritten


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Tell of a file that cannot be written, once, and go on."""
    try:
        yield
    except (OracleError, OSError) as error:
        lost(what, getattr(error, "strerror", None) or str(error).rpartition(": ")[2])


def lost(what: str, why: str) -> None:
    """Remember and tell, once, that something is not written; the command goes on, for its verdict is not lost."""
    if what not in _unwritten:
        _unwritten.append(what)
        complain(f"{what} could not be written: {why}; the verdict is told here only")


def complain(message: str, kind: str = "error") -> None:
    """One line on standard error, whatever a user's input brought into the message; nothing where none is."""
    opening.end()
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(f"{kind}: {printable(message)}", file=sys.stderr, flush=True)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _same(path: Path, other: Path) -> bool:
    if _real(path) == _real(other):
        return True
    with contextlib.suppress(OSError):
        return os.path.samefile(path, other)
    return False


def _is_special(path: Path) -> bool:
    """Whether a path is that of a pipe or a device, or of a descriptor, which is written to as it is."""
    if _DESCRIPTOR.fullmatch(str(path)):
        return True
    with contextlib.suppress(OSError):
        mode = path.stat().st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def _open_special(path: Path) -> int:
    """A descriptor that stays open, for whoever reads a pipe to its end; nobody there, or no room, is an OSError."""
    number = _DESCRIPTOR.fullmatch(str(path))
    if number is None:
        descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
        os.set_blocking(descriptor, True)
    else:  # the same place in the file as whoever else writes there
        descriptor = os.dup({"out": 1, "err": 2}.get(number[1]) or int(number[1]))
    os.write(descriptor, b"")  # a device that is full says so even of nothing
    return descriptor


@contextlib.contextmanager
def _beside(place: Path) -> Iterator[tuple[int, Path]]:
    """A new file beside a place, open to write; unless it was put there, it is gone afterwards."""
    partial = place.with_name(f".dp-oracle-{secrets.token_hex(8)}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        yield descriptor, partial
    finally:
        os.close(descriptor)
        partial.unlink(missing_ok=True)


def _signer(path: Path) -> Signer:
    from oracle.running.signing import Signer  # what it needs takes time to load, and few commands sign

    return Signer(path)


def _code(targets: Iterable[str | None], commands: Iterable[str | None]) -> dict[str, Path]:
    """The files of foreign code that there are; what is wrong with the rest is for whoever starts it to say."""
    from oracle.running.isolated import command_words, source_of  # as above, for those that run foreign code

    found: dict[str, Path] = {}
    for target in targets:
        if target is not None and ":" in target:
            with contextlib.suppress(OracleError):
                found[f"the target {target}"] = source_of(target).absolute()
    for command in commands:
        with contextlib.suppress(OracleError):
            words = [] if command is None else command_words(command)
            for word in words:
                place = shutil.which(word) if word is words[0] else word  # a program may stand elsewhere
                if place is not None and os.path.isfile(place):
                    found[f"the command's {word}"] = Path(place).absolute()
    return found


def _running() -> set[str]:
    """The files of all modules that are loaded."""
    files = (getattr(module, "__file__", None) for module in tuple(sys.modules.values()))
    return {os.path.realpath(file) for file in files if file}
