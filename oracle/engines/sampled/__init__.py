"""Sampled Gaussian steps: moments, small noise, the smoothed contour, and plain bounds."""
