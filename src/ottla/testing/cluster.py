"""A real cluster for tests: a ZooKeeper server, and brokers in processes of their own.

    with RunningCluster() as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
        cluster.kill(cluster.controller_id())

Promises  all brokers serve when the `with` block begins; all processes and their data are removed
          when it ends. None of them outlives the process that started them, however that one ends.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from ottla.base.ports import non_ephemeral_ports
from ottla.config.replicated_defaults import replicated_defaults
from ottla.testing.broker import FEW_PARTITIONS, START_S, BrokerFailed, RunningBroker
from ottla.testing.zookeeper import ZooKeeperServer

__tracebackhide__ = True  # pytest shows failures at the line of the test

BROKERS = 3
CONTROLLER_S = 120.0  # reached only if there is none: machines that run tests may be busy
POLL_S = 0.05
DEFAULTS: Mapping[str, Any] = {
    "group.initial.rebalance.delay.ms": 0,
    "zookeeper.connection.timeout.ms": int(1000 * START_S),  # both start at the same time
}


class RunningCluster:
    """Brokers with the ids 1, 2, ... `ottla.testing.Cluster` is this class."""

    def __init__(
        self,
        brokers: int = BROKERS,
        *,
        config: Mapping[str, Any] | None = None,
        config_of: Callable[[int], Mapping[str, Any]] | None = None,
        zookeeper: str | None = None,
        data: Path | str | None = None,
        log_level: str = "INFO",
    ) -> None:
        """Nothing is started yet.

        `config` are settings of every broker, `config_of` those of one of them, by its id.
        `zookeeper` is the address of a server to use (default: one of its own). `data` is a
        directory that is kept, and from which the same cluster can be started again (default: a
        temporary one).
        """
        self._is_kept = data is not None
        self._directory = Path(data or tempfile.mkdtemp(prefix="ottla-cluster-"))
        self._directory.mkdir(parents=True, exist_ok=True)
        self._zookeeper = None if zookeeper else ZooKeeperServer(self._directory / "zookeeper")
        self._zookeeper_address = zookeeper
        self._chroot = "/ottla" if self._is_kept else f"/ottla-{uuid4().hex[:8]}"
        defaults = {**DEFAULTS, **({} if self._is_kept else FEW_PARTITIONS)}
        self._config = {**replicated_defaults(brokers), **defaults, **(config or {})}
        self._config_of = config_of or (lambda _broker_id: {})
        self._log_level = log_level
        self.ids = range(1, brokers + 1)
        self.brokers: dict[int, RunningBroker] = {}
        # Also without a call of `close`.
        removed = None if self._is_kept else self._directory
        weakref.finalize(self, remove, self.brokers, self._zookeeper, removed, os.getpid())

    def __enter__(self) -> Self:
        return self.start_all()

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def zookeeper(self) -> ZooKeeperServer:
        assert self._zookeeper is not None, "the ZooKeeper server is not of this cluster"
        return self._zookeeper

    @property
    def zookeeper_connect(self) -> str:
        return f"{self._zookeeper_address}{self._chroot}"

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of all brokers, also of those that do not run."""
        return ",".join(each.bootstrap_servers for each in self.brokers.values())

    def start_all(self) -> Self:
        """All at once: brokers load their code while ZooKeeper starts, and then wait for it."""
        try:
            starts: list[Callable[[], object]] = []
            if self._zookeeper is not None:
                self._zookeeper_address = f"localhost:{self._zookeeper_port()}"
                self._zookeeper.address = self._zookeeper_address
                starts.append(self._zookeeper.start)
            self.brokers.update({each: self._new_broker(each) for each in self.ids})
            starts += [broker.start for broker in self.brokers.values()]
            with ThreadPoolExecutor(len(starts)) as threads:
                futures = [threads.submit(start) for start in starts]
                done, pending = wait(futures, return_when=FIRST_EXCEPTION)
                if pending:  # one failed: the others would wait for it
                    self._kill_all()
                for future in done:
                    future.result()
        except BaseException:
            self.close()
            raise
        return self

    def _zookeeper_port(self) -> int:
        """The same each time for data that is kept: brokers take over the sessions of the processes
        before them, which they know by the address of ZooKeeper."""
        path = self._directory / "zookeeper.port"
        if self._is_kept and path.exists():
            return int(path.read_text())
        (port,) = non_ephemeral_ports(1)
        path.write_text(f"{port}\n")
        return port

    def _new_broker(self, broker_id: int) -> RunningBroker:
        config = {
            **self._config,
            "node.id": broker_id,
            "zookeeper.connect": self.zookeeper_connect,
            **self._config_of(broker_id),
        }
        data = self._directory / f"broker-{broker_id}"
        return RunningBroker(config=config, data=data, log_level=self._log_level)

    def _broker(self, broker_id: int) -> RunningBroker:
        if broker_id not in self.brokers:
            known = ", ".join(map(str, self.ids)) if self.brokers else "none: it was not started"
            raise BrokerFailed(f"the cluster has no broker {broker_id!r}; it has {known}")
        return self.brokers[broker_id]

    def start(self, broker_id: int) -> RunningBroker:
        """Start it again, on the same port and with its data, and wait until it serves."""
        return self._broker(broker_id).start()

    def stop(self, broker_id: int) -> int:
        """As SIGTERM does; its exit code."""
        return self._broker(broker_id).stop()

    def kill(self, broker_id: int) -> None:
        """As `kill -9` does."""
        self._broker(broker_id).kill()

    def restart(self, broker_id: int) -> None:
        """Stop it cleanly, and start it."""
        self.stop(broker_id)
        self.start(broker_id)

    def pause(self, broker_id: int) -> None:
        """Stop the process where it is (SIGSTOP): connections stay open, nothing is answered."""
        self._broker(broker_id).pause()

    def resume(self, broker_id: int) -> None:
        """Resume a paused process (SIGCONT)."""
        self._broker(broker_id).resume()

    def restore(self) -> None:
        """Let all brokers run again that were stopped, killed or paused."""
        for broker in self.brokers.values():
            if broker.is_paused:
                broker.resume()
        with ThreadPoolExecutor(len(self.brokers)) as threads:
            for _ in threads.map(RunningBroker.start, self.brokers.values()):
                pass

    def controller_id(self) -> int:
        """The broker that is the controller, as the living brokers see it.

        Waits while they know none, or name one that does not run any more.
        """
        from ottla.client.cluster.cluster import Cluster
        from ottla.client.settings import ClientSettings

        living = [
            each.bootstrap_servers
            for each in self.brokers.values()
            if each.is_running and not each.is_paused
        ]
        if not living:
            raise BrokerFailed("no broker of the cluster is running, or all are paused")
        deadline_s = time.monotonic() + CONTROLLER_S
        with Cluster(ClientSettings(",".join(living))) as client:
            while time.monotonic() < deadline_s:
                client.read_metadata([])
                found = self.brokers.get(client.topology.controller_id)
                if found is not None and found.is_running:
                    return client.topology.controller_id
                time.sleep(POLL_S)
        raise BrokerFailed(f"the cluster has no controller after {CONTROLLER_S:.0f} s")

    def _kill_all(self) -> None:
        end(self.brokers, self._zookeeper)

    def close(self) -> None:
        """End all processes, and remove their data unless a directory was given."""
        self._kill_all()
        if not self._is_kept:
            shutil.rmtree(self._directory, ignore_errors=True)


def end(brokers: Mapping[int, RunningBroker], zookeeper: ZooKeeperServer | None) -> None:
    for broker in brokers.values():
        if broker.is_running:
            broker.kill()
    if zookeeper is not None:
        zookeeper.kill()


def remove(
    brokers: Mapping[int, RunningBroker],
    zookeeper: ZooKeeperServer | None,
    directory: Path | None,
    owner: int,
) -> None:
    """Cleans up a cluster that was not closed; in a forked process the parent does."""
    if os.getpid() == owner:
        end(brokers, zookeeper)
        if directory is not None:
            shutil.rmtree(directory, ignore_errors=True)
