"""Waiting until transactions have ended for readers too, and not only for their coordinator."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.waiting import wait_until

from ottla.base.ids import TopicPartition
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.admin.transactions import describe_transactions, list_transactions
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings

ENDING = ("PrepareCommit", "PrepareAbort")


def wait_until_stable(bootstrap: str, topic: str, partitions: Sequence[int] = (0,)) -> None:
    """Until no transaction is open: a coordinator answers before its markers are in the log."""
    places = [TopicPartition(topic, number) for number in partitions]
    with Cluster(ClientSettings(bootstrap)) as cluster:

        def is_stable() -> bool:
            ends = latest_offsets(cluster, places, "read_committed")
            return ends == latest_offsets(cluster, places, "read_uncommitted")

        wait_until(is_stable, f"the end of all transactions in {topic}")


def wait_for_markers(bootstrap: str, topic: str) -> None:
    """Until readers of the topic see the end of every transaction that was ended; others may be
    open."""
    with Cluster(ClientSettings(bootstrap)) as cluster:

        def are_written() -> bool:
            ending = list_transactions(cluster, states=ENDING)
            found = describe_transactions(cluster, [each.transactional_id for each in ending])
            return all(place.topic != topic for each in found.values() for place in each.partitions)

        wait_until(are_written, f"markers are written to {topic}")
