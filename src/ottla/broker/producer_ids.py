"""Assigns producer ids from durable blocks.

Owns      the rest of the block that the controller allocated to this broker.
Promises  no id is assigned twice, by this or any other broker: a block is in the metadata log
          before its first id is used, and a restarted broker allocates a new one. Requests that
          arrive without a block wait for the same allocation, and continue some at a time.
Leaves    allocating from the controller to `allocate`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from ottla.base.ids import ProducerId
from ottla.base.scheduling.gradual_event import GradualEvent
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
        self._allocating: GradualEvent | None = None

    async def ready(self) -> None:
        """Wait until `take` has an id, provided that nothing else is awaited in between."""
        while self._left.start == self._left.end:
            if self._allocating is None:
                self._allocating = GradualEvent()
                # Not a part of this caller: if that is cancelled, others still wait.
                self._tasks.start(self._renew(self._allocating), name="producer ids")
            await self._allocating.wait()

    def take(self) -> ProducerId:
        """The next id. Call only after `ready`."""
        start, end = self._left
        assert start < end, "no producer id is available"
        self._left = Block(start + 1, end)
        return ProducerId(start)

    async def _renew(self, allocating: GradualEvent) -> None:
        try:
            self._left = await self._allocate()
            allocating.set()
        except BrokerError as error:
            log.warning("no producer ids from the controller: %s", error)
            # Producers retry on this code; other codes are fatal.
            allocating.fail(BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, str(error)))
        except BaseException as error:
            allocating.fail(error)
            raise
        finally:
            self._allocating = None
