"""How scores become a lower confidence bound."""
