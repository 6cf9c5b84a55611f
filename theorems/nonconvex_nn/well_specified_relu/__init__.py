"""Claims of document 002, Section 4.1.3: the ReLU link in the well-specified model."""
