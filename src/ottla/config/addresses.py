"""Addresses of brokers: `host:port`, `host`, `[::1]:port`, `PLAINTEXT://host:port`."""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_PORT = 9092
PORT_MAX = 65535
PROTOCOLS = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_local(self) -> bool:
        return self.host in LOCAL_HOSTS


def parse_addresses(text: str) -> list[Address]:
    """Addresses separated by commas; ValueError says what is wrong with one."""
    return [parse_address(part.strip()) for part in text.split(",")]


def parse_address(text: str, default_port: int | None = DEFAULT_PORT) -> Address:
    """The host and the port; without a default a port is required."""
    protocol, separator, address = text.rpartition("://")
    if separator and protocol.lower() not in PROTOCOLS:
        raise ValueError(f"{text!r}: expected HOST:PORT without {protocol}://")
    host, colon, port = address.rpartition(":")
    if not colon or address.endswith("]"):
        if default_port is None:
            raise ValueError(f"{text!r} is not HOST:PORT")
        host, port = address, str(default_port)
    if not host.strip("[]") or (":" in host and not host.startswith("[")):
        hint = "; an IPv6 address is written [::1]:9092" if ":" in host else ""
        raise ValueError(f"{text!r} is not HOST:PORT{hint}")
    return Address(host.strip("[]"), parse_port(text, port))


def parse_port(text: str, port: str, *, lowest: int = 1) -> int:
    """`text` is the address that the error message names."""
    if not (port.isascii() and port.isdigit()):
        raise ValueError(f"{text!r} is not HOST:PORT: {port!r} is not a port number")
    if len(port) > len(str(PORT_MAX)) or not lowest <= int(port) <= PORT_MAX:
        raise ValueError(f"{text!r}: ports are {lowest} to {PORT_MAX}")
    return int(port)
