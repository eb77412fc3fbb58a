"""Decisions of many sinks at random, with a log that is compacted between reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import pytest
from tests.unit.spark.sink.test_decision_copy import batch_of

from ottla.protocol.records.building import build_batch
from ottla.protocol.records.control import build_end_marker
from ottla.protocol.records.record import Record
from ottla.spark.sink.decision_copy import DecisionCopy
from ottla.spark.sink.decisions import DECISION, CommitDecision, encode_decision, key_of

SINKS = ("a", "b", "c")
PRODUCERS = (7, 8, 9)


@dataclass
class Written:
    """A batch as it was appended."""

    first_offset: int
    producer: int | None
    entries: list[tuple[int, str | None, int | None]]  # offset, sink, batch; no sink: no key
    marks: bool | None = None  # for a marker: whether it commits

    @property
    def last_offset(self) -> int:
        return self.entries[-1][0] if self.entries else self.first_offset


@dataclass
class Topic:
    """What was appended, what became of each transaction, and what compaction has left."""

    rng: Random
    left: list[Written] = field(default_factory=list)
    open: dict[int, list[Written]] = field(default_factory=dict)
    valid: dict[str, tuple[int, int | None]] = field(default_factory=dict)  # offset, batch
    aborted: list[int] = field(default_factory=list)  # offsets of records
    end_offset: int = 0
    batch: int = 0

    def write(self) -> None:
        producer = self.rng.choice((None, *PRODUCERS))
        written = Written(self.end_offset, producer, [])
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            self.batch += 1
            sink = self.rng.choice((*SINKS, None))
            batch = None if self.rng.random() < 0.2 else self.batch
            written.entries.append((self.end_offset, sink, batch))
            self.end_offset += 1
        self.left.append(written)
        if producer is None:
            self.count(written)
        else:
            self.open.setdefault(producer, []).append(written)

    def count(self, written: Written) -> None:
        for offset, sink, batch in written.entries:
            if sink is not None and offset > self.valid.get(sink, (-1, None))[0]:
                self.valid[sink] = offset, batch

    def end(self) -> None:
        producer, is_commit = self.rng.choice(PRODUCERS), self.rng.random() < 0.5
        self.left.append(Written(self.end_offset, producer, [], is_commit))
        self.end_offset += 1
        for written in self.open.pop(producer, []):
            if is_commit:
                self.count(written)
            else:
                self.aborted += [offset for offset, _, _ in written.entries]

    @property
    def stable_offset(self) -> int:
        firsts = [each[0].first_offset for each in self.open.values()]
        return min(firsts, default=self.end_offset)

    def compact(self) -> None:
        """Up to somewhere before the last stable offset. What aborted transactions wrote goes; of
        a key at least the newest record stays. A marker may go once nothing is left of its
        transaction."""
        newest = {offset for offset, _ in self.valid.values()}
        point = self.rng.choice((self.stable_offset, self.rng.randrange(self.stable_offset + 1)))
        begun: set[int | None] = set()  # producers of whose transaction something is left
        for written in [each for each in self.left if each.last_offset < point]:
            if written.marks is not None:
                if written.producer not in begun and self.rng.random() < 0.5:
                    self.left.remove(written)
                begun.discard(written.producer)
                continue
            written.entries = [
                each
                for each in written.entries
                if each[0] not in self.aborted and (each[0] in newest or self.rng.random() < 0.5)
            ]
            if not written.entries:
                self.left.remove(written)
            else:
                begun.add(written.producer)

    def bytes_from(self, offset: int) -> bytes:
        """As a fetch returns them: the first batch may begin earlier."""
        return b"".join(encoded(each) for each in self.left if each.last_offset >= offset)


def encoded(written: Written) -> bytes:
    if written.marks is not None:
        assert written.producer is not None
        return bytes(
            build_end_marker(
                written.marks, 0, producer_id=written.producer, producer_epoch=0, timestamp_ms=0,
                base_offset=written.first_offset,
            )
        )  # fmt: skip
    is_transactional = written.producer is not None
    records = [
        Record(
            offset,
            0,
            None if sink is None else key_of(DECISION, sink),
            None
            if batch is None or sink is None
            else encode_decision(CommitDecision(sink, "query", batch, ())),
        )
        for offset, sink, batch in written.entries
    ]
    return bytes(
        build_batch(
            records,
            base_offset=written.first_offset,
            producer_id=-1 if written.producer is None else written.producer,
            producer_epoch=0 if is_transactional else -1,
            base_sequence=0 if is_transactional else -1,
            is_transactional=is_transactional,
        )
    )


def read(topic: Topic, copy: DecisionCopy) -> None:
    """In one fetch or two, the second of which may repeat some of the first."""
    data = topic.bytes_from(copy.next_offset)
    if topic.rng.random() < 0.5:
        some = [each for each in topic.left if each.last_offset >= copy.next_offset]
        copy.add(b"".join(map(encoded, some[: topic.rng.randrange(len(some) + 1)])))
    copy.add(data)
    copy.settle(topic.stable_offset, topic.end_offset)


@pytest.mark.parametrize("seed", range(60))
def test_the_last_valid_decision_counts_however_the_log_is_read_and_compacted(seed: int) -> None:
    rng = Random(seed)
    topic, copy = Topic(rng), DecisionCopy(bytes(16), 0)
    for _ in range(60):
        match rng.randrange(12):
            case 0 | 1 | 2:
                topic.write()
            case 3 | 4:
                topic.end()
            case 5 | 6 | 7:
                topic.compact()
            case 8:
                if rng.random() < 0.3:
                    copy = DecisionCopy(bytes(16), 0)  # another process
            case _:
                read(topic, copy)
                found = {sink: batch_of(copy, sink) for sink in SINKS}
                assert found == {sink: topic.valid.get(sink, (0, None))[1] for sink in SINKS}
                assert topic.open or copy.next_offset == topic.end_offset
