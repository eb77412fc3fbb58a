"""Leaders and coordinators that are killed and moved while a client reads and writes.

What is stored is compared with what librdkafka reads.
"""

from __future__ import annotations

import os

import pytest
from tests.integration.client.helpers import read_with_librdkafka, values_of, wait_until_committed
from tests.integration.client.three_brokers import IDS, ThreeBrokers
from tests.support.raw_client import batch_of

from ottla.base.ids import TopicPartition
from ottla.client.admin.transactions import end_transaction, init_producer_id
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.routed_requests import TRANSACTION
from ottla.client.fetching.fetcher import PartitionRange, fetch_ranges
from ottla.client.producing.producer import BatchProducer

pytestmark = pytest.mark.ci

BATCHES = 120
EACH = 5


def numbered(number: int) -> bytes:
    return b"%06d" % number + bytes(200)


EXPECTED = [(number, numbered(number)) for number in range(BATCHES * EACH)]


def send(producer: BatchProducer, place: TopicPartition, number: int) -> None:
    producer.send(place, batch_of(*[numbered(EACH * number + at) for at in range(EACH)]))


def test_a_reader_follows_its_leaders(three: ThreeBrokers) -> None:
    """The leader is killed, the next one is stopped, then the partition is moved."""
    topic = three.topic([[2, 3, 1], [3, 2, 1]])
    places = [TopicPartition(topic, number) for number in range(2)]
    for place in places:
        three.produce(topic, [value for _, value in EXPECTED], place.partition)
    found: dict[TopicPartition, list[object]] = {each: [] for each in places}
    with three.client(fetch_max_bytes=5_000, max_partition_fetch_bytes=2_500) as client:
        ranges = [PartitionRange(each, 0, len(EXPECTED)) for each in places]
        for count, fetched in enumerate(fetch_ranges(client, ranges)):
            found[fetched.partition] += values_of(fetched)
            if count == 4:
                three.kill(2)
            if count == 14:
                three.wait_led_by(topic, 3)
                three.start(2)
                three.wait_in_sync(topic, IDS)
                three.wait_in_sync(topic, IDS, 1)
                three.stop(3)
            if count == 24:
                three.start(3)
                three.wait_in_sync(topic, IDS)
                three.reassign(topic, [3])
        assert count > 24, "the faults were in the middle"
    assert all(found[each] == EXPECTED for each in places)


def test_a_reader_does_not_wait_for_a_leader_that_is_paused(three: ThreeBrokers) -> None:
    """Others lead meanwhile. Its connection stays open, and requests may take ten minutes."""
    topic = three.topic([[2, 3, 1]])
    place = TopicPartition(topic, 0)
    three.produce(topic, [value for _, value in EXPECTED])
    found: list[object] = []
    with three.client(fetch_max_bytes=5_000, request_timeout_ms=600_000) as client:
        for count, fetched in enumerate(
            fetch_ranges(client, [PartitionRange(place, 0, len(EXPECTED))])
        ):
            found += values_of(fetched)
            if count == 4:
                three.pause(2)
    assert count > 10, "it was paused in the middle"
    assert found == EXPECTED


def test_a_writer_follows_its_leaders(three: ThreeBrokers) -> None:
    topic = three.topic([[2, 3, 1]])
    place = TopicPartition(topic, 0)
    with (
        three.client(max_request_bytes=2_000) as client,
        BatchProducer(client, init_producer_id(client)) as producer,
    ):
        for number in range(BATCHES):
            if number == 20:
                three.kill(2)
            if number == 60:
                three.start(2)
                three.wait_in_sync(topic, IDS)
                three.stop(3)
            if number == 80:
                three.start(3)
                three.wait_in_sync(topic, IDS)
                three.reassign(topic, [3, 1])
            send(producer, place, number)
        assert producer.flush()[place].records == len(EXPECTED)
    assert read_with_librdkafka(three.bootstrap_servers, place) == EXPECTED


def transactional_id(client: Cluster) -> tuple[str, int]:
    """One whose coordinator may be killed, and that broker."""
    for number in range(100):
        name = f"fail-over/{os.getpid()}/{number}"
        init_producer_id(client, name)
        coordinator = client.coordinators[TRANSACTION, name]
        if coordinator != 1:
            return name, coordinator
    raise AssertionError("broker 1 coordinates all")


def test_a_transaction_outlives_its_leader_and_its_coordinator(three: ThreeBrokers) -> None:
    """Begun by one client and ended by another, as Spark's sink does."""
    with three.client(max_request_bytes=2_000) as client, three.client() as driver:
        name, coordinator = transactional_id(client)
        identity = init_producer_id(client, name, 900_000)
        other = 5 - coordinator  # 2 or 3
        topic = three.topic([[other, 1, coordinator]])
        place = TopicPartition(topic, 0)
        with BatchProducer(client, identity, name) as producer:
            for number in range(BATCHES):
                if number == 20:
                    three.kill(other)  # the leader
                if number == 60:
                    three.start(other)
                    three.wait_in_sync(topic, IDS)
                    three.kill(coordinator)
                send(producer, place, number)
            assert producer.flush()[place].records == len(EXPECTED)
        servers = three.bootstrap_servers
        assert read_with_librdkafka(servers, place, "read_committed") == []
        end_transaction(driver, name, identity, commit=True)
        three.start(coordinator)
        end_transaction(driver, name, identity, commit=True)
        wait_until_committed(driver, [place])
        assert read_with_librdkafka(servers, place, "read_committed") == EXPECTED
