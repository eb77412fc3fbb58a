"""ConsumerGroupHeartbeat and ConsumerGroupDescribe (KIP-848)."""

from __future__ import annotations

from collections.abc import Sequence

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.group_members import group, join_request, members
from tests.compatibility.differential.scripts.group_offsets import commit, fetch
from tests.compatibility.differential.talk import Talk, Topic

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity

REBALANCE_MS = 50_000
LEAVE, LEAVE_FOR_NOW = -1, -2
# Not random: which of two members gets which partition goes by their ids.
ALICE, BOB, CAROL, DAVE = (
    f"member-{name}-0123456789" for name in ("alice", "bob", "carol", "dave")
)


def beat(
    group_id: str,
    member: str,
    epoch: int,
    *,
    topics: Sequence[str] | None = None,
    owned: Sequence[tuple[Topic, Sequence[int]]] | None = None,
    rebalance_ms: int = -1,
    **more: str | None,
) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id,
        member,
        epoch,
        more.get("instance"),
        more.get("rack"),
        rebalance_ms,
        topics,
        more.get("regex"),
        more.get("assignor"),
        None if owned is None else [TopicPartitions(t.id, p) for t, p in owned],
    )


def joining(
    group_id: str, member: str, *topics: str, **more: str | None
) -> ConsumerGroupHeartbeatRequest:
    """What a member says first."""
    return beat(group_id, member, 0, topics=topics, owned=[], rebalance_ms=REBALANCE_MS, **more)


def described(talk: Talk, label: str, group_id: str) -> None:
    talk.ask(label, ConsumerGroupDescribeRequest([group_id], False), version=1)


@script(ApiKey.CONSUMER_GROUP_HEARTBEAT)
def consumer_group_heartbeat(talk: Talk) -> None:
    """One member from its first to its last word."""
    topic, other = talk.topic("t", 2), talk.topic("other")
    g = group(talk, "g")
    talk.settle()
    first = talk.ask("joined", joining(g, ALICE, topic.name))
    epoch = first.member_epoch
    described(talk, "joined: described", g)
    both = [(topic, [0, 1])]
    talk.ask("nothing new", beat(g, ALICE, epoch))
    talk.ask("owns it", beat(g, ALICE, epoch, owned=both))
    talk.ask(
        "everything again",
        beat(g, ALICE, epoch, topics=[topic.name], owned=both, rebalance_ms=REBALANCE_MS),
    )
    described(talk, "owns it: described", g)
    more = talk.ask("another topic", beat(g, ALICE, epoch, topics=[topic.name, other.name]))
    described(talk, "another topic: described", g)
    epoch = more.member_epoch
    talk.ask("older epoch", beat(g, ALICE, epoch - 1))
    talk.ask("older epoch, owns what it had", beat(g, ALICE, epoch - 1, owned=both))
    talk.ask("newer epoch", beat(g, ALICE, epoch + 1))
    talk.ask("epoch 99", beat(g, ALICE, 99))
    talk.ask("unknown member", beat(g, BOB, epoch))
    talk.ask("no member", beat(g, "", epoch))
    talk.ask("same topics", beat(g, ALICE, epoch, topics=[other.name, topic.name]))
    less = talk.ask("one topic less", beat(g, ALICE, epoch, topics=[other.name]))
    described(talk, "one topic less: described", g)
    epoch = less.member_epoch
    given = talk.ask("gave it back", beat(g, ALICE, epoch, owned=[(other, [0])]))
    described(talk, "gave it back: described", g)
    epoch = given.member_epoch
    talk.ask("unknown topic", beat(g, ALICE, epoch, topics=[talk.name("none")]))
    talk.ask("range", beat(g, ALICE, epoch, assignor="range"))
    described(talk, "range: described", g)
    talk.ask("joins again", joining(g, ALICE, topic.name))
    described(talk, "joins again: described", g)
    talk.ask("left", beat(g, ALICE, LEAVE))
    talk.ask("left before", beat(g, ALICE, LEAVE))
    described(talk, "left: described", g)
    talk.ask("after leaving", beat(g, ALICE, epoch))


