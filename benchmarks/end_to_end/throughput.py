"""Produce and consume with confluent-kafka: records per second, and the broker's CPU time.

    python -m benchmarks.end_to_end.throughput [--rounds 3] [--long] [--only ottla|kafka]

One producer, then one consumer, in this process. The default run varies one parameter at a time;
--long combines all. Values are half random, so that codecs have an effect. A first round is not
counted: the JVM compiles its code.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from benchmarks.end_to_end.brokers import BrokerProcess, cpu_s, in_turn, running
from benchmarks.end_to_end.librdkafka import consume, produce
from benchmarks.end_to_end.wire import create_topics, delete_topics
from benchmarks.report import Report, options, show

KIB = 1024
READINGS = 8  # per produced topic: a single one takes half a second and varies
TOPIC = "throughput"


@dataclass(frozen=True)
class Case:
    value_bytes: int = 100
    partitions: int = 1
    codec: str = "none"
    acks: str = "1"
    batch_bytes: int = 16 * KIB

    def __str__(self) -> str:
        return (
            f"{self.value_bytes} B, {self.partitions} part., {self.codec}, acks={self.acks}, "
            f"{self.batch_bytes // KIB} KiB batches"
        )

    @property
    def records(self) -> int:
        return 1_000_000 if self.value_bytes <= 100 else 500_000

    @property
    def megabytes(self) -> float:
        return self.records * self.value_bytes / 1e6


BASE = Case()
QUICK = [
    BASE,
    replace(BASE, acks="all"),
    replace(BASE, partitions=6),
    replace(BASE, codec="lz4"),
    replace(BASE, codec="zstd"),
    replace(BASE, batch_bytes=976 * KIB),  # librdkafka's default
    replace(BASE, value_bytes=1000),
    replace(BASE, value_bytes=1000, partitions=6, acks="all", batch_bytes=64 * KIB),
]
LONG = [
    Case(*each)
    for each in product((100, 1000), (1, 6), ("none", "lz4", "zstd"), ("1", "all"), (16 * KIB,))
]


class Figures:
    def __init__(self) -> None:
        self.produced = Report("Produce, confluent-kafka", False, "thousand records/s", 0)
        self.consumed = Report("Consume, confluent-kafka", False, "thousand records/s", 0)
        self.produce_cpu = Report("Broker CPU per MB produced", True, "us of values", 0)
        self.consume_cpu = Report("Broker CPU per MB consumed", True, "us of values", 0)


def main() -> None:
    asked = options(__doc__)
    figures = Figures()
    with running(asked.brokers) as brokers:
        for case in LONG if asked.is_long else QUICK:
            for number in range(asked.rounds + 1):
                measure(brokers, case, figures if number else Figures())
    show(figures.produced, figures.consumed, figures.produce_cpu, figures.consume_cpu)


def measure(brokers: Sequence[BrokerProcess], case: Case, figures: Figures) -> None:
    """One round: all produce, then all are read in alternation."""
    for broker in brokers:
        create_topics(broker.bootstrap, [TOPIC], case.partitions)
        measure_produce(broker, case, figures)
    for number in range(READINGS):
        for broker in in_turn(brokers, number):
            measure_consume(broker, case, figures)
    for broker in brokers:
        delete_topics(broker.bootstrap, [TOPIC])


def measure_produce(broker: BrokerProcess, case: Case, figures: Figures) -> None:
    values = [os.urandom(case.value_bytes // 2) + bytes(case.value_bytes // 2) for _ in range(100)]
    settings = {
        "acks": case.acks,
        "compression.type": case.codec,
        "batch.size": case.batch_bytes,
        "linger.ms": 5,
    }
    before_s = cpu_s(broker.pid)
    taken_s = produce(broker.bootstrap, TOPIC, case.partitions, values, case.records, settings)
    used_s = cpu_s(broker.pid) - before_s
    figures.produced.add(str(case), broker.name, case.records / taken_s / 1e3)
    figures.produce_cpu.add(str(case), broker.name, used_s * 1e6 / case.megabytes)


def measure_consume(broker: BrokerProcess, case: Case, figures: Figures) -> None:
    before_s = cpu_s(broker.pid)
    rate = consume(broker.bootstrap, TOPIC, case.partitions, case.records)
    used_s = cpu_s(broker.pid) - before_s
    figures.consumed.add(str(case), broker.name, rate / 1e3)
    figures.consume_cpu.add(str(case), broker.name, used_s * 1e6 / case.megabytes)


if __name__ == "__main__":
    main()
