"""The process of consumers that join a group and leave it, one overlapping the next.

It is a process of its own because confluent-kafka may wait forever in `Consumer.close()`, with the
interpreter lock held: a rebalance that begins during the close asks librdkafka's group thread,
which has ended. The parent ends such a process and starts the next one.

    python -m tests.integration.cluster.group_members SETTINGS TOPIC FIRST

Each member commits a larger offset than the last, from FIRST on. Lines on standard output say what
happens: `assigned`, `trying N`, `committed N`. It ends with its input.
"""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition


def join(settings: Mapping[str, Any], topic: str) -> Consumer:
    consumer = Consumer(dict(settings))
    consumer.subscribe([topic], on_assign=lambda _consumer, _partitions: say("assigned"))
    consumer.poll(1.0)
    return consumer


def commit(consumer: Consumer, topic: str, offset: int) -> None:
    say(f"trying {offset}")
    try:
        place = TopicPartition(topic, 0, offset)
        (done,) = consumer.commit(offsets=[place], asynchronous=False) or [place]
    except KafkaException:
        return  # of an earlier generation, or without a coordinator
    if done.error is None:
        say(f"committed {offset}")


def say(line: str) -> None:
    print(line, flush=True)


def is_stopped() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


def main(settings: Mapping[str, Any], topic: str, offset: int) -> None:
    before = join(settings, topic)
    while not is_stopped():
        member = join(settings, topic)
        commit(before, topic, offset)
        before.close()
        before, offset = member, offset + 1
    before.close()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
