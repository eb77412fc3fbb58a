"""Reading topics from the start, without joining a group."""

from __future__ import annotations

import time
from typing import Any

from ottla.testing.clients import Clients, load
from ottla.testing.records import Record

POLL_S = 0.05

READER = {
    "group.id": "ottla-testing",  # librdkafka wants a name; no group is joined
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "fetch.wait.max.ms": 10,
}


class NoSuchTopic(LookupError):
    """The topic does not exist."""


class NotReadToTheEnd(RuntimeError):
    """A partition did not give all that it holds in time: nothing is known about the rest."""


def read_topic(
    clients: Clients, topic: str, at_least: int, timeout: float, request_timeout_s: float
) -> list[Record]:
    """The records up to the end of every partition, which may take `request_timeout_s`; then more,
    until there are `at_least` so many, or `timeout` seconds have passed. NoSuchTopic,
    NotReadToTheEnd."""
    __tracebackhide__ = True
    partition = load("confluent_kafka", "TopicPartition")
    start = load("confluent_kafka", "OFFSET_BEGINNING")
    consumer = clients.consumer(READER)
    try:
        numbers = consumer.list_topics(topic, timeout=request_timeout_s).topics[topic].partitions
        if not numbers:
            raise NoSuchTopic(topic)
        consumer.assign([partition(topic, number, start) for number in numbers])
        found = read_to_end(consumer, set(numbers), request_timeout_s)
        found += read_more(consumer, at_least - len(found), timeout)
    finally:
        consumer.close()
    return sorted(found, key=lambda record: (record.partition, record.offset))


def read_to_end(consumer: Any, reading: set[int], request_timeout_s: float) -> list[Record]:
    """All that is in these partitions now."""
    end_of_partition = load("confluent_kafka", "KafkaError")._PARTITION_EOF
    found: list[Record] = []
    problem = "no answer"
    deadline_s = time.monotonic() + request_timeout_s
    while reading and time.monotonic() < deadline_s:
        message = consumer.poll(POLL_S)
        if message is None:
            continue
        error = message.error()
        if error is None:
            found.append(from_message(message))
        elif error.code() == end_of_partition:
            reading.discard(message.partition())
        else:
            problem = error.str()
    if reading:
        partitions = ", ".join(map(str, sorted(reading)))
        raise NotReadToTheEnd(
            f"partition {partitions} cannot be read to the end within {request_timeout_s:g} s: "
            f"{problem}"
        )
    return found


def read_more(consumer: Any, count: int, timeout: float) -> list[Record]:
    """At most `count` records that arrive later, within the time."""
    found: list[Record] = []
    deadline_s = time.monotonic() + timeout
    while len(found) < count and time.monotonic() < deadline_s:
        message = consumer.poll(POLL_S)
        if message is not None and message.error() is None:
            found.append(from_message(message))
    return found


def from_message(message: Any) -> Record:
    return Record(
        message.value(),
        message.key(),
        tuple(message.headers() or ()),
        message.topic(),
        message.partition(),
        message.offset(),
        message.timestamp()[1],
    )
