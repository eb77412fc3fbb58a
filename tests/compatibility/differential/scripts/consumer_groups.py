"""ConsumerGroupHeartbeat and ConsumerGroupDescribe (KIP-848)."""

from __future__ import annotations

from collections.abc import Sequence

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.group_members import group, join_request, members
from tests.compatibility.differential.scripts.group_offsets import commit, fetch
from tests.compatibility.differential.session import Session, Topic

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


def described(session: Session, label: str, group_id: str) -> None:
    session.ask(label, ConsumerGroupDescribeRequest([group_id], False), version=1)


@script(ApiKey.CONSUMER_GROUP_HEARTBEAT)
def consumer_group_heartbeat(session: Session) -> None:
    """One member from its first to its last word."""
    topic, other = session.topic("t", 2), session.topic("other")
    g = group(session, "g")
    session.settle()
    first = session.ask("joined", joining(g, ALICE, topic.name))
    epoch = first.member_epoch
    described(session, "joined: described", g)
    both = [(topic, [0, 1])]
    session.ask("nothing new", beat(g, ALICE, epoch))
    session.ask("owns it", beat(g, ALICE, epoch, owned=both))
    session.ask(
        "everything again",
        beat(g, ALICE, epoch, topics=[topic.name], owned=both, rebalance_ms=REBALANCE_MS),
    )
    described(session, "owns it: described", g)
    more = session.ask("another topic", beat(g, ALICE, epoch, topics=[topic.name, other.name]))
    described(session, "another topic: described", g)
    epoch = more.member_epoch
    session.ask("older epoch", beat(g, ALICE, epoch - 1))
    session.ask("older epoch, owns what it had", beat(g, ALICE, epoch - 1, owned=both))
    session.ask("newer epoch", beat(g, ALICE, epoch + 1))
    session.ask("epoch 99", beat(g, ALICE, 99))
    session.ask("unknown member", beat(g, BOB, epoch))
    session.ask("no member", beat(g, "", epoch))
    session.ask("same topics", beat(g, ALICE, epoch, topics=[other.name, topic.name]))
    less = session.ask("one topic less", beat(g, ALICE, epoch, topics=[other.name]))
    described(session, "one topic less: described", g)
    epoch = less.member_epoch
    given = session.ask("gave it back", beat(g, ALICE, epoch, owned=[(other, [0])]))
    described(session, "gave it back: described", g)
    epoch = given.member_epoch
    session.ask("unknown topic", beat(g, ALICE, epoch, topics=[session.name("none")]))
    session.ask("range", beat(g, ALICE, epoch, assignor="range"))
    described(session, "range: described", g)
    session.ask("joins again", joining(g, ALICE, topic.name))
    described(session, "joins again: described", g)
    session.ask("left", beat(g, ALICE, LEAVE))
    session.ask("left before", beat(g, ALICE, LEAVE))
    described(session, "left: described", g)
    session.ask("after leaving", beat(g, ALICE, epoch))


@script(ApiKey.CONSUMER_GROUP_HEARTBEAT)
def consumer_group_heartbeat_gone_wrong(session: Session) -> None:
    topic = session.topic("t", 2)
    g = group(session, "g")
    session.settle()
    none = session.name("none")
    t = topic.name
    session.ask("no group", joining("", ALICE, t))
    session.ask("no member id", joining(session.name("a"), "", t))
    for epoch in (-3, -(2**31)):
        session.ask(f"epoch {epoch}", beat(g, ALICE, epoch))
    for epoch in (1, 5, LEAVE, LEAVE_FOR_NOW):
        session.ask(f"unknown group, epoch {epoch}", beat(none, ALICE, epoch))
    session.ask("leaves for now without an instance", beat(none, ALICE, LEAVE_FOR_NOW))
    session.ask("no rebalance timeout", beat(g, ALICE, 0, topics=[t], owned=[]))
    session.ask("no topics", beat(g, ALICE, 0, owned=[], rebalance_ms=REBALANCE_MS))
    session.ask("no owned", beat(g, ALICE, 0, topics=[t], rebalance_ms=REBALANCE_MS))
    owned = beat(g, ALICE, 0, topics=[t], owned=[(topic, [0])], rebalance_ms=REBALANCE_MS)
    session.ask("owns at once", owned)
    for timeout in (0, -2):
        request = beat(
            session.name(f"r{timeout}"), ALICE, 0, topics=[t], owned=[], rebalance_ms=timeout
        )
        session.ask(f"rebalance timeout {timeout}", request)
    session.ask("unknown assignor", joining(g, ALICE, t, assignor="nonsense"))
    session.ask("empty assignor", joining(session.name("b"), ALICE, t, assignor=""))
    session.ask("empty instance", joining(g, ALICE, t, instance=""))
    session.ask("empty rack", joining(g, ALICE, t, rack=""))
    session.ask("nothing subscribed", joining(session.name("c"), ALICE))
    session.ask("a topic twice", joining(session.name("d"), ALICE, t, t))
    session.ask("unknown topic", joining(session.name("e"), ALICE, none))
    session.ask("bad topic name", joining(session.name("f"), ALICE, "a b"))
    session.ask("empty topic name", joining(session.name("h"), ALICE, ""))
    session.ask("long member id", joining(session.name("i"), "x" * 1000, t))
    session.ask("blank member id", joining(session.name("j"), " ", t))
    if session.version >= 1:
        session.ask(
            "bad expression", joining(session.name("k"), ALICE, regex="[", assignor="range")
        )
        session.ask("empty expression", joining(session.name("l"), ALICE, regex=""))
        session.ask("bad expression again", joining(session.name("m"), ALICE, t, regex="(?"))


