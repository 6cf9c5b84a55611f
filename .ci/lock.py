"""Write the exact versions that pip's own resolver chose, as constraints: `python .ci/lock.py REPORT FILE`.

REPORT is what `pip install --dry-run --report` wrote. No address, path or local build goes into FILE, and no hash:
those of one platform's wheels would refuse all others.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

HEAD = "# Exact versions, chosen by pip for Python {} from the ranges of pyproject.toml: `nox -s lock` makes this.\n"


def locked(report):
    """The lines of the lock: every distribution but our own."""
    found = (item["metadata"] for item in report["install"])
    return sorted(
        f"{item['name'].lower()}=={item['version'].partition('+')[0]}" for item in found if item["name"] != "dp-oracle"
    )


if __name__ == "__main__":
    report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    head = HEAD.format(report["environment"]["python_version"])
    text = head + "\n".join(locked(report)) + "\n"
    Path(sys.argv[2]).write_text(text, encoding="utf-8")
    print(f"{text.count('==')} versions in {sys.argv[2]} (pip {version('pip')})")
