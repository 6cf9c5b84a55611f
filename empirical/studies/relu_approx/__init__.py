"""Studies of 000, the convex approximation of ReLU networks."""
