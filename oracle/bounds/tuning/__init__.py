"""Choosing the best of a random number of runs."""
