"""Throttles of moves, as Kafka's own tool sets them: rates of brokers, and replicas of topics.

`leader.replication.throttled.replicas` of a topic names the replicas that send, which include those
of the broker that leaves: so a later run finds the throttles that an interrupted one has set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ottla.cli.decommission.plan import Move
from ottla.client.admin.reassignments import BROKER_RESOURCE, TOPIC_RESOURCE, alter_configs
from ottla.client.admin.topics import topic_configs
from ottla.client.cluster.cluster import Cluster

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"

Changes = dict[tuple[int, str], Mapping[str, str | None]]


def throttle_changes(moves: Sequence[Move], brokers: Iterable[int], rate: int) -> Changes:
    """The settings that limit these moves to `rate` bytes a second at each broker."""
    changes: Changes = {
        (BROKER_RESOURCE, str(each)): {LEADER_RATE: str(rate), FOLLOWER_RATE: str(rate)}
        for each in brokers
    }
    sending: dict[str, list[str]] = {}
    receiving: dict[str, list[str]] = {}
    for move in moves:
        topic, number = move.partition
        sending.setdefault(topic, []).extend(f"{number}:{each}" for each in move.before)
        receiving.setdefault(topic, []).extend(
            f"{number}:{each}" for each in move.after if each not in move.before
        )
    for topic, replicas in sending.items():
        changes[TOPIC_RESOURCE, topic] = {
            LEADER_REPLICAS: ",".join(replicas),
            FOLLOWER_REPLICAS: ",".join(receiving[topic]),
        }
    return changes


def removal_changes(topics: Iterable[str], brokers: Iterable[int]) -> Changes:
    changes: Changes = {
        (BROKER_RESOURCE, str(each)): {LEADER_RATE: None, FOLLOWER_RATE: None} for each in brokers
    }
    for topic in topics:
        changes[TOPIC_RESOURCE, topic] = {LEADER_REPLICAS: None, FOLLOWER_REPLICAS: None}
    return changes


def names_broker(throttled_replicas: str | None, broker_id: int) -> bool:
    """Whether the value of a setting, such as `0:1,0:2`, has this broker."""
    items = (throttled_replicas or "").split(",")
    return any(item.strip().endswith(f":{broker_id}") for item in items)


def set_throttles(
    cluster: Cluster, moves: Sequence[Move], brokers: Iterable[int], rate: int
) -> None:
    alter_configs(cluster, throttle_changes(moves, brokers, rate))


def remove_throttles(cluster: Cluster, brokers: Iterable[int], broker_id: int) -> list[str]:
    """Remove the throttles of moves away from this broker. Returns the topics that had some; if
    none has, the rates of the brokers are left as they are, because another tool may have set
    them."""
    configs = topic_configs(cluster, cluster.list_topics())
    throttled = sorted(
        name
        for name, settings in configs.items()
        if names_broker(settings.get(LEADER_REPLICAS), broker_id)
    )
    if throttled:
        alter_configs(cluster, removal_changes(throttled, brokers))
    return throttled
