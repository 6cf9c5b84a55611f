"""The oracles of `moreau` for many scores at once: all brackets are halved together, all descents take a step together.

Algorithm 4 runs here on the offset v = u - m, so that nothing is lost where m is much longer than B/beta.
"""

from __future__ import annotations

from fractions import Fraction

import torch

from oracle.algorithms.phased import moreau
from oracle.algorithms.shared import torch_links
from oracle.core.algorithm import Values


def bisection(config: Values, scores: torch.Tensor, label: float, error: Fraction) -> torch.Tensor:
    """The envelope's derivatives at the scores of records with one label."""
    bound, beta = float(config.label_bound), float(config.envelope_smoothness)
    middle, half = torch.zeros_like(scores), bound
    for _ in range(moreau.halvings(config.label_bound, error)):
        rises = torch_links.value(config.link, scores - middle / beta, bound) - label > middle
        middle = torch.where(rises, middle + half, middle - half)
        half /= 2
    return middle


def subgradient(config: Values, scores: torch.Tensor, label: float, error: Fraction) -> torch.Tensor:
    """The same by Algorithm 4."""
    bound, beta = float(config.label_bound), float(config.envelope_smoothness)
    reach, count = 4 * bound / beta, moreau.steps(config.label_bound, error)
    offset, weighted = torch.zeros_like(scores), torch.zeros_like(scores)
    for t in range(1, count + 1):
        weighted = weighted + t * offset
        pull = (torch_links.value(config.link, scores + offset, bound) - label) / beta + offset
        offset = (offset - pull * (2 / (t + 1))).clamp(-reach, reach)
    return weighted * (-2 * beta / (count * (count + 1)))


def derivative(config: Values, scores: torch.Tensor, label: float, longest: int) -> torch.Tensor:
    """The envelope's derivatives by the chosen oracle."""
    oracle = bisection if config.gradient_oracle == "bisection" else subgradient
    return oracle(config, scores, label, config.oracle_error / longest)
