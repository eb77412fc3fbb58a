"""Requests of brokers to the controller: sessions, epochs, and what else must hold first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.support.control_plane_model import ControlPlane, Network, registration
from tests.support.paused_service import at_every_pause
from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Ensemble, ModelService
from tests.unit.controller.clusters import three_brokers

from ottla.controller.broker_sessions import decide_fence_incarnation
from ottla.controller.brokers import decide_unregister_broker
from ottla.metadata.records import Endpoint
from ottla.metadata.zookeeper.layout import broker_path
from ottla.metadata.zookeeper.membership import LiveBroker, announce
from ottla.metadata.zookeeper.service import Create
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from ottla.protocol.messages.alter_partition_request import AlterPartitionRequest
from ottla.protocol.messages.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from ottla.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest

ENDPOINTS = (Endpoint("PLAINTEXT", "host2", 9092, "PLAINTEXT"),)
FIRST, SECOND = b"1" * 16, b"2" * 16
CAUGHT_UP = 1 << 40


class Controller:
    """A controller, and broker 2 as it sends requests."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self.plane = ControlPlane(ensemble, Network(ensemble.rng), 1)
        self.requests = self.plane.requests

    async def new_session(self, incarnation_id: bytes = FIRST) -> ModelService:
        service = ModelService(self.ensemble)
        await announce(service, LiveBroker(2, incarnation_id, ENDPOINTS), 0)
        return service

    async def register(self, incarnation_id: bytes = FIRST) -> int:
        response = await self.requests.register(registration(2, incarnation_id))
        return response.broker_epoch

    async def heartbeat(self, epoch: int, offset: int = CAUGHT_UP, **fields: Any) -> bool:
        """Whether the broker is fenced."""
        request = BrokerHeartbeatRequest(2, epoch, offset, **fields)
        return (await self.requests.heartbeat(request)).is_fenced

    @property
    def is_fenced(self) -> bool:
        return self.plane.image.brokers[2].is_fenced


def run(story: Callable[[Controller], Coroutine[Any, Any, None]], seeds: int = 5) -> None:
    async def whole(seed: int) -> None:
        controller = Controller(Ensemble(Random(seed)))
        await controller.plane.start()
        await story(controller)
        controller.plane.check_tasks()
        await controller.plane.stop()

    for seed in range(seeds):
        run_in_virtual_time(whole(seed))


async def refusal(work: Coroutine[Any, Any, object]) -> ErrorCode:
    with pytest.raises(BrokerError) as caught:
        await work
    return caught.value.code


def test_a_broker_is_unfenced_when_its_image_contains_its_registration() -> None:
    async def story(controller: Controller) -> None:
        await controller.new_session()
        epoch = await controller.register()
        assert await controller.heartbeat(epoch, offset=epoch - 1)
        assert await controller.heartbeat(epoch, offset=epoch)  # ends just before the record
        assert not await controller.heartbeat(epoch, offset=epoch + 1)

    run(story)


def test_the_next_incarnation_registers_only_with_a_session_of_its_own() -> None:
    async def story(controller: Controller) -> None:
        first = await controller.new_session()
        epoch = await controller.register()
        await controller.heartbeat(epoch)
        duplicate = ErrorCode.DUPLICATE_BROKER_REGISTRATION
        assert await refusal(controller.register(SECOND)) is duplicate
        await first.close()
        assert await refusal(controller.register(SECOND)) is duplicate  # has none either
        await controller.new_session(SECOND)
        assert await controller.register(SECOND) > epoch

    run(story)


def test_a_session_that_just_began_is_known_whatever_the_controller_has_read() -> None:
    """A broker that is refused with DUPLICATE_BROKER_REGISTRATION does not start."""

    async def story(controller: Controller) -> None:
        session = await controller.new_session()
        await controller.register()
        for number in range(10):
            await session.close()
            session = ModelService(controller.ensemble)
            member = LiveBroker(2, bytes([number]) * 16, ENDPOINTS)
            create = Create(broker_path(2), member.encode(0), is_ephemeral=True)
            controller.ensemble.transact(session.session.id, [create])  # takes no time
            await controller.register(member.incarnation_id)

    run(story)


def test_a_broker_that_is_unfenced_after_its_session_has_ended_is_fenced_again() -> None:
    async def story(controller: Controller) -> None:
        session = await controller.new_session()
        epoch = await controller.register()
        await asyncio.sleep(1)  # nothing changes any more in ZooKeeper
        await session.close()
        await asyncio.sleep(1)
        await controller.heartbeat(epoch)
        await asyncio.sleep(1)
        assert controller.is_fenced

    run(story)


