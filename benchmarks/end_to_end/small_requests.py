"""Many small requests: linger 0 over 64 partitions, and pipelined one-record requests.

    python -m benchmarks.end_to_end.small_requests [--rounds 3] [--long] [--only ottla|kafka]

`librdkafka` is one confluent-kafka producer with linger.ms=0 that writes to 64 partitions
round-robin: it sends immediately, one partition per request. `pipeline` is a plain socket with a
constant number of one-record requests in flight, each to the next of 64 partitions; there the
client costs little, so the broker is the bottleneck.
"""

from __future__ import annotations

import time

from benchmarks.end_to_end.brokers import BrokerProcess, cpu_s, running
from benchmarks.end_to_end.librdkafka import ProducerLoad
from benchmarks.end_to_end.wire import Wire, batch_of, create_topics, produce_frame
from benchmarks.report import Report, options, show

PARTITIONS = 64
TOPIC = "small"
DEPTHS = (1, 5, 50)


class Figures:
    def __init__(self) -> None:
        self.per_s = Report("Small produce requests", False, "requests/s", 0)
        self.cpu = Report("Broker CPU per small produce request", True, "us", 1)

    def add(
        self, row: str, broker: BrokerProcess, requests: int, taken_s: float, spent_s: float
    ) -> None:
        self.per_s.add(row, broker.name, requests / taken_s)
        self.cpu.add(row, broker.name, spent_s * 1e6 / requests)


def main() -> None:
    asked = options(__doc__)
    figures = Figures()
    count = 200_000 if asked.is_long else 40_000
    with running(asked.brokers) as brokers:
        for broker in brokers:
            create_topics(broker.bootstrap, [TOPIC], PARTITIONS)
        for number in range(asked.rounds + 1):
            for broker in brokers:
                noted = figures if number else Figures()
                by_librdkafka(broker, count, noted)
                for depth in DEPTHS:
                    by_pipeline(broker, depth, count, noted)
    show(figures.per_s, figures.cpu)


def by_librdkafka(broker: BrokerProcess, count: int, figures: Figures) -> None:
    load = ProducerLoad(broker.bootstrap, {"acks": 1, "linger.ms": 0})
    before_s = cpu_s(broker.pid)
    taken_s = load.run_in_turn(TOPIC, PARTITIONS, bytes(100), count)
    spent_s = cpu_s(broker.pid) - before_s
    figures.add("librdkafka, linger 0", broker, load.produce_requests, taken_s, spent_s)
    figures.per_s.add("librdkafka, linger 0 (records/s)", broker.name, count / taken_s)


def by_pipeline(broker: BrokerProcess, depth: int, count: int, figures: Figures) -> None:
    frames = [produce_frame(TOPIC, [index], batch_of(100)) for index in range(PARTITIONS)]
    with Wire(broker.bootstrap) as wire:
        before_s, start = cpu_s(broker.pid), time.perf_counter()
        for at in range(depth):
            wire.send(frames[at % PARTITIONS])
        for at in range(depth, count):
            wire.receive()
            wire.send(frames[at % PARTITIONS])
        for _ in range(depth):
            wire.receive()
        taken_s = time.perf_counter() - start
    figures.add(f"pipeline of {depth}", broker, count, taken_s, cpu_s(broker.pid) - before_s)


if __name__ == "__main__":
    main()
