"""`ottla up`: run a broker in the foreground, until Ctrl-C or SIGTERM.

Promises  one line on standard output once clients can connect: `ottla is ready on HOST:PORT`.
          Exit code 0 after a clean shutdown, 1 if the broker could not start or failed, 2 if
          its arguments or settings are invalid.
"""

from __future__ import annotations

import argparse
import errno
import logging
import os
import sys
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ottla.base.log_messages.log_format import LineFormatter, RepetitionFilter
from ottla.base.memory.allocator import keep_freed_memory
from ottla.cli.arguments.texts import Once, path_name
from ottla.cli.broker_process.event_loop import NAMES, run_on
from ottla.cli.broker_process.open_files import raise_open_files_limit
from ottla.cli.broker_process.serving import DEFAULT_LISTEN, refuse, serve
from ottla.cli.process import print_error
from ottla.config.addresses import parse_port

if TYPE_CHECKING:
    from ottla.config.load import LoadedConfig

DEFAULT_DATA = "ottla-data"
CONFIG_BYTES_MAX = 1 << 20  # of a file with settings
# How long the event loop may wait to run again, after each system call, while a thread decodes or
# encodes a large message: Python's own 5 ms would be nearly all of its time.
THREAD_SWITCH_S = 0.0005
OTHER_VARIABLES = (
    "OTTLA_BOOTSTRAP",
    "OTTLA_TESTING_KAFKA",
)  # of Ottla, but not settings of a broker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        type=listen_address,
        action=Once,
        several="use --set listeners=NAME://HOST:PORT,...",
        help=f"address for clients (default: {DEFAULT_LISTEN}); port 0 picks a free port",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        type=data_directories,
        action=Once,
        several="separate them by commas",
        help=f"data directory, or several separated by commas (default: ./{DEFAULT_DATA})",
    )
    parser.add_argument(
        "--config", metavar="FILE", type=path_name, help="a server.properties file of Kafka"
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="a broker setting of Kafka; may be repeated",
    )
    parser.add_argument(
        "--log-level",
        default="WARNING",
        type=str.upper,
        choices=["DEBUG", "INFO", "WARNING", "ERROR"],
        help="minimum level of log messages on standard error (default: WARNING)",
    )
    parser.add_argument(
        "--loop",
        default="auto",
        choices=NAMES,
        help="event loop (default: auto, which is uvloop if it is installed)",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=worker_count,
        default=1,
        help="run N brokers of a cluster, one for each core: node ids and ports follow the first",
    )
    parser.add_argument(
        "--stop-with-stdin",
        action="store_true",
        help="stop when standard input is closed, such as when the parent process ends",
    )


def worker_count(text: str) -> int:
    from ottla.cli.broker_process.workers import WORKERS_MAX

    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= WORKERS_MAX):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {WORKERS_MAX}")
    return int(text)


def listen_address(text: str) -> str:
    """HOST:PORT, :PORT for all addresses of this machine, or a port alone for localhost."""
    _host, colon, port = text.rpartition(":")
    if "://" in text or "," in text or not (port.isascii() and port.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, such as {DEFAULT_LISTEN}")
    try:
        parse_port(text, port, lowest=0)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text if colon else f"localhost:{port}"


def data_directories(text: str) -> str:
    """Paths separated by commas; each absolute, and once."""
    names = [path_name(each.strip()) for each in text.split(",")]
    try:
        paths = [os.path.abspath(each) for each in names]
    except FileNotFoundError:  # the current directory, which `run` reports
        return text
    for path in paths:
        if paths.count(path) > 1:
            raise argparse.ArgumentTypeError(f"{path} is given twice")
    return ",".join(paths)


def run(arguments: argparse.Namespace) -> int:
    log_to_stderr(arguments.log_level)
    from ottla.config.options import InvalidOption

    try:
        os.getcwd()
    except FileNotFoundError:
        return refuse("the current directory was deleted: start it in another one", code=1)
    for path in (arguments.data or "").split(","):
        if path and is_cluster_directory(path):
            return refuse(
                f"{path} is the directory of a local cluster, not of a broker\n"
                f"  start the cluster: ottla cluster up --data {path}\n"
                "  or choose another directory with --data DIR",
                code=1,
            )
    if (problem := contradiction(arguments)) is not None:
        return refuse(problem, code=2)
    try:
        settings = load_settings(arguments)
    except InvalidOption as error:
        return refuse(str(error), code=2)
    except OSError as error:
        return refuse(f"--config {arguments.config}: {error.strerror}", code=2)
    for notice in settings.notices:
        print_error(f"ottla up: {notice}")
    if arguments.workers > 1:
        return run_several(settings, arguments)
    raise_open_files_limit()  # before the broker decides how many files it keeps open
    keep_freed_memory()
    sys.setswitchinterval(THREAD_SWITCH_S)
    try:
        return run_on(
            arguments.loop, lambda: serve(settings, stops_with_stdin=arguments.stop_with_stdin)
        )
    except ModuleNotFoundError as error:
        if error.name != "uvloop":
            raise
        return refuse("uvloop is not installed: pip install uvloop, or leave out --loop", code=2)


def run_several(settings: LoadedConfig, arguments: argparse.Namespace) -> int:
    from ottla.cli.broker_process.workers import SET, run_workers
    from ottla.config.options import InvalidOption

    given = [f"{SET}{each}" for each in [*defaults(arguments), *arguments.settings]]
    if arguments.config is not None:
        given += ["--config", arguments.config]
    given += ["--log-level", arguments.log_level, "--loop", arguments.loop]
    try:
        return run_workers(settings, arguments.workers, given)
    except InvalidOption as error:
        return refuse(str(error), code=2)
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}", code=1)


