"""Ports for a server that is killed and must get its port back.

Ports that the system picks itself are also those it gives to outgoing connections: while the server
has ended, any of them may take it, even that of a client which tries to connect to the server, and
is then connected to itself.
"""

from __future__ import annotations

import random
import socket
from itertools import islice

# Below the range from which systems take ports for outgoing connections.
PORTS = range(20_000, 32_000)
TRIES = 100
ANY = 0


def non_ephemeral_port() -> int:
    """A free port; ANY, which lets the system choose, if there is none."""
    for port in random.SystemRandom().sample(PORTS, TRIES):
        if _is_free(port):
            return port
    return ANY


def non_ephemeral_ports(count: int) -> list[int]:
    """Each one different, and none of them ANY."""
    tried = random.SystemRandom().sample(PORTS, len(PORTS))
    found = list(islice(filter(_is_free, tried), count))
    if len(found) < count:
        raise OSError(f"{len(found)} of the ports {PORTS[0]} to {PORTS[-1]} are free, not {count}")
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
