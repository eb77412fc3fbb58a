"""The audit for `audit_beside.py`, until standard input is closed.

    python -m benchmarks.spark.audit_work BOOTSTRAP passes|catching-up

Prints `busy` when the first pass is over, and at the end how many records were folded since.
"""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Callable

from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.pipelines.audit.fold_plan import FoldRange
from ottla.pipelines.audit.log_fold import fold_range
from ottla.pipelines.audit.passes import Audit
from ottla.pipelines.audit.running import LocalEngine, log_positions

LOG = "log"
EVERY_S = 1.0


def main() -> None:
    bootstrap, kind = sys.argv[1:]
    with Cluster(ClientSettings(bootstrap)) as cluster:
        work = passes(cluster) if kind == "passes" else catching_up(cluster)
        pause_s = EVERY_S if kind == "passes" else 0.0
        work()
        print("busy", flush=True)
        records = 0
        while not has_ended(pause_s):
            records += work()
        print(json.dumps({"records": records}), flush=True)


def passes(cluster: Cluster) -> Callable[[], int]:
    """A pass of the audit over all topics; the records that it has folded."""
    audit = Audit(cluster, LocalEngine(cluster))
    writer = audit.open()

    def one() -> int:
        audit.run_pass(writer)
        return audit.result.records

    return one


def catching_up(cluster: Cluster) -> Callable[[], int]:
    """The next partition of a topic that nothing is written to, again and again."""
    positions = log_positions(cluster, [LOG])
    ranges = [
        FoldRange(LOG, partition_id, each.log_start, each.stable_end)
        for partition_id, each in positions.items()
    ]
    calls = 0

    def one() -> int:
        nonlocal calls
        found = fold_range(cluster, ranges[calls % len(ranges)])
        calls += 1
        return sum(sums.count for sums in found.committed.values())

    return one


def has_ended(wait_s: float) -> bool:
    """Whether standard input was closed within this time."""
    readable, _, _ = select.select([sys.stdin], [], [], wait_s)
    return bool(readable)


if __name__ == "__main__":
    main()
