"""Noisy gradient methods whose guarantee is for the last iterate."""
