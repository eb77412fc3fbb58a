"""What brokers leave behind after a run: the bytes of all replicas, and their logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tests.chaos.checker.anomalies import Finding
from tests.chaos.checker.replicas import batches_of, differences, read_segments
from tests.chaos.cluster.cluster import ChaosCluster
from tests.chaos.cluster.topics import READ_UNCOMMITTED, ends, states

PROBLEM = re.compile(r"^(\S+ \S+ (ERROR|CRITICAL) |Traceback )")
# What is no error of the broker in runs with faults of these kinds
EXPECTED = {
    # a controller that was replaced while it could not reach ZooKeeper, or stood still
    "resigning, to load the metadata log again": {"pause", "zookeeper", "cut", "delay", "reset"},
    "wrong checksum": {"flip"},
}
LINES_AFTER = 15


def replica_findings(cluster: ChaosCluster) -> Iterator[Finding]:
    """Of all partitions, internal topics too. Nothing may be written meanwhile."""
    found = states(cluster, cluster.running()[0])
    watermarks = ends(cluster, READ_UNCOMMITTED, sorted({each.topic for each in found}))
    for state in found:
        copies = {
            broker_id: list(batches_of(read_segments(cluster.broker(broker_id).data / state.key)))
            for broker_id in state.replicas
        }
        yield from differences(state.key, copies, watermarks[state.key])


def log_problems(cluster: ChaosCluster, kinds: Iterable[str]) -> list[str]:
    """Of all brokers, after faults of these kinds."""
    return [
        f"broker {broker_id}: {problem}"
        for broker_id in cluster.ids
        for problem in problems_in(cluster.broker(broker_id).log.splitlines(), kinds)
    ]


def problems_in(lines: Sequence[str], kinds: Iterable[str]) -> Iterator[str]:
    """Errors and tracebacks, with some lines after them."""
    expected = [text for text, after in EXPECTED.items() if after & set(kinds)]
    for at, line in enumerate(lines):
        if PROBLEM.match(line) and not any(text in line for text in expected):
            yield "\n    ".join(lines[at : at + LINES_AFTER])
