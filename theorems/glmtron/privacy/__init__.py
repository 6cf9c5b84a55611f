"""Privacy in document 003: steps, shuffling, thresholds and the tree."""
