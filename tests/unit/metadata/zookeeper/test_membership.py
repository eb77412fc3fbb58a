"""Announcements of brokers at ZooKeeper servers that are behind."""

from __future__ import annotations

from random import Random

from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Ensemble, ModelService

from ottla.metadata.records import Endpoint
from ottla.metadata.zookeeper.layout import BROKER_IDS, broker_path
from ottla.metadata.zookeeper.membership import LiveBroker, announce
from ottla.metadata.zookeeper.service import create_missing

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
