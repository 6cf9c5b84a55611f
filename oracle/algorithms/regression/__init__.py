"""ReLU regression by projected and by batched descent (document 002)."""
