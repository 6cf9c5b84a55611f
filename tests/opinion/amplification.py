"""Second opinions on amplification by subsampling: the mixtures written out, group privacy by iterating one step."""

from __future__ import annotations

from mpmath import mp, mpf

from tests.opinion import Numbers, Value


def amplified(epsilon: mpf, rate: mpf) -> mpf:
    """log(1 - q + q e^epsilon), with digits to spare for a small q or a small epsilon."""
    if epsilon == 0 or rate == 0:
        return mpf(0)
    with mp.extradps(30 + max(0, int(-mp.log10(rate))) + max(0, int(-mp.log10(epsilon)))):
        result = mp.log(1 - rate + rate * mp.exp(epsilon))
    return +result


def group_delta(places: int, odds: mpf, delta: mpf) -> mpf:
    """The largest P(S) - odds Q(S) over chains of that many steps: a concave function, tried at all its corners.

    One step takes Q(S) = s to at most min(1, delta + odds s, 1 - (1 - delta - s)/odds). The corners are the s whose
    orbit meets the corner of one step, (1-delta)/(1+odds), and s = 0.
    """
    corner = (1 - delta) / (1 + odds)
    starts = [mpf(0)]
    for _ in range(places):
        if corner < 0:
            break
        starts.append(corner)
        corner = (corner - delta) / odds
    best = mpf(0)
    for start in starts:
        s = start
        for _ in range(places):
            s = min(mpf(1), delta + odds * s, 1 - (1 - delta - s) / odds)
        best = max(best, s - odds * start)
    return best


def with_replacement_epsilon(v: Numbers) -> mpf:
    """m changes of one draw each (chain), or one change of the mixture's part that saw the record."""
    n, m, epsilon = v["dataset_size"], v["draws"], v["base_epsilon"]
    if v["method"] == "chain":
        return m * amplified(epsilon, 1 / n)
    with mp.extradps(20 + int(mp.log10(n)) + 1):
        rate = 1 - (1 - 1 / n) ** m
    return amplified(epsilon, rate)


def with_replacement_delta(v: Numbers) -> mpf:
    """The chain's geometric sum, term by term; or the mixture of the group deltas over all numbers of copies."""
    n, m, epsilon, delta = v["dataset_size"], int(v["draws"]), v["base_epsilon"], v["base_delta"]
    with mp.extradps(40 + int(mp.log10(n)) + 1):
        if v["method"] == "chain":
            one = 1 + (mp.exp(epsilon) - 1) / n
            result = delta / n * mp.fsum(one**i for i in range(m))
        else:
            result, odds = mpf(0), mp.exp(epsilon)
            for k in range(1, m + 1):
                law = mp.binomial(m, k) * (1 / n) ** k * (1 - 1 / n) ** (m - k)
                result += law * group_delta(k, odds, delta)
                if result > 0 and k > 5 * m / n + 5 and law < result * mpf(10) ** (-mp.dps):
                    break
    return min(mpf(1), +result)


OPINIONS = {
    "amplification.poisson": Value(lambda v: amplified(v["base_epsilon"], v["sampling_rate"])),
    "amplification.poisson-delta": Value(lambda v: v["sampling_rate"] * v["base_delta"]),
    "amplification.wor": Value(lambda v: amplified(v["base_epsilon"], v["batch_size"] / v["dataset_size"])),
    "amplification.wor-delta": Value(lambda v: v["batch_size"] / v["dataset_size"] * v["base_delta"]),
    "amplification.with-replacement": Value(with_replacement_epsilon),
    "amplification.with-replacement-delta": Value(with_replacement_delta),
}
