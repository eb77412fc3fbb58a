"""What is asked of a broker next, and what its answers mean."""

from __future__ import annotations

from random import Random

import pytest
from tests.support.raw_client import batch_of

from ottla.base.ids import TopicPartition
from ottla.client.cluster.topology import Leader
from ottla.client.fetching.fetch_session import ClientFetchSession, FetchLimits
from ottla.client.fetching.fetched_records import whole_batches
from ottla.client.fetching.read_position import EMPTY_ANSWERS_MAX, ReadPosition
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from ottla.protocol.records.batch import stamp_offset_and_epoch

TOPIC_ID = bytes(range(16))


def session(*partitions: int, end: int | None = 100, isolation: int = 0) -> ClientFetchSession:
    limits = FetchLimits(1000, 500, 50, 1, isolation)
    made = ClientFetchSession(limits, version=17)
    for number in partitions:
        at = TopicPartition("t", number)
        made.positions[at] = ReadPosition(at, TOPIC_ID, 0, end, leader_epoch=2)
    return made


def batches(first: int, *counts: int) -> memoryview:
    out = bytearray()
    for count in counts:
        data = batch_of(*[b"x"] * count)
        stamp_offset_and_epoch(data, 0, first, 0)
        first += count
        out += data
    return memoryview(out)


def part(
    number: int, records: memoryview | bytes = b"", code: int = 0, end: int = 100
) -> PartitionData:
    return PartitionData(number, code, end, end, 0, records=memoryview(records))


def answer(
    *parts: PartitionData, session_id: int = 0, code: int = 0, throttle: int = 0
) -> FetchResponse:
    topics = [FetchableTopicResponse(topic_id=TOPIC_ID, partitions=list(parts))] if parts else []
    return FetchResponse(throttle, code, session_id, topics)


def asked(request: FetchRequest) -> dict[int, int]:
    return {
        each.partition: each.fetch_offset for topic in request.topics for each in topic.partitions
    }


def forgotten(request: FetchRequest) -> list[int]:
    return [each for topic in request.forgotten_topics_data for each in topic.partitions]


def test_a_single_partition_takes_no_session() -> None:
    one = session(0)
    request = one.next_request()
    assert (request.session_id, request.session_epoch) == (0, -1)
    one.read(answer(part(0, batches(0, 10))))
    request = one.next_request()
    assert asked(request) == {0: 10}
    assert request.session_epoch == -1


def test_a_session_names_only_what_changed() -> None:
    several = session(0, 1, 2)
    first = several.next_request()
    assert (first.session_id, first.session_epoch, asked(first)) == (0, 0, {0: 0, 1: 0, 2: 0})
    several.read(answer(part(1, batches(0, 10)), part(0), part(2), session_id=5))
    second = several.next_request()
    assert (second.session_id, second.session_epoch, asked(second)) == (5, 1, {1: 10})
    several.read(answer(part(0, batches(0, 100)), session_id=5))
    third = several.next_request()
    assert (third.session_epoch, asked(third), forgotten(third)) == (2, {}, [0])


def test_a_broker_without_room_for_sessions_is_asked_for_everything_each_time() -> None:
    several = session(0, 1)
    several.next_request()
    several.read(answer(part(0, batches(0, 10)), part(1), session_id=0))
    request = several.next_request()
    assert (request.session_id, request.session_epoch) == (0, 0)
    assert asked(request) == {0: 10, 1: 0}


@pytest.mark.parametrize("code", [70, 71, 106])
def test_a_session_that_the_broker_lost_is_begun_again(code: int) -> None:
    several = session(0, 1)
    several.next_request()
    several.read(answer(part(0, batches(0, 10)), part(1), session_id=5))
    digest = several.read(answer(code=code))
    assert digest.session_error == code
    request = several.next_request()
    assert (request.session_id, request.session_epoch) == (0, 0)
    assert asked(request) == {0: 10, 1: 0}


def test_who_was_served_goes_to_the_end_of_the_line() -> None:
    several = session(0, 1, 2)
    several.next_request()
    several.read(answer(part(0, batches(0, 10)), part(1), part(2)))
    assert list(asked(several.next_request())) == [1, 2, 0]


def test_records_are_handed_out_up_to_the_end_of_the_range() -> None:
    one = session(0, end=15)
    digest = one.read(answer(part(0, batches(0, 10, 10, 10))))
    (fetched,) = digest.records
    assert (fetched.start_offset, fetched.end_offset) == (0, 15)
    assert len(fetched.data) == len(batches(0, 10, 10))
    assert [each.offset for each in digest.done] == [15]
    assert not one.positions


def test_a_batch_that_is_cut_off_waits_for_the_next_answer() -> None:
    one = session(0)
    whole = batches(0, 10, 10)
    (fetched,) = one.read(answer(part(0, whole[:-1]))).records
    assert fetched.end_offset == 10
    assert asked(one.next_request()) == {0: 10}


