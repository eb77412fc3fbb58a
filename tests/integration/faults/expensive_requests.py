"""The most expensive requests of every API against a real broker, with a victim beside them.

    python -m tests.integration.faults.expensive_requests [--items 100000] [--only FETCH,METADATA]

Each array of each API, in its newest version, is filled with so many items: distinct ones, one item
repeated, and fewer with the longest texts. For each request it prints its size, how long its answer
took and how large it was, the memory of the broker, and how long the victim waited for its
acknowledgements meanwhile. Exit
code 1 if the broker ended or holds too much memory, or if a record of the victim is missing. How
long it waited depends on the machine and is only shown: a request that keeps the event loop shows
as a victim that waits as long. Other programs and the disk may be the reason, too: a request with
which it waited for longer than 50 ms is repeated, up to four times.
"""

from __future__ import annotations

import argparse
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Protocol

from tests.integration.faults.victim import Seen, Victim
from tests.support.message_values import message_named
from tests.unit.handlers.steps.hostile_requests import Hostile, LongTexts, hostile_requests

from ottla.handlers.serving.served_apis import SERVED
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.headers import encode_request
from ottla.protocol.messages import request_class
from ottla.testing.broker import RunningBroker

ITEMS = 100_000
LONG_TEXTS = LongTexts(400, 32_000)  # what is decoded on the event loop, and more
ANSWER_S = 60.0
WAIT_MS, TRIES = 50.0, 5
BROKER_BYTES_MAX = 700_000_000  # of one request after another, up to 200,000 items each
RECEIVE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Attack:
    key: ApiKey
    version: int
    hostile: Hostile

    def __str__(self) -> str:
        return f"{self.key.name} v{self.version} {self.hostile.what}"


def attacks(only: set[str]) -> Iterator[Attack]:
    for key in sorted(SERVED):
        if only and key.name not in only:
            continue
        version = SERVED[key].versions[-1]
        message = message_named(request_class(key).__name__)
        for hostile in hostile_requests(message, version, LONG_TEXTS):
            yield Attack(key, version, hostile)


@dataclass(frozen=True, slots=True)
class Outcome:
    sent_bytes: int
    answer_bytes: int  # 0 where the connection was closed, -1 where no answer came in time
    answer_s: float


class Reachable(Protocol):
    @property
    def bootstrap_servers(self) -> str: ...


def attack(broker: Reachable, each: Attack, items: int) -> Outcome:
    request = each.hostile.make(items)
    frame = b"".join(encode_request(each.key, each.version, 1, "attacker", request))
    host, port = broker.bootstrap_servers.split(":")
    began_s = time.perf_counter()
    with socket.create_connection((host, int(port)), ANSWER_S) as connection:
        try:
            connection.sendall(frame)
            received = read_answer(connection)
        except TimeoutError:
            received = -1
        except ConnectionError:
            received = 0
    return Outcome(len(frame), received, time.perf_counter() - began_s)


def read_answer(connection: socket.socket) -> int:
    wanted, received = 4, bytearray()
    count = 0
    while count < wanted:
        part = connection.recv(RECEIVE_BYTES)
        if not part:
            return 0
        if len(received) < 4:
            received += part
            if len(received) >= 4:
                wanted = 4 + int.from_bytes(received[:4], "big")
        count += len(part)
    return count


def resident_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def show(each: Attack, outcome: Outcome, seen: Seen, broker_bytes: int) -> None:
    print(
        f"{each!s:70.70} {outcome.sent_bytes / 1e6:7.2f} {outcome.answer_bytes / 1e6:8.2f}"
        f" {outcome.answer_s:7.2f} {broker_bytes / 1e6:7.0f}"
        f" {seen.percentile_ms(50):7.1f} {seen.percentile_ms(99):7.1f}"
        f" {longest_ms(seen):8.1f}"
        + (f"  {len(seen.errors)} errors: {seen.errors[0]}" if seen.errors else ""),
        flush=True,
    )


def longest_ms(seen: Seen) -> float:
    return max(seen.latencies_ms, default=0.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--only", default="", help="names of APIs, with commas")
    arguments = parser.parse_args()
    failed = passed = 0
    slowest = (0.0, "")
    columns = ("MB in", "MB out", "answer s", "broker MB", "p50 ms", "p99 ms", "max ms")
    print(f"{'':70} " + " ".join(columns))
    with RunningBroker() as broker, Victim(broker.bootstrap_servers) as victim:
        for each in attacks(set(filter(None, arguments.only.split(",")))):
            is_failure = False
            least_ms = inf
            for _ in range(TRIES):
                victim.take()
                outcome = attack(broker, each, arguments.items)
                seen = victim.take()
                if not broker.is_running:
                    print(f"{each}: the broker has ended\n{broker.log}")
                    return 1
                broker_bytes = resident_bytes(broker.pid)
                show(each, outcome, seen, broker_bytes)
                is_failure |= broker_bytes > BROKER_BYTES_MAX or bool(seen.errors)
                least_ms = min(least_ms, longest_ms(seen))
                if least_ms <= WAIT_MS:
                    break
            slowest = max(slowest, (least_ms, str(each)))
            failed, passed = failed + is_failure, passed + (not is_failure)
    print(f"the victim waited longest, in the best try: {slowest[0]:.1f} ms, {slowest[1]}")
    if victim.missing:
        print(f"{victim.missing} acknowledged records of the victim are missing")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
