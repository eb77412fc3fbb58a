"""What clients can make the process hold, measured from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.integration.network.echo_process import LARGE_BYTES
from tests.integration.network.harness import Client, need_descriptors

MIB = 1024 * 1024
ECHO = Path(__file__).with_name("echo_process.py")


class EchoProcess:
    def __init__(self, port: int, clients: ExitStack) -> None:
        self._port = port
        self._clients = clients
        self._asking = self.connect()

    def connect(self) -> Client:
        return self._clients.enter_context(Client(("127.0.0.1", self._port)))

    def figures(self) -> dict[str, int]:
        found: dict[str, int] = json.loads(self._asking.ask(b"?"))
        return found

    def figures_when(self, condition: Callable[[dict[str, int]], bool]) -> dict[str, int]:
        while not condition(found := self.figures()):
            pass
        return found


@contextmanager
def echo_process(**settings: int) -> Iterator[EchoProcess]:
    process = subprocess.Popen(
        [sys.executable, str(ECHO), json.dumps(settings)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        with ExitStack() as clients:
            yield EchoProcess(int(process.stdout.readline()), clients)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_thousand_announcements_of_a_hundred_megabytes_cost_next_to_nothing() -> None:
    need_descriptors(1200)
    with echo_process() as server:
        before = server.figures()
        for _ in range(1000):
            server.connect().socket.sendall((100 * MIB).to_bytes(4, "big") + b"0123456789")
        after = server.figures_when(lambda now: now["bytes_in"] - before["bytes_in"] >= 14_000)
        assert after["connections"] == 1001
        assert after["resident_bytes"] - before["resident_bytes"] <= 64 * MIB


def test_clients_that_never_read_cost_no_more_than_their_bound() -> None:
    with echo_process(unsent_bytes_max=256 * 1024) as server:
        before = server.figures()
        for _ in range(50):
            server.connect().send(*[b"G"] * 1000)  # five gigabytes of answers
        after = server.figures_when(lambda now: stalls(server, now))
        assert after["unsent_bytes"] <= 50 * (256 * 1024 + 2 * LARGE_BYTES)
        assert after["resident_bytes"] - before["resident_bytes"] <= 64 * MIB
        assert after["requests"] < 50 * 200


def stalls(server: EchoProcess, now: dict[str, int]) -> bool:
    """Whether nothing but our own questions is served any more."""
    if now["connections"] < 51 or now["unsent_bytes"] == 0:
        return False
    return all(server.figures()["requests"] == now["requests"] + more for more in range(1, 200))
