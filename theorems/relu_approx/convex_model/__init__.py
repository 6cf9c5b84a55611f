"""Sections 3 and 4 of document 000 with Appendices A to D and G: the convex ReLU model, its smoothness and utility."""
