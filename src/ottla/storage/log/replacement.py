"""Replacing segments by compacted ones.

Owns      the swap: `.cleaned` to `.swap`, the last segment first; old segments to `.deleted`;
          `.swap` to the final name. `leftovers.py` finishes or undoes it after a crash.
Promises  after a power failure at any step the log has either the old segments or the new ones: the
          new ones are durable, names included, before the first old one is renamed. Syncs are
          steps; whatever removes segments meanwhile finishes the swap first.
Leaves    writing the new segments to `compaction/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ottla.base.files.filesystem import FileSystem
from ottla.base.scheduling.steps import Steps
from ottla.storage.files.file_names import SWAP_SUFFIX
from ottla.storage.log.deletion import Removal
from ottla.storage.log.flushing import flushing
from ottla.storage.log.log_files import LogFiles
from ottla.storage.log.log_health import LogHealth
from ottla.storage.segments.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


class Swap:
    """Compacted segments, and the segments of a log that they replace."""

    def __init__(
        self, files: LogFiles, cleaned: Sequence[Segment], replaced: Sequence[Segment]
    ) -> None:
        self.path = files.path
        self.cleaned = sorted(cleaned, key=lambda each: each.base_offset)
        self.replaced = list(replaced)
        self._generations = [each.generation for each in replaced]

    def is_possible(self, files: LogFiles) -> bool:
        """Whether the log still has the segments to be replaced, unchanged."""
        current = set(map(id, files.segments))
        return (
            bool(self.cleaned)
            and files.path == self.path
            and all(id(each) in current for each in self.replaced)
            and [each.generation for each in self.replaced] == self._generations
        )

    def discard(self, system: FileSystem) -> None:
        for segment in self.cleaned:
            Removal(system, segment.paths(), close=segment.close).run()


class Swaps:
    """The swaps of one log, at most one at a time."""

    def __init__(self, system: FileSystem, files: LogFiles, health: LogHealth) -> None:
        self.current: Swap | None = None  # begun, and not finished
        self._system = system
        self._files = files
        self._health = health

    def begin(self, swap: Swap, delay_ms: int) -> None:
        """From now on readers get the new segments; the disk has both."""
        self.finish_now(delay_ms)
        for segment in reversed(swap.cleaned):
            segment.rename(SWAP_SUFFIX)
        self._files.segments.replace(swap.replaced, swap.cleaned)
        self.current = swap

    def sync(self) -> None:
        self._system.sync_directory(self._files.path)

    def finish(self, swap: Swap, delay_ms: int) -> None:
        """The new segments are durable: remove the old ones. The names are synced with the next
        sync: until then a power failure leaves the new ones under either name."""
        if self.current is not swap:
            return
        self.current = None
        if self._health.is_closed:
            for segment in swap.replaced:
                segment.close()
            return
        self._files.retire(swap.replaced, delay_ms)
        for segment in swap.cleaned:
            segment.rename("")
        new_offsets = {segment.base_offset for segment in swap.cleaned}
        old_offsets = {segment.base_offset for segment in swap.replaced}
        self._files.retire_snapshots(old_offsets - new_offsets, delay_ms)

    def finish_now(self, delay_ms: int) -> None:
        """Before segments are truncated, deleted or closed: sync, and block until it is done."""
        if self.current is not None:
            self.sync()
            self.finish(self.current, delay_ms)

    def moved(self, path: str) -> None:
        """The directory was renamed."""
        if self.current is not None:
            for segment in self.current.replaced:
                segment.moved(path)


def replacing(log: Log, cleaned: Sequence[Segment], replaced: Sequence[Segment]) -> Steps[bool]:
    """Swap; False, and the cleaned files are removed, if a replaced one has left the log meanwhile.

    The contents of the cleaned files must be synced already: `Segment.sync`, in a thread.
    """
    log.health.check()
    swap = Swap(log.files, cleaned, replaced)
    try:
        if _is_possible(log, swap):
            yield from _passing_recovery_point(log, swap)
        if not _is_possible(log, swap) or log.recovery_checkpoint < _end_offset(log, swap):
            swap.discard(log.context.files)
            return False
        log.swaps.begin(swap, log.config.file_delete_delay_ms)
        try:
            yield log.swaps.sync
        except FileNotFoundError:
            if log.path == swap.path:  # else it was deleted meanwhile: the disk has not failed
                raise
        log.swaps.finish(swap, log.config.file_delete_delay_ms)
    except OSError as error:
        raise log.health.failed(f"swapping segments of {log.path}", error) from error
    return True


def _is_possible(log: Log, swap: Swap) -> bool:
    return not log.is_closed and swap.is_possible(log.files)


def _end_offset(log: Log, swap: Swap) -> int:
    return log.segments.end_of(swap.replaced[-1], log.offsets.end)


def _passing_recovery_point(log: Log, swap: Swap) -> Steps[None]:
    """Compaction leaves gaps between segments. Recovery takes a gap for a lost end, unless it is
    below the recovery point; so the recovery point must pass it, on disk too."""
    if log.recovery_checkpoint < _end_offset(log, swap):
        yield from flushing(log)
    # A log that was deleted meanwhile must not be in the checkpoint: a later one has its name.
    if _is_possible(log, swap):
        yield from log.context.checkpoints.writing_with(log)
