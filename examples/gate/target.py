"""An accountant behind a pipe, in Python: it reads questions and answers them, a JSON object a line.

    dp-oracle gate --cmd "python examples/gate/target.py" --bound laplace.delta

delta of one Laplace release is 1 - exp((epsilon - sensitivity/scale)/2), or 0 where that is negative. Every rounding
goes up: a delta may be a little too large, never too small.
"""

import json
import math
import sys

UNIT = 2.0**-53  # how far, relatively, one operation of float64 may be off


def delta(scale, sensitivity, epsilon):
    """The delta, rounded up; a ValueError outside the domain."""
    values = (scale, sensitivity, epsilon)
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values):
        raise ValueError("a parameter is no number")  # NaN and infinities come as strings, as JSON has neither
    if not (scale > 0 and sensitivity > 0 and epsilon >= 0):
        raise ValueError("scale > 0, sensitivity > 0 and epsilon >= 0 are needed")
    ratio = sensitivity / scale
    gap = (ratio - epsilon) + 4 * UNIT * (ratio + epsilon)
    return min(1.0, -math.expm1(-gap / 2) * (1 + 8 * UNIT)) if gap > 0 else 0.0


for line in sys.stdin:
    question = json.loads(line)
    try:
        answer = {"value": delta(**question["input"])}
    except ValueError as error:
        answer = {"refused": str(error)}
    print(json.dumps({"id": question["id"], **answer}), flush=True)
