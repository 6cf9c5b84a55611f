"""Claims of 001 on its network and updates: sub-problems, gradients, proximal maps, normalisation."""
