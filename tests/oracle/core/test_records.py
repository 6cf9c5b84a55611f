"""What every training makes of its data: no finite record shows by an infinity, and no input ends in a raw error.

The guarantee of a training holds for all data that it takes. So a record at the edge of float32 or float64 may be
refused for a bound that the configuration declares, by looking at that record alone and before anything is trained;
else all releases are finite, the reference and its twin agree, and the record moves a clipped sum as any other does.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from oracle.core import records, registry
from oracle.core.algorithm import Algorithm, Values
from oracle.core.errors import DomainError, OracleError
from oracle.core.tape import Tape
from tests.edge_records import FEW, SIZES, edged
from tests.tiers import named
from tests.topics import gathered
from tests.ways import WAYS, has_guarantee, trained

pytestmark = pytest.mark.full

SAMPLES = gathered("SAMPLES", "tests.trainings")
ALGORITHMS = [item for item in registry.algorithms().values() if item.can_train]
every_algorithm = pytest.mark.parametrize("item", ALGORITHMS, ids=lambda item: item.name)
CLIPPED = {
    "dp-gd", "dp-sgd", "dp-sgd-network", "dp-sgd-multilayer", "dp-glmtron", "glm-dp-sgd", "dp-taglmtron", "dp-ftrl",
    "dp-sbcd", "noisy-cgd", "noisy-cgd-convex-relu",
}
"""What clips every record's gradient to clip_norm, and tells a recorder the sum."""
CANCELS = {"dp-sbcd"}
"""Whose residuals are differences of variables as large as the record: rounding leaves their direction open."""
MODELS = 3

Train = Callable[..., Any]


def samples(item: Algorithm, count: int) -> Iterator[tuple[int, Any, Any, Values]]:
    """So many samples, of configurations with a guarantee if the algorithm may have one."""
    for seed in range(40):
        features, labels, given = SAMPLES[item.name](np.random.default_rng(seed))
        config = item.parse(given)
        if count and (has_guarantee(item, config, len(features)) or not item.guarantees):
            count -= 1
            yield seed, features, labels, config
    assert not count, "no such sample"


def refused(item: Algorithm, features: Any, labels: Any, config: Values) -> str:
    """What the check of the data says; empty where it takes them."""
    assert item.check is not None
    try:
        item.check(features, labels, config)
    except DomainError as error:
        return str(error)
    return ""


def judge(item: Algorithm, name: str, data: tuple[Any, Any], config: Values, seed: int) -> None:
    """Finite releases in every way, or the same refusal, for a reason that the record has by itself."""
    why, tape = refused(item, *data, config), Tape(seed, MODELS)
    alone = tuple(np.repeat(part[:1], len(part), axis=0) for part in data)
    assert bool(why) == bool(refused(item, *alone, config)), f"{name}: {why}"
    if why:
        for way in WAYS:
            with pytest.raises(DomainError) as raised:
                trained(item, way, data, config, tape)
            assert str(raised.value) == why
        return
    releases = {way: trained(item, way, data, config, tape) for way in WAYS}
    for way, released in releases.items():
        assert np.isfinite(released).all(), f"{name}, {way}"
    # Where entries are many, scores may cancel to what rounding leaves of them.
    if item.name not in CANCELS and ("one entry" in name or name.startswith("label")):
        literal, twin = releases["reference"], releases["float64"]
        assert np.linalg.norm(twin - literal) <= 1e-9 * np.linalg.norm(literal), name


def hunt(item: Algorithm, count: int, sizes: Any, *, every: bool) -> None:
    for seed, features, labels, config in samples(item, count):
        for name, *data in edged(features, labels, sizes=sizes, every=every):
            with warnings.catch_warnings():
                warnings.simplefilter("error" if item.guarantees else "ignore")
                if item.guarantees:
                    judge(item, name, (data[0], data[1]), config, seed)
                    continue
                for way in WAYS:  # nothing is promised, and nothing but an error of ours says so
                    with contextlib.suppress(OracleError):
                        assert np.isfinite(trained(item, way, (data[0], data[1]), config, Tape(seed))).all()


@pytest.mark.parametrize("item", named(ALGORITHMS, {"convex-relu-exact"}, "full"))
def test_a_record_at_the_edge_is_refused_by_a_declared_bound_or_does_not_show(item: Algorithm) -> None:
    hunt(item, 1, FEW, every=False)


@pytest.mark.thorough
@every_algorithm
@pytest.mark.parametrize("every", [False, True], ids=["one record", "all records"])
def test_all_edges_of_many_configurations(item: Algorithm, every: bool) -> None:
    hunt(item, 2, SIZES, every=every)


