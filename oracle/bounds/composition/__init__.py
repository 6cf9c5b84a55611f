"""Composition of mechanisms that are known by their epsilon and delta."""
