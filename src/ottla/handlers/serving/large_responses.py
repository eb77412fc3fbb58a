"""Responses that take several slices to build: within bounds, and encoded in a thread.

Owns      the bound on the size of a response, and which are built now.
Promises  a response that grows beyond `bytes_max` is refused. A response waits until the broker's
          memory for responses has room, and then takes `LARGE_BYTES` of it; of those that grow
          beyond that, one is built or encoded at a time, so the memory is exceeded by one response
          at most. This is the only lock that a builder waits for. Requests that wait for either are
          served fairly by address (`network/address_queue.py`). The memory of a response counts
          until it is sent, or until its handler frees what it has built. Work whose client has
          disconnected ends at its next slice. What unfinished work has built is freed a few objects
          at a time.
Leaves    the estimate of the encoded size to the handler, which yields it, and closing the
          account of each request to the dispatcher.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ottla.base.scheduling.step_scheduler import StepScheduler, Work
from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.disposal import Disposal, pieces_of_values
from ottla.network.address_queue import FairLock
from ottla.network.addresses import network_of
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

if TYPE_CHECKING:
    from ottla.handlers.serving.context import Context

T = TypeVar("T")

LARGE_BYTES = 1024 * 1024
# Of a request with few items that is served without slices.
AT_ONCE_BYTES_MAX = 8 * 1024


class Memory(Protocol):
    """The memory of responses that are built or not sent yet, of all connections."""

    def change(self, count: int, /) -> None: ...

    async def reserve(self, count: int, address: str, /) -> None:
        """Return when there is room, with the bytes counted."""


class LargeResponses:
    def __init__(self, scheduler: StepScheduler, memory: Memory, bytes_max: int) -> None:
        self._scheduler = scheduler
        self._memory = memory
        self.bytes_max = bytes_max
        self._building = FairLock()
        self._disposal = Disposal()

    async def build(self, slices: Steps[T], context: Context) -> T:
        """The result of the slices, for a handler that builds its response in an awaitable."""
        work, is_done = self._scheduler.begin(slices)
        if is_done:
            check_size(work.grown, self.bytes_max)
            return work.result
        return await self.finish(work, context)

    async def finish(self, work: Work[T], context: Context) -> T:
        """The result of work that has begun. From here on the response is a large one."""
        context.is_large = True
        try:
            account = await self._account_of(context)
            before, is_done = account.size, False
            while not is_done:
                await account.grow_to(before + work.grown)
                if context.peer.is_disconnected:
                    raise asyncio.CancelledError
                is_done = await self._scheduler.advance(work)
                check_built(work, before + work.grown, self.bytes_max)
            await account.grow_to(before + work.grown)
            return work.result
        except BaseException as error:
            await self._dispose(work.end(error))
            raise
        finally:
            work.close()

    async def _dispose(self, values: list[object]) -> None:
        """Free what unfinished work refers to."""
        try:
            pieces = await self._scheduler.in_thread(partial(pieces_of_values, values))
        except RuntimeError:
            return  # threads are closed when the broker stops
        self._disposal.take(pieces)

    async def _account_of(self, context: Context) -> LargeResponseAccount:
        if context.account is None:
            address = network_of(context.peer.host)
            account = LargeResponseAccount(self._memory, self._building, address)
            await account.open()
            context.account = account
        return context.account


def close_account(context: Context) -> None:
    if context.account is not None:
        context.account.close()
        context.account = None


def may_build_at_once(context: Context) -> bool:
    """Whether the texts of a request are short enough: to find the coordinator of a long name takes
    a millisecond."""
    return context.request_bytes <= AT_ONCE_BYTES_MAX


def build_at_once(steps: Steps[T], context: Context) -> T:
    """For few items, which need no thread: the result, without a pause, within the same size."""
    grown = 0
    try:
        while True:
            step = next(steps)
            assert isinstance(step, int), "a job needs a driver"
            grown += step
    except StopIteration as end:
        check_size(grown, context.parts.large_responses.bytes_max)
        result: T = end.value
        return result


def check_built(work: Work[Any], response_bytes: int, bytes_max: int) -> None:
    """As `check_size`. An awaitable that the work has returned is not awaited then, but closed."""
    try:
        check_size(response_bytes, bytes_max)
    except BrokerError:
        result = getattr(work, "result", None)
        awaitable = getattr(result, "answer", result)  # of `Deferred`
        if isinstance(awaitable, Coroutine):
            awaitable.close()
        raise


def check_size(response_bytes: int, bytes_max: int) -> None:
    if response_bytes > bytes_max:
        what = f"The response would exceed {bytes_max} bytes: ask for less at a time."
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)


class LargeResponseAccount:
    """The memory of one response until it is passed to the network."""

    def __init__(self, memory: Memory, building: FairLock, address: str) -> None:
        self._memory = memory
        self._building = building
        self._address = address
        self._held_bytes = 0
        self._has_lock = False
        self.size = 0  # of the response so far

    async def open(self) -> None:
        await self._memory.reserve(LARGE_BYTES, self._address)
        self._held_bytes = LARGE_BYTES

    async def grow_to(self, size: int) -> None:
        self.size = size
        await self.advance()

    async def advance(self) -> None:
        """Called before more is built or encoded: a large response waits for the lock."""
        if self.size > LARGE_BYTES:
            if not self._has_lock:
                await self._building.acquire(self._address)
                self._has_lock = True
            self._hold(self.size)

    def pause(self) -> None:
        """The request waits for something: releases the lock to other large responses."""
        if self._has_lock:
            self._has_lock = False
            self._building.release()

    def close(self) -> None:
        self._hold(0)
        self.pause()

    def _hold(self, size: int) -> None:
        self._memory.change(size - self._held_bytes)
        self._held_bytes = size
