from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import cast

import pytest
from tests.support.virtual_time import run_in_virtual_time
from tests.unit.metadata.histories import histories
from tests.unit.metadata.log_conformance import batch

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.metadata.changes import Changes
from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import MetadataLog, MetadataLost, Trimmed
from ottla.metadata.publisher import REMINDER_S, Publisher
from ottla.metadata.records import ALL_BROKERS, ClusterNamed
from ottla.testing.clock import ManualClock


def test_listeners_hear_each_batch_once_and_in_order() -> None:
    publisher = Publisher(Image())
    heard: list[tuple[str, int]] = []
    publisher.subscribe(lambda image, _changes: heard.append(("first", image.offset)))
    publisher.subscribe(lambda image, _changes: heard.append(("second", image.offset)))
    for each in (batch(0, 2), batch(2), batch(2), batch(0, 2)):
        publisher.publish(each)
    assert heard == [("first", 2), ("second", 2), ("first", 3), ("second", 3)]


def test_an_image_that_continued_is_taken_over_with_its_differences() -> None:
    batches = list(histories(Random(1), 10))
    image, ahead = Image(), Image()
    image.apply(batches[0])
    for each in batches:
        ahead.apply(each)
    publisher = Publisher(image)
    heard: list[Changes] = []
    publisher.subscribe(lambda _image, changes: heard.append(changes))
    publisher.replace(ahead.copy())
    assert publisher.image is image
    assert image == ahead
    assert {change.name for change in heard[0].created_topics.values()} == set(ahead.topics)


def test_what_a_listener_does_in_slices_is_done_when_an_image_is_published() -> None:
    image, ahead = Image(), Image()
    publisher, done = Publisher(image), list[int]()

    def react(image: Image, _changes: Changes) -> Steps[None]:
        for _ in range(2):
            yield 0
            done.append(image.offset)

    publisher.subscribe(react)
    publisher.publish(batch(0, 2))
    assert done == [2, 2]
    ahead.apply(batch(0, 2))
    ahead.apply(batch(2))
    publisher.replace(ahead)
    assert done == [2, 2, 3, 3]


def test_a_wait_for_an_offset_ends_when_it_is_in_the_image() -> None:
    async def story() -> None:
        publisher = Publisher(Image())
        await publisher.wait_for(0)
        waiting = asyncio.ensure_future(publisher.wait_for(3))
        await asyncio.sleep(0)
        publisher.publish(batch(0, 2))
        await asyncio.sleep(0)
        assert not waiting.done()
        publisher.publish(batch(2))
        await asyncio.wait_for(waiting, 120)
        assert publisher.image.config(ALL_BROKERS) == {"x": "2"}

    asyncio.run(story())


def test_exchanged_images_are_the_ones_that_whole_histories_make() -> None:
    """The image that comes back lacks the batch, and catches up by itself."""

    async def story(seed: int) -> None:
        published, ahead, expected = Image(), Image(), Image()
        publisher = Publisher(published)
        heard: list[Changes] = []
        publisher.subscribe(lambda _image, changes: heard.append(changes))
        for each in histories(Random(seed), 20):
            wanted = expected.apply(each)
            await publisher.exchange(ahead, ahead.apply(each))
            assert publisher.image is published
            assert published == expected
            assert heard[-1] == wanted
            ahead.apply(each)
            assert ahead == expected

    for seed in range(5):
        asyncio.run(story(seed))


def test_an_exchange_does_nothing_if_the_batch_was_followed_already() -> None:
    async def story() -> None:
        published, ahead, heard = Image(), Image(), list[int]()
        publisher = Publisher(published)
        publisher.subscribe(lambda image, _changes: heard.append(image.offset))
        changes = ahead.apply(batch(0))
        publisher.publish(batch(0))
        await publisher.exchange(ahead, changes)
        assert heard == [1]
        assert published.offset == ahead.offset == 1

    asyncio.run(story())


def test_a_listener_that_reacts_in_slices_does_not_block_the_loop() -> None:
    async def story() -> None:
        done: list[str] = []

        def slowly(_image: Image, _changes: Changes) -> Steps[None]:
            for at in range(3):
                clock.advance_ms(10)
                done.append(f"slice {at}")
                yield 0

        def failing(_image: Image, _changes: Changes) -> Steps[None]:
            yield 0
            raise RuntimeError("of a listener")

        clock = ManualClock()
        publisher, ahead = Publisher(Image(), StepScheduler(clock)), Image()
        for listener in (slowly, failing, lambda _image, _changes: done.append("last")):
            publisher.subscribe(listener)
        exchanging = asyncio.ensure_future(publisher.exchange(ahead, ahead.apply(batch(0))))
        waiting = asyncio.ensure_future(publisher.wait_for(1))
        await asyncio.sleep(0)
        assert done == ["slice 0"]
        await exchanging
        assert done == ["slice 0", "slice 1", "slice 2", "last"]
        await asyncio.wait_for(waiting, 120)

    asyncio.run(story())


