"""Several nodes of Apache Kafka: the first is broker and controller, the others are brokers.

Promises  `start` returns once all of them serve and know each other; nothing survives `close`.
Leaves    the life of one node to `apache_kafka.py`, and to wait for what changes later to callers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from tests.support.apache_kafka import ApacheKafka, _archive

BROKERS = 3


class ApacheKafkaCluster:
    """Nodes with the ids 1, 2, 3, each with a folder of its own below `directory`."""

    def __init__(
        self,
        directory: Path,
        properties: Mapping[str, str],
        properties_of: Callable[[int], Mapping[str, str]] = lambda _node_id: {},
        brokers: int = BROKERS,
    ) -> None:
        _archive()  # made by one node, before several want it
        first = ApacheKafka(directory / "1", {**properties, **properties_of(1)})
        self.nodes = {1: first}
        for node_id in range(2, brokers + 1):
            reported = {**properties, **properties_of(node_id), "node.id": str(node_id)}
            self.nodes[node_id] = ApacheKafka(
                directory / str(node_id),
                reported,
                cluster_id=first.cluster_id,
                controller=first.controller,
            )

    @property
    def addresses(self) -> dict[int, str]:
        return {node_id: node.bootstrap for node_id, node in self.nodes.items()}

    def start_all(self) -> None:
        """At once: brokers wait for the controller."""
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            list(pool.map(ApacheKafka.start, self.nodes.values()))

    def start(self, node_id: int) -> None:
        self.nodes[node_id].start()

    def stop(self, node_id: int) -> None:
        self.nodes[node_id].stop()

    def close(self) -> None:
        for node in self.nodes.values():
            node.close()

    def __enter__(self) -> Self:
        try:
            self.start_all()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
