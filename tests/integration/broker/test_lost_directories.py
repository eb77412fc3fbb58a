"""Metadata and log directories that are damaged in every way while records are produced.

A real broker with two log directories, `a` with the metadata and `b`; a producer that we did not
write works all the time, with acks=all. Something is damaged, the broker notices or is killed, what
was there is restored, the broker starts again: every record that was acknowledged must be there.
What was acknowledged after files were removed, and before the broker noticed, is the one exception.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.support.waiting import PATIENCE_S, wait_until

from ottla.testing.broker import BrokerFailed, RunningBroker

pytestmark = pytest.mark.ci

TOPIC, PARTITIONS = "t", 4
PENDING_MAX = 20  # records that wait to be acknowledged
BETWEEN_BURSTS_S = 0.005
SOME = 40  # records: the producer is at work


class Load:
    """A producer that never rests, and what was acknowledged."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.acknowledged: set[bytes] = set()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "acks": "all",
                "linger.ms": 2,
                "message.timeout.ms": 1_000_000,
                "retry.backoff.ms": 20,
                "reconnect.backoff.max.ms": 100,
                "log_level": 0,
            }
        )
        self._sent = self._excused = 0
        self._may_send = threading.Event()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ends.is_set():
            while self._may_send.is_set() and len(self._producer) < PENDING_MAX:
                self._send()
            self._producer.poll(BETWEEN_BURSTS_S)

    def _send(self) -> None:
        value = b"%d" % self._sent
        partition = self._sent % PARTITIONS
        self._sent += 1
        self._producer.produce(TOPIC, value, partition=partition, on_delivery=self._delivered)

    def _delivered(self, error: KafkaError | None, message: object) -> None:
        value = message.value()  # type: ignore[attr-defined]
        if error is None and int(value) >= self._excused:
            self.acknowledged.add(value)

    def excuse_all_but(self, required: set[bytes]) -> None:
        """What was sent until now may be lost. The client may learn only later that some of them
        were acknowledged: they do not count either."""
        self._excused = self._sent
        self.acknowledged &= required

    def work(self) -> None:
        """Return when records are acknowledged, and continue."""
        before = len(self.acknowledged)
        self._may_send.set()
        wait_until(lambda: len(self.acknowledged) >= before + SOME, "records are acknowledged")

    def pause(self) -> set[bytes]:
        """Return when everything that was sent is acknowledged; all of it."""
        self._may_send.clear()
        wait_until(lambda: not len(self._producer), "all records are acknowledged")
        return set(self.acknowledged)

    def close(self) -> None:
        self._ends.set()
        self._thread.join()


class World:
    def __init__(self, root: Path) -> None:
        self.a, self.b, self.saved, self.older = (
            root / name for name in ("a", "b", "saved", "older")
        )
        self.broker = RunningBroker(config={"log.dirs": f"{self.a},{self.b}"}, data=root / "own")
        self.broker.start()
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap_servers})
        admin.create_topics([NewTopic("first", 1, 1)])["first"].result(PATIENCE_S)
        for name in ("a", "b"):
            shutil.copytree(root / name, self.older / name)
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(PATIENCE_S)
        self.load = Load(self.broker.bootstrap_servers)
        self.required: set[bytes] = set()  # records that must be there
        self.load.work()

    def path(self, name: str) -> Path:
        """Of a file or directory; partitions of `t` are in both log directories."""
        directory, _, rest = name.partition("/")
        root = {"a": self.a, "b": self.b}[directory]
        if "*" in rest:
            return min(root.glob(rest))
        return root / rest if rest else root

    def values(self) -> set[bytes]:
        """All that is in the topic, to its end."""
        settings = {"group.id": "reader", "enable.partition.eof": True, "log_level": 0}
        consumer = Consumer({"bootstrap.servers": self.broker.bootstrap_servers, **settings})
        found: set[bytes] = set()
        with closing(consumer):
            consumer.assign([TopicPartition(TOPIC, index, 0) for index in range(PARTITIONS)])
            ended: set[int] = set()
            while len(ended) < PARTITIONS:
                message = consumer.poll(PATIENCE_S)
                assert message is not None, f"only {ended} have ended"
                if message.error() is None:
                    found.add(message.value())
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    ended.add(message.partition())
        return found

    def close(self) -> None:
        self.load.close()
        if self.broker.is_running:
            self.broker.kill()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("lost"))
    try:
        yield made
    finally:
        made.close()


# Ways to damage a directory or a file. Each returns how to restore it.
Restore = Callable[[], None]


def copy_back(path: Path, saved: Path) -> Restore:
    def restore() -> None:
        remove(path)
        if saved.is_dir():
            shutil.copytree(saved, path)
        else:
            shutil.copy2(saved, path)

    return restore


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def rename_back(path: Path) -> Restore:
    aside = path.with_name(path.name + ".aside")
    os.rename(path, aside)

    def restore() -> None:
        remove(path)
        os.rename(aside, path)

    return restore


def renamed(_world: World, path: Path) -> Restore:
    return rename_back(path)


def replaced_by_a_file(_world: World, path: Path) -> Restore:
    restore = rename_back(path)
    path.write_text("not a directory")
    return restore


