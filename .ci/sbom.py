"""Write the software bill of materials of what is installed, CycloneDX 1.5: `python .ci/sbom.py NAME FILE`.

It holds the distribution NAME, all that it needs, directly or not, in this environment, with all of its extras that are
installed, and who needs what. The same environment gives the same bytes.
"""

import json
import re
import sys
from importlib import metadata
from pathlib import Path


def canonical(name):
    """A distribution's name as package URLs have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(name):
    """A distribution, or None where it is not installed."""
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


def needs(distribution):
    """The installed distributions that one may need: those of extras that are not installed are left out."""
    words = (re.match(r"[\w.-]+", item) for item in distribution.requires or ())
    names = {canonical(word[0]) for word in words if word}
    return sorted(name for name in names - {canonical(distribution.name)} if installed(name) is not None)


def component(name):
    """A distribution as CycloneDX says it."""
    found = metadata.distribution(name)
    said = found.metadata.get("License-Expression") or found.metadata.get("License") or ""
    told = {"licenses": [{"license": {"name": said}}]} if said and "\n" not in said else {}
    return {"type": "library", "bom-ref": ref(name), "name": name, "version": found.version, "purl": ref(name)} | told


def ref(name):
    """The package URL of an installed distribution."""
    return f"pkg:pypi/{name}@{metadata.version(name)}"


def bill(name):
    """The whole bill."""
    found, left = {}, [canonical(name)]
    while left:
        one = left.pop()
        if one not in found:
            found[one] = needs(metadata.distribution(one))
            left += found[one]
    names = sorted(found)
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": component(canonical(name)) | {"type": "application"}},
        "components": [component(one) for one in names if one != canonical(name)],
        "dependencies": [{"ref": ref(one), "dependsOn": [ref(other) for other in found[one]]} for one in names],
    }


if __name__ == "__main__":
    made = bill(sys.argv[1])
    Path(sys.argv[2]).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    print(f"{len(made['components'])} components in {sys.argv[2]}")
