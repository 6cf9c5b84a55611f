"""DP-SGD on networks."""