def replaced_by_an_empty_one(_world: World, path: Path) -> Restore:
    restore = rename_back(path)
    path.mkdir()
    return restore


def made_unreadable(_world: World, path: Path) -> Restore:
    """By every user: root reads what permissions deny to others."""
    restore = rename_back(path)
    path.symlink_to(path.name)
    return restore


def replaced_by_an_older_copy(world: World, path: Path) -> Restore:
    restore = rename_back(path)
    shutil.copytree(world.older / path.relative_to(world.a.parent), path)
    return restore


def removed(world: World, path: Path) -> Restore:
    remove(path)
    return copy_back(path, world.saved)


def emptied(world: World, path: Path) -> Restore:
    for each in path.iterdir():
        remove(each)
    return copy_back(path, world.saved)


def cut_to_nothing(world: World, path: Path) -> Restore:
    os.truncate(path, 0)
    return copy_back(path, world.saved)


def cut_in_half(world: World, path: Path) -> Restore:
    os.truncate(path, path.stat().st_size // 2)
    return copy_back(path, world.saved)


class Case(NamedTuple):
    where: str
    damage: Callable[[World, Path], Restore]
    notice: str  # the error of the broker; empty if it need not detect the damage

    def __str__(self) -> str:
        return f"{self.where} {self.damage.__name__}"

    @property
    def is_lossless(self) -> bool:
        """What was acknowledged meanwhile is restored, too."""
        return self.damage not in (removed, emptied, cut_to_nothing, cut_in_half)


ENDS = "cannot continue: the metadata log"
DIRECTORY_OFFLINE = "goes offline"
PARTITION_OFFLINE = " is offline: "
DIRECTORY_DAMAGES = (
    renamed,
    replaced_by_a_file,
    replaced_by_an_empty_one,
    replaced_by_an_older_copy,
    made_unreadable,
    removed,
    emptied,
)
FILE_DAMAGES = (removed, cut_to_nothing, cut_in_half)
QUIET_FILES = (
    "a/meta.properties",
    "b/ottla.properties",
    "a/.ottla",
    "b/recovery-point-offset-checkpoint",
    "b/replication-offset-checkpoint",
    "b/t-*/partition.metadata",
    "b/t-*/leader-epoch-checkpoint",
)
CASES = [
    *(Case("a/.metadata", damage, ENDS) for damage in DIRECTORY_DAMAGES),
    *(Case("a/.metadata/*.journal", damage, ENDS) for damage in FILE_DAMAGES),
    Case("a/.metadata/*.journal", made_unreadable, ENDS),
    *(Case("a", damage, ENDS) for damage in DIRECTORY_DAMAGES),
    *(Case("b", damage, DIRECTORY_OFFLINE) for damage in DIRECTORY_DAMAGES),
    Case("b/t-*", renamed, PARTITION_OFFLINE),
    Case("b/t-*", removed, PARTITION_OFFLINE),
    Case("b/t-*/*.log", removed, PARTITION_OFFLINE),
    Case("b/t-*/*.log", cut_to_nothing, PARTITION_OFFLINE),
    Case("b/t-*", made_unreadable, PARTITION_OFFLINE),
    Case("b/t-*/*.log", made_unreadable, PARTITION_OFFLINE),
]
# Files that a running broker does not read: it is killed, and starts while they are damaged.
LONG_CASES = [Case(name, damage, "") for name in QUIET_FILES for damage in FILE_DAMAGES]


def lose_and_restore(world: World, case: Case) -> None:
    broker = world.broker
    path = world.path(case.where)
    world.required |= world.load.pause()
    remove(world.saved)
    copy = shutil.copytree if path.is_dir() else shutil.copy2
    copy(path, world.saved)
    world.load.work()
    said = len(broker.log)
    restore = case.damage(world, path)
    if case.notice:
        wait_until(lambda: case.notice in broker.log[said:], case.notice)
    if case.notice == ENDS:
        assert broker.wait_for_end() == 1
    else:
        broker.kill()
    if not case.notice:
        serve_if_possible(broker)
    restore()
    if case.is_lossless:
        world.required |= world.load.acknowledged
    else:  # what was acknowledged in between went to files that are gone
        world.load.excuse_all_but(world.required)
    broker.start()
    world.required |= world.load.pause()
    assert world.required <= world.values()


def serve_if_possible(broker: RunningBroker) -> None:
    """A start before anything is restored: it is refused, or it loses nothing either."""
    with suppress(BrokerFailed):
        broker.start()
        broker.kill()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_acknowledged_is_lost_once_what_was_lost_is_restored(
    world: World, case: Case
) -> None:
    lose_and_restore(world, case)


@pytest.mark.parametrize("case", LONG_CASES, ids=str)
def test_small_files_that_are_lost_lose_no_record(world: World, case: Case) -> None:
    lose_and_restore(world, case)


def test_in_the_end_nothing_was_deleted_or_left_aside(world: World) -> None:
    names = [name for root in (world.a, world.b) for name in os.listdir(root)]
    assert not [name for name in names if name.endswith(("-delete", "-stray"))]
    assert len([name for name in names if name.startswith("t-")]) == PARTITIONS
