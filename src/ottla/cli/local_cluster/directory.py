"""The directory of a local cluster: its layout, and whether it may be used.

    cluster.json                  ports and paths, written when the cluster is created
    cluster.lock                  locked while `ottla cluster up` runs
    control.socket                where `ottla cluster up` takes commands
    running.json                  process ids, addresses and states, while `ottla cluster up` runs
    broker-N/server.properties    settings of a broker; written only if it does not exist
    broker-N/data, broker.log     its data, and what it writes to standard error
    zookeeper-N                   data of a ZooKeeper server, with zookeeper.log

Promises  a directory with other content is refused, and nothing is written to it.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from ottla.base.java.properties import format_properties
from ottla.base.ports import non_ephemeral_ports
from ottla.cli.errors import USAGE, CommandFailed
from ottla.config.replicated_defaults import replicated_defaults

DEFAULT_DATA = "ottla-cluster"
DEFAULT_PORT = 9092
DEFAULT_BROKERS = 3
HOST = "localhost"
CHROOT = "/ottla"
OTHER_DIRECTORY = "choose another directory: --data DIR"
FILES_SHOWN = 3
SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "zookeeper.connection.timeout.ms": "60000",  # both start at the same time
}
HEADER = """\
# Settings of broker {broker_id}, under Kafka's names. This file is written once, when the broker is
# created: change it, and restart the broker with `ottla cluster restart {broker_id}`.
"""


@dataclass(frozen=True)
class ZooKeeperPorts:
    client: int
    data: int
    election: int


@dataclass(frozen=True)
class Description:
    """What `cluster.json` holds."""

    directory: str  # paths in the files of brokers begin with it
    broker_ports: dict[int, int]
    zookeepers: dict[int, ZooKeeperPorts]

    @property
    def zookeeper_connect(self) -> str:
        servers = ",".join(f"{HOST}:{ports.client}" for ports in self.zookeepers.values())
        return servers + CHROOT

    def without_broker(self, broker_id: int) -> Description:
        ports = {each: port for each, port in self.broker_ports.items() if each != broker_id}
        return replace(self, broker_ports=ports)

    def encode(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def decode(cls, text: str) -> Self:
        """ValueError, KeyError or TypeError if it is not what `encode` wrote."""
        fields: dict[str, Any] = json.loads(text)
        return cls(
            fields["directory"],
            {int(number): int(port) for number, port in fields["broker_ports"].items()},
            {int(n): ZooKeeperPorts(**ports) for n, ports in fields["zookeepers"].items()},
        )


class ClusterDirectory:
    def __init__(self, name: str) -> None:
        self.name = name  # as it was given, for messages
        self.path = Path(name).absolute()
        self.description_path = self.path / "cluster.json"
        self.lock_path = self.path / "cluster.lock"
        self.socket_path = self.path / "control.socket"
        self.running_path = self.path / "running.json"

    def member(self, name: str) -> Path:
        return self.path / name

    def properties(self, broker_id: int) -> Path:
        return self.member(f"broker-{broker_id}") / "server.properties"

    def option(self) -> str:
        """The words that make another command use this directory."""
        return "" if self.name == DEFAULT_DATA else f" --data {self.name}"

    def require_cluster(self) -> None:
        """CommandFailed if there is no cluster: for commands other than `up`."""
        if not self.description_path.exists():
            raise CommandFailed(
                f"there is no cluster in {self.name}",
                f"start one: ottla cluster up{self.option()}; or name its directory: --data DIR",
            )

    def load(self) -> Description | None:
        """None if there is no cluster yet. CommandFailed if it is not a directory for one."""
        try:
            content = sorted(os.listdir(self.path))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CommandFailed(f"--data {self.name}: {error.strerror}", code=USAGE) from error
        if not self.description_path.exists():
            if content not in ([], [self.lock_path.name]):
                found = ", ".join(content[:FILES_SHOWN])
                raise CommandFailed(
                    f"--data {self.name}: not the directory of a cluster: it contains {found}",
                    OTHER_DIRECTORY,
                    code=USAGE,
                )
            return None
        try:
            description = Description.decode(self.description_path.read_text())
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CommandFailed(
                f"{self.description_path} is damaged: {error}",
                f"restore it from a backup, or {OTHER_DIRECTORY}",
            ) from error
        if not os.path.exists(description.directory) or not os.path.samefile(
            description.directory, self.path
        ):
            raise CommandFailed(
                f"--data {self.name}: this cluster was created as {description.directory}, and the "
                "files of its brokers name that path",
                f"move it back; or replace the path in {self.name}/cluster.json and in "
                f"{self.name}/broker-*/server.properties",
            )
        return description

    def create(self) -> None:
        if "," in str(self.path):
            raise CommandFailed(
                f"--data {self.name}: a comma separates paths in log.dirs",
                OTHER_DIRECTORY,
                code=USAGE,
            )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandFailed(f"--data {self.name}: {error.strerror}", code=USAGE) from error
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise CommandFailed(
                f"--data {self.name}: not writable by this user", OTHER_DIRECTORY, code=USAGE
            )

    def write(self, description: Description) -> None:
        """Create what does not exist yet."""
        replace_file(self.description_path, description.encode())
        for broker_id in description.broker_ports:
            path = self.properties(broker_id)
            path.parent.mkdir(exist_ok=True)
            if not path.exists():
                replace_file(path, self._properties_text(description, broker_id))
        for number in description.zookeepers:
            self.member(f"zookeeper-{number}").mkdir(exist_ok=True)

    def _properties_text(self, description: Description, broker_id: int) -> str:
        port = description.broker_ports[broker_id]
        settings = {
            "node.id": str(broker_id),
            "listeners": f"PLAINTEXT://{HOST}:{port}",
            "log.dirs": str(self.path / f"broker-{broker_id}" / "data"),
            "zookeeper.connect": description.zookeeper_connect,
            **replicated_defaults(len(description.broker_ports)),
            **SETTINGS,
        }
        lines = [HEADER.format(broker_id=broker_id)]
        lines += [
            # Colons are escaped by `format_properties`, as Java does; they need not be.
            format_properties({name: value}).decode().replace("\\:", ":")
            for name, value in settings.items()
        ]
        return "".join(lines)


def replace_file(path: Path, text: str) -> None:
    """Readers see the old content or the new."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text)
    new.replace(path)


