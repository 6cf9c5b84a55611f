"""Claims of 001 on its figures, tables and experiments, and what its prose says of them."""
