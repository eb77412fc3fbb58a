"""Offsets: committing, reading, deleting, transactions, expiry."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count

import pytest
from tests.unit.coordinators.groups.harness import (
    GROUP,
    ClassicClient,
    ConsumerClient,
    Harness,
    code_of,
    rebalance,
)

from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.groups import offset_api, offset_commits
from ottla.coordinators.groups.committed_offsets import NEVER
from ottla.coordinators.groups.offset_commits import expiry_of
from ottla.coordinators.groups.offset_expiry import expiring
from ottla.coordinators.groups.record_types import GROUP_RECORDS
from ottla.coordinators.records import decode_record
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.offset_commit_value import OffsetCommitValue
from ottla.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequestGroup

DAY_MS = 24 * 60 * 60 * 1000
WEEK_MS = 7 * DAY_MS


@pytest.fixture
def harness() -> Harness:
    harness = Harness()
    harness.create_topic("t")
    harness.create_topic("u")
    return harness


def last_value(harness: Harness) -> tuple[OffsetCommitValue, int]:
    record = decode_record(GROUP_RECORDS, harness.log[-1].key, harness.log[-1].value)
    assert record is not None
    assert isinstance(record.value, OffsetCommitValue)
    return record.value, record.value_version


def test_what_was_committed_is_read_again_also_after_a_restart(harness: Harness) -> None:
    assert harness.commit({("t", 0): 7, ("u", 1): 3}, metadata="here") == {
        ("t", 0): ErrorCode.NONE,
        ("u", 1): ErrorCode.NONE,
    }
    for _ in range(2):
        assert (harness.fetch("t", 0), harness.fetch("u", 1)) == (7, 3)
        assert harness.fetch("t", 1) == -1
        harness.restart()


def test_the_record_is_kafkas_with_the_topics_id(harness: Harness) -> None:
    harness.commit({("t", 2): 7}, metadata="here")
    value, version = last_value(harness)
    topic = harness.image.topic("t")
    assert topic is not None
    assert version == 4
    assert value == OffsetCommitValue(7, 0, "here", harness.clock.now_ms(), -1, topic.id)


def test_a_commit_with_a_retention_of_its_own_is_stored_as_old_brokers_did(
    harness: Harness,
) -> None:
    harness.commit({("t", 2): 7}, retention_ms=1000, version=3)
    value, version = last_value(harness)
    assert version == 1
    assert value.expire_timestamp == harness.clock.now_ms() + 1000


def test_metadata_that_is_too_long_is_refused_for_its_partition_alone(harness: Harness) -> None:
    long = "x" * (harness.config.offset_metadata_max_bytes + 1)
    assert harness.commit({("t", 0): 1}, metadata=long) == {
        ("t", 0): ErrorCode.OFFSET_METADATA_TOO_LARGE
    }
    assert harness.fetch("t", 0) == -1
    assert harness.commit({("t", 0): 1}, metadata=long[1:]) == {("t", 0): ErrorCode.NONE}


@pytest.mark.parametrize(
    ("version", "code"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_a_member_of_a_group_that_does_not_exist_cannot_commit(
    harness: Harness, version: int, code: ErrorCode
) -> None:
    with pytest.raises(BrokerError) as refused:
        harness.commit({("t", 0): 1}, member_id="m", epoch=1, version=version)
    assert refused.value.code == code


def test_all_offsets_of_a_group_are_read_with_null_topics(harness: Harness) -> None:
    harness.commit({("t", 0): 7, ("t", 3): 8, ("u", 1): 3})
    wanted = OffsetFetchRequestGroup(GROUP, topics=None)
    answer = run_blocking(offset_api.fetch(harness.shard, wanted, require_stable=False))
    found = {
        (t.name, p.partition_index): p.committed_offset for t in answer.topics for p in t.partitions
    }
    assert found == {("t", 0): 7, ("t", 3): 8, ("u", 1): 3}


def test_an_unknown_group_has_no_offsets_and_no_error(harness: Harness) -> None:
    assert harness.fetch("t", 0, group_id="nobody") == -1
    wanted = OffsetFetchRequestGroup("nobody", topics=None)
    found = run_blocking(offset_api.fetch(harness.shard, wanted, require_stable=True))
    assert found.topics == []


# Transactions


def test_offsets_of_a_transaction_count_when_it_commits(harness: Harness) -> None:
    harness.commit({("t", 0): 5})
    harness.commit_in_transaction(77, {("t", 0): 9})
    assert harness.fetch("t", 0) == 5
    assert harness.fetch("t", 0, require_stable=True) == ErrorCode.UNSTABLE_OFFSET_COMMIT
    harness.restart()
    assert harness.fetch("t", 0, require_stable=True) == ErrorCode.UNSTABLE_OFFSET_COMMIT
    harness.end_transaction(77, is_commit=True)
    assert harness.fetch("t", 0, require_stable=True) == 9
    harness.restart()
    assert harness.fetch("t", 0) == 9


def test_offsets_of_an_aborted_transaction_are_forgotten(harness: Harness) -> None:
    harness.commit_in_transaction(77, {("t", 0): 9})
    harness.end_transaction(77, is_commit=False)
    assert harness.fetch("t", 0, require_stable=True) == -1
    assert harness.shard.offsets.pending == {}
    assert harness.shard.find(GROUP) is not None  # as after a commit: it is there, and empty


def test_only_partitions_of_the_open_transaction_are_unstable(harness: Harness) -> None:
    harness.commit({("t", 0): 5, ("t", 1): 6})
    harness.commit_in_transaction(77, {("t", 0): 9})
    assert harness.fetch("t", 1, require_stable=True) == 6


@pytest.mark.parametrize("is_compacted", [False, True])
def test_of_a_plain_commit_and_a_transactions_the_later_record_counts(
    harness: Harness, is_compacted: bool
) -> None:
    harness.commit_in_transaction(77, {("t", 0): 9})
    harness.commit({("t", 0): 5})
    harness.end_transaction(77, is_commit=True)
    if is_compacted:
        harness.compact()
    for _ in range(2):
        assert harness.fetch("t", 0) == 5
        harness.restart()


def test_of_two_transactions_the_later_record_counts_in_whatever_order_they_end(
    harness: Harness,
) -> None:
    harness.commit_in_transaction(77, {("t", 0): 9})
    harness.commit_in_transaction(78, {("t", 0): 8})
    harness.end_transaction(78, is_commit=True)
    assert harness.fetch("t", 0, require_stable=True) == ErrorCode.UNSTABLE_OFFSET_COMMIT
    harness.end_transaction(77, is_commit=True)
    for _ in range(2):
        assert harness.fetch("t", 0, require_stable=True) == 8
        harness.restart()


def test_a_deleted_offset_does_not_come_back_with_a_transaction_that_was_open(
    harness: Harness,
) -> None:
    harness.commit_in_transaction(77, {("t", 0): 9})
    harness.delete_group()
    harness.end_transaction(77, is_commit=True)
    for _ in range(2):
        assert harness.fetch("t", 0) == -1
        assert harness.shard.find(GROUP) is None
        harness.restart()


def test_a_member_of_an_old_generation_cannot_commit_in_a_transaction(harness: Harness) -> None:
    client = ClassicClient(harness)
    rebalance(harness, client)
    harness.commit_in_transaction(
        77, {("t", 0): 1}, member_id=client.member_id, generation=client.generation
    )
    harness.commit_in_transaction(77, {("t", 0): 2})  # clients that know no groups (before KIP-447)
    for member_id, generation, code in (
        (client.member_id, client.generation - 1, ErrorCode.ILLEGAL_GENERATION),
        ("somebody", client.generation, ErrorCode.UNKNOWN_MEMBER_ID),
    ):
        with pytest.raises(BrokerError) as refused:
            harness.commit_in_transaction(
                77, {("t", 0): 3}, member_id=member_id, generation=generation
            )
        assert refused.value.code == code


# Deleting


def test_offsets_are_deleted_one_by_one(harness: Harness) -> None:
    harness.commit({("t", 0): 5, ("t", 1): 6})
    assert harness.delete_offsets("t", [0, 3]) == [ErrorCode.NONE, ErrorCode.NONE]
    for _ in range(2):
        assert (harness.fetch("t", 0), harness.fetch("t", 1)) == (-1, 6)
        harness.restart()


def test_a_group_that_only_held_offsets_stays_without_any_until_it_is_deleted(
    harness: Harness,
) -> None:
    harness.commit({("t", 0): 5})
    harness.delete_offsets("t", [0])
    for _ in range(2):
        assert harness.delete_offsets("t", [0]) == [ErrorCode.NONE]
        harness.restart()
    harness.delete_group()
    for _ in range(2):
        assert harness.shard.find(GROUP) is None
        harness.restart()


def test_a_group_that_only_holds_offsets_looks_at_the_protocols_of_a_stranger(
    harness: Harness,
) -> None:
    stranger = ClassicClient(harness, member_id="stranger", protocol_type="")

    def refusal() -> ErrorCode:
        return code_of(lambda: ErrorCode(stranger.send_join().response.error_code))

    assert refusal() == ErrorCode.UNKNOWN_MEMBER_ID
    harness.commit({("t", 0): 5})
    assert refusal() == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    stranger.protocol_type = "consumer"
    assert refusal() == ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_of_a_deleted_topic_are_forgotten_its_namesakes_are_not(harness: Harness) -> None:
    harness.commit({("t", 0): 5, ("u", 0): 6})
    harness.delete_topic("t")
    assert (harness.fetch("t", 0), harness.fetch("u", 0)) == (-1, 6)
    harness.create_topic("t")
    harness.commit({("t", 0): 1})
    assert harness.fetch("t", 0) == 1


def test_an_offset_of_a_deleted_topic_with_the_same_name_is_not_returned(harness: Harness) -> None:
    harness.commit({("t", 0): 5})
    topic = harness.image.topic("t")
    assert topic is not None
    assert harness.fetch("t", 0, topic_id=topic.id) == 5
    assert harness.fetch("t", 0, topic_id=b"another topic id") == -1


# Expiry


def test_offsets_without_members_expire_after_their_commit(harness: Harness) -> None:
    harness.commit({("t", 0): 5})
    harness.advance_ms(DAY_MS)
    harness.commit({("t", 1): 6})
    harness.advance_ms(6 * DAY_MS)
    harness.expire_offsets()
    assert (harness.fetch("t", 0), harness.fetch("t", 1)) == (-1, 6)
    harness.advance_ms(DAY_MS)
    harness.expire_offsets()
    assert harness.shard.find(GROUP) is None


def test_offsets_of_an_empty_group_expire_after_it_became_empty(harness: Harness) -> None:
    client = ClassicClient(harness)
    rebalance(harness, client)
    client.commit({("t", 0): 5})
    harness.clock.advance_ms(8 * DAY_MS)  # it reads all the time
    client.leave()
    harness.expire_offsets()
    assert harness.fetch("t", 0) == 5
    harness.advance_ms(WEEK_MS)
    harness.expire_offsets()
    for _ in range(2):
        assert harness.fetch("t", 0) == -1
        assert harness.shard.find(GROUP) is None
        harness.restart()


def test_offsets_of_subscribed_topics_do_not_expire(harness: Harness) -> None:
    subscription = b"\0\0" + b"\0\0\0\1\0\1t" + b"\xff\xff\xff\xff"
    client = ClassicClient(harness, protocols={"range": subscription}, session_ms=2 * WEEK_MS)
    rebalance(harness, client)
    client.commit({("t", 0): 5, ("u", 0): 6})
    harness.clock.advance_ms(WEEK_MS)
    harness.expire_offsets()
    assert (harness.fetch("t", 0), harness.fetch("u", 0)) == (5, -1)
    assert harness.delete_offsets("t", [0]) == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]


def test_an_offset_that_an_open_transaction_may_change_does_not_expire(harness: Harness) -> None:
    harness.commit({("t", 0): 5, ("t", 1): 6})
    harness.commit_in_transaction(77, {("t", 0): 9})
    harness.advance_ms(WEEK_MS)
    harness.expire_offsets()
    assert (harness.fetch("t", 0), harness.fetch("t", 1)) == (5, -1)
    harness.end_transaction(77, is_commit=False)
    harness.expire_offsets()
    assert harness.shard.find(GROUP) is None


def test_a_retention_of_its_own_counts_instead_of_the_brokers(harness: Harness) -> None:
    harness.commit({("t", 0): 5}, retention_ms=1000, version=3)
    harness.advance_ms(1000)
    harness.expire_offsets()
    assert harness.fetch("t", 0) == -1


def test_an_empty_group_without_offsets_is_forgotten_at_once(harness: Harness) -> None:
    client = ClassicClient(harness)
    rebalance(harness, client)
    client.leave()
    harness.expire_offsets()
    assert harness.shard.find(GROUP) is None
    assert harness.replayed().groups == {}


def test_a_group_with_a_pending_join_is_not_deleted(harness: Harness) -> None:
    client = ClassicClient(harness)
    client.member_id = client.send_join().response.member_id
    harness.expire_offsets()
    assert client.send_join().is_waiting


@pytest.mark.parametrize("is_commit", [False, True])
def test_a_group_that_is_left_with_offsets_of_an_open_transaction_is_known_after_its_end(
    harness: Harness, is_commit: bool
) -> None:
    harness.commit_in_transaction(7, {("t", 0): 1})
    client = ConsumerClient(harness)
    client.beat()
    client.leave()
    harness.write(harness.consumers().tombstones())  # as when another kind of group has this id
    harness.end_transaction(7, is_commit=is_commit)
    for shard in (harness.shard, harness.replayed()):
        assert shard.find(GROUP) is not None
        assert list(shard.group_ids()) == [GROUP]
        assert bool(shard.offsets.of_group(GROUP)) == is_commit


def test_offsets_of_a_topic_that_somebody_subscribes_to_meanwhile_are_not_deleted() -> None:
    for at in range(8):
        harness = Harness()
        topics = ["t", "u", "v"]
        for name in topics:
            harness.create_topic(name)
        harness.commit(dict.fromkeys([(name, 0) for name in topics], 1))
        wanted = [OffsetDeleteRequestPartition(0)]
        request = OffsetDeleteRequest(
            GROUP, [OffsetDeleteRequestTopic(name, wanted) for name in topics]
        )
        deleting = offset_api.delete(harness.shard, request, harness.write)
        deleted_before, answer = set[str](), None
        for number in count():
            if number == at:
                deleted_before = {name for name in topics if harness.fetch(name, 0) == -1}
                ConsumerClient(harness, topics=topics).beat()
            try:
                next(deleting)
            except StopIteration as end:
                answer = end.value
                break
        assert answer is not None
        codes = {each.name: each.partitions[0].error_code for each in answer.topics}
        for name, code in codes.items():
            assert (code == 0) == (harness.fetch(name, 0) == -1), (at, name)
        used = [name for name in topics if codes[name] == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]
        if number > at:
            begun = len(deleted_before) + 1  # that of a topic may have begun
            assert used in (topics[begun:], topics[begun - 1 :]), at


def test_nothing_remains_of_a_deleted_group(harness: Harness) -> None:
    client = ConsumerClient(harness, topics=("t",), regex="u.*")
    client.beat()
    client.beat()
    client.leave()
    harness.delete_group()
    context = harness.shard.context
    assert GROUP not in context.checked
    assert (
        GROUP not in context.unresolved | context.resolving | context.unassigned | context.assigning
    )
    harness.clock.advance_ms(24 * 60 * 60 * 1000)
    assert context.timers.take_expired() is None
    assert context.usage.member_bytes == context.usage.offsets == 0


def test_deleting_offsets_that_were_never_committed_writes_nothing(harness: Harness) -> None:
    harness.commit({("t", 0): 1})
    before = len(harness.log)
    unknown = [OffsetDeleteRequestPartition(each) for each in (1, 2)]
    request = OffsetDeleteRequest(GROUP, [OffsetDeleteRequestTopic("t", unknown)])
    answer = run_blocking(offset_api.delete(harness.shard, request, harness.write))
    assert [each.error_code for each in answer.topics[0].partitions] == [0, 0]
    assert len(harness.log) == before


def consumer_joins(harness: Harness) -> None:
    ConsumerClient(harness, topics=("t", "u")).beat()


def classic_member_joins(harness: Harness) -> None:
    rebalance(harness, ClassicClient(harness, "classic"))


@pytest.mark.parametrize("event", [consumer_joins, classic_member_joins])
def test_offsets_do_not_expire_any_more_once_somebody_has_joined(
    event: Callable[[Harness], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offset_commits, "TOMBSTONES_MAX", 1)
    names = [("t", 0), ("t", 1), ("u", 0), ("u", 1)]
    at, has_happened = 0, True
    while has_happened:
        harness = Harness()
        harness.create_topic("t")
        harness.create_topic("u")
        harness.commit(dict.fromkeys(names, 1))
        retention_ms = harness.config.offsets_retention_minutes * 60_000
        harness.advance_ms(retention_ms)
        find = partial(harness.shard.find, GROUP)
        now_ms = harness.clock.now_ms()
        steps = expiring(find, harness.shard.offsets, now_ms, retention_ms, harness.write)
        left: list[tuple[str, int]] = []
        has_happened = False
        for number, _ in enumerate(steps):
            if number == at:
                left = [each for each in names if harness.fetch(*each) != -1]
                event(harness)
                has_happened = True
        assert [each for each in names if harness.fetch(*each) != -1] == left, at
        for shard in (harness.shard, harness.replayed()):
            assert bool(shard.groups) == has_happened, at
        at += 1
    assert at > len(names)


@pytest.mark.parametrize("retention_ms", [2**63 - 1, 2**63 - 1001, 2**63 - 1000, 5, 0])
def test_the_longest_retention_of_a_commit_ends_with_the_numbers(retention_ms: int) -> None:
    assert expiry_of(retention_ms, now_ms=1000) == min(1000 + retention_ms, 2**63 - 1)
    assert expiry_of(-1, now_ms=1000) == NEVER
