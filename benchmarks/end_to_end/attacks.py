"""A regular client next to clients that occupy memory: the latency of its produces (acks=all).

    python -m benchmarks.end_to_end.attacks [--seconds 10] [--attack NAME]

The regular client alternates between 500 KB and 100 bytes on one connection, and every fifth pair
uses a new one. Attackers reconnect when they are closed. The broker is Ottla, with its default
settings.
"""

from __future__ import annotations

import argparse
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from benchmarks.end_to_end.wire import (
    Wire,
    batch_of,
    create_topics,
    frame_of,
    produce_frame,
    say_hello,
)

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.testing.broker import RunningBroker

KIB = 1024
MIB = 1024 * KIB
TOPIC = "good"
STEP_S = 0.1
PAIRS_PER_CONNECTION = 5

Step = Callable[["Attacker"], None]


class Attacker:
    def __init__(self, port: int, address: str, begin: bytes, then: bytes, *, halves: bool) -> None:
        self._port, self._address = port, address
        self._begin, self._then = begin, then
        self._halves = halves  # half-closes the connection
        self._socket: socket.socket | None = None
        self._unsent = memoryview(b"")
        self.times_closed = -1

    def step(self) -> None:
        try:
            if self._socket is None:
                self._connect()
            elif not self._unsent:
                self._unsent = memoryview(self._then)
                self._look()
            self._send()
        except BlockingIOError:
            pass
        except OSError:
            self.close()

    def _look(self) -> None:
        """Whether the broker has closed the connection; received data stays unread."""
        assert self._socket is not None
        with suppress(BlockingIOError):
            if not self._socket.recv(1, socket.MSG_PEEK):
                raise ConnectionError("closed")

    def _connect(self) -> None:
        self.times_closed += 1
        self._socket = socket.create_connection(("127.0.0.1", self._port), 5, (self._address, 0))
        self._socket.setblocking(False)
        self._unsent = memoryview(self._begin)

    def _send(self) -> None:
        assert self._socket is not None
        while self._unsent:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
        if self._halves:
            self._socket.shutdown(socket.SHUT_WR)
            self._then = b""

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class Attack:
    def __init__(
        self, count: int, begin: bytes, then: bytes, addresses: int = 1, *, halves: bool = False
    ) -> None:
        self.count, self.begin, self.then = count, begin, then
        self.addresses, self.halves = addresses, halves


def announced(frame_bytes: int, sent_bytes: int) -> bytes:
    return frame_bytes.to_bytes(4, "big") + bytes(sent_bytes)


def attacks() -> dict[str, Attack]:
    hello = frame_of(ApiKey.API_VERSIONS, ApiVersionsRequest("attacker", "1"))
    metadata = frame_of(ApiKey.METADATA, MetadataRequest(None))
    at_rate = bytes(int(64 * KIB * STEP_S) + 1)
    fetch = FetchRequest(max_wait_ms=600_000, min_bytes=1 << 30, session_epoch=-1)
    wanted = FetchPartition(0, fetch_offset=0, partition_max_bytes=1)
    fetch.topics = [FetchTopic("quiet", partitions=[wanted])]
    waits = frame_of(ApiKey.FETCH, fetch)
    large = produce_frame("quiet", [0], batch_of(1_000_000))
    return {
        "none": Attack(0, b"", b""),
        "100 MiB announced, 4 MB sent": Attack(70, announced(100 * MIB, 4_000_000), b"x"),
        "the same, 50 addresses": Attack(70, announced(100 * MIB, 4_000_000), b"x", 50),
        "1 MiB announced, 65 KiB sent": Attack(600, announced(MIB, 65 * KIB), b"x"),
        "the same after a request": Attack(600, hello + announced(MIB, 65 * KIB), b"x", 50),
        "1 MiB at the minimum rate": Attack(300, announced(MIB, 65 * KIB), at_rate),
        "small frames all but whole": Attack(2000, announced(60_000, 59_000), b"", 100),
        "announced, nothing sent": Attack(2000, announced(100 * MIB, 0), b""),
        "whole behind fetches that wait": Attack(300, waits * 128 + large, b""),
        "responses not read": Attack(300, metadata * 2000, metadata * 100),
        "the same, half-closed": Attack(300, metadata * 2000, b"", halves=True),
    }


