"""What a stored result depends on, as one short text: the code that could change it, the data it reads, the libraries.

The code is the import closure of some modules inside our packages, comments and docstrings taken away (`source`): an
import counts wherever it stands, a package's `__init__` with everything in it. A module that is named in a string,
"module" or "module:function", is imported by somebody, so it counts, too. Three things are told more closely than by
module, for otherwise everything would depend on everything:

- a registry: `discover(Kind, "package")` loads a whole package. Whoever calls `bound("gaussian.epsilon")` depends on
  the module that declares this name; whoever asks for a name that is not a constant depends on all of the package,
  unless the caller of `fingerprint` tells which names this module may ask for;
- what a function at the top of a module loads, searches or reads is demanded by those who name the function, not by all
  who import its module;
- data files (what is no Python in the folder of a module that asks for its `__file__`, or in a package that is opened
  as a resource) are demanded like registries; files from elsewhere are given to `fingerprint`.

What cannot be told (an import of a computed name, `exec`) is everything we have, unless the line says `# told: WHY`.
Python's and the imported libraries' versions are part of it. All is read from the files, nothing is imported, and every
file is read once in the life of a process.
"""

from __future__ import annotations

import functools
import hashlib
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from oracle.core.errors import OracleError
from oracle.running.source import EVERYWHERE, Call, Name, References, Source, library

ROOMS = ("oracle", "empirical", "theorems", "reports")
PUBLIC = "dp_oracle"
DISCOVER = ("oracle.core.registry", "discover")
_DISTRIBUTIONS = {"flint": "python-flint", "sklearn": "scikit-learn", "yaml": "pyyaml"}
_NAMED = re.compile(rf"((?:{'|'.join(ROOMS)})(?:\.\w+)*)([:.{{%]\S*)?")

Part = tuple[str, str]
"""A module and the name of a function at its top, or "" for the rest of it."""
Registry = tuple[str, tuple[str, ...]]
"""The kind that is searched, and the packages."""


class Graph:
    """The modules of our packages below a folder, with what they refer to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, Path] = {}
        for room in ROOMS:
            for path in (root / room).rglob("*.py"):
                words = path.relative_to(root).with_suffix("").parts
                self.files[".".join(words[:-1] if words[-1] == "__init__" else words)] = path
        if (root / f"{PUBLIC}.py").exists():
            self.files[PUBLIC] = root / f"{PUBLIC}.py"
        self._sources: dict[str, Source] = {}
        self._data: dict[Path, str] = {}

    def source(self, module: str) -> Source:
        """A module's file, read."""
        if module not in self._sources:
            path = self.files[module]
            self._sources[module] = Source(
                module, path.read_text(encoding="utf-8"), package=path.name == "__init__.py"
            )
        return self._sources[module]

    def below(self, package: str) -> list[str]:
        """A module, and all that are below it; every module for the empty name."""
        return [name for name in self.files if not package or name == package or name.startswith(f"{package}.")]

    def data(self, package: str) -> Iterator[Path]:
        """The files below a package of ours that are no Python; those of all packages for `EVERYWHERE`.

        What lies beside somebody else's file is theirs, and what lies beside our packages is no data.
        """
        folders = [self.root / room for room in ROOMS if package == EVERYWHERE]
        if package.partition(".")[0] in ROOMS:
            folders.append(self.root.joinpath(*package.split(".")))
        for folder in folders:
            yield from (
                path for path in folder.rglob("*")
                if path.is_file() and path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
            )

    def content(self, path: Path) -> str:
        """The digest of a data file, read once."""
        if path not in self._data:
            self._data[path] = content(path)
        return self._data[path]

    def owner(self, dotted: str) -> str | None:
        """The longest beginning of a dotted name that is a module of ours."""
        while dotted and dotted not in self.files:
            dotted = dotted.rpartition(".")[0]
        return dotted or None

    def functions(self, name: Name, seen: frozenset[Name] = frozenset()) -> Iterator[Part]:
        """The functions at the top of our modules that a name may stand for; ("module", "*") for a bare module."""
        module = self.owner(".".join((name.place, *name.rest)))
        if module is None or name in seen:
            return
        rest = (*name.place.split("."), *name.rest)[len(module.split(".")):]
        source = self.source(module)
        if not rest or rest[0] in ("__dict__", "__path__", "__file__"):
            yield module, "*"
        elif rest[0] in source.functions:
            yield module, rest[0]
        else:
            seen |= {name}
            for known in source.bound.get(rest[0], ()):
                yield from self.functions(Name(known.place, (*known.rest, *rest[1:])), seen)
            for star in source.stars:
                yield from self.functions(Name(star, rest), seen)

    def registries(self, part: Part) -> set[Registry]:
        """The registries that a function searches as a whole."""
        return {
            (call.first, tuple(word for word in call.constants[1:] if word is not None))
            for call in self.source(part[0]).parts[part[1]].calls if self.discovers(call)
        }

    def discovers(self, call: Call) -> bool:
        """Whether a call is `discover(Kind, "package", ...)`, with packages that can be told."""
        return bool(call.first) and None not in call.constants[1:] and DISCOVER in self.functions(call.name)

    def declaring(self, registry: Registry, name: str) -> list[str]:
        """The modules that declare a name of a registry; all its modules where that cannot be told."""
        kind, packages = registry
        every = [module for package in packages for module in self.below(package)]
        there = [
            module for module in every
            if name in self.source(module).text and self.source(module).declares(kind, name)
        ]
        return there or every


