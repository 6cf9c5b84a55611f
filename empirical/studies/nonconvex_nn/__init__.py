"""Studies of 002, non-convex learning with GLMs and networks."""
