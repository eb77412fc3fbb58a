"""Sends one range of a file to a socket by `sendfile`.

Owns      a descriptor of the file until the end; the descriptor of the socket is the caller's.
Promises  the event loop is not blocked by the disk: a thread first reads parts that are not in the
          page cache. Exactly the bytes of the range are sent: a file that ends too early is an
          error, and so is an error of the disk.
Leaves    order to `sender.py`: nothing else may be written to the socket meanwhile.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from concurrent.futures import Executor

from ottla.storage.files.file_range import FileRange

WINDOW_BYTES = 1024 * 1024  # checked in the page cache, and read by a thread, at a time
ITERATION_BYTES = 1024 * 1024  # sent before the event loop serves other connections
# The page cache fills in such steps (the usual read-ahead), so one page of each is checked; if
# another page is missing nevertheless, `sendfile` waits for that read.
PROBE_BYTES = 128 * 1024
DISCARD_BYTES = 64 * 1024  # buffer for what is read for the page cache alone

_NOWAIT_UNSUPPORTED = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)

Finished = Callable[[OSError | None], None]


class FileShrunk(OSError):
    """The file ends before the range does: it was truncated while the range was being sent."""


class FileSend:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        executor: Executor | None,
        socket_descriptor: int,
        part: FileRange,
        sent: Callable[[int], None],
        finished: Finished,
    ) -> None:
        self._loop = loop
        self._executor = executor
        self._socket = socket_descriptor
        self._range = part
        self._sent = sent
        self._finished = finished
        self._file = part.descriptor()
        self._position = part.position
        self._end = part.position + part.size
        self._cached_end = part.position  # up to here the range is in the page cache
        self._is_writer = False
        self._is_reading = False
        self.cold_reads = 0

    def begin(self) -> bool:
        """True if all is sent. If not, `finished` is called later."""
        try:
            return self._step()
        except OSError:
            self.close()
            raise

    def _continue(self) -> None:
        try:
            is_sent = self._step()
        except OSError as error:
            self.close()
            self._finished(error)
            return
        if is_sent:
            self._finished(None)

    def _step(self) -> bool:
        """Send until the socket is full, the limit of an iteration is reached, the disk is needed,
        or all is sent."""
        iteration_end = self._position + ITERATION_BYTES
        while self._position < self._end:
            if self._position >= self._cached_end and not self._find_cached():
                return False
            if self._position >= iteration_end or not self._send_some():
                self._wait_for_socket()
                return False
        self.close()
        return True

    def close(self) -> None:
        """Stop. No callback is called after this."""
        if self._is_writer:
            self._loop.remove_writer(self._socket)
            self._is_writer = False
        if self._file >= 0 and not self._is_reading:  # else `_read` closes it after the thread
            os.close(self._file)
            self._file = -1
        self._end = -1

    def _send_some(self) -> bool:
        count = min(self._end, self._cached_end) - self._position
        try:
            sent = os.sendfile(self._socket, self._file, self._position, count)
        except BlockingIOError:
            return False
        if not sent:
            raise FileShrunk(errno.EIO, f"the file ends at {self._position}", str(self._range))
        self._position += sent
        self._sent(sent)
        return True

    def _wait_for_socket(self) -> None:
        if not self._is_writer:
            self._loop.add_writer(self._socket, self._continue)
            self._is_writer = True

    def _find_cached(self) -> bool:
        """Check the next window; False if a thread must read it, after which sending continues."""
        size = min(WINDOW_BYTES, self._end - self._position)
        if is_cached(self._file, self._position, size):
            self._cached_end = self._position + size
            return True
        if self._is_writer:
            self._loop.remove_writer(self._socket)
            self._is_writer = False
        self._is_reading = True
        self.cold_reads += 1
        reading = self._loop.run_in_executor(
            self._executor, read_into_cache, self._file, self._position, size
        )
        reading.add_done_callback(lambda done: self._read(done, size))
        return False

    def _read(self, done: asyncio.Future[None], size: int) -> None:
        self._is_reading = False
        error = None if done.cancelled() else done.exception()
        if self._end < 0 or done.cancelled():
            self.close()
        elif error is not None:
            self.close()
            self._finished(error if isinstance(error, OSError) else OSError(str(error)))
        else:
            self._cached_end = self._position + size
            self._continue()


def is_cached(descriptor: int, position: int, size: int) -> bool:
    """Whether the range can be read without waiting for the disk, judging by a few pages."""
    last = position + size - 1
    probe = bytearray(1)
    try:
        for at in (*range(position, last, PROBE_BYTES), last):
            os.preadv(descriptor, [probe], at, os.RWF_NOWAIT)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NOWAIT_UNSUPPORTED:
            raise
    return True  # a file system without this call keeps its files in memory


def read_into_cache(descriptor: int, position: int, size: int) -> None:
    """For a thread. The bytes are discarded: they are read to be in the page cache.

    In one call if possible: after each call a thread waits for the interpreter lock, and the event
    loop then waits for the thread.
    """
    end, discarded = position + size, memoryview(bytearray(min(size, DISCARD_BYTES)))
    while position < end:
        whole, rest = divmod(end - position, DISCARD_BYTES)
        count = os.preadv(descriptor, [discarded] * whole + [discarded[:rest]], position)
        if not count:
            return  # the file is shorter now; sending it reports that
        position += count
