"""Leader epochs of a log from its files: the checkpoint, or else the batches themselves.

Promises  the epochs that the batches carry: the checkpoint is compared with them, at two batches
          an epoch. Epochs only go up, so of most segments the first and last batch are enough to
          build it anew.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from ottla.base.filesystem import FileSystem
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.errors import CorruptLogError
from ottla.storage.file_names import OFFSET_MAX
from ottla.storage.leader_epochs import EpochEntry, LeaderEpochs
from ottla.storage.scanning import walk_headers
from ottla.storage.segment import Segment
from ottla.storage.segment_search import find_batch, last_before

log = logging.getLogger(__name__)


def stored_epochs(files: FileSystem, path: str) -> tuple[EpochEntry, ...]:
    """What the file says; nothing where it says nothing sensible."""
    try:
        return LeaderEpochs.open(files, path).entries
    except CorruptLogError as error:
        log.warning("leader epochs are damaged: %s", error)
        return ()


def open_epochs(
    files: FileSystem,
    path: str,
    segments: Sequence[Segment],
    start_offset: int,
    end_offset: int,
) -> LeaderEpochs:
    """The epochs of the records in `segments`, between these offsets."""
    stored = stored_epochs(files, path)
    checked = checked_epochs(path, stored, segments, start_offset, end_offset)
    epochs = LeaderEpochs(files, path, checked)
    if checked != [entry for entry in stored if entry.start_offset < end_offset]:
        epochs.write()
    return epochs


def checked_epochs(
    path: str,
    stored: Sequence[EpochEntry],
    segments: Sequence[Segment],
    start_offset: int,
    end_offset: int,
) -> list[EpochEntry]:
    """What was stored, if the records agree; else what they say themselves."""
    entries = [entry for entry in stored if entry.start_offset < end_offset]
    try:
        _check_first(path, segments, start_offset, entries)
        _check_last(path, segments, end_offset, entries[-1].epoch if entries else None)
        for entry in entries:
            _check_entry(path, segments, start_offset, entry)
    except CorruptLogError as error:
        log.warning("building leader epochs from the records: %s", error)
        return list(epochs_in(segments))
    return entries


def _check_first(
    path: str, segments: Sequence[Segment], start_offset: int, entries: Sequence[EpochEntry]
) -> None:
    """The oldest records have an epoch too: where the log starts may have gone back in a crash."""
    first = next((batch for each in segments if (batch := _batch_at([each], start_offset))), None)
    covered_from = entries[0].start_offset if entries else OFFSET_MAX
    if first is None or first.partition_leader_epoch < 0:
        return
    if max(first.base_offset, start_offset) < covered_from:
        raise CorruptLogError(path, 0, f"nothing about {first}")


def _check_last(
    path: str, segments: Sequence[Segment], end_offset: int, latest_epoch: int | None
) -> None:
    last = _batch_at(segments, end_offset - 1)
    if last is not None and last.partition_leader_epoch not in (-1, latest_epoch):
        raise CorruptLogError(path, 0, f"ends with epoch {latest_epoch}, but there is {last}")


def _check_entry(
    path: str, segments: Sequence[Segment], start_offset: int, entry: EpochEntry
) -> None:
    """The file has no checksum, and wrong epochs would cut the wrong records: compare with them.

    Where compaction or deletion took the first records of an epoch, the next one may be later.
    """
    at, before = (
        _batch_at(segments, entry.start_offset),
        _batch_before(segments, entry.start_offset),
    )
    if at is not None and (
        at.partition_leader_epoch < entry.epoch
        or (at.base_offset == entry.start_offset and at.partition_leader_epoch != entry.epoch)
        or at.base_offset < entry.start_offset != start_offset
    ):
        raise CorruptLogError(path, 0, f"{entry}, where the records are of {at}")
    is_first = entry.start_offset == start_offset
    if before is not None and before.partition_leader_epoch >= entry.epoch and not is_first:
        raise CorruptLogError(path, 0, f"{entry}, though before it are records of {before}")


def _batch_at(segments: Sequence[Segment], offset: int) -> BatchHeader | None:
    """The first batch that ends at or after `offset`, within its segment."""
    place = bisect_right(segments, offset, key=lambda segment: segment.base_offset)
    found = find_batch(segments[place - 1], offset) if place else None
    return None if found is None else found[1]


def _batch_before(segments: Sequence[Segment], offset: int) -> BatchHeader | None:
    """The last batch that ends before `offset`."""
    place = bisect_right(segments, offset - 1, key=lambda segment: segment.base_offset)
    for segment in reversed(segments[:place]):
        if (found := last_before(segment, offset)) is not None:
            return found
    return None


def epochs_in(segments: Iterable[Segment]) -> Iterator[EpochEntry]:
    """Where each epoch begins, as the batches say."""
    last = -1
    for segment in segments:
        first = next(walk_headers(segment.file, 0, segment.size), None)
        if first is None:
            continue
        if first[1].partition_leader_epoch > last:
            last = first[1].partition_leader_epoch
            yield EpochEntry(last, first[1].base_offset)
        final = last_before(segment, OFFSET_MAX)
        if final is not None and final.partition_leader_epoch == last:
            continue
        for _, header in walk_headers(segment.file, 0, segment.size):
            if header.partition_leader_epoch > last:
                last = header.partition_leader_epoch
                yield EpochEntry(last, header.base_offset)
