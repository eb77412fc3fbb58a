"""Offsets: committing, reading, deleting, transactions, expiry."""

from __future__ import annotations

import pytest
from tests.unit.coordinators.groups.bench import GROUP, Bench, ClassicClient, code_of, rebalance

from ottla.base.turns import run_at_once
from ottla.coordinators.groups import offset_requests
from ottla.coordinators.groups.record_types import GROUP_RECORDS
from ottla.coordinators.records import decode_record
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.offset_commit_value import OffsetCommitValue
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequestGroup

DAY_MS = 24 * 60 * 60 * 1000
WEEK_MS = 7 * DAY_MS


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create_topic("t")
    bench.create_topic("u")
    return bench


def last_value(bench: Bench) -> tuple[OffsetCommitValue, int]:
    record = decode_record(GROUP_RECORDS, bench.log[-1].key, bench.log[-1].value)
    assert record is not None
    assert isinstance(record.value, OffsetCommitValue)
    return record.value, record.value_version


def test_what_was_committed_is_read_again_also_after_a_restart(bench: Bench) -> None:
    assert bench.commit({("t", 0): 7, ("u", 1): 3}, metadata="here") == {
        ("t", 0): ErrorCode.NONE,
        ("u", 1): ErrorCode.NONE,
    }
    for _ in range(2):
        assert (bench.fetch("t", 0), bench.fetch("u", 1)) == (7, 3)
        assert bench.fetch("t", 1) == -1
        bench.restart()


def test_the_record_is_kafkas_with_the_topics_id(bench: Bench) -> None:
    bench.commit({("t", 2): 7}, metadata="here")
    value, version = last_value(bench)
    topic = bench.image.topic("t")
    assert topic is not None
    assert version == 4
    assert value == OffsetCommitValue(7, 0, "here", bench.clock.now_ms(), -1, topic.id)


def test_a_commit_with_a_retention_of_its_own_is_stored_as_old_brokers_did(bench: Bench) -> None:
    bench.commit({("t", 2): 7}, retention_ms=1000, version=3)
    value, version = last_value(bench)
    assert version == 1
    assert value.expire_timestamp == bench.clock.now_ms() + 1000


def test_metadata_that_is_too_long_is_refused_for_its_partition_alone(bench: Bench) -> None:
    long = "x" * (bench.config.offset_metadata_max_bytes + 1)
    assert bench.commit({("t", 0): 1}, metadata=long) == {
        ("t", 0): ErrorCode.OFFSET_METADATA_TOO_LARGE
    }
    assert bench.fetch("t", 0) == -1
    assert bench.commit({("t", 0): 1}, metadata=long[1:]) == {("t", 0): ErrorCode.NONE}


