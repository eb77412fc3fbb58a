"""Partitions that two members of a group have at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from tests.chaos.checker.assignments import shared_partitions

from ottla.protocol.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)


def encoded(topics: dict[str, Sequence[int]], version: int = 1) -> bytes:
    parts = [TopicPartition(*each) for each in topics.items()]
    return bytes(ConsumerProtocolAssignment(parts).encode_prefixed(version))


def test_members_with_partitions_of_their_own_share_none() -> None:
    assert shared_partitions({"a": encoded({"t": [0, 1]}), "b": encoded({"t": [2]}, 0)}) == []
    assert shared_partitions({"a": encoded({"t": [0]}), "b": b""}) == []


def test_a_partition_of_two_members_is_found() -> None:
    assignments = {"a": encoded({"t": [0, 1]}), "b": encoded({"u": [1], "t": [1]})}
    assert shared_partitions(assignments) == ["t-1 of ['a', 'b']"]
