"""`zookeeper.connect`: servers of one ensemble, and the znode below which everything is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

DEFAULT_PORT = 2181
PORT_DIGITS_MAX = 5


class BadConnectString(ValueError):
    """Says what is wrong with it and what is expected."""


@dataclass(frozen=True, slots=True)
class ConnectString:
    """`HOST:PORT,HOST:PORT/chroot`. An address in IPv6 is in brackets."""

    hosts: str
    chroot: str = ""  # begins with a slash, unless it is empty

    def __str__(self) -> str:
        return self.hosts + self.chroot

    @classmethod
    def parse(cls, text: str) -> Self:
        hosts, slash, path = text.strip().partition("/")
        servers = [each.strip() for each in hosts.split(",")]
        if not all(servers):
            raise BadConnectString(
                f"{text!r} names no server: expected HOST:PORT,HOST:PORT/chroot, "
                "for example localhost:2181/ottla"
            )
        return cls(",".join(map(_with_port, servers)), _chroot(text, slash + path))


def _with_port(server: str) -> str:
    host, colon, port = server.rpartition(":")
    if not colon or server.endswith("]"):
        return f"{server}:{DEFAULT_PORT}"
    is_number = port.isascii() and port.isdigit() and len(port) <= PORT_DIGITS_MAX
    if not host or not is_number or not 0 < int(port) < 65536:
        raise BadConnectString(f"{server!r} is no server: expected HOST:PORT, with a port to 65535")
    return server


def _chroot(text: str, path: str) -> str:
    path = path.rstrip("/")
    names = path.split("/")[1:]
    if any(name in ("", ".", "..") or not name.isprintable() for name in names):
        raise BadConnectString(f"{text!r}: the chroot {path!r} is no path, such as /ottla")
    return path
