"""What the private descents share: the number of records is a constant of the mechanism, and so is all made of it.

A sum of gradients is divided by a constant (n or b), and a record enters a batch with probability b/n. If these
followed the records at hand, a record that joins or leaves would change every other record's weight and rate as well,
and one clipped gradient would no longer be all that it moves. So n = dataset_size is declared. Where neighbours replace
a record, the data have exactly n of them; where one is added or removed, any number may take part, and n stays.
"""

from __future__ import annotations

from oracle.core.algorithm import Condition, Values
from oracle.core.errors import DomainError


def check_size(config: Values, records: int) -> None:
    """A DomainError unless that many records may take part."""
    if config.neighbours == "replace" and records != config.dataset_size:
        raise DomainError(
            f"dataset_size = {config.dataset_size} is not the number of records, {records}: neighbours = replace"
        )


def check_batch_size(config: Values) -> None:
    """A DomainError unless b/n is a probability; b need not divide n, since only the expected size of a batch is b."""
    if config.batch_size > config.dataset_size:
        raise DomainError(
            f"batch_size = {config.batch_size} is above dataset_size = {config.dataset_size}: no such sampling rate"
        )


def _as_declared(config: Values) -> bool:
    """Only a training knows the records apart from dataset_size; a plan's are as many as it says."""
    records = getattr(config, "records", None)
    return records is None or config.neighbours != "replace" or records == config.dataset_size


DECLARED_SIZE = Condition(
    "constant-size", _as_declared, "where a record is replaced, the data have dataset_size records"
)
FITS = Condition(
    "poisson-sampling", lambda config: config.batch_size <= config.dataset_size, "batch_size is at most dataset_size"
)
