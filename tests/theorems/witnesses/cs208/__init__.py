"""Witnesses against claims of document 004."""
