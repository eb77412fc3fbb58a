"""Network addresses of clients, as text."""

from __future__ import annotations

import ipaddress


def is_address(host: str) -> bool:
    """Whether the host is an IP address, not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def network_of(host: str) -> str:
    """The unit of fairness and memory shares: an IPv4 address, or an IPv6 /64 network, since an
    IPv6 host usually has all addresses of one."""
    if ":" not in host:
        return host
    try:
        return str(ipaddress.ip_network((host.partition("%")[0], 64), strict=False))
    except ValueError:
        return host


def normal_address(host: str) -> str:
    """One text per address: on a dual-stack socket an IPv4 client is `::ffff:10.0.0.1`."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
