"""The clients of a run, and what they do.

    records    from two producers, one on librdkafka and one in Python; copied to "copies"
    mixed      from the same producers, and in transactions
    copies     from copiers, exactly once

All three are read by an assigned consumer, by two groups on librdkafka, one of them of static
members that rebalance cooperatively, and by one in Python.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.chaos.clients.processes import ClientProcess, stop_all
from tests.chaos.clients.worker import Order

TOPICS = {"records": 4, "mixed": 2, "copies": 4}
COPIERS = "copiers"
STATIC = "static-readers"
GROUPS = ("readers", STATIC, "python-readers")
POLL_S = 0.1


class Workload:
    def __init__(
        self,
        bootstrap: str,
        directory: Path,
        rng: random.Random,
        *,
        rate: float,
        batch_max: int,
        members: int = 2,
        copiers: int = 2,
    ) -> None:
        self._bootstrap = bootstrap
        self._directory = directory
        self._rng = rng
        self._batch_max = batch_max
        written = {name: TOPICS[name] for name in ("records", "mixed")}
        mixed, records = {"mixed": TOPICS["mixed"]}, {"records": TOPICS["records"]}
        self.writers = [
            self._client("produce", "producer-1", written, rate=0.7 * rate),
            self._client("python-produce", "producer-2", written, rate=0.2 * rate),
            self._client("write", "writer-1", mixed, rate=0.07 * rate),
            self._client("python-write", "writer-2", mixed, rate=0.03 * rate),
        ]
        self.copiers = [
            self._client("copy", f"copier-{at}", records, group=COPIERS)
            for at in range(1, copiers + 1)
        ]
        self.readers = [
            self._client("assigned", "assigned", TOPICS),
            *(
                self._client("group", f"reader-{at}", TOPICS, group="readers")
                for at in range(members)
            ),
            *(
                self._client("static-group", f"static-{at}", TOPICS, group=STATIC)
                for at in range(max(2, members // 2))
            ),
            self._client("python-group", "python-reader", TOPICS, group="python-readers"),
        ]

    def _client(
        self, role: str, name: str, topics: dict[str, int], rate: float = 0.0, group: str = ""
    ) -> ClientProcess:
        return ClientProcess(
            Order(
                role,
                name,
                self._bootstrap,
                str(self._directory),
                self._rng.randrange(10**9),
                topics,
                rate,
                self._batch_max,
                group,
            )
        )

    @property
    def clients(self) -> list[ClientProcess]:
        return [*self.writers, *self.copiers, *self.readers]

    @property
    def failures(self) -> list[str]:
        return [failure for client in self.clients for failure in client.failures]

    @property
    def hung(self) -> list[str]:
        return [name for client in self.clients for name in client.hung]

    @property
    def fenced(self) -> list[str]:
        return [name for client in self.clients for name in client.fenced]

    def revive(self) -> None:
        for client in self.clients:
            client.revive()

    def members(self, group: str) -> set[str]:
        """All that ever were."""
        members = [each for each in self.clients if each.task.group == group]
        return {name for each in members for name in each.names}

    def start(self, patience_s: float) -> None:
        """Until every client has sent, or read, something."""
        for client in self.clients:
            client.start()
        end_s = time.monotonic() + patience_s
        waiting = self.clients
        while waiting := [each for each in waiting if not self._has_begun(each)]:
            if time.monotonic() > end_s:
                raise TimeoutError(f"no progress of {[each.names[-1] for each in waiting]}")
            for client in waiting:
                if not client.is_running:
                    raise RuntimeError(f"{client.names[-1]} has ended: {self.log_of(client)}")
            time.sleep(POLL_S)

    def _has_begun(self, client: ClientProcess) -> bool:
        path = self._directory / f"{client.names[-1]}.jsonl"
        content = path.read_bytes() if path.exists() else b""
        return b'["o"' in content or b'["p"' in content or b'"ok"]' in content

    def log_of(self, client: ClientProcess) -> str:
        return (self._directory / f"{client.names[-1]}.log").read_text(errors="replace")[-2000:]

    def acknowledged(self) -> int:
        """About: records of copiers are not counted."""
        return sum(
            path.read_bytes().count(b'["o"')
            for client in self.writers
            for path in self._directory.glob(f"{client.task.name}.*.jsonl")
        )

    def rebalances(self) -> int:
        """At least: of each group, those in which one of its members, or its successors, was."""
        counts: defaultdict[str, list[int]] = defaultdict(list)
        for client in self.clients:
            if client.task.group:
                counts[client.task.group].append(self._rebalances_of(client))
        return sum(map(max, counts.values()))

    def _rebalances_of(self, client: ClientProcess) -> int:
        """Its polls before which it was given other partitions."""
        return sum(
            line.startswith(b'["p"') and line.endswith(b",true]")
            for path in self._directory.glob(f"{client.task.name}.*.jsonl")
            for line in path.read_bytes().splitlines()
        )

    def stop(self, clients: Iterable[ClientProcess], patience_s: float) -> None:
        stop_all(list(clients), patience_s)

    def close(self) -> None:
        for client in self.clients:
            client.close()
