"""The algorithms of document 003, exactly as printed."""