def is_cluster_directory(path: str) -> bool:
    """Its members have names like those of partitions: a broker would take them for its own."""
    from ottla.cli.local_cluster.directory import ClusterDirectory

    return ClusterDirectory(path).description_path.exists()


def log_to_stderr(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RepetitionFilter())
    logging.basicConfig(level=level, handlers=[handler])


def load_settings(arguments: argparse.Namespace) -> LoadedConfig:
    from ottla.config.load import PropertiesFile, load_config

    file = None
    if arguments.config is not None:
        file = PropertiesFile(arguments.config, read_config(arguments.config))
    settings = [*defaults(arguments), *arguments.settings]
    environment = {name: text for name, text in os.environ.items() if name not in OTHER_VARIABLES}
    return load_config(file, environment, settings)


def read_config(path: str) -> bytes:
    with open(path, "rb") as file:
        content = file.read(CONFIG_BYTES_MAX + 1)
    if len(content) > CONFIG_BYTES_MAX:
        raise OSError(errno.EFBIG, f"larger than {CONFIG_BYTES_MAX} bytes")
    return content


def contradiction(arguments: argparse.Namespace) -> str | None:
    """An error message if one of two options would have no effect."""
    given = {each.partition("=")[0].strip() for each in arguments.settings}
    for option, value, names in (
        ("--listen", arguments.listen, ("listeners",)),
        ("--data", arguments.data, ("log.dirs", "log.dir")),
    ):
        both = [name for name in names if name in given]
        if value is not None and both:
            return f"{option} and --set {both[0]} say the same: give one of them"
    return given_twice(arguments.settings)


def given_twice(settings: Iterable[str]) -> str | None:
    found: dict[str, str] = {}
    for each in settings:
        name, _, text = (part.strip() for part in each.partition("="))
        if found.setdefault(name, text) != text:
            return f"--set {name} is given twice: {found[name]!r} and {text!r}"
    return None


def defaults(arguments: argparse.Namespace) -> list[str]:
    """Settings of --listen and --data; their defaults override nothing that is given elsewhere."""
    names = {each.partition("=")[0].strip() for each in arguments.settings}
    settings = []
    if arguments.listen is not None or not is_given(arguments, names, "listeners"):
        settings.append(f"listeners=PLAINTEXT://{arguments.listen or DEFAULT_LISTEN}")
    if arguments.data is not None or not is_given(arguments, names, "log.dirs", "log.dir"):
        settings.append(f"log.dirs={arguments.data or data_directories(DEFAULT_DATA)}")
    return settings


def is_given(arguments: argparse.Namespace, settings: Collection[str], *names: str) -> bool:
    """By --set, in the environment, or perhaps in the file."""
    variables = ("OTTLA_" + name.upper().replace(".", "_") for name in names)
    return (
        arguments.config is not None
        or any(name in settings for name in names)
        or any(variable in os.environ for variable in variables)
    )
