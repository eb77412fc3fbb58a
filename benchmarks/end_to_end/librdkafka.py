"""Load with confluent-kafka: producers and consumers."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

BATCH_MESSAGES = 1000  # per call of the client
CONSUME_MESSAGES = 20_000  # per call
PATIENCE_S = 60.0


class LoadFailed(Exception):
    """The broker failed, so there is no result."""


class ProducerLoad:
    """Records of one size, spread over partitions, all acknowledged."""

    def __init__(self, bootstrap: str, settings: Mapping[str, Any]) -> None:
        self.produce_requests = 0  # according to the client
        self._failures: list[KafkaError] = []
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "queue.buffering.max.messages": 1_000_000,
                "log_level": 2,
                "delivery.report.only.error": True,
                "statistics.interval.ms": 100,
                "stats_cb": self._note_statistics,
                "on_delivery": self._note_failure,
                **settings,
            }
        )

    def run(self, topic: str, partitions: int, values: list[bytes], count: int) -> float:
        """Seconds until all are acknowledged."""
        calls = [
            [{"value": values[at % len(values)]} for at in range(BATCH_MESSAGES)]
            for _ in range(partitions)
        ]
        self._producer.list_topics(topic, PATIENCE_S)
        start = time.perf_counter()
        for number in range(count // BATCH_MESSAGES):
            partition = number % partitions
            self._hand_over(topic, partition, calls[partition])
        return self._finish(start)

    def run_in_turn(self, topic: str, partitions: int, value: bytes, count: int) -> float:
        """The same record by record, to the partitions round-robin."""
        produce_one = self._producer.produce
        self._producer.list_topics(topic, PATIENCE_S)
        start = time.perf_counter()
        for number in range(count):
            produce_one(topic, value, partition=number % partitions)
        return self._finish(start)

    def _hand_over(self, topic: str, partition: int, messages: list[dict[str, Any]]) -> None:
        taken = self._producer.produce_batch(topic, messages, partition=partition)
        while taken < len(messages):  # its queue is full; rejected messages are marked
            messages = [each for each in messages if each.pop("_error", None) is not None]
            self._producer.poll(0.001)
            taken = self._producer.produce_batch(topic, messages, partition=partition)

    def _finish(self, start: float) -> float:
        if self._producer.flush(PATIENCE_S) or self._failures:
            raise LoadFailed(f"{len(self._producer)} unsent, {self._failures[:1]}")
        taken_s = time.perf_counter() - start
        self._producer.poll(0.25)  # the last statistics
        self._producer.close()
        return taken_s

    def _note_failure(self, error: KafkaError | None, _message: object) -> None:
        if error is not None:
            self._failures.append(error)

    def _note_statistics(self, text: str) -> None:
        brokers = json.loads(text)["brokers"].values()
        self.produce_requests = sum(each["req"].get("Produce", 0) for each in brokers)


def produce(
    bootstrap: str,
    topic: str,
    partitions: int,
    values: list[bytes],
    count: int,
    settings: Mapping[str, Any],
) -> float:
    return ProducerLoad(bootstrap, settings).run(topic, partitions, values, count)


def consume(bootstrap: str, topic: str, partitions: int, count: int) -> float:
    """Records per second, of `count` that are read from the beginning."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "benchmark",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "log_level": 2,
            # A full queue (100,000 records) makes librdkafka wait a whole second before it fetches
            # again: with the default a faster broker is a slower benchmark.
            "fetch.queue.backoff.ms": 1,
        }
    )
    consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
    start, counted, left, end_s = 0.0, 0, count, time.monotonic() + PATIENCE_S
    while left > 0 and time.monotonic() < end_s:
        for message in (messages := consumer.consume(CONSUME_MESSAGES, 0.2)):
            if message.error() is not None:
                raise LoadFailed(str(message.error()))
        left -= len(messages)
        if messages and not start:  # connecting is not measured
            start, counted = time.perf_counter(), left
    taken_s = time.perf_counter() - start
    consumer.close()
    if left > 0:
        raise LoadFailed(f"{left} of {count} records did not come")
    return counted / taken_s
