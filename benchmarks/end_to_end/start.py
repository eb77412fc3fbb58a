"""The time until a broker serves requests, and its memory.

    python -m benchmarks.end_to_end.start [--rounds 3] [--only ottla|kafka]

From starting the process to the first acknowledged record: of a topic that is created on an empty
data directory, and of one that exists. Kafka's directory is formatted before.
"""

from __future__ import annotations

import time

from benchmarks.end_to_end.brokers import BrokerProcess, built, memory_mb
from benchmarks.end_to_end.librdkafka import consume, produce
from benchmarks.end_to_end.wire import create_topics
from benchmarks.report import Report, options, show

LOAD_RECORDS = 1_000_000


def main() -> None:
    asked = options(__doc__)
    times = Report("From process start to the first acknowledged record", True, "s", 2)
    memory = Report("Resident memory", True, "MB", 0)
    for _ in range(asked.rounds):
        with built(asked.brokers) as brokers:
            for broker in brokers:
                measure(broker, times, memory)
    show(times, memory)


def measure(broker: BrokerProcess, times: Report, memory: Report) -> None:
    if broker.name == "kafka":
        broker.start()  # formats the directory
        broker.stop()
    times.add("new topic", broker.name, started_s(broker))
    memory.add("idle, one topic", broker.name, memory_mb(broker.pid))
    load(broker)
    memory.add("after 1 M records of 100 B in and out", broker.name, memory_mb(broker.pid))
    broker.stop()
    times.add("existing topic, after a clean shutdown", broker.name, started_s(broker))


def started_s(broker: BrokerProcess) -> float:
    start = time.perf_counter()
    broker.start()
    create_topics(broker.bootstrap, ["first"])
    return time.perf_counter() - start


def load(broker: BrokerProcess) -> None:
    produce(broker.bootstrap, "first", 1, [bytes(100)], LOAD_RECORDS, {"acks": 1, "linger.ms": 5})
    consume(broker.bootstrap, "first", 1, LOAD_RECORDS)


if __name__ == "__main__":
    main()