@pytest.mark.parametrize("item", [item for item in ALGORITHMS if item.name in CLIPPED], ids=lambda item: item.name)
@pytest.mark.parametrize("way", WAYS)
def test_no_record_moves_a_clipped_sum_by_more_than_twice_the_clipping_norm(item: Algorithm, way: str) -> None:
    """At the first step, where the weights do not know the record."""
    [(seed, features, labels, config)] = samples(item, 1)

    def first_sum(*data: Any) -> Any:
        heard: list[Any] = []

        def recorder(kind: str, **facts: Any) -> None:
            if kind == "update":
                heard.append(np.asarray(facts["clipped_sum"], dtype=np.float64))

        trained(item, way, (data[0], data[1]), config, Tape(seed), recorder)
        return heard[0]

    most = 2 * float(config.clip_norm) * (1 + (1e-5 if way == "float32" else 1e-12))
    before, checked = first_sum(features, labels), 0
    for name, *data in edged(features, labels, sizes=FEW):
        if not refused(item, data[0], data[1], config):
            assert np.linalg.norm(first_sum(*data) - before) <= most, name
            checked += 1
    assert checked


# --- what becomes of records


@pytest.mark.parametrize("single", [False, True])
def test_ordinary_records_keep_every_bit_and_others_their_direction(single: bool) -> None:
    largest = 2.0 ** records.POWER[single]
    inside = np.array([[1.5, -0.3], [largest * (1 - 2**-24), 5e-324], [0.0, -0.0]])
    labels = np.array([largest, -3.0, 0.0])
    same = records.saturated(inside, labels, single=single)
    assert same[0] is inside
    assert same[1] is labels
    rows, cut = records.saturated(
        np.array([[1e300, -3e299], [4 * largest, largest], [7.0, 0.1]]), np.array([1e300, -1e300, 7.0]), single=single
    )
    assert rows[0, 1] / rows[0, 0] == -3e299 / 1e300
    assert largest / 2 <= rows[0, 0] < largest
    np.testing.assert_array_equal(rows[1:], [[largest / 2, largest / 8], [7.0, 0.1]])
    np.testing.assert_array_equal(cut, [largest, -largest, 7.0])


def test_a_record_is_mapped_alone() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(50, 3)) * 10.0 ** rng.uniform(-300, 300, (50, 1))
    labels = 10.0 ** rng.uniform(0, 300, 50)
    together = records.saturated(features, labels, single=True)
    for i in range(50):
        alone = records.saturated(features[i : i + 1], labels[i : i + 1], single=True)
        np.testing.assert_array_equal(alone[0], together[0][i : i + 1])
        np.testing.assert_array_equal(alone[1], together[1][i : i + 1])


def test_lengths_neither_overflow_nor_underflow_and_are_the_usual_ones() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(100, 4))
    np.testing.assert_array_equal(records.lengths(rows), np.linalg.norm(rows, axis=1))
    np.testing.assert_array_equal(records.lengths(np.ldexp(rows, 900)), np.ldexp(np.linalg.norm(rows, axis=1), 900))
    np.testing.assert_array_equal(records.lengths(np.ldexp(rows, -900)), np.ldexp(np.linalg.norm(rows, axis=1), -900))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(
            records.lengths(np.array([[1.7e308, 1.7e308], [0.0, 0.0], [3e308 / 2, 0.0]])), [np.inf, 0.0, 3e308 / 2]
        )


# --- what may be given


ALIKE: dict[str, Callable[[Any], Any]] = {
    "lists": lambda part: part.tolist(),
    "tuples": lambda part: tuple(map(tuple, part)) if part.ndim == 2 else tuple(part),
    "negative strides": lambda part: part[::-1].copy()[::-1],
    "columns first": np.asfortranarray,
    "every other": lambda part: np.repeat(part, 2, axis=0)[::2],
    "big-endian": lambda part: part.astype(">f8"),
    "long doubles": lambda part: part.astype(np.longdouble),
    "a tensor": torch.tensor,
    "a tensor with a gradient": lambda part: torch.tensor(part, requires_grad=True),
    "every other row of a tensor": lambda part: torch.tensor(np.repeat(part, 2, axis=0))[::2],
}


@pytest.mark.parametrize("item", named(ALGORITHMS, {"convex-relu-exact"}, "full"))
def test_the_same_numbers_in_another_shape_give_the_same_bits(item: Algorithm) -> None:
    [(seed, features, labels, config)] = samples(item, 1)
    frozen = features.copy(), labels.copy()
    for part in frozen:
        part.setflags(write=False)
    givens = {name: (make(features), make(labels)) for name, make in ALIKE.items()} | {"frozen": frozen}
    if np.isin(labels, (0.0, 1.0)).all():
        givens |= {"bool": (features, labels.astype(bool)), "integers": (features, labels.astype(np.int8))}
    for way in ("reference", "float64"):
        expected = trained(item, way, (features, labels), config, Tape(seed))
        for name, given in givens.items():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                np.testing.assert_array_equal(trained(item, way, given, config, Tape(seed)), expected, err_msg=name)


