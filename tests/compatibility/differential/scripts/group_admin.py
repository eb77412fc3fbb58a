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
from tests.compatibility.differential.talk import Talk

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest
from ottla.protocol.messages.list_groups_request import ListGroupsRequest


def groups_in_all_states(talk: Talk) -> dict[str, str]:
    """Name by state."""
    topic = talk.topic("t")
    found = {
        name: group(talk, name) for name in ("simple", "empty", "joining", "syncing", "stable")
    }
    store(talk, found["simple"], (topic, [(0, 1, -1, "")]))
    (gone,) = members(talk, found["empty"], "gone")
    talk.once_ready(LeaveGroupRequest(found["empty"], gone.id), 2)
    members(talk, found["joining"], "old")
    talk.connection("newcomer").send(join_request(found["joining"]), 3)
    await_rebalance(talk, found["joining"])
    members(talk, found["syncing"], "unsynced", is_synced=False)
    members(talk, found["stable"], "one", "two")
    return found


@script(ApiKey.DESCRIBE_GROUPS)
def describe_groups(talk: Talk) -> None:
    found = groups_in_all_states(talk)

    for state, name in found.items():
        talk.ask(state, DescribeGroupsRequest([name], False))
        talk.ask(f"{state}, operations", DescribeGroupsRequest([name], True))
    none = talk.name("none")
    talk.ask("unknown", DescribeGroupsRequest([none], False))
    talk.ask("unknown, operations", DescribeGroupsRequest([none], True))
    talk.ask("nothing", DescribeGroupsRequest([], False))
    talk.ask("no name", DescribeGroupsRequest([""], False))
    talk.ask("two", DescribeGroupsRequest([found["stable"], none], False))
    talk.ask("one twice", DescribeGroupsRequest([found["simple"], found["simple"]], False))
    talk.ask("a long name", DescribeGroupsRequest(["x" * 1000], False))


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
def list_groups(talk: Talk) -> None:
    groups_in_all_states(talk)

    def own(answer: Any) -> Any:
        out = copy(answer)
        prefix = talk.name("")
        out.groups = [each for each in answer.groups if each.group_id.startswith(prefix)]
        return out

    def ask(label: str, states: Sequence[str] = (), types: Sequence[str] = ()) -> None:
        talk.ask(label, ListGroupsRequest(states, types), shown=own)

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
def delete_groups(talk: Talk) -> None:
    found = groups_in_all_states(talk)
    none = talk.name("none")

    def ask(label: str, *names: str) -> None:
        talk.ask(label, DeleteGroupsRequest(names))

    for state, name in found.items():
        ask(state, name)
        ask(f"{state} again", name)
    ask("unknown", none)
    ask("nothing")
    ask("no name", "")
    ask("two", none, found["stable"])
    ask("one twice", none, none)
    ask("good and bad", found["simple"], "", found["stable"])
    talk.ask("afterwards", DescribeGroupsRequest(list(found.values()), False), version=5)
