"""Twenty audits that end by kill -9 leave the books of one that was never killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from random import Random

import pytest
from tests.integration.pipelines.audit.topics import (
    audit,
    create,
    records,
    write,
    write_transaction,
)

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.audit.reports import inconsistent_partitions

KILLS = 20

pytestmark = [pytest.mark.ci, pytest.mark.slow]


def test_twenty_kills_change_no_book(cluster: Cluster) -> None:
    random = Random(20)
    create(cluster, "killed", 3)
    killed = 0
    for number in range(KILLS):
        for partition in range(3):
            at = TopicPartition("killed", partition)
            write(cluster, at, records(number * 200, number * 200 + random.randrange(100, 300)))
        write_transaction(
            cluster,
            TopicPartition("killed", 0),
            records(0, random.randrange(1, 60)),
            commit=number % 2 == 0,
        )
        point = ("folding", "sent", "committed")[number % 3]
        killed += run_and_die(cluster, point, random.randint(1, 2))
    assert killed == KILLS
    found = audit(cluster, ["killed"], tier="killed")
    whole = audit(cluster, ["killed"], tier="never-killed")
    assert {key: (each.sums, each.aborted) for key, each in found.buckets.items()} == {
        key: (each.sums, each.aborted) for key, each in whole.buckets.items()
    }
    covered = {
        place: (each.start, each.covers, each.gaps) for place, each in found.coverage.items()
    }
    assert covered == {
        place: (each.start, each.covers, each.gaps) for place, each in whole.coverage.items()
    }
    assert inconsistent_partitions(found) == []


def run_and_die(cluster: Cluster, point: str, passes: int) -> bool:
    program = [sys.executable, "-m", "tests.integration.pipelines.audit.killed_audit"]
    address = cluster.settings.bootstrap_servers
    done = subprocess.run(
        [*program, address, "killed", "killed", point, str(passes)],
        timeout=120,
        check=False,
        capture_output=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    return True
