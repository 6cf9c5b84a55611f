"""Iterations of which only the last iterate is seen."""
