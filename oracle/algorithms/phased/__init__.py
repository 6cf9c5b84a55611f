"""Phased SGD for generalised linear models (document 002)."""
