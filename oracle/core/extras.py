"""The extras of an installation: which library comes with which, and the one line that says what is absent.

`pip install dp-oracle` brings bounds, plan, gate, vectors, the pytest plugin and audits of foreign targets. The rest
imports a library of an extra where it needs it: at the borders (the command, `dp_oracle`, a training) such a failed
import becomes a `MissingExtraError` by `told`, and what costs much before it gets there asks first by `require`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from oracle.core.errors import MissingExtraError

EXTRAS = {
    "training": ("torch", "cryptography"),
    "theory": ("sympy",),
    "report": ("jinja2", "latex2mathml", "matplotlib"),
    "cluster": ("distributed", "dask"),
}
"""What each extra of pyproject.toml brings, by the names that are imported."""
RUNNERS = ("pytest",)
"""What runs our code, and is installed by itself."""


def missing(error: BaseException) -> MissingExtraError | None:
    """What a failed import means for a user, if it is one of a library of an extra."""
    if isinstance(error, MissingExtraError):
        return error
    library = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    for extra, libraries in EXTRAS.items():
        if library in libraries:
            return _lacking("this", library, f"dp-oracle[{extra}]")
    return _lacking("this", library, library) if library in RUNNERS else None


@contextmanager
def told() -> Iterator[None]:
    """Say of an absent library of an extra which one brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        known = missing(error)
        if known is None:
            raise
        raise known from None


def require(*extras: str, what: str) -> None:
    """Tell what is absent before minutes of work, or a page that cannot be written."""
    for extra in extras:
        for library in EXTRAS[extra]:
            if importlib.util.find_spec(library) is None:
                raise _lacking(what, library, f"dp-oracle[{extra}]")


def _lacking(what: str, library: str, brought_by: str) -> MissingExtraError:
    return MissingExtraError(f"{what} needs {library}: pip install '{brought_by}'", name=library)
