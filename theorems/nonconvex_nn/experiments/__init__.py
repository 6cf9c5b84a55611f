"""Document 002, Section 6.1: what the text says of its figures, and what it says of networks elsewhere."""
