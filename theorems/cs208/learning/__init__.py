"""What document 004 says of machine learning itself: losses, convexity, descent, gradients, networks, risks."""
