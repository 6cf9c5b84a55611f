"""Tests of the oracle package."""
