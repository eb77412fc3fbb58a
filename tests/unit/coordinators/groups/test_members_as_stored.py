"""Members as records, other versions and the other protocol leave them: field by field."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import pytest
from tests.unit.coordinators.groups.harness import GROUP, ClassicClient, ConsumerClient, Harness
from tests.unit.coordinators.groups.test_conversion import work_classic

from ottla.coordinators.groups.classic.member import ClassicMember, OfferedProtocol, hash_slot
from ottla.coordinators.groups.classic.stored import is_as_stored
from ottla.coordinators.groups.consumer.classic_members import is_waiting_for_others, should_join
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.member import ConsumerMember, MemberState
from ottla.coordinators.groups.consumer.reconciliation import Goal, next_step
from ottla.coordinators.groups.consumer.records import from_stored
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_current_member_assignment_value import TopicPartitions
from ottla.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

TOPIC = b"t" * 16
MEMBER = ClassicMember(
    "m", "i", "client", "/host", 60_000, 10_000, (OfferedProtocol("range", b"1"),)
)


@pytest.mark.parametrize(
    "change",
    [
        {"instance_id": "j"},
        {"client_id": "another"},
        {"client_host": "/elsewhere"},
        {"rebalance_timeout_ms": 60_001},
        {"session_timeout_ms": 10_001},
        {"protocols": (OfferedProtocol("range", b"2"),)},
        {"protocols": (OfferedProtocol("sticky", b"1"),)},
    ],
)
def test_a_member_that_differs_in_anything_is_not_the_stored_one(change: dict[str, Any]) -> None:
    assert is_as_stored(MEMBER, MEMBER)
    assert not is_as_stored(MEMBER, replace(MEMBER, **change))


def test_a_member_that_offers_more_than_was_stored_is_the_same() -> None:
    more = (OfferedProtocol("sticky", b""), *MEMBER.protocols)
    assert is_as_stored(replace(MEMBER, protocols=more), MEMBER)


@pytest.mark.parametrize(
    "name", ["", "range", "sticky", "cooperative-sticky", "äöü", "\U0001f600x"]
)
def test_names_are_hashed_as_in_java(name: str) -> None:
    units = name.encode("utf-16-be")
    codes = [units[at] << 8 | units[at + 1] for at in range(0, len(units), 2)]
    java = reduce(lambda value, code: (31 * value + code) % 2**32, codes, 0)
    assert hash_slot(name) == (java ^ (java >> 16)) % 16


@pytest.mark.parametrize("epochs", [None, [], [4]])
def test_partitions_that_were_stored_without_epochs_are_as_old_as_their_member(
    epochs: list[int] | None,
) -> None:
    stored = [TopicPartitions(TOPIC, [3, 5], epochs)]
    assert from_stored(stored, 7) == {TOPIC: {3: 7, 5: 7}}
    assert from_stored(stored, -2) == {TOPIC: {3: 0, 5: 0}}, "a static member that is away"
    assert from_stored([TopicPartitions(TOPIC, [3, 5], [4, 6])], 7) == {TOPIC: {3: 4, 5: 6}}


def test_a_member_in_a_state_of_a_later_version_starts_over() -> None:
    unknown = list(MemberState)[-1]
    member = ConsumerMember("m", 5, 4, unknown, assigned={TOPIC: {0: 5}})
    goal = Goal(7, {TOPIC: frozenset({0, 1})}, {TOPIC}, False)
    for owned in (None, {TOPIC: [0]}):
        with pytest.raises(BrokerError) as refused:
            next_step(member, goal, owned, lambda *_: True)
        assert refused.value.code == ErrorCode.FENCED_MEMBER_EPOCH
    moved = next_step(member, goal, {}, lambda *_: True)
    assert (moved.epoch, moved.previous_epoch, moved.state) == (7, 7, MemberState.STABLE)
    assert moved.assigned == {TOPIC: {0: 5, 1: 7}}


@pytest.mark.parametrize("holder", [None, "m", "other"])
def test_a_classic_member_joins_again_unless_others_hold_what_it_is_to_have(
    holder: str | None,
) -> None:
    group = ConsumerGroup(GROUP)
    member = ConsumerMember("m", 3, 2, MemberState.UNRELEASED_PARTITIONS, rack_id="rack")
    group.target, group.target_epoch = {"m": {TOPIC: frozenset({0})}}, 3
    group.holders = {} if holder is None else {(TOPIC, 0): holder}
    assert is_waiting_for_others(group, member) is (holder == "other")
    assert should_join(group, member) is (holder != "other")


def test_a_member_that_changes_over_keeps_all_that_is_known_of_it() -> None:
    harness = Harness()
    harness.create_topic("t", 4)
    topics = ConsumerProtocolSubscription(["t"], None, [], 1, "rack").encode_prefixed(3)
    old = ClassicClient(harness, "app", instance_id="i", protocols={"range": topics})
    work_classic(harness, old)
    known = harness.classic().members[old.member_id]
    ConsumerClient(harness, "new").beat()
    member = harness.consumers().members[old.member_id]
    assert (member.member_id, member.instance_id, member.rack_id) == (old.member_id, "i", "rack")
    assert (member.epoch, member.previous_epoch) == (1, 1)
    assert member.rebalance_timeout_ms == known.rebalance_timeout_ms
    assert (member.client_id, member.client_host) == (known.client_id, known.client_host)
    assert member.topics == {"t"}
    assert {at for each in member.assigned.values() for at in each} == {0, 1, 2, 3}
    assert {epoch for each in member.assigned.values() for epoch in each.values()} == {1}
    assert member.classic is not None
    assert member.classic.session_timeout_ms == known.session_timeout_ms
    assert member.classic.protocols == known.protocols
