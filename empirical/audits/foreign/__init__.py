"""Trainings of others: served by processes of their own, and what they release, read without executing anything."""
