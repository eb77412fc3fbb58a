"""Producers, consumers and groups that continue while a test breaks something."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaError, Message, Producer

QUIET = {"log_level": 0, "reconnect.backoff.max.ms": 200}
PAUSE_S = 0.01
PATIENCE_S = 120.0


class Traffic:
    """Records are produced to a topic, and read by a group of two members that commits."""

    def __init__(self, bootstrap: str, topic: str, group: str, protocol: str = "classic") -> None:
        self._topic = topic
        self._common = {**QUIET, "bootstrap.servers": bootstrap}
        self._group = {
            **self._common,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._produce, daemon=True)]
        self._threads += [threading.Thread(target=self._consume, daemon=True) for _ in range(2)]
        self.acknowledged: list[int] = []
        self.read: list[int] = []
        self.errors: list[str] = []

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)
        assert not any(thread.is_alive() for thread in self._threads)

    def wait_for_more(self, count: int = 20) -> None:
        """Until so many more records were acknowledged, and then read."""
        wanted = len(self.acknowledged) + count
        end_s = time.monotonic() + PATIENCE_S
        while len(self.acknowledged) < wanted or not self.has_read_all(wanted):
            assert time.monotonic() < end_s, f"{len(self.acknowledged)} of {wanted}, {self.errors}"
            time.sleep(PAUSE_S)

    def has_read_all(self, count: int) -> bool:
        return set(self.acknowledged[:count]) <= set(self.read)

    def _produce(self) -> None:
        producer = Producer({**self._common, "enable.idempotence": True, "linger.ms": 1})
        number = 0
        while not self._stopping.is_set():
            value, number = number, number + 1
            producer.produce(
                self._topic,
                str(value),
                key=str(value),
                on_delivery=lambda error, _, value=value: self._delivered(value, error),
            )
            producer.poll(PAUSE_S)
        if producer.flush(PATIENCE_S):
            self.errors.append("records were not delivered")

    def _delivered(self, value: int, error: KafkaError | None) -> None:
        if error is None:
            self.acknowledged.append(value)
        else:
            self.errors.append(f"producer: {error}")

    def _consume(self) -> None:
        consumer = Consumer(self._group)
        consumer.subscribe([self._topic])
        while not self._stopping.is_set():
            self._take(consumer, consumer.poll(0.05))
        consumer.close()

    def _take(self, consumer: Consumer, message: Message | None) -> None:
        if message is None:
            return
        if (error := message.error()) is not None:
            self.errors.append(f"consumer: {error}")
            return
        value = message.value()
        assert value is not None
        self.read.append(int(value))
        consumer.commit(message, asynchronous=True)


@contextmanager
def traffic(bootstrap: str, topic: str, group: str, protocol: str = "classic") -> Iterator[Traffic]:
    """Nothing may fail, and all that was acknowledged is read."""
    running = Traffic(bootstrap, topic, group, protocol)
    running.start()
    try:
        running.wait_for_more()
        yield running
        running.wait_for_more()
    finally:
        running.stop()
    assert running.errors == []
