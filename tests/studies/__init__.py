"""Tests of the studies of utility rates."""
