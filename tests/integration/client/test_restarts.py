"""Brokers that are killed while clients read or write: nothing is lost, nothing comes twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import pytest
from tests.integration.client.helpers import (
    new_topic,
    produce,
    read_values,
    read_with_librdkafka,
    values_of,
    wait_until_committed,
)
from tests.support.apache_kafka import ApacheKafka
from tests.support.raw_client import batch_of

from ottla.base.ids import TopicPartition
from ottla.client.admin.group_offsets import commit_offsets, committed_offsets
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.admin.transactions import end_transaction, init_producer_id
from ottla.client.cluster.cluster import Cluster
from ottla.client.fetching.fetcher import PartitionRange, fetch_range, fetch_ranges
from ottla.client.producing.producer import BatchProducer
from ottla.client.settings import ClientSettings
from ottla.testing.broker import RunningBroker
from ottla.testing.ports import non_ephemeral_port

pytestmark = [
    pytest.mark.ci,
    pytest.mark.xdist_group("restarts"),
]  # one worker, one node of Apache Kafka


class Node(Protocol):
    """What both kinds of brokers can do."""

    def start(self) -> object: ...

    def kill(self) -> None: ...


@contextmanager
def our_node() -> Iterator[tuple[Node, str]]:
    # A port that no outgoing connection is given while the broker is dead.
    with RunningBroker(port=non_ephemeral_port()) as broker:
        yield broker, broker.bootstrap_servers


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """Each test uses topics of its own, and leaves the node running."""
    with ApacheKafka(tmp_path_factory.mktemp("kafka")) as node:
        yield node


# Apache Kafka takes several seconds for every start: three of the tests run with it too.
ON_BOTH = pytest.mark.parametrize(
    "node",
    ["ottla", pytest.param("apache-kafka", marks=pytest.mark.java)],
    indirect=True,
)


@pytest.fixture
def node(request: pytest.FixtureRequest) -> Iterator[tuple[Node, str]]:
    if getattr(request, "param", "ottla") == "ottla":
        with our_node() as running:
            yield running
    else:
        kafka: ApacheKafka = request.getfixturevalue("kafka")
        yield kafka, kafka.bootstrap


@pytest.fixture
def cluster(node: tuple[Node, str]) -> Iterator[Cluster]:
    settings = ClientSettings(
        node[1],
        # A broker may take long to start again on a busy machine.
        default_api_timeout_ms=300_000,
        delivery_timeout_ms=300_000,
        retry_backoff_ms=20,
        max_partition_fetch_bytes=20_000,
        fetch_max_bytes=40_000,
        max_request_bytes=20_000,
    )
    with Cluster(settings) as cluster:
        yield cluster


class Crashes:
    """Kills the broker on request, and starts it again, while the test continues."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._threads: list[threading.Thread] = []

    def crash(self) -> None:
        """The kill happens before this returns; the start while the caller continues."""
        self.finish()
        self._node.kill()
        thread = threading.Thread(target=self._node.start)
        thread.start()
        self._threads.append(thread)

    def finish(self) -> None:
        for thread in self._threads:
            thread.join()
        self._threads.clear()


@pytest.fixture
def crashes(node: tuple[Node, str]) -> Iterator[Crashes]:
    crashes = Crashes(node[0])
    yield crashes
    crashes.finish()


def numbered(number: int) -> bytes:
    return b"%06d" % number + bytes(300)


def test_a_fetch_continues_after_the_broker_was_killed(cluster: Cluster, crashes: Crashes) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    produce(cluster, partition, ([numbered(10 * n + at) for at in range(10)] for n in range(300)))
    found: list[tuple[int, bytes | None]] = []
    for count, fetched in enumerate(fetch_range(cluster, partition, 0, 3000)):
        found += values_of(fetched)
        if count in (10, 60):
            crashes.crash()
    assert found == [(number, numbered(number)) for number in range(3000)]


@ON_BOTH
def test_a_session_of_many_partitions_continues_after_the_broker_was_killed(
    cluster: Cluster, crashes: Crashes
) -> None:
    topic = new_topic(cluster, partitions=6)
    partitions = [TopicPartition(topic, number) for number in range(6)]
    for each in partitions:
        produce(cluster, each, ([numbered(10 * n + at) for at in range(10)] for n in range(40)))
    found: dict[TopicPartition, list[object]] = {each: [] for each in partitions}
    ranges = [PartitionRange(each, 0, 400) for each in partitions]
    for count, fetched in enumerate(fetch_ranges(cluster, ranges)):
        found[fetched.partition] += values_of(fetched)
        if count in (5, 20):
            crashes.crash()
    expected = [(number, numbered(number)) for number in range(400)]
    assert all(found[each] == expected for each in partitions)


