"""Clients on aiokafka, which is written in Python: a producer, a writer and a group member."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from itertools import count, islice
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.errors import KafkaError
from tests.chaos.checker.history import Read, Result
from tests.chaos.clients.pacing import Pace
from tests.chaos.clients.values import decode, encode
from tests.chaos.clients.worker import Job

PATIENCE_MS = 120_000
TRANSACTION_MS = 20_000
RETRY_S = 0.5
OUTSTANDING_MAX = 2000


def common(job: Job) -> dict[str, Any]:
    return {
        "bootstrap_servers": job.order.bootstrap,
        "client_id": job.order.name,
        "metadata_max_age_ms": 5000,
    }


async def started(client: Any, job: Job) -> Any:
    """Once it has reached a broker."""
    while True:
        try:
            await client.start()
            return client
        except (KafkaError, OSError) as error:
            job.recorder.note(f"start: {error!r}")
            await asyncio.sleep(RETRY_S)


async def produce(job: Job) -> None:
    producer = await started(
        AIOKafkaProducer(
            **common(job),
            acks="all",
            enable_idempotence=True,
            linger_ms=5,
            request_timeout_ms=PATIENCE_MS,
        ),
        job,
    )
    pace, sent, waiting = Pace(job.order.rate), 0, set[asyncio.Task[None]]()
    while not job.stopping.is_set():
        for _ in range(job.rng.randint(1, 10)):
            topic, partition = job.random_key()
            value, sent = f"{job.order.name}:{sent}", sent + 1
            operation = job.recorder.begin()
            job.recorder.send(operation, f"{topic}-{partition}", value)
            data = encode(value, job.sizes())
            try:
                future = await producer.send(topic, data, partition=partition)
            except KafkaError as error:
                job.recorder.note(f"{value} was not sent: {error!r}")
                continue
            task = asyncio.create_task(delivered(job, operation, value, future))
            waiting.add(task)
            task.add_done_callback(waiting.discard)
        while len(waiting) > OUTSTANDING_MAX:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(pace.pause_s(sent))
    if waiting:
        await asyncio.wait(waiting)
    await producer.stop()


async def delivered(job: Job, operation: int, value: str, future: Any) -> None:
    try:
        found = await future
    except KafkaError as error:
        job.recorder.note(f"{value} was not delivered: {error!r}")
        job.recorder.end(operation, Result.UNKNOWN)
    else:
        job.recorder.sent(operation, value, found.offset)
        job.recorder.end(operation, Result.OK)


async def write(job: Job) -> None:
    """Transactions over several partitions; one in ten is aborted."""
    pace, numbers = Pace(job.order.rate), count()
    while not job.stopping.is_set():
        producer = await started(
            AIOKafkaProducer(
                **common(job),
                transactional_id=job.order.name.partition(".")[0],
                transaction_timeout_ms=TRANSACTION_MS,
                linger_ms=5,
            ),
            job,
        )
        try:
            while not job.stopping.is_set():
                last = await write_one(job, producer, numbers)
                await asyncio.sleep(pace.pause_s(last))
        except KafkaError as error:
            job.recorder.note(f"another producer is needed: {error!r}")
        finally:
            await closed(producer)


async def write_one(job: Job, producer: Any, numbers: Iterator[int]) -> int:
    """The number of its last record. None is used again, also if the transaction fails."""
    recorder, result, number = job.recorder, Result.UNKNOWN, 0
    records = job.rng.randint(1, job.order.batch_max)
    await producer.begin_transaction()
    operation = recorder.begin(is_transaction=True)
    sent: list[Any] = []
    try:
        for number in islice(numbers, records):
            topic, partition = job.random_key()
            value = f"{job.order.name}:{number}"
            recorder.send(operation, f"{topic}-{partition}", value)
            sent.append(await producer.send(topic, encode(value, job.sizes()), partition=partition))
        # aiokafka commits a transaction also if some of its batches were refused.
        await asyncio.gather(*sent)
        if job.rng.random() < 0.1:
            await producer.flush()
            await asyncio.sleep(job.rng.choice([0.0, 0.3]))  # to be read, if a broker allows it
            await producer.abort_transaction()
            result = Result.FAILED
        else:
            await producer.commit_transaction()
            result = Result.OK
    finally:
        recorder.end(operation, result)
    return number


async def closed(client: Any) -> None:
    try:
        async with asyncio.timeout(30):
            await client.stop()
    except (KafkaError, OSError, TimeoutError):
        pass


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self) -> None:
        self.is_rebalanced = False

    def on_partitions_revoked(self, revoked: object) -> None:
        self.is_rebalanced = True

    def on_partitions_assigned(self, assigned: object) -> None:
        self.is_rebalanced = True


async def read_group(job: Job) -> None:
    consumer = AIOKafkaConsumer(
        **common(job),
        group_id=job.order.group,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=10_000,
    )
    listener = Listener()
    consumer.subscribe(sorted(job.order.topics), listener=listener)
    await started(consumer, job)
    job.recorder.subscribed()
    while not job.stopping.is_set():
        try:
            found = await consumer.getmany(timeout_ms=200, max_records=500)
        except KafkaError as error:
            job.recorder.note(f"poll: {error!r}")
            continue
        is_rebalanced, listener.is_rebalanced = listener.is_rebalanced, False
        reads = [
            Read(f"{at.topic}-{at.partition}", each.offset, decode(each.value))
            for at, records in found.items()
            for each in records
        ]
        if reads or is_rebalanced:
            job.recorder.polled(reads, rebalanced=is_rebalanced)
        if reads:
            try:
                await consumer.commit()
            except KafkaError as error:
                job.recorder.note(f"commit: {error!r}")
    await closed(consumer)


def in_a_loop(work: Any) -> Any:
    def run(job: Job) -> None:
        coroutine: Coroutine[Any, Any, None] = work(job)
        asyncio.run(coroutine)

    return run


ROLES = {
    "python-produce": in_a_loop(produce),
    "python-write": in_a_loop(write),
    "python-group": in_a_loop(read_group),
}
