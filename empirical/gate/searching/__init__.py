"""Looking beyond the vectors: the screen, what it compares answers with, and the holes that are planted to try it."""
