"""Leader epochs of a log from its files: the checkpoint, or else the batches themselves.

Promises  the epochs of the batches: the checkpoint, which has no checksum, is compared with them at
          a few offsets, because wrong epochs would truncate the wrong records. Epochs only
          increase, so the first and last batch of most segments are enough to rebuild it.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from ottla.base.files.filesystem import FileSystem
from ottla.base.files.readers import Reader
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import OFFSET_MAX
from ottla.storage.log.leader_epochs import EpochEntry, LeaderEpochs
from ottla.storage.segments.scanning import scan_headers
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_search import find_batch, last_before

log = logging.getLogger(__name__)

NEIGHBOURHOOD_BYTES = 64 << 20


def stored_epochs(reader: Reader, files: FileSystem, path: str) -> tuple[EpochEntry, ...]:
    """The entries of the file; none if it is missing or damaged."""
    try:
        return LeaderEpochs.open(reader, files, path).entries
    except CorruptLogError as error:
        log.warning("leader epochs are damaged: %s", error)
        return ()


def open_epochs(
    reader: Reader,
    files: FileSystem,
    path: str,
    segments: Sequence[Segment],
    start_offset: int,
    end_offset: int,
) -> LeaderEpochs:
    """The epochs of the records in `segments`, between these offsets."""
    stored = stored_epochs(reader, files, path)
    checked = checked_epochs(reader, path, stored, segments, start_offset, end_offset)
    epochs = LeaderEpochs(files, path, checked)
    if checked != [entry for entry in stored if entry.start_offset < end_offset]:
        epochs.write()
    return epochs


def checked_epochs(
    reader: Reader,
    path: str,
    stored: Sequence[EpochEntry],
    segments: Sequence[Segment],
    start_offset: int,
    end_offset: int,
) -> list[EpochEntry]:
    """The stored entries if the records agree with them; else those of the records."""
    entries = [entry for entry in stored if entry.start_offset < end_offset]
    batch = _find_contradiction(reader, segments, start_offset, end_offset, entries)
    if batch is None:
        return entries
    is_known = any(entry.epoch == batch.partition_leader_epoch for entry in stored)
    # Records before the first entry do not contradict it: a crash has restored them.
    is_covered = epoch_at(entries, max(batch.base_offset, start_offset)) is not None
    if is_covered and not is_known and _is_alone(reader, segments, batch, start_offset, entries):
        # The checksum of a batch does not cover its epoch: this one is damaged, and not served.
        log.error("leader epochs in %s contradict a single batch: %s", path, batch)
        return entries
    log.warning("building leader epochs from the records: %s contradicts %s", path, batch)
    return list(epochs_in(reader, segments))


def epoch_at(entries: Sequence[EpochEntry], offset: int) -> int | None:
    """The epoch in which an offset was written; None before the first that is known."""
    at = bisect_right(entries, offset, key=lambda entry: entry.start_offset)
    return entries[at - 1].epoch if at else None


def _find_contradiction(
    reader: Reader,
    segments: Sequence[Segment],
    start_offset: int,
    end_offset: int,
    entries: Sequence[EpochEntry],
) -> BatchHeader | None:
    """A batch of another epoch than was stored. The first and last batch, and those on both sides
    of every change of epoch, are enough to find any wrong entry."""
    offsets = [start_offset, end_offset - 1]
    for entry in entries:
        if (before := _batch_before(reader, segments, entry.start_offset)) is not None:
            offsets.append(before.base_offset)
        offsets.append(entry.start_offset)
    for offset in offsets:
        batch = _batch_at(reader, segments, offset)
        if batch is not None and _contradicts(batch, start_offset, entries):
            return batch
    return None


def _contradicts(batch: BatchHeader, start_offset: int, entries: Sequence[EpochEntry]) -> bool:
    """An unknown epoch (-1) contradicts nothing; a batch that contains the log start has the epoch
    of the start."""
    first_offset = max(batch.base_offset, start_offset)
    if batch.last_offset < start_offset or batch.partition_leader_epoch == -1:
        return False
    return epoch_at(entries, first_offset) != batch.partition_leader_epoch


def _is_alone(
    reader: Reader,
    segments: Sequence[Segment],
    batch: BatchHeader,
    start_offset: int,
    entries: Sequence[EpochEntry],
) -> bool:
    """Whether no other batch in the neighbourhood has another epoch than was stored."""
    index = bisect_right(segments, batch.base_offset, key=lambda each: each.base_offset) - 1
    scanned_bytes = 0
    for segment in [*segments[index:], *reversed(segments[:index])]:
        for _, header in scan_headers(reader, segment.open(reader), 0, segment.size):
            if header != batch and _contradicts(header, start_offset, entries):
                return False
        scanned_bytes += segment.size
        if scanned_bytes > NEIGHBOURHOOD_BYTES:
            break
    return True


def _batch_at(reader: Reader, segments: Sequence[Segment], offset: int) -> BatchHeader | None:
    """The first batch that ends at or after `offset`, within its segment."""
    index = bisect_right(segments, offset, key=lambda segment: segment.base_offset)
    found = find_batch(reader, segments[index - 1], offset) if index else None
    return None if found is None else found[1]


def _batch_before(reader: Reader, segments: Sequence[Segment], offset: int) -> BatchHeader | None:
    """The last batch that ends before `offset`."""
    index = bisect_right(segments, offset - 1, key=lambda segment: segment.base_offset)
    for segment in reversed(segments[:index]):
        if (found := last_before(reader, segment, offset)) is not None:
            return found
    return None


def epochs_in(reader: Reader, segments: Iterable[Segment]) -> Iterator[EpochEntry]:
    """Where each epoch begins, by the batches."""
    last = -1
    for segment in segments:
        first = next(scan_headers(reader, segment.open(reader), 0, segment.size), None)
        if first is None:
            continue
        if first[1].partition_leader_epoch > last:
            last = first[1].partition_leader_epoch
            yield EpochEntry(last, first[1].base_offset)
        final = last_before(reader, segment, OFFSET_MAX)
        if final is not None and final.partition_leader_epoch == last:
            continue
        for _, header in scan_headers(reader, segment.open(reader), 0, segment.size):
            if header.partition_leader_epoch > last:
                last = header.partition_leader_epoch
                yield EpochEntry(last, header.base_offset)
