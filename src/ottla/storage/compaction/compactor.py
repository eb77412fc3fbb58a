"""Compaction of the logs of one log directory, in steps on the event loop.

    round_ = compactor.begin(BLOCKING, logs, now_ms)  # the dirtiest log, if one is dirty enough
    for event in helper.run(round_.request):     # in another process, for minutes
        run_blocking(compactor.taking(round_, event))  # here: swap in what is ready

Owns      the choice, the running rounds, and the cleaner offsets of the directory.
Promises  a result is taken only for a log that is still what it was when the round began, so a
          log may be truncated or deleted at any time. A damaged log is not compacted any more.
Leaves    running the helper process, and how often to begin, to the broker.
Threads   one, that of the logs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ottla.base.files.filesystem import FileSystem
from ottla.base.files.readers import Reader
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import PAUSE, Steps, run_blocking
from ottla.storage.compaction.cleaner_offsets import CleanerOffsets
from ottla.storage.compaction.cleaning_states import CleaningStates
from ottla.storage.compaction.log_summary import (
    Sources,
    may_be_dirty,
    reading_sources,
    request_for,
    summarise,
)
from ottla.storage.compaction.plan import Cleanable, choose_dirtiest, should_clean, survey
from ottla.storage.compaction.request import (
    CleanedGroup,
    CleanFailure,
    CleaningLimits,
    CleanRequest,
    CleanSummary,
)
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import CLEANED_SUFFIX, parse_segment_file_name
from ottla.storage.log.log import Log
from ottla.storage.segments.segment import Segment

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Round:
    """One log that the helper process cleans."""

    log: Log
    request: CleanRequest
    sources: Mapping[int, Segment]  # by base offset
    generations: Mapping[int, int]
    is_over: bool = False


class Compactor:
    def __init__(
        self, offsets: CleanerOffsets, limits: CleaningLimits, states: CleaningStates | None = None
    ) -> None:
        self.offsets = offsets
        self.states = states or CleaningStates()
        self.limits = limits  # of rounds that begin from now on

    def candidates(self, logs: Iterable[Log]) -> list[Log]:
        """The logs among which `begin` chooses."""
        return list(filter(self._may_begin, logs))

    def preload(self, reader: Reader, log: Log, now_ms: int) -> None:
        """Read what `begin` needs of a candidate."""
        if not log.is_discarded:
            self._survey(reader, log, now_ms)

    def begin(self, reader: Reader, logs: Iterable[Log], now_ms: int) -> Round | None:
        """Choose the dirtiest log that may be cleaned, and begin its round."""
        return run_blocking(self.beginning(reader, logs, now_ms))

    def beginning(self, reader: Reader, logs: Iterable[Log], now_ms: int) -> Steps[Round | None]:
        """The same in slices: there may be many compacted logs."""
        dirty: dict[Cleanable, Log] = {}
        for log in logs:
            found = self._survey(reader, log, now_ms) if self._may_begin(log) else None
            if found is not None and should_clean(found, log.config):
                dirty[found] = log
            yield PAUSE
        dirtiest = choose_dirtiest(dirty)
        if dirtiest is None:
            return None
        log = dirty[dirtiest]
        sources = yield from reading_sources(reader, log)
        # It may have changed since: then it is cleaned the next time.
        chosen = self._survey(reader, log, now_ms) if self._may_begin(log) else None
        if chosen is None or not should_clean(chosen, log.config):
            return None
        return self._begin(reader, log, chosen, now_ms, sources)

    def taking(
        self, round_: Round, event: CleanedGroup | CleanSummary | CleanFailure
    ) -> Steps[None]:
        """Apply an event of the helper. Once the round has ended, events are dropped."""
        log = round_.log
        if round_.is_over or self.states.is_called_off(log.partition) or log.is_closed:
            self.abandon(round_)
        elif isinstance(event, CleanedGroup):
            if not (yield from self._swapping(round_, event)):
                self.abandon(round_)
        elif isinstance(event, CleanSummary):
            self.offsets.set(log.partition, event.end_offset)
            self._end(round_)
            yield self.offsets.job()
        else:
            if event.is_damaged:
                self._is_damaged(log, event.message)
            else:
                logger.warning("%s: compaction failed: %s", log.partition, event.message)
            self.abandon(round_)

    def abandon(self, round_: Round) -> None:
        """Abort a round, after its helper has ended. Segments that were replaced before stay."""
        if not round_.log.is_closed:
            remove_cleaned_files(round_.log.context.files, round_.log.path)
        self._end(round_)

    def truncated(self, partition: TopicPartition, offset: int) -> None:
        """Call this after every truncation."""
        self.states.call_off(partition)
        self.offsets.truncate(partition, offset)

    def removed(self, partition: TopicPartition) -> None:
        """The log was deleted, or has moved to another directory."""
        self.states.forget(partition)
        self.offsets.remove(partition)

    def _may_begin(self, log: Log) -> bool:
        return (
            log.config.is_compacted
            and log.health.is_in_use
            and self.states.can_begin(log.partition)
            and may_be_dirty(log, self.offsets.get(log.partition))
        )

    def _survey(self, reader: Reader, log: Log, now_ms: int) -> Cleanable | None:
        """None if it cannot be read, so that other logs are cleaned nevertheless."""
        try:
            summary = summarise(reader, log, self.offsets.get(log.partition))
            found = survey(summary, now_ms)
        except CorruptLogError as error:
            self._is_damaged(log, str(error))
            return None
        except StorageUnavailable as error:
            logger.warning("%s: not compacted now: %s", log.partition, error)
            return None
        except OSError as error:
            log.health.refused(f"reading {log.path}", error)
            return None
        if found.is_checkpoint_wrong:
            self.offsets.set(log.partition, found.first_dirty_offset)
        return found

    def _begin(
        self, reader: Reader, log: Log, chosen: Cleanable, now_ms: int, known: Sources
    ) -> Round | None:
        try:
            request = request_for(reader, log, chosen, self.limits, now_ms, known)
        except CorruptLogError as error:
            self._is_damaged(log, str(error))
            return None
        self.states.begin(log.partition)
        sources = {each.base_offset: each for each in log.segments}
        generations = {base_offset: each.generation for base_offset, each in sources.items()}
        return Round(log, request, sources, generations)

    def _is_damaged(self, log: Log, reason: str) -> None:
        logger.error("%s: is not compacted any more: %s", log.partition, reason)
        self.states.mark_uncleanable(log.partition, reason)

    def _swapping(self, round_: Round, group: CleanedGroup) -> Steps[bool]:
        log = round_.log
        replaced = [round_.sources[base_offset] for base_offset in group.replaced]
        is_same = all(each.generation == round_.generations[each.base_offset] for each in replaced)
        if not is_same:
            return False
        cleaned = [log.open_cleaned(group.base_offset)]
        return (yield from log.replacing_segments(cleaned, replaced))

    def _end(self, round_: Round) -> None:
        if not round_.is_over:
            round_.is_over = True
            self.states.end(round_.log.partition)


def remove_cleaned_files(files: FileSystem, directory: str) -> None:
    """Remove the files of a cancelled round; a thread may be deleting the log meanwhile."""
    try:
        for name in files.list_directory(directory):
            parsed = parse_segment_file_name(name) if CLEANED_SUFFIX in name else None
            if parsed is not None and parsed.state == CLEANED_SUFFIX:
                files.remove(f"{directory}/{name}")
    except FileNotFoundError:
        pass  # the whole directory is being removed
