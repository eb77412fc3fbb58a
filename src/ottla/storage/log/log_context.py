"""What all logs of one log directory share."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from ottla.base.clock import Clock
from ottla.base.files.filesystem import FileSystem
from ottla.base.scheduling.steps import Start, run_blocking
from ottla.storage.files.directory_health import DirectoryHealth
from ottla.storage.log.deletion import DeletionQueue
from ottla.storage.log.log_listener import CheckpointWriter, LogListener
from ottla.storage.producers.producer_bound import UNBOUNDED, ProducerBound


@dataclass(slots=True)
class LogContext:
    files: FileSystem
    clock: Clock
    random: Random
    health: DirectoryHealth
    listener: LogListener
    checkpoints: CheckpointWriter
    start: Start = run_blocking  # of background work whose jobs run in threads
    producers: ProducerBound = UNBOUNDED
    deletions: DeletionQueue = field(default_factory=DeletionQueue)
    has_verification: bool = False  # of transactions with their coordinator (KIP-890)

    @property
    def directory(self) -> str:
        return self.health.path

    def verify_transactions(self, is_enabled: bool) -> None:
        self.has_verification = is_enabled
