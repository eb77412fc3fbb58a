"""A real cluster for tests: a ZooKeeper server, and brokers in processes of their own.

    with RunningCluster() as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
        cluster.kill(cluster.controller_id())

Promises  all brokers serve when the `with` block begins; all processes and their data are gone when
          it ends.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from ottla.testing.broker import RunningBroker
from ottla.testing.zookeeper import ZooKeeperServer

BROKERS = 3
# Topics of the cluster itself exist on one broker, until there is replication.
DEFAULTS: Mapping[str, Any] = {
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
}


class RunningCluster:
    def __init__(
        self,
        brokers: int = BROKERS,
        *,
        config: Mapping[str, Any] | None = None,
        config_of: Callable[[int], Mapping[str, Any]] | None = None,
        zookeeper: str | None = None,
        log_level: str = "INFO",
    ) -> None:
        """Nothing is started yet.

        `config` are settings of every broker, `config_of` those of one of them, by its id.
        `zookeeper` is the address of a server to use (default: one of its own).
        """
        self._directory = Path(tempfile.mkdtemp(prefix="ottla-cluster-"))
        self._zookeeper = None if zookeeper else ZooKeeperServer(self._directory / "zookeeper")
        self._zookeeper_address = zookeeper
        self._chroot = f"/ottla-{uuid4().hex[:8]}"
        self._config = {**DEFAULTS, **(config or {})}
        self._config_of = config_of or (lambda _broker_id: {})
        self._log_level = log_level
        self.ids = range(1, brokers + 1)
        self.brokers: dict[int, RunningBroker] = {}

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
        return ",".join(each.bootstrap_servers for each in self.brokers.values())

    def start_all(self) -> Self:
        try:
            if self._zookeeper is not None:
                self._zookeeper_address = self._zookeeper.start().address
            self.brokers = {broker_id: self._new_broker(broker_id) for broker_id in self.ids}
            with ThreadPoolExecutor(len(self.brokers)) as threads:
                for _ in threads.map(RunningBroker.start, self.brokers.values()):
                    pass
        except BaseException:
            self.close()
            raise
        return self

    def _new_broker(self, broker_id: int) -> RunningBroker:
        config = {
            **self._config,
            "node.id": broker_id,
            "zookeeper.connect": self.zookeeper_connect,
            **self._config_of(broker_id),
        }
        data = self._directory / f"broker-{broker_id}"
        return RunningBroker(config=config, data=data, log_level=self._log_level)

    def start(self, broker_id: int) -> RunningBroker:
        return self.brokers[broker_id].start()

    def stop(self, broker_id: int) -> int:
        """As SIGTERM does; its exit code."""
        return self.brokers[broker_id].stop()

    def kill(self, broker_id: int) -> None:
        """As `kill -9` does."""
        self.brokers[broker_id].kill()

    def restart(self, broker_id: int) -> None:
        self.stop(broker_id)
        self.start(broker_id)

    def pause(self, broker_id: int) -> None:
        self.brokers[broker_id].pause()

    def resume(self, broker_id: int) -> None:
        self.brokers[broker_id].resume()

    def close(self) -> None:
        for broker in self.brokers.values():
            if broker.is_paused:
                broker.resume()
        with ThreadPoolExecutor(max(len(self.brokers), 1)) as threads:
            for _ in threads.map(RunningBroker.kill, self.brokers.values()):
                pass
        if self._zookeeper is not None:
            self._zookeeper.kill()
        shutil.rmtree(self._directory, ignore_errors=True)
