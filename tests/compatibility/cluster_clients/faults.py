"""Clients at work while brokers are killed and started again, and what they lost or doubled.

python -m tests.compatibility.cluster_clients.faults ottla confluent-kafka,franz-go
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.compatibility.cluster_clients.judging import doubled, lost, misread, torn, unread
from tests.compatibility.cluster_clients.programs_run import (
    CLIENTS,
    WITHOUT_TRANSACTIONS,
    Program,
)
from tests.compatibility.cluster_tools.trios import BROKERS, Trio, kafka_trio, our_trio

PARTITIONS = 3
PROGRESS = 8  # of each program, after each step
PATIENCE_S = 90.0
IN_SYNC_S = 120.0


def create(bootstrap: str, topics: Sequence[str]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = [NewTopic(each, PARTITIONS, 3, config={"min.insync.replicas": "2"}) for each in topics]
    for future in admin.create_topics(wanted).values():
        future.result(60)


def await_in_sync(bootstrap: str, is_done: Callable[[int], bool]) -> None:
    """Until `is_done` of the smallest number of in-sync replicas."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    deadline_s = time.monotonic() + IN_SYNC_S
    while True:
        topics = admin.list_topics(timeout=60).topics.values()
        fewest = min(len(each.isrs) for topic in topics for each in topic.partitions.values())
        if is_done(fewest):
            return
        assert time.monotonic() < deadline_s, f"{fewest} in sync after {IN_SYNC_S} s"
        time.sleep(0.3)


def await_progress(programs: Sequence[Program], step: str) -> list[str]:
    """Until each has done some more; who has not, in the end."""
    before = [each.done for each in programs]
    started_s = time.monotonic()
    left = list(zip(programs, before, strict=True))
    while left and time.monotonic() < started_s + PATIENCE_S:
        left = [(each, had) for each, had in left if each.done < had + PROGRESS]
        time.sleep(0.1)
    print(f"  {step}: {time.monotonic() - started_s:.1f} s", flush=True)
    stuck = [f"{each.client} {each.role} stands still after: {step}" for each, _ in left]
    for (each, _), line in zip(left, stuck, strict=True):
        print(" ", line, {word: lines[-3:] for word, lines in each.reported.items()}, flush=True)
    return stuck


def disturb(trio: Trio, programs: Sequence[Program], ends: Sequence[int]) -> list[str]:
    """Each of these brokers is killed and comes back, and then stops in order and comes back."""
    bootstrap = ",".join(trio.addresses.values())
    stuck = await_progress(programs, "begin")
    for broker_id in ends:
        for name, end in (("kill -9", trio.kill), ("stop", trio.stop)):
            end(broker_id)
            stuck += await_progress(programs, f"{name} of {broker_id}")
            trio.start(broker_id)
            await_in_sync(bootstrap, lambda fewest: fewest == len(BROKERS))
            stuck += await_progress(programs, f"{broker_id} is back")
    return stuck


def stored(bootstrap: str, topic: str, isolation: str) -> dict[tuple[int, int], str]:
    """All values of a topic, by partition and offset, as a reader of this level is given them."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "judge",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, each, 0) for each in range(PARTITIONS)])
    found: dict[tuple[int, int], str] = {}
    ended: set[int] = set()
    deadline_s = time.monotonic() + PATIENCE_S
    while len(ended) < PARTITIONS and time.monotonic() < deadline_s:
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error():
            ended.add(message.partition())
        else:
            value = message.value()
            found[message.partition(), message.offset()] = value.decode()
    consumer.close()
    assert len(ended) == PARTITIONS, f"{topic} cannot be read to its end: {ended}"
    return found


def judge(bootstrap: str, client: str, programs: dict[str, Program]) -> dict[str, Any]:
    plain = stored(bootstrap, plain_topic(client), "read_uncommitted")
    reader, producer = programs["consume"], programs["produce"]
    deadline_s = time.monotonic() + PATIENCE_S
    while unread(plain, reader.reported.get("read", ())) and time.monotonic() < deadline_s:
        time.sleep(0.2)
    codes = {role: each.end() for role, each in programs.items()}
    verdict: dict[str, Any] = {
        "sent": len(producer.reported.get("sent", ())),
        "lost": sorted(lost(producer.reported.get("sent", ()), plain.values())),
        "doubled": sorted(doubled(plain.values())),
        "unread": sorted(unread(plain, reader.reported.get("read", ()))),
        "misread": misread(plain, reader.reported.get("read", ())),
        "read again": len(reader.reported.get("read", ()))
        - len(set(reader.reported.get("read", ()))),
        "exit codes": codes,
    }
    if "transact" in programs:
        reported = programs["transact"].reported
        seen = list(stored(bootstrap, transacted_topic(client), "read_committed").values())
        outcomes = ("committed", "aborted", "unknown")
        verdict["transactions"] = {word: len(reported.get(word, ())) for word in outcomes}
        verdict["torn"] = torn(reported, seen)
    for role, each in programs.items():
        errors = each.reported.get("error", []) + each.reported.get("other", [])
        verdict[f"errors of {role}"] = [len(errors), *dict.fromkeys(errors)][:6]
    return verdict


def plain_topic(client: str) -> str:
    return f"plain-{client}"


def transacted_topic(client: str) -> str:
    return f"transacted-{client}"


@contextmanager
def working(bootstrap: str, clients: Sequence[str]) -> Iterator[dict[str, dict[str, Program]]]:
    """The programs of these clients, by client and role."""
    programs: dict[str, dict[str, Program]] = {}
    try:
        for client in clients:
            plain, transacted = plain_topic(client), transacted_topic(client)
            mine = programs[client] = {}
            mine["produce"] = Program(client, "produce", bootstrap, plain)
            mine["consume"] = Program(client, "consume", bootstrap, plain)
            if client not in WITHOUT_TRANSACTIONS:
                mine["transact"] = Program(client, "transact", bootstrap, transacted)
        yield programs
    finally:
        for mine in programs.values():
            for each in mine.values():
                if each.is_running:
                    each.kill()


def play(trio: Trio, clients: Sequence[str], ends: Sequence[int]) -> dict[str, Any]:
    bootstrap = ",".join(trio.addresses.values())
    create(bootstrap, [name(each) for each in clients for name in (plain_topic, transacted_topic)])
    with working(bootstrap, clients) as programs:
        everyone = [each for mine in programs.values() for each in mine.values()]
        verdicts: dict[str, Any] = {"stuck": disturb(trio, everyone, ends)}
        for mine in programs.values():
            for role in ("produce", "transact"):
                if role in mine:
                    mine[role].end()
        for client, mine in programs.items():
            verdicts[client] = judge(bootstrap, client, mine)
    return verdicts


def main(where: str, clients: str, ends: str = "2,3") -> None:
    names = list(CLIENTS) if clients == "all" else clients.split(",")
    with kafka_trio() if where == "kafka" else our_trio() as trio:
        verdicts = play(trio, names, [int(each) for each in ends.split(",")])
    print(json.dumps(verdicts, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
