"""Section 6 of document 000 with Appendices E, H and I: figures, tables, and what the theory covers of them."""
