"""Putting compacted segments in the place of those they were made from.

Owns      the swap: `.cleaned` to `.swap`, the last segment first; old segments to `.deleted`;
          `.swap` to the final name. `leftovers.py` finishes or undoes it after a crash.
Promises  after a power cut at any step the log has either the old segments or the new ones: the
          new ones are durable, names included, before the first old one goes. What waits for the
          disk is handed out as steps; whatever takes segments away meanwhile finishes the swap.
Leaves    making the new segments to `compaction/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ottla.base.scheduling.steps import Steps
from ottla.storage.files.file_names import CLEANED_SUFFIX, SWAP_SUFFIX
from ottla.storage.log.deletion import Removal
from ottla.storage.log.flushing import flushing
from ottla.storage.log.truncation import retire, retire_snapshots
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


def replacing(log: Log, cleaned: Sequence[Segment], replaced: Sequence[Segment]) -> Steps[bool]:
    """Swap; False, and the cleaned files are removed, if a replaced one has left the log meanwhile.

    The contents of the cleaned files must be synced already: `Segment.sync`, in a thread.
    """
    log.health.check()
    swap = Swap(log, cleaned, replaced)
    try:
        if swap.is_possible:
            yield from _passing_recovery_point(log, swap)
        if not swap.is_possible or log.recovery_checkpoint < swap.end_offset:
            swap.discard()
            return False
        swap.begin()
        try:
            yield swap.sync
        except FileNotFoundError:
            if log.path == swap.path:  # else it was deleted meanwhile: that is no failing disk
                raise
        swap.finish()
    except OSError as error:
        raise log.health.failed(f"swapping segments of {log.path}", error) from error
    return True


class Swap:
    """One swap, from the moment that the log uses the new segments until the old ones are gone."""

    def __init__(self, log: Log, cleaned: Sequence[Segment], replaced: Sequence[Segment]) -> None:
        self.path = log.path
        self._log = log
        self._cleaned = sorted(cleaned, key=lambda each: each.base_offset)
        self._replaced = list(replaced)
        self._generations = [each.generation for each in replaced]

    @property
    def is_possible(self) -> bool:
        """Whether the log still has what is to be replaced, as it was."""
        log, current = self._log, set(map(id, self._log.segments))
        return (
            bool(self._cleaned)
            and not log.is_closed
            and log.path == self.path
            and all(id(each) in current for each in self._replaced)
            and [each.generation for each in self._replaced] == self._generations
        )

    @property
    def end_offset(self) -> int:
        return self._log.segments.end_of(self._replaced[-1], self._log.log_end_offset)

    def discard(self) -> None:
        for segment in self._cleaned:
            Removal(self._log.context.files, segment.paths(), close=segment.close).run()

    def begin(self) -> None:
        """From here on readers get the new segments; on disk are both."""
        log = self._log
        log.finish_swap()
        for segment in reversed(self._cleaned):
            segment.rename(SWAP_SUFFIX)
        log.segments.replace(self._replaced, self._cleaned)
        log.swap = self

    def sync(self) -> None:
        self._log.context.files.sync_directory(self._log.path)

    def finish(self) -> None:
        """The new ones are durable: the old ones go. Names are synced with the next sync, because
        until then a power cut leaves the new ones under either name."""
        log = self._log
        if log.swap is not self:
            return
        log.swap = None
        if log.is_closed:
            for segment in self._replaced:
                segment.close()
            return
        retire(log, self._replaced)
        for segment in self._cleaned:
            segment.rename("")
        new_offsets = {segment.base_offset for segment in self._cleaned}
        retire_snapshots(log, {each.base_offset for each in self._replaced} - new_offsets)

    def moved(self, path: str) -> None:
        """The directory has another name now."""
        for segment in self._replaced:
            segment.moved(path)


def finish_swap(log: Log) -> None:
    """Here and now, before the segments are cut, deleted or closed."""
    if log.swap is not None:
        log.swap.sync()
        log.swap.finish()


def _passing_recovery_point(log: Log, swap: Swap) -> Steps[None]:
    """Compaction leaves gaps between segments. Recovery takes a gap for a lost end, unless it lies
    before the recovery point; so that must be behind, and written down."""
    if log.recovery_checkpoint < swap.end_offset:
        yield from flushing(log)
    if swap.is_possible:  # else it may be deleted: what it says could be taken for a later log's
        yield from log.context.checkpointing(log)
