"""Planted bugs as data: `mutant` says what one is, `changes` and `tapes` how it is planted, `checks` what must see it.

Every `Mutant` in a tuple MUTANTS of a module here is run by `dp-oracle mutants`; the tests add those of their own.
"""
