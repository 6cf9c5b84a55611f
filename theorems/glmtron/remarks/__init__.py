"""Claims of document 003, remarks and prose about what its theorems mean."""
