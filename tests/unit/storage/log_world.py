"""A log directory with one partition on the failing disk, and a plain list of what is in the log.

The list is the model. Whatever is done to the log and to the disk, the log must hold what the
list says, down to the last byte, and answer every question as a look through the list would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.batch import (
    BatchHeader,
    iterate_headers,
    read_header,
    stamp_offset_and_epoch,
)
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.control import build_end_marker, read_end_marker
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import (
    HIGH_WATERMARKS_NAME,
    LEADER_EPOCHS_NAME,
    RECOVERY_POINTS_NAME,
)
from ottla.storage.log.append import Appended, ProducedBy
from ottla.storage.log.log import Log
from ottla.storage.log.read_range import ReadRange
from ottla.storage.producers.append_decisions import AppendOrigin
from ottla.storage.producers.producer_state import ProducerStates
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import IgnoringListener

PARTITION = TopicPartition("t", 0)
DIRECTORY = "/data"
PATH = f"{DIRECTORY}/t-0"
OWNER = Owner("cluster", 1)
COORDINATOR = ProducedBy(AppendOrigin.COORDINATOR)
SEQUENCES = 2**31  # after the last of them comes 0

CONFIG = TopicConfig(
    segment_bytes=1500,
    index_interval_bytes=200,
    segment_ms=10_000,
    retention_ms=60_000,
    file_delete_delay_ms=1000,
)


@dataclass(slots=True)
class Producer:
    number: int
    epoch: int = 0
    sequence: int = 0
    is_in_transaction: bool = False
    sent: list[tuple[bytes, int]] = field(default_factory=list)  # batches as sent, their offsets


class World:
    def __init__(
        self,
        seed: int = 0,
        config: TopicConfig = CONFIG,
        first_sequence: int = 0,
        times_ms: Sequence[int] = (),
    ) -> None:
        self.clock = ManualClock()
        self.disk = MemoryDisk(clock=self.clock)
        self.disk.make_directory(DIRECTORY)
        self.disk.sync_directory("/")
        self.config = config
        self.random = Random(seed)
        self.leader_epoch = 0
        self.durable_end = 0  # up to here everything was synced
        self.batches: list[bytes] = []  # the log, whole batches as stored
        self.ever: dict[int, set[bytes]] = {}  # all that was ever stored at an offset
        self.failed: bytes | None = None  # the last append that failed
        self.times_ms = times_ms  # of records, unless they are of this moment
        self.first_sequence = first_sequence  # of producers that the log does not know
        self.producers = [Producer(number, sequence=first_sequence) for number in range(1, 4)]
        self.manager = LogManager(
            self.disk, self.clock, Random(seed), [DIRECTORY], IgnoringListener()
        )
        self.manager.open(OWNER)
        list(self.manager.load(lambda _topic: config))
        self.manager.create(PARTITION, config)
        self.manager.directories[0].table.write_checkpoints()  # as a broker does every few seconds

    @property
    def log(self) -> Log:
        log = self.manager.get(PARTITION)
        assert log is not None
        return log

    @property
    def end_offset(self) -> int:
        """Of the list."""
        last = read_header(self.batches[-1]).next_offset if self.batches else 0
        return max(last, self._end_floor)

    _end_floor = 0  # where the log continued after records at its end were lost

    # Appending

    def records(self, count: int) -> list[Record]:
        now_ms = self.clock.now_ms()
        return [
            Record(
                at,
                self.random.choice(self.times_ms or (now_ms - self.random.randrange(0, 2000),)),
                b"k%d" % self.random.randrange(5),
                bytes([self.random.randrange(256)]) * self.random.randrange(0, 60),
            )
            for at in range(count)
        ]

    def append(self, producer: Producer | None = None, *, is_transactional: bool = False) -> None:
        count = self.random.randrange(1, 5)
        batch = build_batch(
            self.records(count),
            codec=self.random.choice((0, 0, 1, 2, 3, 4)),
            producer_id=-1 if producer is None else producer.number,
            producer_epoch=-1 if producer is None else producer.epoch,
            base_sequence=-1 if producer is None else producer.sequence,
            is_transactional=is_transactional,
        )
        sent = bytes(batch)
        try:
            appended = self.log.append_as_leader(batch, self.leader_epoch)
        except StorageUnavailable:
            self.failed = bytes(batch)
            self._note(
                self.failed
            )  # it may still be there after a power cut, but was not acknowledged
            raise
        assert not appended.is_duplicate
        self._appended(bytes(batch), appended)
        if producer is not None:
            producer.sequence = (producer.sequence + count) % SEQUENCES
            producer.sent.append((sent, appended.first_offset))
            producer.is_in_transaction = producer.is_in_transaction or is_transactional

    def end_transaction(self, producer: Producer, is_commit: bool) -> None:
        marker = build_end_marker(
            is_commit,
            0,
            producer_id=producer.number,
            producer_epoch=producer.epoch,
            timestamp_ms=self.clock.now_ms(),
        )
        appended = self.log.append_as_leader(marker, self.leader_epoch, COORDINATOR)
        self._appended(bytes(marker), appended)
        producer.is_in_transaction = False

    def replicate(self, *, gap: int = 0) -> None:
        """Several batches at once, as a follower gets them, perhaps with the last one cut off."""
        data, offset = bytearray(), self.log.log_end_offset + gap
        batches = []
        for _ in range(self.random.randrange(1, 6)):
            batch = build_batch(self.records(self.random.randrange(1, 4)))
            stamp_offset_and_epoch(batch, 0, offset, self.leader_epoch)
            offset = read_header(batch).next_offset
            batches.append(bytes(batch))
            data += batch
        self.log.append_as_follower(bytes(data) + bytes(data[: self.random.randrange(0, 61)]))
        for each in batches:
            self._remember(each)

    def _appended(self, sent: bytes, appended: Appended) -> None:
        stored = self.stored_last()
        header = read_header(stored)
        assert header.base_offset == appended.first_offset == self.end_offset
        assert header.last_offset == appended.last_offset
        if self.config.compression_type == "producer":
            assert stored == sent
        self._remember(stored)

    def _remember(self, stored: bytes) -> None:
        self.batches.append(stored)
        self._note(stored)

    def _note(self, stored: bytes) -> None:
        self.ever.setdefault(read_header(stored).base_offset, set()).add(stored)

    # Cutting

    def truncate_to(self, offset: int) -> None:
        """A new leader's log ends there; what follows is written in its epoch."""
        self.log.truncate_to(offset)
        while self.batches and read_header(self.batches[-1]).last_offset >= offset:
            self.batches.pop()
        assert self.log.log_end_offset <= offset
        self._end_floor = 0 if self.batches else self.log.log_end_offset
        self._cut()

    def start_at(self, offset: int) -> None:
        self.log.truncate_fully_and_start_at(offset)
        self.batches.clear()
        self._end_floor = offset
        self._cut()

    def _cut(self) -> None:
        self.leader_epoch += 1
        self.durable_end = min(self.durable_end, self.end_offset)
        self.adopt_producers()

    def drop_before_start(self) -> None:
        """Forget what retention, or the reader's start, took away, as far as segments are gone."""
        first = self.log.segments[0].base_offset
        while self.batches and read_header(self.batches[0]).last_offset < first:
            self.batches.pop(0)
        if not self.batches:
            self._end_floor = self.log.log_end_offset

    def flush(self) -> None:
        from ottla.storage.log.flushing import flush

        flush(self.log)
        self.durable_end = self.end_offset

    # Stopping and starting

    def close_and_reopen(self) -> None:
        self.manager.close(broker_epoch=7)
        self.reopen()
        self.durable_end = self.end_offset

    def kill_and_reopen(self) -> None:
        self.disk.kill()
        self.reopen()

    def crash_and_reopen(self) -> None:
        """The power goes: what was not synced may be lost, or come back after it was cut."""
        self.disk.crash(self.random)
        self.reopen()
        self.adopt()

    def reopen(self) -> None:
        self.manager = LogManager(self.disk, self.clock, Random(1), [DIRECTORY], IgnoringListener())
        self.manager.open(OWNER)
        list(self.manager.load(lambda _topic: self.config))
        self.log.update_high_watermark(self.log.log_end_offset)

    def adopt(self) -> None:
        """Adopt the state of the log, after checking that it kept what was promised."""
        survivors = self.stored()  # perhaps with deleted ones in front
        promised = range(self.log.log_start_offset, self.durable_end)
        durable = [b for b in self.batches if read_header(b).last_offset in promised]
        first = read_header(durable[0]).base_offset if durable else 0
        kept = [b for b in survivors if read_header(b).base_offset >= first][: len(durable)]
        assert kept == durable, "synced batches are lost"
        assert self.log.log_end_offset >= self.durable_end
        self._check_history(survivors)
        self.batches = survivors
        self._end_floor = self.log.log_end_offset
        self.leader_epoch += 1
        self.adopt_producers()

    def _check_history(self, survivors: list[bytes]) -> None:
        """They are the beginning of the log, and nothing that was ever cut off or replaced. In
        front deleted ones may have come back, at the end the one of an append that failed."""
        for batch in survivors:
            assert batch in self.ever[read_header(batch).base_offset], "never written like this"
        first = read_header(self.batches[0]).base_offset if self.batches else self.end_offset
        known = [b for b in survivors if read_header(b).base_offset >= first]
        if known and known[-1] == self.failed:
            known.pop()
        assert known == self.batches[: len(known)], "a history that never was"

    def adopt_producers(self) -> None:
        """Producers learn which of their batches were kept, and continue from there."""
        for producer in self.producers:
            entry = self.log.producers.load(BLOCKING).producers.get(producer.number)
            producer.sent.clear()
            if entry is None:
                producer.epoch, producer.sequence = producer.epoch + 1, self.first_sequence
                producer.is_in_transaction = False
            else:
                producer.epoch = entry.epoch
                producer.sequence = (entry.last_sequence + 1) % SEQUENCES
                producer.is_in_transaction = entry.has_open_transaction
                if entry.last_sequence < 0:
                    producer.epoch, producer.sequence = entry.epoch + 1, 0

    def helping_files(self) -> list[str]:
        """All files without records, except those that say whose directory it is, and leader
        epochs: these carry no checksum, nor does a batch's, so one of two alone may be wrong."""
        names = self.disk.list_directory(PATH)
        others = (".log", LEADER_EPOCHS_NAME)
        helping = [f"{PATH}/{name}" for name in names if not any(each in name for each in others)]
        offsets = [f"{DIRECTORY}/{name}" for name in (RECOVERY_POINTS_NAME, HIGH_WATERMARKS_NAME)]
        return [path for path in helping + offsets if self.disk.exists(path)]

    # Reading

    def stored_last(self) -> bytes:
        """The last batch of the active segment."""
        active = self.log.segments.active
        data = active.open(BLOCKING).read_at(0, active.size)
        return [data[at : at + header.size_bytes] for at, header in iterate_headers(data)][-1]

    def stored(self) -> list[bytes]:
        """Every batch that the log has, read from its first segment on."""
        data = b"".join(
            segment.open(BLOCKING).read_at(0, segment.size) for segment in self.log.segments
        )
        return [data[at : at + header.size_bytes] for at, header in iterate_headers(data)]

    def read_all(self, bytes_max: int) -> Iterator[tuple[ReadRange, int]]:
        """Ranges from the start of the log to its end, as a reader gets them, with the offset."""
        offset, end = self.log.log_start_offset, self.log.log_end_offset
        while offset < end:
            found = verified(self.log, offset, bytes_max, end)
            headers = [header for _, header in iterate_headers(found.records.read())]
            if not headers:
                return
            yield found, offset
            offset = headers[-1].next_offset

    def headers(self) -> list[BatchHeader]:
        return [read_header(batch) for batch in self.batches]


