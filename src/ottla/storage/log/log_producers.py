"""The producers of a log, read from its files when first needed.

Owns      the producer state while it is in memory, and how many of its snapshots threads encode.
Promises  the state is that of the records up to the end of the log.
Leaves    the state to `producers/`, writing snapshots to `snapshotting.py`.
"""

from __future__ import annotations

from ottla.base.files.readers import BLOCKING, Reader
from ottla.base.scheduling.steps import Steps, looking_up
from ottla.storage.log.log_health import LogHealth
from ottla.storage.log.log_offsets import LogOffsets
from ottla.storage.producers.producer_bound import ProducerBound
from ottla.storage.producers.producer_replay import SnapshotFiles, load_states
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.segments.segments import Segments


class LogProducers:
    __slots__ = (
        "_bound",
        "_encodings",
        "_health",
        "_offsets",
        "_segments",
        "in_memory",
        "snapshots",
    )

    def __init__(
        self,
        segments: Segments,
        offsets: LogOffsets,
        snapshots: SnapshotFiles,
        health: LogHealth,
        bound: ProducerBound,
        states: ProducerStates | None = None,
    ) -> None:
        self.snapshots = snapshots
        self._segments = segments
        self._offsets = offsets
        self._health = health
        self._bound = bound
        self.in_memory = states  # None until they are loaded
        self._encodings = 0
        if states is not None:
            self._limit(states)

    def load(self, reader: Reader) -> ProducerStates:
        """The producers up to the end of the log, from the files unless they are in memory."""
        if self.in_memory is None:
            try:
                states = load_states(
                    reader, self.snapshots, self._segments, self._offsets.end, self._bound
                )
            except OSError as error:
                directory = self.snapshots.directory
                raise self._health.refused(f"reading {directory}", error) from error
            states.high_watermark_advanced(self._offsets.high_watermark)
            self._limit(states)
            self.in_memory = states
        return self.in_memory

    def _limit(self, states: ProducerStates) -> None:
        states.bound = self._bound
        self._bound.producers_read(states)

    def loading(self) -> Steps[None]:
        """The same in steps. Nothing is read once the log is closed."""
        yield from looking_up(lambda reader: None if self._health.is_closed else self.load(reader))

    @property
    def is_loaded(self) -> bool:
        return self.in_memory is not None

    @property
    def must_be_read(self) -> bool:
        """Whether `load` reads files, which may take long."""
        return self.in_memory is None and (
            self.snapshots.newest is not None or self._offsets.end > self._segments[0].base_offset
        )

    def expiring(self, now_ms: int, expiration_ms: int) -> Steps[int]:
        """Remove idle producers; returns how many. Reads no file."""
        if self.in_memory is None:
            return 0
        return (yield from self.in_memory.expiring(now_ms, expiration_ms))

    def take_over(self, other: LogProducers) -> None:
        """Use those of a log with the same records, which is not used any more."""
        self.in_memory = other.load(BLOCKING)

    def unload(self) -> None:
        """Drop the state: it is read from the files when next needed."""
        self.in_memory = None

    # Snapshots that threads encode

    @property
    def encodings(self) -> int:
        return self._encodings

    def encoding_begins(self) -> None:
        self._encodings += 1

    def encoding_ended(self) -> None:
        self._encodings -= 1
