"""The time from kill -9 to serving again, with 100 partitions with data, and with many small ones.

    python -m benchmarks.end_to_end.recovery [--rounds 3] [--long] [--only ottla|kafka]

Measured from starting the process again. 100 partitions are served when one request has appended a
record to each; of 10,000, each must return its end offset, and one of each topic accept a record.
The first record of each of them after the start is a separate row: it writes a new leader epoch.
Kafka first waits until its old registration has timed out (broker.session.timeout.ms, 9 s), unless
the controller detects that it is the same broker. 10,000 partitions run on Ottla only, with --long
also on Kafka.
"""

from __future__ import annotations

import time

from benchmarks.end_to_end.brokers import BrokerProcess, memory_mb, running
from benchmarks.end_to_end.wire import (
    Wire,
    batch_of,
    create_topics,
    produce_frame,
    wait_until_led,
    wait_until_writable,
)
from benchmarks.report import OURS, Report, options, show

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
                start = restart(broker)
                wait_until_writable(broker.bootstrap, "full", range(100))
                taken_s = time.perf_counter() - start
                times.add("100 partitions, 1 MB each", broker.name, taken_s)
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


def restart(broker: BrokerProcess) -> float:
    """Returns the time of the restart."""
    broker.kill()
    start = time.perf_counter()
    broker.start()
    return start


def measure_many(broker: BrokerProcess, times: Report, memory: Report, rounds: int) -> None:
    topics = [f"many-{number}" for number in range(10)]
    start = time.perf_counter()
    for topic in topics:
        create_topics(broker.bootstrap, [topic], TOPIC_PARTITIONS)
    created_s = time.perf_counter() - start
    times.add("10,000 partitions: creating them", broker.name, created_s)
    memory.add("10,000 partitions, one record each", broker.name, memory_mb(broker.pid))
    for _ in range(rounds):
        start = restart(broker)
        for topic in topics:
            wait_until_led(broker.bootstrap, topic, range(TOPIC_PARTITIONS))
            wait_until_writable(broker.bootstrap, topic, [0])
        served = time.perf_counter()
        times.add("10,000 partitions, one record each", broker.name, served - start)
        memory.add("the same after the restart", broker.name, memory_mb(broker.pid))
        for topic in topics:
            wait_until_writable(broker.bootstrap, topic, range(TOPIC_PARTITIONS))
        row = "10,000 partitions: the next record in each"
        times.add(row, broker.name, time.perf_counter() - served)


if __name__ == "__main__":
    main()
