"""Stochastic block coordinate descent (document 001)."""
