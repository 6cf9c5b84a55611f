"""The false privacy claims, a file for each document, and the literal variants that they are about."""
