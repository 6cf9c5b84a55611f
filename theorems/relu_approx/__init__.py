"""Claims of document 000: hidden-state DP with convex ReLU approximations and NoisyCGD."""
