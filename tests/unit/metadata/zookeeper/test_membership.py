"""Announcements of brokers at ZooKeeper servers that are behind, and while they are read."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from tests.support.paused_service import PausedService, at_every_pause
from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Ensemble, ModelService

from ottla.metadata.records import Endpoint
from ottla.metadata.zookeeper.layout import BROKER_IDS, broker_path
from ottla.metadata.zookeeper.membership import (
    BrokerIdInUse,
    LiveBroker,
    announce,
    read_member,
    read_members,
    require_free_id,
)
from ottla.metadata.zookeeper.service import Create, ZnodeRefused, create_missing

ENDPOINTS = (Endpoint("L", "host", 1, "P"),)


def test_a_broker_is_announced_although_its_server_has_the_znode_of_the_last_process() -> None:
    async def story(seed: int) -> None:
        ensemble = Ensemble(Random(seed))
        before, after = ModelService(ensemble), ModelService(ensemble)
        await create_missing(before, BROKER_IDS)
        await announce(before, LiveBroker(3, b"1" * 16, ENDPOINTS), 0)
        while not await after.exists(broker_path(3)):
            pass
        await before.close()
        await announce(after, LiveBroker(3, b"2" * 16, ENDPOINTS), 0)
        assert ensemble.tree[broker_path(3)].owner == after.session.id

    for seed in range(20):
        run_in_virtual_time(story(seed))


def test_the_znode_of_an_ended_process_is_removed_whatever_its_session() -> None:
    async def story(seed: int) -> None:
        ensemble = Ensemble(Random(seed))
        before, after = ModelService(ensemble), ModelService(ensemble)
        await create_missing(before, BROKER_IDS)
        await announce(before, LiveBroker(3, b"1" * 16, ENDPOINTS), 0)
        for other in (None, b"2" * 16):
            with pytest.raises(BrokerIdInUse):
                await require_free_id(after, 3, other)
        await require_free_id(after, 3, b"1" * 16)
        assert broker_path(3) not in ensemble.tree

    for seed in range(5):
        run_in_virtual_time(story(seed))


def test_a_broker_that_comes_at_any_pause_is_read_or_reported() -> None:
    """Without a report, a controller that has read too early would not look again."""

    async def story(ensemble: Ensemble, pause: int) -> bool:
        reading, first, second = (PausedService(ensemble) for _ in range(3))
        await create_missing(first, BROKER_IDS)
        await announce(first, LiveBroker(1, b"1" * 16, ENDPOINTS), 0)

        async def come() -> None:
            await announce(second, LiveBroker(2, b"2" * 16, ENDPOINTS), 0)

        changed = asyncio.Event()
        await reading.sync()
        reading.arm(pause, come)
        members = await read_members(reading, changed.set)
        assert 1 in members
        has_happened = reading.has_happened
        if has_happened and 2 not in members:
            await asyncio.wait_for(changed.wait(), 60)
        return has_happened

    at_every_pause(story, seeds=10)


@pytest.mark.parametrize("is_copy", [True, False])
def test_a_znode_that_was_created_by_hand_is_no_broker(
    is_copy: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It does not end with a session: its broker would be alive forever, or never start again."""

    async def story() -> None:
        ensemble = Ensemble(Random(1))
        service = ModelService(ensemble)
        member = LiveBroker(3, b"1" * 16, ENDPOINTS)
        made = Create(broker_path(3), member.encode(0) if is_copy else b"")
        await create_missing(service, BROKER_IDS)
        await service.multi([made])
        assert await read_members(service) == {}
        assert await read_member(service, 3) is None
        await require_free_id(service, 3)
        assert broker_path(3) not in ensemble.tree
        await service.multi([made])
        await announce(service, member, 0)
        assert ensemble.tree[broker_path(3)].owner == service.session.id
        assert f"the znode {broker_path(3)} is not ephemeral" in caplog.text

    run_in_virtual_time(story())


def test_a_znode_that_was_created_by_hand_and_cannot_be_deleted_ends_the_start() -> None:
    async def story() -> None:
        service = ModelService(Ensemble(Random(1)))
        await create_missing(service, broker_path(3) + "/below")
        with pytest.raises(ZnodeRefused, match=broker_path(3)):
            await require_free_id(service, 3)
        with pytest.raises(ZnodeRefused, match=broker_path(3)):
            await announce(service, LiveBroker(3, b"1" * 16, ENDPOINTS), 0)

    run_in_virtual_time(story())


def test_only_the_name_that_a_broker_writes_is_its_id() -> None:
    async def story() -> None:
        service = ModelService(Ensemble(Random(1)))
        await create_missing(service, BROKER_IDS)
        data = LiveBroker(3, b"1" * 16, ENDPOINTS).encode(0)
        for name in ("003", "x", "\u0663"):
            await service.multi([Create(f"{BROKER_IDS}/{name}", data, is_ephemeral=True)])
        assert await read_members(service) == {}

    run_in_virtual_time(story())
