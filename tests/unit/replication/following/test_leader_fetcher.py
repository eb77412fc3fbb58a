"""A follower that copies real logs from a leader: what it has after each kind of answer."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable, Coroutine
from math import inf
from typing import Any

import pytest
from tests.support.steps_by_hand import ByHand, JobsLater
from tests.support.virtual_time import run_in_virtual_time
from tests.unit.replication.test_in_sync_changes import LoopClock
from tests.unit.replication.test_several_directories import DamageReports
from tests.unit.storage.log_making import EVERYTHING, Place, batch_of, placed, values_of

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.rates import Windows
from ottla.base.scheduling.steps import Start, Steps, run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.network.channel.errors import ResponseLost
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages import list_offsets_response as offsets
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest
from ottla.protocol.messages.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from ottla.protocol.messages.list_offsets_request import ListOffsetsRequest
from ottla.replication.following.fetched_records import (
    BATCHES_AT_ONCE,
    cut_into_pieces,
    locating,
    taking,
)
from ottla.replication.following.leader_fetcher import LeaderFetcher
from ottla.replication.following.log_restart import restart_log
from ottla.replication.following.lost_leaders import LostLeaders
from ottla.replication.following.replica_session import ReplicaFetchLimits
from ottla.replication.leadership import Leadership
from ottla.replication.partition import Partition
from ottla.replication.replication_quota import ReplicationQuota, fetched_by_followers
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log

LEADER, ME = 1, 2
LIMITS = ReplicaFetchLimits(1 << 20, 10 << 20, 1, 500)
LARGE = TopicConfig(segment_bytes=1 << 20)
SESSION = 77


class AtOnce:
    """Runs steps in the calling task."""

    async def run(self, steps: Steps[Any]) -> Any:
        await asyncio.sleep(0)
        return run_blocking(steps)

    def start(self, steps: Steps[None]) -> None:
        run_blocking(steps)

    def in_thread(self, job: Callable[[], Any]) -> Awaitable[Any]:
        raise NotImplementedError

    async def next(self) -> None:
        await asyncio.sleep(0)


class Leader:
    """Answers as a leader does, from logs of its own. An answer without news waits for a while."""

    def __init__(self) -> None:
        self.logs: dict[tuple[bytes, int], Log] = {}
        self.errors: dict[tuple[bytes, int], ErrorCode] = {}
        self.requests: list[FetchRequest] = []
        self.wanted: dict[tuple[bytes, int], FetchPartition] = {}
        self.lost = 0  # responses that get lost
        self.is_repeating = False  # a response is sent once more
        self.changed = asyncio.Event()
        self.wait_s = 0.5
        self.bytes_max = EVERYTHING  # of one partition, in a response

    def append(self, partition: int, *values: bytes, epoch: int = 1) -> None:
        log = self.logs[topic_of(partition), partition]
        log.append_as_leader(batch_of(*values), epoch)
        log.update_high_watermark(log.log_end_offset)
        self.changed.set()

    async def request(self, request: Message) -> Any:
        if isinstance(request, ListOffsetsRequest):
            return self.list_offsets(request)
        assert isinstance(request, FetchRequest)
        self.requests.append(request)
        self.apply(request)
        number = len(self.requests)
        response = self.respond(request)
        if not response.responses:
            self.changed.clear()
            try:
                async with asyncio.timeout(self.wait_s):
                    while len(self.requests) == number and not self.changed.is_set():
                        await asyncio.sleep(0.001)
            except TimeoutError:
                pass
            response = self.respond(request)
        await asyncio.sleep(0.001)
        if self.lost:
            self.lost -= 1
            raise ResponseLost("the connection was lost")
        return response

    def apply(self, request: FetchRequest) -> None:
        if not request.session_id:
            self.wanted.clear()
        for topic in request.topics:
            for part in topic.partitions:
                self.wanted[bytes(topic.topic_id), part.partition] = part
        for gone in request.forgotten_topics_data:
            for index in gone.partitions:
                self.wanted.pop((bytes(gone.topic_id), index), None)

    def respond(self, request: FetchRequest) -> FetchResponse:
        is_full = not request.session_id
        answers = [
            FetchableTopicResponse("", key[0], [answer])
            for key, part in self.wanted.items()
            if (answer := self.answer(key, part)).records
            or answer.error_code
            or answer.diverging_epoch
            or is_full
        ]
        return FetchResponse(session_id=SESSION, responses=answers)

    def answer(self, key: tuple[bytes, int], part: FetchPartition) -> PartitionData:
        log, index = self.logs[key], part.partition
        if code := self.errors.get(key):
            return PartitionData(index, code, -1, -1, -1, records=b"")
        answer = PartitionData(
            index, 0, log.high_watermark, log.high_watermark, log.log_start_offset, records=b""
        )
        if part.last_fetched_epoch >= 0:
            end = log.epochs.load(BLOCKING).end_offset_for(
                part.last_fetched_epoch, log.log_end_offset
            )
            if end.epoch < part.last_fetched_epoch or end.end_offset < part.fetch_offset:
                answer.diverging_epoch = EpochEndOffset(*end)
                return answer
        if not log.log_start_offset <= part.fetch_offset <= log.log_end_offset:
            answer.error_code = ErrorCode.OFFSET_OUT_OF_RANGE
            return answer
        found = log.read(
            BLOCKING, part.fetch_offset, self.bytes_max, log.log_end_offset, at_least_one=True
        )
        answer.records = found.records.read() if len(found.records) else b""
        return answer

    def list_offsets(self, request: ListOffsetsRequest) -> offsets.ListOffsetsResponse:
        ((name, (part,)),) = [(each.name, each.partitions) for each in request.topics]
        index = part.partition_index
        log = self.logs[topic_of(index), index]
        found = log.log_start_offset if part.timestamp == -2 else log.log_end_offset
        answer = offsets.ListOffsetsPartitionResponse(index, 0, offset=found)
        return offsets.ListOffsetsResponse(
            topics=[offsets.ListOffsetsTopicResponse(name, [answer])]
        )


def topic_of(partition: int) -> TopicId:
    return TopicId(bytes([partition]) * 16)


class World:
    def __init__(
        self,
        partitions: int = 1,
        config: TopicConfig = LARGE,
        start: Start = run_blocking,
        leader: Leader | None = None,
    ) -> None:
        self.leader = leader or Leader()
        self.lost_leaders = LostLeaders()
        self.listener = DamageReports()
        self.partitions: list[Partition] = []
        self.places: list[Place] = []
        for index in range(partitions):
            key = (topic_of(index), index)
            self.leader.logs[key] = Place(config=config).open()
            place = Place(config=config)
            name = TopicPartition("t", index)
            log = place.open()
            self.places.append(place)
            self.partitions.append(Partition(name, key[0], ME, log, start, self.listener))
        self.rate = inf  # bytes a second
        self.quota = ReplicationQuota(
            ME, fetched_by_followers, lambda: self.rate, Windows(4, 1000), LoopClock()
        )
        self.fetcher = LeaderFetcher(
            LEADER,
            ME,
            lambda: 40,
            self.leader.request,
            LIMITS,
            1.0,
            self.quota,
            AtOnce(),
            self.lost_leaders,
        )
        self.task = asyncio.create_task(self.fetcher.run())

    def follow(self, index: int = 0, epoch: int = 1) -> None:
        decided = Leadership(LEADER, epoch, epoch, (LEADER, ME), (LEADER, ME))
        self.partitions[index].lead_or_follow(decided, 0)
        self.fetcher.follow(self.partitions[index])

    def values(self, index: int = 0) -> list[bytes]:
        return values_of(self.partitions[index].log)

    @property
    def reported_end(self) -> int:
        """The largest offset that was fetched: the leader assumes that all before it is copied."""
        topics = (topic for each in self.leader.requests for topic in each.topics)
        return max(part.fetch_offset for topic in topics for part in topic.partitions)

    def leader_values(self, index: int = 0) -> list[bytes]:
        return values_of(self.leader.logs[topic_of(index), index])

    def is_equal(self, index: int = 0) -> bool:
        own, other = self.partitions[index].log, self.leader.logs[topic_of(index), index]
        return self.values(index) == self.leader_values(index) and (
            own.epochs.load(BLOCKING).entries == other.epochs.load(BLOCKING).entries
        )


def story(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_in_virtual_time(test())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@story
async def test_a_follower_whose_own_records_are_damaged_reports_them() -> None:
    """It must not try forever: its replica is copied again once the controller knows."""
    world = World()
    damage = CorruptLogError("t-0/00000000000000000000.log", 7, "no batch")
    reported: list[tuple[Partition, Exception]] = []
    world.listener.on_damage(lambda partition, error: reported.append((partition, error)))

    def fail(*_args: object, **_options: object) -> Any:
        raise damage

    world.leader.append(0, b"a")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Log, "append_as_follower", fail)
        world.follow()
        await asyncio.sleep(0.5)
    assert reported == [(world.partitions[0], damage)]


@story
async def test_records_are_copied_with_their_epochs_and_the_high_watermark() -> None:
    world = World()
    world.leader.append(0, b"a", b"b")
    world.leader.append(0, b"c", epoch=3)
    world.follow(epoch=3)
    await asyncio.sleep(1)
    assert world.values() == [b"a", b"b", b"c"]
    assert world.is_equal()
    world.leader.append(0, b"d", epoch=3)
    await asyncio.sleep(1)
    assert world.values() == [b"a", b"b", b"c", b"d"]
    assert world.partitions[0].log.high_watermark == 4


@story
async def test_a_partition_that_joins_later_does_not_wait_for_the_fetch_of_the_others() -> None:
    world = World(2)
    world.leader.wait_s = 400
    world.follow(0)
    await asyncio.sleep(100)
    world.leader.append(0, b"a")
    await asyncio.sleep(1)
    world.leader.logs[topic_of(1), 1].append_as_leader(batch_of(b"b"), 1)
    await asyncio.sleep(100)
    world.follow(1)
    await asyncio.sleep(1)
    assert world.values(1) == [b"b"]


@story
async def test_what_the_leader_does_not_have_is_removed_epoch_by_epoch() -> None:
    """KIP-279: two leaders have appended since they were last the same."""
    world = World()
    own = world.partitions[0].log
    for value, epoch in ((b"a", 1), (b"b", 1), (b"x", 2), (b"y", 4)):
        own.append_as_leader(batch_of(value), epoch)
    world.leader.append(0, b"a", epoch=1)
    world.leader.append(0, b"b", epoch=1)
    world.leader.append(0, b"p", epoch=3)
    world.leader.append(0, b"q", epoch=5)
    world.follow(epoch=5)
    await asyncio.sleep(2)
    assert world.values() == [b"a", b"b", b"p", b"q"]
    assert world.is_equal()


@story
async def test_an_epoch_in_which_nothing_was_appended_does_not_count() -> None:
    world = World()
    partition = world.partitions[0]
    partition.log.append_as_leader(batch_of(b"a"), 1)
    world.leader.append(0, b"a", epoch=1)
    world.leader.append(0, b"b", epoch=3)
    partition.lead_or_follow(Leadership(ME, 2, 2, (LEADER, ME), (LEADER, ME)), 0)
    world.follow(epoch=3)
    await asyncio.sleep(1)
    assert world.is_equal()
    assert all(
        part.last_fetched_epoch != 2
        for request in world.leader.requests
        for topic in request.topics
        for part in topic.partitions
    )


@story
async def test_a_leader_that_deleted_what_is_missing_is_followed_from_its_start() -> None:
    world = World()
    world.partitions[0].log.append_as_leader(batch_of(b"old"), 1)
    leader = world.leader.logs[topic_of(0), 0]
    leader.truncate_fully_and_start_at(50)
    world.leader.append(0, b"new", epoch=2)
    world.follow(epoch=2)
    await asyncio.sleep(3)
    log = world.partitions[0].log
    assert (log.log_start_offset, log.log_end_offset) == (50, 51)
    assert world.values() == [b"new"]


@story
async def test_a_leader_whose_start_is_inside_of_a_batch() -> None:
    world = World()
    world.leader.append(0, b"a", b"b", b"c")
    world.leader.logs[topic_of(0), 0].advance_log_start(1)
    world.partitions[0].log.truncate_fully_and_start_at(1)
    world.follow()
    await asyncio.sleep(3)
    log = world.partitions[0].log
    assert (log.log_start_offset, log.log_end_offset) == (1, 3)


@story
async def test_a_log_start_that_advances_at_the_leader_advances_here() -> None:
    world = World()
    world.leader.append(0, b"a")
    world.leader.append(0, b"b")
    world.follow()
    await asyncio.sleep(1)
    world.leader.logs[topic_of(0), 0].advance_log_start(1)
    world.leader.append(0, b"c")
    await asyncio.sleep(1)
    assert world.partitions[0].log.log_start_offset == 1


@pytest.mark.parametrize(
    ("code", "seconds"),
    [(ErrorCode.NOT_LEADER_OR_FOLLOWER, 0.1), (ErrorCode.KAFKA_STORAGE_ERROR, 1.5)],
)
def test_an_error_delays_one_partition_and_not_the_others(code: ErrorCode, seconds: float) -> None:
    async def run_steps() -> None:
        world = World(2)
        world.leader.errors[topic_of(0), 0] = code
        world.follow(0)
        world.follow(1)
        await asyncio.sleep(5)
        world.leader.append(0, b"a")
        world.leader.append(1, b"b")
        await asyncio.sleep(0.05)
        assert (world.values(0), world.values(1)) == ([], [b"b"])
        count = len(world.leader.requests)
        world.leader.errors.clear()
        await asyncio.sleep(seconds)
        assert world.values(0) == [b"a"]
        assert count < 5 / 0.01, "it does not ask without a pause"

    run_in_virtual_time(run_steps())


@story
async def test_after_a_lost_response_all_partitions_are_named_again() -> None:
    world = World(2)
    world.follow(0)
    world.follow(1)
    await asyncio.sleep(1)
    world.leader.lost = 2
    world.leader.append(0, b"a")
    world.leader.append(1, b"b")
    await asyncio.sleep(3)
    assert (world.values(0), world.values(1)) == ([b"a"], [b"b"])
    assert world.is_equal(0)
    full = [each for each in world.leader.requests if not each.session_id]
    assert len(full) >= 2
    assert sum(len(topic.partitions) for topic in full[-1].topics) == 2


@story
async def test_an_answer_of_an_older_epoch_is_not_used() -> None:
    world = World()
    world.follow(epoch=1)
    await asyncio.sleep(0.2)
    world.leader.append(0, b"a", epoch=1)
    # The response is under way; this broker becomes the leader.
    partition = world.partitions[0]
    partition.lead_or_follow(Leadership(ME, 2, 2, (LEADER, ME), (LEADER, ME)), 0)
    await asyncio.sleep(2)
    assert world.values() == []
    assert partition.is_leader


@story
async def test_a_full_disk_delays_and_loses_nothing() -> None:
    world = World()
    world.follow()
    await asyncio.sleep(0.2)
    world.places[0].disk.fail("write", "*", error=errno.ENOSPC, times=3)
    for at in range(5):
        world.leader.append(0, b"%d" % at)
        await asyncio.sleep(0.3)
    await asyncio.sleep(6)
    assert world.values() == [b"0", b"1", b"2", b"3", b"4"]
    assert world.is_equal()


@story
async def test_records_whose_sync_was_refused_are_not_reported_to_the_leader() -> None:
    world = World(config=TopicConfig(flush_messages=1))
    world.follow()
    await asyncio.sleep(0.2)
    disk = world.places[0].disk
    disk.fail(("create", "write"), "*leader-epoch-checkpoint*", error=errno.ENOSPC, times=None)
    world.leader.append(0, b"a")
    await asyncio.sleep(3)
    assert world.values() == [b"a"]
    assert world.partitions[0].log.recovery_point == 0
    assert world.reported_end == 0
    disk.heal()
    await asyncio.sleep(6)
    assert world.partitions[0].log.recovery_point == world.reported_end == 1


@story
async def test_unfollowed_partitions_are_left_alone() -> None:
    world = World(2)
    world.follow(0)
    world.follow(1)
    await asyncio.sleep(1)
    world.fetcher.unfollow(world.partitions[0])
    assert len(world.fetcher) == 1
    world.leader.append(0, b"a")
    world.leader.append(1, b"b")
    await asyncio.sleep(1)
    assert (world.values(0), world.values(1)) == ([], [b"b"])
    await asyncio.sleep(1)
    assert (topic_of(0), 0) not in world.leader.wanted


@pytest.mark.parametrize("turns", range(8))
@pytest.mark.parametrize("is_again", [True, False])
def test_a_partition_that_changes_while_it_is_admitted_is_fetched_as_it_is_now(
    turns: int, is_again: bool
) -> None:
    async def run_steps() -> None:
        world = World()
        world.leader.append(0, b"a")
        world.follow()
        for _ in range(turns):
            await asyncio.sleep(0)
        world.fetcher.unfollow(world.partitions[0])
        if is_again:
            world.follow(epoch=2)
        await asyncio.sleep(1)
        if is_again:
            assert [each.current_leader_epoch for each in world.leader.wanted.values()] == [2]
            assert world.values() == [b"a"]
            return
        count = len(world.leader.requests)
        await asyncio.sleep(3)
        assert len(world.leader.requests) == count

    run_in_virtual_time(run_steps())


@story
async def test_a_broker_that_leads_before_it_has_located_its_log_keeps_its_epoch() -> None:
    """It reports to followers with records of an epoch in between where their logs diverge."""
    world = World()
    world.follow()
    partition = world.partitions[0]
    partition.log.append_as_follower(placed(batch_of(b"a"), 0, 1))
    partition.log.producers.unload()
    steps = ByHand(locating(partition))
    steps.run_job()  # it reads the producers
    partition.lead_or_follow(Leadership(ME, 3, 3, (LEADER, ME), (LEADER, ME)), 0)
    steps.finish()
    epochs = partition.log.epochs.load(BLOCKING)
    assert epochs.end_offset_for(2, partition.log.log_end_offset) == (1, 1)


class SlowLeader(Leader):
    """Its responses are sent when the test requests it, and read at that time."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[FetchRequest, asyncio.Future[FetchResponse]]] = []

    async def request(self, request: Message) -> Any:
        assert isinstance(request, FetchRequest)
        response: asyncio.Future[FetchResponse] = asyncio.get_running_loop().create_future()
        self.asked.append((request, response))
        return await response

    async def has_asked(self, count: int) -> None:
        while len(self.asked) < count:
            await asyncio.sleep(0.001)

    def send(self, number: int, *positions: tuple[int, int]) -> None:
        """The response to this request, with what is in the logs from these positions on."""
        _, response = self.asked[number]
        answers = [
            FetchableTopicResponse(
                "", topic_of(index), [self.answer((topic_of(index), index), wanted(index, offset))]
            )
            for index, offset in positions
        ]
        response.set_result(FetchResponse(session_id=SESSION, responses=answers))