class Closure:
    """All that some modules depend on, found by following references from them until there is nothing new."""

    def __init__(self, graph: Graph, roots: Iterable[str | Path], names: Mapping[str, Iterable[str]]) -> None:
        self._graph, self._names = graph, names
        self.modules: set[str] = set()
        self.libraries: set[str] = set()
        self.data: set[Path] = set()
        self.documents = False
        self._live: set[tuple[Part, str | None]] = set()
        self._waiting: list[tuple[Part, str | None]] = []
        self.files: dict[Path, Source] = {}
        for root in roots:
            if isinstance(root, Path):
                self._foreign(root)
            elif root.partition(":")[0] not in graph.files:
                raise OracleError(f"module = {root} is outside its domain: a module below {', '.join(ROOMS)}")
            elif ":" in root:
                module, _, name = root.partition(":")
                self._enter(module)
                self._call((module, name), None)
            else:
                self._whole(root)
        while self._waiting:
            self._follow(*self._waiting.pop())

    def _foreign(self, path: Path) -> None:
        """A file of somebody else, with the files beside it that it imports: what they take of ours."""
        if path in self.files:
            return
        try:
            source = Source(path.stem, path.read_text(encoding="utf-8"), package=False)
        except (OSError, SyntaxError, ValueError):
            self._take(References(unknown=True), path.stem)  # it may still run, in a way that we cannot read
            return
        self.files[path] = source
        for references in source.parts.values():
            self._take(references, path.stem)
        self._imports(source)
        for dotted in source.imported:
            beside = path.parent.joinpath(*dotted.split(".")) if self._graph.owner(dotted) is None else path
            for file in (beside.with_suffix(".py"), beside / "__init__.py"):
                if file.is_file():
                    self._foreign(file)

    def _enter(self, module: str) -> None:
        """Import a module: its packages, what runs then, and what is imported anywhere in it."""
        if module in self.modules:
            return
        self.modules.add(module)
        if "." in module:
            self._enter(module.rpartition(".")[0])
        source = self._graph.source(module)
        self._call((module, ""), None)
        self._imports(source)

    def _imports(self, source: Source) -> None:
        assert source.parts is not None  # reading them finds the modules that are loaded by constant names
        for dotted in source.imported:
            owner = self._graph.owner(dotted)
            if owner is not None:
                self._enter(owner)
            elif (name := library(dotted)) is not None and (dotted.partition(".")[0] not in ROOMS):
                self.libraries.add(name)
        for star in source.stars:
            for module in self._graph.below(star) if star in self._graph.files else ():
                self._whole(module)

    def _whole(self, module: str) -> None:
        """A module of which any function may be called."""
        self._enter(module)
        for name in self._graph.source(module).parts:
            self._call((module, name), None)

    def _call(self, part: Part, constant: str | None) -> None:
        if (part, constant) not in self._live:
            self._live.add((part, constant))
            self._waiting.append((part, constant))

    def _follow(self, part: Part, constant: str | None) -> None:
        module, name = part
        references = self._graph.source(module).parts[name]
        self._take(references, module)
        for table in references.arguments:
            self._search(table, constant, module)

    def _take(self, references: References, module: str) -> None:
        if references.unknown:
            for every in self._graph.below(""):
                self._whole(every)
        if references.own_package:
            for one in self._graph.below(module):
                self._whole(one)
        self.documents |= references.documents
        for package in references.data:
            self.data.update(self._graph.data(package))
        for text in references.strings:
            self._string(text)
        for name in references.names:
            self._reference(name, None, module)
        for table, word in references.searches:
            self._search(table, word, module)
        for call in references.calls:
            if self._graph.discovers(call):
                self._registry((call.first, tuple(filter(None, call.constants[1:]))), None)
            else:
                self._reference(call.name, call.constants[0], module)
                for word in filter(None, call.constants):
                    self._string(word)

    def _reference(self, name: Name, constant: str | None, asker: str) -> None:
        owner = self._graph.owner(".".join((name.place, *name.rest)))
        if owner is not None:
            self._enter(owner)
        for module, function in self._graph.functions(name):
            if function == "*":
                self._whole(module)
                for below in self._graph.below(module) if "__path__" in name.rest else ():
                    self._whole(below)
                if {"__file__", "__path__"} & set(name.rest):
                    self.data.update(self._graph.data(module))
            else:
                self._enter(module)
                self._ask((module, function), constant, asker)

    def _ask(self, part: Part, constant: str | None, asker: str) -> None:
        """A function that is named by a module: what it searches there may have been told."""
        direct = self._graph.registries(part)
        arguments = self._graph.source(part[0]).parts[part[1]].arguments
        tables = [table for name in arguments for table in self._graph.functions(name) if table[1] != "*"]
        searched = direct | {registry for table in tables for registry in self._graph.registries(table)}
        told = [self._names.get(f"{asker}:{kind}") for kind, _ in searched]
        if constant is not None or not told or None in told:
            self._call(part, constant if arguments else None)
            return
        for words in told:
            for word in words or ():
                for registry in direct:
                    self._registry(registry, word)
                if not direct:
                    self._call(part, word)

    def _search(self, table: Name, word: str | None, asker: str) -> None:
        """A name that is looked for in the registry which a function returns."""
        for part in self._graph.functions(table):
            registries = self._graph.registries(part) if part[1] != "*" else set()
            for registry in registries:
                self._registry(registry, word)
            if word is None or not registries:
                self._reference(Name(part[0], (part[1],)), None, asker)

    def _registry(self, registry: Registry, word: str | None) -> None:
        modules = [module for package in registry[1] for module in self._graph.below(package)]
        for module in modules if word is None else self._graph.declaring(registry, word):
            self._enter(module)

    def _string(self, text: str) -> None:
        """A string that is the name of a module, of something in one, or the beginning of such a name."""
        found = _NAMED.fullmatch(text)
        if found is None or "." not in text:
            return
        dotted, after = found.groups(default="")
        if after.startswith(("{", "%")):
            modules = self._graph.below(dotted.rpartition(".")[0])  # f"package.name_{x}"
        elif after.startswith(".") or (not after and dotted in self._graph.files):
            modules = self._graph.below(dotted)
        else:
            modules = [self._graph.owner(dotted) or dotted]
        for module in modules:
            if module in self._graph.files:
                self._whole(module)


