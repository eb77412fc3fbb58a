"""The cost of a request with more partitions, groups and connections.

    python -m benchmarks.end_to_end.growth [--rounds 3] [--long] [--only ottla|kafka]

CPU time of the broker for a one-record produce request and for a fetch of one record, with one
partition only, then with 2,000 other partitions (10,000 with --long), 1,000 groups with committed
offsets, and 1,000 idle connections; and the memory of the connections.
"""

from __future__ import annotations

import time
from contextlib import ExitStack

from benchmarks.end_to_end.brokers import BrokerProcess, cpu_s, memory_mb, running
from benchmarks.end_to_end.wire import (
    Wire,
    batch_of,
    create_topics,
    fetch_frame,
    produce_frame,
    say_hello,
)
from benchmarks.report import Report, options, show

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

TOPIC = "growth"
CONNECTIONS = 1000
GROUPS = 1000
REQUESTS = 3000
COORDINATOR_TRIES = 200


class Figures:
    def __init__(self) -> None:
        self.cpu = Report("Broker CPU per request beside more of everything", True, "us", 1)
        self.memory = Report("Resident memory", True, "MB", 0)


def main() -> None:
    asked = options(__doc__)
    figures, topics = Figures(), 10 if asked.is_long else 2
    with running(asked.brokers) as brokers, ExitStack() as held:
        for broker in brokers:
            create_topics(broker.bootstrap, [TOPIC])
            cost(broker, "", Figures())
        measure("one partition", brokers, asked.rounds, figures)
        for broker in brokers:
            for number in range(topics):
                create_topics(broker.bootstrap, [f"other-{number}"], 1000)
        measure(f"and {topics},000 partitions", brokers, asked.rounds, figures)
        for broker in brokers:
            commit_groups(broker)
        measure(f"and {GROUPS:,} groups", brokers, asked.rounds, figures)
        for broker in brokers:
            connect(broker, held, figures)
        measure(f"and {CONNECTIONS:,} connections", brokers, asked.rounds, figures)
    show(figures.cpu, figures.memory)


def measure(row: str, brokers: list[BrokerProcess], rounds: int, figures: Figures) -> None:
    for _ in range(rounds):
        for broker in brokers:
            cost(broker, row, figures)


def cost(broker: BrokerProcess, row: str, figures: Figures) -> None:
    produce, fetch = produce_frame(TOPIC, [0], batch_of(100)), fetch_frame(TOPIC, 0, 0, 100)
    with Wire(broker.bootstrap) as wire:
        for name, frame in (("produce", produce), ("fetch", fetch)):
            before_s = cpu_s(broker.pid)
            for _ in range(REQUESTS):
                wire.send(frame)
                wire.receive()
            spent_us = (cpu_s(broker.pid) - before_s) * 1e6 / REQUESTS
            figures.cpu.add(f"{name}, {row}", broker.name, spent_us)


def connect(broker: BrokerProcess, held: ExitStack, figures: Figures) -> None:
    before_mb = memory_mb(broker.pid)
    for _ in range(CONNECTIONS):
        wire = held.enter_context(Wire(broker.bootstrap))
        say_hello(wire)
    grown_mb = memory_mb(broker.pid) - before_mb
    figures.memory.add(f"{CONNECTIONS:,} idle connections take", broker.name, grown_mb)


def commit_groups(broker: BrokerProcess) -> None:
    offset = OffsetCommitRequestPartition(0, 1)
    topics = [OffsetCommitRequestTopic(TOPIC, partitions=[offset])]
    with Wire(broker.bootstrap) as wire:
        for number in range(GROUPS):
            commit_one(wire, f"group-{number}", topics)


def commit_one(wire: Wire, group: str, topics: list[OffsetCommitRequestTopic]) -> None:
    """Retried: the first commit creates the offsets topic."""
    request = OffsetCommitRequest(group, -1, "", None, topics=topics)
    for _ in range(COORDINATOR_TRIES):
        answer = wire.ask(ApiKey.OFFSET_COMMIT, request)
        if not answer.topics[0].partitions[0].error_code:
            return
        wire.ask(ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(group))
        time.sleep(0.02)
    raise RuntimeError(f"no offset of {group} was committed: {answer}")


if __name__ == "__main__":
    main()
