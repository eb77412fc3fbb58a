"""Produce and consume with Kafka's performance tools: ProducerPerformance, ConsumerPerformance.

    python -m benchmarks.end_to_end.kafka_tools [--rounds 3] [--long] [--only ottla|kafka]

6 partitions, batches of 64 KiB. The tools measure from their first record on: the start of their
JVM is not included, but its warm-up is, so they run for some seconds.
"""

from __future__ import annotations

import re
import subprocess

from benchmarks.end_to_end.brokers import BrokerProcess, cpu_s, running
from benchmarks.end_to_end.wire import create_topics, delete_topics
from benchmarks.report import Report, options, show
from tests.support.kafka_jars import class_path

PARTITIONS = 6
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
TOOLS = "org.apache.kafka.tools"


class Figures:
    def __init__(self) -> None:
        self.produced = Report("ProducerPerformance", False, "thousand records/s", 0)
        self.consumed = Report(
            "ConsumerPerformance, while fetching", False, "thousand records/s", 0
        )
        self.cpu = Report("Broker CPU per MB, produced and consumed", True, "us of values", 0)


def main() -> None:
    asked = options(__doc__)
    figures = Figures()
    factor = 2 if asked.is_long else 1
    with running(asked.brokers) as brokers:
        for number in range(asked.rounds + 1):  # the first is not counted: the JVM warms up
            for acks, value_bytes, count in (("1", 100, 6_000_000), ("all", 1000, 1_500_000)):
                for broker in brokers:
                    kept = figures if number else Figures()
                    measure(broker, acks, value_bytes, factor * count, kept)
    show(figures.produced, figures.consumed, figures.cpu)


def measure(
    broker: BrokerProcess, acks: str, value_bytes: int, count: int, figures: Figures
) -> None:
    topic, row = "tools", f"{value_bytes} B, acks={acks}"
    create_topics(broker.bootstrap, [topic], PARTITIONS)
    before_s = cpu_s(broker.pid)
    figures.produced.add(
        row, broker.name, produced_per_s(broker, topic, acks, value_bytes, count) / 1e3
    )
    figures.consumed.add(row, broker.name, consumed_per_s(broker, topic, count) / 1e3)
    spent_us = (cpu_s(broker.pid) - before_s) * 1e6
    figures.cpu.add(row, broker.name, spent_us / (2 * count * value_bytes / 1e6))
    delete_topics(broker.bootstrap, [topic])


def produced_per_s(
    broker: BrokerProcess, topic: str, acks: str, value_bytes: int, count: int
) -> float:
    printed = run_tool(
        "ProducerPerformance",
        *("--topic", topic, "--num-records", str(count), "--record-size", str(value_bytes)),
        *("--throughput", "-1", "--bootstrap-server", broker.bootstrap, "--command-property"),
        *(f"acks={acks}", "batch.size=65536", "linger.ms=5"),
    )
    return float(re.findall(r"([\d.]+) records/sec", printed)[-1])


def consumed_per_s(broker: BrokerProcess, topic: str, count: int) -> float:
    printed = run_tool(
        "ConsumerPerformance",
        *("--bootstrap-server", broker.bootstrap, "--topic", topic, "--num-records", str(count)),
        *("--hide-header", "--timeout", "60000", "--group", f"tools-{broker.pid}-{count}"),
    )
    return float(printed.strip().splitlines()[-1].split(",")[-1])


def run_tool(name: str, *arguments: str) -> str:
    done = subprocess.run(
        ["java", "-Xmx512m", QUIET, "-cp", class_path(), f"{TOOLS}.{name}", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
