"""A response that comes with a callback, and the answer that it becomes.

Promises  waiting costs neither a task nor a future. A client that disconnects cancels the wait.
Leaves    large responses, which threads encode, to `dispatch.py`: they are awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any

from ottla.network.request_server import Answer, PendingAnswer
from ottla.protocol.message import Message

Done = Callable[[Message | None, Exception | None], None]  # the response, or why there is none


class PendingResponse:
    """Returned by a plain handler whose request has taken effect. It may be awaited instead."""

    __slots__ = ()

    def begin(self, done: Done) -> None:
        """Call `done` once, in its own iteration of the event loop, unless it is cancelled."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Release what it waits for, whether it has begun or not."""
        raise NotImplementedError

    def __await__(self) -> Generator[Any, None, Message | None]:
        future: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()

        def done(response: Message | None, error: Exception | None) -> None:
            if error is None:
                future.set_result(response)
            else:
                future.set_exception(error)

        self.begin(done)
        try:
            return (yield from future)
        finally:
            self.cancel()


class EncodedLater(PendingAnswer):
    """The answer that a pending response becomes."""

    __slots__ = ("_done", "_encode", "_failed", "_response")

    def __init__(
        self,
        response: PendingResponse,
        encode: Callable[[Message | None, Exception | None], Answer],
    ) -> None:
        self._response = response
        self._encode = encode
        self._done: Callable[[Answer], None] | None = None
        self._failed: Callable[[BaseException], None] | None = None

    def begin(
        self, done: Callable[[Answer], None], failed: Callable[[BaseException], None]
    ) -> None:
        self._done, self._failed = done, failed
        self._response.begin(self._responded)

    def cancel(self) -> None:
        self._done = self._failed = None
        self._response.cancel()

    def _responded(self, response: Message | None, error: Exception | None) -> None:
        done, failed = self._done, self._failed
        self._done = self._failed = None
        if done is None or failed is None:
            return
        try:
            answer = self._encode(response, error)
        except Exception as bug:
            failed(bug)
        else:
            done(answer)
