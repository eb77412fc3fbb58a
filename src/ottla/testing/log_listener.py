"""Doubles for logs that are used without a broker."""

from __future__ import annotations

from functools import partial
from random import Random

from ottla.base.clock import Clock
from ottla.base.files.filesystem import FileSystem
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Job, Start, Steps, run_blocking
from ottla.storage.files.directory_health import DirectoryHealth
from ottla.storage.log.log import Log
from ottla.storage.log.log_context import LogContext
from ottla.storage.log.log_listener import LogListener
from ottla.storage.producers.producer_bound import UNBOUNDED, ProducerBound


class IgnoringListener:
    """A `LogListener` for logs of which only the files matter. It keeps no reference to a log."""

    def log_needs_sync(self, log: Log) -> None:
        pass

    def log_truncated(self, log: Log) -> None:
        pass

    def log_removed(self, directory: str, partition: TopicPartition) -> None:
        pass

    def removal_job(self, directory: str) -> Job:  # noqa: ARG002
        return lambda: None

    def storage_failed(self) -> None:
        pass


class RecordingListener(IgnoringListener):
    """A `LogListener` that keeps what was reported, and does nothing else."""

    def __init__(self) -> None:
        self.unsynced: list[Log] = []
        self.truncated: list[Log] = []
        self.removed: list[TopicPartition] = []
        self.storage_failures = 0

    def log_needs_sync(self, log: Log) -> None:
        self.unsynced.append(log)

    def log_truncated(self, log: Log) -> None:
        self.truncated.append(log)

    def log_removed(self, directory: str, partition: TopicPartition) -> None:  # noqa: ARG002
        self.removed.append(partition)

    def storage_failed(self) -> None:
        self.storage_failures += 1


class RecordingCheckpoints:
    """A `CheckpointWriter` that keeps the recovery points, and writes no file."""

    def __init__(self) -> None:
        self.recovery_points: list[int] = []
        self.error: OSError | None = None  # raised by the next writes, if it is set

    def write_with(self, log: Log) -> None:
        if self.error is not None:
            raise self.error
        self.recovery_points.append(log.recovery_checkpoint)

    def writing_with(self, log: Log) -> Steps[None]:
        yield partial(self.write_with, log)


def log_context(
    files: FileSystem,
    clock: Clock,
    directory: str,
    *,
    listener: LogListener | None = None,
    checkpoints: RecordingCheckpoints | None = None,
    start: Start = run_blocking,
    producers: ProducerBound = UNBOUNDED,
) -> LogContext:
    """For logs outside a `LogDirectory`."""
    return LogContext(
        files,
        clock,
        Random(1),
        DirectoryHealth(directory, lambda _path: None),
        listener or IgnoringListener(),
        checkpoints or RecordingCheckpoints(),
        start,
        producers,
    )
