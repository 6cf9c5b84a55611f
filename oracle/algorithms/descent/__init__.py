"""Gradient descent, full-batch and on Poisson batches."""
