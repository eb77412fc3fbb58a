"""The end of another broker's process is noticed by its port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ottla.broker.control.liveness import Liveness, WatchedBroker

HOST = "127.0.0.1"
PATIENCE_S = 30.0


class Peer:
    """A broker that listens, and the connections to it."""

    def __init__(self) -> None:
        self.writers: list[asyncio.StreamWriter] = []
        self.changed = asyncio.Event()
        self.closed = asyncio.Event()  # by the other side

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, HOST, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        self.changed.set()
        await reader.read()
        self.closed.set()

    def end(self) -> None:
        """As the operating system does when the process ends."""
        self._server.close()
        for each in self.writers:
            each.close()


def run(story: Callable[[Peer], Awaitable[None]]) -> None:
    async def whole() -> None:
        peer = Peer()
        await peer.start()
        async with asyncio.timeout(PATIENCE_S):
            await story(peer)
        peer.end()

    asyncio.run(whole())


def test_a_process_that_ends_is_reported_until_it_is_not_watched_any_more() -> None:
    async def story(peer: Peer) -> None:
        broker = WatchedBroker(2, b"i" * 16, HOST, peer.port)
        watched, ended, enough = [broker], [], asyncio.Event()

        async def note(found: WatchedBroker) -> None:
            ended.append(found)
            if len(ended) == 2:
                enough.set()

        liveness = Liveness(lambda: list(watched), note)
        running = asyncio.ensure_future(liveness.run())
        await peer.changed.wait()
        assert not ended
        peer.end()
        await enough.wait()
        assert set(ended) == {broker}
        watched.clear()
        liveness.check()
        await asyncio.sleep(0.2)
        count = len(ended)
        await asyncio.sleep(0.2)
        assert len(ended) == count
        running.cancel()
        await asyncio.wait([running])

    run(story)


def test_the_connection_to_a_broker_that_is_not_watched_any_more_is_closed() -> None:
    async def story(peer: Peer) -> None:
        watched = [WatchedBroker(2, b"i" * 16, HOST, peer.port)]

        async def note(_found: WatchedBroker) -> None:
            raise AssertionError("it lives")

        liveness = Liveness(lambda: list(watched), note)
        running = asyncio.ensure_future(liveness.run())
        await peer.changed.wait()
        watched.clear()
        liveness.check()
        await peer.closed.wait()
        running.cancel()
        await asyncio.wait([running])

    run(story)
