"""Sources that are no claims yet: one list, which may only shrink, of what bounds and algorithms still wait for."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources


@functools.cache
def pending() -> dict[str, str]:
    """What each source that is no claim yet will say, and where, by its id, from `theorems/pending.toml`."""
    text = resources.files("theorems").joinpath("pending.toml").read_text(encoding="utf-8")
    return {str(name): str(words) for name, words in tomllib.loads(text).items()}
