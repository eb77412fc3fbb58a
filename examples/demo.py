"""A tour in half a minute: a fleet of trucks, a consumer group, and a broker that dies in between.

    make demo        (or: python examples/demo.py [events per truck])

A broker starts. A producer plays 200 trucks that report positions, each with a sequence of its own,
while two members of a consumer group read along. Half-way the broker is killed with -9 and started
again. At the end every event must have arrived once and in order. Exit code 1 if one did not.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import defaultdict

from confluent_kafka import Consumer, Producer, TopicPartition

from ottla.testing.broker import RunningBroker

TRUCKS = 200
EVENTS_PER_TRUCK = int(sys.argv[1]) if len(sys.argv) > 1 else 500
EVENTS = TRUCKS * EVENTS_PER_TRUCK
TOPIC = "positions"
PATIENCE_S = 60


class Reader(threading.Thread):
    """One member of the group: notes for every truck the sequences it saw."""

    def __init__(self, bootstrap: str, seen: dict[str, list[int]], everything: threading.Event):
        super().__init__(daemon=True)
        self.seen = seen
        self.everything = everything
        self.consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "dashboard",
                "auto.offset.reset": "earliest",
                "log_level": 0,
            }
        )

    def run(self) -> None:
        self.consumer.subscribe([TOPIC])
        while not self.everything.is_set():
            for message in self.consumer.consume(1000, timeout=0.2):
                if message.error() is None:
                    event = json.loads(message.value())
                    self.seen[event["truck"]].append(event["sequence"])
        self.consumer.close()


def produce(bootstrap: str, half_way: threading.Event) -> int:
    """How many were acknowledged. Idempotent: a retry after the crash writes nothing twice."""
    acknowledged = 0

    def delivered(error: object, _message: object) -> None:
        nonlocal acknowledged
        acknowledged += error is None

    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 0}
    )
    for sequence in range(EVENTS_PER_TRUCK):
        for number in range(TRUCKS):
            truck = f"truck-{number:03}"
            event = json.dumps({"truck": truck, "sequence": sequence, "km": sequence * 0.4})
            producer.produce(TOPIC, key=truck, value=event, on_delivery=delivered)
        producer.poll(0.02)  # about 10,000 events a second
        if sequence == EVENTS_PER_TRUCK // 2:
            half_way.set()
    producer.flush(PATIENCE_S)
    return acknowledged


def main() -> int:
    started_s = time.monotonic()
    with RunningBroker(config={"num.partitions": "6"}) as broker:
        print(f"broker ready on {broker.bootstrap_servers}", after(started_s))
        seen: dict[str, list[int]] = defaultdict(list)
        everything, half_way = threading.Event(), threading.Event()
        readers = [Reader(broker.bootstrap_servers, seen, everything) for _ in range(2)]
        acknowledged: list[int] = []
        writer = threading.Thread(
            target=lambda: acknowledged.append(produce(broker.bootstrap_servers, half_way))
        )
        for thread in [writer, *readers]:
            thread.start()
        half_way.wait(PATIENCE_S)
        killed_s = time.monotonic()
        broker.kill()
        print(f"kill -9 after {sum(map(len, seen.values())):,} events were read")
        broker.start()
        print("broker ready again", after(killed_s))
        writer.join()
        deadline_s = time.monotonic() + PATIENCE_S
        while sum(len(set(each)) for each in seen.values()) < EVENTS:
            if time.monotonic() > deadline_s:
                break
            time.sleep(0.05)
        everything.set()
        for reader in readers:
            reader.join()
        stored = count_stored(broker.bootstrap_servers)
    return report(acknowledged[0], stored, seen)


def count_stored(bootstrap: str) -> int:
    """What the log holds, by its offsets: an event written twice would count twice."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "audit"})
    partitions = consumer.list_topics(TOPIC).topics[TOPIC].partitions
    ends = [consumer.get_watermark_offsets(TopicPartition(TOPIC, each))[1] for each in partitions]
    consumer.close()
    return sum(ends)


def report(acknowledged: int, stored: int, seen: dict[str, list[int]]) -> int:
    """The books must balance. What was read but not committed before the crash is read again."""
    wanted = set(range(EVENTS_PER_TRUCK))
    lost = sum(len(wanted - set(seen[f"truck-{number:03}"])) for number in range(TRUCKS))
    arrived = sum(len(set(each)) for each in seen.values())
    again = sum(map(len, seen.values())) - arrived
    print()
    print(f"{'events sent':<28} {EVENTS:>9,}")
    print(f"{'acknowledged':<28} {acknowledged:>9,}")
    print(f"{'in the log':<28} {stored:>9,}")
    print(f"{'arrived at the readers':<28} {arrived:>9,}")
    print(f"{'lost':<28} {lost:>9,}")
    print(f"{'read again after the crash':<28} {again:>9,}")
    return 0 if lost == 0 and acknowledged == stored == EVENTS else 1


def after(since_s: float) -> str:
    return f"({time.monotonic() - since_s:.2f} s)"


if __name__ == "__main__":
    sys.exit(main())
