"""How far one record moves a sum of bounded terms, for bounds that hold under either relation.

A record that is replaced takes one term out and puts another in: a sum of vectors of norm at most L moves by 2L at
most. A record that is added or removed moves it by L, provided that what the sum is divided by, and every other part of
the mechanism, does not change with the number of records. A mean over the records that happen to be there moves by (g -
mean of the others) / n, which is 2L/n again: for such a mean take "replace", with n the larger number of records.
"""

from __future__ import annotations

from oracle.core import vocabulary

TERMS = {"replace": 2, "add_remove": 1}

NEIGHBOURS = vocabulary.neighbours
