"""The channel to a broker that is slow, moves, or has other versions than this one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.support.scripted_peer import ScriptedPeer

from ottla.network.channel.channel import RETRY_MAX_S, RETRY_S, Channel, Channels, ChannelSettings
from ottla.network.channel.errors import (
    BrokerUnreachable,
    ConnectionRefused,
    ResponseLost,
    UnsupportedRequest,
)
from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.protocol.messages.metadata_response import MetadataResponse

SETTINGS = ChannelSettings("test", "1", connect_timeout_s=120, frame_bytes_max=1 << 20)
LONG_S = 60.0
OURS = APIS[ApiKey.METADATA].versions


class MovableTimeLoop(asyncio.SelectorEventLoop):
    """Time passes by itself, and when it is moved."""

    ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self.ahead_s

    def move(self, seconds: float) -> None:
        self.ahead_s += seconds


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=MovableTimeLoop) as runner:
        runner.run(asyncio.wait_for(story(), LONG_S + 10 * RETRY_MAX_S))


def ask(channel: Channel, timeout_s: float = LONG_S) -> asyncio.Task[Any]:
    return asyncio.ensure_future(channel.request(MetadataRequest([]), timeout_s))


def named(cluster_id: str) -> MetadataResponse:
    return MetadataResponse(cluster_id=cluster_id)


def channel_to(peer: ScriptedPeer) -> Channel:
    return Channel("127.0.0.1", peer.port, SETTINGS)


def test_a_response_reaches_its_request_in_whatever_order_they_come() -> None:
    async def story() -> None:
        async with ScriptedPeer() as peer:
            channel = channel_to(peer)
            asking = [ask(channel) for _ in range(3)]
            received = [await peer.received.get() for _ in asking]
            for number in (2, 0, 1):
                received[number].answer(named(f"cluster-{number}"))
            answers = await asyncio.gather(*asking)
            assert [each.cluster_id for each in answers] == ["cluster-0", "cluster-1", "cluster-2"]
            channel.close()

    run(story)


def test_after_a_deadline_all_requests_fail_and_the_connection_is_closed() -> None:
    async def story() -> None:
        async with ScriptedPeer() as peer:
            channel = channel_to(peer)
            patient, hasty = ask(channel), ask(channel, 0.05)
            for request in (patient, hasty):
                with pytest.raises(ResponseLost, match=r"METADATA within 0\.05 s"):
                    await request
            await peer.ended.get()
            for _ in (patient, hasty):
                await peer.received.get()
            again = ask(channel)
            (await peer.received.get()).answer(named("again"))
            assert (await again).cluster_id == "again"
            assert peer.connections == 2
            channel.close()

    run(story)


@pytest.mark.parametrize(
    ("theirs", "sent"),
    [
        (range(0, OURS.stop + 5), OURS.stop - 1),
        (range(0, OURS.stop - 2), OURS.stop - 3),
        (range(OURS.stop, OURS.stop + 5), None),  # has dropped all of ours
        (range(0, OURS.start), None),  # has none of ours yet
    ],
)
def test_the_highest_common_version_is_sent(theirs: range, sent: int | None) -> None:
    async def story() -> None:
        async with ScriptedPeer({ApiKey.METADATA: theirs}) as peer:
            channel = channel_to(peer)
            asking = ask(channel)
            if sent is None:
                with pytest.raises(UnsupportedRequest, match="no version of METADATA"):
                    await asking
            else:
                received = await peer.received.get()
                assert received.version == sent
                received.answer(named("x"))
                await asking
            channel.close()

    run(story)


def test_a_request_that_is_given_up_does_not_stop_the_connection_for_others() -> None:
    async def story() -> None:
        async with ScriptedPeer() as peer:
            peer.is_ready.clear()
            channel = channel_to(peer)
            first, second = ask(channel), ask(channel)
            await asyncio.sleep(0)
            first.cancel()
            peer.is_ready.set()
            (await peer.received.get()).answer(named("x"))
            assert (await second).cluster_id == "x"
            assert peer.connections == 1
            channel.close()

    run(story)


@pytest.mark.parametrize("is_connected", [False, True], ids=["connecting", "connected"])
def test_requests_to_a_broker_that_moves_fail_and_its_old_connection_is_closed(
    is_connected: bool,
) -> None:
    """They are not cancelled: the tasks that wait for them are other people's."""

    async def story() -> None:
        async with ScriptedPeer() as old, ScriptedPeer() as new:
            addresses = {1: ("127.0.0.1", old.port)}
            channels = Channels(addresses.get, SETTINGS)
            if not is_connected:
                old.is_ready.clear()
            waiting = ask(channels.to(1))
            while old.connections == 0:
                await asyncio.sleep(0)
            if is_connected:
                await old.received.get()
            addresses[1] = ("127.0.0.1", new.port)
            after = ask(channels.to(1))
            with pytest.raises(ResponseLost if is_connected else BrokerUnreachable):
                await waiting
            (await new.received.get()).answer(named("new"))
            assert (await after).cluster_id == "new"
            old.is_ready.set()
            await old.ended.get()
            channels.close()

    run(story)


def test_a_request_that_is_cancelled_with_its_channel_is_cancelled() -> None:
    async def story() -> None:
        async with ScriptedPeer() as peer:
            peer.is_ready.clear()
            channel = channel_to(peer)
            waiting = ask(channel)
            await asyncio.sleep(0)
            waiting.cancel()
            channel.close()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            peer.is_ready.set()

    run(story)


def test_a_connection_that_was_made_ends_the_long_pauses_between_attempts() -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, MovableTimeLoop)
        async with ScriptedPeer() as peer:
            port = peer.port
        channel = Channel("127.0.0.1", port, SETTINGS)

        async def attempt() -> ConnectionRefused:
            with pytest.raises(ConnectionRefused) as caught:
                await ask(channel)
            return caught.value

        for _ in range(10):
            await attempt()
            loop.move(RETRY_MAX_S)
        async with ScriptedPeer(port=port) as peer:
            asking = ask(channel)
            (await peer.received.get()).answer(named("x"))
            await asking
            asking = ask(channel)
            await peer.received.get()
        with pytest.raises(ResponseLost):
            await asking
        first = await attempt()
        loop.move(RETRY_S)
        assert await attempt() is not first, "no attempt was made"
        channel.close()

    run(story)
