"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup."""

from __future__ import annotations

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.group_members import (
    await_rebalance,
    group,
    join_request,
    members,
)
from tests.compatibility.differential.talk import Talk

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)

INSTANCES_FROM_JOIN = 5
INSTANCES_FROM = 3
MEMBER_LISTS_FROM = 3
INT32_MAX = 2**31 - 1


def described(talk: Talk, label: str, group_id: str) -> None:
    talk.ask(label, DescribeGroupsRequest([group_id], False), version=5)


@script(ApiKey.JOIN_GROUP)
def join_group(talk: Talk) -> None:
    g = group(talk, "g")
    for session_ms in (99, 60_001, 0, -1, INT32_MAX, -(2**31)):
        other = talk.name(f"session{session_ms}")
        talk.ask(f"session {session_ms}", join_request(other, session_ms=session_ms))
    talk.ask("no group", join_request(""))
    talk.ask("unknown member", join_request(talk.name("a"), "somebody"))
    talk.ask("no protocols", join_request(talk.name("b"), protocols=()))
    talk.ask("no protocol type", join_request(talk.name("c"), kind=""))
    talk.ask("neither", join_request(talk.name("d"), kind="", protocols=()))
    for name in "bcd":
        described(talk, f"{name} after that", talk.name(name))
    talk.ask("no protocols, a member id", join_request(talk.name("e"), "somebody", protocols=()))
    first = talk.ask("first", join_request(g, protocols=("range", "roundrobin")))
    if first.error_code:
        first = talk.ask(
            "first, with its id",
            join_request(g, first.member_id, protocols=("range", "roundrobin")),
        )
    described(talk, "after the first", g)
    talk.ask("other type", join_request(g, kind="connect"))
    talk.ask("other protocol", join_request(g, protocols=("sticky",)))
    talk.ask("other type, own id", join_request(g, first.member_id, kind="connect"))
    talk.ask("other protocol, own id", join_request(g, first.member_id, protocols=("sticky",)))
    talk.ask("unknown member of a group", join_request(g, "somebody"))
    again = talk.ask(
        "first again", join_request(g, first.member_id, protocols=("range", "roundrobin"))
    )
    described(talk, "after the first again", g)
    talk.ask("reason", join_request(g, again.member_id, reason="because"))
    talk.ask("empty protocol name", join_request(g, again.member_id, protocols=("",)))
    talk.ask("a protocol twice", join_request(g, again.member_id, protocols=("range", "range")))


@script(ApiKey.JOIN_GROUP)
def join_group_together(talk: Talk) -> None:
    """A second, a third and a fourth member, where three are the most."""
    g = group(talk, "g")
    (leader,) = members(talk, g, "leader")
    second = talk.send("second", join_request(g), on="b")
    if talk.version >= 4:
        asked = talk.receive(second)
        second = talk.send("second, with its id", join_request(g, asked.member_id), on="b")
    await_rebalance(talk, g)
    described(talk, "while it joins", g)
    heartbeat = HeartbeatRequest(g, leader.generation, leader.id)
    talk.ask("heartbeat of the leader meanwhile", heartbeat, version=3)
    sync = SyncGroupRequest(g, leader.generation, leader.id)
    talk.ask("sync of the leader meanwhile", sync, version=3)
    talk.ask("leader comes back", join_request(g, leader.id), on="a")
    joined = talk.receive(second)
    described(talk, "after both joined", g)
    talk.ask("follower asks again", join_request(g, joined.member_id), on="b")
    third = talk.send("third", join_request(g), on="c")
    if talk.version >= 4:
        asked = talk.receive(third)
        third = talk.send("third, with its id", join_request(g, asked.member_id), on="c")
    await_rebalance(talk, g)
    waiting = talk.send("leader, for the third", join_request(g, leader.id), on="a")
    talk.ask("second, for the third", join_request(g, joined.member_id), on="b")
    talk.receive(waiting)
    talk.receive(third)
    described(talk, "after three joined", g)
    fourth = talk.ask("fourth", join_request(g), on="d")
    talk.ask("fourth, with an id", join_request(g, fourth.member_id or "somebody"), on="d")


@script(ApiKey.JOIN_GROUP, versions=range(INSTANCES_FROM_JOIN, 10))
def join_group_statically(talk: Talk) -> None:
    g = group(talk, "g")
    first = talk.ask("first", join_request(g, instance="one"))
    talk.ask("synced", SyncGroupRequest(g, first.generation_id, first.member_id, "one"), version=5)
    described(talk, "after the first", g)
    talk.ask("first again", join_request(g, first.member_id, instance="one"))
    again = talk.ask("restarted", join_request(g, instance="one"))
    described(talk, "after the restart", g)
    talk.ask("the old one", join_request(g, first.member_id, instance="one"))
    old = HeartbeatRequest(g, first.generation_id, first.member_id, "one")
    talk.ask("heartbeat of the old one", old, version=4)
    new = HeartbeatRequest(g, again.generation_id, again.member_id, "one")
    talk.ask("heartbeat of the new one", new, version=4)
    talk.ask("restarted, other metadata", join_request(g, instance="one", protocols=("sticky",)))
    described(talk, "after other metadata", g)
    talk.ask("unknown instance, known member", join_request(g, again.member_id, instance="two"))
    talk.ask("known instance, unknown member", join_request(g, "somebody", instance="one"))
    for label, instance in (
        ("empty", ""), ("bad", "a b"), ("dots", ".."), ("long", "x" * 249), ("too long", "x" * 250)
    ):  # fmt: skip
        other = talk.name(f"instance-{label.replace(' ', '-')}")
        talk.ask(f"{label} instance", join_request(other, instance=instance))


