"""What of all that was found a reader is told, and in which form.

Owns      leaving out what a session's reader knows already, and who leads instead (KIP-951).
Promises  what is done for one partition costs the same for any number of them: callers with very
          many let others have their turn in between.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.turns import Slices
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
    PartitionData,
)

LEADER_HINTS_FROM = 16
LENGTH_BYTES = 4
MEASURED_AT_ONCE = 50  # partitions
HINTED_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class Answering:
    """A response that grows by one partition after the other."""

    __slots__ = ("_context", "_last", "_leaders", "_partitions", "_topics", "_wants")

    def __init__(self, wants: Wants, context: Context) -> None:
        self._wants = wants
        self._context = context
        self._topics: list[FetchableTopicResponse] = []
        self._last: object = None  # the topic of the partitions below
        self._partitions: list[PartitionData] = []
        self._leaders: set[int] = set()

    def add(self, found: Found) -> None:
        """In the order in which they were looked at; neighbours of one topic stand together."""
        if self._wants.session is not None and not _must_tell(found, self._wants):
            return
        topic, answer = found.wanted.key.topic, found.answer
        if topic != self._last:
            self._last = topic
            self._partitions = []
            if self._wants.uses_ids:
                new = FetchableTopicResponse(topic_id=topic, partitions=self._partitions)  # type: ignore[arg-type]  # bytes from version 13 on
            else:
                new = FetchableTopicResponse(topic, partitions=self._partitions)  # type: ignore[arg-type]
            self._topics.append(new)
        self._partitions.append(answer)
        if answer.error_code and self._context.version >= LEADER_HINTS_FROM:
            self._add_leader_hint(found)

    def _add_leader_hint(self, found: Found) -> None:
        """Tell who leads instead, which saves the client a Metadata request."""
        if found.answer.error_code in HINTED_ERRORS and found.partition is not None:
            name = found.partition.name
            hint = current_leader(self._context, name.topic, name.partition)
            found.answer.current_leader = LeaderIdAndEpoch(*hint)
            self._leaders.add(hint[0])

    def response(self) -> FetchResponse:
        response = FetchResponse(session_id=self._wants.session_id, responses=self._topics)
        if self._leaders and not self._wants.is_follower:  # brokers know each other's addresses
            response.node_endpoints = [
                NodeEndpoint(*each) for each in leader_endpoints(self._context, self._leaders)
            ]
        return response


def response_of(found: Iterable[Found], wants: Wants, context: Context) -> FetchResponse:
    answering = Answering(wants, context)
    for each in found:
        answering.add(each)
    return answering.response()


def responding(found: Iterable[Found], wants: Wants, context: Context) -> Slices[FetchResponse]:
    answering = Answering(wants, context)
    for each in found:
        answering.add(each)
        yield 0
    return answering.response()


def response_bytes(found: Iterable[Found], wants: Wants, version: int) -> int:
    """How large the answer would be, as Kafka counts for quotas; nothing is noted."""
    told = [each for each in found if wants.is_full or _is_unknown(each)]
    response = FetchResponse(responses=_group_by_topic(told, wants.uses_ids))
    segments = response.encode_segments(version, bytearray())
    return LENGTH_BYTES + sum(len(segment) for segment in segments)


def measuring(found: list[Found], wants: Wants, version: int) -> Slices[int]:
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
