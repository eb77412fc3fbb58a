"""A killed broker returns when it lacks a gigabyte: how long until all its replicas are in sync.

    python -m benchmarks catch_up [--rounds 3] [--only ottla]

Three brokers, six partitions with three replicas. One broker is killed with -9, a gigabyte is
written to the other two, and it is started again. Two times: since its process was started, and
since it accepts connections; without load on the others.
"""

from __future__ import annotations

import time

from benchmarks.end_to_end.brokers import cpu_s
from benchmarks.end_to_end.clusters import ClusterProcesses, cluster_called
from benchmarks.end_to_end.replication import new_topic, partitions_of, produce
from benchmarks.report import Report, options, show

PARTITIONS = 6
RECORD_BYTES, RECORDS = 10_000, 100_000
POLL_S = 0.02
TOPIC = "behind"


def main() -> None:
    asked = options(__doc__)
    times = Report("1 GB behind: until in sync", True, "s", 2)
    rates = Report("The same", False, "MB/s", 0)
    used = Report("Processor time of all brokers meanwhile", True, "s", 2)
    for number in range(asked.rounds):
        for name in asked.brokers if number % 2 else reversed(asked.brokers):
            cluster = cluster_called(name)
            try:
                cluster.start_all()
                started_s, ready_s, cpu = measure(cluster)
            finally:
                cluster.close()
            times.add("since its start", name, started_s)
            times.add("since it serves", name, ready_s)
            rates.add("since its start", name, RECORD_BYTES * RECORDS / 1e6 / started_s)
            used.add("three brokers", name, cpu)
    show(times, rates, used)


def measure(cluster: ClusterProcesses) -> tuple[float, float, float]:
    new_topic(cluster, TOPIC, PARTITIONS)
    killed = max(cluster.pids)
    cluster.kill(killed)
    produce(cluster, TOPIC, RECORD_BYTES, RECORDS)
    others = sum(cpu_s(pid) for each, pid in cluster.pids.items() if each != killed)
    began_s = time.perf_counter()
    cluster.start(killed)
    serves_s = time.perf_counter()
    while any(len(each.isrs) < 3 for each in partitions_of(cluster, TOPIC).values()):
        time.sleep(POLL_S)
    ended_s = time.perf_counter()
    used_s = sum(map(cpu_s, cluster.pids.values())) - others
    return ended_s - began_s, ended_s - serves_s, used_s


if __name__ == "__main__":
    main()
