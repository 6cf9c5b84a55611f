r"""How far the ReLU surrogate gradient (max(0, <w, x>) - y) x moves when its record is replaced, at a given w.

For |x| <= r and |y| <= B, and with ^ for unit vectors, write x = s x^, c = max(0, <w^, x^>). The first part,
p = s^2 |w| c x^, lies in the ball whose diameter is the segment from 0 to r^2 w:

    |p|^2 - r^2 <w, p> = s^2 |w|^2 c^2 (s^2 - r^2) <= 0            (both terms vanish for c = 0).

So two first parts differ by at most r^2 |w|, and two second parts by at most 2rB:

    |g - g'| <= r (r |w| + 2B),

attained at x = r w^, y = -B against x' = -r w^, y' = -B. The triangle inequality alone would give 2r (r |w| + B).
"""

from __future__ import annotations

from typing import Any


def replaced(r: Any, weight_norm: Any, label_bound: Any) -> Any:
    """r (r |w| + 2B), for exact numbers or for arrays (three roundings)."""
    return r * (r * weight_norm + 2 * label_bound)
