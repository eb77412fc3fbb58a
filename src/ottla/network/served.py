"""What the network needs from above: somebody who serves requests; and what comes of a request.

A request of a connection begins when the one before it has taken effect. So a server says which of
three things happened:

Answer    it is done, and this is what the client gets
Waiting   it has taken effect; only its answer is still to come, and the next request may begin
          (a fetch without data, a produce that waits for replicas, a member that joins a group)
Working   it has not taken effect yet; the next request begins when it has. What comes of it may be
          that it now only waits

Answers leave in the order of the requests, whatever the order in which they are ready.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ottla.storage.files.file_range import FileRange

if TYPE_CHECKING:
    from ottla.network.connection import Connection

Bytes: TypeAlias = bytes | bytearray | memoryview
Segment: TypeAlias = Bytes | FileRange


def memory_bytes(segments: list[Segment]) -> int:
    """What these take in memory: ranges of files do not."""
    return sum([len(each) for each in segments if type(each) is not FileRange])


class Answer:
    """A whole frame in pieces, which nobody changes from now on; or nothing at all (acks=0)."""

    __slots__ = ("is_last", "segments", "throttle_ms")

    def __init__(
        self, segments: list[Segment], throttle_ms: int = 0, *, is_last: bool = False
    ) -> None:
        self.segments = segments
        self.throttle_ms = throttle_ms  # the answer goes out; then nothing is read for so long
        self.is_last = is_last  # the connection is closed behind it


class Waiting:
    """Given up (cancelled) when its client leaves."""

    __slots__ = ("answer",)

    def __init__(self, answer: Awaitable[Answer]) -> None:
        self.answer = answer


class Working:
    """Runs to its end even when its client leaves: it may be in the middle of something."""

    __slots__ = ("answer",)

    def __init__(self, answer: Awaitable[Served]) -> None:
        self.answer = answer


Served: TypeAlias = "Answer | Waiting | Working"


class RequestServer(Protocol):
    """Called in the event loop, and must not block it."""

    def opened(self, connection: Connection) -> None: ...

    def serve(self, frame: memoryview, connection: Connection) -> Served:
        """Begin a request. `MalformedMessage`, here or from the awaitable, closes the connection.

        The frame belongs to the server: it may be kept, and changed in place.
        """

    def closed(self, connection: Connection) -> None:
        """Once for every `opened`."""
