"""The tests; they mirror the four packages, and `meta` plants errors that the checks must catch."""
