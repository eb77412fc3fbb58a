"""How long the most expensive requests of every API keep the event loop, or the interpreter.

    python -m tests.integration.faults.longest_turns [--items 200000] [--only FETCH,METADATA]

The requests are those of `expensive_requests`, and the broker runs in a process of its own, with
the settings of the garbage collector that `ottla up` uses. A turn is one iteration of the event
loop; its length is the processor time of the loop's thread, so a busy machine changes it little.

A thread that decodes or encodes a large message keeps the interpreter (its global lock) until it is
asked to give it up, which a single call into C code, as of `list.sort` or `gc.collect`, does not
answer before it ends. The wait is what a thread sees that sleeps for a millisecond again and again:
the processor time of the whole process until it runs again, less that millisecond. It includes the
event loop's own work, and that of threads which do not need the interpreter, so it is a bound.

For each API the requests with the longest turn and the longest wait are printed, as a row of a
Markdown table. Exit code 1 if a turn takes longer than `--turn-ms-max`.
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
from typing import NamedTuple, Self

from tests.integration.faults.expensive_requests import attack, attacks

from ottla.base.clock import SystemClock
from ottla.base.files.disk import DiskFileSystem
from ottla.base.memory.collector import begin_broker_process
from ottla.broker.broker import Broker
from ottla.cli.commands.up import THREAD_SWITCH_S
from ottla.config.load import load_config

ITEMS = 200_000
TURN_MS_MAX = 50.0
PROBE_S = 0.001


class Longest(NamedTuple):
    turn_s: float
    wait_s: float


class MeasuredLoop(asyncio.SelectorEventLoop):
    longest_s = 0.0

    def _run_once(self) -> None:
        began_s = time.thread_time()
        super()._run_once()  # type: ignore[misc]  # asyncio's own, of one turn
        self.longest_s = max(self.longest_s, time.thread_time() - began_s)


class MeasuredWaits:
    """A thread that notes how long it waits for the interpreter, in processor time of all."""

    longest_s = 0.0

    def run(self) -> None:
        while True:
            began_s = time.process_time()
            time.sleep(PROBE_S)
            self.longest_s = max(self.longest_s, time.process_time() - began_s - PROBE_S)


# The process of the broker


def serve(directory: str) -> None:
    loop, waits = MeasuredLoop(), MeasuredWaits()
    sys.setswitchinterval(THREAD_SWITCH_S)  # as `ottla up`
    for target, args in ((report, (loop, waits)), (waits.run, ())):
        threading.Thread(target=target, args=args, daemon=True).start()
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


def report(loop: MeasuredLoop, waits: MeasuredWaits) -> None:
    """A line for each line that is read: the longest turn and the longest wait since the last."""
    for _ in sys.stdin:
        longest = Longest(loop.longest_s, waits.longest_s)
        loop.longest_s = waits.longest_s = 0.0
        print(*longest, flush=True)


# The process of the attacks


class Found(NamedTuple):
    what: str
    longest: Longest


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

    def take_longest(self) -> Longest:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return Longest(*map(float, self._read().split()))

    def _read(self) -> str:
        assert self._process.stdout is not None
        line: str = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the broker has ended")
        return line


def show(name: str, turn: Found, wait: Found) -> None:
    print(
        f"| {name} | {turn.what} | {turn.longest.turn_s * 1000:.1f} "
        f"| {wait.what} | {wait.longest.wait_s * 1000:.1f} |"
    )


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
    found: dict[str, list[Found]] = {}
    with MeasuredBroker() as broker:
        for each in attacks(set(filter(None, arguments.only.split(",")))):
            broker.take_longest()
            attack(broker, each, arguments.items)
            seen = Found(each.hostile.what, broker.take_longest())
            if arguments.all:
                show(f"{each.key.name} v{each.version}", seen, seen)
            found.setdefault(f"{each.key.name} v{each.version}", []).append(seen)
            sys.stdout.flush()
    print(
        "| request | items | longest turn, ms | items | longest wait, ms |\n|---|---|---|---|---|"
    )
    for name, all_ in found.items():
        by_turn = max(all_, key=lambda one: one.longest.turn_s)
        show(name, by_turn, max(all_, key=lambda one: one.longest.wait_s))
    turns_ms = [1000 * one.longest.turn_s for all_ in found.values() for one in all_]
    return int(max(turns_ms, default=0) > arguments.turn_ms_max)


if __name__ == "__main__":
    sys.exit(main())
