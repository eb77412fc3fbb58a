"""What all logs of one log directory share, handed in by `log_directory.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from ottla.base.clock import Clock
from ottla.base.files.filesystem import FileSystem
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Job, Start, Steps, run_blocking
from ottla.storage.files.directory_health import DirectoryHealth
from ottla.storage.log.deletion import DeletionQueue
from ottla.storage.producers.producer_bound import UNBOUNDED, ProducerBound

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


def _nothing() -> None:
    """Nobody keeps notes."""


def _no_steps() -> Steps[None]:
    yield from ()


@dataclass(slots=True)
class LogContext:
    files: FileSystem
    clock: Clock
    random: Random
    health: DirectoryHealth
    deletions: DeletionQueue = field(default_factory=DeletionQueue)
    # Writes recovery points and log starts down, durably. Before a log is cut below them, or a
    # crash would trust records that were never synced, and drop a log that ends before its start;
    # before compaction opens gaps between segments, or a crash would take them for lost records.
    write_checkpoints: Callable[[Log], None] = lambda _log: None
    # The same in steps; how far the log is synced when this begins is written, or more.
    checkpointing: Callable[[Log], Steps[None]] = lambda _log: _no_steps()
    truncated: Callable[[Log], None] = lambda _log: None  # called after records were cut off
    # Called after a log was made or a segment closed: it should be synced before long, so that a
    # power cut cannot mistake it for another topic's, and to bound recovery.
    needs_sync: Callable[[Log], None] = lambda _log: None
    # Called when a log has given up its name, and work for a thread that makes it certain: nothing
    # that was noted about it may be taken for something about a later log of its name.
    removed: Callable[[TopicPartition], None] = lambda _partition: None
    removal_job: Callable[[], Job] = lambda: _nothing
    start: Start = run_blocking  # of what threads do for a log while it goes on
    producers: ProducerBound = UNBOUNDED  # how many are remembered
    has_verification: bool = False  # of transactions with their coordinator (KIP-890)
