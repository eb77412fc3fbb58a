"""Leader epochs of a log from its files: the checkpoint, or else the batches themselves.

Promises  the epochs that the batches carry. Epochs only go up, so of most segments the first and
          last batch are enough to read.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from ottla.base.filesystem import FileSystem
from ottla.storage.errors import CorruptLogError
from ottla.storage.leader_epochs import EpochEntry, LeaderEpochs
from ottla.storage.scanning import walk_headers
from ottla.storage.segment import Segment
from ottla.storage.segment_search import IndexDamage, walk_from

log = logging.getLogger(__name__)


def open_epochs(files: FileSystem, path: str, segments: Iterable[Segment]) -> LeaderEpochs:
    try:
        return LeaderEpochs.open(files, path)
    except CorruptLogError as error:
        log.warning("building leader epochs from the records: %s", error)
    epochs = LeaderEpochs(files, path)
    epochs.assign_all(epochs_in(segments))
    return epochs


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
        if _last_epoch(segment) == last:
            continue
        for _, header in walk_headers(segment.file, 0, segment.size):
            if header.partition_leader_epoch > last:
                last = header.partition_leader_epoch
                yield EpochEntry(last, header.base_offset)


def _last_epoch(segment: Segment) -> int | None:
    """None where a damaged index hides it: then the whole segment is read."""
    epoch = -1
    try:
        for _, header in walk_from(segment, segment.indexes.offsets.last_entry):
            epoch = header.partition_leader_epoch
    except IndexDamage:
        return None
    return epoch
