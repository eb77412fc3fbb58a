"""What became of a transaction that a coordinator no longer speaks for.

A refused commit may mean that the transaction was aborted, or that it was committed long ago and
its id has expired or been used again since. The log knows: the next marker of the same producer is
the end of this transaction. (The last stable offset does not help: others may hold it back.)
"""

from __future__ import annotations

from ottla.base.ids import TopicPartition
from ottla.client.cluster import Cluster
from ottla.client.errors import OffsetOutOfRange
from ottla.client.fetching import fetch_range
from ottla.client.offsets import latest_offsets
from ottla.client.settings import READ_UNCOMMITTED
from ottla.protocol.records.batch import Buffer, iterate_headers
from ottla.protocol.records.control import read_end_marker
from ottla.spark.sink.decisions import Transaction, Written


def was_committed(cluster: Cluster, transaction: Transaction) -> bool:
    """False if it was aborted, is still open, or nobody can say."""
    places = [each for each in transaction.written if each.last_offset >= 0]
    return bool(places) and all(
        _is_committed(cluster, transaction.producer_id, place) for place in places
    )


def _is_committed(cluster: Cluster, producer_id: int, place: Written) -> bool:
    partition = TopicPartition(place.topic, place.partition)
    end = latest_offsets(cluster, [partition], READ_UNCOMMITTED)[partition]
    try:
        for fetched in fetch_range(
            cluster, partition, place.last_offset + 1, end, isolation_level=READ_UNCOMMITTED
        ):
            found = first_marker(fetched.data, producer_id, place.last_offset)
            if found is not None:
                return found
    except OffsetOutOfRange:
        return True  # retention took it: nobody can miss it
    return False


def first_marker(data: Buffer, producer_id: int, after_offset: int) -> bool | None:
    """Whether the producer's first marker behind an offset commits; None if there is none."""
    for position, header in iterate_headers(data):
        if not header.is_control or header.producer_id != producer_id:
            continue
        marker = read_end_marker(data, position) if header.base_offset > after_offset else None
        if marker is not None:
            return marker.is_commit
    return None
