"""Amplification by sampling, and sampled Gaussian releases."""
