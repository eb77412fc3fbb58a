"""`ottla up --workers N`: several brokers of a cluster on one machine, with one configuration.

A broker is one process that uses one core; more cores are more brokers. Each worker is an ordinary
`ottla up`, whose node id and ports follow those of the first, whose data is in a directory of its
own, and whose rack is the machine: so replicas of a partition are placed on other machines first.

Owns      the processes of the workers.
Promises  a worker that ends by itself is started again, with growing pauses. SIGTERM and Ctrl-C
          stop all; workers end as well if this process is killed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ottla.config.listeners import ListenerEndpoint
from ottla.config.options import InvalidOption

if TYPE_CHECKING:
    from ottla.config.load import LoadedConfig

WORKERS_MAX = 256
READY = " is ready on "
SET = "--set="
PAUSE_S = 1.0
PAUSE_MAX_S = 30.0
STEADY_S = 60.0  # after which an end is not taken for a failed start
STOP_S = 60.0


def worker_settings(settings: LoadedConfig, number: int, host: str) -> list[str]:
    """The settings in which worker `number`, from 0, differs from the given ones."""
    config, listeners = settings.config, settings.listeners
    directories = ",".join(f"{each}/worker-{number}" for each in config.log_directories)
    found = [
        f"node.id={config.node_id + number}",
        f"listeners={shifted(listeners.bound, number)}",
        f"log.dirs={directories}",
        f"broker.rack={config.broker_rack or host}",
    ]
    if config.advertised_listeners is not None:
        found.append(f"advertised.listeners={shifted(listeners.advertised, number)}")
    return found


def replaced(arguments: Sequence[str], settings: Sequence[str]) -> list[str]:
    """Arguments with these settings, in place of others of the same name."""
    names = {each.partition("=")[0] for each in settings}
    kept = [
        each
        for each in arguments
        if not each.startswith(SET) or each.removeprefix(SET).partition("=")[0].strip() not in names
    ]
    return [*kept, *(f"{SET}{each}" for each in settings)]


def shifted(listeners: Sequence[ListenerEndpoint], number: int) -> str:
    """The same listeners, `number` ports higher; port 0 is any free one."""
    return ",".join(
        str(each._replace(port=each.port + number if each.port else 0)) for each in listeners
    )


def check_workers(settings: LoadedConfig, count: int) -> None:
    if not settings.config.is_cluster_member:
        raise InvalidOption(
            "--workers: workers are brokers of a cluster, set zookeeper.connect; without a cluster "
            "of your own, use: ottla cluster up"
        )
    used: dict[int, str] = {}
    for number in range(count):
        for each in settings.listeners.bound:
            port = each.port + number
            if each.port and used.setdefault(port, each.name) != each.name:
                raise InvalidOption(
                    f"--workers: port {port} would be used by the listeners {used[port]} and "
                    f"{each.name}: leave {count} ports after each of them free"
                )
            if port > 65535:
                raise InvalidOption(f"--workers: there is no port {port} for worker {number}")


class Workers:
    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        self._commands = commands
        self._stopping = asyncio.Event()
        self._addresses: dict[int, str] = {}
        self._all_ready = asyncio.Event()

    async def run(self) -> int:
        """Run until a signal; returns 0 if all have stopped cleanly."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(name, self._stopping.set)
        tasks = [asyncio.create_task(self._keep(number)) for number in range(len(self._commands))]
        saying = asyncio.create_task(self._say_ready())
        codes = await asyncio.gather(*tasks)
        saying.cancel()
        return 0 if not any(codes) else 1

    async def _say_ready(self) -> None:
        await self._all_ready.wait()
        addresses = ",".join(self._addresses[number] for number in sorted(self._addresses))
        print(f"ottla is ready on {addresses}", flush=True)

    async def _keep(self, number: int) -> int:
        """Run a worker, and start it again when it ends; its last exit code."""
        loop, pause_s = asyncio.get_running_loop(), PAUSE_S
        while True:
            began_s = loop.time()
            code = await self._run_once(number)
            if self._stopping.is_set():
                return code
            pause_s = PAUSE_S if loop.time() - began_s > STEADY_S else pause_s
            print(
                f"ottla up: worker {number} ended with exit code {code}, and is started again in "
                f"{pause_s:g} s",
                file=sys.stderr,
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._stopping.wait()
                    return code
            pause_s = min(2 * pause_s, PAUSE_MAX_S)

    async def _run_once(self, number: int) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._commands[number],
            stdin=asyncio.subprocess.PIPE,  # whose end stops it
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches this process alone
        )
        reading = asyncio.create_task(self._read(number, process))
        ending = asyncio.create_task(process.wait())
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait([ending, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not ending.done():
            await self._stop(process, ending)
        code = await ending
        await reading
        return code

    async def _stop(self, process: asyncio.subprocess.Process, ending: asyncio.Task[int]) -> None:
        process.terminate()
        done, _ = await asyncio.wait([ending], timeout=STOP_S)
        if not done:
            process.kill()

    async def _read(self, number: int, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            text = line.decode(errors="replace")
            if READY in text:
                self._addresses[number] = text.partition(READY)[2].strip()
                if len(self._addresses) == len(self._commands):
                    self._all_ready.set()


def run_workers(settings: LoadedConfig, count: int, arguments: Sequence[str]) -> int:
    """`arguments` are those of `ottla up`, without --workers. InvalidOption if they do not fit."""
    check_workers(settings, count)
    host = socket.gethostname()
    for directory in settings.config.log_directories:
        os.makedirs(directory, exist_ok=True)
    commands = [
        [
            sys.executable,
            "-m",
            "ottla.cli.main",
            "up",
            "--stop-with-stdin",
            *replaced(arguments, worker_settings(settings, number, host)),
        ]
        for number in range(count)
    ]

    async def main() -> int:
        return await Workers(commands).run()

    return asyncio.run(main())
