"""The brokers of the demo: a replicated cluster on ZooKeeper, or a single broker.

Owns      their processes, by name; the names are those in the recording and on the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ottla.testing.broker import BrokerFailed, RunningBroker
from ottla.testing.cluster import RunningCluster
from ottla.testing.ports import non_ephemeral_port


class DemoBrokers:
    def __init__(self, data: Path, count: int) -> None:
        self.count = count
        self._cluster = RunningCluster(count, data=data) if count > 1 else None
        self._alone = RunningBroker(data=data, port=non_ephemeral_port()) if count == 1 else None
        self._killed: set[str] = set()

    @property
    def by_name(self) -> dict[str, RunningBroker]:
        if self._alone is not None:
            return {"broker": self._alone}
        assert self._cluster is not None
        return {name_of(each): broker for each, broker in self._cluster.brokers.items()}

    @property
    def bootstrap_servers(self) -> str:
        if self._alone is not None:
            return self._alone.bootstrap_servers
        assert self._cluster is not None
        return self._cluster.bootstrap_servers

    def start(self) -> list[str]:
        """All of them; their names."""
        if self._alone is not None:
            self._alone.start()
        elif self._cluster is not None:
            self._cluster.start_all()
        return list(self.by_name)

    def kill(self, name: str) -> int:
        """With SIGKILL; its process id."""
        broker = self.by_name[name]
        self._killed.add(name)
        pid = broker.pid
        broker.kill()
        return pid

    def start_again(self, name: str) -> None:
        """On the same port and with its data."""
        self.by_name[name].start()
        self._killed.discard(name)

    def find_failure(self) -> str | None:
        for name, broker in self.by_name.items():
            if name not in self._killed and broker.bootstrap_servers and not broker.is_running:
                return f"{name} ended by itself:\n{broker.log[-2000:]}"
        return None

    def close(self) -> None:
        try:
            if self._alone is not None:
                self._alone.close()
            elif self._cluster is not None:
                self._cluster.close()
        except BrokerFailed as error:
            print(f"the broker did not end well: {error}", file=sys.stderr)


def name_of(broker_id: int) -> str:
    return f"broker {broker_id}"
