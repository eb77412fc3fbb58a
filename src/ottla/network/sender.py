"""Sends the responses of one connection: bytes by the transport, files by `sendfile`.

Owns      the queue of what the transport does not have yet, and a duplicate of the socket for
          `sendfile`.
Promises  segments are sent in order, and neighbouring small ones together. A range of a file is
          not read before the socket has room for it. If it cannot be sent in full, the connection
          is closed: its length was already sent.
Leaves    bounds and deadlines to `connection.py`, which reads `unsent_bytes`.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor

from ottla.network.counters import NetworkCounters
from ottla.network.file_send import FileSend, FileShrunk
from ottla.network.request_server import Bytes, FrameSegment, memory_bytes
from ottla.storage.files.file_range import FileRange

# Below this, reading a range and joining it with its neighbours costs less than the calls around
# `sendfile` (measured: 27 to 35 us for 64 KiB, 38 to 42 us for 128 KiB, 350 to 143 us for 1 MB).
SENDFILE_BYTES_MIN = 128 * 1024
READ_BYTES_MAX = 64 * 1024  # read at a time: malloc maps larger buffers, page by page
GATHER_BYTES = 128 * 1024  # of small segments, written at a time
WRITE_BYTES_MAX = 1024 * 1024  # of a large segment

_EXHAUSTED = (errno.EMFILE, errno.ENFILE)  # no descriptor is left


class Sender:
    __slots__ = (
        "_counters",
        "_cut_bytes",
        "_cut_rest",
        "_executor",
        "_failed",
        "_file_send",
        "_is_closed",
        "_loop",
        "_progressed",
        "_queue",
        "_range_bytes",
        "_sends_files",
        "_socket",
        "_taken_bytes",
        "_transport",
        "_transport_bytes",
        "is_blocked",
        "queued_bytes",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: asyncio.Transport,
        executor: Executor | None,
        counters: NetworkCounters,
        progressed: Callable[[], None],
        failed: Callable[[OSError], None],
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._executor = executor
        self._counters = counters
        self._progressed = progressed  # called from the event loop, never from within `flush`
        self._failed = failed
        self._queue: deque[FrameSegment] = deque()
        self.queued_bytes = 0
        self._range_bytes = 0  # of the queued bytes, in files
        self._transport_bytes = 0  # written to the transport, and not all sent
        self._cut_bytes = 0  # written of a large segment, and not all sent
        self._cut_rest: memoryview | None = (
            None  # the rest of that segment, at the front of the queue
        )
        self._taken_bytes = 0  # from the queue, since the connection was opened
        self.is_blocked = False  # by unsent bytes in the transport, or by a file that is being sent
        self._is_closed = False
        self._file_send: FileSend | None = None
        self._socket: socket.socket | None = None
        # TLS encrypts in the process; a simulated network has no socket.
        self._sends_files = (
            transport.get_extra_info("sslcontext") is None
            and transport.get_extra_info("socket") is not None
        )
        transport.set_write_buffer_limits(0)  # so `resume_writing` means that all is sent

    @property
    def unsent_bytes(self) -> int:
        if not self.is_blocked:
            return self.queued_bytes
        return self.queued_bytes + self._transport.get_write_buffer_size()

    @property
    def memory_bytes(self) -> int:
        """The memory of unsent responses. A segment counts in full until all of it is sent: its
        rest refers to the whole buffer."""
        kept_bytes = max(self._transport_bytes, self._cut_bytes)
        return self.queued_bytes - self._range_bytes + kept_bytes

    @property
    def added_bytes(self) -> int:
        """Since the connection was opened."""
        return self._taken_bytes + self.queued_bytes

    @property
    def sent_bytes(self) -> int:
        """Since the connection was opened: while it grows, the client reads."""
        return self.added_bytes - self.unsent_bytes

    @property
    def is_all_written(self) -> bool:
        """Whether the rest, if any, is in the transport, which sends it before it closes."""
        return not self._queue and self._file_send is None and not self.queued_bytes

    def add(self, segments: list[FrameSegment]) -> None:
        if self._is_closed:
            return
        first = segments[0]
        if len(segments) == 1 and type(first) is not FileRange:  # the usual case
            size = len(first)
            self._queue.append(first)
        else:
            size = sum(map(len, segments))
            self._range_bytes += size - memory_bytes(segments)
            self._queue.extend(segments)
        self.queued_bytes += size

    def flush(self) -> None:
        """Send as much as the socket takes."""
        queue = self._queue
        try:
            while queue and not self.is_blocked:
                if self.queued_bytes <= GATHER_BYTES and FileRange not in map(type, queue):
                    # the usual case: small responses
                    parts: list[Bytes] = list(queue)  # type: ignore[arg-type]  # no range
                    queue.clear()
                    self._write(parts, self.queued_bytes)
                    return
                parts = self._gather()
                if not parts:
                    self._begin_file(queue[0])
                elif queue and self._uses_sendfile(queue[0]):
                    self._write_before_file(parts)
                else:
                    self._write(parts, sum(map(len, parts)))
        except OSError as error:
            self._fail(error)

    def transport_is_empty(self) -> None:
        """Called by `resume_writing`."""
        if self._file_send is None:
            self.is_blocked = False
        self._all_is_sent()

    def _all_is_sent(self) -> None:
        """All that was written to the transport is sent."""
        self._transport_bytes = 0
        if self._cut_bytes and not (self._queue and self._queue[0] is self._cut_rest):
            self._cut_bytes, self._cut_rest = 0, None

    def close(self) -> None:
        self._is_closed = True
        self._queue.clear()
        self.queued_bytes = self._range_bytes = self._transport_bytes = self._cut_bytes = 0
        self._cut_rest = None
        if self._file_send is not None:
            self._file_send.close()
            self._file_send = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _take(self, size: int) -> None:
        """Count queued bytes that are sent, or written to the transport."""
        self.queued_bytes -= size
        self._taken_bytes += size
        self._counters.bytes_out += size

    def _write(self, parts: list[Bytes], size: int) -> None:
        self.queued_bytes -= size  # as in `_take`, for speed
        self._taken_bytes += size
        self._counters.bytes_out += size
        transport = self._transport
        if len(parts) == 1:
            transport.write(parts[0])
        else:
            transport.writelines(parts)
        if transport.get_write_buffer_size():
            self.is_blocked = True
            self._transport_bytes = size
        elif self._cut_bytes:
            self._all_is_sent()

    def _write_before_file(self, parts: list[Bytes]) -> None:
        """Bytes that are sent in one packet with the beginning of a file: alone they would wake the
        client."""
        size = sum(map(len, parts))
        try:
            sent = self._file_socket().sendmsg(parts, (), socket.MSG_MORE)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            if error.errno not in _EXHAUSTED:
                raise
            sent = 0
        self._take(sent)
        if sent < size:
            self._write([memoryview(b"".join(parts))[sent:]], size - sent)

    def _uses_sendfile(self, segment: FrameSegment) -> bool:
        return (
            self._sends_files
            and isinstance(segment, FileRange)
            and len(segment) >= SENDFILE_BYTES_MIN
        )

    def _gather(self) -> list[Bytes]:
        """Take the segments that can be written now from the front of the queue; none if it begins
        with a file that is sent by `sendfile` or must be read from the disk."""
        parts: list[Bytes] = []
        size, queue = 0, self._queue
        while queue and size < GATHER_BYTES:
            segment = queue[0]
            if isinstance(segment, FileRange):
                data = self._read_segment(segment)
                if data is None:
                    break
                parts.append(data)
                size += len(data)
            elif len(segment) > GATHER_BYTES:
                if not parts:  # joining would copy it
                    parts.append(self._cut_off(segment))
                break
            else:
                queue.popleft()
                parts.append(segment)
                size += len(segment)
        return parts

    def _cut_off(self, segment: Bytes) -> Bytes:
        """Take the beginning of a large segment: the transport may copy what it cannot send."""
        view = memoryview(segment)
        if len(view) > WRITE_BYTES_MAX:
            self._queue[0] = self._cut_rest = view[WRITE_BYTES_MAX:]
        else:
            self._queue.popleft()
        first = view[:WRITE_BYTES_MAX]
        self._cut_bytes += len(first)
        return first

    def _read_segment(self, segment: FileRange) -> bytes | None:
        """The bytes of a small range, or the first ones of a range that `sendfile` cannot send.

        None if it is sent by `sendfile`, or must be read from the disk first.
        """
        if self._uses_sendfile(segment):
            return None
        size = min(segment.size, READ_BYTES_MAX)
        data = segment.file.read_cached(segment.position, size)
        if data is not None:
            self._shorten(segment, size, data)
        return data

    def _shorten(self, segment: FileRange, size: int, data: bytes) -> None:
        """Remove what was read from the front of the queue."""
        if len(data) != size:
            raise FileShrunk(errno.EIO, f"{len(data)} of {size} bytes are left", str(segment))
        self._range_bytes -= size
        if size == segment.size:
            self._queue.popleft()
        else:
            self._queue[0] = FileRange(segment.file, segment.position + size, segment.size - size)

    def _begin_file(self, segment: FrameSegment) -> None:
        """The queue begins with a range that is large, or not in the page cache."""
        assert isinstance(segment, FileRange)
        if not self._uses_sendfile(segment):
            self._fetch(segment)
            return
        try:
            file_send = self._file_send_of(segment)
        except OSError as error:
            if error.errno in _EXHAUSTED:
                self._fetch(segment)  # which needs no further descriptor
                return
            if error.errno != errno.EOPNOTSUPP:
                raise
            self._sends_files = False  # files in memory have no descriptor
            return
        self._queue.popleft()
        if not file_send.begin():
            self.is_blocked = True
            self._file_send = file_send

    def _file_send_of(self, segment: FileRange) -> FileSend:
        descriptor = self._file_socket().fileno()
        return FileSend(
            self._loop, self._executor, descriptor, segment, self._sent_of_file, self._file_is_sent
        )

    def _file_socket(self) -> socket.socket:
        """A duplicate: event loops allow no other use of a transport's socket."""
        if self._socket is None:
            its = self._transport.get_extra_info("socket")
            self._socket = socket.socket(its.family, its.type, its.proto, os.dup(its.fileno()))
        return self._socket

    def _sent_of_file(self, count: int) -> None:
        self._take(count)
        self._range_bytes -= count
        self._counters.file_bytes_out += count

    def _file_is_sent(self, error: OSError | None) -> None:
        assert self._file_send is not None
        self._counters.cold_reads += self._file_send.cold_reads
        self._file_send = None
        if error is not None:
            self._fail(error)
            return
        self.is_blocked = False
        self._progressed()

    def _fetch(self, segment: FileRange) -> None:
        """Read in a thread what would block the event loop; continue when it is read."""
        size = min(segment.size, READ_BYTES_MAX)
        self.is_blocked = True
        self._counters.cold_reads += 1
        reading = self._loop.run_in_executor(
            self._executor, segment.file.read_at, segment.position, size
        )
        reading.add_done_callback(lambda done: self._fetched(segment, size, done))

    def _fetched(self, segment: FileRange, size: int, done: asyncio.Future[bytes]) -> None:
        error = None if done.cancelled() else done.exception()
        if self._is_closed or done.cancelled():
            return
        try:
            if error is not None:
                raise error
            data = done.result()
            self._shorten(segment, size, data)
        except OSError as failure:
            self._fail(failure)
            return
        self._queue.appendleft(data)
        self.is_blocked = False
        self._progressed()

    def _fail(self, error: OSError) -> None:
        self._is_closed = True
        self._failed(error)
