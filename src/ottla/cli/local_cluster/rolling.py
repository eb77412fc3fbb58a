"""Restarting the brokers of a local cluster one after the other, while all partitions are served.

Promises  a broker is stopped only if the partitions that it has keep `min.insync.replicas` without
          it, and the next one only when all partitions are in sync again. A partition with too few
          replicas for that (one, or no more than `min.insync.replicas`) does not delay it.
Leaves    stopping and starting to `supervisor.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.topics import INTERNAL
from ottla.cli.errors import CommandFailed
from ottla.client.admin.topics import topic_configs
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.topology import PartitionDescription
from ottla.client.errors import ClientError

POLL_S = 0.2
NAMES_SHOWN = 10
MIN_IN_SYNC = "min.insync.replicas"

Partitions = Mapping[TopicPartition, PartitionDescription]


def in_order(broker_ids: Iterable[int], controller_id: int) -> list[int]:
    """The controller last, so that it changes once."""
    return sorted(broker_ids, key=lambda each: (each == controller_id, each))


def behind(partitions: Partitions, besides: int | None = None) -> list[TopicPartition]:
    """Partitions without a leader, or with replicas that are not in sync; besides those of the
    broker that is to be restarted."""
    found = []
    for at, each in partitions.items():
        is_led = each.leader >= 0 or besides in each.replicas
        if not is_led or set(each.replicas) - set(each.in_sync_replicas) - {besides}:
            found.append(at)
    return found


def stopped_without(
    partitions: Partitions, min_in_sync: Mapping[str, int], broker_id: int
) -> list[TopicPartition]:
    """Partitions that could not be written without this broker, and could be if all their replicas
    were in sync."""
    found = []
    for at, each in partitions.items():
        needed = min(min_in_sync.get(at.topic, 1), len(each.replicas) - 1)
        left = set(each.in_sync_replicas) - {broker_id}
        if broker_id in each.replicas and len(left) < needed:
            found.append(at)
    return found


def read_partitions(cluster: Cluster) -> dict[TopicPartition, PartitionDescription]:
    return {
        TopicPartition(name, each.partition): each
        for name, topic in cluster.read_metadata(None).items()
        for each in topic.partitions
    }


def read_min_in_sync(cluster: Cluster, topics: Iterable[str]) -> dict[str, int]:
    names = sorted(topics)
    found = topic_configs(cluster, names) if names else {}
    return {name: int(settings.get(MIN_IN_SYNC) or 1) for name, settings in found.items()}


def wait_until_in_sync(
    cluster: Cluster, timeout_s: float, besides: int | None = None
) -> list[TopicPartition]:
    """The partitions that are still behind when the time is up: usually none."""
    deadline_s = time.monotonic() + timeout_s
    while True:
        try:
            left = behind(read_partitions(cluster), besides)
        except ClientError:
            if time.monotonic() > deadline_s:
                raise
        else:
            if not left or time.monotonic() > deadline_s:
                return left
        time.sleep(POLL_S)


def restart_all(
    cluster: Cluster,
    broker_ids: Sequence[int],
    restart: Callable[[int], None],
    timeout_s: float,
) -> None:
    """CommandFailed if partitions are behind for longer than this."""
    for number, broker_id in enumerate(broker_ids):
        left = wait_until_in_sync(cluster, timeout_s, broker_id)
        partitions = read_partitions(cluster)
        min_in_sync = read_min_in_sync(cluster, {each.topic for each in left})
        if stopped := stopped_without(
            {at: partitions[at] for at in left if at in partitions}, min_in_sync, broker_id
        ):
            raise refusal(stopped, broker_id, number)
        restart(broker_id)
    if left := wait_until_in_sync(cluster, timeout_s):
        raise CommandFailed(
            f"restarted all, but after {timeout_s:g} s replicas of {listed(left)} are behind",
            "see: ottla status, and the logs of the brokers",
        )


def refusal(stopped: Sequence[TopicPartition], broker_id: int, restarted: int) -> CommandFailed:
    return CommandFailed(
        f"broker {broker_id} is not restarted: without it, too few replicas of {listed(stopped)} "
        f"would be in sync ({MIN_IN_SYNC})",
        f"restarted before: {restarted}",
        "wait until the others are in sync (ottla status --wait 120), or use --force",
    )


def listed(partitions: Sequence[TopicPartition]) -> str:
    internal_last = sorted(partitions, key=lambda each: (each.topic in INTERNAL, each))
    names = [f"{each.topic}-{each.partition}" for each in internal_last]
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
