"""Three brokers restarted one after the other under load: errors, and the longest gap.

    python -m benchmarks rolling_restart [--rounds 3] [--only ottla]

A producer of librdkafka and one of kafka-python, each in a process of its own, write to every
partition of a topic with three replicas some fifty times a second, with acks=all. The gap is the
longest time between two acknowledgements of one partition, in the whole restart of all brokers: the
longest of all partitions, and the median. A gap without a restart is measured as well: what a busy
machine does to it. Errors that a client reports, and records that are not read afterwards, fail the
benchmark.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.synchronize import Event
from statistics import median
from typing import Any

from benchmarks.end_to_end.clusters import ClusterProcesses, cluster_called
from benchmarks.end_to_end.replication import QUIET, new_topic, partitions_of
from benchmarks.report import Report, options, show
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

PARTITIONS = 12
PAUSE_S = 0.02  # between two records of a partition
CALM_S = 10.0
SETTLED_S = 1.0
PATIENCE_S = 60.0

Send = Callable[[int], None]


class Gaps:
    """Acknowledgements by partition, and what went wrong."""

    def __init__(self) -> None:
        self.last_s: dict[int, float] = {}
        self.longest_s: dict[int, float] = {}
        self.count = 0
        self.errors: list[str] = []

    def acknowledged(self, partition: int) -> None:
        now_s = time.perf_counter()
        gap_s = now_s - self.last_s.get(partition, now_s)
        self.longest_s[partition] = max(gap_s, self.longest_s.get(partition, 0.0))
        self.last_s[partition] = now_s
        self.count += 1


def librdkafka(bootstrap: str, topic: str, ending: Event, results: Any) -> None:
    gaps = Gaps()
    producer = Producer(
        {**QUIET, "bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 1}
    )

    def note(error: KafkaError | None, message: Message) -> None:
        if error is None:
            gaps.acknowledged(message.partition() or 0)
        else:
            gaps.errors.append(str(error))

    while not ending.is_set():
        for partition in range(PARTITIONS):
            producer.produce(topic, b"x" * 100, partition=partition, on_delivery=note)
            producer.poll(PAUSE_S / PARTITIONS)
    if left := producer.flush(PATIENCE_S):
        gaps.errors.append(f"{left} records were not acknowledged")
    results.put(("librdkafka", gaps))


def kafka_python(bootstrap: str, topic: str, ending: Event, results: Any) -> None:
    from kafka import KafkaProducer

    gaps = Gaps()
    producer = KafkaProducer(
        bootstrap_servers=bootstrap.split(","), acks="all", enable_idempotence=True
    )

    def note(partition: int) -> None:
        future = producer.send(topic, b"y" * 100, partition=partition)
        future.add_callback(lambda _metadata: gaps.acknowledged(partition))
        future.add_errback(lambda error: gaps.errors.append(repr(error)))

    while not ending.is_set():
        for partition in range(PARTITIONS):
            note(partition)
            time.sleep(PAUSE_S / PARTITIONS)
    producer.flush(PATIENCE_S)
    producer.close()
    results.put(("kafka-python", gaps))


def main() -> None:
    asked = options(__doc__)
    longest = Report("Longest gap of a partition, all brokers restarted", True, "s", 2)
    middle = Report("The same, median of the partitions", True, "s", 2)
    calm = Report("Longest gap of a partition, nothing restarted", True, "s", 2)
    for number in range(asked.rounds):
        for name in asked.brokers if number % 2 else reversed(asked.brokers):
            cluster = cluster_called(name)
            try:
                cluster.start_all()
                for client, gaps in measure(cluster, "calm", lambda _: time.sleep(CALM_S)):
                    calm.add(client, name, max(gaps.longest_s.values()))
                for client, gaps in measure(cluster, "restarted", restart_all):
                    longest.add(client, name, max(gaps.longest_s.values()))
                    middle.add(client, name, median(gaps.longest_s.values()))
            finally:
                cluster.close()
    show(calm, longest, middle)


def measure(
    cluster: ClusterProcesses, name: str, act: Callable[[ClusterProcesses], None]
) -> list[tuple[str, Gaps]]:
    topic = new_topic(cluster, name, PARTITIONS)
    context = multiprocessing.get_context("spawn")
    ending, results = context.Event(), context.Queue()
    clients = [
        context.Process(target=each, args=(cluster.bootstrap, topic, ending, results))
        for each in (librdkafka, kafka_python)
    ]
    for each in clients:
        each.start()
    while end_offset(cluster, topic) < 50 * PARTITIONS:
        time.sleep(0.1)
    act(cluster)
    ending.set()
    found = [results.get(timeout=2 * PATIENCE_S) for _ in clients]
    for each in clients:
        each.join()
    for client, gaps in found:
        if gaps.errors:
            raise RuntimeError(f"{cluster.name}, {client}: {gaps.errors[:3]}")
    acknowledged, there = sum(gaps.count for _, gaps in found), end_offset(cluster, topic)
    if acknowledged != there:
        raise RuntimeError(f"{cluster.name}: {acknowledged} acknowledged, {there} there")
    return found


def restart_all(cluster: ClusterProcesses) -> None:
    for broker_id in sorted(cluster.pids):
        cluster.stop(broker_id)
        cluster.start(broker_id)
        while any(len(each.isrs) < 3 for each in partitions_of(cluster, "restarted").values()):
            time.sleep(0.1)
        time.sleep(SETTLED_S)


def end_offset(cluster: ClusterProcesses, topic: str) -> int:
    """Of all partitions together: without transactions and retries, the number of records."""
    consumer = Consumer({**QUIET, "bootstrap.servers": cluster.bootstrap, "group.id": "unused"})
    ends = [
        consumer.get_watermark_offsets(TopicPartition(topic, each), timeout=60)[1]
        for each in range(PARTITIONS)
    ]
    consumer.close()
    return sum(ends)


if __name__ == "__main__":
    main()
