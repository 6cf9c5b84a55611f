"""One file of Python, read and not run: what it imports, what else its functions refer to, and a digest of its code.

A module is cut into parts: every plain function at its top, and the rest (named ""), which runs when it is imported and
where its classes stand. Of a part `References` tells what is not an import: functions and modules that it names,
modules named in strings, registries that it searches, and whether it reads data or loads what nobody can tell
beforehand.

A line with a comment `# told: WHY` says that what is loaded or read there is told otherwise: in a string "module" or
"module:function" where it is asked for, or to `fingerprint` itself.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

LOADERS = frozenset({
    "importlib.import_module", "importlib.__import__", "importlib.reload", "builtins.__import__", "builtins.exec",
    "builtins.eval", "pkgutil.resolve_name", "importlib.util.spec_from_file_location",
    "importlib.util.module_from_spec", "runpy.run_module", "runpy.run_path", "importlib", "importlib.util", "runpy",
    "builtins", "pkgutil",
})
"""What may load any module; the names of whole libraries stand for one that is handed on."""
READERS = ("importlib.resources", "importlib_resources", "pkgutil.get_data")
LISTED = ("functools.cache", "functools.lru_cache", "contextlib.contextmanager")
"""Decorators that call a function no sooner than somebody who names it does."""
EVERYWHERE = "*"
"""In place of a package: the data files of all of them."""
_DOCUMENTED = ("inspect.getdoc", "inspect.getsource", "inspect.getsourcelines", "inspect.cleandoc", "ast.get_docstring")
_TOLD = re.compile(r"#\s*told:")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTS = (ast.Module, ast.ClassDef, *_FUNCTIONS)


@dataclass(frozen=True)
class Name:
    """What a dotted name in a file stands for: a place (a module, or something in it) and the rest of the dots."""

    place: str
    rest: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A name that is called with these strings; None where an argument is something else."""

    name: Name
    constants: tuple[str | None, ...]
    first: str
    """The last word of the first argument, where that is a name."""


@dataclass
class References:
    """What a part of a module refers to, names not yet resolved."""

    names: set[Name] = field(default_factory=set)
    calls: set[Call] = field(default_factory=set)
    searches: set[tuple[Name, str]] = field(default_factory=set)
    arguments: set[Name] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    data: set[str] = field(default_factory=set)
    """Packages whose data files may be read."""
    unknown: bool = False
    documents: bool = False
    own_package: bool = False


