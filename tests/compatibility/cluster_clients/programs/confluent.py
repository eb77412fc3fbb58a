"""confluent-kafka (librdkafka)."""

from __future__ import annotations

import sys
from itertools import count

from confluent_kafka import Consumer, KafkaException, Producer
from tests.compatibility.cluster_clients.programs.telling import (
    PAUSE_S,
    RECORDS,
    complain,
    ended,
    report,
    watch_input,
)

QUIET = {"log_level": 0}


def produce(bootstrap: str, topic: str) -> None:
    producer = Producer(
        {"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True, **QUIET}
    )

    def reported(error: object, message: object) -> None:
        if error is None:
            report("sent", message.value().decode())  # type: ignore[attr-defined]
        else:
            complain(error)

    for number in count():
        if ended.is_set():
            break
        producer.produce(topic, str(number), key=str(number), on_delivery=reported)
        producer.poll(PAUSE_S)
    producer.flush(120)


def consume(bootstrap: str, topic: str) -> None:
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": f"readers-of-{topic}",
        "auto.offset.reset": "earliest",
        **QUIET,
    }
    consumer = Consumer(settings)
    consumer.subscribe([topic])
    while not ended.is_set():
        message = consumer.poll(0.2)
        if message is None:
            continue
        if message.error():
            complain(message.error())
        else:
            report("read", message.partition(), message.offset(), message.value().decode())
    consumer.close()


def transact(bootstrap: str, topic: str) -> None:
    settings = {"bootstrap.servers": bootstrap, "transactional.id": f"writer-of-{topic}", **QUIET}
    producer = Producer(settings)
    producer.init_transactions(120)
    for number in count():
        if ended.is_set():
            break
        producer.begin_transaction()
        for at in range(RECORDS):
            producer.produce(topic, f"{number}-{at}", key=str(at))
            producer.poll(PAUSE_S)
        end(producer, number)


def end(producer: Producer, number: int) -> None:
    is_commit = number % 3 != 2
    # On Apache Kafka an abort may fail permanently while partitions are added (INVALID_TXN_STATE).
    producer.flush(60)
    while True:
        try:
            if is_commit:
                producer.commit_transaction(60)
            else:
                producer.abort_transaction(60)
        except KafkaException as error:
            complain(error)
            if error.args[0].txn_requires_abort():
                is_commit = False
            elif not error.args[0].retriable():
                report("unknown", number)
                raise
        else:
            report("committed" if is_commit else "aborted", number)
            return


if __name__ == "__main__":
    watch_input()
    {"produce": produce, "consume": consume, "transact": transact}[sys.argv[1]](*sys.argv[2:])
