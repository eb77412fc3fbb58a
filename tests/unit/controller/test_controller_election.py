"""A change of the znode `/controller` is noticed, whenever it happens.

Each event below ends after the ZooKeeper client has reported it: a broker that ignores what was
reported while it waited for a response would wait forever.
"""

from __future__ import annotations

import asyncio
from random import Random

from tests.support.control_plane_model import ControlPlane, Network
from tests.support.paused_service import at_every_pause
from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Ensemble, ModelService

from ottla.metadata.zookeeper.layout import BROKER_IDS, CONTROLLER
from ottla.metadata.zookeeper.service import Delete, OnChange, ZnodeRefused

NOTIFIED_S = 3.0  # longer than any watch of the model takes
SETTLING_S = 60.0


def test_a_vacancy_is_noticed_at_every_pause() -> None:
    """While a broker reads who is the controller, that one ends."""

    async def story(ensemble: Ensemble, pause: int) -> bool:
        network = Network(ensemble.rng)
        one, two = (ControlPlane(ensemble, network, broker_id) for broker_id in (1, 2))
        await one.start()

        async def end_one() -> None:
            await one.stop()
            await asyncio.sleep(NOTIFIED_S)

        two.service.arm(pause, end_one)
        await two.start()
        await asyncio.sleep(SETTLING_S)
        has_happened = two.service.has_happened
        assert two.controller.is_active == has_happened
        two.check_tasks()
        await two.stop()
        if not has_happened:
            await one.stop()
        return has_happened

    at_every_pause(story)


def test_a_controller_resigns_whenever_its_znode_is_deleted() -> None:
    async def story(ensemble: Ensemble, pause: int) -> bool:
        network = Network(ensemble.rng)
        one, two = (ControlPlane(ensemble, network, broker_id) for broker_id in (1, 2))
        other = ModelService(ensemble)

        async def delete() -> None:
            if CONTROLLER in ensemble.tree:
                await other.multi([Delete(CONTROLLER)])
                await asyncio.sleep(NOTIFIED_S)

        one.service.arm(pause, delete)
        await one.start()
        await two.start()
        await asyncio.sleep(SETTLING_S)
        has_happened = one.service.has_happened
        active = [each.broker_id for each in (one, two) if each.controller.is_active]
        assert len(active) == 1
        assert {one.election.controller_id, two.election.controller_id} == set(active)
        for each in (one, two):
            each.check_tasks()
            await each.stop()
        await other.close()
        return has_happened

    at_every_pause(story)


def test_a_controller_that_is_denied_a_znode_resigns() -> None:
    """Else no broker would be elected as long as it is connected."""

    async def story() -> None:
        ensemble = Ensemble(Random(1))
        network = Network(ensemble.rng)
        one, two = (ControlPlane(ensemble, network, broker_id) for broker_id in (1, 2))
        children = one.service.children

        async def deny(path: str, on_change: OnChange | None = None) -> list[str] | None:
            if path == BROKER_IDS:
                raise ZnodeRefused(path, "denied")
            return await children(path, on_change)

        one.service.children = deny  # type: ignore[method-assign]
        await one.start()
        await two.start()
        await asyncio.sleep(SETTLING_S)
        assert two.controller.is_active
        for each in (one, two):
            each.check_tasks()
            await each.stop()

    run_in_virtual_time(story())
