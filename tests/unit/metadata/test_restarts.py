"""The metadata log over many lives: snapshots that fail midway, stops of every kind, listeners.

The model is the list of batches that were acknowledged. After every start the image is their fold,
and what is read from the log are the batches themselves.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from tests.unit.metadata.histories import histories
from tests.unit.metadata.log_conformance import batch
from tests.unit.metadata.test_file_log import at_once

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.filesystem import read_file
from ottla.base.ids import NO_LEADER, TopicId
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.metadata.changes import Changes
from ottla.metadata.continuity import KnownState, load_known
from ottla.metadata.file_log import FileMetadataLog
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import AppendFailed, MetadataLost, Trimmed
from ottla.metadata.publisher import Publisher
from ottla.metadata.records import (
    RECOVERED,
    RECOVERING,
    PartitionCreated,
    TopicCreated,
    TopicDeleted,
)
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk

PLACE = "/m"
T = TypeVar("T")
TOPIC = TopicId(b"t" * 16)


def image_of(batches: list[Batch]) -> Image:
    image = Image()
    for each in batches:
        image.apply(each)
    return image


class Life:
    """One log directory, and everything that was acknowledged."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.disk = MemoryDisk()
        self.history: Iterator[Batch] = histories(self.random, 1000)
        self.acknowledged: list[Batch] = []
        self.log = FileMetadataLog(self.disk, PLACE, at_once)

    async def start(self) -> None:
        self.log = FileMetadataLog(self.disk, PLACE, at_once)
        image = await self.log.load(KnownState.of(image_of(self.acknowledged)))
        assert image == image_of(self.acknowledged)
        assert self.log.end_offset == image.offset
        try:
            assert await self.log.read(0) == self.acknowledged
        except Trimmed:
            pass
        if self.acknowledged:
            last = self.acknowledged[-1]
            found = await self.log.read(last.end_offset)
            assert found == []

    async def append(self) -> None:
        new = next(self.history)
        await self.log.append(new)
        self.acknowledged.append(new)

    async def snapshot(self, *, fails: bool) -> None:
        if fails:
            self.disk.fail("write", "*snapshot*", error=errno.ENOSPC)
        try:
            await self.log.write_snapshot(image_of(self.acknowledged))
        except OSError:
            assert fails
        finally:
            self.disk.heal()

    async def step(self) -> None:
        match self.random.choice("aaaaassffckp"):
            case "a":
                await self.append()
            case "s":
                await self.snapshot(fails=False)
            case "f":
                await self.snapshot(fails=True)
            case "c":
                await self.log.close()
                await self.start()
            case "k":
                self.disk.kill()
                await self.start()
            case "p":
                self.disk.crash(self.random)
                await self.start()


@pytest.mark.parametrize("seed", range(25))
def test_after_every_start_the_image_is_what_was_acknowledged(seed: int) -> None:
    async def story() -> None:
        life = Life(seed)
        await life.start()
        for _ in range(60):
            await life.step()
        await life.log.close()
        await life.start()

    asyncio.run(story())


def test_after_a_snapshot_that_failed_and_an_orderly_stop_the_last_journal_continues() -> None:
    """Two journals are there. What comes next belongs to the second."""

    async def story() -> None:
        life = Life(1)
        await life.start()
        for _ in range(3):
            await life.append()
        await life.snapshot(fails=True)
        await life.append()
        await life.log.close()
        journals = [name for name in life.disk.list_directory(PLACE) if name.endswith(".journal")]
        assert len(journals) == 2
        await life.start()
        sizes = [life.disk.size(f"{PLACE}/{name}") for name in sorted(journals)]
        await life.append()
        grown = [life.disk.size(f"{PLACE}/{name}") for name in sorted(journals)]
        assert grown[0] == sizes[0]
        assert grown[1] > sizes[1]
        for _ in range(2):
            await life.log.close()
            await life.start()
        life.disk.kill()
        await life.start()

    asyncio.run(story())


def test_an_orderly_stop_is_noted_with_the_end_and_the_note_goes_with_the_start() -> None:
    async def story() -> None:
        life = Life(2)
        await life.start()
        await life.append()
        await life.log.close()
        path = f"{PLACE}/clean"
        file = life.disk.open(path)
        note = json.loads(file.read_at(0, life.disk.size(path)))
        assert note == {"version": 0, "endOffset": life.acknowledged[-1].end_offset}
        await life.start()
        assert not life.disk.exists(path)

    asyncio.run(story())


@pytest.mark.parametrize(("code", "expected"), [(errno.ENOSPC, OSError), (errno.EIO, MetadataLost)])
def test_a_log_that_cannot_be_read_is_lost_and_a_full_disk_is_only_full(
    code: int, expected: type[Exception]
) -> None:
    disk = MemoryDisk()
    disk.make_directory(PLACE)
    disk.fail("list", "*", error=code, times=None)
    log = FileMetadataLog(disk, PLACE, at_once)
    with pytest.raises(expected) as raised:
        asyncio.run(load_known(log, KnownState()))
    assert isinstance(raised.value, MetadataLost) == (expected is MetadataLost)


