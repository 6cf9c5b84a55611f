"""Pairs on which false privacy claims show; `empirical.falsehoods` says of each why it is admissible."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from empirical.pairs.generic import replaced, unit
from empirical.pairs.pair import Builder, Pair
from oracle.core.algorithm import Values
from oracle.core.domain import Parameter, positive, positive_integer, unit_interval


def _zeroed(name: str, config: Values, parameters: Values) -> Pair:
    records, dimension = parameters.records, parameters.dimension
    canary = float(parameters.feature_norm) * unit(dimension)
    pair = replaced(
        np.zeros((records - 1, dimension)), np.zeros(records - 1), (0.0 * canary, canary),
        (float(parameters.label), float(parameters.label)), records - 1,
    )
    return replace(pair, direction=unit(dimension))


zeroed_record = Builder(
    name="zeroed-record",
    summary="the last record is zero on data set 0 and as long as may be on data set 1; the rest is zero",
    algorithms=(),
    parameters=(
        positive_integer("records"), positive_integer("dimension"), positive("feature_norm"), Parameter("label"),
    ),
    defaults=lambda name, config: {},
    build=_zeroed,
)


def _amplified(name: str, config: Values, parameters: Values) -> Pair:
    others = parameters.records - 1
    labels = np.full(others, float(parameters.amplifier))
    ends = (-float(parameters.label), float(parameters.label))
    return replaced(np.zeros((others, 1)), labels, (np.ones(1), np.ones(1)), ends, 0)


amplified_record = Builder(
    name="amplified-record",
    summary="the first record is (1, label) or (1, -label), and all others, which come later, are (0, amplifier)",
    algorithms=(),
    parameters=(positive_integer("records"), positive("label"), positive("amplifier")),
    defaults=lambda name, config: {},
    build=_amplified,
)


def _on_the_bar(name: str, config: Values, parameters: Values) -> Pair:
    """Labels 1 and 2; the canary is the last record of label 1 that the bar does not allow."""
    ones, records = parameters.ones, parameters.records
    labels = np.where(np.arange(records - 1) < ones - 1, 1.0, 2.0)
    zero = np.zeros(1)
    return replaced(np.zeros((records - 1, 1)), labels, (zero, zero), (1.0, 2.0), ones - 1)


on_the_bar = Builder(
    name="on-the-bar",
    summary="all features are zero; so many labels are 1, on data set 1 one less, and the others are 2",
    algorithms=(),
    parameters=(positive_integer("records"), positive_integer("ones", "labels 1 on data set 0")),
    defaults=lambda name, config: {},
    build=_on_the_bar,
)


def _one_value(name: str, config: Values, parameters: Values) -> Pair:
    return replaced(np.zeros((0, 1)), np.zeros(0), (np.zeros(1), np.array([float(parameters.value)])), (0.0, 0.0), 0)


one_value = Builder(
    name="one-value",
    summary="a single record, which is 0 or the value",
    algorithms=(),
    parameters=(positive("value"),),
    defaults=lambda name, config: {},
    build=_one_value,
)


def _overshooting(name: str, config: Values, parameters: Values) -> Pair:
    size, batches = parameters.batch_size, parameters.batches
    features = np.zeros((batches * size, 2))
    turned = np.array([np.sqrt(1.0 - float(parameters.sine) ** 2), float(parameters.sine)])
    features[:size] = float(parameters.erase) * unit(2)
    features[size : 3 * size] = float(parameters.amplify) * unit(2)
    features[3 * size : 4 * size] = float(parameters.copy) * turned
    label = float(parameters.label)
    return replaced(features[1:], np.zeros(batches * size - 1), (unit(2), unit(2)), (-label, label), 0)


overshooting_records = Builder(
    name="overshooting-records",
    summary="a batch with the canary that forgets along e_1, two that expand along e_1, one that copies to e_2, zeros",
    algorithms=(),
    parameters=(
        positive_integer("batch_size"), Parameter("batches", kind="integer", low=Fraction(4)),
        unit_interval("erase", "length of the records of the first batch"), unit_interval("amplify", "of the next two"),
        unit_interval("copy", "of the fourth"), unit_interval("sine", "of the angle between the fourth's and e_1"),
        positive("label", "of the canary, which is e_1, up to its sign"),
    ),
    defaults=lambda name, config: {},
    build=_overshooting,
)


def _echoed(name: str, config: Values, parameters: Values) -> Pair:
    echoes = parameters.records // 2 - 1
    features = np.zeros((parameters.records - 1, echoes + 1))
    lean = float(parameters.lean)
    features[:echoes, 0] = -lean
    features[:echoes, 1:] = np.sqrt(1.0 - lean**2) * np.eye(echoes)
    canary = unit(echoes + 1)
    pair = replaced(features, np.zeros(parameters.records - 1), (canary, canary), (-1.0, 1.0), 0)
    return replace(pair, direction=np.arange(echoes, -1.0, -1.0))


echoed_record = Builder(
    name="echoed-record",
    summary="the first record moves w along e_1; the others of its half answer to that, each along an axis of its own",
    algorithms=("phased-sgd",),
    parameters=(
        Parameter("records", kind="integer", low=Fraction(4)),
        unit_interval("lean", "the part of an answering record that is along -e_1"),
    ),
    defaults=lambda name, config: {},
    build=_echoed,
    special=True,
)
