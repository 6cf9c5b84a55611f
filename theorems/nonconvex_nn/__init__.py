"""Claims of document 002: DP non-convex GLMs, two-layer and multi-layer networks."""
