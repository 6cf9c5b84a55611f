"""Claims of document 002, Section 4.1.2: links without a subgradient, and the Moreau envelope."""