def wanted(index: int, offset: int) -> FetchPartition:
    return FetchPartition(index, 1, offset, 1 if offset else -1, 0, 1 << 20)


@story
async def test_records_that_were_requested_before_the_log_was_truncated_are_not_appended() -> None:
    """They would leave a gap, which no later fetch shows: their epoch is that of the leader."""
    leader = SlowLeader()
    world = World(leader=leader)
    partition = world.partitions[0]
    leader.append(0, b"a")
    leader.append(0, b"b")
    world.follow()
    await leader.has_asked(1)
    leader.send(0, (0, 0))
    await leader.has_asked(2)  # from 2 on; it waits there
    world.fetcher.unfollow(partition)
    partition.log.truncate_to(1)  # its second record was damaged
    world.follow()
    await leader.has_asked(3)  # from 1 on
    leader.append(0, b"c")
    leader.send(1, (0, 2))
    await asyncio.sleep(0.1)
    assert world.values() == [b"a"]
    leader.send(2, (0, 1))
    await asyncio.sleep(0.1)
    assert world.values() == [b"a", b"b", b"c"]


@story
async def test_an_answer_that_was_requested_in_an_earlier_epoch_removes_nothing() -> None:
    """The leader led before, was replaced, and leads again."""
    leader = SlowLeader()
    world = World(leader=leader)
    leader.append(0, b"a")
    world.follow(epoch=1)
    await leader.has_asked(1)
    partition = world.partitions[0]
    partition.log.append_as_follower(placed(batch_of(b"a"), 0, 1))
    partition.log.append_as_follower(placed(batch_of(b"b"), 1, 2))  # of the leader in between
    world.fetcher.unfollow(partition)
    world.follow(epoch=3)
    answer = PartitionData(0, 0, 1, 1, 0, records=b"", diverging_epoch=EpochEndOffset(1, 1))
    topic = FetchableTopicResponse("", topic_of(0), [answer])
    leader.asked[0][1].set_result(FetchResponse(session_id=SESSION, responses=[topic]))
    await asyncio.sleep(0.1)
    assert world.values() == [b"a", b"b"]


