"""What may be proved of each algorithm's training: one recipe a file, read by `dp-oracle plan`."""