def content(path: Path) -> str:
    """The digest of a data file as it is now."""
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError as error:
        raise OracleError(f"data = {path} cannot be read: {error.strerror}") from None


@functools.cache
def installed() -> Graph:
    """The modules of this installation."""
    return Graph(Path(__file__).resolve().parents[2])  # told: it reads everything, and computes no result


@functools.cache
def _version(name: str) -> str:
    try:
        return metadata.version(_DISTRIBUTIONS.get(name, name))
    except metadata.PackageNotFoundError:
        return "absent"


def fingerprint(
    *modules: str | Path, data: Iterable[Path] = (), names: Mapping[str, Iterable[str]] | None = None,
    graph: Graph | None = None,
) -> str:
    """32 hexadecimal digits of all that the results of some modules depend on.

    A module is "module", of which any function may be called, or "module:function", of which this one is; a `Path` is a
    file of somebody else's Python. `data` are files that are read besides. `names` tells
    of a module and a kind of registered things ("empirical.audits.targets:Algorithm") for which names it may ask where
    no constant in it says so.
    """
    given = [f"given {path.name} {content(path)}" for path in data]  # files of others may change while we live
    told = tuple(sorted((kind, tuple(sorted(words))) for kind, words in (names or {}).items()))
    lines = (_lines.__wrapped__ if any(isinstance(item, Path) for item in modules) else _lines)(
        installed() if graph is None else graph, modules, told
    )
    return hashlib.blake2b("\n".join((*lines, *given)).encode(), digest_size=16).hexdigest()


@functools.lru_cache(maxsize=4096)
def _lines(
    graph: Graph, modules: tuple[str | Path, ...], names: tuple[tuple[str, tuple[str, ...]], ...]
) -> tuple[str, ...]:
    closure = Closure(graph, modules, dict(names))
    sources = {name: graph.source(name) for name in closure.modules}
    sources |= {f"{name.name} {source.digest}": source for name, source in closure.files.items()}
    code = [
        f"code {name} {hashlib.blake2b(source.text.encode()).hexdigest() if closure.documents else source.digest}"
        for name, source in sorted(sources.items())
    ]
    data = sorted(f"data {path.relative_to(graph.root).as_posix()} {graph.content(path)}" for path in closure.data)
    libraries = [f"library {name} {_version(name)}" for name in sorted(closure.libraries)]
    return (f"python {platform.python_version()}", *libraries, *code, *data)
