"""Worst-case pairs of neighbouring data sets: a file for each family of algorithms, a builder for each worst case."""
