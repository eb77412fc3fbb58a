"""When a leader asks for other in-sync replicas, and what counts until it is answered."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from tests.support.steps_by_hand import JobsLater
from tests.support.virtual_time import run_in_virtual_time
from tests.unit.storage.log_making import Place, batch_of

from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.callback_queue import TASKS_MAX, CallbackQueue
from ottla.base.scheduling.loop_timers import LoopTimers
from ottla.metadata.entities import BrokerRegistration
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages import alter_partition_response as response
from ottla.protocol.messages.alter_partition_request import TopicData
from ottla.replication.fetch_waiters import DataWaiter
from ottla.replication.in_sync_changes import InSyncChanges
from ottla.replication.leader_events import LeaderEvents
from ottla.replication.leader_role import ACKS_ALL
from ottla.replication.leadership import Leadership
from ottla.replication.low_watermarks import LowWatermarks
from ottla.replication.partition import Partition
from ottla.replication.withdrawals import Withdrawals
from ottla.storage.files.directory_health import OutOfResources

NAME = TopicPartition("t", 0)
TOPIC_ID = TopicId(b"sixteen bytes ID")
ME, OTHER, THIRD = 1, 2, 3
EPOCHS = {ME: 10, OTHER: 20, THIRD: 30}
LAG_MS = 5000


class LoopClock:
    def now_ms(self) -> int:
        return 0

    def monotonic_s(self) -> float:
        return asyncio.get_running_loop().time()

    cpu_s = monotonic_s


class Brokers(Image):
    """An image in which brokers are registered without records."""

    def __init__(self) -> None:
        super().__init__()
        self.registered = {
            each: BrokerRegistration(each, EPOCHS[each], bytes(16), (), (), None, False, False, ())
            for each in EPOCHS
        }

    def broker(self, broker_id: int) -> BrokerRegistration | None:
        return self.registered.get(broker_id)


class World:
    def __init__(self, *, is_recovering: bool = False, in_sync: tuple[int, ...] = (ME,)) -> None:
        self.image = Brokers()
        self.requests: list[TopicData] = []
        self.answer: ErrorCode | BrokerError = ErrorCode.NONE
        self.changes = InSyncChanges(self.image, self.send, lambda: LAG_MS, LoopClock())
        self.place = Place()
        log = self.place.open()
        self.withdrawals = Withdrawals(ME, self.send, LoopClock())
        low_watermarks = LowWatermarks(lambda _broker_id: True)
        listener = LeaderEvents(self.changes, self.withdrawals, low_watermarks)
        self.partition = Partition(NAME, TOPIC_ID, ME, log, JobsLater(), listener)
        self.epoch = 1
        self.decide(in_sync, is_recovering=is_recovering)

    def decide(self, in_sync: tuple[int, ...], *, is_recovering: bool = False) -> None:
        """The metadata has a new state of the partition."""
        self.epoch += 1
        decided = Leadership(ME, 4, self.epoch, (ME, OTHER, THIRD), in_sync, is_recovering)
        now_ms = int(asyncio.get_running_loop().time() * 1000)
        self.partition.lead_or_follow(decided, now_ms)

    async def send(self, topics: list[TopicData]) -> response.AlterPartitionResponse:
        self.requests += topics
        if isinstance(self.answer, BrokerError):
            raise self.answer
        ((topic_id, (part,)),) = [(each.topic_id, each.partitions) for each in topics]
        answer = response.PartitionData(part.partition_index, self.answer)
        answer.partition_epoch = part.partition_epoch + 1
        return response.AlterPartitionResponse(topics=[response.TopicData(topic_id, [answer])])

    @property
    def asked(self) -> list[set[int]]:
        """The in-sync replicas of each request."""
        return [
            {each.broker_id for each in topic.partitions[0].new_isr_with_epochs}
            for topic in self.requests
        ]

    def fetch(self, broker_id: int, offset: int) -> None:
        now_ms = int(asyncio.get_running_loop().time() * 1000)
        self.partition.follower_fetched(broker_id, EPOCHS[broker_id], offset, 0, now_ms)

    def append(self) -> int:
        return self.partition.append(batch_of(b"v"), ACKS_ALL).last_offset + 1

    @property
    def counted(self) -> set[int]:
        assert self.partition.leader_state is not None
        return set(self.partition.leader_state.counted)


def story(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_in_virtual_time(test())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


async def running(world: World, seconds: float) -> None:
    tasks = [
        asyncio.create_task(world.changes.run()),
        asyncio.create_task(world.changes.watch(lambda: [world.partition])),
    ]
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()


@story
async def test_a_follower_that_has_caught_up_joins_and_counts_from_the_request_on() -> None:
    world = World()
    end = world.append()
    world.fetch(OTHER, end)
    await running(world, 0.1)
    assert world.asked == [{ME, OTHER}]
    (state,) = [
        each
        for each in world.requests[0].partitions[0].new_isr_with_epochs
        if each.broker_id == OTHER
    ]
    assert state.broker_epoch == EPOCHS[OTHER]
    assert world.counted == {ME, OTHER}
    later = world.append()
    assert world.partition.log.high_watermark == end, "the controller may have made the change"
    world.fetch(OTHER, later)
    assert world.partition.log.high_watermark == later


@story
async def test_one_request_is_enough_while_its_outcome_is_not_known() -> None:
    world = World()
    world.fetch(OTHER, world.append())
    await running(world, 30)
    assert world.asked == [{ME, OTHER}]
    world.decide((ME, OTHER))
    world.fetch(OTHER, world.partition.log.log_end_offset)
    await running(world, 3)
    assert len(world.asked) == 1


@story
async def test_a_request_without_an_answer_is_repeated_unchanged() -> None:
    world = World()
    world.answer = BrokerError(ErrorCode.REQUEST_TIMED_OUT)
    world.fetch(OTHER, world.append())
    await running(world, 0.5)
    assert len(world.asked) > 2
    assert world.counted == {ME, OTHER}
    world.fetch(THIRD, world.partition.log.log_end_offset)
    await running(world, 0.5)
    assert all(each == {ME, OTHER} for each in world.asked), "the first may have been carried out"


@pytest.mark.parametrize("code", [ErrorCode.INELIGIBLE_REPLICA, ErrorCode.INVALID_REQUEST])
def test_after_a_refusal_only_the_old_ones_count(code: ErrorCode) -> None:
    async def run_steps() -> None:
        world = World()
        world.answer = code
        world.fetch(OTHER, world.append())
        await running(world, 0.05)
        assert world.asked == [{ME, OTHER}]
        assert world.counted == {ME}
        end = world.append()
        assert world.partition.log.high_watermark == end, "no follower is waited for"

    run_in_virtual_time(run_steps())


@pytest.mark.parametrize("code", [ErrorCode.INVALID_UPDATE_VERSION, ErrorCode.FENCED_LEADER_EPOCH])
def test_an_overtaken_request_counts_until_the_metadata_arrives(code: ErrorCode) -> None:
    async def run_steps() -> None:
        world = World()
        world.answer = code
        world.fetch(OTHER, world.append())
        await running(world, 3)
        assert world.counted == {ME, OTHER}
        world.decide((ME,))
        assert world.counted == {ME}

    run_in_virtual_time(run_steps())


@story
async def test_a_follower_that_lags_leaves_and_counts_until_that_is_decided() -> None:
    world = World(in_sync=(ME, OTHER))
    world.fetch(OTHER, world.partition.log.log_end_offset)
    await running(world, LAG_MS / 1000 * 3)
    assert world.asked == [], "one that has everything does not lag"
    world.append()
    await running(world, LAG_MS / 1000 - 1)
    assert world.asked == []
    await running(world, 4)
    assert world.asked == [{ME}]
    assert world.counted == {ME, OTHER}
    before = world.partition.log.high_watermark
    world.decide((ME,))
    assert world.partition.log.high_watermark > before


@story
async def test_a_broker_that_is_not_registered_or_fenced_does_not_join_until_it_is() -> None:
    world = World()
    registered = world.image.registered[OTHER]
    for state in (None, replace(registered, is_fenced=True), replace(registered, epoch=99)):
        if state is None:
            del world.image.registered[OTHER]
        else:
            world.image.registered[OTHER] = state
        world.fetch(OTHER, world.partition.log.log_end_offset)
        await running(world, 2)
        assert world.asked == []
    world.image.registered[OTHER] = registered
    world.changes.brokers_changed()
    await running(world, 0.01)
    assert world.asked == [{ME, OTHER}], "without another fetch"


@story
async def test_a_leader_that_was_elected_uncleanly_says_that_it_has_recovered() -> None:
    world = World(is_recovering=True)
    await running(world, 0.1)
    assert world.asked == [{ME}]
    assert world.requests[0].partitions[0].leader_recovery_state == 0


@story
async def test_a_change_that_changes_nothing_is_over() -> None:
    """The controller answers with the epoch that is known here: no metadata will follow."""
    world = World()
    world.fetch(OTHER, world.append())
    world.epoch += 5
    world.partition.lead_or_follow(Leadership(ME, 4, world.epoch, (ME, OTHER, THIRD), (ME,)), 0)

    async def unchanged(topics: list[TopicData]) -> response.AlterPartitionResponse:
        world.requests += topics
        answer = response.PartitionData(0, ErrorCode.NONE)
        answer.partition_epoch = world.epoch
        return response.AlterPartitionResponse(topics=[response.TopicData(TOPIC_ID, [answer])])

    world.changes._send = unchanged
    world.fetch(OTHER, world.partition.log.log_end_offset)
    await running(world, 0.05)
    assert world.counted == {ME}


@story
async def test_after_a_refusal_what_the_old_ones_have_is_committed_at_once() -> None:
    """Nothing else may happen for a long time: the follower that was to join does not fetch."""
    world = World()
    world.answer = ErrorCode.INELIGIBLE_REPLICA

    async def late(topics: list[TopicData]) -> response.AlterPartitionResponse:
        await asyncio.sleep(1)
        return await world.send(topics)

    world.changes._send = late
    world.fetch(OTHER, world.append())
    changing = asyncio.create_task(world.changes.run())
    await asyncio.sleep(0.5)
    end = world.append()
    assert world.partition.log.high_watermark < end
    async with asyncio.timeout(1):
        await world.partition.wait_replicated(end)
    changing.cancel()


@story
async def test_a_request_that_has_failed_is_sent_again_for_every_partition() -> None:
    world, other = World(), World()
    other.partition.topic_id = TopicId(b"another topic id")
    world.answer = BrokerError(ErrorCode.REQUEST_TIMED_OUT)
    for each in (world, other):
        each.fetch(OTHER, each.append())
        world.changes.check(each.partition)
    await running(world, 0.25)
    asked = [each.topic_id for each in world.requests]
    assert asked.count(world.partition.topic_id) == asked.count(other.partition.topic_id) > 1


@story
async def test_an_in_sync_follower_in_another_directory_has_time_to_fetch_again() -> None:
    world = World(in_sync=(ME, OTHER))
    await asyncio.sleep(LAG_MS / 1000 * 2)
    for directory in (b"before", b"after"):
        world.epoch += 1
        decided = Leadership(
            ME, 4, world.epoch, (ME, OTHER, THIRD), (ME, OTHER),
            directories=(b"mine", directory, b"third"),
        )  # fmt: skip
        world.partition.lead_or_follow(decided, int(asyncio.get_running_loop().time() * 1000))
        world.fetch(OTHER, world.partition.log.log_end_offset) if directory == b"before" else None
    await running(world, LAG_MS / 1000 - 1)
    assert world.asked == []
    await running(world, 3)
    assert world.asked == [{ME}]


@story
async def test_a_follower_in_another_directory_has_to_fetch_again_before_it_is_in_sync() -> None:
    """It may have lost what it had fetched before."""
    world = World()
    end = world.append()

    def place(directory: bytes) -> None:
        world.epoch += 1
        directories = (b"mine", directory, b"third")
        decided = Leadership(ME, 4, world.epoch, (ME, OTHER, THIRD), (ME,), directories=directories)
        world.partition.lead_or_follow(decided, 0)

    place(b"before")
    state = world.partition.leader_state
    assert state is not None
    world.fetch(OTHER, end)
    assert state.may_rejoin(OTHER, world.partition.log.high_watermark)
    place(b"before")
    assert state.may_rejoin(OTHER, world.partition.log.high_watermark)
    place(b"after")
    assert not state.may_rejoin(OTHER, world.partition.log.high_watermark)
    world.fetch(OTHER, end)
    assert state.may_rejoin(OTHER, world.partition.log.high_watermark)


@story
async def test_a_follower_that_waits_for_bytes_gets_those_of_all_appends_of_an_iteration() -> None:
    world = World(in_sync=(ME, OTHER))
    size = len(batch_of(b"v"))
    queue, timers = CallbackQueue(TASKS_MAX), LoopTimers()
    waiter = DataWaiter([world.partition.fetches.follower_watch], 3 * size, timers, queue)
    for _ in range(3):
        world.append()
    async with asyncio.timeout(1):
        await waiter.wait(60_000)


@story
async def test_a_leader_without_room_asks_to_leave() -> None:
    world = World(in_sync=(ME, OTHER))
    leaving = asyncio.create_task(world.withdrawals.run())
    world.place.disk.fail("write", "*.log", error=errno.ENOSPC)
    with pytest.raises(OutOfResources):
        world.append()
    await asyncio.sleep(0.01)
    assert world.asked == [{OTHER}]
    leaving.cancel()
