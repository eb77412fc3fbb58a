"""Other people's transactional producers behind one small interface.

A producer commits or aborts values together with the offset of a group. Each lives until it is
closed, as a program's would.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from aiokafka import AIOKafkaProducer
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from tests.support.java_clients import (
    ABORT,
    BEGIN,
    CLOSE,
    COMMIT,
    FLUSH,
    JavaClients,
    offsets_in_transaction,
    send,
)
from tests.support.transactions import wait_until_stable

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # while it is loaded
    from kafka import KafkaProducer
    from kafka import TopicPartition as PythonPartition
    from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata

PATIENCE_S = 120.0
T = TypeVar("T")


Meanwhile = Callable[[], None]


def nothing() -> None:
    """Happens meanwhile."""


class TransactionalClient(Protocol):
    def transact(
        self,
        topic: str,
        values: Sequence[bytes],
        group: str,
        offset: int,
        *,
        is_commit: bool,
        meanwhile: Meanwhile = nothing,
    ) -> None:
        """One transaction: values into partition 0 and the offset of the group for it.
        `meanwhile` happens when the values have been sent and nothing else."""

    def close(self) -> None: ...


class Librdkafka:
    def __init__(self, bootstrap: str, transactional_id: str) -> None:
        self._bootstrap = bootstrap
        self.producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": transactional_id,
                "log_level": 0,
                "reconnect.backoff.max.ms": 100,
                "metadata.recovery.strategy": "none",  # see test_transactions_crashes.py
            }
        )
        self.producer.init_transactions(PATIENCE_S)

    def transact(
        self,
        topic: str,
        values: Sequence[bytes],
        group: str,
        offset: int,
        *,
        is_commit: bool,
        meanwhile: Meanwhile = nothing,
    ) -> None:
        self.send(topic, values)
        meanwhile()
        self.send_offset(topic, group, offset)
        if is_commit:
            self.producer.commit_transaction(PATIENCE_S)
        else:
            self.producer.abort_transaction(PATIENCE_S)

    def begin(self, topic: str, values: Sequence[bytes], group: str, offset: int) -> None:
        self.send(topic, values)
        self.send_offset(topic, group, offset)

    def send(self, topic: str, values: Sequence[bytes]) -> None:
        self.producer.begin_transaction()
        for value in values:
            self.producer.produce(topic, value, partition=0)
        assert self.producer.flush(PATIENCE_S) == 0

    def send_offset(self, topic: str, group: str, offset: int) -> None:
        reader = Consumer({"bootstrap.servers": self._bootstrap, "group.id": group})
        member = reader.consumer_group_metadata()
        reader.close()
        offsets = [TopicPartition(topic, 0, offset)]
        self.producer.send_offsets_to_transaction(offsets, member, PATIENCE_S)

    def close(self) -> None:
        """It has no such call: it goes with its last reference."""


class KafkaPython:
    def __init__(self, bootstrap: str, transactional_id: str) -> None:
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap, transactional_id=transactional_id
        )
        self._producer.init_transactions()

    def transact(
        self,
        topic: str,
        values: Sequence[bytes],
        group: str,
        offset: int,
        *,
        is_commit: bool,
        meanwhile: Meanwhile = nothing,
    ) -> None:
        producer = self._producer
        producer.begin_transaction()
        for value in values:
            producer.send(topic, value, partition=0)
        producer.flush(PATIENCE_S)
        meanwhile()
        offsets = {PythonPartition(topic, 0): OffsetAndMetadata(offset, "", -1)}
        producer.send_offsets_to_transaction(offsets, ConsumerGroupMetadata(group, -1, "", None))
        if is_commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()

    def close(self) -> None:
        self._producer.close(PATIENCE_S)


class AioKafka:
    def __init__(self, bootstrap: str, transactional_id: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._producer = self._run(self._start(bootstrap, transactional_id))

    @staticmethod
    async def _start(bootstrap: str, transactional_id: str) -> AIOKafkaProducer:
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=transactional_id)
        await producer.start()
        return producer

    def transact(
        self,
        topic: str,
        values: Sequence[bytes],
        group: str,
        offset: int,
        *,
        is_commit: bool,
        meanwhile: Meanwhile = nothing,
    ) -> None:
        self._run(self._send(topic, values))
        meanwhile()
        self._run(self._end(topic, group, offset, is_commit))

    async def _send(self, topic: str, values: Sequence[bytes]) -> None:
        await self._producer.begin_transaction()
        sent = [await self._producer.send(topic, value, partition=0) for value in values]
        await asyncio.gather(*sent)

    async def _end(self, topic: str, group: str, offset: int, is_commit: bool) -> None:
        producer = self._producer
        await producer.send_offsets_to_transaction({AioPartition(topic, 0): offset}, group)
        if is_commit:
            await producer.commit_transaction()
        else:
            await producer.abort_transaction()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(asyncio.wait_for(work, PATIENCE_S))

    def close(self) -> None:
        self._run(self._producer.stop())
        self._loop.close()


class Java:
    def __init__(self, clients: JavaClients, transactional_id: str) -> None:
        self._clients = clients
        self._id = transactional_id

    def transact(
        self,
        topic: str,
        values: Sequence[bytes],
        group: str,
        offset: int,
        *,
        is_commit: bool,
        meanwhile: Meanwhile = nothing,
    ) -> None:
        steps = [BEGIN, *(send(topic, value) for value in values), FLUSH]
        self._clients.produce(self._id, steps, {"transactional.id": self._id})
        meanwhile()
        steps = [offsets_in_transaction(group, topic, offset), COMMIT if is_commit else ABORT]
        self._clients.produce(self._id, steps)

    def close(self) -> None:
        self._clients.produce(self._id, [CLOSE])


def read_values(bootstrap: str, topic: str, *, is_committed: bool) -> list[bytes]:
    """Everything in partition 0 up to its end, as librdkafka's consumer shows it. If committed,
    once no transaction is open any more."""
    if is_committed:
        wait_until_stable(bootstrap, topic)
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "nobody",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed" if is_committed else "read_uncommitted",
        }
    )
    values: list[bytes] = []
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        while True:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"{values} and no end within {PATIENCE_S} s"
            if message.error() is not None:
                return values
            values.append(message.value())
    finally:
        consumer.close()


def committed_offset(bootstrap: str, topic: str, group: str) -> int:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "isolation.level": "read_committed",
        }
    )
    try:
        (found,) = consumer.committed([TopicPartition(topic, 0)], PATIENCE_S)
        return int(found.offset)
    finally:
        consumer.close()
