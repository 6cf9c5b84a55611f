"""Compositions of Laplace releases: steps, exact sums, splines, and their float64 versions."""
