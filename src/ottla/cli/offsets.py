"""Asking the cluster for offsets: the ends of partitions, and the first record of a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ottla.cli.connection import Connection, confluent_kafka
from ottla.cli.offset_ranges import At, AtTime, End, Position, Start

Place = tuple[str, int]  # topic and partition


def partition_ends(
    connection: Connection, admin: Any, places: Iterable[Place]
) -> tuple[dict[Place, int], dict[Place, int]]:
    """Where partitions start, and where they end."""
    from confluent_kafka.admin import OffsetSpec

    wanted = list(places)
    if not wanted:
        return {}, {}
    asked = [
        ask(connection, admin, dict.fromkeys(wanted, spec))
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest())
    ]
    starts, ends = (receive(connection, futures) for futures in asked)
    return starts, ends


def ask(connection: Connection, admin: Any, wanted: dict[Place, Any]) -> dict[Place, Any]:
    library = confluent_kafka()
    futures = admin.list_offsets(
        {library.TopicPartition(*place): spec for place, spec in wanted.items()},
        request_timeout=connection.timeout_s,
    )
    return {(each.topic, each.partition): future for each, future in futures.items()}


def receive(connection: Connection, futures: dict[Place, Any]) -> dict[Place, int]:
    return {place: connection.wait(future).offset for place, future in futures.items()}


def resolve(
    connection: Connection, admin: Any, places: Iterable[Place], position: Position
) -> dict[Place, int]:
    """The offsets that a position means, within what each partition has."""
    wanted = list(places)
    starts, ends = partition_ends(connection, admin, wanted)
    found: dict[Place, int] = {}
    if isinstance(position, AtTime) and wanted:
        from confluent_kafka.admin import OffsetSpec

        spec = OffsetSpec.for_timestamp(position.timestamp_ms)
        found = receive(connection, ask(connection, admin, dict.fromkeys(wanted, spec)))
    return {
        place: within(position, starts[place], ends[place], found.get(place, -1))
        for place in wanted
    }


def within(position: Position, start: int, end: int, found: int) -> int:
    """`found` is the offset of the time that was asked for; -1 if there is nothing so late."""
    match position:
        case Start(count):
            offset = start + count
        case End(count):
            offset = end - count
        case At(offset):
            pass
        case AtTime():
            offset = found if found >= 0 else end
    return max(start, min(offset, end))