@script(ApiKey.CONSUMER_GROUP_HEARTBEAT, versions=[1])
def consumer_group_of_two(session: Session) -> None:
    topic = session.topic("t", 4)
    g = group(session, "g")
    session.settle()
    t = topic.name
    alice = session.ask("alice", joining(g, ALICE, t)).member_epoch
    all_four = [(topic, [0, 1, 2, 3])]
    session.ask("alice owns all", beat(g, ALICE, alice, owned=all_four))
    bob = session.ask("bob", joining(g, BOB, t)).member_epoch
    described(session, "bob: described", g)
    session.ask("bob waits", beat(g, BOB, bob, owned=[]))
    reported = session.ask("alice is told", beat(g, ALICE, alice, owned=all_four))
    described(session, "alice is told: described", g)
    session.ask("alice still owns all", beat(g, ALICE, reported.member_epoch, owned=all_four))
    kept = reported.assignment.topic_partitions[0].partitions if reported.assignment else []
    gave = session.ask("alice gives", beat(g, ALICE, reported.member_epoch, owned=[(topic, kept)]))
    described(session, "alice gives: described", g)
    session.ask("bob gets", beat(g, BOB, bob, owned=[]))
    described(session, "bob gets: described", g)
    offsets = commit(g, (topic, [(0, 5, -1, "")]), generation=gave.member_epoch, member=ALICE)
    session.ask("alice commits", offsets, version=9)
    old = commit(g, (topic, [(0, 6, -1, "")]), generation=gave.member_epoch - 1, member=ALICE)
    session.ask("alice commits, old", old, version=9)
    session.ask("alice commits, old version", old, version=8)
    newer = commit(g, (topic, [(0, 6, -1, "")]), generation=99, member=ALICE)
    session.ask("alice commits, newer", newer, version=9)
    stranger = commit(g, (topic, [(0, 6, -1, "")]), generation=1, member=CAROL)
    session.ask("a stranger commits", stranger, version=9)
    simple = commit(g, (topic, [(0, 6, -1, "")]))
    session.ask("nobody commits", simple, version=9)
    for label, member, epoch in (
        ("alice", ALICE, gave.member_epoch), ("alice, old", ALICE, gave.member_epoch - 1),
        ("alice, newer", ALICE, 99), ("a stranger", CAROL, 1), ("nobody", None, -1),
    ):  # fmt: skip
        request = fetch(9, g, [(topic, [0])], member=member, epoch=epoch)
        session.ask(f"offsets for {label}", request, version=9)
    session.ask("classic description", DescribeGroupsRequest([g], False), version=5)
    session.ask("classic description, newer", DescribeGroupsRequest([g], False), version=6)
    session.ask("classic heartbeat", HeartbeatRequest(g, 1, ALICE), version=3)
    session.ask(
        "classic stranger leaves", LeaveGroupRequest(g, "", [MemberIdentity("x")]), version=4
    )
    session.ask("bob leaves", beat(g, BOB, LEAVE))
    described(session, "bob leaves: described", g)
    session.ask("alice gets all", beat(g, ALICE, gave.member_epoch, owned=[(topic, kept)]))


@script(ApiKey.CONSUMER_GROUP_HEARTBEAT, versions=[1])
def consumer_group_of_static_members(session: Session) -> None:
    topic = session.topic("t", 2)
    g = group(session, "g")
    session.settle()
    t = topic.name
    first = session.ask("alice as one", joining(g, ALICE, t, instance="one"))
    session.ask("bob as one too", joining(g, BOB, t, instance="one"))
    session.ask("alice without her instance", beat(g, ALICE, first.member_epoch))
    session.ask("alice with another", beat(g, ALICE, first.member_epoch, instance="two"))
    session.ask("alice leaves for now", beat(g, ALICE, LEAVE_FOR_NOW, instance="one"))
    described(session, "alice leaves for now: described", g)
    session.ask("alice is away", beat(g, ALICE, first.member_epoch, instance="one"))
    back = session.ask("bob comes as one", joining(g, BOB, t, instance="one"))
    described(session, "bob comes as one: described", g)
    session.ask("alice is nobody", beat(g, ALICE, first.member_epoch, instance="one"))
    session.ask("bob", beat(g, BOB, back.member_epoch, instance="one", owned=[(topic, [0, 1])]))
    session.ask("unknown instance leaves for now", beat(g, CAROL, LEAVE_FOR_NOW, instance="three"))
    session.ask("unknown instance leaves", beat(g, CAROL, LEAVE, instance="three"))
    session.ask("bob leaves", beat(g, BOB, LEAVE, instance="one"))
    described(session, "bob leaves: described", g)


@script(ApiKey.CONSUMER_GROUP_HEARTBEAT, versions=[1])
def consumer_groups_and_classic_groups(session: Session) -> None:
    topic = session.topic("t", 2)
    classic, new = group(session, "classic"), group(session, "new")
    session.settle()
    members(session, classic, "classic")
    session.ask(
        "into a classic group of consumers without topics", joining(classic, ALICE, topic.name)
    )
    session.ask("into a new group", joining(new, ALICE, topic.name))
    other = join_request(new, kind="connect")
    session.ask("another type into the new group", other, version=3)
    for version in (3, 9):
        stranger = join_request(new, "somebody")
        session.ask(f"a stranger into the new group, v{version}", stranger, version=version)
    session.ask("a new group as a classic one", DescribeGroupsRequest([new], False), version=6)
    described(session, "a classic group as a new one", classic)
    described(session, "nobody's", session.name("none"))
