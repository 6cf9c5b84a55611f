"""Audits: what is trained, on which data, and what the releases prove."""
