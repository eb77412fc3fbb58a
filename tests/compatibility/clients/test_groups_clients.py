"""Other people's consumers in groups: they share, rebalance, come back, and lose nothing."""

from __future__ import annotations

from typing import Any

import pytest
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from tests.compatibility.clients.clients import (
    AIOKAFKA,
    EVERY_CLIENT,
    JAVAS,
    KAFKA_PYTHON,
    LIBRDKAFKA,
)
from tests.compatibility.clients.group_readers import (
    LibrdkafkaReader,
    Reader,
    wait_shared,
    wait_until,
)
from tests.compatibility.clients.reading_groups import (
    CLASSIC,
    CONSUMER,
    KINDS,
    PARTITIONS,
    Group,
    kind,
)
from tests.support.raw_client import RawClient

from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest


@pytest.mark.parametrize(("client", "settings"), KINDS)
def test_consumers_share_the_partitions_as_they_come_and_go(
    group: Group, client: str, settings: dict[str, Any]
) -> None:
    first = group.reader(client, **settings)
    wait_shared([first], PARTITIONS)
    group.send(20)
    group.wait_read([first])
    second = group.reader(client, **settings)
    wait_shared([first, second], PARTITIONS)
    group.send(20)
    group.wait_read([first, second])
    group.leave(first)
    wait_shared([second], PARTITIONS)
    group.send(20)
    group.wait_read([first, second])


@pytest.mark.parametrize(("client", "settings"), KINDS)
def test_a_group_continues_where_it_was_when_its_last_consumer_left(
    group: Group, client: str, settings: dict[str, Any]
) -> None:
    group.send(20)
    first = group.reader(client, **settings)
    group.wait_read([first])
    group.leave(first)
    group.send(20)
    second = group.reader(client, **settings)
    group.wait_read([first, second])


def test_consumers_of_three_libraries_are_one_group(group: Group) -> None:
    librdkafka = group.reader(LIBRDKAFKA, **CLASSIC, **{"partition.assignment.strategy": "range"})
    wait_shared([librdkafka], PARTITIONS)
    kafka_python = group.reader(KAFKA_PYTHON)
    by_range = (RangePartitionAssignor,)
    aiokafka = group.reader(AIOKAFKA, partition_assignment_strategy=by_range)
    readers = [librdkafka, kafka_python, aiokafka]
    wait_shared(readers, PARTITIONS)
    group.send(20)
    group.wait_read(readers)


@pytest.mark.parametrize(
    ("client", "settings"),
    [
        kind(LIBRDKAFKA, CLASSIC),
        kind(LIBRDKAFKA, CONSUMER, "-consumer"),
        kind(KAFKA_PYTHON, {}),
        kind(AIOKAFKA, {}),
        *(kind(release, CLASSIC) for release in JAVAS),
        *(kind(release, CONSUMER, "-consumer") for release in JAVAS),
    ],
)
def test_a_static_consumer_that_is_started_again_causes_no_rebalance(
    group: Group, client: str, settings: dict[str, Any]
) -> None:
    def static_reader(name: str) -> Reader:
        is_python = client in (KAFKA_PYTHON, AIOKAFKA)
        word = "group_instance_id" if is_python else "group.instance.id"
        return group.reader(client, **settings, **{word: name})

    kept, again = static_reader("kept"), static_reader("again")
    wait_shared([kept, again], PARTITIONS)
    had = kept.partitions, again.partitions
    group.leave(again)
    back = static_reader("again")
    wait_until(lambda: bool(back.partitions), [back])
    assert (kept.partitions, back.partitions) == had


def test_consumers_change_to_the_new_protocol_one_by_one_and_back(group: Group) -> None:
    old = [group.reader(LIBRDKAFKA, **CLASSIC) for _ in range(2)]
    wait_shared(list(old), PARTITIONS)
    new = group.reader(LIBRDKAFKA, **CONSUMER)
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
    reader = group.add(
        LibrdkafkaReader(group.bootstrap, f"group-{group.name}", f"^{group.name}.*", **CONSUMER)
    )
    wait_shared([reader], PARTITIONS)
    group.send(5)
    group.wait_read([reader])


def test_new_partitions_are_read(group: Group) -> None:
    readers = [group.reader(LIBRDKAFKA, **CONSUMER) for _ in range(2)]
    wait_shared(list(readers), PARTITIONS)
    group.grow(PARTITIONS + 2)
    wait_shared(list(readers), PARTITIONS + 2)
    group.send(5)
    group.wait_read(readers)


@pytest.mark.parametrize("client", EVERY_CLIENT)
def test_one_consumer_reads_a_hundred_partitions(group: Group, client: str) -> None:
    group.grow(100)
    reader = group.reader(client)
    wait_shared([reader], 100)
    group.send(3)
    group.wait_read([reader])
