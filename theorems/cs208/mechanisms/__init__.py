"""Mechanisms of document 004: Gaussian, exponential, perturbed objectives and outputs, subsample and aggregate."""
