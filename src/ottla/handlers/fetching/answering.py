"""The Fetch response: which of the partitions that were read it includes, and in which form.

Owns      leaving out partitions that are unchanged in a session, and leader hints (KIP-951).
Promises  the cost of a partition does not depend on their number: callers with very many process
          them in slices.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.scheduling.steps import Steps
from ottla.handlers.fetching.partition_read import PartitionRead
from ottla.handlers.fetching.requested import RequestedPartitions
from ottla.handlers.partitions.leaders import current_leader, leader_endpoints
from ottla.handlers.serving.context import Context
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
)

LEADER_HINTS_FROM = 16
LENGTH_BYTES = 4
MEASURED_AT_ONCE = 50  # partitions
ADDED_AT_ONCE = 50
HINTED_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def response_of(
    found: list[PartitionRead], requested: RequestedPartitions, context: Context
) -> FetchResponse:
    response, topics = _begin_response(requested)
    _add(found, topics, response, requested, context)
    return response


def responding(
    found: list[PartitionRead], requested: RequestedPartitions, context: Context
) -> Steps[FetchResponse]:
    response, topics = _begin_response(requested)
    for start in range(0, len(found), ADDED_AT_ONCE):
        _add(found[start : start + ADDED_AT_ONCE], topics, response, requested, context)
        yield 0
    return response


def _begin_response(
    requested: RequestedPartitions,
) -> tuple[FetchResponse, list[FetchableTopicResponse]]:
    """(the response, its list of topics, still empty)."""
    requested.note_response()
    topics: list[FetchableTopicResponse] = []
    return FetchResponse(session_id=requested.session_id, responses=topics), topics


def _add(
    found: list[PartitionRead],
    topics: list[FetchableTopicResponse],
    response: FetchResponse,
    requested: RequestedPartitions,
    context: Context,
) -> None:
    included = found
    if requested.is_follower:
        _note_sent(found, requested.follower, context)
    if requested.session is not None:
        included = [each for each in found if _record(each, requested)]
    _group_by_topic(included, requested.uses_ids, topics)
    if context.version >= LEADER_HINTS_FROM and any(each.answer.error_code for each in included):
        _add_leader_hints(included, response, requested, context)


def _note_sent(found: list[PartitionRead], follower: int, context: Context) -> None:
    quota = context.parts.leader_quota
    for each in found:
        if each.partition is not None and not each.answer.error_code:
            if each.answer.diverging_epoch is None:  # else the follower does not use it
                each.partition.high_watermark_sent(follower, each.answer.high_watermark)
            quota.record(each.partition, each.size)


def _add_leader_hints(
    included: list[PartitionRead],
    response: FetchResponse,
    requested: RequestedPartitions,
    context: Context,
) -> None:
    """Add the current leaders, which saves the client a Metadata request."""
    leaders = {each.node_id for each in response.node_endpoints}
    before = len(leaders)
    for found in included:
        if found.answer.error_code in HINTED_ERRORS and found.partition is not None:
            name = found.partition.name
            hint = current_leader(context, name.topic, name.partition)
            found.answer.current_leader = LeaderIdAndEpoch(*hint)
            leaders.add(hint[0])
    if len(leaders) > before and not requested.is_follower:  # brokers know each other's addresses
        endpoints = leader_endpoints(context, leaders)
        response.node_endpoints = [NodeEndpoint(*each) for each in endpoints]


def response_bytes(
    found: Iterable[PartitionRead], requested: RequestedPartitions, version: int
) -> int:
    """The size of the response, as Kafka counts it for quotas; the session is not changed."""
    included = [each for each in found if requested.is_full or _is_changed(each)]
    response = FetchResponse(responses=_group_by_topic(included, requested.uses_ids, []))
    segments = response.encode_segments(version, bytearray())
    return LENGTH_BYTES + sum(len(segment) for segment in segments)


def measuring(
    found: list[PartitionRead], requested: RequestedPartitions, version: int
) -> Steps[int]:
    """As `response_bytes`, and a few bytes more: it is measured in several parts."""
    size = 0
    for start in range(0, len(found), MEASURED_AT_ONCE):
        size += response_bytes(found[start : start + MEASURED_AT_ONCE], requested, version)
        yield 0
    return size


def _is_changed(found: PartitionRead) -> bool:
    answer = found.answer
    return (
        found.size > 0
        or found.is_urgent
        or found.wanted.is_changed(
            answer.error_code, answer.high_watermark, answer.log_start_offset
        )
    )


def _record(found: PartitionRead, requested: RequestedPartitions) -> bool:
    """Record the result in the session. Returns whether the response includes the partition:
    a full fetch includes all, others those that have changed."""
    assert requested.session is not None
    if requested.is_ended:  # the next request reads it again, from where its client is by now
        return True
    answer = found.answer
    is_new = found.wanted.record_sent(
        answer.error_code, answer.high_watermark, answer.log_start_offset
    )
    if answer.diverging_epoch is not None:
        found.wanted.forget_sent()  # its client truncates, and does not use the offsets
    has_more = found.size > 0 or found.is_urgent
    has_not_fit = not has_more and _has_readable(found, requested)
    was_served = (
        found.size > 0 and not requested.is_full
    )  # the first response does not change the order
    requested.session.record_read(
        found.wanted.key,
        found.mark,
        has_more=has_more,
        has_not_fit=has_not_fit,
        was_served=was_served,
    )
    return requested.is_full or is_new or has_more


def _has_readable(found: PartitionRead, requested: RequestedPartitions) -> bool:
    """Whether there is data that did not fit into the response."""
    answer = found.answer
    if requested.is_follower:
        return found.partition is not None and found.wanted.fetch_offset < found.log_end_offset
    end = answer.last_stable_offset if requested.is_committed else answer.high_watermark
    return found.wanted.fetch_offset < end


def _group_by_topic(
    found: Iterable[PartitionRead], uses_ids: bool, topics: list[FetchableTopicResponse]
) -> list[FetchableTopicResponse]:
    """Adds to `topics`, in the order of reading: neighbours of one topic together."""
    last: object = None
    if topics:
        last = topics[-1].topic_id if uses_ids else topics[-1].topic
    for each in found:
        topic = each.wanted.key.topic
        if topic != last:
            last = topic
            new = FetchableTopicResponse(partitions=[])
            if uses_ids:
                new.topic_id = topic  # type: ignore[assignment]  # bytes from version 13 on
            else:
                new.topic = topic  # type: ignore[assignment]
            topics.append(new)
        topics[-1].partitions.append(each.answer)  # type: ignore[attr-defined]  # the list above
    return topics
