"""The interface between the network and the server of requests.

A request of a connection begins when the one before it has taken effect. So a server returns one of
three results:

Answer          the request is done, and this is its response
AwaitingAnswer  it has taken effect and waits for its response; the next request may begin (a fetch
                without data, a produce that waits for replicas, a member that joins a group)
TakingEffect    it has not taken effect yet, or a thread encodes its large response; the next
                request begins when this is done. Its result may be an `AwaitingAnswer`

An `Answer` is an encoded frame; a response is the message that it contains.

Responses are sent in the order of the requests, in whatever order they become ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ottla.storage.files.file_range import FileRange

if TYPE_CHECKING:
    from ottla.network.connection import Connection

Bytes: TypeAlias = bytes | bytearray | memoryview
FrameSegment: TypeAlias = Bytes | FileRange


def memory_bytes(segments: list[FrameSegment]) -> int:
    """The bytes of the segments in memory: ranges of files take none."""
    return sum([len(each) for each in segments if type(each) is not FileRange])


class Answer:
    """A response: a frame in segments, which must not change any more; or no frame (acks=0)."""

    __slots__ = ("is_last", "segments", "throttle_ms")

    def __init__(
        self, segments: list[FrameSegment], throttle_ms: int = 0, *, is_last: bool = False
    ) -> None:
        self.segments = segments
        self.throttle_ms = throttle_ms  # the client is not read for this long after the response
        self.is_last = is_last  # the connection is closed after it


class PendingAnswer:
    """An answer that comes with a callback: it costs neither a task nor a future.

    A caller with a task may await it instead.
    """

    __slots__ = ()

    def begin(
        self, done: Callable[[Answer], None], failed: Callable[[BaseException], None]
    ) -> None:
        """Call one of them once, from the event loop, unless it is cancelled before."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Release what it holds, whether it has begun or not. Neither callback is called then."""
        raise NotImplementedError

    def __await__(self) -> Generator[Any, None, Answer]:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.begin(future.set_result, future.set_exception)
        try:
            return (yield from future)
        finally:
            self.cancel()


class AwaitingAnswer:
    """The request has taken effect. Cancelled when its client disconnects."""

    __slots__ = ("answer",)

    def __init__(self, answer: Awaitable[Answer] | PendingAnswer) -> None:
        self.answer = answer


class TakingEffect:
    """The request has not taken effect yet. Runs to its end even when its client disconnects: it
    must not stop half-way."""

    __slots__ = ("answer",)

    def __init__(self, answer: Awaitable[Served]) -> None:
        self.answer = answer


Served: TypeAlias = "Answer | AwaitingAnswer | TakingEffect"


class RequestServer(Protocol):
    """Called in the event loop, and must not block it."""

    def opened(self, connection: Connection) -> None: ...

    def serve(self, frame: memoryview, connection: Connection) -> Served:
        """Begin a request. `MalformedMessage`, here or from the awaitable, closes the connection.

        The frame belongs to the server: it may be kept, and changed in place.
        """

    def closed(self, connection: Connection) -> None:
        """Called once for every `opened`."""