def test_half_precision_integers_and_truth_values_are_numbers() -> None:
    item = registry.algorithm("sufficient-statistics")
    config = item.parse({"noise_scale": 1, "variance_floor": 1})
    table = np.array([[1.0], [0.0], [1.0]])
    expected = trained(item, "float64", (table, table[:, 0]), config, Tape(0))
    tensors = torch.bfloat16, torch.float16, torch.int32, torch.bool
    for dtype in (np.float16, np.float32, np.int64, np.uint8, bool, *tensors):
        given = torch.tensor(table).to(dtype) if isinstance(dtype, torch.dtype) else table.astype(dtype)
        for way in WAYS:
            released = trained(item, way, (given, given[:, 0]), config, Tape(0))
            np.testing.assert_allclose(released, expected, rtol=1e-5)


NO_DATA: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "nothing": lambda x, y: (None, y),
    "a word": lambda x, y: ("features", y),
    "words": lambda x, y: (x.astype(str), y),
    "objects": lambda x, y: (x, y.astype(object)),
    "a ragged list": lambda x, y: ([*x.tolist(), [1.0] * 99], [*y, 0.0]),
    "complex": lambda x, y: (x.astype(complex), y),
    "a complex tensor": lambda x, y: (torch.tensor(x) + 0j, y),
    "a sparse tensor": lambda x, y: (torch.tensor(x).to_sparse(), y),
    "a tensor without values": lambda x, y: (torch.tensor(x, device="meta"), y),
    "dates": lambda x, y: (x, y.astype("datetime64[s]")),
    "a mask": lambda x, y: (np.ma.masked_less(x, 0), y),
    "a table": lambda x, y: ({"a": x}, y),
    "a set": lambda x, y: (x, set(y)),
    "a huge integer": lambda x, y: (x, [10**400] * len(y)),
    "a long double that is no double": lambda x, y: (x, np.full(len(y), np.longdouble("1e400"))),
    "NaN": lambda x, y: (np.where(x == x.max(), np.nan, x), y),
    "infinite": lambda x, y: (x, np.where(y == y.max(), -np.inf, y)),
    "empty": lambda x, y: ([], []),
    "no features": lambda x, y: (x[:, :0], y),
    "a number": lambda x, y: (1.0, 1.0),
    "labels in a column": lambda x, y: (x, y[:, None]),
}


@every_algorithm
def test_what_is_no_data_is_a_domain_error(item: Algorithm) -> None:
    [(_, features, labels, config)] = samples(item, 1)
    for name, broken in NO_DATA.items():
        if name == "a long double that is no double" and np.finfo(np.longdouble).max == np.finfo(np.float64).max:
            continue
        for way in ("reference", "float64"):
            with pytest.raises(DomainError, match=r"features|labels"):
                trained(item, way, broken(features, labels), config, Tape(0))


@every_algorithm
def test_what_is_no_type_no_device_no_configuration_and_no_tape_is_a_domain_error(item: Algorithm) -> None:
    [(_, features, labels, config)] = samples(item, 1)
    for dtype in ("float16", "double precision", torch.float16, torch.int64, np.float64, 64, ""):
        with pytest.raises(DomainError, match=r"^dtype = .* one of float64, float32$"):
            item.train_batched(features, labels, config, Tape(0), dtype=dtype)  # type: ignore[arg-type]
    absent = [] if torch.cuda.is_available() else ["cuda", torch.device("cuda", 0)]
    for device in (*absent, "nonsense", "meta", "cuda:99", "", 3.5):
        with pytest.raises(DomainError, match=r"^device = .* a device that torch has here"):
            item.train_batched(features, labels, config, Tape(0), device=device)  # type: ignore[arg-type]
    assert item.reference is not None
    for train in (item.reference, item.train_batched):
        for wrong in (vars(config), None, Values()):
            if item.parameters or item.training:
                with pytest.raises(DomainError, match=r"^config = .* what parse makes"):
                    train(features, labels, wrong, Tape(0))
        for tape in () if item.deterministic else (0, None, np.random.default_rng(0)):
            with pytest.raises(DomainError, match=r"^tape = .* a Tape"):
                train(features, labels, config, tape)


def test_a_name_is_as_good_as_a_type() -> None:
    item = registry.algorithm("dp-gd")
    [(seed, features, labels, config)] = samples(item, 1)
    for name, dtype in (("float32", torch.float32), ("float64", torch.float64)):
        named, meant = (item.train_batched(features, labels, config, Tape(seed), dtype=one) for one in (name, dtype))
        assert named.dtype == dtype
        assert torch.equal(named, meant)


def test_a_training_that_diverges_is_told() -> None:
    """Without a guarantee nothing is scaled; a number that float32 does not have is refused before."""
    item = registry.algorithm("gd")
    config = item.parse({"loss": "squared", "learning_rate": 1, "steps": 9, "initial_std": 1, "iterate": "last"})
    data = np.full((2, 1), 1e60), np.zeros(2)
    for way in ("reference", "float64"):
        with np.errstate(all="ignore"), pytest.raises(OracleError, match="what gd releases is not finite"):
            trained(item, way, data, config, Tape(0))
    with pytest.raises(DomainError, match=r"^features contain 1e\+60, which is outside .*: numbers of float32"):
        trained(item, "float32", data, config, Tape(0))
