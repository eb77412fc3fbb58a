"""`ottla zookeeper`: run a ZooKeeper server in the foreground, until Ctrl-C or SIGTERM.

Promises  one line on standard output once clients can connect: `zookeeper is ready on HOST:PORT`.
          The process is the server itself: signals sent to its process id reach ZooKeeper.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

from ottla.cli.arguments.texts import path_name
from ottla.cli.errors import CommandFailed
from ottla.cli.process import wait_for_end_of_input
from ottla.cli.zookeeper_process.ending import FULL, is_disk_full, wait_for_end, write_probe
from ottla.cli.zookeeper_process.jars import find_jars
from ottla.cli.zookeeper_process.java import find_java
from ottla.cli.zookeeper_process.readiness import is_process_alive, wait_until_serving
from ottla.cli.zookeeper_process.server_config import EnsembleServer, parse_members, write_config
from ottla.config.addresses import Address, parse_port

DEFAULT_LISTEN = "localhost:2181"
DEFAULT_DATA = "ottla-zookeeper"
STANDALONE = "org.apache.zookeeper.server.ZooKeeperServerMain"
ENSEMBLE_MEMBER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
JAVA_OPTIONS = ("-Xms32m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
WITHOUT_LOG = "-Dslf4j.internal.verbosity=ERROR"  # no warning that there is none


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        type=listen_address,
        default=DEFAULT_LISTEN,
        help=f"address for clients (default: {DEFAULT_LISTEN}); port 0 picks a free port",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        type=path_name,
        default=DEFAULT_DATA,
        help=f"data directory (default: ./{DEFAULT_DATA})",
    )
    parser.add_argument(
        "--servers",
        metavar="ID=HOST:PORT:PORT,...",
        type=members_argument,
        default=[],
        help="all servers of an ensemble, with their ports for data and for elections",
    )
    parser.add_argument("--id", type=int, help="which of --servers this one is")
    parser.add_argument(
        "--jars", metavar="DIR", type=path_name, help="directory with the jars of ZooKeeper"
    )
    parser.add_argument(
        "--heap",
        metavar="SIZE",
        type=heap_size,
        default="256m",
        help="largest heap of Java, such as 1g (default: 256m)",
    )
    parser.add_argument("--log", action="store_true", help="write ZooKeeper's log on stderr")
    parser.add_argument(
        "--stop-with-stdin",
        action="store_true",
        help="stop when standard input is closed, such as when the parent process ends",
    )


def listen_address(text: str) -> Address:
    host, colon, port = text.rpartition(":")
    try:
        return Address(host.strip("[]") if colon else "localhost", parse_port(text, port, lowest=0))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def members_argument(text: str) -> list[EnsembleServer]:
    try:
        return parse_members(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def heap_size(text: str) -> str:
    number, unit = text[:-1], text[-1:].lower()
    if unit not in ("k", "m", "g") or not (number.isascii() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size, such as 256m or 1g")
    return text


def run(arguments: argparse.Namespace) -> int:
    java = find_java()
    check_membership(arguments.servers, arguments.id)
    jars = find_jars(arguments.jars, with_logging=arguments.log)
    address = free_address(arguments.listen)
    data = data_directory(arguments.data)
    config = write_config(data, address, arguments.id or 0, arguments.servers)
    sys.stdout.flush()
    watch_from_another_process(
        address, arguments.servers, data, stops_with_stdin=arguments.stop_with_stdin
    )
    main_class = ENSEMBLE_MEMBER if arguments.servers else STANDALONE
    command = [java, *JAVA_OPTIONS, f"-Xmx{arguments.heap}"]
    command += ["-Dlog4j2.level=INFO" if arguments.log else WITHOUT_LOG]
    os.execv(java, [*command, "-cp", ":".join(map(str, jars)), main_class, str(config)])


def check_membership(members: list[EnsembleServer], server_id: int | None) -> None:
    ids = [each.id for each in members]
    if members and server_id not in ids:
        listed = ", ".join(map(str, ids))
        found = "is missing: it is" if server_id is None else f"{server_id} is not"
        raise CommandFailed(f"--id {found} one of the ids in --servers: {listed}", code=2)
    if server_id is not None and not members:
        raise CommandFailed("--id belongs to an ensemble: name its --servers, too", code=2)


def data_directory(name: str) -> Path:
    path = Path(name).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_probe(path)
    except OSError as error:
        advice = "make room on its disk" if error.errno in FULL else ""
        raise CommandFailed(f"--data {name}: {error.strerror}", advice, code=2) from error
    return path


def free_address(listen: Address) -> Address:
    """The address with a port that is not in use: Java's own message would be a stack trace."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            return Address(listen.host, probe.getsockname()[1])
    except OSError as error:
        raise CommandFailed(
            f"cannot listen on {listen}: {error.strerror}",
            "stop what uses the port, or choose another one: --listen HOST:PORT",
        ) from error


def watch_from_another_process(
    address: Address, servers: list[EnsembleServer], data: Path, *, stops_with_stdin: bool
) -> None:
    """Fork a process that prints the ready line, and why the server has ended: this one becomes the
    server.

    It is the child of a child, so that the server never has to wait for it.
    """
    server = os.getpid()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if os.fork():
        os._exit(0)
    with suppress(BaseException):
        os.setsid()  # Ctrl-C is for the server
        announce(address, server, servers)
        if stops_with_stdin:
            threading.Thread(target=stop_at_end_of_input, args=[server], daemon=True).start()
        wait_for_end(server)
        if is_disk_full(data):
            what = f"the server on {address} has ended: the disk of {data} is full, make room on it"
            print(f"ottla zookeeper: {what}", file=sys.stderr, flush=True)
    os._exit(0)


def announce(address: Address, server: int, servers: list[EnsembleServer]) -> None:
    def remind() -> None:
        names = ",".join(map(str, servers))
        what = f"a majority of the servers {names}" if servers else f"the server on {address}"
        print(f"ottla zookeeper: waiting for {what}", file=sys.stderr, flush=True)

    if wait_until_serving(address, lambda: is_process_alive(server), remind):
        print(f"zookeeper is ready on {address}", flush=True)
    else:
        what = f"the server on {address} ended before it served clients: --log shows why"
        print(f"ottla zookeeper: {what}", file=sys.stderr, flush=True)
    os.close(sys.stdout.fileno())


def stop_at_end_of_input(server: int) -> None:
    wait_for_end_of_input()
    with suppress(ProcessLookupError):
        os.kill(server, signal.SIGKILL)
