"""Witnesses against document 002, again."""
