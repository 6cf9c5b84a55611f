"""Claims of 001 on what its training reveals: the accounting, its recursion and closed form, blocks and mixtures."""
