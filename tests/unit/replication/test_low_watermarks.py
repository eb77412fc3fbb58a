"""The least log start of the living replicas, and who waits for it."""

from __future__ import annotations

import pytest
from tests.support.steps_by_hand import JobsLater
from tests.unit.storage.log_making import Place, batch_of

from ottla.base.ids import TopicId, TopicPartition
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.fetch_sessions import FetchKey, FetchSession, WantedPartition
from ottla.replication.leadership import Leadership
from ottla.replication.low_watermarks import LowWatermarks
from ottla.replication.partition import Partition
from ottla.replication.sole_replica import SoleReplica

ME, OTHER, THIRD = 1, 2, 3
ALL = (ME, OTHER, THIRD)
NAME = TopicPartition("t", 0)
TOPIC_ID = TopicId(b"sixteen bytes ID")


class Reports(SoleReplica):
    """Passes on what concerns the low watermark."""

    low_watermarks: LowWatermarks

    def __init__(self) -> None:
        self.log_starts: list[Partition] = []

    def log_start_advanced(self, partition: Partition) -> None:
        self.log_starts.append(partition)

    def low_watermark_changed(self, partition: Partition) -> None:
        self.low_watermarks.changed(partition)


class World:
    def __init__(self) -> None:
        self.alive = set(ALL)
        self.reported = Reports()
        self.low_watermarks = self.reported.low_watermarks = LowWatermarks(self.alive.__contains__)
        log = Place().open()
        self.partition = Partition(NAME, TOPIC_ID, ME, log, JobsLater(), self.reported)
        self.epoch = 0
        self.decide(ME)
        self.partition.append(batch_of(*[b"v"] * 10), 1)
        for each in (OTHER, THIRD):
            self.reports(each, 0)
        log.advance_log_start(7)
        self.outcomes: list[Exception | None] = []

    def decide(self, leader: int, replicas: tuple[int, ...] = ALL) -> None:
        self.epoch += 1
        decided = Leadership(leader, self.epoch, self.epoch, replicas, replicas)
        self.partition.lead_or_follow(decided, 0)

    def reports(self, broker_id: int, log_start: int) -> None:
        self.partition.follower_fetched(broker_id, 5, 10, log_start, 0)

    def wait(self, offset: int = 7) -> None:
        self.low_watermarks.wait(self.partition, offset, self.outcomes.append)

    @property
    def low_watermark(self) -> int:
        return self.low_watermarks.of(self.partition)


@pytest.fixture
def world() -> World:
    return World()


def test_it_is_the_least_of_the_living_replicas(world: World) -> None:
    assert world.low_watermark == 0
    world.reports(OTHER, 7)
    world.reports(THIRD, 5)
    assert world.low_watermark == 5
    world.alive.remove(THIRD)
    assert world.low_watermark == 7
    world.reports(OTHER, 9)  # by its own retention
    assert world.low_watermark == 7


def test_a_replica_that_has_not_fetched_has_an_unknown_log_start(world: World) -> None:
    world.decide(ME)  # a new epoch
    assert world.low_watermark == -1


def test_waiters_are_called_when_the_last_replica_has_reported(world: World) -> None:
    world.wait()
    world.reports(OTHER, 7)
    assert not world.outcomes
    world.reports(THIRD, 6)
    assert not world.outcomes
    world.reports(THIRD, 7)
    assert world.outcomes == [None]
    assert not world.low_watermarks


def test_a_replica_that_ends_or_is_removed_is_not_waited_for(world: World) -> None:
    world.reports(OTHER, 7)
    world.wait()
    world.alive.remove(THIRD)
    world.low_watermarks.brokers_changed()
    assert world.outcomes == [None]
    world.alive.add(THIRD)
    world.wait()
    assert world.outcomes == [None]
    world.decide(ME, (ME, OTHER))  # it has not fetched in this epoch yet
    assert world.outcomes == [None]
    world.reports(OTHER, 7)
    assert world.outcomes == [None, None]


def test_a_reached_offset_is_not_waited_for(world: World) -> None:
    world.wait(0)
    assert world.outcomes == [None]
    assert not world.low_watermarks


def test_another_leader_ends_the_wait(world: World) -> None:
    world.wait()
    world.decide(OTHER)
    (error,) = world.outcomes
    assert isinstance(error, BrokerError)
    assert error.code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert not world.low_watermarks


def test_a_removed_partition_ends_the_wait(world: World) -> None:
    world.wait()
    world.partition.close()
    assert len(world.outcomes) == 1
    assert not world.low_watermarks


def test_who_leaves_is_not_called_and_nothing_remains(world: World) -> None:
    waiter = world.low_watermarks.wait(world.partition, 7, world.outcomes.append)
    assert len(world.low_watermarks) == 1
    world.low_watermarks.stop_waiting(world.partition, waiter)
    assert not world.low_watermarks
    world.reports(OTHER, 7)
    world.reports(THIRD, 7)
    assert not world.outcomes


def test_followers_with_a_session_receive_a_new_log_start_once(world: World) -> None:
    key = FetchKey("t", 0)
    session = FetchSession(1, True, False, 0)
    wanted = WantedPartition(key, 10, 100)
    session.add(wanted)
    world.partition.fetches.notify_session(session, key)
    world.partition.notify_log_start()
    assert world.reported.log_starts == [world.partition]
    wanted.record_sent(0, world.partition.log.high_watermark, 5)
    session.record_read(key, session.marked[key], has_more=False)
    world.partition.send_followers_offsets()
    assert session.has_offset_updates
    assert key in session.marked
    session.has_offset_updates = False
    wanted.record_sent(0, world.partition.log.high_watermark, 7)
    world.partition.send_followers_offsets()
    assert not session.has_offset_updates
