"""Hypothesis for every test: reproducible (derandomised) and without a clock."""

from hypothesis import settings

settings.register_profile("dp-oracle", deadline=None, derandomize=True, max_examples=60, print_blob=True)
settings.load_profile("dp-oracle")
