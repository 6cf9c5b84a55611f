"""Planted bugs of real libraries; every `Mutant` at the top of a module here is registered."""
