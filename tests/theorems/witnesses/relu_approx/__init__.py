"""Witnesses against claims of document 000."""