def image_of(*batches: Batch) -> Image:
    image = Image()
    for each in batches:
        image.apply(each)
    return image


def named(cluster_id: str) -> Batch:
    return Batch(0, 1, (ClusterNamed(cluster_id),))


OTHERS = {
    "older": image_of(named("a"), batch(1)),
    "empty": Image(),
    "of another cluster": image_of(named("b"), batch(1, 9)),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("way", ["replace", "exchange"])
def test_an_image_that_is_not_a_successor_is_rejected(way: str, kind: str) -> None:
    async def story() -> None:
        image, expected = (image_of(named("a"), batch(1, 3)) for _ in range(2))
        publisher, heard = Publisher(image), list[int]()
        publisher.subscribe(lambda image, _changes: heard.append(image.offset))
        other = OTHERS[kind].copy()
        if way == "exchange" and other.offset < image.offset:
            await publisher.exchange(other, Changes())  # `follow` was quicker
        else:
            with pytest.raises(MetadataLost):
                await publisher.exchange(other, Changes()) if way == "exchange" else (
                    publisher.replace(other)
                )
        assert image == expected
        assert not heard

    asyncio.run(story())


class TrimmedLog:
    """A log whose batches were replaced by a snapshot; while it is loaded, something happens."""

    location = "log"

    def __init__(self, snapshot: Image, meanwhile: Callable[[], None]) -> None:
        self._snapshot = snapshot
        self._meanwhile = meanwhile

    async def load(self, _known: KnownState) -> Image:
        self._meanwhile()
        return self._snapshot.copy()

    async def read(self, _offset: int) -> list[Batch]:
        raise Trimmed


@pytest.mark.parametrize("count", range(4), ids="{} published meanwhile".format)
def test_a_snapshot_that_was_overtaken_while_it_was_loaded_is_dropped(count: int) -> None:
    async def story() -> None:
        batches = [named("a"), batch(1), batch(2), batch(3)]
        publisher, heard = Publisher(image_of(*batches[:1])), list[int]()
        publisher.subscribe(lambda image, _changes: heard.append(image.offset))

        def meanwhile() -> None:
            for each in batches[1 : 1 + count]:
                publisher.publish(each)

        log = cast(MetadataLog, TrimmedLog(image_of(*batches[:3]), meanwhile))
        await publisher.catch_up(log, log.read)
        assert publisher.image == image_of(*batches[: max(3, 1 + count)])
        assert heard == sorted(set(heard)), "the image went back, or was published twice"

    asyncio.run(story())


@pytest.mark.parametrize("count", range(4), ids="{} published meanwhile".format)
def test_batches_that_were_published_while_they_were_read_are_dropped(count: int) -> None:
    async def story() -> None:
        batches = [named("a"), batch(1), batch(2), batch(3)]
        publisher, heard = Publisher(image_of(*batches[:1])), list[int]()
        publisher.subscribe(lambda image, _changes: heard.append(image.offset))

        async def read(offset: int) -> list[Batch]:
            assert offset == 1
            for each in batches[1 : 1 + count]:
                publisher.publish(each)
            return batches[1:3]

        log = cast(MetadataLog, TrimmedLog(image_of(), lambda: None))
        await publisher.catch_up(log, read)
        assert publisher.image == image_of(*batches[: max(3, 1 + count)])
        assert heard == sorted(set(heard)), "the image went back, or was published twice"

    asyncio.run(story())


def test_a_long_wait_for_the_log_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        publisher = Publisher(Image())
        publisher.publish(batch(0, 2))
        await publisher.wait_for(2)
        waiting = asyncio.ensure_future(publisher.wait_for(4))
        await asyncio.sleep(10 * REMINDER_S)
        assert caplog.text.count("waiting for offset 3 of the metadata log") == 1
        assert "everything before 2" in caplog.text
        publisher.publish(batch(2, 2))
        await waiting
        await asyncio.sleep(10 * REMINDER_S)
        assert caplog.text.count("waiting") == 1

    run_in_virtual_time(story())
