"""Fetch requests to one broker: the next request, and what a response contains.

Owns      positions in partitions, and the state of the broker's fetch session.
Promises  a position moves only past complete batches that are returned: no record is skipped or
          repeated.
Leaves    sockets and threads to `fetch_stream.py`, errors to `fetcher.py`.

With a fetch session (KIP-227) a request names only the partitions that changed. A single partition
changes every time: it is fetched without a session, which the broker would have to store.

With a rack, a leader may answer with another replica instead of records (KIP-392); such a partition
leaves the session as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.client.cluster.topology import Leader
from ottla.client.errors import code_of
from ottla.client.fetching.fetched_records import (
    fetched_records,
    waiting_for,
    whole_batches,
)
from ottla.client.fetching.read_position import ReadPosition
from ottla.client.fetching.response_content import FetchProblem, ResponseContent
from ottla.config.addresses import Address
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from ottla.protocol.messages.fetch_response import FetchResponse, PartitionData

TOPIC_IDS_FROM = 13
NO_SESSION_EPOCH = -1
FIRST_EPOCH = 0
EPOCH_MAX = 2**31 - 1


@dataclass(frozen=True)
class FetchLimits:
    max_bytes: int
    partition_max_bytes: int
    max_wait_ms: int
    min_bytes: int
    isolation_number: int


class FetchStart(NamedTuple):
    """What the broker's session has stored for a partition."""

    offset: int
    leader_epoch: int


