"""What another client sees of a topic: committed records, once no marker is on its way."""

from __future__ import annotations

from typing import NamedTuple

from confluent_kafka import Consumer, Message, TopicPartition
from tests.support.transactions import wait_for_markers

PATIENCE_S = 120.0


class Found(NamedTuple):
    partition: int
    key: str | None
    value: str | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def committed(servers: str, topic: str) -> list[Found]:
    """In the order of the logs, partition by partition."""
    found = [
        Found(
            message.partition(),
            _text(message.key()),
            _text(message.value()),
            tuple(message.headers() or ()),
        )
        for message in _messages(servers, topic)
    ]
    return sorted(found, key=lambda each: each.partition)


def committed_times(servers: str, topic: str) -> list[tuple[str | None, int]]:
    """Value and timestamp (ms) of each record."""
    return [(_text(each.value()), each.timestamp()[1]) for each in _messages(servers, topic)]


def _messages(servers: str, topic: str) -> list[Message]:
    wait_for_markers(servers, topic)
    consumer = Consumer({
        "bootstrap.servers": servers, "group.id": "reader",
        "isolation.level": "read_committed", "enable.partition.eof": True,
    })  # fmt: skip
    try:
        partitions = consumer.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions
        consumer.assign([TopicPartition(topic, each, 0) for each in partitions])
        found, left = [], len(partitions)
        while left:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, "a partition does not end"
            if message.error():
                assert message.error().name() == "_PARTITION_EOF", message.error()
                left -= 1
            else:
                found.append(message)
        return found
    finally:
        consumer.close()


def committed_values(servers: str, topic: str) -> list[str]:
    return sorted(each.value or "" for each in committed(servers, topic))


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
