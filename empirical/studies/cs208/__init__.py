"""Studies of 004, the CS208 slides on machine learning under differential privacy."""
