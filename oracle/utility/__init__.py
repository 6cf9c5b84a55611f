"""Utility: what the private algorithms lose in accuracy, as bounds with explicit constants."""
