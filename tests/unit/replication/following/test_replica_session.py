"""Which partitions a follower names in its next request."""

from __future__ import annotations

from collections.abc import Callable

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.protocol.messages.fetch_response import FetchResponse
from ottla.replication.following.replica_session import (
    EPOCH_MAX,
    PartitionKey,
    ReplicaFetchLimits,
    ReplicaPosition,
    ReplicaSession,
)

LIMITS = ReplicaFetchLimits(partition_bytes_max=100, bytes_max=1000, bytes_min=1, wait_ms_max=500)
FIRST, SECOND = PartitionKey(b"a" * 16, 0), PartitionKey(b"b" * 16, 7)
EPOCH = 40


def session() -> ReplicaSession:
    found = ReplicaSession(2, LIMITS)
    found.put(FIRST, ReplicaPosition(5, 3, 2, 1))
    return found


def named(request: FetchRequest) -> dict[PartitionKey, int]:
    return {
        PartitionKey(topic.topic_id, part.partition): part.fetch_offset
        for topic in request.topics
        for part in topic.partitions
    }


def forgotten(request: FetchRequest) -> list[PartitionKey]:
    return [
        PartitionKey(topic.topic_id, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    ]


def answered(session: ReplicaSession, session_id: int = 9) -> None:
    session.next_request(EPOCH)
    assert session.accept(FetchResponse(session_id=session_id))


def test_the_first_request_names_all_with_what_the_follower_has() -> None:
    request = session().next_request(EPOCH)
    assert (request.session_id, request.session_epoch) == (0, 0)
    (topic,) = request.topics
    (part,) = topic.partitions
    assert (part.current_leader_epoch, part.fetch_offset) == (3, 5)
    assert (part.last_fetched_epoch, part.log_start_offset) == (2, 1)
    assert part.partition_max_bytes == 100
    assert (request.max_bytes, request.min_bytes, request.max_wait_ms) == (1000, 1, 500)
    assert request.replica_state is not None
    assert (request.replica_state.replica_id, request.replica_state.replica_epoch) == (2, EPOCH)


def test_later_requests_name_what_has_changed() -> None:
    it = session()
    answered(it)
    assert not it.has_changes
    assert named(it.next_request(EPOCH)) == {}
    it.put(SECOND, ReplicaPosition(0, 1, -1, 0))
    it.put(FIRST, ReplicaPosition(8, 3, 2, 1))
    assert it.has_changes
    request = it.next_request(EPOCH)
    assert named(request) == {FIRST: 8, SECOND: 0}
    assert (request.session_id, request.session_epoch) == (9, 2)
    it.drop(SECOND)
    request = it.next_request(EPOCH)
    assert (named(request), forgotten(request)) == ({}, [SECOND])
    assert forgotten(it.next_request(EPOCH)) == []


def test_a_partition_that_comes_back_is_not_forgotten() -> None:
    it = session()
    answered(it)
    it.drop(FIRST)
    it.put(FIRST, ReplicaPosition(9, 4, 4, 0))
    request = it.next_request(EPOCH)
    assert (named(request), forgotten(request)) == ({FIRST: 9}, [])


def test_one_that_was_put_and_dropped_is_only_forgotten() -> None:
    it = session()
    answered(it)
    it.put(SECOND, ReplicaPosition(0, 1, -1, 0))
    it.drop(SECOND)
    request = it.next_request(EPOCH)
    assert (named(request), forgotten(request)) == ({}, [SECOND])
    it.drop(SECOND)
    assert not it.has_changes


def test_a_lost_session_begins_again_with_all() -> None:
    ways: list[Callable[[ReplicaSession], object]] = [
        lambda it: it.reset(),
        lambda it: it.accept(FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)),
        lambda it: it.accept(FetchResponse(session_id=0)),  # the leader has no room for it
    ]
    for lose in ways:
        it = session()
        answered(it)
        assert it.is_open
        lose(it)
        assert not it.is_open
        request = it.next_request(EPOCH)
        assert named(request) == {FIRST: 5}
        assert (request.session_id, request.session_epoch, forgotten(request)) == (0, 0, [])


def test_a_refused_request_is_reported() -> None:
    it = session()
    it.next_request(EPOCH)
    assert not it.accept(FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH))
    assert it.accept(FetchResponse(session_id=4))


def test_two_requests_may_be_under_way_in_one_session() -> None:
    it = session()
    answered(it)
    assert it.next_request(EPOCH).session_epoch == 1
    assert it.next_request(EPOCH).session_epoch == 2
    assert it.accept(FetchResponse(session_id=9))
    assert it.accept(FetchResponse(session_id=9))
    assert it.next_request(EPOCH).session_epoch == 3


def test_the_epoch_begins_again_at_one() -> None:
    it = session()
    answered(it)
    it._epoch = EPOCH_MAX  # two thousand million requests
    assert it.next_request(EPOCH).session_epoch == EPOCH_MAX
    assert it.next_request(EPOCH).session_epoch == 1
