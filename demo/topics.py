"""The topics of the demo: creating them, and reading them to the end with a consumer."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

from demo.expected import Alert
from demo.places import Place
from demo.reports import Report, decode
from demo.scenario import ALERTS_TOPIC, LATEST_TOPIC, PARTITIONS, REPORTS_TOPIC

STEP_S = 0.1
SILENCE_S = 30.0  # timeout without a message
COMPACTED = {"cleanup.policy": "compact"}
KEPT = {"retention.ms": "-1"}  # the records have fleet time, which may be long ago


def create_topics(bootstrap_servers: str, replicas: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
    topics = [
        NewTopic(REPORTS_TOPIC, PARTITIONS, replicas, config=KEPT),
        NewTopic(LATEST_TOPIC, 1, replicas, config=COMPACTED),
        NewTopic(ALERTS_TOPIC, 1, replicas),
    ]
    for created in admin.create_topics(topics).values():
        created.result()


def read_messages(bootstrap_servers: str, topic: str) -> Iterator[Message]:
    """All committed records from the beginning to the end, in order within each partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "checker",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 20,  # the end of a partition is reported after an empty response
            "log_level": 0,
        }
    )
    try:
        found = consumer.list_topics(topic, timeout=SILENCE_S).topics[topic]
        if found.error is not None:
            raise KafkaException(found.error)
        consumer.assign(
            [TopicPartition(topic, each, OFFSET_BEGINNING) for each in found.partitions]
        )
        open_partitions = set(found.partitions)
        deadline_s = time.monotonic() + SILENCE_S
        while open_partitions:
            messages = consumer.consume(10_000, timeout=STEP_S)
            if messages:
                deadline_s = time.monotonic() + SILENCE_S
            elif time.monotonic() > deadline_s:
                raise TimeoutError(f"{topic}: no answer for {SILENCE_S:.0f} s")
            for message in messages:
                error = message.error()
                if error is None:
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF:
                    open_partitions.discard(message.partition())
                elif not error.retriable():
                    raise KafkaException(error)
    finally:
        consumer.close()


def read_reports(bootstrap_servers: str, topic: str) -> Iterator[Report]:
    return (decode(each.value()) for each in read_messages(bootstrap_servers, topic))


def read_placed_reports(bootstrap_servers: str, topic: str) -> Iterator[tuple[Report, Place]]:
    """Each with its position in the topic, and the time of its record."""
    for each in read_messages(bootstrap_servers, topic):
        _kind, time_ms = each.timestamp()
        yield decode(each.value()), Place(each.partition(), each.offset(), time_ms)


def read_alerts(bootstrap_servers: str) -> Iterator[Alert]:
    return (decode_alert(each.value()) for each in read_messages(bootstrap_servers, ALERTS_TOPIC))


def decode_alert(value: bytes) -> Alert:
    alert = json.loads(value)
    return Alert(
        alert["truck"],
        milliseconds(alert["window_start"]),
        milliseconds(alert["window_end"]),
        alert["driven_minutes"],
    )


def milliseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000)
