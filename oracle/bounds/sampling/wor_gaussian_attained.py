r"""What Gaussian noise on batches without replacement certainly costs: one pair of data sets, computed exactly.

All records are -C e but one, which is C e or, on the neighbouring data, -C e. With the names of `wor_gaussian`, a batch
of m records has the sum -m C e, or 2C e more if it holds that record, with probability gamma = m/n: in units of the
noise the release is (1 - gamma) N(0, 1) + gamma N(b, 1) against N(0, 1), b = 2/sigma. That is the pair of a
Poisson-sampled Gaussian step of noise multiplier sigma/2 and rate gamma when a record is added or removed, and batches
are independent: k steps have exactly the divergence, and exactly the curve, of k such steps. No guarantee for all data
sets lies below either. (The dominating pair of `wor_gaussian` joins the worst parts of both directions; no data set
attains its divergence.)
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from oracle.bounds.sampling import poisson_gaussian, poisson_gaussian_rdp
from oracle.core.algorithm import Values
from oracle.core.arithmetic import enclose
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import PrecisionError


def _pair(values: Values) -> dict[str, object]:
    return {
        "sigma": values.sigma / 2, "sampling_rate": values.sampling_rate, "steps": values.steps,
        "neighbours": "add_remove",
    }


def divergence(values: Values, width: Fraction) -> Enclosure:
    """The Renyi divergence of that pair, of the worse direction; a lower bound of it in closed form, if it is refused.

    The mixture is at least gamma N(b, 1), so its moment is at least gamma^alpha e^{alpha (alpha-1) b^2/2}.
    """
    try:
        return poisson_gaussian_rdp.rdp.certify(Values(**_pair(values), alpha=values.alpha), width)
    except PrecisionError:
        return enclose(lambda: _of_one_part(values), width=width)


def _of_one_part(values: Values) -> arb:
    alpha, square = ball(values.alpha), ball(4 / values.sigma**2)
    single = alpha * square / 2 + ball(values.sampling_rate).log() * alpha / ball(values.alpha - 1)
    result: arb = (values.steps * single).max(arb(0))
    return result


def cost(values: Values, width: Fraction) -> Enclosure:
    """The least epsilon for that pair at delta, as narrow as a fixed amount of work makes it: any lower end will do."""
    return poisson_gaussian.epsilon.at({**_pair(values), "delta": values.delta})
