"""What scripts about groups share: coordinators that are ready, and members without a word."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from ottla.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)

# Long enough that no member is removed while a script runs.
SESSION_MS = 50_000
# Kafka reads what members of the type "consumer" subscribe to, and hangs where it cannot.
SUBSCRIPTION = ConsumerProtocolSubscription(["subscribed"], None).encode_prefixed(1)
ASSIGNMENT = ConsumerProtocolAssignment().encode_prefixed(1)
QUIET_JOIN_VERSION = 3  # the last one that needs no second request
QUIET_SYNC_VERSION = 2


class Member(NamedTuple):
    id: str
    generation: int


def group(session: Session, name: str) -> str:
    """The name of a group whose coordinator is ready."""
    found = session.name(name)
    session.once_ready(FindCoordinatorRequest(found, 0), 2)
    session.once_ready(
        DescribeGroupsRequest([found]), 3, lambda answer: answer.groups[0].error_code
    )
    return found


def join_request(
    group_id: str,
    member_id: str = "",
    *,
    protocols: tuple[str, ...] = ("range",),
    kind: str = "consumer",
    session_ms: int = SESSION_MS,
    rebalance_ms: int = SESSION_MS,
    instance: str | None = None,
    reason: str | None = None,
) -> JoinGroupRequest:
    offered = [JoinGroupRequestProtocol(name, SUBSCRIPTION) for name in protocols]
    return JoinGroupRequest(
        group_id, session_ms, rebalance_ms, member_id, instance, kind, offered, reason
    )


def members(session: Session, group_id: str, *names: str, is_synced: bool = True) -> list[Member]:
    """New members of a group that has none yet, the first one being the leader."""
    joined: list[Member] = []
    for name in names:
        connections = [
            session.connection(f"quiet {each}") for each in (*names[: len(joined)], name)
        ]
        requests = [join_request(group_id, each.id) for each in joined] + [join_request(group_id)]
        # The newcomer first: the others come back because of it.
        order = [len(joined), *range(len(joined))]
        sent = {at: connections[at].send(requests[at], QUIET_JOIN_VERSION) for at in order[:1]}
        if joined:
            await_rebalance(session, group_id)
        sent |= {at: connections[at].send(requests[at], QUIET_JOIN_VERSION) for at in order[1:]}
        answers = [
            received(connections[at].receive(ApiKey.JOIN_GROUP, QUIET_JOIN_VERSION, sent[at]))
            for at in range(len(requests))
        ]
        joined = [Member(each.member_id, each.generation_id) for each in answers]
        session.names.define("member", joined[-1].id, name)
    if is_synced:
        sync(session, group_id, joined, names)
    return joined


def await_rebalance(session: Session, group_id: str) -> None:
    session.until(
        DescribeGroupsRequest([group_id]),
        3,
        lambda answer: answer.groups[0].group_state == "PreparingRebalance",
        "a rebalance",
    )


def sync(session: Session, group_id: str, joined: list[Member], names: tuple[str, ...]) -> None:
    parts = [SyncGroupRequestAssignment(each.id, ASSIGNMENT) for each in joined]
    for member, name in zip(joined, names, strict=True):
        given = parts if member is joined[0] else []
        request = SyncGroupRequest(group_id, member.generation, member.id, assignments=given)
        connection = session.connection(f"quiet {name}")
        sent = connection.send(request, QUIET_SYNC_VERSION)
        received(connection.receive(ApiKey.SYNC_GROUP, QUIET_SYNC_VERSION, sent))


def received(outcome: object) -> Any:
    """The answer, which must be a good one."""
    assert isinstance(outcome, Message), outcome
    assert getattr(outcome, "error_code", 0) == 0, outcome
    return outcome
