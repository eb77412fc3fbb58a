"""The contract of every metadata log. A subclass defines the fixture `place`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from random import Random
from typing import Protocol, TypeVar

import pytest
from tests.unit.metadata.histories import histories

from ottla.metadata.continuity import KnownState, load_known
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import AppendRefused, MetadataLog, MetadataLost, Trimmed
from ottla.metadata.publisher import Publisher
from ottla.metadata.records import ALL_BROKERS, ClusterNamed, ConfigChanged

T = TypeVar("T")


class Place(Protocol):
    """Where a log is kept: it can be opened again and again, after whatever happened to it."""

    def new_log(self) -> MetadataLog: ...

    def run(self, story: Awaitable[T]) -> T: ...


def batch(offset: int, count: int = 1, epoch: int = 1) -> Batch:
    records = [ConfigChanged(ALL_BROKERS, "x", str(offset + n)) for n in range(count)]
    return Batch(offset, epoch, tuple(records))


class MetadataLogConformance:
    def test_a_new_log_is_empty(self, place: Place) -> None:
        async def story() -> None:
            log = place.new_log()
            assert await log.load(KnownState()) == Image()
            assert log.end_offset == 0
            assert await log.read(0) == []
            await log.close()

        place.run(story())

    def test_what_was_appended_is_read_in_batches(self, place: Place) -> None:
        async def story() -> None:
            log = place.new_log()
            await log.load(KnownState())
            batches = [batch(0, 2), batch(2, 3, epoch=4), batch(5)]
            for each in batches:
                await log.append(each)
            assert log.end_offset == 6
            assert await log.read(0) == batches
            assert await log.read(2) == batches[1:]
            assert await log.read(6) == []
            await log.close()

        place.run(story())

    def test_an_image_is_the_same_after_it_was_opened_again(self, place: Place) -> None:
        async def story(seed: int) -> None:
            image = Image()
            log = place.new_log()
            start = (await log.load(KnownState())).offset
            for each in histories(Random(seed), 20):
                if each.end_offset > start:
                    await log.append(each)
                image.apply(each)
            await log.close()
            log = place.new_log()
            assert await log.load(KnownState()) == image
            assert log.end_offset == image.offset
            await log.close()

        place.run(story(7))

    def test_a_batch_that_is_not_the_next_is_refused_and_changes_nothing(
        self, place: Place
    ) -> None:
        async def story() -> None:
            log = place.new_log()
            await log.load(KnownState())
            await log.append(batch(0))
            for wrong in (batch(0), batch(2), Batch(1, 1, ())):
                with pytest.raises(AppendRefused):
                    await log.append(wrong)
            assert await log.read(0) == [batch(0)]
            await log.append(batch(1))
            await log.close()

        place.run(story())

    @pytest.mark.parametrize(
        ("known", "what"),
        [
            (KnownState(offset=4), "it ends at offset 3"),
            (KnownState("other", 3), "it belongs to cluster mine"),
            (KnownState("mine", 3, 3), "its controller epoch is 2"),
        ],
    )
    def test_a_log_that_lacks_what_is_known_is_not_loaded_and_not_changed(
        self, place: Place, known: KnownState, what: str
    ) -> None:
        async def story() -> None:
            log = place.new_log()
            await load_known(log, KnownState())
            await log.append(Batch(0, 2, (ClusterNamed("mine"),)))
            await log.append(batch(1, 2, epoch=2))
            await log.close()
            log = place.new_log()
            with pytest.raises(MetadataLost, match=what):
                await load_known(log, known)
            await log.close()
            log = place.new_log()
            assert (await load_known(log, KnownState("mine", 3, 2))).offset == 3
            await log.close()

        place.run(story())

    def test_an_empty_log_is_refused_where_one_is_known(self, place: Place) -> None:
        async def story() -> None:
            log = place.new_log()
            with pytest.raises(MetadataLost, match="it is missing or empty"):
                await load_known(log, KnownState(offset=1))
            await log.close()

        place.run(story())

    def test_a_log_that_is_in_its_place_passes_every_check(self, place: Place) -> None:
        async def story() -> None:
            log = place.new_log()
            image = await load_known(log, KnownState())
            for each in histories(Random(5), 5):
                await log.append(each)
                image.apply(each)
                await log.check()
            await log.write_snapshot(image)
            await log.check()
            await log.close()
            await log.check()

        place.run(story())

    def test_a_follower_does_not_go_back(self, place: Place) -> None:
        async def story() -> None:
            log = place.new_log()
            image = await load_known(log, KnownState())
            await log.append(batch(0, 3))
            image.apply(batch(0, 3))
            ahead = Image()
            ahead.apply(batch(0, 5))
            publisher = Publisher(ahead)
            with pytest.raises(MetadataLost):
                publisher.replace(image)
            assert publisher.image.offset == 5
            await log.close()

        place.run(story())

    def test_a_waiting_reader_wakes_when_something_is_appended(self, place: Place) -> None:
        async def story() -> None:
            log = place.new_log()
            await log.load(KnownState())
            await log.append(batch(0))
            await log.wait_beyond(0)
            waiting = asyncio.ensure_future(log.wait_beyond(1))
            await asyncio.sleep(0)
            assert not waiting.done()
            await log.append(batch(1))
            await asyncio.wait_for(waiting, 120)
            await log.close()

        place.run(story())

    def test_a_snapshot_stands_for_what_made_it(self, place: Place) -> None:
        async def story() -> None:
            log = place.new_log()
            image = await log.load(KnownState())
            for each in histories(Random(3), 10):
                await log.append(each)
                image.apply(each)
            await log.write_snapshot(image)
            offset = image.offset
            await log.append(batch(offset))
            image.apply(batch(offset))
            with pytest.raises(Trimmed):
                await log.read(0)
            assert await log.read(offset) == [batch(offset)]
            await log.close()
            log = place.new_log()
            assert await log.load(KnownState()) == image
            await log.close()

        place.run(story())

    def test_a_snapshot_is_made_while_others_append(self, place: Place) -> None:
        async def story() -> None:
            log = place.new_log()
            image = await log.load(KnownState())
            for each in histories(Random(4), 200):
                await log.append(each)
                image.apply(each)
            writing = asyncio.ensure_future(log.write_snapshot(image))
            while not writing.done():
                await asyncio.sleep(0)
                if log.end_offset == image.offset:
                    each = batch(image.offset)
                    await log.append(each)
                    image.apply(each)
            await writing
            await log.close()
            log = place.new_log()
            assert await log.load(KnownState()) == image
            await log.close()

        place.run(story())

    def test_a_snapshot_must_be_of_the_end(self, place: Place) -> None:
        async def story() -> None:
            log = place.new_log()
            image = await log.load(KnownState())
            await log.append(batch(0))
            with pytest.raises(ValueError, match="an image at 0, but the log ends at 1"):
                await log.write_snapshot(image)
            await log.close()

        place.run(story())

    def test_a_follower_sees_the_same_image(self, place: Place) -> None:
        async def story() -> None:
            log = place.new_log()
            image = await log.load(KnownState())
            publisher = Publisher(Image())
            following = asyncio.ensure_future(publisher.follow(log))
            for each in histories(Random(5), 10):
                await log.append(each)
                image.apply(each)
            await asyncio.wait_for(publisher.wait_for(image.offset), 120)
            assert publisher.image == image
            following.cancel()
            await asyncio.wait([following])
            await log.close()

        place.run(story())