def plan(
    directory: ClusterDirectory,
    found: Description | None,
    brokers: int | None,
    zookeepers: int | None,
    port: int | None,
) -> Description:
    """The cluster as it will be. CommandFailed if it cannot have what is asked for."""
    if found is None:
        return new_cluster(directory, brokers or DEFAULT_BROKERS, zookeepers or 1, port)
    if zookeepers not in (None, len(found.zookeepers)):
        raise unchangeable(directory, "--zookeepers", len(found.zookeepers))
    first = min(found.broker_ports.values())
    if port not in (None, 0, first):
        raise CommandFailed(
            f"--port {port}: the cluster in {directory.name} begins with port {first}",
            f"change listeners in {directory.name}/broker-N/server.properties, "
            f"or {OTHER_DIRECTORY}",
            code=USAGE,
        )
    return with_more_brokers(directory, found, brokers or len(found.broker_ports))


def new_cluster(
    directory: ClusterDirectory, brokers: int, zookeepers: int, port: int | None
) -> Description:
    free = non_ephemeral_ports(brokers + 3 * zookeepers)
    if port is None:
        port = DEFAULT_PORT
    ports = free[:brokers] if port == 0 else [port + n for n in range(brokers)]
    others = free[brokers:]
    return Description(
        str(directory.path),
        {n + 1: ports[n] for n in range(brokers)},
        {n + 1: ZooKeeperPorts(*others[3 * n : 3 * n + 3]) for n in range(zookeepers)},
    )


def with_more_brokers(directory: ClusterDirectory, found: Description, brokers: int) -> Description:
    if brokers < len(found.broker_ports):
        raise unchangeable(directory, "--brokers", len(found.broker_ports), " or more")
    ports = dict(found.broker_ports)
    while len(ports) < brokers:  # some may have been removed: ids are not used again
        ports[max(ports) + 1] = max(ports.values()) + 1
    return Description(found.directory, ports, found.zookeepers)


def unchangeable(
    directory: ClusterDirectory, option: str, count: int, more: str = ""
) -> CommandFailed:
    return CommandFailed(
        f"{option}: the cluster in {directory.name} has {count}",
        f"leave out {option}, or use {count}{more}; for another cluster use another --data DIR",
        code=USAGE,
    )
