"""Conversions from Renyi and zero-concentrated DP."""
