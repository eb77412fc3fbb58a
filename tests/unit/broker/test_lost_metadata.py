"""A whole broker on a disk in memory whose metadata, or a log directory, is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from fnmatch import fnmatch
from random import Random
from typing import TypeVar

import pytest
from tests.unit.storage.log_making import append, values_of

from ottla.base.files.filesystem import read_file
from ottla.broker.broker import Broker
from ottla.config.load import load_config
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.delete_topics import decide_delete_topics
from ottla.metadata.log import CorruptMetadataError, MetadataLost
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.storage.directories.directory_ownership import WrongDirectory
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.meta_properties import MetaProperties, write_meta_properties
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk

T = TypeVar("T")
Tree = dict[str, bytes]
PATHS = ("/disk/a", "/disk/b")
METADATA = "/disk/a/.metadata"


def settings(*paths: str) -> list[str]:
    return [
        "listeners=PLAINTEXT://127.0.0.1:0",
        "advertised.listeners=PLAINTEXT://127.0.0.1:9092",
        f"log.dirs={','.join(paths)}",
    ]


class Life:
    """One run of a broker, from its start to its end."""

    def __init__(self, disk: MemoryDisk, *paths: str) -> None:
        self.disk = disk
        self.broker = Broker(
            load_config(settings=settings(*(paths or PATHS))),
            files=disk,
            clock=ManualClock(),
            rng=Random(7),
        )

    async def create(self, name: str, partitions: int = 2) -> None:
        request = CreateTopicsRequest([CreatableTopic(name, partitions, 1)])
        await self.broker.control.controller.decide(
            lambda state: decide_create_topics(state, request)
        )
        await self.broker.replicas.settle()

    def append(self, topic: str, value: bytes, index: int = 0) -> None:
        partition = self.broker.replicas.partition(topic, index)
        append(partition.log, value, epoch=partition.leader_epoch)

    def values(self, topic: str, index: int = 0) -> list[bytes]:
        return values_of(self.broker.replicas.partition(topic, index).log)

    def error(self, topic: str, index: int = 0) -> ErrorCode:
        with pytest.raises(BrokerError) as raised:
            self.broker.replicas.partition(topic, index)
        return raised.value.code


def live(
    disk: MemoryDisk,
    story: Callable[[Life], Awaitable[T]],
    *paths: str,
    is_killed: bool = False,
) -> T:
    async def whole() -> T:
        life = Life(disk, *paths)
        try:
            await life.broker.open()
        except BaseException:
            life.broker.logs.release()
            raise
        try:
            return await story(life)
        finally:
            life.broker.network.stop_accepting()
            if is_killed:
                await life.broker.parts.directory_moves.close()
                await life.broker._tasks.close()
                disk.kill()
            else:
                await life.broker.close()

    return asyncio.run(whole())


async def nothing(_life: Life) -> None:
    pass


async def fill(life: Life) -> None:
    await life.create("t")
    life.append("t", b"zero")
    life.append("t", b"one", 1)


async def read(life: Life) -> list[list[bytes]]:
    return [life.values("t"), life.values("t", 1)]


FILLED = [[b"zero"], [b"one"]]


def tree(disk: MemoryDisk, path: str) -> Tree:
    found: Tree = {}
    for name in disk.list_directory(path):
        inner = f"{path}/{name}"
        found |= tree(disk, inner) if disk.is_directory(inner) else {inner: read_file(disk, inner)}
    return found


def put(disk: MemoryDisk, path: str, content: Tree) -> None:
    """In the place of whatever is there."""
    if disk.is_directory(path):
        disk.remove_directory(path)
    disk.make_directory(path)
    for name, data in content.items():
        disk.make_directory(name.rpartition("/")[0])
        disk.open(name, create=True).write_at(0, data)


@pytest.fixture
def disk() -> MemoryDisk:
    return MemoryDisk()


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("is_emptied", [False, True])
def test_a_broker_whose_metadata_is_missing_does_not_start_and_changes_nothing(
    disk: MemoryDisk, is_killed: bool, is_emptied: bool
) -> None:
    live(disk, fill, is_killed=is_killed)
    saved = tree(disk, METADATA)
    disk.remove_directory(METADATA)
    if is_emptied:
        disk.make_directory(METADATA)
    before = tree(disk, "/disk")
    for _ in range(2):
        with pytest.raises(MetadataLost, match="missing or empty"):
            live(disk, nothing)
    assert tree(disk, "/disk") == before
    put(disk, METADATA, saved)
    assert live(disk, read) == FILLED


def test_a_broker_whose_first_directory_is_lost_does_not_begin_a_new_cluster(
    disk: MemoryDisk,
) -> None:
    live(disk, fill)
    saved = tree(disk, "/disk/a")
    disk.remove_directory("/disk/a")
    with pytest.raises(MetadataLost):
        live(disk, nothing)
    put(disk, "/disk/a", saved)
    assert live(disk, read) == FILLED


@pytest.mark.parametrize("is_killed", [False, True])
def test_an_older_copy_of_the_metadata_is_refused(disk: MemoryDisk, is_killed: bool) -> None:
    live(disk, nothing)
    older = tree(disk, METADATA)

    async def story(life: Life) -> None:
        await fill(life)
        await life.broker.marks.write()

    live(disk, story, is_killed=is_killed)
    newest = tree(disk, METADATA)
    put(disk, METADATA, older)
    before = tree(disk, "/disk")
    with pytest.raises(MetadataLost, match="this is an older copy"):
        live(disk, nothing)
    assert tree(disk, "/disk") == before
    put(disk, METADATA, newest)
    assert live(disk, read) == FILLED


def test_metadata_that_is_lost_under_a_broker_is_not_replaced_by_an_older_copy(
    disk: MemoryDisk,
) -> None:
    """Though the mark that is written once a second does not have the last changes yet."""
    live(disk, nothing)
    older = tree(disk, METADATA)
    newest: Tree = {}

    async def story(life: Life) -> None:
        await fill(life)
        newest.update(tree(disk, METADATA))
        put(disk, METADATA, older)
        with pytest.raises(BaseExceptionGroup) as ended:
            await life.broker.run()
        assert ended.value.split(MetadataLost)[0] is not None

    with suppress(MetadataLost):
        live(disk, story)
    with pytest.raises(MetadataLost, match="this is an older copy"):
        live(disk, nothing)
    put(disk, METADATA, newest)
    assert live(disk, read) == FILLED


def test_metadata_of_another_cluster_is_refused(disk: MemoryDisk) -> None:
    live(disk, fill)
    other = MemoryDisk()
    live(other, fill)
    own = tree(disk, METADATA)
    put(disk, METADATA, tree(other, METADATA))
    before = tree(disk, "/disk")
    with pytest.raises(MetadataLost, match="it belongs to cluster"):
        live(disk, nothing)
    assert tree(disk, "/disk") == before
    put(disk, METADATA, own)
    assert live(disk, read) == FILLED


def test_an_older_copy_without_a_mark_deletes_nothing(disk: MemoryDisk) -> None:
    """As when the broker was killed before it could note how far the metadata went."""
    live(disk, nothing)
    older = tree(disk, METADATA)
    marks = {path: read_file(disk, f"{path}/ottla.properties") for path in PATHS}
    live(disk, fill)
    newest, newest_marks = tree(disk, METADATA), {}
    put(disk, METADATA, older)
    for path, content in marks.items():
        newest_marks[path] = read_file(disk, f"{path}/ottla.properties")
        put_file(disk, f"{path}/ottla.properties", content)

    async def wrong(life: Life) -> None:
        assert life.error("t") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        await life.create("t")
        life.append("t", b"of another topic")

    live(disk, wrong)
    put(disk, METADATA, newest)
    for path, content in newest_marks.items():
        put_file(disk, f"{path}/ottla.properties", content)
    assert live(disk, read) == FILLED


def put_file(disk: MemoryDisk, path: str, content: bytes) -> None:
    file = disk.open(path, create=True)
    file.truncate(0)
    file.write_at(0, content)


def test_a_directory_of_an_earlier_version_opens_and_its_lost_metadata_is_noticed(
    disk: MemoryDisk,
) -> None:
    live(disk, fill)
    for path in PATHS:
        disk.remove(f"{path}/ottla.properties")
    assert live(disk, read) == FILLED
    for path in PATHS:
        disk.remove(f"{path}/ottla.properties")
    disk.remove_directory(METADATA)
    with pytest.raises(MetadataLost, match="missing or empty"):
        live(disk, nothing)


def test_a_directory_of_apache_kafka_begins_a_cluster_with_its_id(disk: MemoryDisk) -> None:
    disk.make_directory("/disk/a/t-0")
    properties = MetaProperties("kafkas-cluster", 1, b"k" * 16)
    write_meta_properties(disk, "/disk/a/meta.properties", properties)

    async def story(life: Life) -> tuple[str, list[str]]:
        return life.broker.publisher.image.cluster_id, life.broker.logs.directories[0].strays.paths

    cluster_id, strays = live(disk, story, "/disk/a")
    assert cluster_id == "kafkas-cluster"
    assert len(strays) == 1


def test_partitions_of_an_unknown_cluster_do_not_start_a_new_one(
    disk: MemoryDisk,
) -> None:
    disk.make_directory("/disk/a/t-0")
    with pytest.raises(MetadataLost, match="which holds partitions"):
        live(disk, nothing)


def test_directories_of_two_clusters_are_refused(disk: MemoryDisk) -> None:
    live(disk, fill, "/disk/a")
    live(disk, fill, "/disk/b")
    with pytest.raises(WrongDirectory, match="different clusters"):
        live(disk, nothing)


@pytest.mark.parametrize("content", [b"", None])
def test_a_lost_meta_properties_is_written_again_with_the_same_id(
    disk: MemoryDisk, content: bytes | None
) -> None:
    async def ids(life: Life) -> list[bytes | None]:
        return [each.directory_id for each in life.broker.logs.directories]

    live(disk, fill)
    before = live(disk, ids)
    path = "/disk/b/meta.properties"
    disk.remove(path)
    if content is not None:
        put_file(disk, path, content)
    assert live(disk, ids) == before
    assert live(disk, read) == FILLED


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("paths", [PATHS[:1], PATHS])
def test_a_directory_without_all_files_that_have_its_id_serves_its_partitions(
    disk: MemoryDisk, paths: tuple[str, ...], is_killed: bool
) -> None:
    async def leaders(life: Life) -> set[int]:
        return {each.leader for _, _, each in life.broker.publisher.image.all_partitions()}

    async def go_on(life: Life) -> None:
        life.append("t", b"two")
        await life.create("u")
        life.append("u", b"three")

    live(disk, fill, *paths, is_killed=is_killed)
    for name in ("meta.properties", "ottla.properties", ".ottla"):
        disk.remove(f"{paths[-1]}/{name}")
    assert live(disk, leaders, *paths) == {1}
    assert live(disk, read, *paths) == FILLED
    live(disk, go_on, *paths)
    assert live(disk, read, *paths) == [[b"zero", b"two"], [b"one"]]


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("has_marks", [False, True])
def test_partitions_of_an_emptied_log_directory_get_no_new_log(
    disk: MemoryDisk, is_killed: bool, is_restarted: bool, has_marks: bool
) -> None:
    live(disk, fill, is_killed=is_killed)
    saved = tree(disk, "/disk/b")
    if not has_marks:  # as in an earlier version: only the metadata names both directories
        disk.remove("/disk/a/ottla.properties")
    disk.remove_directory("/disk/b")

    async def story(life: Life) -> None:
        lost = [index for index in (0, 1) if f"/disk/b/t-{index}/partition.metadata" in saved]
        assert len(lost) == 1
        assert life.error("t", lost[0]) == ErrorCode.KAFKA_STORAGE_ERROR
        await life.create("new", 4)
        life.append("new", b"not below the mount", 3)

    live(disk, story)
    assert disk.list_directory("/disk/b") == [".lock"]
    if is_restarted:  # and it is not forgotten that something is missing
        live(disk, lambda life: no_answer(life, saved))
    put(disk, "/disk/b", saved)
    assert live(disk, read) == FILLED

    async def read_new(life: Life) -> list[bytes]:
        return life.values("new", 3)

    assert live(disk, read_new) == [b"not below the mount"]


def test_an_empty_directory_is_used_once_nothing_is_missing_any_more(disk: MemoryDisk) -> None:
    live(disk, fill)
    disk.remove_directory("/disk/b")

    async def give_up(life: Life) -> None:
        request = DeleteTopicsRequest([DeleteTopicState("t")])
        await life.broker.control.controller.decide(
            lambda state: decide_delete_topics(state, request, 6)
        )
        await life.broker.replicas.settle()

    live(disk, give_up)

    async def use(life: Life) -> list[str]:
        await life.create("t", 4)
        assert all(life.values("t", index) == [] for index in range(4))
        return disk.list_directory("/disk/b")

    assert "meta.properties" in live(disk, use)
    assert any(name.startswith("t-") for name in live(disk, use_again))


async def use_again(life: Life) -> list[str]:
    return life.disk.list_directory("/disk/b")


def test_a_directory_that_is_added_is_used_at_once(disk: MemoryDisk) -> None:
    live(disk, fill, "/disk/a")

    async def add(life: Life) -> list[str]:
        await life.create("more", 4)
        return disk.list_directory("/disk/b")

    assert any(name.startswith("more-") for name in live(disk, add))


async def no_answer(life: Life, saved: Tree) -> None:
    (lost,) = [index for index in (0, 1) if f"/disk/b/t-{index}/partition.metadata" in saved]
    assert life.error("t", lost) == ErrorCode.KAFKA_STORAGE_ERROR


def test_with_only_the_metadata_left_no_logs_are_created(disk: MemoryDisk) -> None:
    live(disk, fill, "/disk/a")
    saved = tree(disk, "/disk/a")
    metadata = tree(disk, METADATA)
    put(disk, "/disk/a", metadata)

    async def story(life: Life) -> None:
        assert [life.error("t", index) for index in (0, 1)] == [ErrorCode.KAFKA_STORAGE_ERROR] * 2

    live(disk, story, "/disk/a")
    live(disk, story, "/disk/a")
    put(disk, "/disk/a", saved)
    assert live(disk, read, "/disk/a") == FILLED


SINGLE_FILES = [
    "/disk/a/.metadata/clean",
    "/disk/a/.metadata/*.journal",
    "/disk/a/meta.properties",
    "/disk/a/ottla.properties",
    "/disk/a/.ottla",
    "/disk/a/.kafka_cleanshutdown",
    "/disk/a/recovery-point-offset-checkpoint",
    "/disk/a/log-start-offset-checkpoint",
    "/disk/a/replication-offset-checkpoint",
    "/disk/a/t-0/partition.metadata",
    "/disk/a/t-0/leader-epoch-checkpoint",
    "/disk/a/t-0/*.log",
    "/disk/a/t-0/*.index",
    "/disk/a/t-0/*.timeindex",
    "/disk/a/t-0/*.snapshot",
]


@pytest.mark.parametrize("pattern", SINGLE_FILES)
@pytest.mark.parametrize("kept", [None, 0.0, 0.5])
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_single_file_that_was_lost_or_cut_and_restored_loses_nothing(
    disk: MemoryDisk, pattern: str, kept: float | None, is_killed: bool
) -> None:
    """Whatever a start in between makes of it: it serves, or it is refused with a message."""
    live(disk, fill, "/disk/a", is_killed=is_killed)
    before = tree(disk, "/disk/a")
    saved = {path: data for path, data in before.items() if fnmatch(path, pattern)}
    for path, data in saved.items():
        if kept is None:
            disk.remove(path)
        else:
            disk.open(path).truncate(int(len(data) * kept))

    async def serve(life: Life) -> None:
        for index in (0, 1):
            with suppress(BrokerError):
                life.values("t", index)

    with suppress(MetadataLost, CorruptMetadataError, CorruptLogError):
        live(disk, serve, "/disk/a")
    if pattern.endswith(".journal"):  # metadata is restored as a whole
        saved = {path: data for path, data in before.items() if path.startswith(METADATA)}
        put(disk, METADATA, saved)
    for path, data in saved.items():  # that file alone: all else is as the start has left it
        put_file(disk, path, data)
    assert live(disk, read, "/disk/a") == FILLED


@pytest.mark.parametrize("pattern", SINGLE_FILES)
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_single_file_that_was_replaced_by_an_older_copy_and_restored_loses_nothing(
    disk: MemoryDisk, pattern: str, is_killed: bool
) -> None:
    async def go_on(life: Life) -> None:
        life.append("t", b"more")
        life.append("t", b"more", 1)
        await life.create("other", 1)
        await life.broker.marks.write()

    live(disk, fill, "/disk/a")
    older = {p: data for p, data in tree(disk, "/disk/a").items() if fnmatch(p, pattern)}
    live(disk, go_on, "/disk/a", is_killed=is_killed)
    before = tree(disk, "/disk/a")
    for path, data in older.items():
        put_file(disk, path, data)

    async def serve(life: Life) -> None:
        for index in (0, 1):
            with suppress(BrokerError):
                life.values("t", index)

    with suppress(MetadataLost, CorruptMetadataError, CorruptLogError):
        live(disk, serve, "/disk/a")
    for path in older:
        if path in before:
            put_file(disk, path, before[path])
        else:
            disk.remove(path)
    if pattern.endswith(".journal"):  # metadata is restored as a whole
        put(disk, METADATA, {p: d for p, d in before.items() if p.startswith(METADATA)})
    assert live(disk, read, "/disk/a") == [[b"zero", b"more"], [b"one", b"more"]]


def test_a_broker_that_loses_its_metadata_while_it_runs_leaves_its_directories_alone(
    disk: MemoryDisk,
) -> None:
    async def story() -> Tree:
        life = Life(disk)
        await life.broker.open()
        await fill(life)
        running = asyncio.create_task(life.broker.run())
        await life.broker.ready()
        disk.rename(METADATA, "/saved")
        before = tree(disk, "/disk")
        with pytest.raises(BrokerError):
            await life.create("more")
        with pytest.raises(ExceptionGroup) as raised:
            await running
        assert raised.group_contains(MetadataLost)
        return before

    before = asyncio.run(story())
    checkpoints = {name for name in before if name.endswith(("-checkpoint", ".properties"))}
    after = tree(disk, "/disk")
    assert {name: after.get(name) for name in before.keys() - checkpoints} == {
        name: before[name] for name in before.keys() - checkpoints
    }
    assert not disk.exists(METADATA)
    assert not any(disk.exists(f"{path}/.kafka_cleanshutdown") for path in PATHS)
    disk.rename("/saved", METADATA)
    assert live(disk, read) == FILLED
