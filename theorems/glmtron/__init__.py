"""Claims of document 003."""
