"""Tests of the tests: planted errors that the checks must catch."""
