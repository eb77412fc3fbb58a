"""Sends the answers of one connection: bytes through the transport, files past it.

Owns      the queue of what is not handed over yet, and a duplicate of the socket for `sendfile`.
Promises  the pieces leave in order. Neighbouring small pieces leave together. What waits in the
          queue is not read from its file before the socket has room for it. A range of a file
          that cannot be sent in full ends the connection: its length was promised.
Leaves    bounds and deadlines to `connection.py`, which watches `unsent_bytes`.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import cast

from ottla.network.counters import NetworkCounters
from ottla.network.file_send import FileSend, FileShrunk
from ottla.network.served import Bytes, Segment, memory_bytes
from ottla.storage.files.file_range import FileRange

# Below this, reading a range and joining it with its neighbours costs less than the calls around
# `sendfile` (measured: 27 to 35 us for 64 KiB, 38 to 42 us for 128 KiB, 350 to 143 us for 1 MB).
SENDFILE_BYTES_MIN = 128 * 1024
READ_BYTES_MAX = 64 * 1024  # read at a time: larger buffers come from the kernel page by page
GATHER_BYTES = 128 * 1024  # of small pieces, handed over at a time
WRITE_BYTES_MAX = 1024 * 1024  # of a large one

_EXHAUSTED = (errno.EMFILE, errno.ENFILE)  # no descriptor is left


class Sender:
    __slots__ = (
        "_counters",
        "_cut_bytes",
        "_cut_rest",
        "_executor",
        "_failed",
        "_file_send",
        "_handed_bytes",
        "_is_blocked",
        "_is_closed",
        "_loop",
        "_progressed",
        "_queue",
        "_queued_bytes",
        "_range_bytes",
        "_sends_files",
        "_socket",
        "_transport",
        "added_bytes",
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
        self._progressed = progressed  # called from the loop, never from within `flush`
        self._failed = failed
        self._queue: deque[Segment] = deque()
        self._queued_bytes = 0
        self._range_bytes = 0  # of these, in files
        self._handed_bytes = 0  # to the transport, which has not sent all of them
        self._cut_bytes = 0  # handed over of a large piece, of which some is not sent
        self._cut_rest: memoryview | None = None  # what the queue begins with, if it is cut
        self.added_bytes = 0  # since the beginning
        self._is_blocked = False  # by unsent bytes in the transport, or by a file on its way
        self._is_closed = False
        self._file_send: FileSend | None = None
        self._socket: socket.socket | None = None
        # Under TLS the bytes must pass through the process; a simulated network has no socket.
        self._sends_files = (
            transport.get_extra_info("sslcontext") is None
            and transport.get_extra_info("socket") is not None
        )
        transport.set_write_buffer_limits(0)  # so that `resume_writing` means: all is sent

    @property
    def unsent_bytes(self) -> int:
        if not self._is_blocked:
            return self._queued_bytes
        return self._queued_bytes + self._transport.get_write_buffer_size()

    @property
    def memory_bytes(self) -> int:
        """What unsent responses keep in memory. A piece counts in full until all of it is sent:
        whoever has its end has its buffer."""
        kept_bytes = max(self._handed_bytes, self._cut_bytes)
        return self._queued_bytes - self._range_bytes + kept_bytes

    @property
    def sent_bytes(self) -> int:
        """How much has left since the beginning: while it grows, the client reads."""
        return self.added_bytes - self.unsent_bytes

    @property
    def is_handed_over(self) -> bool:
        """Whether everything is sent, or with the transport, which sends it before it closes."""
        return not self._queue and self._file_send is None and not self._queued_bytes

    def add(self, segments: list[Segment]) -> None:
        if self._is_closed:
            return
        size = _size_of(segments)
        if len(segments) > 1 or type(segments[0]) is FileRange:
            self._range_bytes += size - memory_bytes(segments)
        self._queue.extend(segments)
        self._queued_bytes += size
        self.added_bytes += size

    def flush(self) -> None:
        """Hand over as much as the socket takes."""
        queue = self._queue
        try:
            while queue and not self._is_blocked:
                if self._queued_bytes <= GATHER_BYTES and FileRange not in map(type, queue):
                    parts = cast(list[Bytes], list(queue))  # the usual case: small answers
                    queue.clear()
                else:
                    parts = self._gather()
                if not parts:
                    self._begin_file(queue[0])
                elif queue and self._goes_by_sendfile(queue[0]):
                    self._write_before_file(parts)
                else:
                    self._write(parts)
        except OSError as error:
            self._fail(error)

    def transport_is_empty(self) -> None:
        """From `resume_writing`."""
        if self._file_send is None:
            self._is_blocked = False
        self._all_is_sent()

    def _all_is_sent(self) -> None:
        """Of what was handed to the transport."""
        self._handed_bytes = 0
        if self._cut_bytes and not (self._queue and self._queue[0] is self._cut_rest):
            self._cut_bytes, self._cut_rest = 0, None

    def close(self) -> None:
        self._is_closed = True
        self._queue.clear()
        self._queued_bytes = self._range_bytes = self._handed_bytes = self._cut_bytes = 0
        self._cut_rest = None
        if self._file_send is not None:
            self._file_send.close()
            self._file_send = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _write(self, parts: list[Bytes]) -> None:
        size = _size_of(parts)
        self._queued_bytes -= size
        self._counters.bytes_out += size
        if len(parts) == 1:
            self._transport.write(parts[0])
        else:
            self._transport.writelines(parts)
        self._is_blocked = self._transport.get_write_buffer_size() > 0
        if self._is_blocked:
            self._handed_bytes = size
        elif self._cut_bytes:
            self._all_is_sent()

    def _write_before_file(self, parts: list[Bytes]) -> None:
        """What leaves together with the beginning of a file: alone it would wake the client."""
        size = _size_of(parts)
        try:
            sent = self._file_socket().sendmsg(parts, (), socket.MSG_MORE)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            if error.errno not in _EXHAUSTED:
                raise
            sent = 0
        self._queued_bytes -= sent
        self._counters.bytes_out += sent
        if sent < size:
            self._write([memoryview(b"".join(parts))[sent:]])

    def _goes_by_sendfile(self, piece: Segment) -> bool:
        return (
            self._sends_files and isinstance(piece, FileRange) and len(piece) >= SENDFILE_BYTES_MIN
        )

    def _gather(self) -> list[Bytes]:
        """Take the pieces that can go now from the front of the queue; none if a file must."""
        parts: list[Bytes] = []
        size, queue = 0, self._queue
        while queue and size < GATHER_BYTES:
            piece = queue[0]
            if isinstance(piece, FileRange):
                data = self._read_piece(piece)
                if data is None:
                    break
                parts.append(data)
                size += len(data)
            elif len(piece) > GATHER_BYTES:
                if not parts:  # joining would copy it
                    parts.append(self._cut_off(piece))
                break
            else:
                queue.popleft()
                parts.append(piece)
                size += len(piece)
        return parts

    def _cut_off(self, piece: Bytes) -> Bytes:
        """Take the beginning of a large piece: the transport may copy what it cannot send."""
        view = memoryview(piece)
        if len(view) > WRITE_BYTES_MAX:
            self._queue[0] = self._cut_rest = view[WRITE_BYTES_MAX:]
        else:
            self._queue.popleft()
        first = view[:WRITE_BYTES_MAX]
        self._cut_bytes += len(first)
        return first

    def _read_piece(self, piece: FileRange) -> bytes | None:
        """The bytes of a small range, or of the beginning of one that cannot go by `sendfile`.

        None if it goes by `sendfile`, or must first be fetched from the disk.
        """
        if self._goes_by_sendfile(piece):
            return None
        size = min(piece.size, READ_BYTES_MAX)
        data = piece.file.read_cached(piece.position, size)
        if data is not None:
            self._shorten(piece, size, data)
        return data

    def _shorten(self, piece: FileRange, size: int, data: bytes) -> None:
        """Take what was read off the front of the queue."""
        if len(data) != size:
            raise FileShrunk(errno.EIO, f"{len(data)} of {size} bytes are left", str(piece))
        self._range_bytes -= size
        if size == piece.size:
            self._queue.popleft()
        else:
            self._queue[0] = FileRange(piece.file, piece.position + size, piece.size - size)

    def _begin_file(self, piece: Segment) -> None:
        """The queue begins with a range that is large, or not in the page cache."""
        assert isinstance(piece, FileRange)
        if not self._goes_by_sendfile(piece):
            self._fetch(piece)
            return
        try:
            file_send = self._file_send_of(piece)
        except OSError as error:
            if error.errno in _EXHAUSTED:
                self._fetch(piece)  # which needs no further descriptor
                return
            if error.errno != errno.EOPNOTSUPP:
                raise
            self._sends_files = False  # files in memory have no descriptor
            return
        self._queue.popleft()
        if not file_send.begin():
            self._is_blocked = True
            self._file_send = file_send

    def _file_send_of(self, piece: FileRange) -> FileSend:
        descriptor = self._file_socket().fileno()
        return FileSend(
            self._loop, self._executor, descriptor, piece, self._sent_of_file, self._file_is_sent
        )

    def _file_socket(self) -> socket.socket:
        """A duplicate: the loop refuses to watch a transport's own socket, or to write to it."""
        if self._socket is None:
            its = self._transport.get_extra_info("socket")
            self._socket = socket.socket(its.family, its.type, its.proto, os.dup(its.fileno()))
        return self._socket

    def _sent_of_file(self, count: int) -> None:
        self._queued_bytes -= count
        self._range_bytes -= count
        self._counters.bytes_out += count
        self._counters.file_bytes_out += count

    def _file_is_sent(self, error: OSError | None) -> None:
        assert self._file_send is not None
        self._counters.cold_reads += self._file_send.cold_reads
        self._file_send = None
        if error is not None:
            self._fail(error)
            return
        self._is_blocked = False
        self._progressed()

    def _fetch(self, piece: FileRange) -> None:
        """Read in a thread what would make the event loop wait; go on when it is there."""
        size = min(piece.size, READ_BYTES_MAX)
        self._is_blocked = True
        self._counters.cold_reads += 1
        reading = self._loop.run_in_executor(
            self._executor, piece.file.read_at, piece.position, size
        )
        reading.add_done_callback(lambda done: self._fetched(piece, size, done))

    def _fetched(self, piece: FileRange, size: int, done: asyncio.Future[bytes]) -> None:
        error = None if done.cancelled() else done.exception()
        if self._is_closed or done.cancelled():
            return
        try:
            if error is not None:
                raise error
            data = done.result()
            self._shorten(piece, size, data)
        except OSError as failure:
            self._fail(failure)
            return
        self._queue.appendleft(data)
        self._is_blocked = False
        self._progressed()

    def _fail(self, error: OSError) -> None:
        self._is_closed = True
        self._failed(error)


def _size_of(pieces: Sequence[Segment]) -> int:
    return len(pieces[0]) if len(pieces) == 1 else sum(map(len, pieces))
