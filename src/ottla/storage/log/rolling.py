"""Closing the active segment of a log and creating the next one.

Promises  if the disk is full the log continues as it was; the next attempt overwrites a segment
          that was created in part.
Leaves    the decision to `segment.py`; syncing what was closed to `flushing.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.log.log_files import LogFiles
from ottla.storage.log.log_offsets import LogOffsets
from ottla.storage.segments.segment import RELATIVE_OFFSET_MAX, Segment


def roll(
    files: LogFiles,
    offsets: LogOffsets,
    config: TopicConfig,
    header: BatchHeader | None,
    write_checkpoints: Callable[[], None],
) -> Segment | None:
    """A new active segment with room for the batch of `header`; None if the active one is empty.

    It begins at the end of the log, so that recovery recognises a lost end by the gap before the
    next segment. Only a batch whose offsets an index could not hold begins its segment itself.
    """
    active, base_offset = files.segments.active, offsets.end
    if header is not None and header.last_offset - base_offset > RELATIVE_OFFSET_MAX:
        base_offset = header.base_offset
    if active.base_offset == base_offset:
        return None
    files.unsynced.add_segment(active)
    try:
        active.seal()
        if active.is_repaired and offsets.checkpointed_point >= base_offset:
            # Otherwise a power failure might undo the repair, and recovery would not read it.
            write_checkpoints()
        segment = files.create_segment(base_offset, config)
    except OSError:
        files.unsynced.remove_segment(active)
        raise
    files.segments.append(segment)
    return segment
