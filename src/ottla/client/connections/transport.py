"""Bytes to and from one broker.

Owns      one socket.
Promises  every wait has a deadline; a large response is received in one system call, without the
          interpreter lock, so that other threads run meanwhile.
Leaves    the meaning of the bytes to `connection.py`.

`open_plain` is the one place where sockets are created. TLS would be another such function, whose
transport wraps the socket.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from ottla.client.settings import ClientSettings
from ottla.config.addresses import Address

Bytes = bytes | bytearray | memoryview

SEGMENTS_MAX = 512  # the system takes at most 1024 at once
_TIMEVAL = struct.Struct("@ll")


class Transport(Protocol):
    def send(self, segments: Sequence[Bytes], timeout_s: float) -> None:
        """All of it, in order; OSError if that fails, TimeoutError if it takes too long."""

    def receive_into(self, view: memoryview, timeout_s: float) -> None:
        """Fill all of it; OSError if the peer has disconnected, TimeoutError if it takes too
        long."""

    def has_data(self) -> bool:
        """Whether data, or the end of the connection, can be read without waiting."""

    def interrupt(self) -> None:
        """Make another thread's wait fail. Threads: any."""

    def close(self) -> None: ...


OpenTransport = Callable[[Address, ClientSettings], Transport]


class PlainTransport:
    """A blocking socket with timeouts of the system: only such a socket fills a large buffer in a
    single call (MSG_WAITALL)."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        sock.setblocking(True)

    def send(self, segments: Sequence[Bytes], timeout_s: float) -> None:
        deadline_s = time.monotonic() + timeout_s
        rest = [memoryview(segment) for segment in segments if len(segment)]
        while rest:
            self._set_timeout(socket.SO_SNDTIMEO, deadline_s)
            try:
                sent = self._socket.sendmsg(rest[:SEGMENTS_MAX])
            except BlockingIOError:
                raise TimeoutError from None
            rest = unsent(rest, sent)

    def receive_into(self, view: memoryview, timeout_s: float) -> None:
        deadline_s = time.monotonic() + timeout_s
        while view:
            self._set_timeout(socket.SO_RCVTIMEO, deadline_s)
            try:
                count = self._socket.recv_into(view, len(view), socket.MSG_WAITALL)
            except BlockingIOError:
                raise TimeoutError from None
            if not count:
                raise ConnectionResetError("closed by the broker")
            view = view[count:]

    def has_data(self) -> bool:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))

    def interrupt(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it was closed already

    def close(self) -> None:
        self._socket.close()

    def _set_timeout(self, option: int, deadline_s: float) -> None:
        left_s = deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        seconds = int(left_s)
        microseconds = int((left_s - seconds) * 1e6) + 1  # zero would mean forever
        if microseconds >= 1_000_000:
            seconds, microseconds = seconds + 1, 0
        self._socket.setsockopt(socket.SOL_SOCKET, option, _TIMEVAL.pack(seconds, microseconds))


def unsent(segments: list[memoryview], sent: int) -> list[memoryview]:
    """What is left of `segments` after `sent` bytes."""
    for at, segment in enumerate(segments):
        if sent < len(segment):
            return [segment[sent:], *segments[at + 1 :]]
        sent -= len(segment)
    return []


def open_plain(address: Address, settings: ClientSettings) -> Transport:
    sock = socket.create_connection(address, settings.connection_timeout_ms / 1000)
    try:
        refuse_itself(sock)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, size in (
            (socket.SO_SNDBUF, settings.send_buffer_bytes),
            (socket.SO_RCVBUF, settings.receive_buffer_bytes),
        ):
            if size > 0:
                sock.setsockopt(socket.SOL_SOCKET, option, size)
    except OSError:
        sock.close()
        raise
    return PlainTransport(sock)


def refuse_itself(sock: socket.socket) -> None:
    """If nothing listens on a local port, the system may choose that port for the socket itself and
    connect it to itself, which would also prevent the broker from starting again."""
    if sock.getsockname() == sock.getpeername():
        raise ConnectionRefusedError("nothing listens on this port")


TRANSPORTS: dict[str, OpenTransport] = {"PLAINTEXT": open_plain}
