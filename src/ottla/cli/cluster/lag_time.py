"""Lag as time: when the first record that a group has not read was written.

That record is fetched from every partition in which the group has lag.
"""

from __future__ import annotations

import time
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.connection import ClusterConnection, confluent_kafka

READ_BYTES = 1024  # per partition: only the first record's timestamp is used


def first_timestamps_at(
    connection: ClusterConnection, offsets: dict[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """The timestamps of the records at these offsets, in ms; those that cannot be read are missing.

    Where the record itself was removed (compaction, a transaction's marker) the next one counts.
    """
    if not offsets:
        return {}
    library = confluent_kafka()
    consumer = connection.consumer(
        group_id="ottla-lag",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        enable_partition_eof=True,
        fetch_wait_max_ms=10,
        max_partition_fetch_bytes=READ_BYTES,
    )
    try:
        consumer.assign(
            [library.TopicPartition(*partition, offset) for partition, offset in offsets.items()]
        )
        return first_timestamps(consumer, set(offsets), connection.timeout_s)
    finally:
        consumer.close()


def first_timestamps(
    consumer: Any, missing: set[TopicPartition], timeout_s: float
) -> dict[TopicPartition, int]:
    found: dict[TopicPartition, int] = {}
    deadline_s = time.monotonic() + timeout_s
    while missing and time.monotonic() < deadline_s:
        message = consumer.poll(0.2)
        if message is None:
            continue
        partition = TopicPartition(message.topic(), message.partition())
        if partition in missing and message.error() is None:
            found[partition] = message.timestamp()[1]
        missing.discard(partition)
    return found
