"""A cluster on three ZooKeeper servers, with a proxy on every way between any two of its processes.

Owns      the ensemble and the network. Clients reach brokers directly: what is tested is how
          brokers, controllers and ZooKeeper get along without each other.

    zookeeper-2-1   the first ZooKeeper server, as broker 2 reaches it
    peers-3-1       the first ZooKeeper server, as the third one reaches it (data and elections)
    brokers-1       broker 1, as other brokers reach it
"""

from __future__ import annotations

import shutil
import signal
import socket
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

from tests.chaos.network.network import Network
from tests.chaos.network.rules import Direction, Rule
from tests.support.waiting import wait_until

from ottla.base.ports import non_ephemeral_ports
from ottla.testing.broker import RunningBroker
from ottla.testing.cluster import RunningCluster
from ottla.testing.zookeeper import ZooKeeperServer

HOST = "127.0.0.1"
SERVERS = (1, 2, 3)
BOTH = (Direction.REQUESTS, Direction.ANSWERS)
ANSWER_S = 2.0


class Ensemble:
    """Three ZooKeeper servers, each of which reaches the others through doors."""

    def __init__(self, network: Network, directory: Path) -> None:
        self._network = network
        free = non_ephemeral_ports(3 * len(SERVERS) + 2 * len(SERVERS) * (len(SERVERS) - 1))
        self.ports = {each: free.pop() for each in SERVERS}
        self._own = {each: (free.pop(), free.pop()) for each in SERVERS}  # data, elections
        self._doors = {
            (one, other): (free.pop(), free.pop())
            for one in SERVERS
            for other in SERVERS
            if one != other
        }
        self.servers = {each: self._new_server(each, directory) for each in SERVERS}

    def _new_server(self, number: int, directory: Path) -> ZooKeeperServer:
        members = []
        for each in SERVERS:
            data, election = self._own[each] if each == number else self._doors[number, each]
            members.append(f"{each}={HOST}:{data}:{election}")
        return ZooKeeperServer(
            directory / f"zookeeper-{number}",
            "--servers", ",".join(members), "--id", str(number), "--heap", "128m",
            listen=f"{HOST}:{self.ports[number]}",
        )  # fmt: skip

    @property
    def addresses(self) -> str:
        return ",".join(f"{HOST}:{port}" for port in self.ports.values())

    def start(self) -> None:
        for (one, other), doors in self._doors.items():
            for kind, door, target in zip("de", doors, self._own[other], strict=True):
                self._network.add(f"peers-{one}-{other}-{kind}", door, target)
        with ThreadPoolExecutor(len(SERVERS)) as threads:
            list(threads.map(ZooKeeperServer.start, self.servers.values()))

    def close(self) -> None:
        for server in self.servers.values():
            server.kill()

    def leader(self) -> int:
        """The server that leads now; waits while there is none."""
        found: list[int] = []

        def is_found() -> bool:
            found[:] = [each for each in SERVERS if self.mode(each) == "leader"]
            return bool(found)

        wait_until(is_found, "a leader of ZooKeeper")
        return found[0]

    def mode(self, number: int) -> str:
        """What a server calls itself, such as "leader"; empty if it does not answer."""
        try:
            with socket.create_connection((HOST, self.ports[number]), ANSWER_S) as connection:
                connection.settimeout(ANSWER_S)
                connection.sendall(b"srvr")
                answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return ""
        return answer.partition("Mode: ")[2].partition("\n")[0]


def cut_server(number: int) -> list[Rule]:
    """A ZooKeeper server without brokers and without the other servers."""
    return [
        Rule("*", f"zookeeper-*-{number}"),
        Rule("*", f"peers-{number}-*"),
        Rule("*", f"peers-*-{number}-*"),
    ]


def cut_from_zookeeper(broker_id: int, directions: tuple[Direction, ...] = BOTH) -> list[Rule]:
    return [Rule("*", f"zookeeper-{broker_id}-*", directions)]


def cut_from_brokers(broker_id: int) -> list[Rule]:
    return [*unheard_by_brokers(broker_id), *deaf_to_brokers(broker_id)]


def deaf_to_brokers(broker_id: int) -> list[Rule]:
    """It receives nothing from other brokers, and they receive what it sends."""
    return [
        Rule("*", f"brokers-{broker_id}", (Direction.REQUESTS,)),
        Rule(f"broker-{broker_id}", "brokers-*", (Direction.ANSWERS,)),
    ]


def unheard_by_brokers(broker_id: int) -> list[Rule]:
    return [
        Rule("*", f"brokers-{broker_id}", (Direction.ANSWERS,)),
        Rule(f"broker-{broker_id}", "brokers-*", (Direction.REQUESTS,)),
    ]


class NetworkedCluster(RunningCluster):
    def __init__(self, brokers: int = 3, *, config: Mapping[str, Any]) -> None:
        self.network = Network()
        self._ensemble_directory = Path(tempfile.mkdtemp(prefix="ottla-ensemble-"))
        self.ensemble = Ensemble(self.network, self._ensemble_directory)
        listeners = {
            "listener.security.protocol.map": "CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT",
            "inter.broker.listener.name": "BROKERS",
        }
        super().__init__(
            brokers,
            config={**config, **listeners},
            config_of=self._own_settings,
            zookeeper=self.ensemble.addresses,
        )
        free = non_ephemeral_ports(brokers * (3 + len(SERVERS)))
        self._listening = {each: (free.pop(), free.pop()) for each in self.ids}
        self._doors = {each: free.pop() for each in self.ids}
        self._zookeeper_doors = {each: [free.pop() for _ in SERVERS] for each in self.ids}

    def _own_settings(self, broker_id: int) -> Mapping[str, Any]:
        clients, brokers = self._listening[broker_id]
        chroot = self.zookeeper_connect.partition("/")[2]
        zookeeper = ",".join(f"{HOST}:{each}" for each in self._zookeeper_doors[broker_id])
        listen = f"CLIENTS://{HOST}:{clients},BROKERS://{HOST}:"
        return {
            "listeners": f"{listen}{brokers}",
            "advertised.listeners": f"{listen}{self._doors[broker_id]}",
            "zookeeper.connect": f"{zookeeper}/{chroot}",
        }

    def start_all(self) -> Self:
        try:
            self.network.start()
            for broker_id in self.ids:
                self.network.add(
                    f"brokers-{broker_id}", self._doors[broker_id], self._listening[broker_id][1]
                )
                for number, door in zip(SERVERS, self._zookeeper_doors[broker_id], strict=True):
                    name = f"zookeeper-{broker_id}-{number}"
                    self.network.add(name, door, self.ensemble.ports[number])
            self.ensemble.start()
        except BaseException:
            self.close()
            raise
        return super().start_all()

    def close(self) -> None:
        super().close()
        self.ensemble.close()
        self.network.close()
        shutil.rmtree(self._ensemble_directory, ignore_errors=True)

    # A port of a process that has ended refuses connections; its door does the same.

    def kill(self, broker_id: int) -> None:
        self.network.shut(f"brokers-{broker_id}")
        super().kill(broker_id)

    def start(self, broker_id: int) -> RunningBroker:
        self.network.open(f"brokers-{broker_id}")
        return super().start(broker_id)

    def kill_server(self, number: int) -> None:
        server = self.ensemble.servers[number]
        server.signal(signal.SIGKILL)
        server.wait()

    def cut(self, rules: Iterable[Rule]) -> None:
        """Until `network.heal`."""
        self.network.apply(rules)
