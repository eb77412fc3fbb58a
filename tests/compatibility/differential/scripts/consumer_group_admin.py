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
from tests.compatibility.differential.talk import Talk

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
def consumer_group_describe(talk: Talk) -> None:
    topic = talk.topic("t", 2)
    g, h, classic = group(talk, "g"), group(talk, "h"), group(talk, "classic")
    talk.settle()
    talk.once_ready(joining(g, ALICE, topic.name), 1)
    talk.once_ready(joining(h, ALICE, topic.name, instance="one", rack="here"), 1)
    talk.once_ready(beat(h, ALICE, LEAVE), 1)
    members(talk, classic, "classic")

    def ask(label: str, *names: str, operations: bool = False) -> None:
        talk.ask(label, ConsumerGroupDescribeRequest(names, operations))

    none = talk.name("none")
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
def list_groups_of_both_kinds(talk: Talk) -> None:
    topic = talk.topic("t", 2)
    names = ("stable", "reconciling", "empty", "classic")
    stable, reconciling, empty, classic = (group(talk, name) for name in names)
    talk.settle()
    for each in (stable, reconciling, empty):
        epoch = talk.once_ready(joining(each, ALICE, topic.name), 1).member_epoch
        talk.once_ready(beat(each, ALICE, epoch, owned=[(topic, [0, 1])]), 1)
    talk.once_ready(beat(empty, ALICE, LEAVE), 1)
    talk.once_ready(joining(reconciling, BOB, topic.name), 1)
    members(talk, classic, "classic")

    def ask(label: str, states: Sequence[str] = (), types: Sequence[str] = ()) -> None:
        talk.ask(label, ListGroupsRequest(states, types), shown=only_own(talk))

    ask("all")
    for kind in ("classic", "consumer", "Consumer", "share"):
        ask(f"type {kind}", (), [kind])
    for state in ("Stable", "Empty", "Assigning", "Reconciling", "reconciling", "Dead"):
        ask(f"state {state}", [state])
        ask(f"state {state}, consumer", [state], ["consumer"])
    classic_view = DescribeGroupsRequest([stable, reconciling, empty], False)
    talk.ask("described as classic ones", classic_view, version=6)


@script(ApiKey.DELETE_GROUPS)
def delete_consumer_groups(talk: Talk) -> None:
    topic, other = talk.topic("t", 2), talk.topic("other")
    stable, empty = group(talk, "stable"), group(talk, "empty")
    talk.settle()
    for each in (stable, empty):
        joined = talk.once_ready(joining(each, ALICE, topic.name), 1)
        offsets = commit(
            each,
            (topic, [(0, 5, -1, ""), (1, 6, -1, "")]),
            (other, [(0, 7, -1, "")]),
            generation=joined.member_epoch,
            member=ALICE,
        )
        talk.once_ready(offsets, 9, lambda answer: answer.topics[0].partitions[0].error_code)
    talk.once_ready(beat(empty, ALICE, LEAVE), 1)
    for name, each in (("stable", stable), ("empty", empty)):
        for label, place in (("subscribed", topic), ("not subscribed", other)):
            part = OffsetDeleteRequestTopic(place.name, [OffsetDeleteRequestPartition(0)])
            request = OffsetDeleteRequest(each, [part])
            talk.ask(f"offsets of {name}, {label}", request, version=0)
        talk.ask(f"offsets of {name} left", fetch(8, each, None), version=8)
        talk.ask(name, DeleteGroupsRequest([each]))
        talk.ask(f"{name} again", DeleteGroupsRequest([each]))
        talk.ask(f"offsets of {name} afterwards", fetch(8, each, None), version=8)
    described(talk, "stable: described", stable)
    described(talk, "empty: described", empty)


def only_own(talk: Talk) -> Callable[[Any], Any]:
    def shown(answer: Any) -> Any:
        out, prefix = copy(answer), talk.name("")
        out.groups = [each for each in answer.groups if each.group_id.startswith(prefix)]
        return out

    return shown
