"""Convex approximations of ReLU networks (document 000)."""
