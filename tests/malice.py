"""A value whose pickle, once loaded, leaves a trace: whoever reads foreign files must never leave one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


class Malice:
    """A pickle of this would make a folder of that name."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.made),)