def test_a_gap_at_the_end_of_a_range_is_suspected_after_several_empty_answers() -> None:
    one = session(0)
    gaps = [one.read(answer(part(0))).gaps for _ in range(EMPTY_ANSWERS_MAX)]
    assert [len(each) for each in gaps] == [0] * (EMPTY_ANSWERS_MAX - 1) + [1]
    assert gaps[-1][0].offset == 0
    assert not one.positions


def test_an_empty_answer_in_a_session_makes_the_broker_look_at_everything_again() -> None:
    """A session omits partitions that have not changed, so a response may name none."""
    several = session(0, 1)
    several.next_request()
    several.read(answer(part(0, batches(0, 10)), part(1), session_id=5))
    assert asked(several.next_request()) == {0: 10}
    assert not several.read(answer(session_id=5)).gaps
    request = several.next_request()
    assert (request.session_id, asked(request)) == (0, {1: 0, 0: 10})


def test_gaps_of_several_partitions_are_suspected_by_answers_that_name_them() -> None:
    several = session(0, 1)
    gaps = []
    for round_ in range(EMPTY_ANSWERS_MAX):
        assert several.next_request().session_epoch == 0
        gaps += several.read(answer(part(0), part(1), session_id=5 + round_)).gaps
        if not gaps:
            assert several.next_request().session_epoch == 1
            assert not several.read(answer(session_id=5 + round_)).gaps
    assert [each.partition.partition for each in gaps] == [0, 1]


def test_an_empty_answer_is_no_gap_if_others_filled_it_or_the_broker_throttles() -> None:
    several = session(0, 1)
    for _ in range(2 * EMPTY_ANSWERS_MAX):
        position = several.positions[TopicPartition("t", 1)]
        data = batches(position.offset, 5)
        assert not several.read(answer(part(0), part(1, data))).gaps
    one = session(0)
    for _ in range(2 * EMPTY_ANSWERS_MAX):
        assert not one.read(answer(part(0), throttle=10)).gaps


def test_an_empty_answer_below_the_end_of_the_log_is_waited_through() -> None:
    one = session(0, end=100)
    for _ in range(5):
        digest = one.read(answer(part(0, end=60)))
        assert not digest.gaps
        assert "the log ends at 60" in digest.waiting


def test_read_committed_waits_for_the_last_stable_offset() -> None:
    one = session(0, end=100, isolation=1)
    data = PartitionData(0, 0, 100, 40, 0, records=memoryview(b""))
    for _ in range(3):
        digest = one.read(answer(data))
        assert not digest.gaps
        assert "the log ends at 40" in digest.waiting


def test_an_error_takes_the_partition_out_with_the_hint_where_to_go() -> None:
    several = session(0, 1)
    failed = part(0, code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    failed.current_leader = LeaderIdAndEpoch(3, 7)
    digest = several.read(answer(failed, part(1, batches(0, 10))))
    (trouble,) = digest.problems
    assert (trouble.code, trouble.leader) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, Leader(3, 7))
    assert trouble.position.offset == 0
    assert several.positions.keys() == {TopicPartition("t", 1)}


def test_partitions_that_were_not_requested_are_ignored() -> None:
    assert not session(0).read(answer(part(9, batches(0, 10)))).records


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (bytes(100), "no batch at byte 0"),
        (bytes(batches(0, 10)[:50]), "got 50 bytes"),
        (bytes(batches(0, 5)), "end before offset 5"),
    ],
    ids=["zeros", "cut off", "too early"],  # batches hold the time: no name for a test
)
def test_nonsense_instead_of_records_is_refused(data: bytes, reason: str) -> None:
    position = ReadPosition(TopicPartition("t", 0), TOPIC_ID, 5, 100)
    with pytest.raises(MalformedMessage, match=reason):
        whole_batches(memoryview(data), position)


@pytest.mark.parametrize("seed", range(10))
def test_a_broker_that_keeps_what_the_requests_name_has_every_position(seed: int) -> None:
    random = Random(seed)
    several = session(0, 1)
    kept: dict[tuple[bytes, int], int] = {}  # as a broker keeps a session: ids, then offsets
    for _ in range(60):
        positions = several.positions
        for at in random.sample(sorted(positions), k=min(1, len(positions))):
            if random.random() < 0.4:
                positions[at].offset += random.randrange(3)
            else:
                del positions[at]
        while len(positions) < 2 or random.random() < 0.4:
            at = TopicPartition("t", random.randrange(4))
            topic_id = random.choice([TOPIC_ID, bytes(15) + b"x"])  # the topic was created again
            positions[at] = ReadPosition(at, topic_id, random.randrange(3), 100, leader_epoch=2)
        request = several.next_request()
        if request.session_epoch == 0:
            kept.clear()
        for topic in request.topics:
            kept |= {
                (topic.topic_id, each.partition): each.fetch_offset for each in topic.partitions
            }
        for gone in request.forgotten_topics_data:
            for partition in gone.partitions:
                del kept[gone.topic_id, partition]
        assert kept == {
            (each.topic_id, at.partition): each.offset for at, each in positions.items()
        }
        several.read(answer(session_id=5, code=random.choice([0] * 9 + [71])))
