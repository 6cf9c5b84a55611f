"""Amplification by shuffling."""
