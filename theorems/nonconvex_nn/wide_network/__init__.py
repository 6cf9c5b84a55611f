"""The machinery of the multi-layer part of document 002: the network, its linearisation, Lemmas 18 to 27."""
