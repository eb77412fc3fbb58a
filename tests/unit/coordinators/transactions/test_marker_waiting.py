"""Markers count once they are replicated: that the wait begins, whom it is for, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from tests.unit.coordinators.groups.broker_world import BrokerWorld
from tests.unit.storage.log_making import batch_of

from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.coordinators.transactions.marker_writing import MarkerWriter
from ottla.metadata.records import PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
)
from ottla.replication.partition import Partition

PRODUCER = 7
NONE = ErrorCode.NONE


class Markers:
    def __init__(self, timeout_ms: int = 60_000) -> None:
        self.world = BrokerWorld()
        self.world.replicas.load(self.world.image)
        self.world.create_topic("alone", 2)
        self.world.create_topic("copied", 2, replicas=(1, 2))
        self.writer = MarkerWriter(
            self.world.replicas,
            self.world.groups.service.offsets,
            self.world.clock.now_ms,
            timeout_ms,
            StepScheduler(self.world.clock),
        )
        for name in ("alone", "copied"):
            for index in range(2):
                batch = batch_of(b"v", producer=(PRODUCER, 0, 0), is_transactional=True)
                self.partition(name, index).append(batch, 1)

    def partition(self, name: str, index: int = 0) -> Partition:
        return self.world.replicas.partition(name, index)

    def replicate(self, name: str, index: int) -> None:
        partition = self.partition(name, index)
        assert partition.leader_state is not None
        end = partition.log.log_end_offset
        partition.leader_state.followers[2].fetched(end, 0, end, 0)
        partition.advance()

    async def write(self, *names: tuple[str, list[int]]) -> dict[tuple[str, int], ErrorCode]:
        topics = [WritableTxnMarkerTopic(*each) for each in names]
        (result,) = await self.writer.write([WritableTxnMarker(PRODUCER, 0, True, topics, 5, 0)])
        assert result.producer_id == PRODUCER
        return {
            (topic.name, each.partition_index): ErrorCode(each.error_code)
            for topic in result.topics
            for each in topic.partitions
        }


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 30))


async def run_pending() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_markers_are_answered_when_every_one_of_them_is_replicated() -> None:
    async def story() -> None:
        markers = Markers()
        writing = asyncio.ensure_future(markers.write(("alone", [0]), ("copied", [0, 1])))
        await run_pending()
        assert not writing.done()
        ends = [markers.partition("copied", index).log.log_end_offset for index in range(2)]
        assert ends == [2, 2], "they are appended, all of them"
        markers.replicate("copied", 1)
        await run_pending()
        assert not writing.done(), "one is missing"
        markers.replicate("copied", 0)
        assert await writing == {("alone", 0): NONE, ("copied", 0): NONE, ("copied", 1): NONE}
        log = markers.partition("copied").log
        assert log.last_stable_offset(BLOCKING) == log.log_end_offset == 2

    run(story())


def test_a_marker_with_one_replica_is_answered_immediately() -> None:
    async def story() -> None:
        markers = Markers()
        assert await markers.write(("alone", [0, 1, 0])) == {("alone", 0): NONE, ("alone", 1): NONE}
        assert markers.partition("alone").log.log_end_offset == 2, "once, though it is named twice"

    run(story())


def test_a_marker_that_is_not_replicated_in_time_fails_alone() -> None:
    async def story() -> None:
        markers = Markers(timeout_ms=50)
        codes = await markers.write(("copied", [0]), ("alone", [1]), ("nowhere", [0]))
        assert codes[("alone", 1)] is NONE
        assert codes[("copied", 0)] not in (NONE, ErrorCode.UNKNOWN_SERVER_ERROR)
        assert codes[("nowhere", 0)] is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        late = await markers.write(("copied", [0]))
        assert late[("copied", 0)] is not NONE, "asked again, it is still not replicated"

    run(story())


def test_a_marker_of_a_partition_that_is_led_elsewhere_meanwhile_is_refused() -> None:
    async def story() -> None:
        markers = Markers()
        writing = asyncio.ensure_future(markers.write(("copied", [0]), ("alone", [0])))
        await run_pending()
        topic = markers.world.image.topic("copied")
        assert topic is not None
        markers.world.publish(PartitionChanged(topic.id, 0, 1, leader=2, leader_epoch=1))
        codes = await writing
        assert codes == {
            ("copied", 0): ErrorCode.NOT_LEADER_OR_FOLLOWER,
            ("alone", 0): NONE,
        }

    run(story())


def test_a_marker_is_rejected_if_another_broker_led_before_the_wait() -> None:
    """It may have been truncated, though this broker leads again."""

    async def story() -> None:
        markers = Markers()
        topic = markers.world.image.topic("copied")
        assert topic is not None
        replicated = markers.writer._append_marker(
            "copied", 0, WritableTxnMarker(PRODUCER, 0, True, [], 5, 0)
        )
        assert replicated is not None
        for epoch, leader in ((1, 2), (2, 1)):
            change = PartitionChanged(topic.id, 0, epoch, leader=leader, leader_epoch=epoch)
            markers.world.publish(change)
        markers.replicate("copied", 0)
        with pytest.raises(BrokerError) as refused:
            await replicated
        assert refused.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER

    run(story())


@pytest.mark.parametrize("is_commit", [True, False])
def test_offsets_of_a_transaction_wait_for_their_copies_too(is_commit: bool) -> None:
    async def story() -> None:
        world = BrokerWorld()
        world.replicas.load(world.image)
        world.create_offsets_topic(1, replicas=(1, 2))
        await world.loaded()
        writer = MarkerWriter(
            world.replicas,
            world.groups.service.offsets,
            world.clock.now_ms,
            60_000,
            StepScheduler(world.clock),
        )
        topics = [WritableTxnMarkerTopic("__consumer_offsets", [0])]
        marker = WritableTxnMarker(PRODUCER, 0, is_commit, topics, 5, 0)
        writing = asyncio.ensure_future(writer.write([marker]))
        await run_pending()
        assert not writing.done()
        world.follower_catches_up("g")
        (result,) = await writing
        assert result.topics[0].partitions[0].error_code == NONE

    run(story())
