"""Detects that the process of another broker has ended, before its session expires.

The controller has a connection to every other broker, and every broker one to the controller;
nothing is sent on them. When a process ends, the operating system closes its connections and
refuses new ones. Removing the znodes of such a broker lets the cluster continue at once. A broker
whose machine or network has failed is noticed when its session expires.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from ottla.metadata.zookeeper.election import depose
from ottla.metadata.zookeeper.membership import read_member, remove_member
from ottla.metadata.zookeeper.service import ZnodeRefused, ZooKeeperService

log = logging.getLogger(__name__)

RETRY_S = 0.05
CONNECT_TIMEOUT_S = 5.0


class WatchedBroker(NamedTuple):
    broker_id: int
    incarnation_id: bytes
    host: str
    port: int


class Liveness:
    def __init__(
        self,
        watched: Callable[[], list[WatchedBroker]],
        ended: Callable[[WatchedBroker], Awaitable[None]],
    ) -> None:
        self._watched = watched
        self._ended = ended
        self._changed = asyncio.Event()

    def check(self) -> None:
        """Call this when the result of `watched` may have changed."""
        self._changed.set()

    async def run(self) -> None:
        probes: dict[WatchedBroker, asyncio.Task[None]] = {}
        try:
            while True:
                self._changed.clear()
                wanted = self._watched()
                for broker in [each for each in probes if each not in wanted]:
                    probes.pop(broker).cancel()
                for broker in [each for each in wanted if each not in probes]:
                    name = f"watch broker {broker.broker_id}"
                    probes[broker] = asyncio.create_task(self._watch(broker), name=name)
                await self._changed.wait()
        finally:
            for probe in probes.values():
                probe.cancel()

    async def _watch(self, broker: WatchedBroker) -> None:
        while True:
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    reader, writer = await asyncio.open_connection(broker.host, broker.port)
            except ConnectionRefusedError:
                log.warning("the process of broker %d has ended", broker.broker_id)
                await self._ended(broker)
            except OSError:  # TimeoutError is one
                pass
            else:
                try:
                    with suppress(OSError):
                        await reader.read()
                finally:
                    writer.close()
                continue  # at once: a refused connection means that the process has ended
            await asyncio.sleep(RETRY_S)


async def remove_ended(service: ZooKeeperService, broker: WatchedBroker) -> None:
    """Remove the znodes of a broker whose process has ended, unless it was started again."""
    try:
        member = await read_member(service, broker.broker_id)
        if member is not None and member.incarnation_id != broker.incarnation_id:
            return
        if member is not None:
            await remove_member(service, member)
        await depose(service, broker.broker_id)
    except ZnodeRefused as error:  # its session expires later
        log.warning("the znodes of broker %d are not removed: %s", broker.broker_id, error)
