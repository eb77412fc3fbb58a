"""Other people's consumers in groups: they share, rebalance, come back, and lose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from confluent_kafka.admin import AdminClient, NewPartitions
from tests.compatibility.clients.cluster import Cluster
from tests.compatibility.clients.foreign.client import How, Record
from tests.compatibility.clients.foreign.librdkafka import Librdkafka
from tests.compatibility.clients.group_readers import (
    AioKafkaReader,
    KafkaPythonReader,
    LibrdkafkaReader,
    Reader,
    wait_shared,
    wait_until,
)
from tests.support.oracle import Oracle
from tests.support.raw_client import RawClient

from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from ottla.testing.broker import RunningBroker

PARTITIONS = 6
MakeReader = Callable[..., Reader]

CONSUMER = {"group.protocol": "consumer"}
CLASSIC = {"group.protocol": "classic", "heartbeat.interval.ms": 500, "session.timeout.ms": 6000}
COOPERATIVE = {**CLASSIC, "partition.assignment.strategy": "cooperative-sticky"}


@pytest.fixture(scope="module")
def own_broker() -> Iterator[RunningBroker]:
    settings = {
        "group.consumer.heartbeat.interval.ms": "500",
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.assignment.interval.ms": "100",
    }
    with RunningBroker(config=settings) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-20_000:]


@pytest.fixture
def readers() -> Iterator[list[Reader]]:
    """Whoever reads, ended with the test."""
    found: list[Reader] = []
    yield found
    for reader in found:
        reader.leave()


class Group:
    """A topic, its records, and a group that reads it."""

    def __init__(self, bootstrap: str, name: str, readers: list[Reader]) -> None:
        self.bootstrap, self.name, self.readers = bootstrap, name, readers
        self.sent: list[bytes] = []
        with RawClient(bootstrap) as client:
            client.create_topic(name, PARTITIONS)

    def send(self, count: int) -> None:
        for partition in range(PARTITIONS):
            first = len(self.sent)
            values = [b"%d" % at for at in range(first, first + count)]
            how = How(partition=partition)
            Librdkafka(self.bootstrap).produce(self.name, [Record(each) for each in values], how)
            self.sent += values

    def reader(self, kind: type[Reader], **settings: Any) -> Reader:
        reader = kind(self.bootstrap, f"group-{self.name}", self.name, **settings)
        self.readers.append(reader)
        return reader

    def leave(self, reader: Reader) -> None:
        self.readers.remove(reader)
        reader.leave()

    def wait_read(self, by: list[Reader]) -> None:
        """Until everything that was sent has been read, and each record once."""
        wait_until(lambda: sum(len(each.records) for each in by) >= len(self.sent), by)
        read = [record for each in by for record in each.records]
        assert sorted(read) == sorted(self.sent)


@pytest.fixture
def group(own_broker: RunningBroker, topic: str, readers: list[Reader]) -> Group:
    return Group(own_broker.bootstrap_servers, topic, readers)


KINDS = [
    pytest.param(LibrdkafkaReader, CLASSIC, id="librdkafka"),
    pytest.param(LibrdkafkaReader, COOPERATIVE, id="librdkafka-cooperative"),
    pytest.param(LibrdkafkaReader, CONSUMER, id="librdkafka-consumer"),
    pytest.param(KafkaPythonReader, {}, id="kafka-python"),
    pytest.param(AioKafkaReader, {}, id="aiokafka"),
]


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_consumers_share_the_partitions_as_they_come_and_go(
    group: Group, kind: type[Reader], settings: dict[str, Any]
) -> None:
    first = group.reader(kind, **settings)
    wait_shared([first], PARTITIONS)
    group.send(20)
    group.wait_read([first])
    second = group.reader(kind, **settings)
    wait_shared([first, second], PARTITIONS)
    group.send(20)
    group.wait_read([first, second])
    group.leave(first)
    wait_shared([second], PARTITIONS)
    group.send(20)
    group.wait_read([first, second])


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_a_group_goes_on_where_it_was_when_its_last_consumer_left(
    group: Group, kind: type[Reader], settings: dict[str, Any]
) -> None:
    group.send(20)
    first = group.reader(kind, **settings)
    group.wait_read([first])
    group.leave(first)
    group.send(20)
    second = group.reader(kind, **settings)
    group.wait_read([first, second])


def test_consumers_of_three_libraries_are_one_group(group: Group) -> None:
    librdkafka = group.reader(
        LibrdkafkaReader, **CLASSIC, **{"partition.assignment.strategy": "range"}
    )
    wait_shared([librdkafka], PARTITIONS)
    kafka_python = group.reader(KafkaPythonReader)
    by_range = (RangePartitionAssignor,)
    aiokafka = group.reader(AioKafkaReader, partition_assignment_strategy=by_range)
    everybody = [librdkafka, kafka_python, aiokafka]
    wait_shared(everybody, PARTITIONS)
    group.send(20)
    group.wait_read(everybody)


def test_a_static_consumer_that_is_started_again_causes_no_rebalance(group: Group) -> None:
    kept = group.reader(LibrdkafkaReader, **CLASSIC, **{"group.instance.id": "kept"})
    again = group.reader(LibrdkafkaReader, **CLASSIC, **{"group.instance.id": "again"})
    wait_shared([kept, again], PARTITIONS)
    had = kept.partitions, again.partitions
    group.leave(again)
    back = group.reader(LibrdkafkaReader, **CLASSIC, **{"group.instance.id": "again"})
    wait_until(lambda: bool(back.partitions), [back])
    assert (kept.partitions, back.partitions) == had


def test_consumers_change_to_the_new_protocol_one_by_one_and_back(group: Group) -> None:
    old = [group.reader(LibrdkafkaReader, **CLASSIC) for _ in range(2)]
    wait_shared(list(old), PARTITIONS)
    new = group.reader(LibrdkafkaReader, **CONSUMER)
    wait_shared([*old, new], PARTITIONS)
    group.send(20)
    group.wait_read([*old, new])
    group.leave(old[0])
    wait_shared([old[1], new], PARTITIONS)
    with RawClient(group.bootstrap) as client:
        request = ConsumerGroupDescribeRequest([f"group-{group.name}"])
        [described] = client.ask(request, 1).groups
        assert sorted(each.member_type for each in described.members) == [0, 1]
    group.leave(new)
    wait_shared([old[1]], PARTITIONS)
    group.send(20)
    group.wait_read([*old, new])


def test_a_pattern_finds_topics_that_come_later(group: Group) -> None:
    reader = LibrdkafkaReader(
        group.bootstrap, f"group-{group.name}", f"^{group.name}.*", **CONSUMER
    )
    group.readers.append(reader)
    wait_shared([reader], PARTITIONS)
    group.send(5)
    group.wait_read([reader])


def test_new_partitions_are_read(group: Group) -> None:
    readers = [group.reader(LibrdkafkaReader, **CONSUMER) for _ in range(2)]
    wait_shared(list(readers), PARTITIONS)
    admin = AdminClient({"bootstrap.servers": group.bootstrap})
    for future in admin.create_partitions([NewPartitions(group.name, PARTITIONS + 2)]).values():
        future.result(30)
    wait_shared(list(readers), PARTITIONS + 2)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        pytest.param(LibrdkafkaReader, CLASSIC, id="classic"),
        pytest.param(LibrdkafkaReader, CONSUMER, id="consumer"),
    ],
)
def test_a_group_goes_on_after_the_broker_was_killed(
    topic: str, readers: list[Reader], kind: type[Reader], settings: dict[str, Any]
) -> None:
    with RunningBroker() as broker:
        group = Group(broker.bootstrap_servers, topic, readers)
        reader = group.reader(kind, **settings, **{"auto.commit.interval.ms": 100})
        group.send(20)
        group.wait_read([reader])
        broker.kill()
        broker.start()
        group.send(20)
        wait_until(lambda: set(reader.records) == set(group.sent), [reader])
        group.leave(reader)
        assert "Traceback" not in broker.log


JAVA_WAYS = {
    "classic": ("--topic", "{topic}", "--command-property", "group.protocol=classic"),
    "consumer": ("--topic", "{topic}", "--command-property", "group.protocol=consumer"),
    "pattern": ("--include", "{topic}.*", "--command-property", "group.protocol=classic"),
}


@pytest.mark.java
@pytest.mark.parametrize("way", JAVA_WAYS)
def test_kafkas_own_consumer_reads_in_a_group_and_goes_on_where_it_was(
    group: Group, oracle: Oracle, way: str
) -> None:
    cluster = Cluster(group.bootstrap, oracle)
    words = [each.format(topic=group.name) for each in JAVA_WAYS[way]]
    read: list[bytes] = []
    for _ in range(2):
        group.send(5)
        count = str(len(group.sent) - len(read))
        printed = cluster.tool(
            "consumer.ConsoleConsumer", *words, "--group", f"group-{group.name}",
            "--from-beginning", "--max-messages", count, "--timeout-ms", "30000",
        )  # fmt: skip
        read += printed.text.encode().split()
    assert sorted(read) == sorted(group.sent)


@pytest.mark.java
def test_kafkas_own_tool_describes_groups_of_both_kinds(group: Group, oracle: Oracle) -> None:
    cluster = Cluster(group.bootstrap, oracle)
    group.send(5)
    for settings in (CLASSIC, CONSUMER):
        reader = group.reader(LibrdkafkaReader, **settings, **{"auto.commit.interval.ms": 100})
        wait_shared([reader], PARTITIONS)
        tool = "consumer.group.ConsumerGroupCommand"
        for words in (["--members", "--verbose"], ["--state"], ["--offsets"]):
            printed = cluster.tool(tool, "--describe", "--group", f"group-{group.name}", *words)
            assert f"group-{group.name}" in printed.text
        state = cluster.tool(tool, "--describe", "--group", f"group-{group.name}", "--state")
        assert "Stable" in state.text
        group.leave(reader)
