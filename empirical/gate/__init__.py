"""Judging other implementations against the certified bounds: vectors, verdicts, targets, search and adapters."""
