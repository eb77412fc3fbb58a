"""Random transactions on a leader with a slow disk and a slow follower: what readers may see.

The model is the list of batches. Committed data ends before the first transaction whose marker is
not below the high watermark; all other data ends at the high watermark.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pytest
from tests.unit.replication.test_high_watermark import COORDINATOR, ME, OTHER, World
from tests.unit.storage.log_making import batch_of, marker_of

from ottla.base.files.readers import BLOCKING
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.batch import iterate_headers
from ottla.replication.leader_role import ACKS_ALL
from ottla.storage.log.read_range import ReadRange

PRODUCERS = (5, 6, 7)
ALL = 1 << 20


class Transaction(NamedTuple):
    producer: int
    first_offset: int
    marker_offset: int | None  # None while it is open
    is_commit: bool


class Story:
    def __init__(self, random: Random) -> None:
        self.random = random
        config = TopicConfig(flush_messages=random.choice((1, 2, 1000)))
        self.world = World(config, replicas=random.choice(((ME,), (ME, OTHER))))
        self.transactions: list[Transaction] = []
        self.sequences = dict.fromkeys(PRODUCERS, 0)

    @property
    def end(self) -> int:
        return self.world.partition.log.log_end_offset

    def open_one(self, producer: int) -> Transaction | None:
        found = (each for each in self.transactions if each.producer == producer)
        return next((each for each in found if each.marker_offset is None), None)

    # Steps

    def append(self) -> None:
        self.world.append(b"plain")

    def write(self) -> None:
        producer = self.random.choice(PRODUCERS)
        if self.open_one(producer) is None:
            self.transactions.append(Transaction(producer, self.end, None, False))
        sequence = self.sequences[producer]
        self.sequences[producer] += 1
        batch = batch_of(b"v", producer=(producer, 0, sequence), is_transactional=True)
        self.world.partition.append(batch, ACKS_ALL)

    def end_one(self) -> None:
        producer = self.random.choice(PRODUCERS)
        found, is_commit = self.open_one(producer), self.random.random() < 0.5
        if found is not None:
            at = self.transactions.index(found)
            self.transactions[at] = found._replace(marker_offset=self.end, is_commit=is_commit)
            marker = marker_of(producer, is_commit=is_commit)
            self.world.partition.append(marker, ACKS_ALL, COORDINATOR)

    def sync(self) -> None:
        if self.world.syncs.waiting:
            self.world.syncs.run_one()

    def follow(self) -> None:
        if OTHER in self.world.replicas:
            self.world.fetched(OTHER, self.random.randint(self.world.high_watermark, self.end))

    def restart_epoch(self) -> None:
        self.world.decide(ME)

    # What readers see

    def check(self) -> None:
        high_watermark = self.world.high_watermark
        undecided = [
            each.first_offset
            for each in self.transactions
            if each.marker_offset is None or each.marker_offset >= high_watermark
        ]
        stable = min([high_watermark, *undecided])
        start = self.random.randint(0, high_watermark)
        for is_committed, end in ((False, high_watermark), (True, stable)):
            found = self.world.partition.read(
                BLOCKING, min(start, end), ALL, is_committed=is_committed, at_least_one=True
            )
            assert offsets_of(found) == list(range(min(start, end), end))
            if is_committed and start < end:
                self.check_aborted(found, start, end)

    def check_aborted(self, found: ReadRange, start: int, end: int) -> None:
        """Those that a reader of this range must leave out, and none that was committed."""
        reported = {(each.producer_id, each.first_offset) for each in found.aborted or ()}
        aborted = {
            (each.producer, each.first_offset): each
            for each in self.transactions
            if each.marker_offset is not None and not each.is_commit
        }
        assert reported <= aborted.keys()
        needed = {
            key
            for key, each in aborted.items()
            if each.first_offset < end and each.marker_offset >= start  # type: ignore[operator]
        }
        assert needed <= reported


def offsets_of(found: ReadRange) -> list[int]:
    """All batches have one record."""
    data = found.records.read() if len(found.records) else b""
    return [header.base_offset for _, header in iterate_headers(data)]


@pytest.mark.parametrize("seed", range(12))
def test_readers_see_all_that_is_theirs_and_nothing_that_may_still_change(seed: int) -> None:
    story = Story(Random(seed))
    steps = [story.append, story.end_one, story.sync, story.sync, story.follow, story.follow]
    steps += [story.write] * 3 + [story.end_one]
    for number in range(80):
        story.random.choice(steps)()
        if number % 25 == 24:
            story.restart_epoch()
        story.check()