def test_an_append_that_fails_is_either_there_or_not_after_the_next_load() -> None:
    async def story() -> None:
        life = Life(3)
        await life.start()
        await life.append()
        life.disk.fail("sync", "*", times=1)
        lost = next(life.history)
        with pytest.raises(AppendFailed):
            await life.log.append(lost)
        with pytest.raises(AppendFailed):
            await life.log.append(lost)
        life.disk.heal()
        image = await life.log.load(KnownState.of(image_of(life.acknowledged)))
        assert image in (
            image_of(life.acknowledged),
            image_of([*life.acknowledged, lost]),
        )

    asyncio.run(story())


def remove(disk: MemoryDisk, path: str) -> None:
    disk.remove(path)


def cut(disk: MemoryDisk, path: str) -> None:
    disk.open(path).truncate(disk.size(path) - 1)


def extend(disk: MemoryDisk, path: str) -> None:
    disk.open(path).write_at(disk.size(path), b"x")


def replace(disk: MemoryDisk, path: str) -> None:
    content = read_file(disk, path)
    disk.remove(path)
    disk.open(path, create=True).write_at(0, content)


def fail(disk: MemoryDisk, path: str) -> None:
    disk.fail({"exists", "size"}, path)


@pytest.mark.parametrize("harm", [remove, cut, extend, replace, fail])
def test_a_journal_that_others_touched_is_lost_even_with_nothing_to_append(
    harm: Callable[[MemoryDisk, str], None],
) -> None:
    async def story() -> None:
        life = Life(4)
        await life.start()
        await life.append()
        await life.log.check()
        (name,) = (each for each in life.disk.list_directory(PLACE) if each.endswith(".journal"))
        harm(life.disk, f"{PLACE}/{name}")
        with pytest.raises(MetadataLost):
            await life.log.check()
        life.disk.heal()
        with pytest.raises(AppendFailed):
            await life.log.append(next(life.history))
        assert not life.log.wants_snapshot
        await life.log.check()  # reported once: after that the log has to be loaded
        await life.log.close()
        assert not life.disk.exists(f"{PLACE}/clean")

    asyncio.run(story())


@pytest.mark.parametrize("harm", [remove, cut, extend, replace])
def test_nor_is_it_closed_as_if_in_order(harm: Callable[[MemoryDisk, str], None]) -> None:
    async def story() -> None:
        life = Life(6)
        await life.start()
        await life.append()
        (name,) = (each for each in life.disk.list_directory(PLACE) if each.endswith(".journal"))
        harm(life.disk, f"{PLACE}/{name}")
        with pytest.raises(MetadataLost):
            await life.log.close()
        assert not life.disk.exists(f"{PLACE}/clean")

    asyncio.run(story())


@pytest.mark.parametrize("harm", [remove, cut, extend, replace])
def test_nor_does_a_snapshot_take_its_place(harm: Callable[[MemoryDisk, str], None]) -> None:
    async def story() -> None:
        life = Life(8)
        await life.start()
        await life.append()
        (name,) = (each for each in life.disk.list_directory(PLACE) if each.endswith(".journal"))
        harm(life.disk, f"{PLACE}/{name}")
        before = life.disk.list_directory(PLACE)
        with pytest.raises(AppendFailed):
            await life.log.write_snapshot(image_of(life.acknowledged))
        assert life.disk.list_directory(PLACE) == before

    asyncio.run(story())


def test_a_log_that_others_wrote_to_can_be_loaded_again_without_being_closed() -> None:
    async def story() -> None:
        life = Life(7)
        await life.start()
        for harm in (extend, replace):
            await life.append()
            names = sorted(life.disk.list_directory(PLACE))
            (name,) = (each for each in names if each.endswith(".journal"))
            harm(life.disk, f"{PLACE}/{name}")
            known = image_of(life.acknowledged)
            assert await life.log.load(KnownState.of(known)) == known
        await life.append()
        (name,) = (each for each in life.disk.list_directory(PLACE) if each.endswith(".journal"))
        remove(life.disk, f"{PLACE}/{name}")
        with pytest.raises(MetadataLost):
            await life.log.load(KnownState.of(image_of(life.acknowledged)))

    asyncio.run(story())


