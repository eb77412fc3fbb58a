"""What we write for Kafka to read: logs of every kind, made by our own parts alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

from tests.compatibility.storage.kafka_workload import COMPACTED, NOW_MS, SMALL, TRIMMED_TO
from tests.support.configs import topic_config

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import run_blocking
from ottla.config.layers import BrokerLayers
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import build_end_marker
from ottla.protocol.records.record import Record
from ottla.storage.compaction.cleaner_offsets import CleanerOffsets
from ottla.storage.compaction.compactor import Compactor
from ottla.storage.compaction.helper import events
from ottla.storage.compaction.request import CleaningLimits
from ottla.storage.compaction.throttle import Throttle
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.log.append import ProducedBy
from ottla.storage.log.log import Log
from ottla.storage.producers.append_decisions import AppendOrigin

COORDINATOR = ProducedBy(origin=AppendOrigin.COORDINATOR)
CLEANED_MS = NOW_MS + 1_000_000
LATER_MS = NOW_MS + 10_000_000_000  # every delete horizon has passed

Write = Callable[["Writer"], None]


class Writer:
    """Appends to one log as clients of its leader do, through the checks of a produce request."""

    def __init__(self, directory: LogDirectory, log: Log) -> None:
        self.directory = directory
        self.log = log
        self.leader_epoch = 0
        self._sequences: dict[tuple[int, int], int] = {}

    def append(
        self,
        rows: list[Record],
        codec: Codec = Codec.NONE,
        producer: tuple[int, int] | None = None,
        *,
        is_transactional: bool = False,
    ) -> None:
        """One batch; of `producer` (id and epoch) with its next sequence."""
        producer_id, epoch = producer or (-1, -1)
        sequence = self._sequences.get(producer, 0) if producer else -1
        if producer:
            self._sequences[producer] = sequence + len(rows)
        batch = build_batch(
            [row._replace(offset=at) for at, row in enumerate(rows)],
            codec=codec,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            is_transactional=is_transactional,
        )
        self.log.append_as_leader(batch, self.leader_epoch)
        self.log.update_high_watermark(self.log.log_end_offset)

    def end(self, producer: tuple[int, int], *, is_commit: bool) -> None:
        marker = build_end_marker(
            is_commit, 3, producer_id=producer[0], producer_epoch=producer[1], timestamp_ms=NOW_MS
        )
        self.log.append_as_leader(marker, self.leader_epoch, COORDINATOR)
        self.log.update_high_watermark(self.log.log_end_offset)

    def compact(self, now_ms: int) -> None:
        """One round of the compaction, in this process."""
        files = DiskFileSystem()
        offsets = CleanerOffsets(files, self.directory.path)
        compactor = Compactor(offsets, CleaningLimits())
        round_ = compactor.begin(BLOCKING, [self.log], now_ms)
        assert round_ is not None
        throttle = Throttle(float("inf"), lambda: 0.0, lambda _s: None)
        for event in events(round_.request, files, throttle):
            run_blocking(compactor.taking(round_, event))
        assert compactor.states.can_begin(self.log.partition)


def varied(size: int, label: str, numbers: Iterator[int]) -> list[Record]:
    """The next `size` records of many shapes."""
    return [
        Record(
            0,
            NOW_MS + i * 10 - (1000 if i % 11 == 7 else 0),
            None if i % 5 == 1 else b"key-%d" % (i % 13),
            None if i % 17 == 3 else f"{label}-{i}-".encode() * (1 + i % 9),
            (("trace", b"%d" % i), ("none", None)) if i % 4 == 0 else (),
        )
        for i in (next(numbers) for _ in range(size))
    ]


def write_plain(writer: Writer) -> None:
    numbers = count()
    for _ in range(43):
        writer.append(varied(7, "r", numbers))


def write_compressed(codec: Codec) -> Write:
    def write(writer: Writer) -> None:
        numbers = count()
        for _ in range(25):
            writer.append(varied(9, "compressible-compressible", numbers), codec)

    return write


def write_idempotent(writer: Writer) -> None:
    numbers = count()
    for turn in range(24):
        writer.append(varied(5, "p", numbers), producer=(1000 + turn % 3, turn // 12))


def write_transactions(writer: Writer) -> None:
    numbers = count()
    first, second = (2000, 1), (2001, 5)
    for turn in range(6):
        writer.leader_epoch = turn // 3
        writer.append(varied(5, "a", numbers), producer=first, is_transactional=True)
        writer.append(varied(4, "b", numbers), Codec.LZ4, second, is_transactional=True)
        writer.append(varied(3, "a", numbers), producer=first, is_transactional=True)
        writer.end(first, is_commit=turn % 2 == 1)
        writer.append(varied(2, "plain", numbers))
        writer.end(second, is_commit=turn % 3 != 1)
    writer.append(varied(3, "open", numbers), producer=(2002, 0), is_transactional=True)
    writer.append(varied(4, "after", numbers))
    writer.append(varied(5, "late", numbers), producer=first, is_transactional=True)
    writer.end(first, is_commit=False)


def keyed(size: int, numbers: Iterator[int]) -> list[Record]:
    return [
        Record(0, NOW_MS + i, b"key-%d" % (i % 13), None if i % 7 == 0 else b"value-%d-" % i * 3)
        for i in (next(numbers) for _ in range(size))
    ]


def write_compacted(writer: Writer) -> None:
    numbers = count()
    for _ in range(40):
        writer.append(keyed(5, numbers))
    writer.compact(CLEANED_MS)
    for _ in range(12):
        writer.append(keyed(5, numbers), Codec.ZSTD)


def write_compacted_twice(writer: Writer) -> None:
    """The second round comes when tombstones and markers may go."""
    write_compacted(writer)
    writer.compact(LATER_MS)


def write_compacted_transactions(writer: Writer) -> None:
    numbers = count()
    producer = (3000, 0)
    for turn in range(20):
        writer.append(keyed(6, numbers), producer=producer, is_transactional=True)
        writer.append(keyed(4, numbers), Codec.GZIP, producer, is_transactional=True)
        writer.end(producer, is_commit=turn % 4 != 2)
    writer.compact(CLEANED_MS)


def write_trimmed(writer: Writer) -> None:
    write_plain(writer)
    assert writer.log.advance_log_start(TRIMMED_TO)


@dataclass(frozen=True, slots=True)
class OurPlan:
    configs: dict[str, str]
    write: Write


OUR_PLANS: dict[str, OurPlan] = {
    "plain": OurPlan(SMALL, write_plain),
    **{
        f"codec-{codec.name.lower()}": OurPlan(SMALL, write_compressed(codec))
        for codec in Codec
        if codec
    },
    "preallocated": OurPlan(SMALL | {"preallocate": "true"}, write_plain),
    "recompressed": OurPlan(SMALL | {"compression.type": "snappy"}, write_plain),
    "append-time": OurPlan(SMALL | {"message.timestamp.type": "LogAppendTime"}, write_plain),
    "idempotent": OurPlan(SMALL, write_idempotent),
    "transactions": OurPlan(SMALL, write_transactions),
    "compacted": OurPlan(COMPACTED, write_compacted),
    "compacted-twice": OurPlan(COMPACTED | {"delete.retention.ms": "0"}, write_compacted_twice),
    "compacted-transactions": OurPlan(COMPACTED, write_compacted_transactions),
    "trimmed": OurPlan(SMALL, write_trimmed),
}


def write_partition(directory: LogDirectory, topic: str, plan: OurPlan, topic_id: bytes) -> Log:
    """Make the topic's only partition and write it; the log is still open."""
    config = topic_config(plan.configs, BrokerLayers())
    log = directory.create(TopicPartition(topic, 0), config, TopicId(topic_id))
    plan.write(Writer(directory, log))
    return log
