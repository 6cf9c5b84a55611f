"""Studies of 003, private ReLU regression by GLMtron."""
