"""Witnesses against claims of document 001."""
