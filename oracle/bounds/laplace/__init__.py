"""One or many Laplace releases."""
