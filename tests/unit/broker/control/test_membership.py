"""Brokers stay members of their cluster whatever happens to sessions, controllers and requests."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from tests.support.control_plane_model import (
    JOIN_S,
    REQUEST_S,
    ControlPlane,
    Network,
    Route,
)
from tests.support.paused_service import at_every_pause
from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import SESSION_S, Ensemble, ModelService

from ottla.broker.control.liveness import WatchedBroker, remove_ended
from ottla.broker.control.membership import BrokerMembership
from ottla.controller.brokers import decide_fence_broker
from ottla.metadata.zookeeper.layout import CONTROLLER, broker_path
from ottla.metadata.zookeeper.membership import LiveBroker, announce
from ottla.metadata.zookeeper.service import (
    Delete,
    OnChange,
    Write,
    ZnodeMissing,
    ZooKeeperService,
    retried,
)
from ottla.network.channel.errors import ResponseLost
from ottla.protocol.errors import BrokerError
from ottla.protocol.message import Message
from ottla.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest

SETTLING_S = 60.0
EXPIRING_S = 2 * SESSION_S


async def started(ensemble: Ensemble, *, joined: bool = True) -> tuple[ControlPlane, ControlPlane]:
    """A controller with the id 1, and broker 2."""
    network = Network(ensemble.rng)
    one, two = (ControlPlane(ensemble, network, broker_id) for broker_id in (1, 2))
    await one.start()
    await one.join()
    await two.start()
    if joined:
        await two.join()
    return one, two


async def check(*planes: ControlPlane) -> None:
    """All are members, and agree on it; then they end."""
    await asyncio.sleep(SETTLING_S)
    for each in planes:
        each.check_tasks()
        assert each.has_own_znode(), each.broker_id
        assert each.is_serving(), each.broker_id
        assert each.image == planes[0].image
    assert sum(each.controller.is_active for each in planes) == 1
    for each in planes:
        await each.stop()


@pytest.mark.parametrize("victim", [0, 1], ids=["controller", "other"])
def test_a_broker_is_a_member_whenever_a_session_expires_while_it_joins(victim: int) -> None:
    async def story(ensemble: Ensemble, pause: int) -> bool:
        planes = await started(ensemble, joined=False)
        service = planes[victim].service

        async def expire() -> None:
            service.lose_connection(EXPIRING_S)

        service.arm(pause, expire)
        await planes[1].join()
        has_happened = service.has_happened
        await check(*planes)
        return has_happened

    at_every_pause(story, seeds=1)


def test_a_broker_is_a_member_whenever_its_session_expires_again() -> None:
    async def story(ensemble: Ensemble, pause: int) -> bool:
        planes = await started(ensemble)
        service = planes[1].service

        async def expire() -> None:
            service.lose_connection(EXPIRING_S)

        await expire()
        service.arm(pause, expire)
        await asyncio.sleep(SETTLING_S)
        has_happened = service.has_happened
        await check(*planes)
        return has_happened

    at_every_pause(story, seeds=1)


def test_what_the_next_process_needs_is_stored_before_the_znode_exists() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)), joined=False)
        found = []
        two.ensemble.listeners.append(
            lambda: found.append((broker_path(2) in two.ensemble.tree, two.is_kept))
        )
        await two.join()
        assert (True, True) in found
        assert (True, False) not in found
        await check(one, two)

    run_in_virtual_time(story())


@pytest.mark.parametrize("heard_s", [0.0, 1.0], ids=["heard-later", "heard-at-once"])
@pytest.mark.parametrize("is_edited", [False, True], ids=["removed", "edited"])
def test_a_znode_that_is_damaged_again_at_any_pause_is_written_again(
    is_edited: bool, heard_s: float
) -> None:
    """Also if the change is reported before the broker has recorded that it wrote the znode."""
    path = broker_path(2)

    async def story(ensemble: Ensemble, pause: int) -> bool:
        planes = await started(ensemble)
        service, other = planes[1].service, ModelService(ensemble)

        async def damage() -> None:
            if path in ensemble.tree:
                await other.multi([Write(path, b"x") if is_edited else Delete(path)])

        async def damage_again() -> None:
            await damage()
            await asyncio.sleep(heard_s)

        await damage()
        service.arm(pause, damage_again)
        await asyncio.sleep(SETTLING_S)
        has_happened = service.has_happened
        await check(*planes)
        await other.close()
        return has_happened

    at_every_pause(story, seeds=1)


def test_a_change_of_the_znode_that_is_heard_before_it_counts_as_written_is_not_forgotten() -> None:
    """The event may be next in the queue of the loop when the last response has arrived."""
    announced: list[int] = []

    async def heard_at_the_end(
        service: ZooKeeperService, member: LiveBroker, now_ms: int, on_change: OnChange
    ) -> None:
        await announce(service, member, now_ms, on_change)
        announced.append(member.broker_id)
        if len(announced) == 1:
            on_change()

    async def story() -> None:
        planes = await started(Ensemble(Random(1)))
        with patch("ottla.broker.control.membership.announce", heard_at_the_end):
            planes[1].membership._note_znode()
            await asyncio.sleep(SETTLING_S)
        assert announced == [2, 2]
        await check(*planes)

    run_in_virtual_time(story())


def test_a_znode_that_is_removed_while_the_broker_waits_to_be_unfenced_is_written_again() -> None:
    heartbeat = BrokerMembership.heartbeat

    async def story() -> None:
        ensemble = Ensemble(Random(1))
        planes = await started(ensemble)
        other, removed = ModelService(ensemble), list[str]()

        async def remove_first(self: BrokerMembership, **options: Any) -> Any:
            if not removed:
                removed.append(broker_path(2))
                await other.multi([Delete(broker_path(2))])
            if removed[0] in ensemble.tree:
                return await heartbeat(self, **options)
            return None  # the controller does not unfence a broker without a session

        with patch.object(BrokerMembership, "heartbeat", remove_first):
            await planes[0].controller.decide(lambda state: decide_fence_broker(state, 2))
            await check(*planes)
        assert removed
        await other.close()

    run_in_virtual_time(story())


def test_brokers_are_members_after_any_sequence_of_faults() -> None:
    async def story(seed: int) -> None:
        ensemble = Ensemble(Random(seed))
        planes = await started(ensemble)
        rng, other = ensemble.rng, ModelService(ensemble)
        planes[0].network.lost_share = 0.2
        for _ in range(10):
            await asyncio.sleep(rng.uniform(0, 3))
            match rng.randrange(3):
                case 0 if CONTROLLER in ensemble.tree:
                    try:
                        await retried(other, other.multi, [Delete(CONTROLLER)])
                    except ZnodeMissing:
                        pass
                case 1:
                    rng.choice(planes).service.lose_connection(rng.uniform(0, EXPIRING_S))
                case _:
                    rng.choice(planes).service.lose_connection(rng.uniform(0, 0.1))
        planes[0].network.lost_share = 0
        await check(*planes)
        await other.close()

    for seed in range(20):
        run_in_virtual_time(story(seed))


@pytest.mark.parametrize("is_late", [False, True], ids=["in time", "too late"])
def test_a_broker_that_starts_waits_for_a_controller_longer_than_for_a_request(
    is_late: bool,
) -> None:
    """As long as `initial.broker.registration.timeout.ms` says."""

    async def story() -> None:
        one, two = await started(Ensemble(Random(1)), joined=False)
        one.network.hanging.add(1)
        joining = asyncio.ensure_future(two.join())
        await asyncio.sleep(JOIN_S + 2 * REQUEST_S if is_late else 2 * REQUEST_S)
        one.network.hanging.clear()
        if is_late:
            with pytest.raises(BrokerError, match="No controller answered"):
                await joining
            await two.stop()
            await one.stop()
        else:
            await joining
            await check(one, two)

    run_in_virtual_time(story())


def test_a_registered_broker_waits_until_it_is_unfenced() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)), joined=False)
        await two.membership.join(JOIN_S)
        one.network.hanging.add(1)
        unfencing = asyncio.ensure_future(two.membership.begin_serving())
        await asyncio.sleep(3 * REQUEST_S)
        one.network.hanging.clear()
        await unfencing
        assert two.is_serving()
        for each in (one, two):
            await each.stop()

    run_in_virtual_time(story())


def test_a_broker_serves_as_soon_as_its_image_says_that_it_is_unfenced() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)), joined=False)
        await two.membership.join(JOIN_S)
        with patch("ottla.broker.control.membership.RETRY_S", 10 * JOIN_S):  # no second attempt
            await asyncio.wait_for(two.membership.begin_serving(), JOIN_S)
        await check(one, two)

    run_in_virtual_time(story())


def test_a_broker_that_is_stopped_while_it_starts_is_not_unfenced() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)), joined=False)
        await two.membership.join(JOIN_S)
        one.network.hanging.add(1)
        unfencing = asyncio.ensure_future(two.membership.begin_serving())
        await asyncio.sleep(REQUEST_S / 2)
        leaving = asyncio.ensure_future(two.membership.leave())
        await asyncio.sleep(0.9 * REQUEST_S)  # the request to be unfenced is given up
        one.network.hanging.clear()
        with pytest.raises(BrokerError):
            await leaving
        await unfencing
        await asyncio.sleep(SETTLING_S)
        assert one.image.brokers[2].is_fenced
        for each in (one, two):
            await each.stop()

    run_in_virtual_time(story())


def test_a_broker_that_is_fenced_while_it_leaves_does_not_come_back() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)))
        await two.membership.leave()
        other = ModelService(one.ensemble)
        await other.multi([Delete(broker_path(2))])  # as the controller does if its port is closed
        await asyncio.sleep(SETTLING_S)
        assert one.image.brokers[2].is_fenced
        assert not two.has_own_znode()
        for each in (one, two):
            await each.stop()
        await other.close()

    run_in_virtual_time(story())


def test_offline_directories_are_reported_until_the_controller_answers() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)))
        lost = list(two.request.log_dirs)
        one.network.hanging.add(1)
        reporting = asyncio.ensure_future(two.membership.report_offline(lost))
        await asyncio.sleep(3 * two.client.timeout_s)
        one.network.hanging.clear()
        await reporting
        assert one.image.brokers[2].log_directories == ()
        await check(one, two)

    run_in_virtual_time(story())


def test_a_request_is_answered_whenever_the_controller_resigns() -> None:
    async def story(ensemble: Ensemble, pause: int) -> bool:
        one, two = await started(ensemble)
        other = ModelService(ensemble)

        async def end_claim() -> None:
            await other.multi([Delete(CONTROLLER)])

        one.service.arm(pause, end_claim)
        asking = [
            asyncio.ensure_future(each.client.ask(AllocateProducerIdsRequest(2, epoch)))
            for each in (one, two)
            for epoch in [two.membership.broker_epoch] * 3
        ]
        starts = [each.producer_id_start for each in await asyncio.gather(*asking)]
        assert len(set(starts)) == len(starts)
        has_happened = one.service.has_happened
        await check(one, two)
        await other.close()
        return has_happened

    at_every_pause(story)


def test_a_request_without_a_controller_ends_in_time() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)))
        loop = asyncio.get_running_loop()
        for each in (one, two):
            each.service.lose_connection(100 * each.client.timeout_s)
        start_s = loop.time()
        with pytest.raises(BrokerError):
            await two.client.ask(two.request)
        assert loop.time() - start_s <= two.client.timeout_s + 1
        for each in (one, two):
            await each.stop()

    run_in_virtual_time(story())


def test_a_request_whose_attempts_fail_late_ends_in_time() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)))

        async def fail_late(_route: Route, _request: Message, timeout_s: float) -> None:
            await asyncio.sleep(min(timeout_s, 0.9 * REQUEST_S))
            raise ResponseLost("lost on its way back")

        began_s = asyncio.get_running_loop().time()
        with patch.object(Route, "request", fail_late), pytest.raises(BrokerError):
            await two.client.ask(AllocateProducerIdsRequest(2, two.membership.broker_epoch))
        assert asyncio.get_running_loop().time() - began_s < 1.1 * REQUEST_S
        await check(one, two)

    run_in_virtual_time(story())


def test_attempts_after_an_election_have_pauses_between_them() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)))
        attempts = 0

        async def fail(_route: Route, _request: Message, _timeout_s: float) -> None:
            nonlocal attempts
            attempts += 1
            if attempts in (3, 7):
                two.client._note_moved()
            assert attempts < 100 * REQUEST_S
            raise ResponseLost("lost on its way back")

        with patch.object(Route, "request", fail), pytest.raises(BrokerError):
            await two.client.ask(AllocateProducerIdsRequest(2, two.membership.broker_epoch))
        assert attempts > 7
        await check(one, two)

    run_in_virtual_time(story())


def test_a_request_to_a_controller_that_hangs_is_repeated_at_the_next_one() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)))
        one.network.hanging.add(1)
        asking = asyncio.ensure_future(two.client.ask(two.request))
        await asyncio.sleep(0.1)
        assert not asking.done()
        one.service.lose_connection(100 * SESSION_S)  # its session expires before the request does
        assert (await asking).broker_epoch == two.membership.broker_epoch
        for each in (one, two):
            await each.stop()

    run_in_virtual_time(story())


def test_the_znode_of_the_successor_of_an_ended_process_is_kept() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)))
        await two.stop(is_killed=True)
        ended = WatchedBroker(2, two.request.incarnation_id, "host2", 9092)
        await remove_ended(one.service, ended)
        assert broker_path(2) not in one.ensemble.tree
        successor = ControlPlane(one.ensemble, one.network, 2)
        await successor.start()
        await successor.join()
        transactions = len(one.ensemble.transactions)
        await one.service.sync()
        await remove_ended(one.service, ended)
        assert len(one.ensemble.transactions) == transactions
        await check(one, successor)

    run_in_virtual_time(story())


def test_a_controller_that_is_started_again_is_not_deposed() -> None:
    async def story() -> None:
        one, two = await started(Ensemble(Random(1)))
        await one.stop(is_killed=True)
        ended = WatchedBroker(1, one.request.incarnation_id, "host1", 9092)
        await remove_ended(two.service, ended)
        successor = ControlPlane(two.ensemble, two.network, 1)
        await successor.start()
        await successor.join()
        while not successor.controller.is_active:
            await two.stop()
            two = ControlPlane(successor.ensemble, successor.network, 2)
            await two.start()
            await two.join()
        transactions = len(two.ensemble.transactions)
        await two.service.sync()
        await remove_ended(two.service, ended)
        assert len(two.ensemble.transactions) == transactions
        await check(successor, two)

    run_in_virtual_time(story())
