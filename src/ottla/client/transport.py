"""Bytes to and from one broker: the part of a connection that TLS would replace.

Owns      one socket.
Promises  every wait has a deadline; a large answer is received in one call, without the
          interpreter in between, so that another thread computes meanwhile.
Leaves    what the bytes mean to `connection.py`.

`open_plain` is the one place where sockets are made. A `security.protocol` with TLS would bring
another such function, whose transport wraps the socket; SASL would speak through the transport
before the connection is used for anything else.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from ottla.client.settings import Address, ClientSettings

Bytes = bytes | bytearray | memoryview

SEGMENTS_MAX = 512  # the system takes at most 1024 at once
_TIMEVAL = struct.Struct("@ll")


class Transport(Protocol):
    def send(self, segments: Sequence[Bytes], timeout_s: float) -> None:
        """All of it, in order; OSError if that fails, TimeoutError if it takes too long."""

    def receive_into(self, view: memoryview, timeout_s: float) -> None:
        """Fill all of it; OSError if the peer has gone, TimeoutError if it takes too long."""

    def has_data(self) -> bool:
        """Whether something can be received at once (be it the news that the peer has gone)."""

    def interrupt(self) -> None:
        """Make another thread's wait fail. Threads: any."""

    def close(self) -> None: ...


OpenTransport = Callable[[Address, ClientSettings], Transport]


class PlainTransport:
    """The socket blocks, with deadlines of the system's own: only such a one fills a large buffer
    in a single call (MSG_WAITALL)."""

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
            pass  # it has ended already

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
    """What is left of `segments` once `sent` bytes of them are on their way."""
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
    """Where nobody listens on this machine, the system may by chance give a socket the very port
    it connects to, and so connect it to itself: which would also keep the broker from coming back.
    """
    if sock.getsockname() == sock.getpeername():
        raise ConnectionRefusedError("nobody listens there")


TRANSPORTS: dict[str, OpenTransport] = {"PLAINTEXT": open_plain}
