"""A new topic waits for leaders on other brokers: not for long, nor for brokers that are away."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.scripted_peer import Received, ScriptedPeer

from ottla.broker import remote_leaders
from ottla.broker.remote_leaders import RemoteLeaders
from ottla.metadata.image import Image
from ottla.network.channel.channel import Channels, ChannelSettings
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

LONG_S = 60.0
HERE, THERE, GONE = 1, 2, 3
SETTINGS = ChannelSettings("test", "1", LONG_S, 1 << 20)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, LONG_S))


def image_of(leaders: Mapping[str, list[int]]) -> Image:
    topics = {
        name: SimpleNamespace(partitions=[SimpleNamespace(leader=each) for each in found])
        for name, found in leaders.items()
    }
    return cast(Image, SimpleNamespace(topic=topics.get))


def waiting_for(peer: ScriptedPeer, leaders: Mapping[str, list[int]]) -> RemoteLeaders:
    addresses = {THERE: ("127.0.0.1", peer.port)}
    channels = Channels(addresses.get, SETTINGS)
    return RemoteLeaders(HERE, image_of(leaders), channels, LONG_S)


def answer(received: Received, code: ErrorCode) -> None:
    topics = [
        OffsetForLeaderTopicResult(
            topic.topic, [EpochEndOffset(code, each.partition) for each in topic.partitions]
        )
        for topic in received.message.topics
    ]
    received.answer(OffsetForLeaderEpochResponse(topics=topics))


@pytest.mark.parametrize(
    "not_yet", [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER]
)
def test_another_leader_is_asked_until_it_leads(not_yet: ErrorCode) -> None:
    async def story() -> None:
        async with ScriptedPeer() as peer:
            waiting = asyncio.create_task(
                waiting_for(peer, {"a": [HERE, THERE, THERE], "b": [HERE]}).wait_for(["a", "b"])
            )
            for _ in range(3):
                received = await peer.received.get()
                (topic,) = received.message.topics
                assert (topic.topic, [each.partition for each in topic.partitions]) == ("a", [1, 2])
                assert not waiting.done()
                answer(received, not_yet)
            answer(await peer.received.get(), ErrorCode.NONE)
            await waiting

    run(story())


def test_no_broker_is_asked_about_partitions_that_are_led_here_or_have_no_leader() -> None:
    async def story() -> None:
        async with ScriptedPeer() as peer:
            await waiting_for(peer, {"a": [HERE, -1]}).wait_for(["a", "deleted"])
            assert peer.connections == 0

    run(story())


def test_other_errors_and_brokers_that_cannot_be_reached_end_the_wait() -> None:
    async def story() -> None:
        async with ScriptedPeer() as peer:
            waiting = asyncio.create_task(waiting_for(peer, {"a": [THERE, GONE]}).wait_for(["a"]))
            answer(await peer.received.get(), ErrorCode.KAFKA_STORAGE_ERROR)
            await waiting

    run(story())


def test_a_leader_that_does_not_answer_is_not_waited_for_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote_leaders, "WAIT_S", 0.01)

    async def story() -> None:
        async with ScriptedPeer() as peer:
            await waiting_for(peer, {"a": [THERE]}).wait_for(["a"])
            assert peer.ended.empty()  # others use this connection too

    run(story())
