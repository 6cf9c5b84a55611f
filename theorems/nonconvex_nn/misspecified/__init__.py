"""Claims of document 002, Section 4.2: ReLU regression without a model (Assumption 2, Algorithm 8, Theorem 7)."""
