"""Mechanisms with finitely many answers."""
