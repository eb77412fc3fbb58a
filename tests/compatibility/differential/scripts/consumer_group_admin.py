"""ConsumerGroupDescribe, and how the older APIs see consumer groups: ListGroups, DeleteGroups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.consumer_groups import (
    ALICE,
    BOB,
    LEAVE,
    beat,
    described,
    joining,
)
from tests.compatibility.differential.scripts.group_members import group, members
from tests.compatibility.differential.scripts.group_offsets import commit, fetch
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.list_groups_request import ListGroupsRequest
from ottla.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)


@script(ApiKey.CONSUMER_GROUP_DESCRIBE)
def consumer_group_describe(session: Session) -> None:
    topic = session.topic("t", 2)
    g, h, classic = group(session, "g"), group(session, "h"), group(session, "classic")
    session.settle()
    session.once_ready(joining(g, ALICE, topic.name), 1)
    session.once_ready(joining(h, ALICE, topic.name, instance="one", rack="here"), 1)
    session.once_ready(beat(h, ALICE, LEAVE), 1)
    members(session, classic, "classic")

    def ask(label: str, *names: str, operations: bool = False) -> None:
        session.ask(label, ConsumerGroupDescribeRequest(names, operations))

    none = session.name("none")
    ask("one", g)
    ask("one, operations", g, operations=True)
    ask("empty", h)
    ask("classic", classic)
    ask("classic, operations", classic, operations=True)
    ask("unknown", none)
    ask("nothing")
    ask("no name", "")
    ask("two", g, none)
    ask("one twice", g, g)
    ask("all", g, h, classic, none, "")


@script(ApiKey.LIST_GROUPS)
def list_groups_of_both_kinds(session: Session) -> None:
    topic = session.topic("t", 2)
    names = ("stable", "reconciling", "empty", "classic")
    stable, reconciling, empty, classic = (group(session, name) for name in names)
    session.settle()
    for each in (stable, reconciling, empty):
        epoch = session.once_ready(joining(each, ALICE, topic.name), 1).member_epoch
        session.once_ready(beat(each, ALICE, epoch, owned=[(topic, [0, 1])]), 1)
    session.once_ready(beat(empty, ALICE, LEAVE), 1)
    session.once_ready(joining(reconciling, BOB, topic.name), 1)
    members(session, classic, "classic")

    def ask(label: str, states: Sequence[str] = (), types: Sequence[str] = ()) -> None:
        session.ask(label, ListGroupsRequest(states, types), shown=only_own(session))

    ask("all")
    for kind in ("classic", "consumer", "Consumer", "share"):
        ask(f"type {kind}", (), [kind])
    for state in ("Stable", "Empty", "Assigning", "Reconciling", "reconciling", "Dead"):
        ask(f"state {state}", [state])
        ask(f"state {state}, consumer", [state], ["consumer"])
    classic_view = DescribeGroupsRequest([stable, reconciling, empty], False)
    session.ask("described as classic ones", classic_view, version=6)


@script(ApiKey.DELETE_GROUPS)
def delete_consumer_groups(session: Session) -> None:
    topic, other = session.topic("t", 2), session.topic("other")
    stable, empty = group(session, "stable"), group(session, "empty")
    session.settle()
    for each in (stable, empty):
        joined = session.once_ready(joining(each, ALICE, topic.name), 1)
        offsets = commit(
            each,
            (topic, [(0, 5, -1, ""), (1, 6, -1, "")]),
            (other, [(0, 7, -1, "")]),
            generation=joined.member_epoch,
            member=ALICE,
        )
        session.once_ready(offsets, 9, lambda answer: answer.topics[0].partitions[0].error_code)
    session.once_ready(beat(empty, ALICE, LEAVE), 1)
    for name, each in (("stable", stable), ("empty", empty)):
        for label, place in (("subscribed", topic), ("not subscribed", other)):
            part = OffsetDeleteRequestTopic(place.name, [OffsetDeleteRequestPartition(0)])
            request = OffsetDeleteRequest(each, [part])
            session.ask(f"offsets of {name}, {label}", request, version=0)
        session.ask(f"offsets of {name} left", fetch(8, each, None), version=8)
        session.ask(name, DeleteGroupsRequest([each]))
        session.ask(f"{name} again", DeleteGroupsRequest([each]))
        session.ask(f"offsets of {name} afterwards", fetch(8, each, None), version=8)
    described(session, "stable: described", stable)
    described(session, "empty: described", empty)


def only_own(session: Session) -> Callable[[Any], Any]:
    def shown(answer: Any) -> Any:
        out, prefix = copy(answer), session.name("")
        out.groups = [each for each in answer.groups if each.group_id.startswith(prefix)]
        return out

    return shown
