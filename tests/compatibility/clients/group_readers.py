"""Consumers of several libraries in groups, each in a thread of its own.

A reader notes every record it was given and which partitions it has; tests look at that until it is
as it should be.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import kafka
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer, KafkaError
from kafka.errors import KafkaConnectionError
from tests.compatibility.clients.clients import AIOKAFKA, KAFKA_PYTHON, LIBRDKAFKA
from tests.compatibility.clients.foreign.librdkafka import QUIET
from tests.support.oracle import Oracle, from_base64
from tests.support.waiting import pause

PATIENCE_S = 180.0
STOP_S = 20.0


class Reader(Protocol):
    """Reads until it is asked to leave. What it has read is committed when it does."""

    @property
    def records(self) -> list[bytes]: ...

    @property
    def partitions(self) -> frozenset[int]: ...

    @property
    def failure(self) -> BaseException | None:
        """What has ended it."""

    def leave(self) -> None: ...


class ThreadedReader(threading.Thread):
    def __init__(self, bootstrap: str, group: str, topic: str, **settings: Any) -> None:
        super().__init__(daemon=True)
        self.bootstrap, self.group, self.topic = bootstrap, group, topic
        self.settings = settings
        self.records: list[bytes] = []
        self.partitions: frozenset[int] = frozenset()
        self.failure: BaseException | None = None
        self._leaving = threading.Event()
        self.start()

    @property
    def is_leaving(self) -> bool:
        return self._leaving.is_set()

    def run(self) -> None:
        try:
            self.read()
        except BaseException as error:  # for the test to see
            self.failure = error

    def read(self) -> None:
        raise NotImplementedError

    def leave(self) -> None:
        self._leaving.set()
        self.join(PATIENCE_S)
        assert not self.is_alive(), "a consumer does not end"
        if self.failure is not None:
            raise self.failure


class LibrdkafkaReader(ThreadedReader):
    def read(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": self.group,
                "auto.offset.reset": "earliest",
                "topic.metadata.refresh.interval.ms": 1000,
                **QUIET,
                **self.settings,
            }
        )
        consumer.subscribe([self.topic])
        while not self.is_leaving:
            message = consumer.poll(0.05)
            self.partitions = frozenset(each.partition for each in consumer.assignment())
            if message is None:
                continue
            if message.error() is not None:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                continue
            self.records.append(message.value() or b"")
        consumer.close()


class KafkaPythonReader(ThreadedReader):
    def read(self) -> None:
        consumer = kafka.KafkaConsumer(
            self.topic,
            bootstrap_servers=self.bootstrap,
            group_id=self.group,
            auto_offset_reset="earliest",
            **{"heartbeat_interval_ms": 500, **self.settings},
        )
        while not self.is_leaving:
            try:
                # With a short timeout it forgets the answer to a SyncGroup that it has just sent.
                batches = consumer.poll(timeout_ms=1000)
            except KafkaConnectionError:
                continue  # the broker is down; later calls reconnect by themselves
            for batch in batches.values():
                self.records += [each.value for each in batch]
            self.partitions = frozenset(each.partition for each in consumer.assignment())
        consumer.close()


class AioKafkaReader(ThreadedReader):
    def read(self) -> None:
        asyncio.run(self._read())

    async def _read(self) -> None:
        consumer = AIOKafkaConsumer(
            self.topic,
            bootstrap_servers=self.bootstrap,
            group_id=self.group,
            auto_offset_reset="earliest",
            **{"heartbeat_interval_ms": 500, "session_timeout_ms": 30_000, **self.settings},
        )
        await consumer.start()
        try:
            while not self.is_leaving:
                for batch in (await consumer.getmany(timeout_ms=50)).values():
                    self.records += [each.value for each in batch]
                self.partitions = frozenset(each.partition for each in consumer.assignment())
        finally:
            # After a broker's death it may wait for a coordinator that it no longer looks for.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(consumer.stop(), STOP_S)


READERS: Mapping[str, type[ThreadedReader]] = {
    LIBRDKAFKA: LibrdkafkaReader,
    KAFKA_PYTHON: KafkaPythonReader,
    AIOKAFKA: AioKafkaReader,
}


class JavaReader:
    """Reads in a thread of the oracle's JVM; every look at it asks there."""

    def __init__(
        self, oracle: Oracle, bootstrap: str, group: str, topic: str, **settings: Any
    ) -> None:
        self._oracle = oracle
        self._member = f"{group}-{id(self)}"
        self._records: list[bytes] = []
        self._partitions: frozenset[int] = frozenset()
        self.failure: BaseException | None = None
        defaults = {"group.id": group, "auto.offset.reset": "earliest", "metadata.max.age.ms": 1000}
        configs = {name: str(value) for name, value in {**defaults, **settings}.items()}
        self._ask("group.join", bootstrap=bootstrap, topic=topic, configs=configs)
        self._has_left = False

    @property
    def records(self) -> list[bytes]:
        self._look()
        return self._records

    @property
    def partitions(self) -> frozenset[int]:
        self._look()
        return self._partitions

    def leave(self) -> None:
        self._look("group.leave")
        self._has_left = True
        if self.failure is not None:
            raise self.failure

    def _look(self, operation: str = "group.look") -> None:
        if self._has_left:
            return
        seen = self._ask(operation)
        self._records += [from_base64(each) or b"" for each in seen["records"]]
        self._partitions = frozenset(seen["partitions"])
        if seen["failure"] is not None:
            self.failure = AssertionError(seen["failure"])

    def _ask(self, operation: str, **arguments: Any) -> Any:
        return self._oracle.ask(operation, member=self._member, **arguments)


def wait_until(is_so: Callable[[], bool], readers: Iterable[Reader] = ()) -> None:
    began_s = time.monotonic()
    while not is_so():
        for reader in readers:
            if reader.failure is not None:
                raise reader.failure
        shown = [(sorted(reader.partitions), len(reader.records)) for reader in readers]
        assert time.monotonic() - began_s < PATIENCE_S, shown
        pause(began_s)


def wait_shared(readers: list[Reader], partitions: int) -> None:
    """Until the readers share all partitions: none has two readers, and no reader has none."""

    def is_shared() -> bool:
        parts = [reader.partitions for reader in readers]
        held = [each for part in parts for each in part]
        return sorted(held) == list(range(partitions)) and all(parts)

    wait_until(is_shared, readers)
