"""Noise on the minimiser or on the objective."""
