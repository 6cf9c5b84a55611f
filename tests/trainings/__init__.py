"""Random data and configurations for every training algorithm, one file a family; every file here is found by itself.

A file exports SAMPLES: the name of an algorithm -> a function of a random generator that gives (features, labels,
configuration): small, of any shape, with clipping active and every branch of the algorithm reached now and then. It may
export SINGLE: the name -> the largest relative error of float32 against float64, where 1e-3 does not suit.
"""
