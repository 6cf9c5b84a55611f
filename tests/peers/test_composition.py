"""Real peer libraries judged on composed mechanisms against the certified epsilon (run by `nox -s gate`).

The problems are those of the benchmark. An answer below the certified lower end is unsound. Each known one is a strict
expected failure with the exact call and the figure seen (dp-accounting 0.6.0, prv-accountant 0.2.0, Opacus 1.6.0 and
autodp 0.2.3.1): this session says when a library mends it. At a tiny delta the rounding of a library's Fourier
transform decides the sign and the size of its error; only calls that were too low in two environments are kept.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dp_accounting
import pytest
from autodp import mechanism_zoo, transformer_zoo
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import RdpAccountant
from opacus.accountants import GaussianAccountant, PRVAccountant, RDPAccountant
from opacus.accountants.analysis.rdp import compute_rdp
from prv_accountant import PoissonSubsampledGaussianMechanism

from oracle import bound

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from accountants import PEERS, PROBLEMS, NotOfferedError

unsound = functools.partial(pytest.mark.xfail, strict=True, raises=AssertionError)

ROUNDING_DECIDES = {("dpa PLD", "P5 1e-12"), ("dpa PLD", "P5 1e-15"), ("Opacus PRV", "P5 1e-12")}
REFUSED = {
    **{("dpa RDP", f"P4 s={s}"): dp_accounting.UnsupportedEventError for s in (1, 5, 15)},
    ("prv", "P5 1e-15"): ValueError, ("Opacus PRV", "P5 1e-15"): ValueError, ("prv", "P6"): RuntimeError,
}
LOOSE = {("autodp", "P6"): 6.3}  # times the truth; other answers are at most twice the truth


def offers(library: str, name: str) -> bool:
    try:
        PEERS[library](PROBLEMS[name])
    except NotOfferedError:
        return False
    return True


ASKED = [
    case for case in ((library, name) for name in PROBLEMS if name != "P1" for library in PEERS)
    if case not in ROUNDING_DECIDES and offers(*case)
]


@pytest.mark.parametrize(("library", "name"), [case for case in ASKED if case not in REFUSED])
def test_a_composition_is_not_under_reported(library: str, name: str) -> None:
    lower, upper = bound(PROBLEMS[name].bound).at(PROBLEMS[name].values).to_floats()
    told = PEERS[library](PROBLEMS[name])()[1]
    assert told >= lower, f"{library} says {told}, certified epsilon >= {lower}"
    most = LOOSE.get((library, name), 2) * upper
    assert told <= most, f"{library} says {told}, more than {most}, certified {upper}"


@pytest.mark.parametrize(("library", "name"), list(REFUSED))
def test_a_refusal_is_an_error_and_no_epsilon(library: str, name: str) -> None:
    call = PEERS[library](PROBLEMS[name])
    with pytest.raises(REFUSED[library, name]):
        call()


def certified_lower(sigma: Any, rate: Any, steps: int, delta: str) -> float:
    values = {"sigma": sigma, "sampling_rate": rate, "steps": steps, "delta": delta, "neighbours": "add_remove"}
    return bound("poisson-gaussian.epsilon").at(values).to_floats()[0]


def dpa_pld(interval: float, steps: int, delta: float) -> float:
    one = pld.from_gaussian_mechanism(1.0, sampling_prob=0.01, value_discretization_interval=interval)
    return float(one.self_compose(steps).get_epsilon_for_delta(delta))


def opacus(kind: Any, sigma: float, rate: float, steps: float, delta: float) -> float:
    accountant = kind()
    accountant.history = [(sigma, rate, steps)]
    return float(accountant.get_epsilon(delta))


@unsound(reason="dp-accounting: the pessimistic PLD under-reports at tiny delta (-1.6e-3 to -.09)")
@pytest.mark.parametrize(
    ("interval", "steps", "delta"),
    [(1e-4, 100, "1e-12"), (1e-4, 100, "1e-13"), (1e-4, 100, "1e-14"), (1e-3, 1000, "1e-12")],
)
def test_dpa_pld_at_tiny_delta(interval: float, steps: int, delta: str) -> None:
    assert dpa_pld(interval, steps, float(delta)) >= certified_lower("1", "0.01", steps, delta)


@unsound(reason="dp-accounting: a negative RDP near order 1 is read as epsilon 0 (truth 0.1028)")
def test_dpa_rdp_near_order_one() -> None:
    accountant = RdpAccountant([1 + 1e-10])
    accountant.compose(dp_accounting.PoissonSampledDpEvent(0.001, dp_accounting.GaussianDpEvent(30.0)), 10**6)
    assert accountant.get_epsilon(1e-5) >= certified_lower(30, "0.001", 10**6, "1e-5")


@unsound(reason="Opacus: PRV under-reports at tiny delta (-.02 to -.08 and -.07 to -.1)")
@pytest.mark.parametrize(("steps", "delta"), [(1000, "1e-13"), (100, "1e-14")])
def test_opacus_prv_at_tiny_delta(steps: int, delta: str) -> None:
    assert opacus(PRVAccountant, 1.0, 0.01, steps, float(delta)) >= certified_lower("1", "0.01", steps, delta)


@unsound(reason="Opacus: PRV says -0.68 (100 steps) and -0.67 (1000 steps) at delta = 0.5")
@pytest.mark.parametrize("steps", [100, 1000])
def test_opacus_prv_is_never_negative(steps: int) -> None:
    assert opacus(PRVAccountant, 1.0, 0.01, steps, 0.5) >= certified_lower("1", "0.01", steps, "0.5")


@unsound(reason="Opacus: GDP is a limit theorem, as it warns (-4.7e-4, -.0049, -.088, -.21, -1.1, -1.6, -3.1)")
@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [
        ("15", "1/60", 24000, "1e-5"), ("5", "1/60", 24000, "1e-5"), ("1", "1/60", 24000, "1e-5"),
        ("1", "1/100", 1000, "1e-5"), ("1", "1/100", 1000, "1e-12"), ("1", "1/100", 1000, "1e-15"),
        ("0.5", "1/1000", 5000, "1e-6"),
    ],
)
def test_opacus_gdp(sigma: str, rate: str, steps: int, delta: str) -> None:
    told = opacus(GaussianAccountant, float(sigma), 1 / int(rate.split("/")[1]), steps, float(delta))
    assert told >= certified_lower(sigma, rate, steps, delta)


def composed_by_fourier(step: Any, steps: int, delta: float) -> float:
    return float(transformer_zoo.ComposeAFA()([step], [steps]).get_approxDP(delta))


@unsound(reason="autodp: ComposeAFA says -0.0048 (truth 4.38, 5.19, 4.22)")
@pytest.mark.parametrize("name", ["P1", "P2", "P7"])
def test_autodp_fourier(name: str) -> None:
    problem = PROBLEMS[name]
    if "scale" in problem.values:
        step = mechanism_zoo.LaplaceMechanism(problem.number("scale"), phi_off=False)
    else:
        step = mechanism_zoo.GaussianMechanism(problem.number("sigma"), phi_off=False)
    told = composed_by_fourier(step, problem.steps, problem.number("delta"))
    assert told >= bound(problem.bound).at(problem.values).to_floats()[0]


@unsound(reason="RDP at order 1.1 for q = 1e-6, sigma = 1: 2.3 % too low")
@pytest.mark.parametrize(
    "rdp",
    [
        pytest.param(lambda: compute_rdp(q=1e-6, noise_multiplier=1.0, steps=1, orders=[1.1])[0], id="Opacus"),
        pytest.param(lambda: PoissonSubsampledGaussianMechanism(1e-6, 1.0).rdp(1.1), id="prv-accountant"),
    ],
)
def test_rdp_of_rare_sampling(rdp: Callable[[], Any]) -> None:
    values = {"sigma": 1, "sampling_rate": "1e-6", "steps": 1, "alpha": "1.1", "neighbours": "add_remove"}
    assert float(rdp()) >= bound("poisson-gaussian.rdp").at(values).to_floats()[0]


def dpa_rdp_of(sigma: float) -> float:
    accountant = RdpAccountant()
    accountant.compose(dp_accounting.GaussianDpEvent(sigma))
    return float(accountant.get_epsilon(1e-5))


ACCEPTED_NONSENSE: dict[str, Callable[[], Any]] = {
    "dp-accounting RDP, sigma = nan: 0": lambda: dpa_rdp_of(math.nan),
    "dp-accounting PLD, delta = 2: 0": lambda: pld.from_gaussian_mechanism(1.0).get_epsilon_for_delta(2),
    "Opacus PRV, 2.5 steps: -4.33": lambda: opacus(PRVAccountant, 1.0, 0.01, 2.5, 1e-5),
    "Opacus RDP, -5 steps: -134": lambda: opacus(RDPAccountant, 1.0, 0.01, -5, 1e-5),
    "Opacus RDP, delta = 1: -3.26": lambda: opacus(RDPAccountant, 1.0, 0.01, 1000, 1.0),
    "autodp, -5 steps: 0": lambda: transformer_zoo.Composition()(
        [mechanism_zoo.GaussianMechanism(1.0)], [-5]
    ).get_approxDP(1e-5),
}


@pytest.mark.xfail(strict=True, reason="accepts input that means nothing", raises=pytest.fail.Exception)
@pytest.mark.parametrize("what", ACCEPTED_NONSENSE)
def test_nonsense_is_refused(what: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        ACCEPTED_NONSENSE[what]()
