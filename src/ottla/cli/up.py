"""`ottla up`: run a broker in the foreground."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.config.load import LoadedConfig

DEFAULT_DATA = "ottla-data"
DEFAULT_LISTEN = "localhost:9092"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help=f"where clients connect ({DEFAULT_LISTEN}); port 0 picks a free one",
    )
    parser.add_argument("--data", metavar="DIR", help=f"where records are kept (./{DEFAULT_DATA})")
    parser.add_argument("--config", metavar="FILE", help="a server.properties, as Kafka has it")
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="one setting under Kafka's name; may be given several times",
    )
    parser.add_argument(
        "--log-level",
        default="WARNING",
        choices=["DEBUG", "INFO", "WARNING", "ERROR"],
        help="how much to tell on standard error",
    )


def run(arguments: argparse.Namespace) -> int:
    logging.basicConfig(
        level=arguments.log_level,
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    from ottla.config.options import InvalidOption

    try:
        settings = load_settings(arguments)
    except (InvalidOption, OSError) as error:
        print(f"ottla up: {error}", file=sys.stderr)
        return 2
    for notice in settings.notices:
        print(f"ottla up: {notice}", file=sys.stderr)
    return asyncio.run(serve(settings))


def load_settings(arguments: argparse.Namespace) -> LoadedConfig:
    from ottla.config.load import PropertiesFile, load_config

    file = None
    if arguments.config is not None:
        file = PropertiesFile(arguments.config, Path(arguments.config).read_bytes())
    settings = [*defaults(arguments), *arguments.settings]
    return load_config(file, os.environ, settings)


def defaults(arguments: argparse.Namespace) -> list[str]:
    """What the short options mean; a configuration file keeps its own listeners and directories."""
    settings = []
    if arguments.listen is not None or arguments.config is None:
        settings.append(f"listeners=PLAINTEXT://{arguments.listen or DEFAULT_LISTEN}")
    if arguments.data is not None or arguments.config is None:
        settings.append(f"log.dirs={os.path.abspath(arguments.data or DEFAULT_DATA)}")
    return settings


async def serve(settings: LoadedConfig) -> int:
    from ottla.broker.broker import Broker
    from ottla.storage.errors import StorageError

    broker = Broker(settings)
    try:
        await broker.open()
    except (StorageError, OSError) as error:
        print(f"ottla up: {error}", file=sys.stderr)
        return 1
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopping.set)
    running = asyncio.create_task(broker.run())
    await asyncio.wait(
        [asyncio.create_task(broker.ready()), running], return_when=asyncio.FIRST_COMPLETED
    )
    print(f"ottla is ready on {broker.address}", flush=True)
    await asyncio.wait(
        [asyncio.create_task(stopping.wait()), running], return_when=asyncio.FIRST_COMPLETED
    )
    await broker.drain()
    running.cancel()
    try:
        await running
    except asyncio.CancelledError:
        pass
    return 0
