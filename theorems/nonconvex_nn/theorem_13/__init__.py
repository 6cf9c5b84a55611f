"""Document 002, Section 6: Algorithm 10, Theorem 13 and its remarks."""