class Source:
    """A file of Python as the module of that name."""

    def __init__(self, module: str, text: str, *, package: bool) -> None:
        self.module, self.text, self.package = module, text, package
        self.tree = ast.parse(text)
        _strip(self.tree)
        self.told = _told_lines(text) if _TOLD.search(text) else frozenset()
        self.bound: dict[str, set[Name]] = defaultdict(set)
        self.imported: set[str] = set()
        """Dotted names of modules, or of something in a module, that are imported anywhere in the file."""
        self.stars: set[str] = set()
        self.beyond = False
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node)
        plain = [
            node for node in self.tree.body
            if isinstance(node, _FUNCTIONS) and all(self._listed(item) for item in node.decorator_list)
        ]
        names = [node.name for node in plain]
        self.functions = {node.name: node for node in plain if names.count(node.name) == 1}

    @cached_property
    def digest(self) -> str:
        """BLAKE2b of the code without comments, docstrings and layout."""
        return hashlib.blake2b(ast.dump(self.tree).encode(), digest_size=16).hexdigest()

    @cached_property
    def climbs(self) -> bool:
        """Whether it may look for files above its own folder."""
        return any(
            isinstance(node, ast.Attribute) and (
                node.attr in ("parents", "dirname")
                or (node.attr == "parent" and isinstance(node.value, ast.Attribute))
            )
            for node in ast.walk(self.tree)
        )

    @property
    def home(self) -> str:
        """The package that relative imports start from."""
        return self.module if self.package else self.module.rpartition(".")[0]

    @cached_property
    def parts(self) -> dict[str, References]:
        """The references of every part."""
        chosen = set(self.functions.values())
        found = {"": _Reader(self, None)}
        for node in self.tree.body:
            if node not in chosen:
                found[""].visit(node)
        for name, function in self.functions.items():
            for outside in (*function.decorator_list, *function.args.defaults, *function.args.kw_defaults):
                if outside is not None:
                    found[""].visit(outside)
            found[name] = _Reader(self, function)
            for inside in (function.args, *function.body):
                found[name].visit(inside)
        return {name: reader.found for name, reader in found.items()}

    def names(self, node: ast.AST) -> Iterator[Name]:
        """What a name, or a chain of attributes of a name, may stand for."""
        rest: list[str] = []
        while isinstance(node, ast.Attribute):
            rest, node = [node.attr, *rest], node.value
        if not isinstance(node, ast.Name):
            return
        for known in self.bound.get(node.id, ()):
            yield Name(known.place, (*known.rest, *rest))
        if node.id in self.functions:
            yield Name(self.module, (node.id, *rest))
        elif node.id not in self.bound:
            yield from (Name(star, (node.id, *rest)) for star in self.stars)
            if hasattr(builtins, node.id):
                yield Name("builtins", (node.id, *rest))

    def assigned(self, name: str, kind: str) -> bool:
        """Whether a name of this file is a thing of that kind, or is made by what mentions the kind."""
        if name == kind:
            return True
        for node in self.tree.body:
            targets = [node.name] if isinstance(node, _FUNCTIONS) else [
                target.id for target in getattr(node, "targets", ()) if isinstance(target, ast.Name)
            ]
            if name in targets:
                return any(isinstance(child, ast.Name) and child.id == kind for child in ast.walk(node))
        return False

    def declares(self, kind: str, name: str) -> bool:
        """Whether a thing of that kind and name is made at the top of the file, where a registry finds it."""
        return any(
            isinstance(node.func, ast.Name) and self.assigned(node.func.id, kind) and any(
                isinstance(value, ast.Constant) and value.value == name
                for value in (*node.args[:1], *(item.value for item in node.keywords if item.arg in ("name", "id")))
            )
            for node in _calls_at_the_top(self.tree)
        )

    def _listed(self, decorator: ast.AST) -> bool:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        return any(_dotted(name) in LISTED for name in self.names(called))

    def _import(self, node: ast.Import) -> None:
        for item in node.names:
            self.imported.add(item.name)
            if item.asname is not None:
                self.bound[item.asname].add(Name(item.name, ()))
            else:
                top = item.name.partition(".")[0]
                self.bound[top].add(Name(top, ()))

    def _import_from(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            above = self.home.split(".")
            if node.level > len(above):
                self.beyond = True
                return
            base = ".".join([*above[: len(above) - node.level + 1], *([base] if base else [])])
        self.imported.add(base)
        for item in node.names:
            if item.name == "*":
                self.stars.add(base)
            else:
                self.imported.add(f"{base}.{item.name}")
                self.bound[item.asname or item.name].add(Name(base, (item.name,)))


class _Reader(ast.NodeVisitor):
    """Collects the references of one part."""

    def __init__(self, source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef | None) -> None:
        self.source = source
        self.found = References(unknown=source.beyond)
        arguments = [] if function is None else [*function.args.posonlyargs, *function.args.args]
        kept = function is not None and bool(arguments) and not any(
            isinstance(node, ast.Name) and node.id == arguments[0].arg and not isinstance(node.ctx, ast.Load)
            for node in ast.walk(function)
        )
        self.argument = arguments[0].arg if kept else None

    def visit_Name(self, node: ast.Name) -> None:
        if node.lineno in self.source.told or not isinstance(node.ctx, ast.Load):
            return
        if node.id == "__file__":
            self.found.data.add(EVERYWHERE if self.source.climbs else self.source.home)
        self.found.documents |= node.id == "__doc__"
        self.found.own_package |= node.id == "__path__" or (node.id == "__name__" and self.source.package)
        self._named(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.lineno in self.source.told:
            return
        self.found.documents |= node.attr == "__doc__"
        if not self._named(node):
            self.generic_visit(node)

    def _named(self, node: ast.Name | ast.Attribute) -> bool:
        names = set(self.source.names(node))
        self.found.names |= {name for name in names if name.place != "builtins" or _dotted(name) in LOADERS}
        self.found.unknown |= any(_dotted(name) in LOADERS for name in names)
        if any(_dotted(name).startswith(READERS) for name in names):
            self.found.data.add(EVERYWHERE)
        self.found.documents |= any(_dotted(name) in _DOCUMENTED for name in names)
        return bool(names)

    def visit_Call(self, node: ast.Call) -> None:
        names = set(self.source.names(node.func))
        constants = tuple(_text(item) for item in node.args)
        if node.lineno in self.source.told:
            self._visit_all(node.args, node.keywords)
        elif any(_dotted(name) in ("importlib.import_module", "builtins.__import__") for name in names):
            self._load(node, constants)
        elif self._searched(node, names):
            self._visit_all(node.args[1:], node.keywords)
        elif any(_dotted(name).startswith(READERS) for name in names) and constants and constants[0] is not None:
            self.found.data.add(constants[0])
        elif names and constants:
            start = node.args[0]
            first = start.attr if isinstance(start, ast.Attribute) else start.id if isinstance(start, ast.Name) else ""
            self.found.calls |= {Call(name, constants, first) for name in names}
            self._flags(node.func)
            self._visit_all([item for item in node.args if _text(item) is None], node.keywords)
        else:
            self.generic_visit(node)

    def _flags(self, node: ast.AST) -> None:
        """What a called name says of data, documents and loaders, though the call itself is told apart."""
        before = set(self.found.names)
        self.visit(node)
        self.found.names = before

    def _searched(self, node: ast.Call, names: set[Name]) -> bool:
        """`named(table(), "what", name)`, where the name is the function's own first argument."""
        if not any(name.rest[-1:] == ("named",) for name in names) or len(node.args) != 3 or node.keywords:
            return False
        table, _, asked = node.args
        if not (isinstance(table, ast.Call) and not table.args and not table.keywords):
            return False
        if not (isinstance(asked, ast.Name) and asked.id == self.argument):
            return False
        self.found.arguments |= set(self.source.names(table.func))
        self.found.names |= names
        return True

    def visit_Subscript(self, node: ast.Subscript) -> None:
        word, table = _text(node.slice), node.value
        if word is not None and isinstance(table, ast.Call) and not table.args and not table.keywords:
            self.found.searches |= {(name, word) for name in self.source.names(table.func)}
            self._flags(table.func)
        else:
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node.lineno not in self.source.told:
            self.found.strings.add(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        start = _text(node.values[0]) if node.values else None
        if start is not None and node.lineno not in self.source.told:
            self.found.strings.add(start + "{}")
        self._visit_all([value for value in node.values if not isinstance(value, ast.Constant)], [])

    def _load(self, node: ast.Call, constants: tuple[str | None, ...]) -> None:
        """import_module of a constant; anything else could be any module."""
        name = constants[0] if constants else None
        homes = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        if name is not None and name.startswith("."):
            dots = len(name) - len(name.lstrip("."))
            home = self._home(homes[0]).split(".") if len(homes) == 1 else []
            above = home[: len(home) - dots + 1] if 0 < dots <= len(home) and home[0] else []
            name = ".".join([*above, name.lstrip(".")]) if above else None
        if name is None:
            self.found.unknown = True
        else:
            self.source.imported.add(name)
        self._visit_all(node.args, node.keywords)

    def _home(self, node: ast.AST) -> str:
        if isinstance(node, ast.Name) and node.id == "__package__":
            return self.source.home
        if isinstance(node, ast.Name) and node.id == "__name__" and self.source.package:
            return self.source.module
        return _text(node) or ""

    def _visit_all(self, items: list[ast.expr], keywords: list[ast.keyword]) -> None:
        for item in (*items, *keywords):
            self.visit(item)


def _calls_at_the_top(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that happen when a file is imported."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            if isinstance(node, ast.Call):
                yield node
            yield from _calls_at_the_top(node)


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _dotted(name: Name) -> str:
    return ".".join((name.place, *name.rest))


def _strip(tree: ast.Module) -> None:
    """Take the docstrings away, and every other string that only stands there."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, _DOCUMENTS) and isinstance(body, list):
            kept = [item for item in body if not (isinstance(item, ast.Expr) and _text(item.value) is not None)]
            node.body = kept or [ast.Pass()]


def _told_lines(text: str) -> frozenset[int]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return frozenset(item.start[0] for item in tokens if item.type == tokenize.COMMENT and _TOLD.match(item.string))


def library(dotted: str) -> str | None:
    """The library of a module that is not ours; None for one of the standard library."""
    top = dotted.partition(".")[0]
    return None if not top or top in sys.stdlib_module_names else top
