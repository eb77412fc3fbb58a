"""Opens the sockets on which a listener accepts connections."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable

from ottla.network.settings import ListenerSettings

Bind = Callable[[ListenerSettings], Awaitable[list[socket.socket]]]

ANY_ADDRESS = ("", "::")  # one IPv6 socket that accepts IPv4 clients too

_NO_SUCH_ADDRESS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


class BindError(OSError):
    """An address of a listener cannot be bound; the message names both."""


async def bind_sockets(settings: ListenerSettings) -> list[socket.socket]:
    """One socket per address of the host, all on one port. BindError names the one that failed."""
    sockets: list[socket.socket] = []
    missing: OSError | None = None
    port = settings.port
    try:
        for family, host in await _addresses(settings.host):
            try:
                sockets.append(_bind(settings, family, host, port))
            except OSError as error:
                if error.errno not in _NO_SUCH_ADDRESS:
                    raise
                missing = error  # such as "localhost" on a machine without IPv6
                continue
            port = sockets[0].getsockname()[1]
    except BaseException:
        for each in sockets:
            each.close()
        raise
    if missing is not None and not sockets:
        raise missing
    return sockets


async def _addresses(host: str) -> list[tuple[int, str]]:
    if not host:
        return [(socket.AF_INET6, "::")] if _has_ipv6() else [(socket.AF_INET, "0.0.0.0")]
    found = await asyncio.get_running_loop().getaddrinfo(
        host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::", 0))
    except OSError:
        return False
    return True


def _bind(settings: ListenerSettings, family: int, host: str, port: int) -> socket.socket:
    sock = None
    try:
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            is_ipv6_only = int(settings.host not in ANY_ADDRESS)
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, is_ipv6_only)
        if settings.receive_buffer_bytes > 0:  # before listening, or it cannot widen the window
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, settings.receive_buffer_bytes)
        sock.bind((host, port))
    except OSError as error:
        if sock is not None:
            sock.close()
        where = f"listener {settings.name} on {host}:{port}"
        raise BindError(error.errno, f"{where}: {error.strerror}") from error
    return sock


def prepare_accepted(sock: socket.socket, settings: ListenerSettings) -> None:
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(
        socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1
    )  # detects clients whose machine has failed
    if settings.send_buffer_bytes > 0:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, settings.send_buffer_bytes)
