"""Witnesses against document 003, again."""