def verified(log: Log, offset: int, bytes_max: int, end_offset: int) -> ReadRange:
    found = log.read(BLOCKING, offset, bytes_max, end_offset, with_aborted=True)
    if found.check is not None:
        found.check.run()
        assert found.check.confirm()
        again = log.read(BLOCKING, offset, bytes_max, end_offset, with_aborted=True)
        assert again.check is None
    return found


def replayed(batches: list[bytes]) -> ProducerStates:
    """The producer state that these batches make."""
    states = ProducerStates(read_header(batches[0]).base_offset if batches else 0)
    for batch in batches:
        header = read_header(batch)
        states.apply(header, read_end_marker(batch) if header.is_control else None)
    return states


def described(states: ProducerStates, *, with_windows: bool = True) -> dict[int, object]:
    """All that counts of a producer state. Of their windows of batches only the last is certain
    once records have been deleted."""
    return {
        producer_id: (
            entry.epoch,
            entry.coordinator_epoch,
            entry.last_timestamp,
            entry.transaction_first_offset,
            # A snapshot keeps one timestamp for the producer and its last batch.
            [batch[:4] for batch in entry.batches()[0 if with_windows else -1 :]],
        )
        for producer_id, entry in states.producers.items()
    }


def last_stable_offset(batches: list[bytes], high_watermark: int) -> int:
    """By a look through the whole list: before every transaction that is open, or whose marker is
    not below the high watermark."""
    begun: dict[int, int] = {}
    unstable = [high_watermark]
    for batch in batches:
        header = read_header(batch)
        if header.is_control:
            first = begun.pop(header.producer_id, None)
            if first is not None and header.base_offset >= high_watermark:
                unstable.append(first)
        elif header.is_transactional:
            begun.setdefault(header.producer_id, header.base_offset)
    return min([*unstable, *begun.values()])


def aborted_transactions(batches: list[bytes]) -> list[tuple[int, int, int]]:
    """(producer id, first offset, last offset) of all that were aborted."""
    states, found = ProducerStates(0), []
    for batch in batches:
        header = read_header(batch)
        done = states.apply(header, read_end_marker(batch) if header.is_control else None)
        if done is not None and done.is_aborted:
            found.append((done.producer_id, done.first_offset, done.last_offset))
    return found


def all_records(batches: list[bytes]) -> list[Record]:
    return [record for batch in batches for record in iterate_records(batch)]


def raises_corrupt(action: Callable[[], object]) -> bool:
    try:
        action()
    except CorruptLogError:
        return True
    return False
