"""The registered bounds on privacy that belong to no algorithm, by topic."""
