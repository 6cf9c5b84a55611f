"""What private descent leaves of the loss on random gates, against the recursion step by step, and with less noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from empirical.studies.relu_approx.private_descent import dimension, least_loss
from empirical.studies.relu_approx.random_gates import drawn

Drawn = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def case(d: int, gates: int) -> Drawn:
    draw, features = drawn({"d": d}, 5, 0)
    return features, draw.standard_normal((d, gates)), draw.choice((-1.0, 1.0), size=len(features))


def test_the_loss_left_is_that_of_many_short_steps() -> None:
    features, gates, labels = case(3, 8)
    gated = np.concatenate([features * (features @ gate >= 0.0)[:, None] for gate in gates.T], axis=1)  # [n, d P]
    records, mu, steps = len(features), 4.0, 4000
    square = float((gated**2).sum(axis=1).mean())
    found = []
    for total in np.geomspace(1e-2, 10.0, 60) / (gated @ gated.T).trace() * records**2:
        rate = total / steps
        noise = 4.0 * square * steps / (records * mu) ** 2  # the variance of mu-GDP steps, two gradients 2C apart
        shrink = np.eye(records) - rate * gated @ gated.T / records
        mean, spread = -labels, np.zeros((records, records))
        power, size = shrink, rate**2 * noise * gated @ gated.T
        # 4000 steps by doubling: after 2^j steps the errors are power times what they were, plus noise of this size
        for bit in f"{steps:b}"[::-1]:
            if bit == "1":
                mean, spread = power @ mean, power @ spread @ power.T + size
            power, size = power @ power, power @ size @ power.T + size
        found.append((mean @ mean + np.trace(spread)) / records)
    assert abs(min(found) / least_loss(features, gates, labels, mu) - 1.0) < 0.02


def test_with_gradients_of_constant_length_it_would_fall() -> None:
    """With C = 1, as the theorem assumes, the same formula falls: that it does not is the data's doing."""
    left = []
    for d in (16, 64):
        features, gates, labels = case(d, 200)
        square = float(((features**2).sum(axis=1)[:, None] * (features @ gates >= 0.0)).sum(axis=1).mean())
        left.append(least_loss(features, gates, labels, mu=0.2 * square**0.5))
    assert left[1] < 0.6 * left[0]


def test_more_records_than_excess_are_needed() -> None:
    assert not dimension.premises[0].holds({"p": 4**9})
    assert not dimension.premises[0].holds({"p": 8})
