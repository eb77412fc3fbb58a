"""The cluster under test: broker processes, ZooKeeper, and a network with doors between all of
them.

Owns      the processes and their directories. `kill`, `pause` and the like are faults; `restore`
          ends all of them.
Leaves    topics and leaders to `topics.py`.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.chaos.cluster.settings import broker_settings
from tests.chaos.network.network import Network
from tests.chaos.planted.plant import PLANT, STEP

from ottla.base.ports import non_ephemeral_ports
from ottla.testing.broker import RunningBroker
from ottla.testing.cluster import RunningCluster
from ottla.testing.zookeeper import ZooKeeperServer

HOST = "127.0.0.1"
ROOT = Path(__file__).parents[3]

DOORS = ("clients", "brokers", "zookeeper")


class Ports:
    """Of one broker: where it listens, and where the doors to it and to its ZooKeeper are."""

    def __init__(self, free: list[int]) -> None:
        self.clients, self.brokers = free.pop(), free.pop()
        self.doors = {name: free.pop() for name in DOORS}


class TestBroker(RunningBroker):
    """One that a bug may be planted in, and that can be killed at a step; see its module."""

    def _program(self) -> list[str]:
        return ["tests.chaos.planted.broker", "up", "--stop-with-stdin"]


class TestCluster(RunningCluster):
    def __init__(self, *arguments: Any, environment: Mapping[str, str], **others: Any) -> None:
        super().__init__(*arguments, **others)
        self._environment = {**environment, "PYTHONPATH": str(ROOT)}

    def _new_broker(self, broker_id: int) -> RunningBroker:
        broker = super()._new_broker(broker_id)
        broker.__class__ = TestBroker
        broker.environment.update(self._environment)
        return broker


class ChaosCluster:
    def __init__(
        self, brokers: int = 3, replication: int = 3, *, plant: str = "", has_steps: bool = False
    ) -> None:
        """`plant` is the name of a bug; with `has_steps` brokers can be killed at `step_path`."""
        self._directory = Path(tempfile.mkdtemp(prefix="ottla-chaos-"))
        self.step_path = self._directory / "step"
        self.network = Network()
        self.ids = range(1, brokers + 1)
        self.replication = replication
        *free, zookeeper_port = non_ephemeral_ports(5 * brokers + 1)
        self._ports = {each: Ports(free) for each in self.ids}
        self._zookeeper_port = zookeeper_port
        self.zookeeper = ZooKeeperServer(
            self._directory / "zookeeper", listen=f"{HOST}:{zookeeper_port}"
        )
        self.zookeeper_is_paused = False
        environment = {PLANT: plant} if plant else {}
        if has_steps:
            environment[STEP] = str(self.step_path)
        settings: dict[str, Any] = {
            "config": broker_settings(replication),
            "config_of": self._settings_of,
            "zookeeper": f"{HOST}:{zookeeper_port}",
        }
        self._cluster = (
            TestCluster(brokers, environment=environment, **settings)
            if environment
            else RunningCluster(brokers, **settings)
        )

    def __enter__(self) -> Self:
        try:
            self.network.start()
            for broker_id, ports in self._ports.items():
                self.network.add(f"clients-{broker_id}", ports.doors["clients"], ports.clients)
                self.network.add(f"brokers-{broker_id}", ports.doors["brokers"], ports.brokers)
                door = ports.doors["zookeeper"]
                self.network.add(f"zookeeper-{broker_id}", door, self._zookeeper_port)
            self.zookeeper.start()
            self._cluster.start_all()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._cluster.close()
        self.zookeeper.kill()
        self.network.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _settings_of(self, broker_id: int) -> Mapping[str, Any]:
        ports = self._ports[broker_id]
        chroot = self._cluster.zookeeper_connect.partition("/")[2]
        door = ports.doors
        return {
            "listeners": f"CLIENTS://{HOST}:{ports.clients},BROKERS://{HOST}:{ports.brokers}",
            "advertised.listeners": (
                f"CLIENTS://{HOST}:{door['clients']},BROKERS://{HOST}:{door['brokers']}"
            ),
            "zookeeper.connect": f"{HOST}:{door['zookeeper']}/{chroot}",
        }

    # Where things are

    @property
    def bootstrap_servers(self) -> str:
        """For clients, through the network under test."""
        return ",".join(f"{HOST}:{each.doors['clients']}" for each in self._ports.values())

    def address(self, broker_id: int) -> str:
        """Past the network under test, for those who check."""
        return f"{HOST}:{self._ports[broker_id].clients}"

    def broker(self, broker_id: int) -> RunningBroker:
        return self._cluster.brokers[broker_id]

    def running(self) -> list[int]:
        """Those that have a process that is not paused."""
        found = ((each, self.broker(each)) for each in self.ids)
        return [each for each, broker in found if broker.is_running and not broker.is_paused]

    # Faults of processes

    def kill(self, broker_id: int) -> None:
        """As `kill -9` does. Connections are refused from then on."""
        self._shut(broker_id)
        self.broker(broker_id).kill()

    def dead(self) -> list[int]:
        """Brokers whose process has ended; connections to them are refused from now on."""
        found = [each for each in self.ids if not self.broker(each).is_running]
        for each in found:
            self._shut(each)
            self.broker(each).wait_for_end()  # which closes the pipes to it
        return found

    def stop(self, broker_id: int) -> int:
        """As SIGTERM does; the exit code."""
        code = self.broker(broker_id).stop()
        self._shut(broker_id)
        return code

    def start(self, broker_id: int) -> None:
        for door in ("clients", "brokers"):
            self.network.open(f"{door}-{broker_id}")
        self.broker(broker_id).start()

    def _shut(self, broker_id: int) -> None:
        for door in ("clients", "brokers"):
            self.network.shut(f"{door}-{broker_id}")

    def pause(self, broker_id: int) -> None:
        self.broker(broker_id).pause()

    def resume(self, broker_id: int) -> None:
        self.broker(broker_id).resume()

    def pause_zookeeper(self) -> None:
        self.zookeeper.signal(signal.SIGSTOP)
        self.zookeeper_is_paused = True

    def resume_zookeeper(self) -> None:
        self.zookeeper.signal(signal.SIGCONT)
        self.zookeeper_is_paused = False

    def restart_zookeeper(self) -> None:
        """After `kill -9`."""
        self.zookeeper.kill()
        self.zookeeper.start()

    def restore(self) -> None:
        """End all faults: every process runs, and the network passes everything on."""
        self.network.heal()
        if self.zookeeper_is_paused:
            self.resume_zookeeper()
        for broker_id in self.ids:
            broker = self.broker(broker_id)
            if broker.is_paused:
                broker.resume()
            self.start(broker_id)

    # What remains of them

    def keep(self, place: Path) -> None:
        """Copy logs and data of all brokers and of ZooKeeper."""
        for broker_id in self.ids:
            name = f"broker-{broker_id}"
            shutil.copytree(self.broker(broker_id).data, place / name, dirs_exist_ok=True)
        shutil.copytree(self._directory, place, dirs_exist_ok=True)
