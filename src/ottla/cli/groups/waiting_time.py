"""Lag in time: when the first record that a group has not read was written.

It takes reading that record from every partition where the group is behind.
"""

from __future__ import annotations

import time
from typing import Any

from ottla.cli.connection import Connection, confluent_kafka
from ottla.cli.offsets import Place

READ_BYTES = 1024  # of each partition: only the first record's timestamp is looked at


def waiting_since(connection: Connection, places: dict[Place, int]) -> dict[Place, int]:
    """The timestamps of the records at these offsets, in ms; those that cannot be had are missing.

    Where the record itself is gone (compaction, a transaction's marker) the next one counts.
    """
    if not places:
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
            [library.TopicPartition(*place, offset) for place, offset in places.items()]
        )
        return first_timestamps(consumer, set(places), connection.timeout_s)
    finally:
        consumer.close()


def first_timestamps(consumer: Any, missing: set[Place], timeout_s: float) -> dict[Place, int]:
    found: dict[Place, int] = {}
    deadline_s = time.monotonic() + timeout_s
    while missing and time.monotonic() < deadline_s:
        message = consumer.poll(0.2)
        if message is None:
            continue
        place = (message.topic(), message.partition())
        if place in missing and message.error() is None:
            found[place] = message.timestamp()[1]
        missing.discard(place)
    return found
