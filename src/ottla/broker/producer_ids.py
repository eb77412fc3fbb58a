"""Producer ids for the producers that ask this broker: taken one by one from durable blocks.

Owns      what is left of the block that the controller gave to this broker.
Promises  no id is given twice, by this or any other broker: a block is in the metadata log before
          its first id is given, and a broker that starts again begins with a new one. Those who
          come while there is no block wait for the same allocation.
Leaves    asking the controller to `allocate`, which is handed in.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from ottla.base.ids import ProducerId
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)


class Block(NamedTuple):
    """Ids from `start` up to, and not including, `end`."""

    start: int
    end: int


class ProducerIds:
    def __init__(self, allocate: Callable[[], Awaitable[Block]], tasks: OwnedTasks) -> None:
        self._allocate = allocate
        self._tasks = tasks
        self._left = Block(0, 0)
        self._allocating: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Until `take` has an id to give, if nothing else is awaited in between."""
        while self._left.start == self._left.end:
            if self._allocating is None or self._allocating.done():
                self._allocating = asyncio.create_task(self._renew(), name="producer ids")
                self._tasks.own(self._allocating)
            # A caller that is cancelled does not cancel it for the others.
            await asyncio.shield(self._allocating)

    def take(self) -> ProducerId:
        """The next id; only after `ready`."""
        start, end = self._left
        assert start < end, "no producer id is available"
        self._left = Block(start + 1, end)
        return ProducerId(start)

    async def _renew(self) -> None:
        try:
            self._left = await self._allocate()
        except BrokerError as error:
            log.warning("no producer ids from the controller: %s", error)
            # A producer tries again on this; others it would take for final.
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, str(error)) from error
