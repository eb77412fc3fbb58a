"""What of all that was found a reader is told, and in which form.

Owns      leaving out what a session's reader knows already, and who leads instead (KIP-951).
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.handlers.context import Context
from ottla.handlers.fetching.reading import Found
from ottla.handlers.fetching.wants import Wants
from ottla.handlers.leaders import current_leader, leader_endpoints
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
)

LEADER_HINTS_FROM = 16
LENGTH_BYTES = 4
HINTED_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def response_of(found: list[Found], wants: Wants, context: Context) -> FetchResponse:
    told = [each for each in found if _must_tell(each, wants)]
    response = FetchResponse(
        session_id=wants.session_id, responses=_group_by_topic(told, wants.uses_ids)
    )
    if context.version >= LEADER_HINTS_FROM and any(each.answer.error_code for each in told):
        _add_leader_hints(response, told, wants, context)
    return response


def response_bytes(found: list[Found], wants: Wants, version: int) -> int:
    """How large the answer would be, as Kafka counts for quotas; nothing is noted."""
    told = [each for each in found if wants.is_full or _is_unknown(each)]
    response = FetchResponse(responses=_group_by_topic(told, wants.uses_ids))
    segments = response.encode_segments(version, bytearray())
    return LENGTH_BYTES + sum(len(segment) for segment in segments)


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
    if wants.session is None:
        return True
    answer = found.answer
    is_new = found.wanted.tell(answer.error_code, answer.high_watermark, answer.log_start_offset)
    has_more = found.size > 0 or found.is_news
    is_left_over = not has_more and _has_readable(found, wants)
    was_served = found.size > 0 and not wants.is_full  # a first answer begins no new round
    wants.session.looked_at(
        found.wanted.key, has_more=has_more, is_left_over=is_left_over, was_served=was_served
    )
    return wants.is_full or is_new or has_more


def _has_readable(found: Found, wants: Wants) -> bool:
    """Whether the log goes on where the reader stands: others had filled the answer."""
    answer = found.answer
    end = answer.last_stable_offset if wants.is_committed else answer.high_watermark
    return found.wanted.fetch_offset < end


def _add_leader_hints(
    response: FetchResponse, told: list[Found], wants: Wants, context: Context
) -> None:
    """Tell who leads instead, which saves the client a Metadata request."""
    leaders: set[int] = set()
    for found in told:
        if found.answer.error_code in HINTED_ERRORS and found.partition is not None:
            name = found.partition.name
            hint = current_leader(context, name.topic, name.partition)
            found.answer.current_leader = LeaderIdAndEpoch(*hint)
            leaders.add(hint[0])
    if not wants.is_follower:  # brokers know each other's addresses
        response.node_endpoints = [
            NodeEndpoint(*each) for each in leader_endpoints(context, leaders)
        ]


def _group_by_topic(found: Iterable[Found], uses_ids: bool) -> list[FetchableTopicResponse]:
    """Neighbours of one topic together, in the order in which they were looked at."""
    topics: list[FetchableTopicResponse] = []
    last = None
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
