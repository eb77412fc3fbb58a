"""Decides what is done with one batch, without its records.

Owns      the rules for batches as a whole: aborted records are removed; markers are removed once
          nothing of their transaction is left, after a delay for readers; a batch that a producer's
          sequence depends on stays, possibly without records, and so does the last batch of each
          new segment: by its last offset recovery determines which old segments it replaces.
Promises  pure functions of a header and of what is known about its transaction and producer.
Leaves    records to `batch_rewriting.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ottla.protocol.records.batch import BatchHeader
from ottla.storage.compaction.request import ProducerLastBatch


class BatchDecision(NamedTuple):
    """What the cleaner does with one batch."""

    drops_records: bool  # all of them, without reading them
    stays_if_empty: bool
    starts_horizon: bool  # the time until its removal begins now, unless it began earlier


class BatchRules(NamedTuple):
    now_ms: int
    end_offset: int  # of what may be changed in this round
    last_batches: Mapping[int, ProducerLastBatch]


def decide_data(
    header: BatchHeader, is_aborted: bool, is_last: bool, rules: BatchRules
) -> BatchDecision:
    """`is_last`: it is the last batch of a new segment.

    Whether tombstones start a horizon is seen later, with the records.
    """
    return BatchDecision(
        drops_records=is_aborted and is_in_range(header, rules),
        stays_if_empty=is_last or is_last_of_producer(header, rules.last_batches),
        starts_horizon=False,
    )


def decide_marker(
    header: BatchHeader, is_idle: bool, is_last: bool, rules: BatchRules
) -> BatchDecision:
    """`is_idle`: no batch of its transaction is left."""
    is_in_reach = is_idle and is_in_range(header, rules)
    # The last batch of a producer that is still known is not changed: its epoch fences, and an
    # empty marker does not contain it for a broker that rebuilds its state from the log.
    is_last_batch = is_last_of_producer(header, rules.last_batches)
    return BatchDecision(
        drops_records=is_in_reach and has_expired(header, rules.now_ms) and not is_last_batch,
        stays_if_empty=is_last or is_last_batch,
        starts_horizon=is_in_reach,
    )


def is_in_range(header: BatchHeader, rules: BatchRules) -> bool:
    return header.last_offset < rules.end_offset


def has_expired(header: BatchHeader, now_ms: int) -> bool:
    """Whether its delete horizon has passed; false for a batch without one."""
    horizon_ms = header.delete_horizon_ms
    return horizon_ms is not None and horizon_ms <= now_ms


def is_last_of_producer(header: BatchHeader, last_batches: Mapping[int, ProducerLastBatch]) -> bool:
    """Whether the producer's sequence, or else its epoch, depends on this batch."""
    if not header.has_producer_id:
        return False
    last = last_batches.get(header.producer_id)
    if last is None:
        return False
    if last.last_offset >= 0:
        return header.last_offset == last.last_offset
    return header.is_control and header.producer_epoch == last.epoch
