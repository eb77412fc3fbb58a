"""What Apache Kafka is made to write, so that its files hold everything a log can hold.

Every topic has one partition, small segments and dense indexes: a few hundred records fill many
files. Times are fixed; only what Kafka stamps itself (markers, LogAppendTime) is of now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support.java_clients import (
    ABORT,
    BEGIN,
    CLOSE,
    COMMIT,
    FLUSH,
    Consumed,
    JavaClients,
    Step,
    send,
)
from tests.support.transactions import wait_for_markers
from tests.support.waiting import wait_until

NOW_MS = 1_760_000_000_000
TRIMMED_TO = 123
CODECS = ("gzip", "snappy", "lz4", "zstd")
SMALL = {
    "internal.segment.bytes": "2000",
    "index.interval.bytes": "200",
    "segment.index.bytes": "4096",
    "segment.ms": "1000000000000",
    "retention.ms": "-1",
}
COMPACTED = SMALL | {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.01",
    "file.delete.delay.ms": "86400000",  # tests look at what the cleaner has replaced
}
# Batches are what one flush sends: large and late enough that nothing else ends one.
BATCHES = {"linger.ms": "1000", "batch.size": "1000000"}
PLAIN = BATCHES | {"enable.idempotence": "false"}

Write = Callable[[JavaClients, str], None]


@dataclass(frozen=True, slots=True)
class TopicPlan:
    configs: dict[str, str]
    write: Write
    times: int = 1  # with the cleaner at work in between

    @property
    def is_compacted(self) -> bool:
        return self.configs.get("cleanup.policy") == "compact"


@dataclass(frozen=True, slots=True)
class Written:
    """A topic as Java consumers saw it before the node ended."""

    topic: str
    topic_id: bytes
    uncommitted: list[Consumed]
    committed: list[Consumed]
    start_offset: int
    end_offset: int
    stable_offset: int
    times: dict[int, tuple[int, int] | None]  # what a look-up by time found: offset, timestamp


def in_batches(sends: list[Step], size: int) -> list[Step]:
    """A flush after every `size` of them."""
    steps: list[Step] = []
    for start in range(0, len(sends), size):
        steps += [*sends[start : start + size], FLUSH]
    return steps


def varied(topic: str, count: int, label: str = "r") -> list[Step]:
    """Records of many shapes: with and without key, value and headers, times that go back."""
    return [
        send(
            topic,
            None if i % 17 == 3 else f"{label}-{i}-".encode() * (1 + i % 9),
            key=None if i % 5 == 1 else f"key-{i % 13}".encode(),
            timestamp=NOW_MS + i * 10 - (1000 if i % 11 == 7 else 0),
            headers=(("trace", f"{i}".encode()), ("none", None)) if i % 4 == 0 else (),
        )
        for i in range(count)
    ]


def write_plain(clients: JavaClients, topic: str) -> None:
    clients.produce(topic, [*in_batches(varied(topic, 300), 7), CLOSE], PLAIN)


def write_compressed(codec: str) -> Write:
    def write(clients: JavaClients, topic: str) -> None:
        steps = [*in_batches(varied(topic, 200, "compressible-compressible"), 9), CLOSE]
        clients.produce(topic, steps, PLAIN | {"compression.type": codec})

    return write


def write_idempotent(clients: JavaClients, topic: str) -> None:
    """Three producers in turn, each with more batches than the window of five."""
    for turn in range(8):
        for name in ("x", "y", "z"):
            label = f"{name}{turn}"
            clients.produce(topic + name, in_batches(varied(topic, 6, label), 4), BATCHES)
    for name in ("x", "y", "z"):
        clients.produce(topic + name, [CLOSE])


def write_transactions(clients: JavaClients, topic: str) -> None:
    """Committed, aborted and interleaved ones, plain records between, and one left open."""
    first, second, open_one = (transactional(topic, name) for name in ("a", "b", "open"))
    for turn in range(6):
        clients.produce(topic + "a", [BEGIN, *in_batches(varied(topic, 5, "a"), 3)], first)
        clients.produce(topic + "b", [BEGIN, *in_batches(varied(topic, 4, "b"), 4)], second)
        clients.produce(topic + "a", [COMMIT if turn % 2 else ABORT])
        clients.produce(topic, in_batches(varied(topic, 2, "plain"), 2), PLAIN)
        clients.produce(topic + "b", [ABORT if turn % 3 == 1 else COMMIT])
    clients.produce(topic + "open", [BEGIN, *in_batches(varied(topic, 3, "open"), 2)], open_one)
    clients.produce(topic, in_batches(varied(topic, 6, "after"), 2))
    clients.produce(topic + "a", [BEGIN, *in_batches(varied(topic, 5, "late"), 3), ABORT])
    clients.produce(topic + "b", [BEGIN, *in_batches(varied(topic, 5, "late"), 3), COMMIT])
    for name in ("", "a", "b", "open"):
        clients.produce(topic + name, [CLOSE])


def transactional(topic: str, name: str) -> dict[str, str]:
    return BATCHES | {"transactional.id": topic + name, "transaction.timeout.ms": "600000"}


def keyed(topic: str, rounds: int, keys: int, tombstone_every: int) -> list[Step]:
    """The same keys again and again, every so often a tombstone."""
    return [
        send(
            topic,
            None if i % tombstone_every == 0 else f"value-{i}-".encode() * 3,
            key=f"key-{i % keys}".encode(),
            timestamp=NOW_MS + i,
        )
        for i in range(rounds * keys)
    ]


def write_compacted(clients: JavaClients, topic: str) -> None:
    clients.produce(topic, [*in_batches(keyed(topic, 20, 13, 7), 5), CLOSE], PLAIN)


def write_compacted_transactions(clients: JavaClients, topic: str) -> None:
    configs = transactional(topic, "t")
    for turn in range(20):
        steps = in_batches(keyed(topic, 2, 5, 6), 4)
        clients.produce(topic, [BEGIN, *steps, ABORT if turn % 4 == 2 else COMMIT], configs)
    clients.produce(topic, [CLOSE])


def write_trimmed(clients: JavaClients, topic: str) -> None:
    write_plain(clients, topic)
    clients.delete_records(topic, TRIMMED_TO)


PLANS: dict[str, TopicPlan] = {
    "plain": TopicPlan(SMALL, write_plain),
    **{f"codec-{codec}": TopicPlan(SMALL, write_compressed(codec)) for codec in CODECS},
    "preallocated": TopicPlan(SMALL | {"preallocate": "true"}, write_plain),
    "append-time": TopicPlan(SMALL | {"message.timestamp.type": "LogAppendTime"}, write_plain),
    "idempotent": TopicPlan(SMALL, write_idempotent),
    "transactions": TopicPlan(SMALL, write_transactions),
    "compacted": TopicPlan(COMPACTED, write_compacted),
    "compacted-lz4": TopicPlan(COMPACTED | {"compression.type": "lz4"}, write_compacted),
    "compacted-again": TopicPlan(
        COMPACTED | {"delete.retention.ms": "0"}, write_compacted, times=3
    ),
    "compacted-transactions": TopicPlan(COMPACTED, write_compacted_transactions),
    "trimmed": TopicPlan(SMALL, write_trimmed),
}


def write_topics(clients: JavaClients, log_directory: Path) -> dict[str, Written]:
    ids = {topic: clients.create_topic(topic, configs=p.configs) for topic, p in PLANS.items()}
    for topic, plan in PLANS.items():
        for _ in range(plan.times):
            plan.write(clients, topic)
            if plan.is_compacted:
                wait_for_the_cleaner(log_directory, topic)
    wait_for_line(log_directory / "log-start-offset-checkpoint", lambda: f"trimmed 0 {TRIMMED_TO}")
    for topic in ids:
        wait_for_markers(clients.bootstrap, topic)
    return {topic: as_consumed(clients, topic, topic_id) for topic, topic_id in ids.items()}


def as_consumed(clients: JavaClients, topic: str, topic_id: bytes) -> Written:
    start, end = clients.offsets(topic)
    records = clients.consume(topic)
    times = times_to_look_up(records)
    return Written(
        topic,
        topic_id,
        uncommitted=records,
        committed=clients.consume(topic, is_committed=True),
        start_offset=start,
        end_offset=end,
        stable_offset=clients.offsets(topic, is_committed=True)[1],
        times=dict(zip(times, clients.offsets_for_times(topic, times), strict=True)),
    )


def times_to_look_up(records: list[Consumed]) -> list[int]:
    """Before, at and just after some of the records' times, and after the last of them."""
    some = {record.timestamp for record in records[:: max(1, len(records) // 8)]}
    last = max(record.timestamp for record in records)
    return sorted({0, last, last + 1, *some, *(time + 1 for time in some)})


def wait_for_the_cleaner(log_directory: Path, topic: str) -> None:
    """Until everything before the active segment has been cleaned."""

    def line() -> str:
        # Markers may come after all records, and into a new segment.
        active = max(path.stem for path in (log_directory / f"{topic}-0").glob("*.log"))
        return f"{topic} 0 {int(active)}"

    wait_for_line(log_directory / "cleaner-offset-checkpoint", line)


def wait_for_line(path: Path, line: Callable[[], str]) -> None:
    wait_until(lambda: line() in path.read_text().splitlines(), f"{line()!r} in {path}")
