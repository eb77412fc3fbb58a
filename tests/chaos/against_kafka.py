"""The copiers of a run against three Apache Kafka brokers: what of their trouble is their own?

    python -m tests.chaos.against_kafka --seconds 120

Answers are lost and coordinators move, as in runs of our own brokers. The report counts clients
that hung, and the errors after which a producer could not continue. Nothing else is checked.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections import Counter
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic
from tests.chaos.network.network import Network
from tests.chaos.network.rules import Direction, Rule
from tests.chaos.recording import read_notes
from tests.chaos.workload import TOPICS, Workload
from tests.support.apache_kafka_cluster import ApacheKafkaCluster

from ottla.base.ports import non_ephemeral_ports

PROPERTIES = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.num.partitions": "5",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.num.partitions": "5",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "1000",
}
CLIENTS = ("producer-*", "copier-*", "writer-*", "reader-*", "static-*", "assigned*", "python-*")
QUIET_S = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="chaos-kafka-") as folder:
        directory = Path(folder)
        doors = dict(zip((1, 2, 3), non_ephemeral_ports(3), strict=True))
        cluster = ApacheKafkaCluster(
            directory / "kafka",
            PROPERTIES,
            lambda node: {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{doors[node]}"},
        )
        network = Network().start()
        for node_id, address in cluster.addresses.items():
            port = int(address.rpartition(":")[2])
            network.add(f"clients-{node_id}", doors[node_id], port)
        try:
            with cluster:
                run(cluster, network, doors, directory, rng, arguments.seconds)
        finally:
            network.close()


def run(
    cluster: ApacheKafkaCluster,
    network: Network,
    doors: dict[int, int],
    directory: Path,
    rng: random.Random,
    seconds: float,
) -> None:
    bootstrap = ",".join(f"127.0.0.1:{door}" for door in doors.values())
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = [NewTopic(name, count, 3) for name, count in TOPICS.items()]
    for created in admin.create_topics(topics).values():
        created.result(60)
    workload = Workload(bootstrap, directory, rng, rate=300.0, batch_max=100)
    try:
        workload.start(180.0)
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            print(fault(cluster, network, rng), flush=True)
            time.sleep(QUIET_S)
            workload.revive()
        time.sleep(45.0)  # longer than a call may take before its client counts as hung
        workload.revive()
    finally:
        workload.close()
    print(f"clients that hung: {workload.hung or 'none'}")
    print(f"static members fenced by themselves: {workload.fenced or 'none'}")
    for text, count in troubles(directory).most_common():
        print(f"{count:5} {text}")


def fault(cluster: ApacheKafkaCluster, network: Network, rng: random.Random) -> str:
    """The first node is the controller, and stays."""
    if rng.random() < 0.5:
        share, seconds = rng.uniform(0.02, 0.3), rng.uniform(2.0, 8.0)
        before = network.dropped()
        network.apply(
            Rule(each, "clients-*", (Direction.ANSWERS,), drop_share=share) for each in CLIENTS
        )
        time.sleep(seconds)
        network.heal()
        return f"{network.dropped() - before} answers dropped in {seconds:.1f} s"
    node_id = rng.choice([2, 3])
    cluster.stop(node_id)
    cluster.start(node_id)
    return f"node {node_id} stopped and started"


def troubles(directory: Path) -> Counter[str]:
    """Notes of transactional clients, without what differs each time."""
    found: Counter[str] = Counter()
    for note in read_notes(directory.glob("*.jsonl")):
        client, _, text = note.partition(" ")[2].partition(": ")
        if re.match(r"copier|writer|static", client) and "finished" not in text:
            found[f"{client.partition('-')[0]}: {re.sub(r'[0-9]{3,}', 'N', text)[:160]}"] += 1
    return found


if __name__ == "__main__":
    main()
