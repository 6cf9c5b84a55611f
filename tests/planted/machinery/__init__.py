"""Bugs in the machinery itself: engines, the gate, audits and campaigns; its own tests must see them."""
