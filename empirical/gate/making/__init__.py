"""How the test vectors are made and kept sound."""
