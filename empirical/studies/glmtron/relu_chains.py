r"""Second moments of the two private passes of 003 on Gaussian features: a lower and an upper chain, and exact ones.

Setting: x ~ N(0, diag(lambda)), y = relu(<w*,x>) + z, E z = 0, E z^2 = sigma^2, no vector clipped, d_t = w_t - w*. For
two scores a, b, averaged over x and -x, (relu(a) - relu(b))^2 is (a - b)^2/2 if they have one sign and (a^2 + b^2)/2,
at least (a - b)^2/4, if not; and (relu(a) - relu(b)) x is on average (a - b) x/2. Hence

    E[step | d] = lambda d/2,   E[(step)^2 | d] is c (2 lambda^2 d^2 + S lambda) + sigma^2 lambda,   S = sum lambda d^2,

coordinate by coordinate with some c between 1/4 and 1/2, in the order of matrices; all that follows is linear in these
with weights >= 0, so that c = 1/4 and c = 1/2 give a lower and an upper chain. L(w) - L(w*) = E(relu(a) - relu(b))^2/2
lies between 1/8 and 1/4 times |w - w*|_H^2. At w* = 0 one of the scores is 0: c = 1/2 and 1/4 are then exact, and the
upper chain is the risk itself.

The shuffled pass (Algorithm 1). Noise of variance s^2 at every step, q = 1 - eta lambda/2, k = 1 - eta lambda +
2 c eta^2 lambda^2; the mean of w_0, ..., w_{N-1} is judged:

    a_{t+1} = k a_t + c eta^2 lambda S_t + eta^2 (sigma^2 lambda + s^2),   a_0 = w*^2,
    N^2 E|mean - w*|_H^2 = sum_t sum_i lambda_i a_{t,i} (1 + 2 (q_i + ... + q_i^{N-t-1})).

It is walked backwards: lambda_i r_{n,i} is what an a_i of 1 with n steps to come adds in the end, so that r_n = k
r_{n-1} + W_n + sum_j c eta^2 lambda_j^2 r_{n-1,j} with W_n = q W_{n-1} + 1 + q, W_1 = 1; that is one vector, not two.

The tree (Algorithms 3 and 4). Answer t (from 0) drops, of its live nodes, those of levels j < b, b the number of zeros
at the end of t + 1 in binary, and adds one of level b; noise s each. The node of level j was added 2^j answers before.
Given all noise, the mean of d_t is u_{t+1} = q u_t - eta (change of the noise), so that U_t = E u_t^2 is

    U_{t+1} = q^2 U_t + eta^2 s^2 (1 + b - 2 sum_{j<b} q^{2^j}),   U_0 = 0,

plus q^{2t} w*^2 from the start. What is left, e_t = d_t - E[d_t | noise], is a sum of martingale differences:

    V_{t+1} = q^2 V_t + eta^2 (c (2 lambda^2 A_t + S_t lambda) - lambda^2 A_t/4 + sigma^2 lambda),   A = U + V, V_0 = 0.

The mean of w_1, ..., w_N is judged. Its mean given the noise weighs answer t by -eta q^{N-1-t}/N, and a node of level j
is in 2^j answers: for N a power of two, over all nodes,

    E|sum_t u_t|^2 = eta^2 s^2 (1 + q^2 (1 - q^{2N}) sum_{j < lg N} ((1 - q^{2^j})/(1 - q))^2 / (1 - q^{2^{j+2}})).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirical.studies.study import Array

LOWER, UPPER = 0.25, 0.5
"""The two values of c."""
_CHAINS = np.array([[LOWER], [UPPER]])
_SHARES = np.array([1 / 8, 1 / 4])  # of |w - w*|_H^2 that the risk is at least and at most


@dataclass(frozen=True)
class Pass:
    """A pass over N records: eigenvalues, w*, step size, and the deviations of label noise and of private noise."""

    spectrum: Array
    target: Array
    records: int
    rate: float
    label: float
    noise: float

    @property
    def trace(self) -> float:
        """tr(H)."""
        return float(self.spectrum.sum())

    @property
    def trivial(self) -> float:
        """The risk of w = 0 above that of w*: a quarter of |w*|_H^2."""
        return float(self.spectrum @ self.target**2) / 4


def shuffled_sandwich(run: Pass) -> tuple[float, float]:
    """A lower and an upper bound on the expected excess risk of the shuffled pass."""
    spectrum, eta = run.spectrum, run.rate
    q = 1 - eta * spectrum / 2
    kept = 1 - eta * spectrum + 2 * _CHAINS * (eta * spectrum) ** 2
    fed, fresh = eta**2 * spectrum**2, eta**2 * spectrum * (run.label**2 * spectrum + run.noise**2)
    both = np.stack([fed, fresh], axis=1)
    weight, rise = np.zeros_like(q) - 1.0, 1 + q
    left, total = np.zeros_like(kept), np.zeros(2)
    share = _CHAINS[:, 0]
    gained = np.zeros((2, 2))
    for _ in range(run.records):
        weight *= q
        weight += rise
        left *= kept
        left += (share * gained[:, 0])[:, None]
        left += weight
        gained = left @ both
        total += gained[:, 1]
    total += left @ (spectrum * run.target**2) - gained[:, 1]  # noise of the last step reaches no iterate that counts
    low, high = _SHARES * total / run.records**2
    return float(low), float(high)


def tree_sandwich(run: Pass) -> tuple[float, float]:
    """The same of the tree; the number of records must be a power of two."""
    spectrum, eta, size = run.spectrum, run.rate, run.records
    q = 1 - eta * spectrum / 2
    levels = _levels(size)
    fresh = [
        (eta * run.noise) ** 2 * (1 + b - 2 * sum((q ** (2**j) for j in range(b)), np.zeros_like(q)))
        for b in range(levels + 1)
    ]
    fed, label = eta**2 * _CHAINS * spectrum, eta**2 * run.label**2 * spectrum
    own = (eta * spectrum) ** 2 * (2 * _CHAINS - 0.25)
    start, noisy = run.target**2, np.zeros_like(q)
    rest, past = np.zeros((2, len(q))), np.zeros((2, len(q)))
    total = np.zeros((2, len(q)))
    square = q * q
    for t in range(size):
        known = start + noisy
        energy = (rest + known) @ spectrum
        new = (square + own) * rest + own * known + fed * energy[:, None] + label
        past = q * (past + rest)
        rest, start = new, square * start
        noisy = square * noisy + fresh[((t + 1) & -(t + 1)).bit_length() - 1]
        total += rest + 2 * past
    begun = run.target * q * (1 - q**size) / (1 - q)
    linear = (eta * run.noise) ** 2 * node_weights(q, levels) + begun**2
    low, high = _SHARES * ((total + linear) @ spectrum) / size**2
    return float(low), float(high)


def node_weights(q: Any, levels: int) -> Any:
    """E|sum_t u_t|^2 over (eta s)^2, for 2^levels answers; q a number, a ball or an array."""
    total, power = 0 * q, q
    for _ in range(levels):
        total = total + (1 - power) ** 2 / (1 - power**4)
        power = power**2
    return 1 + q**2 * (1 - power**2) * total / (1 - q) ** 2


def _levels(records: int) -> int:
    if records & (records - 1):
        raise ValueError(f"{records} records are no power of two")
    return records.bit_length() - 1


def effective(run: Pass, power: int) -> float:
    """D_eff (power 0) or D_pri (power 1) of 003: sum min(1, (N eta lambda)^2)/lambda^power."""
    return float((np.minimum(1.0, (run.records * run.rate * run.spectrum) ** 2) / run.spectrum**power).sum())