@story
async def test_what_is_sent_twice_is_appended_once_and_its_offsets_count() -> None:
    """The second request was sent before the first response arrived."""
    leader = SlowLeader()
    world = World(2, leader=leader)
    world.follow(0)
    await leader.has_asked(1)
    leader.send(0, (0, 0))
    await leader.has_asked(2)
    world.follow(1)
    await leader.has_asked(3)
    leader.logs[topic_of(0), 0].append_as_leader(batch_of(b"a"), 1)
    leader.send(1, (0, 0))
    await asyncio.sleep(0.1)
    assert (world.values(0), world.partitions[0].log.high_watermark) == ([b"a"], 0)
    leader.logs[topic_of(0), 0].update_high_watermark(1)
    leader.send(2, (0, 0), (1, 0))
    await asyncio.sleep(0.1)
    assert (world.values(0), world.partitions[0].log.high_watermark) == ([b"a"], 1)


def fetched(count: int, epoch: int = 1) -> bytes:
    """Many small batches, as a leader sends them."""
    return b"".join(bytes(placed(batch_of(b"v"), each, epoch)) for each in range(count))


def answer_with(data: bytes) -> PartitionData:
    return PartitionData(0, 0, 10**6, 10**6, 0, records=data)


@story
async def test_a_broker_that_leads_by_now_appends_nothing_more_of_a_long_response() -> None:
    world = World(config=TopicConfig(segment_bytes=1 << 20, flush_messages=1))
    world.follow()
    partition = world.partitions[0]
    steps = taking(
        partition, answer_with(fetched(3 * BATCHES_AT_ONCE)), lambda: not partition.is_leader
    )
    next(steps)
    partition.lead_or_follow(Leadership(ME, 2, 2, (LEADER, ME), (LEADER, ME)), 0)
    assert run_blocking(steps) is None
    assert partition.log.log_end_offset == BATCHES_AT_ONCE
    # What it has appended as a follower counts after its sync, as its topic requires.
    assert partition.log.recovery_point == BATCHES_AT_ONCE


