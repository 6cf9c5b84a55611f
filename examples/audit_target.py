"""A training function to audit: the clipped mean of the features, plus Gaussian noise.

    dp-oracle audit examples/audit_target.py:train --epsilon 1 --delta 1e-5 --records 20 --dimension 2
    dp-oracle audit examples/audit_target.py:train_many --batched --epsilon 1 --delta 1e-5 --records 20 --dimension 2

With 20 records of norm at most 1, replacing one moves the mean by at most 0.1, so that noise of standard deviation 0.1
is one Gaussian release of mu = 1: epsilon is 4.377 at delta = 1e-5, and a claim of 1 is a violation.
"""

import numpy as np

NOISE_STD = 0.1


def clipped_mean(features):
    """The mean of the records, each scaled down to norm 1 where it is longer."""
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    return (features / np.maximum(norms, 1.0)).mean(axis=0)


def train(dataset, seed):
    """One noisy mean; every random draw comes from the seed."""
    features, _labels = dataset
    return clipped_mean(features) + NOISE_STD * np.random.default_rng(seed).normal(size=features.shape[1])


def train_many(dataset, seeds):
    """The noisy means of many seeds at once, which is several times as fast."""
    features, _labels = dataset
    noise = np.random.default_rng(seeds).normal(size=(len(seeds), features.shape[1]))
    return clipped_mean(features) + NOISE_STD * noise
