"""What of all that was found a reader is told, and in which form.

Owns      leaving out what a session's reader knows already, and who leads instead (KIP-951).
Promises  what is done for one partition costs the same for any number of them: callers with very
          many let others have their turn in between.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.steps import Steps
from ottla.handlers.fetching.reading import Found
from ottla.handlers.fetching.requested import Wants
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


def response_of(found: list[Found], wants: Wants, context: Context) -> FetchResponse:
    response, topics = _begin_response(wants)
    _add(found, topics, response, wants, context)
    return response


def responding(found: list[Found], wants: Wants, context: Context) -> Steps[FetchResponse]:
    response, topics = _begin_response(wants)
    for start in range(0, len(found), ADDED_AT_ONCE):
        _add(found[start : start + ADDED_AT_ONCE], topics, response, wants, context)
        yield 0
    return response


def _begin_response(wants: Wants) -> tuple[FetchResponse, list[FetchableTopicResponse]]:
    """And its topics, which are still to be added."""
    topics: list[FetchableTopicResponse] = []
    return FetchResponse(session_id=wants.session_id, responses=topics), topics


def _add(
    found: list[Found],
    topics: list[FetchableTopicResponse],
    response: FetchResponse,
    wants: Wants,
    context: Context,
) -> None:
    told = found
    if wants.session is not None:
        told = [each for each in found if _must_tell(each, wants)]
    _group_by_topic(told, wants.uses_ids, topics)
    if context.version >= LEADER_HINTS_FROM and any(each.answer.error_code for each in told):
        _add_leader_hints(told, response, wants, context)


def _add_leader_hints(
    told: list[Found], response: FetchResponse, wants: Wants, context: Context
) -> None:
    """Tell who leads instead, which saves the client a Metadata request."""
    leaders = {each.node_id for each in response.node_endpoints}
    before = len(leaders)
    for found in told:
        if found.answer.error_code in HINTED_ERRORS and found.partition is not None:
            name = found.partition.name
            hint = current_leader(context, name.topic, name.partition)
            found.answer.current_leader = LeaderIdAndEpoch(*hint)
            leaders.add(hint[0])
    if len(leaders) > before and not wants.is_follower:  # brokers know each other's addresses
        endpoints = leader_endpoints(context, leaders)
        response.node_endpoints = [NodeEndpoint(*each) for each in endpoints]


def response_bytes(found: Iterable[Found], wants: Wants, version: int) -> int:
    """How large the answer would be, as Kafka counts for quotas; nothing is noted."""
    told = [each for each in found if wants.is_full or _is_unknown(each)]
    response = FetchResponse(responses=_group_by_topic(told, wants.uses_ids, []))
    segments = response.encode_segments(version, bytearray())
    return LENGTH_BYTES + sum(len(segment) for segment in segments)


def measuring(found: list[Found], wants: Wants, version: int) -> Steps[int]:
    """As `response_bytes`, and a few bytes more: it is measured in several parts."""
    size = 0
    for start in range(0, len(found), MEASURED_AT_ONCE):
        size += response_bytes(found[start : start + MEASURED_AT_ONCE], wants, version)
        yield 0
    return size


def _is_unknown(found: Found) -> bool:
    answer = found.answer
    return (
        found.size > 0
        or found.is_news
        or found.wanted.is_unknown(
            answer.error_code, answer.high_watermark, answer.log_start_offset
        )
    )


def _must_tell(found: Found, wants: Wants) -> bool:
    """Whether the client does not know this yet; in a full fetch everything is told."""
    assert wants.session is not None
    answer = found.answer
    is_new = found.wanted.tell(answer.error_code, answer.high_watermark, answer.log_start_offset)
    has_more = found.size > 0 or found.is_news
    is_left_over = not has_more and _has_readable(found, wants)
    was_served = found.size > 0 and not wants.is_full  # a first answer begins no new round
    wants.session.looked_at(
        found.wanted.key,
        found.mark,
        has_more=has_more,
        is_left_over=is_left_over,
        was_served=was_served,
    )
    return wants.is_full or is_new or has_more


def _has_readable(found: Found, wants: Wants) -> bool:
    """Whether the log goes on where the reader stands: others had filled the answer."""
    answer = found.answer
    end = answer.last_stable_offset if wants.is_committed else answer.high_watermark
    return found.wanted.fetch_offset < end


def _group_by_topic(
    found: Iterable[Found], uses_ids: bool, topics: list[FetchableTopicResponse]
) -> list[FetchableTopicResponse]:
    """Added to `topics`: neighbours of one topic together, in the order in which they were looked
    at."""
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
