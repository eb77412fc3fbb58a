"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup and the consumer protocol, in all their versions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.handlers.group_world import GroupWorld

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.list_groups_request import ListGroupsRequest
from ottla.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)

GROUP = "readers"
NONE = ErrorCode.NONE
UNKNOWN_MEMBER = ErrorCode.UNKNOWN_MEMBER_ID


@pytest.fixture
def world() -> Iterator[GroupWorld]:
    with GroupWorld() as world:
        yield world


def join(world: GroupWorld, version: int, member_id: str = "") -> str:
    """Join as the only member; its id."""
    request = JoinGroupRequest(
        GROUP,
        10_000,
        10_000 if version >= 1 else -1,
        member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol("range", b"topics")],
    )
    answer = world.ask_soon(request, version)
    if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        return join(world, version, answer.member_id)
    assert (answer.error_code, answer.protocol_name) == (NONE, "range")
    found: str = answer.member_id
    return found


@pytest.mark.parametrize("version", range(10))
def test_a_member_joins_syncs_is_alive_and_leaves(world: GroupWorld, version: int) -> None:
    member_id = join(world, version)
    sync_version = min(version, 5)
    request = SyncGroupRequest(
        GROUP, 1, member_id, assignments=[SyncGroupRequestAssignment(member_id, b"part")]
    )
    if sync_version >= 5:
        assert world.ask(request, 5).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        request.protocol_type, request.protocol_name = "consumer", "range"
    answer = world.ask(request, sync_version)
    assert (answer.error_code, answer.assignment) == (NONE, b"part")
    beat = HeartbeatRequest(GROUP, 1, member_id)
    assert world.ask(beat, min(version, 4)).error_code == NONE
    one = LeaveGroupRequest(GROUP, member_id)
    several = LeaveGroupRequest(GROUP, members=[MemberIdentity(member_id)])
    leave_version = min(version, 5)
    left = world.ask(one if leave_version < 3 else several, leave_version)
    assert left.error_code == NONE
    assert [each.error_code for each in left.members] == ([NONE] if leave_version >= 3 else [])
    again = world.ask(one if leave_version < 3 else several, leave_version)
    code = again.error_code if leave_version < 3 else again.members[0].error_code
    assert code == UNKNOWN_MEMBER


@pytest.mark.parametrize("version", range(6))
def test_members_of_an_unknown_group_are_unknown_each_for_itself(
    world: GroupWorld, version: int
) -> None:
    if version < 3:
        answer = world.ask(LeaveGroupRequest("nobody", "m"), version)
        assert answer.error_code == UNKNOWN_MEMBER
    else:
        members = [MemberIdentity("m"), MemberIdentity("n", "i")]
        answer = world.ask(LeaveGroupRequest("nobody", members=members), version)
        assert answer.error_code == NONE
        assert [(each.member_id, each.error_code) for each in answer.members] == [
            ("m", UNKNOWN_MEMBER),
            ("n", UNKNOWN_MEMBER),
        ]


@pytest.mark.parametrize("version", range(10))
def test_a_join_that_is_refused_names_the_member_it_refuses(
    world: GroupWorld, version: int
) -> None:
    request = JoinGroupRequest(
        GROUP, 10_000, member_id="m", protocols=[JoinGroupRequestProtocol("range")]
    )
    if version >= 1:
        request.rebalance_timeout_ms = 10_000
    answer = world.ask(request, version)
    assert (answer.error_code, answer.member_id) == (UNKNOWN_MEMBER, "m")


def test_tools_describe_list_and_delete_groups_in_every_version(world: GroupWorld) -> None:
    join(world, 9)
    for version in range(7):
        request = DescribeGroupsRequest([GROUP, "nobody"], version >= 3)
        known, unknown = world.ask(request, version).groups
        assert (known.group_state, len(known.members)) == ("CompletingRebalance", 1)
        assert known.members[0].client_host == "/127.0.0.1"
        assert (known.authorized_operations != -(2**31)) == (version >= 3)
        assert unknown.error_code == (ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else NONE)
    for version in range(6):
        (listed,) = world.ask(ListGroupsRequest(), version).groups
        assert listed.group_id == GROUP
    for version in range(3):
        request_to_delete = DeleteGroupsRequest([GROUP, GROUP, "nobody"])
        answers = world.ask(request_to_delete, version).results
        assert [(each.group_id, each.error_code) for each in answers] == [
            (GROUP, ErrorCode.NON_EMPTY_GROUP),
            ("nobody", ErrorCode.GROUP_ID_NOT_FOUND),
        ]


@pytest.mark.parametrize("version", range(2))
def test_a_consumer_joins_and_is_described(world: GroupWorld, version: int) -> None:
    request = ConsumerGroupHeartbeatRequest(
        GROUP,
        "member",
        0,
        rebalance_timeout_ms=1000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )
    answer = world.ask(request, version)
    assert (answer.error_code, answer.member_epoch) == (NONE, 2)
    assert answer.assignment.topic_partitions[0].topic_id == world.topic_id
    described = world.ask(ConsumerGroupDescribeRequest([GROUP, "nobody", ""], True), version)
    assert [each.error_code for each in described.groups] == [
        NONE,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.INVALID_GROUP_ID,
    ]
    assert described.groups[0].authorized_operations > 0
    request.member_epoch = 7
    fenced = world.ask(request, version)
    assert fenced.error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert "greater member epoch (7)" in fenced.error_message


@pytest.mark.parametrize("version", [4, 9])
def test_a_client_with_the_longest_name_is_given_a_member_id_that_fits(
    world: GroupWorld, version: int
) -> None:
    request = JoinGroupRequest(
        GROUP,
        10_000,
        10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol("range", b"topics")],
    )
    answer = world.ask(request, version, client_id="é" * 16_383)
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert answer.member_id.startswith("ééé")
