"""The longest turn of the broker's event loop for the most expensive requests of every API.

    python -m tests.integration.faults.longest_turns [--items 200000] [--only FETCH,METADATA]

The requests are those of `expensive_requests`, and the broker runs in a process of its own, with
the settings of the garbage collector that `ottla up` uses. A turn is one iteration of the event
loop; its length is the processor time of the loop's thread, so a busy machine changes it little.
For each API the request with the longest turn is printed, as a row of a Markdown table. Exit code 1
if a turn takes longer than `--turn-ms-max`.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from random import Random
from typing import Self

from tests.integration.faults.expensive_requests import Attack, attack, attacks

from ottla.base.clock import SystemClock
from ottla.base.files.disk import DiskFileSystem
from ottla.base.memory.collector import begin_broker_process
from ottla.broker.broker import Broker
from ottla.config.load import load_config

ITEMS = 200_000
TURN_MS_MAX = 50.0


class MeasuredLoop(asyncio.SelectorEventLoop):
    longest_s = 0.0

    def _run_once(self) -> None:
        began_s = time.thread_time()
        super()._run_once()  # type: ignore[misc]  # asyncio's own, of one turn
        self.longest_s = max(self.longest_s, time.thread_time() - began_s)


# The process of the broker


def serve(directory: str) -> None:
    loop = MeasuredLoop()
    threading.Thread(target=report, args=(loop,), daemon=True).start()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(run_broker(directory))


async def run_broker(directory: str) -> None:
    settings = ["listeners=PLAINTEXT://127.0.0.1:0", f"log.dirs={directory}"]
    config = load_config(settings=settings)
    broker = Broker(config, files=DiskFileSystem(), clock=SystemClock(), rng=Random(7))
    await broker.open()
    begin_broker_process()
    print(*broker.ports.values(), flush=True)
    await broker.run()


def report(loop: MeasuredLoop) -> None:
    """A line for each line that is read: the longest turn since the last one."""
    for _ in sys.stdin:
        longest_s, loop.longest_s = loop.longest_s, 0.0
        print(longest_s, flush=True)


# The process of the attacks


class MeasuredBroker:
    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self.bootstrap_servers = ""

    def __enter__(self) -> Self:
        command = ["-m", "tests.integration.faults.longest_turns", "--serve", self._directory.name]
        self._process = subprocess.Popen(
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.bootstrap_servers = f"127.0.0.1:{int(self._read())}"
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._directory.cleanup()

    def take_longest_s(self) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        line: str = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the broker has ended")
        return line


def show(longest: tuple[float, Attack]) -> None:
    seconds, each = longest
    print(f"| {each.key.name} v{each.version} | {each.hostile.what} | {seconds * 1000:.1f} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--only", default="", help="names of APIs, with commas")
    parser.add_argument("--all", action="store_true", help="show every request")
    parser.add_argument("--turn-ms-max", type=float, default=TURN_MS_MAX)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return 0
    longest: dict[str, tuple[float, Attack]] = {}
    with MeasuredBroker() as broker:
        for each in attacks(set(filter(None, arguments.only.split(",")))):
            broker.take_longest_s()
            attack(broker, each, arguments.items)
            found = broker.take_longest_s(), each
            if arguments.all:
                show(found)
            longest[each.key.name] = max(
                longest.get(each.key.name, found), found, key=lambda one: one[0]
            )
            sys.stdout.flush()
    print("| request | items | longest turn, ms |\n|---|---|---|")
    for found in longest.values():
        show(found)
    return int(any(seconds * 1000 > arguments.turn_ms_max for seconds, _ in longest.values()))


if __name__ == "__main__":
    sys.exit(main())
