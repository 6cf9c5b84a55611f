"""Training a random number of times and releasing the best."""
