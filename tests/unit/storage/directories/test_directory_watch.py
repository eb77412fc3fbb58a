"""Files that another process removes, replaces or truncates while a broker writes to them."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from tests.unit.storage.log_deletions import deletions_of
from tests.unit.storage.log_making import append, append_many, values_of

from ottla.base.files.filesystem import read_file
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Job
from ottla.config.topic_options import TopicConfig
from ottla.protocol.errors import BrokerError
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.directory_watch import AT_REST_MAX, WRITTEN_MAX, DirectoryWatch
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.log.log import Log
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import IgnoringListener

A, B = TopicPartition("a", 0), TopicPartition("b", 0)
PATHS = ("/one", "/two")


class Watching:
    def __init__(self, disk: MemoryDisk | None = None) -> None:
        self.disk = disk or MemoryDisk()
        for path in PATHS:
            self.disk.make_directory(path)
        self.logs = LogManager(self.disk, ManualClock(), Random(1), PATHS, IgnoringListener())
        self.logs.open(Owner("cluster", 1))
        list(self.logs.load(lambda _topic: TopicConfig()))
        self.lost: list[TopicPartition] = []
        self.logs.subscribe(self)
        self.watch = DirectoryWatch(self.logs)

    def directory_failed(self, lost: Iterable[TopicPartition]) -> None:
        """Tests ask the directory."""

    def log_lost(self, partition: TopicPartition) -> None:
        self.lost.append(partition)

    def create(self, partition: TopicPartition) -> Log:
        log = self.logs.create(partition, TopicConfig(), TopicId(b"t" * 16))
        append_many(log, 3)
        return log

    def look(self) -> None:
        for check in self.watch.checks():
            try:
                check.run()
            except OSError as error:
                check.directory.health.refused("looking for its files", error)
            else:
                self.watch.finish(check)


@pytest.fixture
def world() -> Watching:
    return Watching()


def remove_directory(world: Watching, log: Log) -> None:
    world.disk.remove_directory(log.path)


def move_directory(world: Watching, log: Log) -> None:
    world.disk.rename(log.path, "/elsewhere")


def remove_segment(world: Watching, log: Log) -> None:
    world.disk.remove(log.segments.active.path)


def replace_segment(world: Watching, log: Log) -> None:
    content = read_file(world.disk, log.segments.active.path)
    world.disk.remove(log.segments.active.path)
    world.disk.open(log.segments.active.path, create=True).write_at(0, content)


def cut_segment(world: Watching, log: Log) -> None:
    world.disk.open(log.segments.active.path).truncate(10)


@pytest.mark.parametrize(
    "damage", [remove_directory, move_directory, remove_segment, replace_segment, cut_segment]
)
def test_a_log_whose_files_are_gone_is_offline_alone(
    world: Watching, damage: Callable[[Watching, Log], None]
) -> None:
    log, other = world.create(A), world.create(B)
    world.look()
    damage(world, log)
    append(log, b"to nowhere")
    world.look()
    assert world.lost == [A]
    assert world.logs.get(A) is None
    assert world.logs.is_out_of_reach(A)
    append(other, b"continues")
    world.look()
    assert world.lost == [A]
    assert len(world.logs.online) == 2


@pytest.mark.parametrize("damage", [remove_directory, remove_segment, cut_segment])
def test_a_log_at_rest_is_looked_at_in_its_turn(
    world: Watching, damage: Callable[[Watching, Log], None]
) -> None:
    count = 3 * AT_REST_MAX
    logs = [world.create(TopicPartition("t", index)) for index in range(count)]
    world.look()
    damage(world, logs[-1])
    for _ in range(8):
        world.look()
    assert world.lost == [logs[-1].partition]


def test_many_logs_that_are_written_to_are_looked_at_over_several_rounds(world: Watching) -> None:
    logs = [world.create(TopicPartition("t", index)) for index in range(WRITTEN_MAX + 20)]
    for _ in range(3):
        world.look()
    for log in logs:
        world.disk.remove(log.segments.active.path)
        append(log, b"to nowhere")
    for _ in range(3):
        world.look()
    assert set(world.lost) == {log.partition for log in logs}


@pytest.mark.parametrize("kind", ["read", "open", "size", "exists"])
def test_a_want_of_descriptors_is_no_loss(world: Watching, kind: str) -> None:
    log = world.create(A)
    for _ in range(3):
        world.look()
        append_many(log, 1)
    world.disk.fail(kind, "/*/a-0/*", error=errno.EMFILE, times=None)
    world.look()
    assert not world.lost
    world.disk.heal()
    world.disk.remove(log.segments.active.path)
    append_many(log, 1)
    world.look()
    assert world.lost == [A]


@pytest.mark.parametrize("start", [0, 2])
@pytest.mark.parametrize("is_written_again", [False, True])
def test_what_a_lost_log_had_is_there_when_its_files_are_back(
    world: Watching, start: int, is_written_again: bool
) -> None:
    """And what was deleted at its beginning is not, however often checkpoints are written."""
    log = world.create(A)
    log.advance_log_start(start)
    world.disk.rename(log.path, "/elsewhere")
    append(log, b"last")
    world.look()
    path = log.path
    if is_written_again:
        world.create(B)
        log.context.checkpoints.write_with(world.create(TopicPartition("c", 0)))
    world.logs.close()
    world.disk.rename("/elsewhere", path)
    again = Watching(world.disk)
    found = again.logs.get(A)
    assert found is not None
    assert (found.log_start_offset, found.high_watermark) == (start, 4)
    assert values_of(found) == [b"0", b"1", b"2", b"last"][start:]


@pytest.mark.parametrize("is_made_again", [False, True])
def test_a_directory_that_is_gone_takes_its_logs_offline(
    world: Watching, is_made_again: bool
) -> None:
    one, two = world.create(A), world.create(B)
    gone = world.logs.directory_of(A)
    assert gone is not None
    world.disk.rename(gone.path, "/elsewhere")
    if is_made_again:
        world.disk.make_directory(gone.path)
    world.look()
    assert not gone.health.is_online
    with pytest.raises(BrokerError):
        world.logs.get(A)
    append(two, b"continues")
    world.logs.close()
    if is_made_again:
        assert world.disk.list_directory(gone.path) == []
    assert one.is_closed


def test_a_directory_that_was_emptied_is_offline(world: Watching) -> None:
    world.create(A)
    world.create(B)
    for name in world.disk.list_directory("/one"):
        path = f"/one/{name}"
        remove = world.disk.remove_directory if world.disk.is_directory(path) else world.disk.remove
        remove(path)
    world.look()
    assert [each.path for each in world.logs.online] == ["/two"]
    world.logs.close()
    assert world.disk.list_directory("/one") == []


def test_a_directory_without_its_lock_file_serves_on(world: Watching) -> None:
    world.create(A)
    world.disk.remove("/one/.lock")
    world.look()
    assert len(world.logs.online) == 2


def test_a_directory_that_is_gone_when_the_broker_stops_is_not_written_to(world: Watching) -> None:
    world.create(A)
    world.disk.rename("/one", "/elsewhere")
    world.disk.make_directory("/one")
    world.logs.close()
    assert world.disk.list_directory("/one") == []
    assert ".kafka_cleanshutdown" not in world.disk.list_directory("/elsewhere")
    assert ".kafka_cleanshutdown" in world.disk.list_directory("/two")


def test_logs_that_were_deleted_are_forgotten(world: Watching) -> None:
    logs = [world.create(TopicPartition("t", index)) for index in range(20)]
    world.look()
    for log in logs[:15]:
        world.logs.delete(deletions_of(world.logs, log.partition))
    for _ in range(3):
        world.look()
    watch = world.watch
    assert {*watch._seen, *watch._seen_before, *watch._removed} == set(logs[15:])


def test_what_the_broker_does_itself_is_no_loss(world: Watching) -> None:
    log, other = world.create(A), world.create(B)
    checks = world.watch.checks()
    log.roll()
    world.logs.delete(deletions_of(world.logs, B))
    for check in checks:
        check.run()
        world.watch.finish(check)
    assert other.partition not in world.lost
    world.look()
    log.truncate_to(1)
    world.look()
    assert not world.lost


@pytest.mark.parametrize("part", [0, 2, 3])
def test_a_file_that_is_cut_between_two_appends_is_noticed(world: Watching, part: int) -> None:
    log = world.create(A)
    for _ in range(2):
        world.look()
        append_many(log, 3)
    world.look()
    append_many(log, 3)
    path = log.segments.active.path
    world.disk.open(path).truncate(world.disk.size(path) * part // 12)
    append_many(log, 3)
    world.look()
    assert world.lost == [A]


@pytest.mark.parametrize(
    ("value", "from_end"),
    [(b"v" * 100, 9), (b"v" * 100, 90), (b"v" * 100, 1000), (bytes(100), 120), (bytes(100), 1000)],
)
def test_a_file_that_is_cut_while_it_is_idle_is_noticed_after_the_next_append(
    world: Watching, value: bytes, from_end: int
) -> None:
    """Whether the last batch is gone, or a part of it. Zeros take the place of what is gone."""
    log = world.create(A)
    for _ in range(20):
        append(log, value)
    for _ in range(3):
        world.look()
    path = log.segments.active.path
    world.disk.open(path).truncate(world.disk.size(path) - from_end)
    append(log, value)
    world.look()
    assert world.lost == [A]


def test_batches_that_end_with_zeros_are_no_loss(world: Watching) -> None:
    log = world.create(A)
    for _ in range(5):
        append(log, bytes(100))
        world.look()
    assert not world.lost


def test_a_file_that_is_truncated_while_it_is_looked_at_is_no_loss(world: Watching) -> None:
    log = world.create(A)
    checks = world.watch.checks()
    log.truncate_to(1)
    for check in checks:
        check.run()
        world.watch.finish(check)
    assert not world.lost


def test_a_truncation_that_is_between_its_two_steps_when_a_round_begins_is_no_loss(
    world: Watching,
) -> None:
    """Later segments are removed, and their names synced, before the one that stays is cut."""
    log = world.create(A)
    log.roll()
    append_many(log, 3)
    steps = log.truncating_to(1)
    step = next(steps)
    while len(log.segments) > 1:
        step = steps.send(done(step))
    checks = world.watch.checks()  # before the names are synced
    with suppress(StopIteration):
        while True:
            step = steps.send(done(step))
    for check in checks:
        check.run()
        world.watch.finish(check)
    assert log.log_end_offset == 1
    assert not world.lost


def done(step: int | Job) -> Any:
    return step() if callable(step) else None


def operations_of_a_round(world: Watching) -> dict[str, int]:
    """On the files of logs, without those on the directories."""
    empty = Watching()
    for each in (empty, world):
        each.disk.operations.clear()
        each.look()
    directories = empty.disk.operations
    counts = {kind: n - directories.get(kind, 0) for kind, n in world.disk.operations.items()}
    return {kind: count for kind, count in counts.items() if count}


def test_a_written_log_takes_two_system_calls_and_an_idle_one_takes_one(world: Watching) -> None:
    log = world.create(A)
    for _ in range(2):
        world.look()
        append_many(log, 3)
    assert operations_of_a_round(world) == {"exists": 1, "read": 1}
    assert operations_of_a_round(world) == {"size": 1}
