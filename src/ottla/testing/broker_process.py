"""The process of a broker whose clock and faults a test controls: `Broker(controls=True)`.

    python -m ottla.testing.broker_process --set NAME=VALUE ...

It runs the broker of `ottla up`, on asyncio's own event loop. Each line on standard input is a
command, a JSON object; each is answered with one JSON line on standard output. The broker stops
when standard input is closed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import signal
import sys
import threading
from typing import Any

from ottla.base.log_messages.log_format import LineFormatter, RepetitionFilter
from ottla.broker.broker import Broker
from ottla.config.load import LoadedConfig, load_config
from ottla.config.options import InvalidOption
from ottla.handlers.serving.dispatch import Dispatcher
from ottla.handlers.serving.parts import Parts
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.testing.full_disk import FillableDisk
from ottla.testing.moved_time import MovedClock, MovedLoop
from ottla.testing.request_faults import FaultyServer, Rule

# A jump of the clock would close every connection, and tests would see their clients reconnect.
DEFAULTS = ("connections.max.idle.ms=-1",)


class ControlledBroker:
    """A broker, and what its test does to it."""

    def __init__(self, settings: LoadedConfig, loop: MovedLoop, clock: MovedClock) -> None:
        self._loop = loop
        self._disk = FillableDisk()
        self.broker = Broker(settings, files=self._disk, clock=clock, server=self._make_server)

    def _make_server(self, parts: Parts) -> FaultyServer:
        self._server = FaultyServer(Dispatcher(parts))
        return self._server

    async def do(self, command: dict[str, Any]) -> Any:
        """Carry out one command; the answer to it."""
        match command:
            case {"do": "advance", "seconds": seconds}:
                return await self._loop.advance(seconds)
            case {"do": "rule", "api": api, "error": error, **others}:
                rule = Rule(ApiKey[api], error=ErrorCode[error], **without_do(others))
                self._server.rules.append(rule)
                return None
            case {"do": "fill_disk", "is_full": is_full}:
                self._disk.is_full = is_full
                return None
            case {"do": "clear"}:
                self._disk.is_full = False
                self._server.rules.clear()
                return None
            case {"do": "requests"}:
                return dict(self._server.requests)
        raise ValueError(f"no such command: {command}")

    async def answer(self, line: str) -> None:
        try:
            answer = {"result": await self.do(json.loads(line))}
        except Exception as error:  # reported to the test, whatever it was
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def without_do(command: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in command.items() if name != "do"}


def main() -> int:
    arguments = parse_arguments()
    log_to_stderr(arguments.log_level)
    try:
        settings = load_config(None, {}, [*DEFAULTS, *arguments.settings])
    except InvalidOption as error:
        return refuse(str(error), 2)
    clock = MovedClock(arguments.ahead_s)
    with asyncio.Runner(loop_factory=lambda: MovedLoop(clock)) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, MovedLoop)
        return runner.run(serve(settings, loop, clock))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("ottla.testing.broker_process")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--ahead-s", type=float, default=0.0)
    parser.add_argument("--log-level", default="WARNING")
    return parser.parse_args()


def log_to_stderr(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RepetitionFilter())
    logging.basicConfig(level=level, handlers=[handler])


def refuse(message: str, code: int) -> int:
    print(f"ottla: {message}", file=sys.stderr)
    return code


async def serve(settings: LoadedConfig, loop: MovedLoop, clock: MovedClock) -> int:
    """Wait for a signal or the end of standard input."""
    lines: asyncio.Queue[str] = asyncio.Queue()  # commands; an empty one ends the broker
    for name in (signal.SIGTERM, signal.SIGINT):  # before it is ready, as it may be stopped then
        loop.add_signal_handler(name, lines.put_nowait, "")
    controlled = ControlledBroker(settings, loop, clock)
    broker = controlled.broker
    try:
        await broker.open()
    except OSError as error:
        return refuse(f"cannot start: {error}", 1)
    running = asyncio.create_task(broker.run(), name="broker")
    await broker.ready()
    print(f"ottla is ready on {broker.address}", flush=True)
    stop = asyncio.create_task(commands(controlled, loop, lines), name="commands")
    await asyncio.wait([stop, running], return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        stop.cancel()
    else:
        await broker.drain()
        running.cancel()
    try:
        await running
    except asyncio.CancelledError:
        return 0
    return refuse("the broker ended by itself", 1)


async def commands(
    controlled: ControlledBroker, loop: MovedLoop, lines: asyncio.Queue[str]
) -> None:
    """Carry out commands, one after the other, until there will be no more."""

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, "")

    # A thread, because event loops watch pipes but not every other kind of file.
    threading.Thread(target=read, name="commands", daemon=True).start()
    while line := await lines.get():
        await controlled.answer(line)


if __name__ == "__main__":
    sys.exit(main())
