"""A server in a process of its own, so that its memory can be measured.

Echoes frames; answers `?` with what it counts, and `G` with 100,000 bytes made for the occasion.
"""

from __future__ import annotations

import asyncio
import json
import sys

from ottla.network.connection import Connection
from ottla.network.network import Network
from ottla.network.request_server import Answer
from ottla.network.settings import ConnectionSettings, ListenerSettings, NetworkSettings

LARGE_BYTES = 100_000


def resident_bytes() -> int:
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


class EchoServer:
    network: Network

    def opened(self, connection: Connection) -> None: ...
    def closed(self, connection: Connection) -> None: ...

    def serve(self, frame: memoryview, connection: Connection) -> Answer:
        body = bytes(frame)
        if body == b"?":
            body = json.dumps(self.figures()).encode()
        elif body == b"G":
            body = bytes(LARGE_BYTES)
        return Answer([len(body).to_bytes(4, "big"), body])

    def figures(self) -> dict[str, int]:
        counters = self.network.listeners["PLAINTEXT"].counters
        unsent = sum(connection.unsent_bytes for connection in self.network.connections)
        return {
            "resident_bytes": resident_bytes(),
            "connections": counters.connections_open,
            "bytes_in": counters.bytes_in,
            "requests": counters.requests,
            "unsent_bytes": unsent,
        }


async def main(settings: ConnectionSettings) -> None:
    server = EchoServer()
    listener = ListenerSettings("PLAINTEXT", "127.0.0.1", backlog=1024, connection=settings)
    server.network = network = Network(NetworkSettings((listener,), tick_ms=10), server)
    await network.open()
    running = asyncio.ensure_future(network.run())
    await asyncio.sleep(0)  # now it listens
    print(network.listeners["PLAINTEXT"].port, flush=True)
    await running


if __name__ == "__main__":
    asyncio.run(main(ConnectionSettings(**json.loads(sys.argv[1]))))
