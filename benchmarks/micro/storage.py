"""The cost of a partition log: appends compared with plain writes, opening, recovery, searches.

    python -m benchmarks.micro.storage [partitions]

Uses a temporary directory on the real disk, through the page cache. Processor time, best of several
repeats; opening and recovery, which also wait for the disk, in wall-clock time as well. Compare
rows of one run. With 10,000 partitions the run takes some minutes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from random import Random

from benchmarks.micro.timing import best_of, table

from ottla.base.clock import SystemClock
from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint, open_log
from ottla.testing.log_listener import IgnoringListener, log_context

MIB = 1 << 20
PARTITION = TopicPartition("t", 0)
BATCHES = 2000  # before the files are truncated
REPEATS = 15
OWNER = Owner("benchmark", 1)
DEFAULTS = TopicConfig()


def batch_of(size: int, records: int = 16, timestamp_ms: int | None = None) -> bytearray:
    now_ms = SystemClock().now_ms() if timestamp_ms is None else timestamp_ms
    value = os.urandom(max(1, (size - 61) // records - 12))
    return build_batch([Record(at, now_ms, b"key", value) for at in range(records)])


def new_log(directory: str, config: TopicConfig = DEFAULTS) -> Log:
    path = f"{directory}/t-0"
    files = DiskFileSystem()
    files.make_directory(path)
    context = log_context(files, SystemClock(), directory)
    return open_log(context, PARTITION, path, config, Checkpoint())


def empty(log: Log) -> None:
    log.truncate_to(0)
    for removal in log.context.deletions.take_all():
        removal.run()


def measure(work: Callable[[], None], clean: Callable[[], None]) -> float:
    """Processor seconds of the work, in the fastest of several repeats."""
    taken = []
    for _ in range(REPEATS):
        start = time.thread_time()
        work()
        taken.append(time.thread_time() - start)
        clean()
    return min(taken)


def append_row(directory: str, size: int) -> list[object]:
    batch = batch_of(size)
    log = new_log(directory)
    path = f"{directory}/plain"

    def append() -> None:
        for _ in range(BATCHES):
            batch[:8] = bytes(8)  # producers send offset 0; the log has stamped another
            log.append_as_leader(batch, 1)

    def write() -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        for number in range(BATCHES):
            os.pwrite(descriptor, batch, number * len(batch))
        os.close(descriptor)

    plain_s = measure(write, lambda: os.unlink(path)) / BATCHES
    append_s = measure(append, lambda: empty(log)) / BATCHES
    log.release()
    megabytes = len(batch) / append_s / 1e6
    return [len(batch), plain_s * 1e6, append_s * 1e6, megabytes, plain_s / append_s]


def fill(log: Log, size: int, batch_bytes: int) -> None:
    start_ms = log.context.clock.now_ms() - 1000_000
    for number in range(size // batch_bytes):
        log.append_as_leader(batch_of(batch_bytes, 8, start_ms + number), 1)


def recovery_row(directory: str, batch_bytes: int) -> list[object]:
    """Everything is read and checked, as after a crash without a recovery point."""
    size = 256 * MIB if batch_bytes > 4096 else 32 * MIB
    log = new_log(directory)
    fill(log, size, batch_bytes)
    log.release()

    def recover() -> None:
        again = open_log(log.context, PARTITION, log.path, log.config, Checkpoint(0))
        assert again.log_end_offset == log.log_end_offset
        again.release()

    taken_s = best_of(recover, repeats=3)
    return [batch_bytes, size // MIB, size / taken_s / 1e6]


def lookup_rows(directory: str) -> list[list[object]]:
    log = new_log(directory, TopicConfig(segment_bytes=64 * MIB))
    fill(log, 256 * MIB, 16 * 1024)
    log.close()
    log = open_log(
        log.context, PARTITION, log.path, log.config, Checkpoint(log.recovery_point, 0, True)
    )
    random, end = Random(1), log.log_end_offset
    times = [log.segments.active.base_offset, end]

    def read_random() -> None:
        log.read(BLOCKING, random.randrange(end), MIB, end)

    def read_last() -> None:
        log.read(BLOCKING, end - 1, MIB, end)

    def find_time() -> None:
        run_blocking(log.finding_by_timestamp(first_ms + random.randrange(times[1] // 8)))

    first = run_blocking(log.finding_by_timestamp(0))
    assert first is not None
    first_ms = first.timestamp
    cases = (
        ("range from a random offset", read_random),
        ("range from the last batch", read_last),
        ("offset by a random timestamp", find_time),
    )
    return [[name, 1 / best_of(case)] for name, case in cases]


def opening_rows(directory: str, partitions: int) -> list[list[object]]:
    files, clock = DiskFileSystem(), SystemClock()

    def manager() -> LogManager:
        made = LogManager(files, clock, Random(1), [directory], IgnoringListener())
        made.open(OWNER)
        return made

    def load(made: LogManager) -> tuple[float, float]:
        wall_s, cpu_s = time.perf_counter(), time.thread_time()
        for _ in made.load(lambda _topic: DEFAULTS):
            pass
        return time.perf_counter() - wall_s, time.thread_time() - cpu_s

    logs = manager()
    load(logs)
    batch = batch_of(4096)
    for number in range(partitions):
        log = logs.create(TopicPartition("t", number), DEFAULTS)
        batch[:8] = bytes(8)
        log.append_as_leader(batch, 1)
    started_s = time.perf_counter()
    logs.close()
    closed_s = time.perf_counter() - started_s
    logs = manager()
    clean = load(logs)
    for each in logs.directories:
        each.release()  # as if killed: without a clean-shutdown marker
    logs = manager()
    killed = load(logs)
    for each in logs.directories:
        each.release()
    return [
        ["close in order", closed_s, 0.0],
        ["open after an orderly stop", *clean],
        ["open after kill -9", *killed],
    ]


def main() -> None:
    partitions = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as base:
        places = iter(range(100))

        def fresh() -> str:
            return f"{base}/{next(places)}"

        rows = [append_row(fresh(), size) for size in (1024, 4096, 16 * 1024, 128 * 1024)]
        columns = ["bytes", "plain write us", "append us", "MB/s", "write / append"]
        print(table("Append one batch as leader", columns, rows))
        rows = [recovery_row(fresh(), size) for size in (1024, 16 * 1024, 128 * 1024)]
        print(table("Recovery", ["batch bytes", "MiB", "MB/s"], rows))
        print(table("Finding", ["what", "a second"], lookup_rows(fresh())))
        title = f"{partitions} partitions with one batch each"
        print(table(title, ["what", "s", "processor s"], opening_rows(fresh(), partitions)))


if __name__ == "__main__":
    main()
