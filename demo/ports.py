"""A port for a broker that is killed and must get its port back."""

from __future__ import annotations

import random
import socket

# Below the range that outgoing connections are given: while the broker is dead nobody, not even a
# client that tries to reach it, is handed its port.
PORTS = range(20_000, 32_000)


def free_port() -> int:
    while True:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
