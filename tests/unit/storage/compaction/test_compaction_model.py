"""Anything may be written, in any order; compaction must leave exactly what the rules say."""

from __future__ import annotations

from random import Random

import pytest
from tests.unit.storage.compaction.compaction_world import RETENTION_MS, World

from ottla.base.files.readers import BLOCKING
from ottla.protocol.records.control import read_end_marker
from ottla.storage.compaction.request import CleanSummary
from ottla.storage.log.recovery import Checkpoint
from ottla.storage.producers.producer_replay import replay
from ottla.storage.producers.producer_state import ProducerStates

Horizons = dict[int, int]  # when the tombstones of a batch may go, by its base offset

KEYS = [b"a", b"b", b"c", b"d", b"e", b"f"]
CODECS = [0, 0, 0, 1, 2, 3, 4]


class Story:
    """What a random sequence of steps does to a world; the seed is the whole story."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.world = World()
        self.horizons: Horizons = {}
        self.steps = {
            self.produce_plain: 20,
            self.produce_with_id: 30,
            self.end_transaction: 25,
            self.wait: 6,
            self.change_map: 4,
            self.roll: 8,
            self.compact: 12,
            self.reopen: 1,
        }

    def run(self, steps: int) -> None:
        for step in self.random.choices(list(self.steps), list(self.steps.values()), k=steps):
            step()
        for producer in self.world.producers.values():
            if producer.transaction is not None:
                self.world.end(producer.number, self.random.random() < 0.5)
        for _ in range(3):
            self.world.clock.advance_ms(RETENTION_MS)
            self.roll()
            self.compact()

    def produce_plain(self) -> None:
        self.world.produce(self.rows(), codec=self.random.choice(CODECS))

    def produce_with_id(self) -> None:
        producer = self.random.randint(1, 4)
        self.world.produce(self.rows(), producer=producer, is_transactional=producer > 1)

    def rows(self) -> list[tuple[bytes, bytes | None]]:
        values = [None, b"", b"v", b"value" * 10]
        count = self.random.randint(1, 4)
        return [(self.random.choice(KEYS), self.random.choice(values)) for _ in range(count)]

    def end_transaction(self) -> None:
        is_commit, bumps = self.random.random() < 0.5, self.random.random() < 0.3
        self.world.end(self.random.randint(2, 5), is_commit, bumps_epoch=bumps)

    def wait(self) -> None:
        self.world.clock.advance_ms(self.random.choice([1, RETENTION_MS - 1, RETENTION_MS]))

    def change_map(self) -> None:
        self.world.map_keys_max = self.random.choice([1, 2, 3, 4, 100])

    def roll(self) -> None:
        self.world.log.roll()

    def compact(self) -> None:
        summary = self.world.compact()
        if summary is not None:
            check_cleaned(self.world, summary, self.horizons)
        self.world.check()
        check_transactions(self.world)
        check_producers(self.world)

    def reopen(self) -> None:
        self.world.disk.kill()
        self.world.open(Checkpoint())
        self.world.check()


@pytest.mark.parametrize("seed", range(40))
def test_compaction_keeps_what_readers_rely_on_and_nothing_else(seed: int) -> None:
    Story(seed).run(steps=150)


def check_cleaned(world: World, summary: CleanSummary, horizons: Horizons) -> None:
    """Below the end of the round: the newest of each key, less tombstones whose time has come."""
    end_offset, now_ms = summary.end_offset, world.clock.now_ms()
    present = world.present()
    ends = {header.base_offset: header.next_offset for header, _ in world.batches()}
    newest = {each.record.offset: each for each in world.newest(end_offset).values()}
    for offset, written in world.written.items():
        if offset >= end_offset:
            assert offset in present
        elif offset in newest:
            horizon_ms = horizons.get(written.batch_base)
            is_due = horizon_ms is not None and horizon_ms <= now_ms
            assert (offset in present) == (written.record.value is not None or not is_due)
        elif offset in present:  # only in a batch that reaches beyond the end of the round
            assert ends[written.batch_base] > end_offset
            assert not world.is_visible(written)
    for offset in present:
        written = world.written[offset]
        if written.record.value is None and ends[written.batch_base] <= end_offset:
            horizons.setdefault(written.batch_base, now_ms + RETENTION_MS)


def check_transactions(world: World) -> None:
    """Records of a transaction that has ended are still followed by its marker."""
    open_since: dict[int, int] = {}
    for header, batch in world.batches():
        if header.is_control:
            if read_end_marker(batch) is not None:
                open_since.pop(header.producer_id, None)
        elif header.is_transactional:
            open_since.setdefault(header.producer_id, header.base_offset)
    undecided = {p.number for p in world.producers.values() if p.transaction is not None}
    assert open_since.keys() == undecided


def check_producers(world: World) -> None:
    """A broker that lost its snapshots rebuilds an equal state of producers from the records."""
    replayed = ProducerStates(world.log.segments[0].base_offset)
    replay(BLOCKING, replayed, world.log.segments, world.log.log_end_offset)
    assert facts(replayed) == facts(world.log.producers.load(BLOCKING))


def facts(states: ProducerStates) -> dict[int, tuple[int, ...]]:
    return {
        producer_id: (
            entry.epoch,
            entry.last_sequence,
            entry.last_offset,
            entry.last_offset_delta,
            entry.has_open_transaction,
        )
        for producer_id, entry in states.producers.items()
    }
