"""Deferred responses: connects waiting requests to the state machines."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Generic, TypeVar

from ottla.protocol.message import Message

R = TypeVar("R", bound=Message)


class WaitingReply(Generic[R]):
    """A `Reply` that a handler can return: the response if it exists, otherwise a future."""

    __slots__ = ("_future", "_response")

    def __init__(self) -> None:
        self._response: R | None = None
        self._future: asyncio.Future[R] | None = None

    def give(self, response: R) -> None:
        if self._response is not None:
            return
        self._response = response
        # The client may have disconnected.
        if self._future is not None and not self._future.done():
            self._future.set_result(response)

    def outcome(self) -> R | Awaitable[R]:
        if self._response is not None:
            return self._response
        self._future = asyncio.get_running_loop().create_future()
        return self._future
