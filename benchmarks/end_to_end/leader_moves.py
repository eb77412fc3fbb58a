"""A broker of three is killed with -9: how long until other brokers lead its partitions.

    python -m benchmarks leader_moves [--rounds 3] [--only ottla] [--long]

1,000 partitions with three replicas, of which the killed broker leads a third (`--long`: 3,000).
Measured until both other brokers name a living leader for every partition, in their answers to
Metadata requests. Once a broker is killed that is not the controller, once the controller itself.
"""

from __future__ import annotations

import time

from benchmarks.end_to_end.clusters import ClusterProcesses, cluster_called
from benchmarks.end_to_end.replication import QUIET, new_topic, partitions_of
from benchmarks.report import Report, options, show
from confluent_kafka.admin import AdminClient
from tests.support.raw_client import RawClient

from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

PARTITIONS, MANY = 1000, 3000
METADATA_VERSION = 12
POLL_S = 0.01
PATIENCE_S = 120.0
TOPIC = "many"


def main() -> None:
    asked = options(__doc__)
    partitions = MANY if asked.is_long else PARTITIONS
    report = Report(f"{partitions} partitions: until all are led again", True, "s", 2)
    for number in range(asked.rounds):
        for name in asked.brokers if number % 2 else reversed(asked.brokers):
            cluster = cluster_called(name)
            try:
                cluster.start_all()
                new_topic(cluster, TOPIC, partitions)
                for row, seconds in measure(cluster):
                    report.add(row, name, seconds)
            finally:
                cluster.close()
    show(report)


def measure(cluster: ClusterProcesses) -> list[tuple[str, float]]:
    found = []
    for row in ("a broker is killed", "the controller is killed"):
        controller = controller_of(cluster)
        others = [each for each in cluster.pids if each != controller]
        killed = controller if "controller" in row else others[0]
        found.append((row, seconds_until_led(cluster, killed)))
        cluster.start(killed)
        while any(len(each.isrs) < 3 for each in partitions_of(cluster, TOPIC).values()):
            time.sleep(0.2)
        balance(cluster)
    return found


def seconds_until_led(cluster: ClusterProcesses, killed: int) -> float:
    addresses = dict(zip(sorted(cluster.pids), cluster.bootstrap.split(","), strict=True))
    survivors = [RawClient(addresses[each]) for each in addresses if each != killed]
    try:
        for each in survivors:
            leaders(each)  # connected, and compiled
        began_s = time.perf_counter()
        cluster.kill(killed)
        while any(not leaders(each).isdisjoint({killed, -1}) for each in survivors):
            if time.perf_counter() - began_s > PATIENCE_S:
                raise RuntimeError(f"partitions without a leader for {PATIENCE_S:g} s")
            time.sleep(POLL_S)
        return time.perf_counter() - began_s
    finally:
        for each in survivors:
            each.close()


def leaders(client: RawClient) -> set[int]:
    wanted = MetadataRequest([MetadataRequestTopic(name=TOPIC)], allow_auto_topic_creation=False)
    (topic,) = client.ask(wanted, METADATA_VERSION).topics
    return {each.leader_id for each in topic.partitions}


def controller_of(cluster: ClusterProcesses) -> int:
    """Kafka's Metadata names any broker: it does not identify the active controller."""
    admin = AdminClient({**QUIET, "bootstrap.servers": cluster.bootstrap})
    return int(admin.list_topics(timeout=30).controller_id)


def balance(cluster: ClusterProcesses) -> None:
    from confluent_kafka import ElectionType

    admin = AdminClient({**QUIET, "bootstrap.servers": cluster.bootstrap})
    admin.elect_leaders(ElectionType.PREFERRED, None).result(PATIENCE_S)


if __name__ == "__main__":
    main()