@story
async def test_the_high_watermark_is_not_that_of_a_leader_whose_log_diverges() -> None:
    """What is left after the first truncation may diverge, too (KIP-279)."""
    world = World()
    partition = world.partitions[0]
    for value, epoch in ((b"a", 1), (b"x", 1), (b"y", 3)):
        partition.log.append_as_leader(batch_of(value), epoch)
    world.follow(epoch=4)
    answer = PartitionData(0, 0, 9, 9, 0, records=b"", diverging_epoch=EpochEndOffset(2, 9))
    taken = run_blocking(taking(partition, answer, lambda: True))
    assert taken is not None
    assert taken.has_content
    assert world.values() == [b"a", b"x"]
    assert partition.log.high_watermark == 0


@story
async def test_a_log_is_not_restarted_when_this_broker_leads_by_then() -> None:
    world = World()
    world.follow()
    partition = world.partitions[0]
    partition.log.append_as_follower(placed(batch_of(b"a", b"b"), 0, 1))

    class Later(AtOnce):
        async def run(self, steps: Steps[Any]) -> Any:
            decided = Leadership(ME, 2, 2, (LEADER, ME), (LEADER, ME))
            partition.lead_or_follow(decided, 0)
            return run_blocking(steps)

    async def request(asked: Message) -> Any:
        assert isinstance(asked, ListOffsetsRequest)
        return world.leader.list_offsets(asked)

    await restart_log(partition, ME, request, Later())
    assert world.values() == [b"a", b"b"]


