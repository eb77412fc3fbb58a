"""kafka-python."""

from __future__ import annotations

import sys
import time
from itertools import count

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError
from tests.compatibility.cluster_clients.programs.telling import (
    PAUSE_S,
    RECORDS,
    complain,
    ended,
    report,
    watch_input,
)


def produce(bootstrap: str, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=bootstrap.split(","), acks="all", enable_idempotence=True
    )
    for number in count():
        if ended.is_set():
            break
        value = str(number).encode()
        future = producer.send(topic, value, key=value)
        future.add_callback(lambda _sent, number=number: report("sent", number))
        future.add_errback(complain)
        time.sleep(PAUSE_S)
    producer.flush(120)
    producer.close()


def consume(bootstrap: str, topic: str) -> None:
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap.split(","),
        group_id=f"readers-of-{topic}",
        auto_offset_reset="earliest",
    )
    while not ended.is_set():
        for records in consumer.poll(200).values():
            for record in records:
                report("read", record.partition, record.offset, record.value.decode())
    consumer.close()


def transact(bootstrap: str, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=bootstrap.split(","), acks="all", transactional_id=f"writer-of-{topic}"
    )
    producer.init_transactions()
    for number in count():
        if ended.is_set():
            break
        producer.begin_transaction()
        for at in range(RECORDS):
            producer.send(topic, f"{number}-{at}".encode(), key=str(at).encode())
            time.sleep(PAUSE_S)
        end(producer, number)
    producer.close()


def end(producer: KafkaProducer, number: int) -> None:
    if number % 3 != 2:
        try:
            producer.commit_transaction()
            report("committed", number)
            return
        except KafkaError as error:
            complain(error)
    producer.abort_transaction()
    report("aborted", number)


if __name__ == "__main__":
    watch_input()
    {"produce": produce, "consume": consume, "transact": transact}[sys.argv[1]](*sys.argv[2:])