class Crowd:
    """Attackers in a thread, until stopped."""

    def __init__(self, attack: Attack, port: int) -> None:
        self.attackers = [
            Attacker(
                port,
                f"127.0.0.{2 + number % attack.addresses}" if attack.addresses > 1 else "127.0.0.1",
                attack.begin,
                attack.then,
                halves=attack.halves,
            )
            for number in range(attack.count)
        ]
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Crowd:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        for attacker in self.attackers:
            attacker.close()

    def _run(self) -> None:
        while not self._is_over.wait(STEP_S):
            for attacker in self.attackers:
                attacker.step()


class GoodClient:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._frames = [produce_frame(TOPIC, [0], batch_of(size), -1) for size in (500_000, 100)]
        self.large_s: list[float] = []
        self.small_s: list[float] = []
        self.refused = 0

    def run(self, seconds: float) -> None:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            try:
                with Wire(self._bootstrap, 60.0) as wire:
                    say_hello(wire)
                    for _ in range(PAIRS_PER_CONNECTION):
                        self._produce(wire)
            except OSError:
                self.refused += 1

    def _produce(self, wire: Wire) -> None:
        for frame, found in zip(self._frames, (self.large_s, self.small_s), strict=True):
            begin_s = time.monotonic()
            wire.send(frame)
            wire.receive()
            found.append(time.monotonic() - begin_s)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each attack")
    parser.add_argument("--attack", help="those whose names contain this")
    asked, _ = parser.parse_known_args()  # ignore arguments of other benchmarks
    print(
        f"{'':34}{'500 KB p50':>12}{'p99':>9}{'max':>9}{'100 B p50':>12}{'p99':>9}{'max':>9}",
        end="",
    )
    print(f"{'served':>8}{'closed':>8}{'MB':>7}   (ms)")
    with RunningBroker() as broker:
        topics = [TOPIC, "quiet", *[f"padding-{number}" for number in range(200)]]
        create_topics(broker.bootstrap_servers, topics, 4)
        for name, attack in attacks().items():
            if asked.attack is None or asked.attack in name:
                run(name, attack, broker, asked.seconds)


def run(name: str, attack: Attack, broker: RunningBroker, seconds: float) -> None:
    good = GoodClient(broker.bootstrap_servers)
    port = int(broker.bootstrap_servers.rpartition(":")[2])
    with Crowd(attack, port) as crowd:
        time.sleep(0.3 * seconds)  # let the attack reach its full rate
        good.run(seconds)
        closed = sum(max(0, each.times_closed) for each in crowd.attackers)
        resident = resident_mb(broker.pid)
    times = [*in_ms(good.large_s), *in_ms(good.small_s)]
    text = "".join(
        f"{time_ms:{width}.1f}" for time_ms, width in zip(times, (12, 9, 9) * 2, strict=True)
    )
    print(f"{name:34}{text}{len(good.large_s):8}{closed:8}{resident:7.0f}", flush=True)
    if good.refused:
        print(f"{'':34}the good client was closed {good.refused} times")


def in_ms(times_s: list[float]) -> tuple[float, float, float]:
    found = sorted(times_s) or [float("nan")]
    return (
        1000 * found[len(found) // 2],
        1000 * found[min(len(found) - 1, int(len(found) * 0.99))],
        1000 * found[-1],
    )


def resident_mb(pid: int) -> float:
    with suppress(OSError), open(f"/proc/{pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1000
    return 0.0


if __name__ == "__main__":
    main()
