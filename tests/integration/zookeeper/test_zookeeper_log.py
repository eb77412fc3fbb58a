"""The metadata log in a real ZooKeeper: the common tests, then what only ZooKeeper does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from random import Random
from typing import TypeVar
from uuid import uuid4

import pytest
from tests.unit.metadata.log_conformance import MetadataLogConformance, batch

from ottla.base.clock import SystemClock
from ottla.config.zookeeper_connect import ConnectString
from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import AppendRefused, CorruptMetadataError, MetadataLost
from ottla.metadata.publisher import Publisher
from ottla.metadata.records import ConfigChanged, ConfigResource, ResourceType
from ottla.metadata.zookeeper.election import elect
from ottla.metadata.zookeeper.kazoo_service import KazooService, open_service
from ottla.metadata.zookeeper.service import Create, Delete, Write
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.testing.zookeeper import ZooKeeperServer

T = TypeVar("T")


class ElectedLog(ZooKeeperMetadataLog):
    """A log whose broker is elected before it is loaded, and resigns when it is closed."""

    def __init__(self, place: ZooKeeperPlace) -> None:
        self._place = place
        self._opened: KazooService | None = None

    async def load(self, known: KnownState) -> Image:
        if self._opened is None:
            self._opened = await self._place.connect()
            super().__init__(self._opened, asyncio.to_thread, new_nonce)
            await super().load(KnownState())
        claim = await elect(self._opened, 1, SystemClock())
        assert claim is not None
        image = await super().load(known)
        assert await self.begin(claim, image.offset) == []
        return image

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()


class ZooKeeperPlace:
    def __init__(self, server: ZooKeeperServer) -> None:
        self.connect_string = ConnectString(server.address, f"/test-{uuid4()}/inner")

    def new_log(self) -> ElectedLog:
        return ElectedLog(self)

    async def connect(self) -> KazooService:
        return await open_service(
            self.connect_string, asyncio.to_thread,
            session_timeout_ms=6000, connection_timeout_ms=10_000,
        )  # fmt: skip

    def run(self, story: Awaitable[T]) -> T:
        async def whole() -> T:
            return await story

        return asyncio.run(whole())


def new_nonce() -> str:
    return uuid4().hex


@pytest.fixture
def place(zookeeper: ZooKeeperServer) -> ZooKeeperPlace:
    return ZooKeeperPlace(zookeeper)


class TestInZooKeeper(MetadataLogConformance):
    pass


async def opened(place: ZooKeeperPlace) -> tuple[KazooService, ZooKeeperMetadataLog]:
    """A log that only follows."""
    service = await place.connect()
    log = ZooKeeperMetadataLog(service, asyncio.to_thread, new_nonce)
    await log.load(KnownState())
    return service, log


def test_a_controller_that_was_replaced_cannot_append(place: ZooKeeperPlace) -> None:
    async def story() -> None:
        old = place.new_log()
        await old.load(KnownState())
        await old.append(batch(0))
        service, new = await opened(place)
        assert await elect(service, 2, SystemClock()) is None
        await service.multi([Delete("/controller")])
        claim = await elect(service, 2, SystemClock())
        assert claim is not None
        assert claim.controller_epoch == 2
        assert await new.begin(claim, 1) == []
        with pytest.raises(AppendRefused, match="another broker is elected"):
            await old.append(batch(1))
        await new.append(batch(1, epoch=2))
        assert await new.read(0) == [batch(0), batch(1, epoch=2)]
        await old.close()
        await service.close()

    place.run(story())


def test_a_batch_larger_than_a_znode_is_kept_whole(place: ZooKeeperPlace) -> None:
    async def story() -> None:
        log = place.new_log()
        image = await log.load(KnownState())
        large = Batch(0, 1, tuple(random_config(number) for number in range(12_000)))
        await log.append(large)
        await log.append(batch(12_000))
        service, follower = await opened(place)
        assert await follower.read(0) == [large, batch(12_000)]
        assert len(await service.children("/metadata/parts") or ()) > 2
        for each in (large, batch(12_000)):
            image.apply(each)
        await log.write_snapshot(image)
        assert await service.children("/metadata/parts") == []
        assert await follower.load(KnownState()) == image
        await log.close()
        await service.close()

    place.run(story())


def random_config(number: int) -> ConfigChanged:
    """Random text, which cannot be compressed to less than a znode."""
    resource = ConfigResource(ResourceType.GROUP, f"group-{number}")
    return ConfigChanged(resource, "name", Random(number).randbytes(100).hex())


@pytest.mark.parametrize(
    ("path", "data", "message"),
    [
        ("/metadata/log/00000000000000000001", b"{}", "00000000000000000001 at byte 0: the data"),
        ("/metadata/log/00000000000000000001", None, "00000000000000000001 is missing, although"),
        ("/metadata/log/00000000000000000000", None, "00000000000000000000 are missing, although"),
        ("/metadata/snapshot", b"x", "/metadata/snapshot at byte 0"),
    ],
)
def test_a_znode_that_was_edited_or_deleted_is_named(
    place: ZooKeeperPlace, path: str, data: bytes | None, message: str
) -> None:
    async def story() -> None:
        log = place.new_log()
        await log.load(KnownState())
        for offset in range(3):
            await log.append(batch(offset))
        await log.close()
        service = await place.connect()
        if data is None:
            await service.multi([Delete(path)])
        elif await service.exists(path):
            await service.multi([Write(path, data)])
        else:
            await service.multi([Create(path, data)])
        log = place.new_log()
        with pytest.raises((CorruptMetadataError, MetadataLost)) as caught:
            await log.load(KnownState())
        assert message in str(caught.value)
        await log.close()
        await service.close()

    place.run(story())


def test_an_append_while_the_server_is_killed_happens_once(
    own_zookeeper: ZooKeeperServer,
) -> None:
    place = ZooKeeperPlace(own_zookeeper)

    async def story() -> None:
        log = place.new_log()
        await log.load(KnownState())
        offset = 0
        for round_ in range(2):
            appending = asyncio.ensure_future(append_many(log, offset, 20))
            await asyncio.sleep(0.004 * round_)
            own_zookeeper.kill()
            await asyncio.sleep(0.05)
            await asyncio.to_thread(own_zookeeper.start)
            await asyncio.wait_for(appending, 60)
            offset += 20
        assert await log.read(0) == [batch(each) for each in range(offset)]
        await log.close()

    place.run(story())


async def append_many(log: ZooKeeperMetadataLog, start: int, count: int) -> None:
    for offset in range(start, start + count):
        await log.append(batch(offset))


def test_a_follower_continues_after_the_server_was_away(own_zookeeper: ZooKeeperServer) -> None:
    place = ZooKeeperPlace(own_zookeeper)

    async def story() -> None:
        log = place.new_log()
        await log.load(KnownState())
        service, follower = await opened(place)
        publisher = Publisher(Image())
        following = asyncio.ensure_future(publisher.follow(follower))
        await log.append(batch(0))
        await asyncio.wait_for(publisher.wait_for(1), 60)
        own_zookeeper.kill()
        appending = asyncio.ensure_future(log.append(batch(1)))
        await asyncio.sleep(0.3)
        assert not appending.done()
        await asyncio.to_thread(own_zookeeper.start)
        await asyncio.wait_for(appending, 60)
        await asyncio.wait_for(publisher.wait_for(2), 60)
        following.cancel()
        await asyncio.wait([following])
        await log.close()
        await service.close()

    place.run(story())
