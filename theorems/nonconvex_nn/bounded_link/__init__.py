"""Document 002, Sections 3 and 4.1.1: definitions, bounded links, phased SGD and its projected version."""