def send_all(
    producer: BatchProducer, partitions: list[TopicPartition], crash_at: set[int], crash: Crashes
) -> None:
    """300 batches of ten numbers each to every partition, with a crash here and there."""
    for number in range(300):
        for partition in partitions:
            values = [numbered(10 * number + at) for at in range(10)]
            producer.send(partition, batch_of(*values))
        if number in crash_at:
            crash.crash()


@ON_BOTH
def test_an_idempotent_producer_stores_every_record_once_through_kills(
    cluster: Cluster, crashes: Crashes, node: tuple[Node, str]
) -> None:
    topic = new_topic(cluster, partitions=2)
    partitions = [TopicPartition(topic, number) for number in range(2)]
    with BatchProducer(cluster, init_producer_id(cluster)) as producer:
        send_all(producer, partitions, {40, 130, 220}, crashes)
        written = producer.flush()
    crashes.finish()
    for partition in partitions:
        assert written[partition].records == 3000
        stored = read_with_librdkafka(node[1], partition)
        assert [value for _, value in stored] == [numbered(number) for number in range(3000)]
        ranges = written[partition].ranges
        assert [offset for offset, _ in stored] == [at for each in ranges for at in range(*each)]


def test_a_producer_without_identity_stores_every_record_at_least_once_and_in_order(
    cluster: Cluster, crashes: Crashes, node: tuple[Node, str]
) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    with BatchProducer(cluster) as producer:
        send_all(producer, [partition], {40, 130}, crashes)
        producer.flush()
    crashes.finish()
    values = [value or b"" for _, value in read_with_librdkafka(node[1], partition)]
    assert sorted(set(values)) == [numbered(number) for number in range(3000)]
    firsts = list(dict.fromkeys(values))
    assert firsts == sorted(firsts)


@ON_BOTH
def test_a_transaction_survives_kills_and_is_ended_by_somebody_else(
    cluster: Cluster, crashes: Crashes, node: tuple[Node, str]
) -> None:
    topic = new_topic(cluster, partitions=2)
    partitions = [TopicPartition(topic, number) for number in range(2)]
    identity = init_producer_id(cluster, "kills", 900_000)
    with BatchProducer(cluster, identity, "kills") as producer:
        send_all(producer, partitions, {100, 299}, crashes)
        producer.flush()
    crashes.crash()
    assert latest_offsets(cluster, partitions, "read_committed") == dict.fromkeys(partitions, 0)
    with Cluster(cluster.settings) as other:
        end_transaction(other, "kills", identity, commit=True)
        if isinstance(node[0], ApacheKafka):
            # A single Kafka that dies now may skip the markers when it is back: as long as it is
            # fenced it finds no leader for the partitions and takes them for deleted.
            wait_until_committed(cluster, partitions)
        crashes.crash()
        end_transaction(other, "kills", identity, commit=True)
    crashes.finish()
    wait_until_committed(cluster, partitions)
    for partition in partitions:
        stored = read_with_librdkafka(node[1], partition, "read_committed")
        assert [value for _, value in stored] == [numbered(number) for number in range(3000)]


def test_questions_are_answered_once_the_broker_is_back(cluster: Cluster, crashes: Crashes) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    produce(cluster, partition, [[b"a"], [b"b"]])
    commit_offsets(cluster, "g", {partition: 1})

    def commit() -> bool:
        commit_offsets(cluster, "g", {partition: 1})
        return True

    questions: list[Callable[[], object]] = [
        lambda: latest_offsets(cluster, [partition])[partition] == 2,
        lambda: committed_offsets(cluster, "g")[partition].offset == 1,
        lambda: partition.topic in cluster.list_topics(),
        commit,
        lambda: read_values(cluster, partition, 0, 2) == [(0, b"a"), (1, b"b")],
    ]
    crashes.crash()
    for question in questions:
        assert question()
    crashes.crash()
    for question in reversed(questions):
        assert question()
