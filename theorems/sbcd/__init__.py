"""Claims of document 001: block coordinate descent under the hidden state assumption."""