@script(ApiKey.CONSUMER_GROUP_HEARTBEAT)
def consumer_group_heartbeat_gone_wrong(talk: Talk) -> None:
    topic = talk.topic("t", 2)
    g = group(talk, "g")
    talk.settle()
    none = talk.name("none")
    t = topic.name
    talk.ask("no group", joining("", ALICE, t))
    talk.ask("no member id", joining(talk.name("a"), "", t))
    for epoch in (-3, -(2**31)):
        talk.ask(f"epoch {epoch}", beat(g, ALICE, epoch))
    for epoch in (1, 5, LEAVE, LEAVE_FOR_NOW):
        talk.ask(f"unknown group, epoch {epoch}", beat(none, ALICE, epoch))
    talk.ask("leaves for now without an instance", beat(none, ALICE, LEAVE_FOR_NOW))
    talk.ask("no rebalance timeout", beat(g, ALICE, 0, topics=[t], owned=[]))
    talk.ask("no topics", beat(g, ALICE, 0, owned=[], rebalance_ms=REBALANCE_MS))
    talk.ask("no owned", beat(g, ALICE, 0, topics=[t], rebalance_ms=REBALANCE_MS))
    owned = beat(g, ALICE, 0, topics=[t], owned=[(topic, [0])], rebalance_ms=REBALANCE_MS)
    talk.ask("owns at once", owned)
    for timeout in (0, -2):
        request = beat(
            talk.name(f"r{timeout}"), ALICE, 0, topics=[t], owned=[], rebalance_ms=timeout
        )
        talk.ask(f"rebalance timeout {timeout}", request)
    talk.ask("unknown assignor", joining(g, ALICE, t, assignor="nonsense"))
    talk.ask("empty assignor", joining(talk.name("b"), ALICE, t, assignor=""))
    talk.ask("empty instance", joining(g, ALICE, t, instance=""))
    talk.ask("empty rack", joining(g, ALICE, t, rack=""))
    talk.ask("nothing subscribed", joining(talk.name("c"), ALICE))
    talk.ask("a topic twice", joining(talk.name("d"), ALICE, t, t))
    talk.ask("unknown topic", joining(talk.name("e"), ALICE, none))
    talk.ask("bad topic name", joining(talk.name("f"), ALICE, "a b"))
    talk.ask("empty topic name", joining(talk.name("h"), ALICE, ""))
    talk.ask("long member id", joining(talk.name("i"), "x" * 1000, t))
    talk.ask("blank member id", joining(talk.name("j"), " ", t))
    if talk.version >= 1:
        talk.ask("bad expression", joining(talk.name("k"), ALICE, regex="[", assignor="range"))
        talk.ask("empty expression", joining(talk.name("l"), ALICE, regex=""))
        talk.ask("bad expression again", joining(talk.name("m"), ALICE, t, regex="(?"))


