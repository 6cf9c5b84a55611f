"""Write the exact versions that pip's own resolver chose, as constraints: `python .ci/lock.py REPORT FILE HASHED`.

REPORT is what `pip install --dry-run --report` wrote. No address, path or local build goes into FILE, and no hash:
those of one platform's wheels would refuse all others. HASHED has the same versions with the sha256 of what pip chose.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

HEAD = """\
# Exact versions, chosen by pip for Python {python} from the ranges of pyproject.toml: `nox -s lock` makes this.
"""
HASHED = """\
# The versions of {name} with the sha256 of what pip chose for {implementation} {python} on {system} {machine}, of torch
# its CPU build: `nox -s lock` makes this. pip checks no hash of a folder, so that it takes two steps:
# pip install --require-hashes -r requirements/hashed/{name}, then pip install --no-deps --no-build-isolation -e .
"""


def locked(report):
    """The lines of the lock, with and without hashes: every distribution but our own."""
    plain, hashed = [], []
    for item in report["install"]:
        name, number = item["metadata"]["name"].lower(), item["metadata"]["version"].partition("+")[0]
        if name != "dp-oracle":
            plain.append(f"{name}=={number}")
            hashed.append(f"{plain[-1]} --hash=sha256:{item['download_info']['archive_info']['hashes']['sha256']}")
    return sorted(plain), sorted(hashed)


if __name__ == "__main__":
    report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    where = report["environment"]
    told = {
        "name": Path(sys.argv[2]).name, "python": where["python_version"], "system": where["platform_system"],
        "implementation": where["platform_python_implementation"], "machine": where["platform_machine"],
    }
    for place, head, lines in zip(sys.argv[2:], (HEAD, HASHED), locked(report), strict=True):
        Path(place).parent.mkdir(exist_ok=True)
        Path(place).write_text(head.format(**told) + "\n".join(lines) + "\n", encoding="utf-8")
        print(f"{len(lines)} versions in {place} (pip {version('pip')})")