@pytest.mark.parametrize(
    ("version", "code"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_a_member_of_a_group_that_does_not_exist_cannot_commit(
    bench: Bench, version: int, code: ErrorCode
) -> None:
    with pytest.raises(BrokerError) as refused:
        bench.commit({("t", 0): 1}, member_id="m", epoch=1, version=version)
    assert refused.value.code == code


def test_all_offsets_of_a_group_are_read_with_null_topics(bench: Bench) -> None:
    bench.commit({("t", 0): 7, ("t", 3): 8, ("u", 1): 3})
    wanted = OffsetFetchRequestGroup(GROUP, topics=None)
    answer = run_at_once(offset_requests.fetch(bench.shard, wanted, require_stable=False))
    found = {
        (t.name, p.partition_index): p.committed_offset for t in answer.topics for p in t.partitions
    }
    assert found == {("t", 0): 7, ("t", 3): 8, ("u", 1): 3}


def test_an_unknown_group_has_no_offsets_and_no_error(bench: Bench) -> None:
    assert bench.fetch("t", 0, group_id="nobody") == -1
    wanted = OffsetFetchRequestGroup("nobody", topics=None)
    found = run_at_once(offset_requests.fetch(bench.shard, wanted, require_stable=True))
    assert found.topics == []


# Transactions


def test_offsets_of_a_transaction_count_when_it_commits(bench: Bench) -> None:
    bench.commit({("t", 0): 5})
    bench.commit_in_transaction(77, {("t", 0): 9})
    assert bench.fetch("t", 0) == 5
    assert bench.fetch("t", 0, require_stable=True) == ErrorCode.UNSTABLE_OFFSET_COMMIT
    bench.restart()
    assert bench.fetch("t", 0, require_stable=True) == ErrorCode.UNSTABLE_OFFSET_COMMIT
    bench.end_transaction(77, is_commit=True)
    assert bench.fetch("t", 0, require_stable=True) == 9
    bench.restart()
    assert bench.fetch("t", 0) == 9


def test_offsets_of_an_aborted_transaction_are_forgotten(bench: Bench) -> None:
    bench.commit_in_transaction(77, {("t", 0): 9})
    bench.end_transaction(77, is_commit=False)
    assert bench.fetch("t", 0, require_stable=True) == -1
    assert bench.shard.offsets.pending == {}
    assert bench.shard.find(GROUP) is not None  # as after a commit: it is there, and empty


def test_only_partitions_of_the_open_transaction_are_unstable(bench: Bench) -> None:
    bench.commit({("t", 0): 5, ("t", 1): 6})
    bench.commit_in_transaction(77, {("t", 0): 9})
    assert bench.fetch("t", 1, require_stable=True) == 6


@pytest.mark.parametrize("is_compacted", [False, True])
def test_of_a_plain_commit_and_a_transactions_the_later_record_counts(
    bench: Bench, is_compacted: bool
) -> None:
    bench.commit_in_transaction(77, {("t", 0): 9})
    bench.commit({("t", 0): 5})
    bench.end_transaction(77, is_commit=True)
    if is_compacted:
        bench.compact()
    for _ in range(2):
        assert bench.fetch("t", 0) == 5
        bench.restart()


def test_of_two_transactions_the_later_record_counts_in_whatever_order_they_end(
    bench: Bench,
) -> None:
    bench.commit_in_transaction(77, {("t", 0): 9})
    bench.commit_in_transaction(78, {("t", 0): 8})
    bench.end_transaction(78, is_commit=True)
    assert bench.fetch("t", 0, require_stable=True) == ErrorCode.UNSTABLE_OFFSET_COMMIT
    bench.end_transaction(77, is_commit=True)
    for _ in range(2):
        assert bench.fetch("t", 0, require_stable=True) == 8
        bench.restart()


def test_a_deleted_offset_does_not_come_back_with_a_transaction_that_was_open(bench: Bench) -> None:
    bench.commit_in_transaction(77, {("t", 0): 9})
    bench.delete_group()
    bench.end_transaction(77, is_commit=True)
    for _ in range(2):
        assert bench.fetch("t", 0) == -1
        assert bench.shard.find(GROUP) is None
        bench.restart()


def test_a_member_of_an_old_generation_cannot_commit_in_a_transaction(bench: Bench) -> None:
    client = ClassicClient(bench)
    rebalance(bench, client)
    bench.commit_in_transaction(
        77, {("t", 0): 1}, member_id=client.member_id, generation=client.generation
    )
    bench.commit_in_transaction(77, {("t", 0): 2})  # clients that know no groups (before KIP-447)
    for member_id, generation, code in (
        (client.member_id, client.generation - 1, ErrorCode.ILLEGAL_GENERATION),
        ("somebody", client.generation, ErrorCode.UNKNOWN_MEMBER_ID),
    ):
        with pytest.raises(BrokerError) as refused:
            bench.commit_in_transaction(
                77, {("t", 0): 3}, member_id=member_id, generation=generation
            )
        assert refused.value.code == code


# Deleting


def test_offsets_are_deleted_one_by_one(bench: Bench) -> None:
    bench.commit({("t", 0): 5, ("t", 1): 6})
    assert bench.delete_offsets("t", [0, 3]) == [ErrorCode.NONE, ErrorCode.NONE]
    for _ in range(2):
        assert (bench.fetch("t", 0), bench.fetch("t", 1)) == (-1, 6)
        bench.restart()


def test_a_group_that_only_held_offsets_stays_without_any_until_it_is_deleted(
    bench: Bench,
) -> None:
    bench.commit({("t", 0): 5})
    bench.delete_offsets("t", [0])
    for _ in range(2):
        assert bench.delete_offsets("t", [0]) == [ErrorCode.NONE]
        bench.restart()
    bench.delete_group()
    for _ in range(2):
        assert bench.shard.find(GROUP) is None
        bench.restart()


def test_a_group_that_only_holds_offsets_looks_at_the_protocols_of_a_stranger(bench: Bench) -> None:
    stranger = ClassicClient(bench, member_id="stranger", protocol_type="")

    def refusal() -> ErrorCode:
        return code_of(lambda: ErrorCode(stranger.send_join().response.error_code))

    assert refusal() == ErrorCode.UNKNOWN_MEMBER_ID
    bench.commit({("t", 0): 5})
    assert refusal() == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    stranger.protocol_type = "consumer"
    assert refusal() == ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_of_a_deleted_topic_are_forgotten_its_namesakes_are_not(bench: Bench) -> None:
    bench.commit({("t", 0): 5, ("u", 0): 6})
    bench.delete_topic("t")
    assert (bench.fetch("t", 0), bench.fetch("u", 0)) == (-1, 6)
    bench.create_topic("t")
    bench.commit({("t", 0): 1})
    assert bench.fetch("t", 0) == 1


def test_an_offset_of_a_topics_deleted_namesake_is_not_told(bench: Bench) -> None:
    bench.commit({("t", 0): 5})
    topic = bench.image.topic("t")
    assert topic is not None
    assert bench.fetch("t", 0, topic_id=topic.id) == 5
    assert bench.fetch("t", 0, topic_id=b"another topic id") == -1


# Expiry


def test_offsets_without_members_expire_after_their_commit(bench: Bench) -> None:
    bench.commit({("t", 0): 5})
    bench.advance_ms(DAY_MS)
    bench.commit({("t", 1): 6})
    bench.advance_ms(6 * DAY_MS)
    bench.expire_offsets()
    assert (bench.fetch("t", 0), bench.fetch("t", 1)) == (-1, 6)
    bench.advance_ms(DAY_MS)
    bench.expire_offsets()
    assert bench.shard.find(GROUP) is None


def test_offsets_of_an_empty_group_expire_after_it_became_empty(bench: Bench) -> None:
    client = ClassicClient(bench)
    rebalance(bench, client)
    client.commit({("t", 0): 5})
    bench.clock.advance_ms(8 * DAY_MS)  # it reads all the time
    client.leave()
    bench.expire_offsets()
    assert bench.fetch("t", 0) == 5
    bench.advance_ms(WEEK_MS)
    bench.expire_offsets()
    for _ in range(2):
        assert bench.fetch("t", 0) == -1
        assert bench.shard.find(GROUP) is None
        bench.restart()


def test_offsets_of_subscribed_topics_do_not_expire_while_somebody_reads(bench: Bench) -> None:
    subscription = b"\0\0" + b"\0\0\0\1\0\1t" + b"\xff\xff\xff\xff"
    client = ClassicClient(bench, protocols={"range": subscription}, session_ms=2 * WEEK_MS)
    rebalance(bench, client)
    client.commit({("t", 0): 5, ("u", 0): 6})
    bench.clock.advance_ms(WEEK_MS)
    bench.expire_offsets()
    assert (bench.fetch("t", 0), bench.fetch("u", 0)) == (5, -1)
    assert bench.delete_offsets("t", [0]) == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]


def test_an_offset_that_an_open_transaction_may_change_does_not_expire(bench: Bench) -> None:
    bench.commit({("t", 0): 5, ("t", 1): 6})
    bench.commit_in_transaction(77, {("t", 0): 9})
    bench.advance_ms(WEEK_MS)
    bench.expire_offsets()
    assert (bench.fetch("t", 0), bench.fetch("t", 1)) == (5, -1)
    bench.end_transaction(77, is_commit=False)
    bench.expire_offsets()
    assert bench.shard.find(GROUP) is None


def test_a_retention_of_its_own_counts_instead_of_the_brokers(bench: Bench) -> None:
    bench.commit({("t", 0): 5}, retention_ms=1000, version=3)
    bench.advance_ms(1000)
    bench.expire_offsets()
    assert bench.fetch("t", 0) == -1


def test_an_empty_group_without_offsets_is_forgotten_at_once(bench: Bench) -> None:
    client = ClassicClient(bench)
    rebalance(bench, client)
    client.leave()
    bench.expire_offsets()
    assert bench.shard.find(GROUP) is None
    assert bench.replayed().groups == {}


def test_a_group_that_somebody_is_about_to_join_is_not_forgotten(bench: Bench) -> None:
    client = ClassicClient(bench)
    client.member_id = client.send_join().response.member_id
    bench.expire_offsets()
    assert client.send_join().is_waiting
