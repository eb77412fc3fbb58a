"""Idempotent producers, frame by frame: which sequences and epochs a leader takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from tests.support.raw_client import RawClient, batch_of

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.testing.broker import RunningBroker

WINDOW = 5
SEQUENCE_LAST = 2**31 - 1
topic_numbers = count()


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    with RunningBroker() as running:
        yield running


@pytest.fixture
def client(broker: RunningBroker) -> Iterator[RawClient]:
    with RawClient(broker.bootstrap_servers) as connected:
        yield connected


@pytest.fixture
def topic(client: RawClient) -> str:
    name = f"topic-{next(topic_numbers)}"
    client.create_topic(name)
    return name


class Producer:
    """Batches of one record each, of one producer id."""

    def __init__(self, client: RawClient, topic: str, producer_id: int) -> None:
        self.client = client
        self.topic = topic
        self.producer_id = producer_id

    def send(self, sequence: int, epoch: int = 0, records: int = 1) -> tuple[ErrorCode, int]:
        values = [b"record %d" % at for at in range(records)]
        batch = batch_of(*values, producer_id=self.producer_id, epoch=epoch, sequence=sequence)
        answer = self.client.produce(self.topic, batch)
        return ErrorCode(answer.error_code), answer.base_offset


@pytest.fixture
def producer(client: RawClient, topic: str) -> Producer:
    return Producer(client, topic, new_id(client))


def new_id(client: RawClient, version: int = 4) -> int:
    answer = client.ask(InitProducerIdRequest(None, 60_000), version)
    assert (answer.error_code, answer.producer_epoch) == (0, 0)
    producer_id: int = answer.producer_id
    return producer_id


OUT_OF_ORDER = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
FENCED = (ErrorCode.INVALID_PRODUCER_EPOCH, -1)


@pytest.mark.parametrize("version", range(0, 6))
def test_every_version_gives_an_id_of_its_own(client: RawClient, version: int) -> None:
    assert new_id(client, version) != new_id(client, version)


def test_an_id_without_an_epoch_is_no_question(client: RawClient) -> None:
    answer = client.ask(InitProducerIdRequest(None, 60_000, producer_id=7), 4)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert (answer.producer_id, answer.producer_epoch) == (-1, -1)


def test_a_repeated_batch_is_answered_with_its_first_offset(producer: Producer) -> None:
    assert [producer.send(at) for at in range(3)] == [(ErrorCode.NONE, at) for at in range(3)]
    assert producer.send(1) == (ErrorCode.NONE, 1)
    assert producer.send(3) == (ErrorCode.NONE, 3)


def test_the_five_newest_batches_can_be_repeated_and_older_ones_not(producer: Producer) -> None:
    for at in range(WINDOW + 1):
        producer.send(at)
    assert [producer.send(at) for at in range(1, WINDOW + 1)] == [
        (ErrorCode.NONE, at) for at in range(1, WINDOW + 1)
    ]
    assert producer.send(0) == OUT_OF_ORDER


def test_a_gap_is_out_of_order(producer: Producer) -> None:
    producer.send(0)
    assert producer.send(2) == OUT_OF_ORDER
    assert producer.send(1) == (ErrorCode.NONE, 1)


def test_half_of_a_batch_is_no_repetition(producer: Producer) -> None:
    producer.send(0, records=4)
    assert producer.send(0, records=2) == OUT_OF_ORDER


def test_a_new_epoch_begins_at_zero_and_ends_the_old_one(producer: Producer) -> None:
    producer.send(0)
    assert producer.send(1, epoch=1) == OUT_OF_ORDER
    assert producer.send(0, epoch=1) == (ErrorCode.NONE, 1)
    assert producer.send(1, epoch=0) == FENCED
    assert producer.send(0, epoch=0) == FENCED


def test_an_unknown_producer_may_begin_anywhere(producer: Producer) -> None:
    """Its records may have been deleted by retention."""
    assert producer.send(17) == (ErrorCode.NONE, 0)
    assert producer.send(18) == (ErrorCode.NONE, 1)


def test_after_the_last_sequence_comes_zero(producer: Producer) -> None:
    assert producer.send(SEQUENCE_LAST - 1, records=2) == (ErrorCode.NONE, 0)
    assert producer.send(0) == (ErrorCode.NONE, 2)
    assert producer.send(SEQUENCE_LAST - 1, records=2) == (ErrorCode.NONE, 0)


def test_a_batch_across_the_last_sequence_is_one_batch(producer: Producer) -> None:
    assert producer.send(SEQUENCE_LAST - 1, records=5) == (ErrorCode.NONE, 0)
    assert producer.send(3) == (ErrorCode.NONE, 5)


def test_killing_the_broker_forgets_no_producer_and_repeats_no_id() -> None:
    with RunningBroker() as broker:
        with RawClient(broker.bootstrap_servers) as client:
            client.create_topic("t")
            before = Producer(client, "t", new_id(client))
            for at in range(WINDOW + 2):
                before.send(at)
        broker.kill()
        broker.start()
        with RawClient(broker.bootstrap_servers) as client:
            after = Producer(client, "t", before.producer_id)
            assert [after.send(at) for at in range(2, WINDOW + 2)] == [
                (ErrorCode.NONE, at) for at in range(2, WINDOW + 2)
            ]
            assert after.send(WINDOW + 3) == OUT_OF_ORDER
            assert after.send(WINDOW + 2) == (ErrorCode.NONE, WINDOW + 2)
            assert new_id(client) > before.producer_id


def test_ids_of_a_spent_block_are_followed_by_those_of_the_next(client: RawClient) -> None:
    request = InitProducerIdRequest(None, 60_000)
    wanted = 1_100  # a block has 1000
    for _ in range(wanted):
        client.send(request, 4)
    given = [client.receive(request, 4).producer_id for _ in range(wanted)]
    assert len(set(given)) == wanted
    assert given == sorted(given)
