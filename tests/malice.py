"""What a foreign file may carry: compressed arrays, and a value whose pickle leaves a trace once it is loaded."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np


class Malice:
    """A pickle of this would make a folder of that name."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.made),)


def saved(**arrays: Any) -> bytes:
    """A compressed npz file of these arrays."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()