@script(ApiKey.CONSUMER_GROUP_HEARTBEAT, versions=[1])
def consumer_group_of_two(talk: Talk) -> None:
    topic = talk.topic("t", 4)
    g = group(talk, "g")
    talk.settle()
    t = topic.name
    alice = talk.ask("alice", joining(g, ALICE, t)).member_epoch
    all_four = [(topic, [0, 1, 2, 3])]
    talk.ask("alice owns all", beat(g, ALICE, alice, owned=all_four))
    bob = talk.ask("bob", joining(g, BOB, t)).member_epoch
    described(talk, "bob: described", g)
    talk.ask("bob waits", beat(g, BOB, bob, owned=[]))
    told = talk.ask("alice is told", beat(g, ALICE, alice, owned=all_four))
    described(talk, "alice is told: described", g)
    talk.ask("alice still owns all", beat(g, ALICE, told.member_epoch, owned=all_four))
    kept = told.assignment.topic_partitions[0].partitions if told.assignment else []
    gave = talk.ask("alice gives", beat(g, ALICE, told.member_epoch, owned=[(topic, kept)]))
    described(talk, "alice gives: described", g)
    talk.ask("bob gets", beat(g, BOB, bob, owned=[]))
    described(talk, "bob gets: described", g)
    offsets = commit(g, (topic, [(0, 5, -1, "")]), generation=gave.member_epoch, member=ALICE)
    talk.ask("alice commits", offsets, version=9)
    old = commit(g, (topic, [(0, 6, -1, "")]), generation=gave.member_epoch - 1, member=ALICE)
    talk.ask("alice commits, old", old, version=9)
    talk.ask("alice commits, old version", old, version=8)
    newer = commit(g, (topic, [(0, 6, -1, "")]), generation=99, member=ALICE)
    talk.ask("alice commits, newer", newer, version=9)
    stranger = commit(g, (topic, [(0, 6, -1, "")]), generation=1, member=CAROL)
    talk.ask("a stranger commits", stranger, version=9)
    simple = commit(g, (topic, [(0, 6, -1, "")]))
    talk.ask("nobody commits", simple, version=9)
    for label, member, epoch in (
        ("alice", ALICE, gave.member_epoch), ("alice, old", ALICE, gave.member_epoch - 1),
        ("alice, newer", ALICE, 99), ("a stranger", CAROL, 1), ("nobody", None, -1),
    ):  # fmt: skip
        request = fetch(9, g, [(topic, [0])], member=member, epoch=epoch)
        talk.ask(f"offsets for {label}", request, version=9)
    talk.ask("classic description", DescribeGroupsRequest([g], False), version=5)
    talk.ask("classic description, newer", DescribeGroupsRequest([g], False), version=6)
    talk.ask("classic heartbeat", HeartbeatRequest(g, 1, ALICE), version=3)
    talk.ask("classic stranger leaves", LeaveGroupRequest(g, "", [MemberIdentity("x")]), version=4)
    talk.ask("bob leaves", beat(g, BOB, LEAVE))
    described(talk, "bob leaves: described", g)
    talk.ask("alice gets all", beat(g, ALICE, gave.member_epoch, owned=[(topic, kept)]))


@script(ApiKey.CONSUMER_GROUP_HEARTBEAT, versions=[1])
def consumer_group_of_static_members(talk: Talk) -> None:
    topic = talk.topic("t", 2)
    g = group(talk, "g")
    talk.settle()
    t = topic.name
    first = talk.ask("alice as one", joining(g, ALICE, t, instance="one"))
    talk.ask("bob as one too", joining(g, BOB, t, instance="one"))
    talk.ask("alice without her instance", beat(g, ALICE, first.member_epoch))
    talk.ask("alice with another", beat(g, ALICE, first.member_epoch, instance="two"))
    talk.ask("alice leaves for now", beat(g, ALICE, LEAVE_FOR_NOW, instance="one"))
    described(talk, "alice leaves for now: described", g)
    talk.ask("alice is away", beat(g, ALICE, first.member_epoch, instance="one"))
    back = talk.ask("bob comes as one", joining(g, BOB, t, instance="one"))
    described(talk, "bob comes as one: described", g)
    talk.ask("alice is nobody", beat(g, ALICE, first.member_epoch, instance="one"))
    talk.ask("bob", beat(g, BOB, back.member_epoch, instance="one", owned=[(topic, [0, 1])]))
    talk.ask("unknown instance leaves for now", beat(g, CAROL, LEAVE_FOR_NOW, instance="three"))
    talk.ask("unknown instance leaves", beat(g, CAROL, LEAVE, instance="three"))
    talk.ask("bob leaves", beat(g, BOB, LEAVE, instance="one"))
    described(talk, "bob leaves: described", g)


@script(ApiKey.CONSUMER_GROUP_HEARTBEAT, versions=[1])
def consumer_groups_and_classic_groups(talk: Talk) -> None:
    topic = talk.topic("t", 2)
    classic, new = group(talk, "classic"), group(talk, "new")
    talk.settle()
    members(talk, classic, "classic")
    talk.ask(
        "into a classic group of consumers without topics", joining(classic, ALICE, topic.name)
    )
    talk.ask("into a new group", joining(new, ALICE, topic.name))
    other = join_request(new, kind="connect")
    talk.ask("another type into the new group", other, version=3)
    for version in (3, 9):
        stranger = join_request(new, "somebody")
        talk.ask(f"a stranger into the new group, v{version}", stranger, version=version)
    talk.ask("a new group as a classic one", DescribeGroupsRequest([new], False), version=6)
    described(talk, "a classic group as a new one", classic)
    described(talk, "nobody's", talk.name("none"))
