"""The utility of DP-TAGLMtron (document 003): Lemmas E.2 to E.8, Theorem 5.2, Remarks 7 and 8, and what is true."""