@pytest.mark.parametrize("kind", ["unfence", "fence", "stop", "offline", "alive"])
def test_a_heartbeat_of_an_earlier_registration_changes_nothing(kind: str) -> None:
    cases: dict[str, dict[str, Any]] = {
        "unfence": {},
        "fence": {"want_fence": True},
        "stop": {"want_shut_down": True},
        "offline": {"offline_log_dirs": [registration(2, FIRST).log_dirs[0]]},
        "alive": {"offset": 0},
    }
    fields = cases[kind]

    async def story(controller: Controller) -> None:
        first = await controller.new_session()
        before = await controller.register()
        await controller.heartbeat(before)
        await first.close()
        await controller.new_session(SECOND)
        epoch = await controller.register(SECOND)
        is_unfenced = kind != "unfence"
        if is_unfenced:
            await controller.heartbeat(epoch)
        offset = controller.plane.image.offset
        code = await refusal(controller.heartbeat(before, **fields))
        assert code is ErrorCode.STALE_BROKER_EPOCH
        assert controller.is_fenced != is_unfenced
        assert controller.plane.image.offset == offset

    run(story, seeds=1)


def test_every_other_request_needs_the_current_epoch() -> None:
    async def story(controller: Controller) -> None:
        await controller.new_session()
        epoch = await controller.register()
        for request in (
            AllocateProducerIdsRequest(2, epoch - 1),
            AssignReplicasToDirsRequest(2, epoch + 1),
            AlterPartitionRequest(2, epoch - 1),
        ):
            code = await refusal(controller.requests.answer(request, request.VERSIONS[-1]))
            assert code is ErrorCode.STALE_BROKER_EPOCH

    run(story, seeds=1)


def test_a_broker_that_stops_and_has_lost_a_directory_says_both_at_once() -> None:
    async def story(controller: Controller) -> None:
        await controller.new_session()
        epoch = await controller.register()
        await controller.heartbeat(epoch)
        lost = registration(2, FIRST).log_dirs
        await controller.heartbeat(epoch, want_shut_down=True, offline_log_dirs=lost)
        broker = controller.plane.image.brokers[2]
        assert broker.is_shutting_down
        assert broker.log_directories == ()

    run(story, seeds=1)


def test_a_session_that_ends_at_any_pause_is_noticed() -> None:
    """Also while the controller reads what else has changed."""

    async def story(ensemble: Ensemble, pause: int) -> bool:
        controller = Controller(ensemble)
        await controller.plane.start()
        session = await controller.new_session()
        await controller.heartbeat(await controller.register())
        await asyncio.sleep(1)
        other = ModelService(ensemble)

        async def end() -> None:
            ensemble.end_session(session.session.id)

        service = controller.plane.service
        service.arm(pause, end)
        await announce(other, LiveBroker(9, SECOND, ENDPOINTS), 0)  # the controller looks again
        await asyncio.sleep(10)
        assert controller.is_fenced == service.has_happened
        await controller.plane.stop()
        return service.has_happened

    at_every_pause(story, seeds=10)


def test_only_the_incarnation_whose_session_has_ended_is_fenced() -> None:
    cluster = three_brokers()
    before = cluster.image.brokers[2]
    cluster.restart_broker(2, is_clean=True)
    assert decide_fence_incarnation(before, cluster.state).records == ()
    cluster.carry_out(decide_fence_incarnation(cluster.image.brokers[2], cluster.state))
    assert cluster.image.brokers[2].is_fenced
    cluster.carry_out(decide_unregister_broker(cluster.state, 3))
    assert decide_fence_incarnation(replace(before, id=3), cluster.state).records == ()


def test_a_process_is_fenced_although_its_successor_has_announced_itself() -> None:
    """Otherwise it would lead partitions until its successor has registered."""

    async def story(controller: Controller) -> None:
        service = await controller.new_session(FIRST)
        epoch = await controller.register(FIRST)
        assert not await controller.heartbeat(epoch)
        controller.plane.service.lose_connection(1.0)  # it sees only the znode of the successor
        await service.close()
        successor = await controller.new_session(SECOND)
        await asyncio.sleep(10)
        assert controller.is_fenced
        await successor.close()

    run(story)
