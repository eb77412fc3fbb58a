"""Whether the ports of a cluster are free, before anything is started.

After a kill -9 of `ottla cluster up` its processes end by themselves, within a second or so: they
are waited for.
"""

from __future__ import annotations

import errno
import json
import socket
import time
from pathlib import Path

from ottla.cli.broker_process.owners import port_owner
from ottla.cli.errors import CommandFailed
from ottla.cli.local_cluster.directory import HOST, ClusterDirectory, Description
from ottla.cli.process import print_error
from ottla.cli.zookeeper_process.readiness import is_process_alive

ENDING_S = 60.0
RELEASE_S = 5.0  # of ports, after the end of a process
POLL_S = 0.05


def require_free_ports(directory: ClusterDirectory, description: Description) -> None:
    ports = [*description.broker_ports.values()]
    ports += [each.client for each in description.zookeepers.values()]
    used = used_ports(ports)
    if used:
        wait_for_last_run(directory, ports)
        used = used_ports(ports)
    if used:
        owners = {port: port_owner(port) for port in used}
        raise CommandFailed(
            "\n".join(
                f"port {port} is in use" + ("" if owner is None else f" by {owner}")
                for port, owner in owners.items()
            ),
            *advice(directory),
        )


def used_ports(ports: list[int]) -> list[int]:
    return [port for port in ports if not is_free(port)]


def wait_for_last_run(directory: ClusterDirectory, ports: list[int]) -> None:
    """Wait until the processes of a run that was killed have ended, if there are any. The ports of
    one are in use until the last of its threads has ended, which is later."""
    if not directory.running_path.exists():
        return
    left = last_processes(directory)
    if left:
        names = ", ".join(f"{name} (process {pid})" for pid, name in left.items())
        print_error(f"ottla cluster up: waiting for {names} of the last run to end")
    deadline_s = time.monotonic() + ENDING_S
    while any(map(is_process_alive, left)) and time.monotonic() < deadline_s:
        time.sleep(POLL_S)
    deadline_s = min(deadline_s, time.monotonic() + RELEASE_S)
    while used_ports(ports) and time.monotonic() < deadline_s:
        time.sleep(POLL_S)


def last_processes(directory: ClusterDirectory) -> dict[int, str]:
    """The names of those that still run, by process id."""
    try:
        members = json.loads(directory.running_path.read_text())["members"]
        pids = {each["pid"]: each["name"] for each in members if each["pid"] is not None}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {pid: name for pid, name in pids.items() if is_of(directory, pid)}


def is_of(directory: ClusterDirectory, pid: int) -> bool:
    """Not another process with the same id."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return str(directory.path).encode() in command and is_process_alive(pid)


def advice(directory: ClusterDirectory) -> list[str]:
    if directory.description_path.exists():
        return [
            "stop what uses it; or change listeners and zookeeper.connect in "
            f"{directory.name}/broker-N/server.properties and the ports in "
            f"{directory.name}/cluster.json"
        ]
    return ["stop what uses it, or choose another first port: --port PORT (0 picks free ports)"]


def is_free(port: int) -> bool:
    for family, kind, _, _, address in socket.getaddrinfo(HOST, port, type=socket.SOCK_STREAM):
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    return False
    return True
