"""Correlated noise: trees."""