@story
async def test_offsets_of_a_leader_that_was_replaced_remove_nothing() -> None:
    world = World()
    world.follow()
    partition = world.partitions[0]
    partition.log.append_as_follower(placed(batch_of(b"a", b"b"), 0, 1))

    async def request(asked: Message) -> Any:
        assert isinstance(asked, ListOffsetsRequest)
        decided = Leadership(LEADER, 2, 2, (LEADER, ME), (LEADER, ME))
        partition.lead_or_follow(decided, 0)
        return world.leader.list_offsets(asked)

    await restart_log(partition, ME, request, AtOnce())
    assert world.values() == [b"a", b"b"]


@story
async def test_records_count_after_their_sync_where_the_topic_wants_that() -> None:
    world = World(config=TopicConfig(segment_bytes=1 << 20, flush_messages=1))
    world.follow()
    world.leader.append(0, b"a")
    await asyncio.sleep(1)
    assert world.partitions[0].log.recovery_point == 1


@story
async def test_a_new_leader_hears_of_records_after_their_sync() -> None:
    syncs = JobsLater()
    config = TopicConfig(segment_bytes=1 << 20, flush_messages=1)
    world = World(config=config, start=syncs)
    world.leader.append(0, b"a")
    partition = world.partitions[0]
    partition.log.append_as_follower(placed(batch_of(b"a"), 0, epoch=1))
    partition.when_replica_synced(lambda _error: None)  # sent by the last leader
    world.follow(epoch=2)
    await asyncio.sleep(1)
    assert not world.leader.wanted
    syncs.run_all()
    await asyncio.sleep(1)
    assert world.leader.wanted[topic_of(0), 0].fetch_offset == 1


