"""DescribeGroups, ListGroups, DeleteGroups."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.group_members import (
    await_rebalance,
    group,
    join_request,
    members,
)
from tests.compatibility.differential.scripts.group_offsets import store
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest
from ottla.protocol.messages.list_groups_request import ListGroupsRequest


def groups_in_all_states(session: Session) -> dict[str, str]:
    """Name by state."""
    topic = session.topic("t")
    found = {
        name: group(session, name) for name in ("simple", "empty", "joining", "syncing", "stable")
    }
    store(session, found["simple"], (topic, [(0, 1, -1, "")]))
    (gone,) = members(session, found["empty"], "gone")
    session.once_ready(LeaveGroupRequest(found["empty"], gone.id), 2)
    members(session, found["joining"], "old")
    session.connection("newcomer").send(join_request(found["joining"]), 3)
    await_rebalance(session, found["joining"])
    members(session, found["syncing"], "unsynced", is_synced=False)
    members(session, found["stable"], "one", "two")
    return found


@script(ApiKey.DESCRIBE_GROUPS)
def describe_groups(session: Session) -> None:
    found = groups_in_all_states(session)

    for state, name in found.items():
        session.ask(state, DescribeGroupsRequest([name], False))
        session.ask(f"{state}, operations", DescribeGroupsRequest([name], True))
    none = session.name("none")
    session.ask("unknown", DescribeGroupsRequest([none], False))
    session.ask("unknown, operations", DescribeGroupsRequest([none], True))
    session.ask("nothing", DescribeGroupsRequest([], False))
    session.ask("no name", DescribeGroupsRequest([""], False))
    session.ask("two", DescribeGroupsRequest([found["stable"], none], False))
    session.ask("one twice", DescribeGroupsRequest([found["simple"], found["simple"]], False))
    session.ask("a long name", DescribeGroupsRequest(["x" * 1000], False))


STATES = (
    "Stable",
    "Empty",
    "Dead",
    "PreparingRebalance",
    "CompletingRebalance",
    "stable",
    "STABLE",
    "",
    "nonsense",
    "Assigning",
)
TYPES = ("classic", "Classic", "consumer", "share", "streams", "", "nonsense")


@script(ApiKey.LIST_GROUPS)
def list_groups(session: Session) -> None:
    groups_in_all_states(session)

    def own(answer: Any) -> Any:
        out = copy(answer)
        prefix = session.name("")
        out.groups = [each for each in answer.groups if each.group_id.startswith(prefix)]
        return out

    def ask(label: str, states: Sequence[str] = (), types: Sequence[str] = ()) -> None:
        session.ask(label, ListGroupsRequest(states, types), shown=own)

    ask("all")
    for state in STATES:
        ask(f"state {state!r}", [state])
    for kind in TYPES:
        ask(f"type {kind!r}", (), [kind])
    ask("two states", ["Stable", "Empty"])
    ask("a state twice", ["Stable", "Stable"])
    ask("good and bad states", ["Stable", "nonsense"])
    ask("two types", (), ["classic", "consumer"])
    ask("good and bad types", (), ["classic", "nonsense"])
    ask("state and type", ["Stable"], ["classic"])
    ask("state and other type", ["Stable"], ["consumer"])


@script(ApiKey.DELETE_GROUPS)
def delete_groups(session: Session) -> None:
    found = groups_in_all_states(session)
    none = session.name("none")

    def ask(label: str, *names: str) -> None:
        session.ask(label, DeleteGroupsRequest(names))

    for state, name in found.items():
        ask(state, name)
        ask(f"{state} again", name)
    ask("unknown", none)
    ask("nothing")
    ask("no name", "")
    ask("two", none, found["stable"])
    ask("one twice", none, none)
    ask("good and bad", found["simple"], "", found["stable"])
    session.ask("afterwards", DescribeGroupsRequest(list(found.values()), False), version=5)
