"""A broker in this process: load it, serve, and stop with the first signal.

Promises  one line on standard output once clients can connect. The exit code is 0 after a clean
          shutdown, 1 if the broker could not start or failed.
Leaves    options and settings to `commands/up.py`, explaining errors to `start_errors.py`.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ottla import __version__
from ottla.base.memory.collector import begin_broker_process
from ottla.cli.process import discard_output, print_error, wait_for_end_of_input

if TYPE_CHECKING:
    from ottla.broker.broker import Broker
    from ottla.config.load import LoadedConfig

log = logging.getLogger(__name__)

DEFAULT_LISTEN = "localhost:9092"


def refuse(message: str, *, code: int) -> int:
    print_error(f"ottla up: {message}")
    return code


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Load without garbage collection, and exclude what was loaded from later collections.

    Code and partitions stay for the life of the process. With 10,000 partitions a collection of all
    objects would block the event loop for a fifth of a second.
    """
    gc.disable()
    try:
        yield
    finally:
        begin_broker_process()
        gc.enable()


async def serve(settings: LoadedConfig, *, stops_with_stdin: bool = False) -> int:
    from ottla.cli.broker_process.start_errors import problem_before_loading

    problem = await problem_before_loading(settings)
    if problem is not None:
        return refuse(problem, code=1)
    with without_garbage_collection():
        from ottla.broker.broker import Broker

        broker = Broker(settings)
        problem = await open_broker(broker)
    if problem is not None:
        return refuse(problem, code=1)
    stopping = stop_signals(stops_with_stdin=stops_with_stdin)
    running = asyncio.create_task(broker.run(), name="broker")
    ready = asyncio.create_task(broker.ready(), name="ready")
    await asyncio.wait([ready, running], return_when=asyncio.FIRST_COMPLETED)
    if ready.done():
        log_start(broker)
        say_ready(ready_message(broker, is_interactive=sys.stdout.isatty()))
    stop = asyncio.create_task(stopping.wait(), name="stop")
    await asyncio.wait([stop, running], return_when=asyncio.FIRST_COMPLETED)
    log.info("stopping")
    if not running.done():
        await broker.drain()
    running.cancel()
    from ottla.cli.broker_process.start_errors import EXPECTED, explain_end, unclean_shutdown

    try:
        await running
    except asyncio.CancelledError:
        log.info("stopped, all files are synced")
        return 0
    except EXPECTED as error:  # a disk that is full or missing
        return refuse(unclean_shutdown(error, broker.config.log_directories), code=1)
    except ExceptionGroup as ended:
        expected, others = ended.split(EXPECTED)
        if expected is None or others is not None:
            raise
        why = explain_end(first_of(expected), broker.settings)
        return refuse(f"cannot continue: {why}", code=1)
    return refuse("the broker ended unexpectedly", code=1)


def log_start(broker: Broker) -> None:
    image = broker.publisher.image
    log.info(
        "ottla %s, node %d, data in %s, topics: %d, partitions: %d",
        __version__,
        broker.broker_id,
        ", ".join(broker.config.log_directories),
        len(image.topics),
        image.partition_count,
    )


def say_ready(message: str) -> None:
    """Standard output may be closed or full: the broker serves nevertheless."""
    try:
        print(message, flush=True)
    except OSError as error:
        discard_output()
        print(f"ottla up: the output cannot be written: {error.strerror}", file=sys.stderr)


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first exception; nested task groups raise nested exception groups."""
    first = group.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first


async def open_broker(broker: Broker) -> str | None:
    """Load the data and bind the ports; an error message if that fails."""
    from ottla.cli.broker_process.start_errors import EXPECTED, explain

    try:
        await broker.open()
    except EXPECTED as error:
        return explain(error, broker.settings)
    return None


def stop_signals(*, stops_with_stdin: bool) -> asyncio.Event:
    """Set by the first stop request; a second signal ends the process at once."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    names = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # of a closed terminal; nohup ignores it
        names.append(signal.SIGHUP)

    def stop() -> None:
        stopping.set()
        for name in names:
            loop.remove_signal_handler(name)

    for name in names:
        loop.add_signal_handler(name, stop)
    if stops_with_stdin:

        def wait_for_end() -> None:
            wait_for_end_of_input()
            loop.call_soon_threadsafe(stopping.set)

        # A thread, because event loops watch pipes but not every other kind of file.
        threading.Thread(target=wait_for_end, name="stdin", daemon=True).start()
    return stopping


def ready_message(broker: Broker, *, is_interactive: bool) -> str:
    lines = [f"ottla is ready on {broker.address}"]
    if is_interactive:
        other = "" if broker.address == DEFAULT_LISTEN else f" --bootstrap {broker.address}"
        directories = ", ".join(map(os.path.relpath, broker.config.log_directories))
        lines += [
            f"  data directory: {directories}; Ctrl-C stops the broker",
            "  try in another terminal:",
            f"    ottla produce greetings hello world{other}",
            f"    ottla consume greetings{other}",
        ]
    return "\n".join(lines)
