"""Files that users give: read whole, but never without end, and every fault of one is an error of one line.

A pipe would hang and a device would never end, so only regular files are read, and none larger than it may be. What a
TOML or JSON file holds may be too deep or have too many digits for its reader; that is a fault of the file, too. An npz
file says how large its arrays are before they are expanded.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import stat
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from oracle.core.errors import DomainError, OracleError

TEXT = 16  # MB that a text may have
ARRAYS = 2048  # MB that the arrays of a file may have together, expanded
_MEGABYTE = 2**20
_DOTTED = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++\s*+\.\s*+){100}""")

Fault = type[OracleError]


def read_bytes(path: Path, *, name: str = "", megabytes: int = TEXT, fault: Fault = DomainError) -> bytes:
    """The bytes of a regular file of a bounded size; `name` is the parameter that the errors name."""
    called = f"{name} = {path}" if name else str(path)
    try:
        # Not to wait for whoever writes to a pipe; the file itself is asked, since its name may change hands.
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "a pipe, a device or a socket"
                raise fault(f"{called} cannot be read: it is {kind}, no regular file")
            # What it says of its size spares reading in vain; a file that grows, or of the system, may have more.
            known = facts.st_size <= megabytes * _MEGABYTE
            content = b"".join(_blocks(file, megabytes * _MEGABYTE)) if known else b""
    except OSError as error:
        raise fault(f"{called} cannot be read: {error.strerror}") from None
    except MemoryError:
        raise fault(f"{called} cannot be read: there is not enough memory") from None
    if not known or len(content) > megabytes * _MEGABYTE:
        raise fault(f"{called} is too large: it has more than {megabytes} MB")
    return content


def _blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """A file up to its end, or to a little more than a size; no memory is taken for what is not there."""
    while size >= 0 and (block := file.read(16 * _MEGABYTE)):
        size -= len(block)
        yield block


def read_text(path: Path, *, name: str = "", megabytes: int = TEXT, fault: Fault = DomainError) -> str:
    """The text of a file."""
    try:
        return read_bytes(path, name=name, megabytes=megabytes, fault=fault).decode()
    except UnicodeDecodeError as error:
        raise fault(f"{f'{name} = {path}' if name else path} is no text in UTF-8: {error.reason}") from None


def parse_toml(text: str, path: Path, *, name: str = "", parse_float: Callable[[str], Any] = str) -> dict[str, Any]:
    """What a TOML text says; decimals stay exact."""
    called = f"{name} = {path}" if name else str(path)
    if _DOTTED.search(text):  # Python's reader takes minutes for these
        raise DomainError(f"{called} is no TOML file that can be read: a key has a hundred parts")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise DomainError(f"{called} is no TOML file that can be read: it is nested too deeply") from None
    except ValueError as error:  # bad TOML, or an integer of thousands of digits
        raise DomainError(f"{called} is no TOML file: {error}") from None


def read_toml(path: Path, *, name: str = "", parse_float: Callable[[str], Any] = str) -> dict[str, Any]:
    """What a TOML file says; decimals stay exact."""
    return parse_toml(read_text(path, name=name), path, name=name, parse_float=parse_float)


def read_json(path: Path, *, megabytes: int = 256, fault: Fault = DomainError) -> Any:
    """What a JSON file says."""
    text = read_text(path, megabytes=megabytes, fault=fault)
    try:
        return json.loads(text)
    except RecursionError:
        raise fault(f"{path} is not JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise fault(f"{path} is not JSON: {error}") from None


def read_arrays(content: bytes, *, megabytes: int = ARRAYS) -> dict[str, NDArray[Any]]:
    """The arrays of an npz or npy file by name ("" for the one of npy), no pickle; a ValueError says what is wrong."""
    try:
        return _arrays(content, megabytes)
    except (ValueError, OSError, MemoryError):
        raise
    except Exception as error:  # what reads an archive or a header raises many kinds, which nothing lists
        raise ValueError(f"it is damaged ({type(error).__name__}: {error})") from None


def _arrays(content: bytes, megabytes: int) -> dict[str, NDArray[Any]]:
    if not zipfile.is_zipfile(io.BytesIO(content)):
        _check_size([(io.BytesIO(content), len(content))], megabytes)
        return {"": np.asarray(np.load(io.BytesIO(content), allow_pickle=False))}
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = [part for part in file.infolist() if part.filename.endswith(".npy")]
        _check_size([(io.BytesIO(_start(file, part)), part.file_size) for part in parts], megabytes)
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        return {str(key): np.asarray(data[key]) for key in data.files}


def _start(file: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    with file.open(part) as stream:
        return stream.read(65_536)  # a header is far shorter


def _check_size(parts: list[tuple[io.BytesIO, int]], megabytes: int) -> None:
    """A ValueError where arrays would take more memory than they may, by their headers or by their sizes."""
    total = 0
    for stream, size in parts:
        version = np.lib.format.read_magic(stream)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = reader(stream)
        total += max(size, math.prod(shape) * dtype.itemsize)
    if total > megabytes * _MEGABYTE:
        raise ValueError(f"its arrays have {total // _MEGABYTE} MB, more than the {megabytes} that they may have")
