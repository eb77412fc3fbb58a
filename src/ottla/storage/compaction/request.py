"""Requests to the compaction process and its responses: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.config.options import MIB
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.compression import DECOMPRESSED_BYTES_MAX
from ottla.storage.compaction.plan import SegmentSummary
from ottla.storage.indexes.transaction_index import AbortedTransaction


class ProducerLastBatch(NamedTuple):
    """The last batch of a producer that is still known: it stays in the log."""

    last_offset: int  # of its last data batch, -1 where only a marker is known
    epoch: int


@dataclass(frozen=True, slots=True)
class CleaningLimits:
    map_bytes_max: int = 128 * MIB
    map_load_factor: float = 0.9
    read_bytes: int = 1 * MIB
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX  # of one batch
    bytes_per_second: float = float("inf")  # read and written together


@dataclass(frozen=True, slots=True)
class CleanRequest:
    partition: TopicPartition
    directory: str
    config: TopicConfig
    segments: tuple[SegmentSummary, ...]  # all below `first_uncleanable_offset`, in order
    first_dirty_offset: int
    first_uncleanable_offset: int
    now_ms: int
    aborted: tuple[AbortedTransaction, ...] = ()  # all that reach into these segments
    last_batches: Mapping[int, ProducerLastBatch] = field(default_factory=dict)  # by producer id
    limits: CleaningLimits = CleaningLimits()


@dataclass(frozen=True, slots=True)
class CleanedGroup:
    """A new segment, complete and durable under `.cleaned` names, and those it replaces."""

    base_offset: int
    replaced: tuple[int, ...]  # base offsets; the first is that of the new segment


@dataclass(slots=True)
class CleaningCounts:
    bytes_mapped: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    records_read: int = 0
    records_kept: int = 0
    keys: int = 0
    map_bytes: int = 0


@dataclass(frozen=True, slots=True)
class CleanSummary:
    """All groups were cleaned: below `end_offset` no key occurs twice."""

    end_offset: int
    counts: CleaningCounts


@dataclass(frozen=True, slots=True)
class CleanFailure:
    """Cleaning stopped. The segments that were yielded before are valid; no existing file has
    changed."""

    message: str
    is_damaged: bool  # the log itself cannot be cleaned; a retry would fail as well