@script(ApiKey.SYNC_GROUP)
def sync_group(talk: Talk) -> None:
    g = group(talk, "g")

    def ask(
        label: str, generation: int, member: str, *given: str, on: str = "", **more: str | None
    ) -> object:
        parts = [SyncGroupRequestAssignment(each, b"part of " + label.encode()) for each in given]
        request = SyncGroupRequest(
            more.get("group", g) or "", generation, member, more.get("instance"),
            more.get("kind"), more.get("protocol"), parts,
        )  # fmt: skip
        if talk.version == 5 and "protocol" not in more:
            request.protocol_type, request.protocol_name = "consumer", "range"
        return talk.send(label, request, on=on)

    def done(label: str, generation: int, member: str, *given: str, **more: str | None) -> None:
        talk.receive(ask(label, generation, member, *given, **more))  # type: ignore[arg-type]

    done("no group", 1, "x", group="")
    done("unknown group", 1, "x", group=talk.name("none"))
    first, second = members(talk, g, "first", "second", is_synced=False)
    now = first.generation
    done("unknown member", now, "somebody")
    done("no member", now, "")
    for generation in (now + 1, now - 1, -1, 0, INT32_MAX):
        done(f"generation {generation}", generation, first.id, first.id)
    if talk.version >= 5:
        done("other type", now, second.id, kind="connect", protocol="range")
        done("other protocol", now, second.id, kind="consumer", protocol="sticky")
        done("no type, no protocol", now, "somebody", kind=None, protocol=None)
    done("unknown instance", now, first.id, instance="one")
    waiting = ask("follower waits", now, second.id, on="b")
    done("leader", now, first.id, first.id, "somebody else")
    talk.receive(waiting)  # type: ignore[arg-type]
    done("leader again", now, first.id, first.id, second.id)
    done("follower again", now, second.id)
    done("old generation of a stable group", now - 1, second.id)
    described(talk, "afterwards", g)


@script(ApiKey.HEARTBEAT)
def heartbeat(talk: Talk) -> None:
    g = group(talk, "g")
    talk.ask("no group", HeartbeatRequest("", 1, "x"))
    talk.ask("unknown group", HeartbeatRequest(talk.name("none"), 1, "x"))
    first, _ = members(talk, g, "first", "second", is_synced=False)
    talk.ask("before the sync", HeartbeatRequest(g, first.generation, first.id))
    h = group(talk, "h")
    third, fourth = members(talk, h, "third", "fourth")
    talk.ask("member", HeartbeatRequest(h, third.generation, third.id))
    talk.ask("other member", HeartbeatRequest(h, fourth.generation, fourth.id))
    talk.ask("unknown member", HeartbeatRequest(h, third.generation, "somebody"))
    talk.ask("no member", HeartbeatRequest(h, third.generation, ""))
    for generation in (third.generation + 1, third.generation - 1, -1, 0, INT32_MAX):
        talk.ask(f"generation {generation}", HeartbeatRequest(h, generation, third.id))
    talk.ask("unknown instance", HeartbeatRequest(h, third.generation, third.id, "one"))
    talk.ask("empty instance", HeartbeatRequest(h, third.generation, third.id, ""))
    talk.connection("newcomer").send(join_request(h), 3)
    await_rebalance(talk, h)
    talk.ask("while another joins", HeartbeatRequest(h, third.generation, third.id))
    talk.ask("while another joins, old", HeartbeatRequest(h, third.generation - 1, third.id))


@script(ApiKey.LEAVE_GROUP)
def leave_group(talk: Talk) -> None:
    g = group(talk, "g")
    first, second, third = members(talk, g, "first", "second", "third")

    def ask(label: str, group_id: str, *who: tuple[str, str | None]) -> None:
        if talk.version >= MEMBER_LISTS_FROM:
            people = [MemberIdentity(*each) for each in who]
            talk.ask(label, LeaveGroupRequest(group_id, "", people))
        elif len(who) == 1 and who[0][1] is None:
            talk.ask(label, LeaveGroupRequest(group_id, who[0][0]))

    ask("no group", "", (first.id, None))
    ask("unknown group", talk.name("none"), (first.id, None))
    ask("unknown member", g, ("somebody", None))
    ask("no member", g, ("", None))
    ask("nobody", g)
    ask("nobody of an unknown group", talk.name("none"))
    ask("unknown instance", g, ("", "one"))
    ask("known member, unknown instance", g, (first.id, "one"))
    ask("two unknown", g, ("somebody", None), ("", "one"))
    described(talk, "before", g)
    ask("first", g, (first.id, None))
    ask("first again", g, (first.id, None))
    described(talk, "after the first", g)
    ask("one twice", g, (second.id, None), (second.id, None))
    ask("two, one gone", g, (first.id, None), (second.id, None))
    ask("last", g, (third.id, None))
    described(talk, "after all", g)
    ask("of an empty group", g, (third.id, None))
    if talk.version < MEMBER_LISTS_FROM:
        return
    h = group(talk, "h")
    static = talk.once_ready(join_request(h, instance="one"), 5)
    talk.names.define("member", static.member_id, "static")
    ask("static, by instance", h, ("", "one"))
    ask("static, again", h, ("", "one"))
    static = talk.once_ready(join_request(h, instance="two"), 5)
    talk.names.define("member", static.member_id, "other static")
    ask("static, wrong member", h, ("somebody", "two"))
    ask("static, member alone", h, (static.member_id, None))
    static = talk.once_ready(join_request(h, instance="two"), 5)
    talk.names.define("member", static.member_id, "third static")
    ask("static, both", h, (static.member_id, "two"))
