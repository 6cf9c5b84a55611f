"""Sections 1 and 2 of document 000 with Appendices F and J: definitions, accounting, NoisyCGD, shuffling."""
