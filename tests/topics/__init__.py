"""What the generic tests need to know of a family of bounds, one file a family; every file here is found by itself.

A file may export OPINIONS (second opinions, written without oracle code), which mean what the table of the same name in
`opinions` means, which gathers them. Where the parameters are drawn, and how a bound moves in them, is said in
`empirical.gate.ranges`.
"""

from __future__ import annotations

from typing import Any

from empirical.gate import ranges


def gathered(table: str, package: str = __name__, files: str = "") -> dict[Any, Any]:
    """The tables of that name of all files of a package (whose name begins so), as one; a key twice is an error."""
    return ranges.gathered(table, package, files)
