"""Ports for a broker that is killed and must get its port back.

Ports that the system picks itself are also those it gives to outgoing connections: while the broker
is dead, any of them may take it, even that of a client which tries to reach the broker and so talks
to itself.
"""

from __future__ import annotations

import random
import socket

# Below the range from which systems take ports for outgoing connections.
PORTS = range(20_000, 32_000)
TRIES = 100
ANY = 0


def quiet_port() -> int:
    """One that nobody listens on now; ANY, which leaves it to the system, where there is none."""
    for port in random.SystemRandom().sample(PORTS, TRIES):
        if _is_quiet(port):
            return port
    return ANY


def quiet_ports(count: int) -> list[int]:
    """Each one different, and none of them ANY."""
    found: set[int] = set()
    while len(found) < count:
        found |= {quiet_port()} - {ANY}
    return list(found)


def _is_quiet(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
