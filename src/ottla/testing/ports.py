"""A port for a broker that is killed and must get its port back.

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
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    return ANY
