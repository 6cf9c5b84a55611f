"""Wrong formulas for bounds, a file a family: what they certify, and their fast paths."""
