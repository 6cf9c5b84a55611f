"""Two-layer networks through the multinomial kernel (document 002)."""
