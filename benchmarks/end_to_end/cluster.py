"""A cluster of three brokers on one ZooKeeper server: starts, decisions, fail-over, memory.

    python -m benchmarks.end_to_end.cluster [--rounds 3] [--topics 1000]

Only Ottla: with KRaft, Apache Kafka has no ZooKeeper. `--topics` are created first, with ten
partitions each, of one replica, spread over the brokers. The load of the machine is printed
beside the figures.
"""

from __future__ import annotations

import argparse
import os
import socket
import time
from statistics import quantiles

from benchmarks.end_to_end.brokers import cpu_s, memory_mb
from benchmarks.end_to_end.wire import Wire
from benchmarks.report import OURS, Report, show

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.metadata_response import MetadataResponse
from ottla.testing.cluster import RunningCluster

PARTITIONS = 10
TOPICS_OF_ONE_REQUEST = 100
DECISIONS = 200
SINGLE_TOPICS = 200
AT_REST_S = 10.0
PATIENCE_S = 60.0
POLL_S = 0.001


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--topics", type=int, default=1000)
    asked = parser.parse_args()
    reports = [
        times := Report("Three brokers and ZooKeeper", True, "s", 3),
        decisions := Report("From a created topic's answer to all brokers", True, "ms", 2),
        rates := Report("Topics created one after another", False, "a second", 0),
        costs := Report("Processor time of brokers", True, "s", 2),
        others := Report("At rest, and memory", True, "requests a second, MB", 1),
    ]
    for _ in range(asked.rounds):
        print(f"load average: {os.getloadavg()[0]:.1f}", flush=True)
        began_s = time.perf_counter()
        with RunningCluster(config={"ottla.partitions.max": 1_000_000}) as cluster:
            times.add("start, until all serve", OURS, time.perf_counter() - began_s)
            costs.add("start, of one broker", OURS, cpu_s(cluster.brokers[1].pid))
            create_many(cluster, asked.topics, times)
            for name, value in zip(("p50", "p99"), propagation_ms(cluster), strict=True):
                decisions.add(name, OURS, value)
            rates.add("one partition each", OURS, topics_a_second(cluster))
            others.add("requests to ZooKeeper a second", OURS, requests_at_rest(cluster))
            sizes = [memory_mb(broker.pid) for broker in cluster.brokers.values()]
            others.add("memory of the largest broker", OURS, max(sizes))
            others.add("memory of all brokers", OURS, sum(sizes))
            fail_over(cluster, times, costs)
            began_s = time.perf_counter()
            cluster.restart(1)
            times.add("broker stopped, and started again", OURS, time.perf_counter() - began_s)
            pid = cluster.brokers[1].pid
            costs.add("broker stopped, and started again: until it serves", OURS, cpu_s(pid))
    show(*reports)


def create_many(cluster: RunningCluster, count: int, times: Report) -> None:
    began_s = time.perf_counter()
    for first in range(0, count, TOPICS_OF_ONE_REQUEST):
        names = [f"topic-{at}" for at in range(first, min(first + TOPICS_OF_ONE_REQUEST, count))]
        create(cluster, 1, names, PARTITIONS)
    times.add(f"{count:,} topics of {PARTITIONS} partitions", OURS, time.perf_counter() - began_s)


def create(cluster: RunningCluster, broker_id: int, names: list[str], partitions: int) -> None:
    topics = [CreatableTopic(name, partitions, 1) for name in names]
    with Wire(cluster.brokers[broker_id].bootstrap_servers) as wire:
        answer = wire.ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics, timeout_ms=60_000))
    failed = [topic for topic in answer.topics if topic.error_code]
    if failed:
        raise RuntimeError(f"topics were not created: {failed[0]}")


def topics_a_second(cluster: RunningCluster) -> float:
    began_s = time.perf_counter()
    with Wire(cluster.brokers[1].bootstrap_servers) as wire:
        for _ in range(SINGLE_TOPICS):
            topic = CreatableTopic(f"single-{time.time_ns()}", 1, 1)
            answer = wire.ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest([topic], timeout_ms=60_000))
            if answer.topics[0].error_code:
                raise RuntimeError(f"a topic was not created: {answer.topics[0]}")
    return SINGLE_TOPICS / (time.perf_counter() - began_s)


def propagation_ms(cluster: RunningCluster) -> tuple[float, float]:
    """From the answer of one broker until the last of the others knows the topic."""
    found = []
    others = [Wire(cluster.brokers[each].bootstrap_servers) for each in cluster.ids if each != 1]
    for number in range(DECISIONS):
        name = f"decided-{time.time_ns()}-{number}"
        create(cluster, 1, [name], 1)
        answered_s = time.perf_counter()
        for wire in others:
            while metadata(wire, name).topics[0].error_code:
                pass
        found.append(1000 * (time.perf_counter() - answered_s))
    for wire in others:
        wire.close()
    hundredths = quantiles(found, n=100)
    return hundredths[49], hundredths[98]


def requests_at_rest(cluster: RunningCluster) -> float:
    """Pings of sessions included."""
    time.sleep(2.0)
    before = packets_received(cluster.zookeeper.address)
    time.sleep(AT_REST_S)
    return (packets_received(cluster.zookeeper.address) - before - 1) / AT_REST_S


def packets_received(address: str) -> int:
    host, _, port = address.rpartition(":")
    answer = b""
    with socket.create_connection((host, int(port)), PATIENCE_S) as connection:
        connection.sendall(b"mntr")
        while part := connection.recv(65536):
            answer += part
    lines = dict(line.split(maxsplit=1) for line in answer.decode().splitlines())
    return int(lines["zk_packets_received"])


def fail_over(cluster: RunningCluster, times: Report, costs: Report) -> None:
    killed = controller_of(cluster, 1)
    spent_s = total_cpu_s(cluster, besides=killed)
    cluster.kill(killed)
    began_s = time.perf_counter()
    left = [each for each in cluster.ids if each != killed]
    while not all(has_gone(cluster, each, killed) for each in left):
        time.sleep(POLL_S)
    times.add("controller killed: all brokers know another", OURS, time.perf_counter() - began_s)
    spent_s = total_cpu_s(cluster, besides=killed) - spent_s
    costs.add("controller killed: of the two others until they know another", OURS, spent_s)
    create(cluster, left[0], [f"after-{time.time_ns()}"], 1)
    times.add("controller killed: a topic is created", OURS, time.perf_counter() - began_s)
    began_s = time.perf_counter()
    cluster.start(killed)
    times.add("killed broker serves again", OURS, time.perf_counter() - began_s)
    costs.add("killed broker: until it serves again", OURS, cpu_s(cluster.brokers[killed].pid))


def total_cpu_s(cluster: RunningCluster, besides: int) -> float:
    return sum(cpu_s(cluster.brokers[each].pid) for each in cluster.ids if each != besides)


def has_gone(cluster: RunningCluster, broker_id: int, killed: int) -> bool:
    with Wire(cluster.brokers[broker_id].bootstrap_servers) as wire:
        found = metadata(wire)
    is_listed = any(broker.node_id == killed for broker in found.brokers)
    return found.controller_id not in (killed, -1) and not is_listed


def controller_of(cluster: RunningCluster, broker_id: int) -> int:
    with Wire(cluster.brokers[broker_id].bootstrap_servers) as wire:
        return metadata(wire).controller_id


def metadata(wire: Wire, *names: str) -> MetadataResponse:
    topics = [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics, allow_auto_topic_creation=False)
    answer: MetadataResponse = wire.ask(ApiKey.METADATA, request)
    return answer


if __name__ == "__main__":
    main()
