"""Where the dp-oracle command starts: modules take a second or two to load, and Ctrl-C is no failure then either."""

from __future__ import annotations

import sys

INTERRUPTED = 130  # as shells report it; `oracle.core.console` has it, too, but is one of the modules that take time


def main() -> None:
    """Load the command and run it."""
    try:
        from reports.cli import main as command
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    command()


if __name__ == "__main__":
    main()