class ClientFetchSession:
    def __init__(self, limits: FetchLimits, version: int, rack: str = "") -> None:
        self.positions: dict[TopicPartition, ReadPosition] = {}
        self.version = version
        self._limits = limits
        self._rack = rack
        self._session_id = 0
        self._epoch = FIRST_EPOCH
        self._was_full = True  # the last request named every partition
        self._requested: dict[TopicPartition, tuple[bytes, FetchStart]] = {}

    @property
    def has_slot(self) -> bool:
        """Whether the broker stores a session, which should be closed."""
        return self._session_id != 0

    # Requests

    def next_request(self) -> FetchRequest:
        requested = {
            at: (each.topic_id, FetchStart(each.offset, each.leader_epoch))
            for at, each in self.positions.items()
        }
        self._was_full = not self.has_slot
        if self._was_full:
            epoch = FIRST_EPOCH if len(requested) > 1 else NO_SESSION_EPOCH
            self._requested = requested
            return self._request(epoch, requested, {})
        changed = {at: each for at, each in requested.items() if self._requested.get(at) != each}
        forgotten = {
            at: each
            for at, each in self._requested.items()
            if at not in requested or each[0] != requested[at][0]
        }
        self._requested = requested
        return self._request(self._epoch, changed, forgotten)

    def closing_request(self) -> FetchRequest:
        """Closes the broker's session."""
        return FetchRequest(session_id=self._session_id, session_epoch=NO_SESSION_EPOCH)

    def _request(
        self,
        epoch: int,
        requested: dict[TopicPartition, tuple[bytes, FetchStart]],
        forgotten: dict[TopicPartition, tuple[bytes, FetchStart]],
    ) -> FetchRequest:
        limits = self._limits
        topics: dict[tuple[str, bytes], list[FetchPartition]] = {}
        for at, (topic_id, (offset, leader_epoch)) in requested.items():
            topics.setdefault((at.topic, topic_id), []).append(
                FetchPartition(
                    at.partition,
                    leader_epoch,
                    offset,
                    partition_max_bytes=limits.partition_max_bytes,
                )
            )
        forgotten_by_topic: dict[tuple[str, bytes], list[int]] = {}
        for at, (topic_id, _) in forgotten.items():
            forgotten_by_topic.setdefault((at.topic, topic_id), []).append(at.partition)
        return FetchRequest(
            max_wait_ms=limits.max_wait_ms,
            min_bytes=limits.min_bytes,
            max_bytes=limits.max_bytes,
            isolation_level=limits.isolation_number,
            session_id=self._session_id,
            session_epoch=epoch,
            topics=[FetchTopic(*topic, parts) for topic, parts in topics.items()],
            forgotten_topics_data=[
                ForgottenTopic(*topic, parts) for topic, parts in forgotten_by_topic.items()
            ],
            rack_id=self._rack,
        )

    # Answers

    def read(self, answer: FetchResponse) -> ResponseContent:
        """Move the positions; finished partitions and those with errors leave the session."""
        content = ResponseContent(session_error=code_of(answer.error_code))
        if content.session_error != ErrorCode.NONE:
            self.reset()
            return content
        self._note_session(answer.session_id)
        endpoints = {each.node_id: Address(each.host, each.port) for each in answer.node_endpoints}
        is_idle = not answer.throttle_time_ms and not any(
            part.records or part.error_code or part.preferred_read_replica >= 0
            for topic in answer.responses
            for part in topic.partitions
        )
        for position, part in self._parts(answer):
            self._read_part(position, part, endpoints, content)
        self._note_emptiness(answer, is_idle, content)
        failed = (each.position for each in content.problems)
        for position in [*failed, *content.done, *content.gaps, *content.moved]:
            del self.positions[position.partition]
        self._rotate(content)
        return content

    def review(self, content: ResponseContent, now_s: float) -> None:
        """Positions that are to be read from another replica leave the session: followers that
        have stalled are problems, the others are moved."""
        for position in list(self.positions.values()):
            if position.has_stalled(now_s):
                code = ErrorCode.OFFSET_NOT_AVAILABLE
                content.problems.append(FetchProblem(position, code, Leader(-1, -1), {}))
            elif position.review_s <= now_s:
                content.moved.append(position)
            else:
                continue
            del self.positions[position.partition]

    def reset(self) -> None:
        """Begin a new session: the next request names every partition."""
        self._session_id, self._epoch, self._requested = 0, FIRST_EPOCH, {}

    def _note_session(self, session_id: int) -> None:
        if session_id and session_id == self._session_id:
            self._epoch = 1 if self._epoch == EPOCH_MAX else self._epoch + 1
        else:
            self._session_id, self._epoch = session_id, 1

    def _parts(self, answer: FetchResponse) -> Iterator[tuple[ReadPosition, PartitionData]]:
        names = {each.topic_id: at.topic for at, each in self.positions.items()}
        for topic in answer.responses:
            by_id = self.version >= TOPIC_IDS_FROM
            name = names.get(bytes(topic.topic_id)) if by_id else topic.topic
            for part in topic.partitions:
                position = self.positions.get(TopicPartition(name or "", part.partition_index))
                if position is not None:
                    yield position, part

    def _read_part(
        self,
        position: ReadPosition,
        part: PartitionData,
        endpoints: dict[int, Address],
        content: ResponseContent,
    ) -> None:
        code = code_of(part.error_code)
        if code != ErrorCode.NONE:
            hint = part.current_leader
            leader = Leader(hint.leader_id, hint.leader_epoch) if hint else Leader(-1, -1)
            content.problems.append(FetchProblem(position, code, leader, endpoints))
            return
        is_committed = self._limits.isolation_number
        position.log_ends(part.last_stable_offset if is_committed else part.high_watermark)
        if part.records:
            data, end_offset, epoch = whole_batches(part.records, position)
            content.records.append(fetched_records(position, part, data, end_offset))
            position.records_read(end_offset, epoch)
        if position.is_done:
            content.done.append(position)
        elif part.preferred_read_replica >= 0:
            position.refer_to(part.preferred_read_replica)
            content.moved.append(position)

    def _note_emptiness(
        self, answer: FetchResponse, is_idle: bool, content: ResponseContent
    ) -> None:
        """A response without records, although the log extends beyond the range: compaction may
        have removed the rest. A gap is assumed only after several such responses in a row that
        name the partition. A session omits partitions that have not changed, so a new session is
        begun, which makes the broker read every partition again."""
        included = {position.partition for position, _ in self._parts(answer)}
        for position in self.positions.values():
            end_offset = position.end_offset
            if not is_idle or end_offset is None or position.readable_offset < end_offset:
                position.note_no_gap()
            elif not self._was_full:
                self.reset()
            elif position.partition in included and position.note_empty():
                content.gaps.append(position)
            if is_idle and end_offset is not None:
                content.waiting = waiting_for(position)

    def _rotate(self, content: ResponseContent) -> None:
        """Partitions with records go to the end of the request, so that all are served."""
        for records in content.records:
            position = self.positions.pop(records.partition, None)
            if position is not None:
                self.positions[records.partition] = position
