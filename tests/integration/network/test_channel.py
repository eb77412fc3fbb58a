"""The channel between brokers, against a real broker and against peers that misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from socket import SO_RCVBUF, SOL_SOCKET

import pytest

from ottla.network.channel.channel import Channel, Channels, ChannelSettings
from ottla.network.channel.errors import (
    BrokerUnreachable,
    ConnectionRefused,
    ResponseLost,
    UnsupportedRequest,
)
from ottla.protocol.messages.alter_partition_request import AlterPartitionRequest
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.testing.broker import RunningBroker

SETTINGS = ChannelSettings("test", "1", connect_timeout_s=20, frame_bytes_max=1 << 20)
LONG_S = 60.0


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    with RunningBroker() as running:
        yield running


def channel_to(broker: RunningBroker) -> Channel:
    host, _, port = broker.bootstrap_servers.rpartition(":")
    return Channel(host, int(port), SETTINGS)


@pytest.mark.parametrize("size", [None, 300_000])
def test_a_receive_buffer_has_the_size_that_is_set(broker: RunningBroker, size: int | None) -> None:
    """Linux reserves twice as much, for its own structures."""

    async def story() -> None:
        host, _, port = broker.bootstrap_servers.rpartition(":")
        channel = Channel(host, int(port), replace(SETTINGS, receive_buffer_bytes=size))
        await channel.request(MetadataRequest([]), LONG_S)
        assert channel._connection is not None
        assert channel._connection._transport is not None
        connected = channel._connection._transport.get_extra_info("socket")
        found = connected.getsockopt(SOL_SOCKET, SO_RCVBUF)
        channel.close()
        assert (found == 600_000) is (size is not None)

    run(story)


def run(story: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await asyncio.wait_for(story(), 300)

    asyncio.run(whole())


def test_requests_that_are_sent_together_get_their_own_responses(broker: RunningBroker) -> None:
    async def story() -> None:
        channel = channel_to(broker)
        names = [f"topic-{number}" for number in range(100)]
        request = CreateTopicsRequest([CreatableTopic(name, 1, 1) for name in names])
        await channel.request(request, LONG_S)
        asking = [
            channel.request(MetadataRequest([MetadataRequestTopic(name=name)]), LONG_S)
            for name in names
        ]
        responses = await asyncio.gather(*asking)
        assert [each.topics[0].name for each in responses] == names
        channel.close()

    run(story)


def test_a_broker_that_ends_is_noticed_and_connected_again(broker: RunningBroker) -> None:
    async def story() -> None:
        channel = channel_to(broker)
        await channel.request(MetadataRequest([]), LONG_S)
        broker.pause()
        waiting = asyncio.ensure_future(channel.request(MetadataRequest([]), LONG_S))
        await asyncio.sleep(0.05)
        broker.kill()
        with pytest.raises(ResponseLost):
            await waiting
        with pytest.raises(ConnectionRefused, match="nothing listens there"):
            await channel.request(MetadataRequest([]), LONG_S)
        with pytest.raises(ConnectionRefused):  # at once: it is too early for another attempt
            await channel.request(MetadataRequest([]), LONG_S)
        await asyncio.to_thread(broker.start)
        await asyncio.sleep(0.6)
        response = await channel.request(MetadataRequest([]), LONG_S)
        assert response.cluster_id
        channel.close()

    run(story)


def test_a_broker_that_does_not_answer_is_given_up(broker: RunningBroker) -> None:
    async def story() -> None:
        channel = channel_to(broker)
        await channel.request(MetadataRequest([]), LONG_S)
        broker.pause()
        with pytest.raises(ResponseLost, match=r"no response to METADATA within 0\.2 s"):
            await channel.request(MetadataRequest([]), 0.2)
        broker.resume()
        await channel.request(MetadataRequest([]), LONG_S)
        channel.close()
        with pytest.raises(BrokerUnreachable, match="the channel is closed"):
            await channel.request(MetadataRequest([]), LONG_S)

    run(story)


def test_what_the_other_broker_does_not_offer_is_not_sent(broker: RunningBroker) -> None:
    async def story() -> None:
        channel = channel_to(broker)
        with pytest.raises(UnsupportedRequest, match="ALTER_PARTITION"):
            await channel.request(AlterPartitionRequest(1, 1, []), LONG_S)
        channel.close()

    run(story)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"", "the peer closed the connection"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "a response cannot be decoded: a frame of"),
        (b"\x00\x00\x00\x04\x00\x00\x00\x63", "it answers request 99, which was not sent"),
        (b"\x00\x00\x00\x04\x00\x00\x00\x01", "a response cannot be decoded"),
        (b"\x00\x00\x00\x02\x00\x01", "a response cannot be decoded"),
    ],
)
def test_a_peer_that_is_no_broker_is_refused(sent: bytes, message: str) -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _reader.read(4)
        writer.write(sent)
        await writer.drain()
        writer.close()

    async def story() -> None:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            channel = Channel("127.0.0.1", port, SETTINGS)
            with pytest.raises(BrokerUnreachable, match=message):
                await channel.request(MetadataRequest([]), LONG_S)
            channel.close()

    run(story)


def test_a_broker_that_has_moved_is_found_at_its_new_address(broker: RunningBroker) -> None:
    async def story() -> None:
        host, _, port = broker.bootstrap_servers.rpartition(":")
        addresses: dict[int, tuple[str, int]] = {1: ("127.0.0.1", 1)}
        channels = Channels(addresses.get, SETTINGS)
        with pytest.raises(ConnectionRefused):
            await channels.to(1).request(MetadataRequest([]), LONG_S)
        with pytest.raises(BrokerUnreachable, match="broker 2 is not registered"):
            channels.to(2)
        addresses[1] = (host, int(port))
        await channels.to(1).request(MetadataRequest([]), LONG_S)
        assert channels.to(1) is channels.to(1)
        channels.close()

    run(story)
