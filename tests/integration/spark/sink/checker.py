r"""A process that reads a topic back and compares it with what the seed says must be there.

    python -m tests.integration.spark.sink.checker --bootstrap HOST:PORT --topic T \
        --seed 7 --files 4

Promises  it knows the seed, how much of it was to be written, and where to read: nothing of what
          jobs did or believe. Reads with confluent-kafka, read_committed. Exit code 1 if anything
          differs, with the differences named; 2 if it could not look.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from confluent_kafka import Consumer, TopicPartition
from demo.comparison import compare, sequences_by_truck
from tests.integration.spark.sink.scenario import rows_of

PATIENCE_S = 120.0


def read_topic(
    bootstrap_servers: str, topic: str, patience_s: float
) -> Iterator[tuple[tuple[str, int], str]]:
    """(key, sequence) and payload of every committed record."""
    consumer = Consumer({
        "bootstrap.servers": bootstrap_servers, "group.id": "checker",
        "isolation.level": "read_committed", "enable.auto.commit": False,
        "auto.offset.reset": "error", "enable.partition.eof": True,
    })  # fmt: skip
    try:
        partitions = consumer.list_topics(topic, timeout=patience_s).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        left = set(partitions)
        while left:
            message = consumer.poll(patience_s)
            if message is None:
                raise TimeoutError(f"partitions {sorted(left)} of {topic} do not end")
            if message.error():
                if message.error().name() != "_PARTITION_EOF":
                    raise RuntimeError(message.error().str())
                left.discard(message.partition())
                continue
            _, sequence, payload = message.value().decode().split(" ")
            yield (message.key().decode(), int(sequence)), payload
    finally:
        consumer.close()


def undecided(bootstrap_servers: str, topic: str, patience_s: float) -> list[str]:
    """Partitions in which an open transaction still hides what comes after it."""
    consumers = {
        level: Consumer({
            "bootstrap.servers": bootstrap_servers, "group.id": "checker", "isolation.level": level,
        })
        for level in ("read_committed", "read_uncommitted")
    }  # fmt: skip
    try:
        some = consumers["read_committed"]
        partitions = some.list_topics(topic, timeout=patience_s).topics[topic].partitions
        ends = {
            level: [
                consumer.get_watermark_offsets(TopicPartition(topic, number), patience_s)[1]
                for number in partitions
            ]
            for level, consumer in consumers.items()
        }
    finally:
        for consumer in consumers.values():
            consumer.close()
    pairs = zip(partitions, ends["read_committed"], ends["read_uncommitted"], strict=True)
    return [
        f"{topic}-{number} is stable up to {stable} of {end}"
        for number, stable, end in pairs
        if stable < end
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--files", type=int, required=True)
    parser.add_argument("--patience", type=float, default=PATIENCE_S, help="seconds")
    arguments = parser.parse_args()
    try:
        expected = {
            (row.key, row.sequence): row.payload for row in rows_of(arguments.seed, arguments.files)
        }
        place = (arguments.bootstrap, arguments.topic, arguments.patience)
        account = compare("rows", expected, read_topic(*place), sequences_by_truck)
        account.notes += undecided(*place)
    except Exception as error:  # not the same as a difference: nothing was compared
        print(f"the checker could not look: {type(error).__name__}: {error}")
        return 2
    print(
        f"expected {account.expected}, found {account.found}, lost {account.lost}, "
        f"duplicated {account.duplicated}, changed {account.changed}, unknown {account.unknown}"
    )
    print("\n".join(account.notes))
    return 0 if account.is_matching else 1


if __name__ == "__main__":
    sys.exit(main())
