"""Utility of DP-GLMtron in document 003: Sections 3 and 4, Appendices C and D.2."""
