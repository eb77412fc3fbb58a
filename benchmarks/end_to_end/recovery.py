"""kill -9 to serving again, with 100 partitions that have data, and with many that are small.

    python -m benchmarks.end_to_end.recovery [--rounds 3] [--long] [--only ottla|kafka]

From starting the process again until one request has put a record into each partition of a topic.
Kafka waits first until its own old registration has timed out (broker.session.timeout.ms, 9 s),
unless the controller can tell that it was the same broker. 10,000 partitions are ours alone,
with --long also Kafka's.
"""

from __future__ import annotations

import time

from benchmarks.end_to_end.brokers import BrokerProcess, memory_mb, running
from benchmarks.end_to_end.report import OURS, Report, options, show
from benchmarks.end_to_end.wire import (
    Wire,
    batch_of,
    create_topics,
    produce_frame,
    wait_until_writable,
)

TOPIC_PARTITIONS = 1000


def main() -> None:
    asked = options(__doc__, rounds=2)
    times = Report("From kill -9 and start to serving all partitions", True, "s", 2)
    memory = Report("Resident memory with many partitions", True, "MB", 0)
    with running(asked.brokers) as brokers:
        for broker in brokers:
            fill(broker, 100)
        for _ in range(asked.rounds):
            for broker in brokers:
                times.add(
                    "100 partitions, 1 MB each", broker.name, restarted_s(broker, ["full"], 100)
                )
    with running(asked.brokers if asked.is_long else [OURS]) as brokers:
        for broker in brokers:
            measure_many(broker, times, memory, asked.rounds)
    show(times, memory)


def fill(broker: BrokerProcess, partitions: int) -> None:
    create_topics(broker.bootstrap, ["full"], partitions)
    batch = batch_of(1000, 50)
    with Wire(broker.bootstrap) as wire:
        for _ in range(20):
            wire.send(produce_frame("full", range(partitions), batch))
            wire.receive()


def restarted_s(broker: BrokerProcess, topics: list[str], partitions: int) -> float:
    broker.kill()
    start = time.perf_counter()
    broker.start()
    for topic in topics:
        wait_until_writable(broker.bootstrap, topic, range(partitions))
    return time.perf_counter() - start


def measure_many(broker: BrokerProcess, times: Report, memory: Report, rounds: int) -> None:
    topics = [f"many-{number}" for number in range(10)]
    start = time.perf_counter()
    for topic in topics:
        create_topics(broker.bootstrap, [topic], TOPIC_PARTITIONS)
    created_s = time.perf_counter() - start
    times.add("10,000 partitions: creating them", broker.name, created_s)
    memory.add("10,000 partitions, one record each", broker.name, memory_mb(broker.pid))
    for _ in range(rounds):
        row = "10,000 partitions, one record each"
        times.add(row, broker.name, restarted_s(broker, topics, TOPIC_PARTITIONS))
        memory.add("the same after the restart", broker.name, memory_mb(broker.pid))


if __name__ == "__main__":
    main()
