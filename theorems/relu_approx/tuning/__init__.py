"""Section 5 of document 000 with Section 6.1: the privacy of tuning, and its base epsilons."""
