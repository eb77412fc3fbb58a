"""Offsets of consumer groups, committed and read without being a member of one.

A group without members is a name under which offsets are stored, and lag tools show them. If a
group has members, only they may commit: others get UNKNOWN_MEMBER_ID.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ottla.base.ids import NO_OFFSET, TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.routed_requests import GROUP, PartResult, send_to_coordinator
from ottla.client.cluster.topology import by_topic
from ottla.client.connections.connection import ClientConnection
from ottla.client.errors import code_of
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_commit_response import OffsetCommitResponse
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)

BY_NAME_AT_MOST = 9  # later versions of both APIs name topics by id
MANY_GROUPS_FROM = 8
NO_GENERATION = -1


class GroupOffset(NamedTuple):
    offset: int
    leader_epoch: int = -1
    metadata: str | None = None


def commit_offsets(
    cluster: Cluster, group: str, offsets: Mapping[TopicPartition, int | GroupOffset]
) -> None:
    """Raises an error that names the first partition that was refused."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for at, committed in offsets.items():
        if not isinstance(committed, GroupOffset):
            committed = GroupOffset(committed)
        part = OffsetCommitRequestPartition(
            at.partition, committed.offset, committed.leader_epoch, committed.metadata or ""
        )
        topics.setdefault(at.topic, []).append(part)
    request = OffsetCommitRequest(
        group,
        NO_GENERATION,
        topics=[OffsetCommitRequestTopic(name, partitions=parts) for name, parts in topics.items()],
    )

    def problems(answer: OffsetCommitResponse) -> Iterator[PartResult]:
        for topic in answer.topics:
            for part in topic.partitions:
                where = f"OffsetCommit of {topic.name}-{part.partition_index} for group {group!r}"
                yield PartResult(code_of(part.error_code), where)

    if topics:
        send_to_coordinator(
            cluster, GROUP, group, request, problems, "OffsetCommit", at_most=BY_NAME_AT_MOST
        )


def committed_offsets(
    cluster: Cluster, group: str, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, GroupOffset]:
    """The offsets of these partitions, or of all; without partitions that have none."""
    wanted = None if partitions is None else by_topic(partitions)

    def build(connection: ClientConnection) -> OffsetFetchRequest:
        version = connection.version_of(ApiKey.OFFSET_FETCH, BY_NAME_AT_MOST)
        return _request(group, wanted, version)

    def problems(answer: Any) -> Iterator[PartResult]:
        found = answer.groups[0] if answer.groups else answer
        yield PartResult(code_of(found.error_code), f"OffsetFetch of group {group!r}")
        for at, code, _ in _read(answer):
            yield PartResult(code_of(code), f"OffsetFetch of {at} for group {group!r}")

    answer = send_to_coordinator(
        cluster, GROUP, group, build, problems, "OffsetFetch", at_most=BY_NAME_AT_MOST
    )
    return {at: committed for at, _, committed in _read(answer) if committed.offset != NO_OFFSET}


def _request(group: str, wanted: dict[str, list[int]] | None, version: int) -> OffsetFetchRequest:
    """With `require_stable`: offsets of open transactions are a retriable error."""
    if version < MANY_GROUPS_FROM:
        topics = None
        if wanted is not None:
            topics = [OffsetFetchRequestTopic(name, parts) for name, parts in wanted.items()]
        return OffsetFetchRequest(group, topics, require_stable=version >= 7)
    asked = None
    if wanted is not None:
        asked = [
            OffsetFetchRequestTopics(name, partition_indexes=parts)
            for name, parts in wanted.items()
        ]
    return OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group, topics=asked)], require_stable=True
    )


def _read(answer: Any) -> Iterator[tuple[TopicPartition, int, GroupOffset]]:
    """(partition, error code, committed offset), of both forms of the response."""
    for topic in answer.groups[0].topics if answer.groups else answer.topics:
        for part in topic.partitions:
            committed = GroupOffset(
                part.committed_offset, part.committed_leader_epoch, part.metadata
            )
            yield TopicPartition(topic.name, part.partition_index), part.error_code, committed
