"""One or many Gaussian releases."""
