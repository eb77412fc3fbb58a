"""aiokafka."""

from __future__ import annotations

import asyncio
import sys
from itertools import count

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError
from tests.compatibility.cluster_clients.programs.telling import (
    PAUSE_S,
    RECORDS,
    complain,
    ended,
    report,
    watch_input,
)


async def produce(bootstrap: str, topic: str) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True)
    await producer.start()

    def reported(number: int, sent: asyncio.Future[object]) -> None:
        if sent.exception() is None:
            report("sent", number)
        else:
            complain(sent.exception())

    for number in count():
        if ended.is_set():
            break
        value = str(number).encode()
        sent = await producer.send(topic, value, key=value)
        sent.add_done_callback(lambda sent, number=number: reported(number, sent))
        await asyncio.sleep(PAUSE_S)
    await producer.flush()
    await producer.stop()


async def consume(bootstrap: str, topic: str) -> None:
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=f"readers-of-{topic}",
        auto_offset_reset="earliest",
    )
    await consumer.start()
    while not ended.is_set():
        for records in (await consumer.getmany(timeout_ms=200)).values():
            for record in records:
                report("read", record.partition, record.offset, record.value.decode())
    await consumer.stop()


async def transact(bootstrap: str, topic: str) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap, acks="all", transactional_id=f"writer-of-{topic}"
    )
    await producer.start()
    for number in count():
        if ended.is_set():
            break
        await producer.begin_transaction()
        for at in range(RECORDS):
            await producer.send(topic, f"{number}-{at}".encode(), key=str(at).encode())
            await asyncio.sleep(PAUSE_S)
        await end(producer, number)
    await producer.stop()


async def end(producer: AIOKafkaProducer, number: int) -> None:
    if number % 3 != 2:
        try:
            await producer.commit_transaction()
            report("committed", number)
            return
        except KafkaError as error:
            complain(error)
    await producer.abort_transaction()
    report("aborted", number)


if __name__ == "__main__":
    watch_input()
    roles = {"produce": produce, "consume": consume, "transact": transact}
    asyncio.run(roles[sys.argv[1]](*sys.argv[2:]))
