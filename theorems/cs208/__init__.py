"""Claims of document 004: the CS208 slides on machine learning under DP."""