@pytest.mark.parametrize("following", ["append", "read", "check", "snapshot", "close", "load"])
def test_work_whose_caller_was_cancelled_ends_before_the_next_begins(following: str) -> None:
    async def story() -> None:
        gate, running = asyncio.Event(), list[object]()

        async def slowly(work: Callable[[], T]) -> T:
            assert not running, "one thing at a time"
            running.append(work)
            await gate.wait()
            running.remove(work)
            return work()

        gate.set()
        log = FileMetadataLog(MemoryDisk(), PLACE, slowly)
        image = await log.load(KnownState())
        await log.append(batch(0))
        image.apply(batch(0))
        gate.clear()
        reading = asyncio.ensure_future(log.read(0))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait([reading])
        steps: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
            "append": lambda: log.append(batch(1)),
            "read": lambda: log.read(0),
            "check": log.check,
            "snapshot": lambda: log.write_snapshot(image),
            "close": log.close,
            "load": lambda: log.load(KnownState()),
        }
        next_one = asyncio.ensure_future(steps[following]())
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(running) == 1
        assert not next_one.done()
        gate.set()
        await asyncio.wait_for(next_one, 20)

    asyncio.run(story())


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts what the process has open")
@pytest.mark.parametrize("is_checked", [False, True])
def test_a_log_that_fails_again_and_again_keeps_no_files_open(
    tmp_path: Path, is_checked: bool
) -> None:
    async def story() -> None:
        log = FileMetadataLog(DiskFileSystem(), str(tmp_path), at_once)
        kept: list[Exception] = []  # with all that their frames refer to
        counts = set()
        for number in range(4):
            await log.load(KnownState())
            await log.append(batch(number))
            counts.add(len(os.listdir("/proc/self/fd")))
            (journal,) = tmp_path.glob("*.journal")
            with journal.open("ab") as file:
                file.write(b"of another one")
            try:
                await (log.check() if is_checked else log.append(batch(number + 1)))
            except (AppendFailed, MetadataLost) as error:
                kept.append(error)
        assert len(kept) == 4
        assert len(counts) == 1
        await log.close()

    asyncio.run(story())


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE])
def test_a_check_that_found_no_free_descriptor_says_nothing_about_the_log(code: int) -> None:
    async def story() -> None:
        life = Life(5)
        await life.start()
        await life.append()
        for kind in ("exists", "size"):
            life.disk.fail(kind, "*.journal", error=code)
            await life.log.check()
            life.disk.heal()
            await life.append()
        await life.log.close()
        await life.start()

    asyncio.run(story())


# Which observers are notified


def test_a_failing_listener_does_not_affect_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    publisher, heard = Publisher(Image()), []

    def fail(_image: Image, _changes: Changes) -> None:
        raise RuntimeError("a bug")

    publisher.subscribe(fail)
    publisher.subscribe(lambda image, _changes: heard.append(image.offset))
    publisher.publish(batch(0, 2))
    assert heard == [2]
    assert "a listener failed at metadata offset 2" in caplog.text
    asyncio.run(asyncio.wait_for(publisher.wait_for(2), 5))


def test_an_exchange_runs_long_reactions_in_slices_and_waits_for_them() -> None:
    async def story() -> None:
        clock = ManualClock()
        image, ahead = Image(), Image()
        changes = ahead.apply(batch(0, 2))
        publisher = Publisher(image, StepScheduler(clock))
        done: list[int] = []

        def react(_image: Image, _changes: Changes) -> Steps[None]:
            for number in range(3):
                clock.advance_ms(100)  # longer than any slice
                done.append(number)
                yield 0

        def fail(_image: Image, _changes: Changes) -> Steps[None]:
            yield 0
            raise RuntimeError("a bug")

        publisher.subscribe(fail)
        publisher.subscribe(react)
        waiting = asyncio.ensure_future(publisher.wait_for(2))
        exchange = asyncio.ensure_future(publisher.exchange(ahead, changes))
        await asyncio.sleep(0)
        assert (publisher.image.offset, ahead.offset) == (2, 0)
        assert len(done) < 3, "other tasks run in between"
        assert not exchange.done()
        await exchange
        assert done == [0, 1, 2]
        await waiting

    asyncio.run(asyncio.wait_for(story(), 20))


def test_an_image_that_is_older_is_not_taken_over() -> None:
    image = Image()
    image.apply(batch(0, 3))
    publisher = Publisher(image)
    older = Image()
    older.apply(batch(0, 2))
    with pytest.raises(MetadataLost):
        publisher.replace(older)
    asyncio.run(publisher.exchange(older, Changes()))
    assert publisher.image.offset == 3


# Changes


def test_a_deletion_has_its_evidence_unless_the_topic_was_never_seen() -> None:
    image = Image()
    created = (TopicCreated(TOPIC, "t"), PartitionCreated(TOPIC, 0, (1,), (1,), 1))
    image.apply(Batch(0, 1, created))
    changes = image.apply(Batch(2, 1, (TopicDeleted(TOPIC),)))
    assert changes.deleted_topics.keys() == changes.deletions.keys() == {TOPIC}
    assert changes.deletions[TOPIC] == image.deletion_of(TOPIC)
    assert changes.partitions[TOPIC, 0].after is None
    both = Image().apply(Batch(0, 1, (*created, TopicDeleted(TOPIC))))
    assert both.is_empty


def test_numbers_that_others_read_are_kafkas() -> None:
    assert (NO_LEADER, RECOVERED, RECOVERING) == (-1, 0, 1)
