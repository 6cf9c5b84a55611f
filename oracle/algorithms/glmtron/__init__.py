"""GLMtron, DP-GLMtron, DP-TAGLMtron and DP-Threshold (document 003)."""
