"""The benchmarks that `nox -s bench` runs."""
