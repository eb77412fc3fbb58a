"""What became of a transaction that a coordinator no longer speaks for.

A refused commit may mean that the transaction was aborted, or that it was committed long ago and
its id has expired or been used again since. The log knows: readers of committed records are told
which transactions were aborted, by producer and first offset.
"""

from __future__ import annotations

from ottla.base.ids import TopicPartition
from ottla.client.cluster import Cluster
from ottla.client.errors import OffsetOutOfRange
from ottla.client.fetching import fetch_range
from ottla.client.offsets import latest_offsets
from ottla.client.settings import READ_COMMITTED
from ottla.spark.sink.decisions import Transaction, Written


def was_committed(cluster: Cluster, transaction: Transaction) -> bool:
    """False if it was aborted, is still open, or nobody can say."""
    places = [each for each in transaction.written if each.first_offset >= 0]
    return bool(places) and all(
        _is_committed(cluster, transaction.producer_id, place) for place in places
    )


def _is_committed(cluster: Cluster, producer_id: int, place: Written) -> bool:
    partition = TopicPartition(place.topic, place.partition)
    if latest_offsets(cluster, [partition], READ_COMMITTED)[partition] <= place.last_offset:
        return False
    try:
        for fetched in fetch_range(
            cluster, partition, place.first_offset, place.first_offset + 1,
            isolation_level=READ_COMMITTED,
        ):  # fmt: skip
            if (producer_id, place.first_offset) in fetched.aborted_transactions:
                return False
    except OffsetOutOfRange:
        return True  # retention took it: nobody can miss it
    return True
