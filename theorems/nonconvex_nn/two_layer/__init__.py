"""Claims of document 002, Section 5: two-layer networks by feature maps, Algorithm 9, Theorems 8, 10 and 11."""
