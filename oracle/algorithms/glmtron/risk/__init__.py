"""The excess risk of DP-GLMtron on Gaussian features, in closed form and by its chain (document 003)."""
