"""How work is run: processes, stores, fingerprints of code, and what commands print."""
