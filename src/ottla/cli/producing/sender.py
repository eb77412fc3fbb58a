"""Sends records with librdkafka's producer, and counts what was acknowledged."""

from __future__ import annotations

import argparse
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.connection import Connection, confluent_kafka
from ottla.cli.errors import CommandFailed, suggestions
from ottla.cli.output.tables import count_text
from ottla.cli.records.record import Record

NAME_RULE = "a name has 1 to 249 ASCII letters, digits, '.', '_' and '-'"
NEW_TOPIC_MS = 5_000  # how long an automatically created topic may take to appear


class RecordSender:
    """A producer, and the offsets of the records that were acknowledged."""

    def __init__(self, connection: Connection, arguments: argparse.Namespace) -> None:
        self._connection = connection
        self.producer = connection.producer(
            acks=arguments.acks,
            # librdkafka needs half a second to initialize it, too much for a record or two.
            enable_idempotence=arguments.acks == "all" and not arguments.values,
            compression_type=arguments.compression,
            partitioner="murmur2_random",  # as Kafka's own producer: one key, one partition
            message_timeout_ms=max(1, round(connection.timeout_s * 1000)),
            topic_metadata_propagation_max_ms=NEW_TOPIC_MS,
            linger_ms=1,
        )
        self.acknowledged: dict[TopicPartition, list[int]] = {}  # count, first and last offset
        self.error: Any = None

    def send(self, record: Record) -> None:
        timestamp = {"timestamp": record.timestamp_ms} if record.timestamp_ms >= 0 else {}
        while True:
            try:
                self.producer.produce(
                    record.topic,
                    record.value,
                    record.key,
                    record.partition,
                    self._delivered,
                    headers=list(record.headers),
                    **timestamp,
                )
                break
            except BufferError:
                self.producer.poll(0.1)  # the queue is full: wait for space
            except confluent_kafka().KafkaException as error:
                raise self._failure(error.args[0], record.topic, record.partition) from error
        self.producer.poll(0)
        self._check()

    def finish(self) -> None:
        self.producer.flush(self._connection.timeout_s + 5)
        self._check()
        if len(self.producer):
            raise self._connection.no_answer()

    def finish_after_bad_input(self) -> list[str]:
        """Send what preceded the error, and say how much that was."""
        self.finish()
        count = sum(each[0] for each in self.acknowledged.values())
        return [
            f"{count_text(count, 'record')} before that {'was' if count == 1 else 'were'} written"
        ]

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self.error = self.error or (error, message.topic(), message.partition())
            return
        partition = TopicPartition(message.topic(), message.partition())
        seen = self.acknowledged.setdefault(partition, [0, message.offset(), message.offset()])
        seen[0] += 1
        seen[1] = min(seen[1], message.offset())
        seen[2] = max(seen[2], message.offset())

    def _check(self) -> None:
        if self.error is not None:
            raise self._failure(*self.error)

    def _failure(self, error: Any, topic: str, partition: int) -> CommandFailed:
        library = confluent_kafka().KafkaError
        topics = self._connection.metadata(self.producer).topics
        if error.code() == library.TOPIC_EXCEPTION or not is_valid_topic_name(topic):
            return invalid_topic_name(topic)
        if topic not in topics:
            return CommandFailed(
                f"there is no topic {topic}, and the cluster does not create topics automatically",
                f"ottla topics create {topic}",
                *suggestions(topic, topics),
            )
        if error.code() == library._UNKNOWN_PARTITION:
            count = len(topics[topic].partitions)
            return CommandFailed(f"{topic} has no partition {partition}: it has {count}")
        if error.code() == library._MSG_TIMED_OUT:
            return self._connection.no_answer(error.str())
        return CommandFailed(f"{topic}: {error.str()}")


def is_valid_topic_name(topic: str) -> bool:
    from ottla.metadata.topic_names import fault_of_name

    return fault_of_name(topic) is None


def invalid_topic_name(topic: str) -> CommandFailed:
    return CommandFailed(f"{topic!r} is not a valid topic name", NAME_RULE)
