"""Batches behind one that was refused for a moment: clients repeat all of them, in order."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.handlers.test_leader_hints import change, publish
from tests.unit.handlers.world import World

from ottla.base.ids import TopicPartition
from ottla.handlers.producing.refused_batches import REMEMBERED_S, RefusedBatches, is_after
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.records.batch import BatchHeader, read_header
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.storage.producers.producer_entry import ProducerEntry
from ottla.testing.clock import ManualClock

NONE = ErrorCode.NONE
AGAIN = ErrorCode.NOT_ENOUGH_REPLICAS
NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
PARTITION = TopicPartition("t", 0)
PRODUCER_ID = 7
HALF_MS = int(1000 * REMEMBERED_S) // 2
LAST_SEQUENCE = 2**31 - 1


def batch(sequence: int, epoch: int = 0) -> bytes:
    records = [Record(0, 0, b"k", b"v", ())]
    return bytes(
        build_batch(records, producer_id=PRODUCER_ID, producer_epoch=epoch, base_sequence=sequence)
    )


def header(sequence: int, epoch: int = 0) -> BatchHeader:
    return read_header(batch(sequence, epoch))


def send(world: World, topic_id: bytes, sequence: int, *, version: int = 13, epoch: int = 0) -> Any:
    data = [PartitionProduceData(0, batch(sequence, epoch))]
    topic = TopicProduceData("t" if version < 13 else "", topic_id, data)
    answer = world.ask(ProduceRequest(None, 1, 1000, [topic]), version)
    return answer.responses[0].partition_responses[0].error_code


def lead(world: World, topic_id: bytes, leader: int, partition_epoch: int) -> None:
    publish(
        world, change(topic_id, 0, partition_epoch, leader=leader, leader_epoch=partition_epoch)
    )


@pytest.fixture
def topic_id(world: World) -> bytes:
    """Of a topic with one partition, which another broker leads."""
    topic_id = world.create_topic("t", 1)
    lead(world, topic_id, 2, 1)
    return topic_id


@pytest.mark.parametrize("version", [9, 13])
def test_a_batch_of_a_new_producer_waits_for_the_refused_one(
    world: World, topic_id: bytes, version: int
) -> None:
    """Appended at once, as by Kafka, it would make the refused one out of order permanently."""
    assert send(world, topic_id, 0, version=version) == NOT_LEADER
    lead(world, topic_id, 1, 2)
    assert send(world, topic_id, 1, version=version) == AGAIN
    assert send(world, topic_id, 2, version=version) == AGAIN
    assert [send(world, topic_id, each, version=version) for each in (0, 1, 2)] == [NONE] * 3


def test_a_batch_of_a_known_producer_is_not_out_of_order(world: World, topic_id: bytes) -> None:
    lead(world, topic_id, 1, 2)
    assert send(world, topic_id, 0) == NONE
    lead(world, topic_id, 2, 3)
    assert send(world, topic_id, 1) == NOT_LEADER
    lead(world, topic_id, 1, 4)
    assert [send(world, topic_id, each) for each in (2, 3)] == [AGAIN, AGAIN]
    assert send(world, topic_id, 0) == NONE, "a repeated batch has its response"
    assert [send(world, topic_id, each) for each in (1, 2, 3)] == [NONE] * 3
    assert send(world, topic_id, 9) == OUT_OF_ORDER


def test_the_next_epoch_of_a_producer_need_not_wait(world: World, topic_id: bytes) -> None:
    assert send(world, topic_id, 4) == NOT_LEADER
    lead(world, topic_id, 1, 2)
    assert send(world, topic_id, 0, epoch=1) == NONE
    assert send(world, topic_id, 1, epoch=1) == NONE


def test_a_refused_batch_that_is_not_repeated_is_forgotten() -> None:
    clock = ManualClock()
    refused = RefusedBatches(clock)
    refused.note(PARTITION, header(3))
    clock.advance_ms(HALF_MS)
    refused.note(PARTITION, header(5))  # behind it: the first is waited for, and no longer
    with pytest.raises(BrokerError) as caught:
        refused.check(PARTITION, header(5), None)
    assert caught.value.code == AGAIN
    assert "sequence 5 is behind 3" in caught.value.message
    clock.advance_ms(HALF_MS)
    refused.check(PARTITION, header(5), None)
    assert not refused


def test_a_batch_that_is_refused_again_is_waited_for_again() -> None:
    clock = ManualClock()
    refused = RefusedBatches(clock)
    refused.note(PARTITION, header(3))
    clock.advance_ms(2 * HALF_MS - 1)
    refused.note(PARTITION, header(3))
    clock.advance_ms(2 * HALF_MS - 1)
    with pytest.raises(BrokerError):
        refused.check(PARTITION, header(4), None)


def test_what_the_log_has_by_now_is_not_waited_for() -> None:
    """Another leader appended it meanwhile, and this broker leads again."""
    refused = RefusedBatches(ManualClock())
    refused.note(PARTITION, header(3))
    entry = ProducerEntry(epoch=0)
    entry.add_batch(0, 3, 10, 0, 1)
    refused.check(PARTITION, header(4), entry)
    assert not refused


def test_a_hole_before_the_refused_batch_is_not_hidden() -> None:
    refused = RefusedBatches(ManualClock())
    refused.note(PARTITION, header(3))
    entry = ProducerEntry(epoch=0)
    entry.add_batch(0, 1, 10, 0, 1)
    refused.check(PARTITION, header(4), entry)  # the log refuses it: 2 is missing


def test_other_partitions_and_producers_do_not_wait() -> None:
    refused = RefusedBatches(ManualClock())
    refused.note(PARTITION, header(3))
    refused.check(TopicPartition("t", 1), header(4), None)
    refused.check(PARTITION, header(4)._replace(producer_id=8), None)
    refused.check(PARTITION, header(2), None)
    refused.check(PARTITION, header(3), None)
    assert len(refused) == 1


def test_sequences_continue_with_zero_after_the_largest() -> None:
    assert is_after(0, LAST_SEQUENCE)
    assert is_after(5, LAST_SEQUENCE - 5)
    assert not is_after(LAST_SEQUENCE, 0)
    assert not is_after(4, 4)
    refused = RefusedBatches(ManualClock())
    refused.note(PARTITION, header(LAST_SEQUENCE))
    with pytest.raises(BrokerError):
        refused.check(PARTITION, header(0), None)


def test_the_oldest_are_forgotten_where_there_are_too_many() -> None:
    refused = RefusedBatches(ManualClock(), producers_max=3)
    for producer_id in range(5):
        refused.note(PARTITION, header(3)._replace(producer_id=producer_id))
    assert len(refused) == 3
    refused.check(PARTITION, header(4)._replace(producer_id=1), None)
    with pytest.raises(BrokerError):
        refused.check(PARTITION, header(4)._replace(producer_id=2), None)
