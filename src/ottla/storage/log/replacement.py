"""Putting compacted segments in the place of those they were made from.

Owns      the swap: `.cleaned` to `.swap`, the last segment first; old segments to `.deleted`;
          `.swap` to the final name. `leftovers.py` finishes or undoes it after a crash.
Promises  after a power cut at any step the log has either the old segments or the new ones: the
          new ones are durable, names included, before the first old one goes.
Leaves    making the new segments to `compaction/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ottla.storage.files.file_names import CLEANED_SUFFIX, SWAP_SUFFIX
from ottla.storage.log.deletion import Removal
from ottla.storage.log.flushing import flush
from ottla.storage.log.truncation import retire
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_files import open_segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


def open_cleaned(log: Log, base_offset: int) -> Segment:
    """A segment that compaction wrote under `.cleaned` names, offset and time index included."""
    return open_segment(
        log.context.files,
        log.path,
        base_offset,
        log.config,
        now_ms=log.clock.now_ms(),
        random=log.context.random,
        state=CLEANED_SUFFIX,
    )


def replace_segments(log: Log, cleaned: Sequence[Segment], replaced: Sequence[Segment]) -> bool:
    """Swap; False, and the cleaned files are removed, if a replaced one has left the log meanwhile.

    The contents of the cleaned files must be synced already: `Segment.sync`, in a thread.
    """
    log.health.check()
    current = set(map(id, log.segments))
    if not cleaned or any(id(segment) not in current for segment in replaced):
        _discard(log, cleaned)
        return False
    files = log.context.files
    try:
        _pass_recovery_point(log, replaced)
        for segment in sorted(cleaned, key=lambda each: each.base_offset, reverse=True):
            segment.rename(SWAP_SUFFIX)
        files.sync_directory(log.path)
        log.segments.replace(replaced, cleaned)
        retire(log, replaced)
        for segment in sorted(cleaned, key=lambda each: each.base_offset):
            segment.rename("")
        files.sync_directory(log.path)
        new_offsets = {segment.base_offset for segment in cleaned}
        old_offsets = {segment.base_offset for segment in replaced}
        log.snapshots.remove(old_offsets - new_offsets)
    except OSError as error:
        raise log.health.failed(f"swapping segments of {log.path}", error) from error
    return True


def _pass_recovery_point(log: Log, replaced: Sequence[Segment]) -> None:
    """Compaction leaves gaps between segments. Recovery takes a gap for a lost end, unless it lies
    before the recovery point; so that must be behind, and written down."""
    end_offset = log.segments.end_of(replaced[-1], log.log_end_offset)
    if log.recovery_checkpoint < end_offset:
        flush(log)
    log.context.write_checkpoints(log)


def _discard(log: Log, cleaned: Sequence[Segment]) -> None:
    for segment in cleaned:
        Removal(log.context.files, segment.paths(), close=segment.close).run()
