"""What papers claim: every claim as an executable object with a verdict."""
