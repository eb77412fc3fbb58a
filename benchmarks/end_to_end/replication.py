"""Three replicas: throughput and latency of acks=all, a killed leader, processor time and memory.

    python -m benchmarks replication [--rounds 3] [--only ottla]

Three brokers of each on this machine, with the same client (confluent-kafka), in turn. Processor
time is that of all brokers together, per megabyte of values; that of ZooKeeper is not in it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from itertools import pairwise

from benchmarks.end_to_end.brokers import cpu_s, memory_mb
from benchmarks.end_to_end.clusters import ClusterProcesses, OttlaCluster, cluster_called
from benchmarks.report import Options, Report, options, show
from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

PARTITIONS = 6
CASES = ((100, 1_000_000), (1000, 200_000))  # bytes of a value, and how many
SINGLE_RECORDS = 2000
KILL_AFTER_S, WATCHED_S = 2.0, 15.0
QUIET = {"log_level": 0, "reconnect.backoff.max.ms": 100}


class Reports:
    def __init__(self) -> None:
        self.throughput = Report("acks=all, three replicas", False, "records/s", 0)
        self.megabytes = Report("The same", False, "MB/s")
        self.cpu = Report("Processor time of all brokers", True, "ms/MB", 2)
        self.latency = Report("One record at a time, acks=all", True, "ms", 2)
        self.gaps = Report("Longest time without an acknowledgement", True, "s", 2)
        self.memory = Report("Resident memory after the load", True, "MB", 0)

    def show(self) -> None:
        show(self.throughput, self.megabytes, self.cpu, self.latency, self.gaps, self.memory)


def main() -> None:
    asked = options(__doc__)
    reports = Reports()
    for number in range(asked.rounds):
        for name in asked.brokers if number % 2 else reversed(asked.brokers):
            cluster = cluster_called(name)
            try:
                cluster.start_all()
                measure(cluster, reports, asked)
            finally:
                cluster.close()
    reports.show()


def measure(cluster: ClusterProcesses, reports: Reports, asked: Options) -> None:
    for size, count in CASES:
        if asked.is_long:
            count *= 5
        topic = new_topic(cluster, f"records-{size}", PARTITIONS)
        produce(cluster, topic, size, count // 10)  # JIT compiler and page cache
        before = sum(map(cpu_s, cluster.pids.values()))
        seconds = produce(cluster, topic, size, count)
        used_s = sum(map(cpu_s, cluster.pids.values())) - before
        row, megabytes = f"{size} B, {PARTITIONS} partitions", size * count / 1e6
        reports.throughput.add(row, cluster.name, count / seconds)
        reports.megabytes.add(row, cluster.name, megabytes / seconds)
        reports.cpu.add(row, cluster.name, 1000 * used_s / megabytes)
    for name, value in single_records(cluster).items():
        reports.latency.add(name, cluster.name, value)
    reports.memory.add("three brokers", cluster.name, sum(map(memory_mb, cluster.pids.values())))
    if isinstance(cluster, OttlaCluster):
        with_zookeeper = [*cluster.pids.values(), cluster.zookeeper_pid]
        reports.memory.add("with ZooKeeper", cluster.name, sum(map(memory_mb, with_zookeeper)))
    for what, end in (("killed with -9", cluster.kill), ("stopped", cluster.stop)):
        reports.gaps.add(f"leader {what}", cluster.name, longest_gap(cluster, what, end))


def new_topic(cluster: ClusterProcesses, name: str, partitions: int) -> str:
    admin = AdminClient({**QUIET, "bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(name, partitions, 3)])[name].result()
    while any(len(each.isrs) < 3 for each in partitions_of(cluster, name).values()):
        time.sleep(0.1)
    return name


def partitions_of(cluster: ClusterProcesses, topic: str) -> dict:  # type: ignore[type-arg]
    admin = AdminClient({**QUIET, "bootstrap.servers": cluster.bootstrap})
    return dict(admin.list_topics(topic, timeout=30).topics[topic].partitions)


def producer_to(cluster: ClusterProcesses, **settings: int) -> Producer:
    return Producer(
        {
            **QUIET,
            "bootstrap.servers": cluster.bootstrap,
            "enable.idempotence": True,
            "queue.buffering.max.messages": 200_000,
            **settings,
        }
    )


def produce(cluster: ClusterProcesses, topic: str, size: int, count: int) -> float:
    """Seconds until all are acknowledged."""
    producer = producer_to(cluster, **{"linger.ms": 5, "batch.size": 65536})
    value, failures = os.urandom(size), []

    def note(error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            failures.append(error)

    began_s = time.perf_counter()
    for number in range(count):
        while True:
            try:
                producer.produce(topic, value, on_delivery=note)
                break
            except BufferError:
                producer.poll(0.01)
        if number % 500 == 0:
            producer.poll(0)
    if producer.flush(300) or failures:
        raise RuntimeError(f"not acknowledged: {failures[:1]}")
    return time.perf_counter() - began_s


def single_records(cluster: ClusterProcesses) -> dict[str, float]:
    topic = new_topic(cluster, "single", 1)
    producer = producer_to(cluster, **{"linger.ms": 0})
    found = []
    for _ in range(SINGLE_RECORDS):
        began_s = time.perf_counter()
        producer.produce(topic, b"x" * 100)
        producer.flush(60)
        found.append(1000 * (time.perf_counter() - began_s))
    found = sorted(found[SINGLE_RECORDS // 10 :])
    return {"p50": found[len(found) // 2], "p99": found[len(found) * 99 // 100]}


def longest_gap(cluster: ClusterProcesses, what: str, end: Callable[[int], object]) -> float:
    """While the leader of the only partition ends; it is started again afterwards."""
    topic = new_topic(cluster, f"gap-{what.replace(' ', '-')}", 1)
    leader = partitions_of(cluster, topic)[0].leader
    acknowledged: list[float] = []
    ending = threading.Event()

    def run() -> None:
        producer = producer_to(cluster, **{"linger.ms": 0})

        def note(error: KafkaError | None, _message: Message) -> None:
            if error is None:
                acknowledged.append(time.perf_counter())

        while not ending.is_set():
            producer.produce(topic, b"x", on_delivery=note)
            producer.poll(0.005)
        producer.flush(60)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(KILL_AFTER_S)
    end(leader)
    time.sleep(WATCHED_S)
    ending.set()
    thread.join()
    cluster.start(leader)
    while any(len(each.isrs) < 3 for each in partitions_of(cluster, topic).values()):
        time.sleep(0.1)
    return max(b - a for a, b in pairwise(acknowledged))


if __name__ == "__main__":
    main()
