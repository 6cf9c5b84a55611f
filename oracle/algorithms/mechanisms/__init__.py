"""The exponential mechanism, subsample and aggregate, sufficient statistics."""
