"""A partition on the in-memory disk, and a plain list of what was ever written to it.

The list is the model: whatever compaction and power cuts do, the log must hold what the list says
a reader may rely on, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.batch import BatchHeader, iterate_headers
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.control import build_end_marker, read_end_marker
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record
from ottla.storage.compaction.cleaner import clean
from ottla.storage.compaction.cleaner_offsets import CleanerOffsets
from ottla.storage.compaction.compactor import Compactor, Round
from ottla.storage.compaction.key_map import KeyMap
from ottla.storage.compaction.request import CleanedGroup, CleaningLimits, CleanSummary
from ottla.storage.compaction.throttle import NoThrottle
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.log.append import ProducedBy
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint, open_log
from ottla.storage.producers.append_decisions import AppendOrigin
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import log_context

PARTITION = TopicPartition("t", 0)
DIRECTORY = "/logs"
PATH = f"{DIRECTORY}/t-0"
RETENTION_MS = 1000
EVERYTHING = 1 << 40

State = dict[bytes | None, bytes | None]  # by key

CONFIG = TopicConfig(
    cleanup_policy=("compact",),
    segment_bytes=900,
    index_interval_bytes=150,
    delete_retention_ms=RETENTION_MS,
    min_cleanable_dirty_ratio=0.0,
    file_delete_delay_ms=0,
)


@dataclass(slots=True)
class Written:
    """A record as it was written, with the fate of its transaction."""

    record: Record
    batch_base: int
    transaction: int | None = None  # its number


@dataclass(slots=True)
class Producer:
    number: int
    epoch: int = 0
    sequence: int = 0
    transaction: int | None = None


@dataclass
class World:
    disk: MemoryDisk = field(default_factory=MemoryDisk)
    clock: ManualClock = field(default_factory=ManualClock)
    config: TopicConfig = CONFIG
    limits: CleaningLimits = field(default_factory=lambda: CleaningLimits(read_bytes=300))
    map_keys_max: int = 1000
    written: dict[int, Written] = field(default_factory=dict)
    outcomes: list[bool | None] = field(default_factory=list)  # of transactions: committed?
    producers: dict[int, Producer] = field(default_factory=dict)
    log: Log = field(init=False)
    compactor: Compactor = field(init=False)

    def __post_init__(self) -> None:
        self.disk.make_directory(PATH)
        self.disk.sync_directory("/")
        self.disk.sync_directory(DIRECTORY)
        self.open(Checkpoint())

    def open(self, checkpoint: Checkpoint) -> None:
        context = log_context(self.disk, self.clock, DIRECTORY)
        self.log = open_log(context, PARTITION, PATH, self.config, checkpoint)
        self.log.update_high_watermark(self.log.log_end_offset)
        self.compactor = Compactor(CleanerOffsets(self.disk, DIRECTORY), self.limits)

    # Writing

    def produce(
        self,
        rows: list[tuple[bytes, bytes | None]],
        *,
        codec: int = 0,
        producer: int | None = None,
        is_transactional: bool = False,
    ) -> None:
        base, now_ms = self.log.log_end_offset, self.clock.now_ms()
        records = [
            Record(base + at, now_ms + at, key, value, (("h", b"%d" % (base + at)),))
            for at, (key, value) in enumerate(rows)
        ]
        who = self._producer(producer) if producer is not None else None
        if who is not None and is_transactional and who.transaction is None:
            who.transaction = len(self.outcomes)
            self.outcomes.append(None)
        is_transactional = who is not None and who.transaction is not None
        numbered_from_0 = [record._replace(offset=record.offset - base) for record in records]
        batch = build_batch(
            numbered_from_0, codec=codec, is_transactional=is_transactional,
            producer_id=-1 if who is None else who.number,
            producer_epoch=-1 if who is None else who.epoch,
            base_sequence=-1 if who is None else who.sequence,
        )  # fmt: skip
        self.log.append_as_leader(batch, 0)
        if who is not None:
            who.sequence += len(rows)
        for record in records:
            transaction = None if who is None else who.transaction
            self.written[record.offset] = Written(record, base, transaction)
        self.log.update_high_watermark(self.log.log_end_offset)

    def end(self, producer: int, is_commit: bool, *, bumps_epoch: bool = False) -> None:
        """Write a marker, be there records or not."""
        who = self._producer(producer)
        if bumps_epoch:
            who.epoch, who.sequence = who.epoch + 1, 0
        marker = build_end_marker(
            is_commit, 0, producer_id=who.number, producer_epoch=who.epoch,
            timestamp_ms=self.clock.now_ms(),
        )  # fmt: skip
        by = ProducedBy(AppendOrigin.COORDINATOR, transaction_version=2 if bumps_epoch else 1)
        self.log.append_as_leader(marker, 0, by)
        if who.transaction is not None:
            self.outcomes[who.transaction] = is_commit
            who.transaction = None
        self.log.update_high_watermark(self.log.log_end_offset)

    def _producer(self, number: int) -> Producer:
        return self.producers.setdefault(number, Producer(number))

    # Compacting

    def begin(self) -> Round | None:
        return self.compactor.begin(BLOCKING, [self.log], self.clock.now_ms())

    def clean(self, round_: Round) -> Iterator[CleanedGroup | CleanSummary]:
        """The helper's work, in this process, with room for `map_keys_max` keys."""

        def make_map(_keys: int, _bytes: int, _load: float, base: int, secret: bytes) -> KeyMap:
            return KeyMap(self.map_keys_max + 1, self.map_keys_max, base, secret)

        return clean(round_.request, self.disk, NoThrottle(), bytes(16), make_map)

    def compact(self) -> CleanSummary | None:
        """One round, in this process. None where there was nothing to do."""
        round_ = self.begin()
        if round_ is None:
            return None
        event = None
        for event in self.clean(round_):
            run_blocking(self.compactor.taking(round_, event))
        for removal in self.log.context.deletions.take_due(self.clock.now_ms()):
            removal.run()
        assert isinstance(event, CleanSummary)
        return event

    # Reading

    def batches(self) -> list[tuple[BatchHeader, bytes]]:
        """Every batch of the log, whole."""
        found = []
        for segment in self.log.segments:
            data = segment.open(BLOCKING).read_at(0, segment.size)
            for position, header in iterate_headers(data):
                found.append((header, data[position : position + header.size_bytes]))
        return found

    def present(self) -> dict[int, Record]:
        """All data records in the log, by offset."""
        return {
            record.offset: record
            for header, batch in self.batches()
            if not header.is_control
            for record in iterate_records(batch)
        }

    def read_committed(self) -> list[Record]:
        """What a consumer with isolation level read_committed sees from the start."""
        offset, end = self.log.log_start_offset, self.log.last_stable_offset(BLOCKING)
        records: list[Record] = []
        while offset < end:
            found = self.log.read(BLOCKING, offset, EVERYTHING, end, with_aborted=True)
            if found.check is not None:
                found.check.run()
                found.check.confirm()
            data = found.records.file.read_at(found.records.position, len(found.records))
            if not data:
                break
            records += committed(data, found.aborted or [], offset)
            offset = [header for _, header in iterate_headers(data)][-1].next_offset
        return records

    # Comparing

    def is_visible(self, written: Written) -> bool:
        return written.transaction is None or self.outcomes[written.transaction] is True

    def newest(self, end_offset: int = EVERYTHING) -> dict[bytes, Written]:
        """The newest committed record of each key, tombstones included."""
        newest: dict[bytes, Written] = {}
        for offset, each in sorted(self.written.items()):
            if offset < end_offset and self.is_visible(each):
                assert each.record.key is not None
                newest[each.record.key] = each
        return newest

    def check(self) -> None:
        """What holds at any time, whatever was compacted, cut off or lost halfway."""
        assert all(self.written[offset].record == r for offset, r in self.present().items())
        stable = self.log.last_stable_offset(BLOCKING)
        seen = self.read_committed()
        assert [r.offset for r in seen] == sorted({r.offset for r in seen})
        assert all(self.is_visible(self.written[r.offset]) for r in seen)
        state = {r.key: r.value for r in seen}
        expected: State = {key: each.record.value for key, each in self.newest(stable).items()}
        assert without_tombstones(state) == without_tombstones(expected)
        # A tombstone may be gone, but then so is everything that it deletes.
        assert all(expected[key] == value for key, value in state.items() if key is not None)


def without_tombstones(state: State) -> State:
    return {key: value for key, value in state.items() if value is not None}


def committed(data: bytes, aborted: list[AbortedTransaction], offset: int) -> list[Record]:
    """What a consumer makes of fetched bytes and the aborted transactions that came with them."""
    waiting = sorted(aborted, key=lambda each: each.first_offset)
    inside: set[int] = set()
    records: list[Record] = []
    for position, header in iterate_headers(data):
        while waiting and waiting[0].first_offset <= header.last_offset:
            inside.add(waiting.pop(0).producer_id)
        if header.is_control:
            marker = read_end_marker(data, position)
            if marker is not None and not marker.is_commit:
                inside.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in inside):
            records += [r for r in iterate_records(data, position) if r.offset >= offset]
    return records