def test_many_small_batches_are_appended_in_pieces() -> None:
    batch = bytes(batch_of(b"v"))
    data = batch * (2 * BATCHES_AT_ONCE + 3)
    pieces = list(cut_into_pieces(data + batch[:20]))
    assert [len(each) // len(batch) for each in pieces] == [BATCHES_AT_ONCE, BATCHES_AT_ONCE, 3]
    assert b"".join(pieces) == data + batch[:20]


# Throttles


THROTTLED = TopicConfig(
    segment_bytes=1 << 20, follower_replication_throttled_replicas=(f"0:{ME}", "1:7")
)
BATCHES = 40
BATCH_BYTES = 1000  # and a little more


async def throttled_world() -> World:
    """Partition 0 has far more to copy than it may in a second; 1 is not throttled."""
    world = World(2, THROTTLED)
    world.rate = BATCH_BYTES * 2
    world.leader.bytes_max = 1  # one batch in each response
    for index in range(2):
        for _ in range(BATCHES):
            world.leader.append(index, bytes(BATCH_BYTES))
        world.follow(index)
    await asyncio.sleep(1)
    return world


@story
async def test_a_throttled_replica_catches_up_at_its_rate_and_delays_no_other() -> None:
    world = await throttled_world()
    assert len(world.values(1)) == BATCHES
    assert 1 <= len(world.values(0)) <= 10
    await asyncio.sleep(10)
    assert 15 <= len(world.values(0)) <= 30
    world.leader.append(1, b"more")
    await asyncio.sleep(0.1)
    assert len(world.values(1)) == BATCHES + 1
    await asyncio.sleep(60)
    assert world.is_equal(0)


@story
async def test_a_throttled_replica_that_is_in_sync_is_not_held_back() -> None:
    world = await throttled_world()
    await asyncio.sleep(60)
    assert world.is_equal(0)
    for _ in range(5):
        world.leader.append(0, bytes(BATCH_BYTES))
        await asyncio.sleep(0.1)
        assert world.is_equal(0)


@story
async def test_a_higher_rate_counts_within_a_second() -> None:
    world = await throttled_world()
    world.rate = inf
    await asyncio.sleep(1.5)
    assert world.is_equal(0)


@story
async def test_a_rate_of_zero_stops_a_replica() -> None:
    world = await throttled_world()
    world.rate = 0
    await asyncio.sleep(1)
    before = len(world.values(0))
    await asyncio.sleep(100)
    assert len(world.values(0)) <= before + 1
    assert not world.is_equal(0)


@story
async def test_a_leader_is_lost_when_a_connection_ends_that_has_worked() -> None:
    world = World()
    changes: list[bool] = []
    world.lost_leaders.subscribe(lambda: changes.append(LEADER in world.lost_leaders))
    world.leader.lost = 3
    world.follow()
    await asyncio.sleep(0.05)
    assert changes == [], "it has never answered: it may not have started yet"
    await asyncio.sleep(2)
    world.leader.lost = 10**9
    await asyncio.sleep(0.6)
    assert changes == [True]
    await asyncio.sleep(10)
    assert changes == [True, False], "for a second: it may be unreachable from here alone"
    world.leader.lost = 0
    await asyncio.sleep(2)
    world.leader.lost = 1
    await asyncio.sleep(3)
    assert changes == [True, False, True, False], "it was reached again"


@story
async def test_a_lost_leader_that_the_metadata_contains_again_is_not_lost() -> None:
    lost = LostLeaders()
    lost.lost(3)
    lost.lost(4)
    lost.lost(4)
    lost.found([3, 5])
    assert (3 in lost, 4 in lost, bool(lost)) == (False, True, True)
    await asyncio.sleep(2)
    assert not lost
