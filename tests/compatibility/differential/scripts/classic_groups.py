"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup."""

from __future__ import annotations

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.group_members import (
    await_rebalance,
    group,
    join_request,
    members,
)
from tests.compatibility.differential.session import Session

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


def described(session: Session, label: str, group_id: str) -> None:
    session.ask(label, DescribeGroupsRequest([group_id], False), version=5)


@script(ApiKey.JOIN_GROUP)
def join_group(session: Session) -> None:
    g = group(session, "g")
    for session_ms in (99, 60_001, 0, -1, INT32_MAX, -(2**31)):
        other = session.name(f"session{session_ms}")
        session.ask(f"session {session_ms}", join_request(other, session_ms=session_ms))
    session.ask("no group", join_request(""))
    session.ask("unknown member", join_request(session.name("a"), "somebody"))
    session.ask("no protocols", join_request(session.name("b"), protocols=()))
    session.ask("no protocol type", join_request(session.name("c"), kind=""))
    session.ask("neither", join_request(session.name("d"), kind="", protocols=()))
    for name in "bcd":
        described(session, f"{name} after that", session.name(name))
    session.ask(
        "no protocols, a member id", join_request(session.name("e"), "somebody", protocols=())
    )
    first = session.ask("first", join_request(g, protocols=("range", "roundrobin")))
    if first.error_code:
        first = session.ask(
            "first, with its id",
            join_request(g, first.member_id, protocols=("range", "roundrobin")),
        )
    described(session, "after the first", g)
    session.ask("other type", join_request(g, kind="connect"))
    session.ask("other protocol", join_request(g, protocols=("sticky",)))
    session.ask("other type, own id", join_request(g, first.member_id, kind="connect"))
    session.ask("other protocol, own id", join_request(g, first.member_id, protocols=("sticky",)))
    session.ask("unknown member of a group", join_request(g, "somebody"))
    again = session.ask(
        "first again", join_request(g, first.member_id, protocols=("range", "roundrobin"))
    )
    described(session, "after the first again", g)
    session.ask("reason", join_request(g, again.member_id, reason="because"))
    session.ask("empty protocol name", join_request(g, again.member_id, protocols=("",)))
    session.ask("a protocol twice", join_request(g, again.member_id, protocols=("range", "range")))


@script(ApiKey.JOIN_GROUP)
def join_group_together(session: Session) -> None:
    """A second, a third and a fourth member, where three are the most."""
    g = group(session, "g")
    (leader,) = members(session, g, "leader")
    second = session.send("second", join_request(g), on="b")
    if session.version >= 4:
        asked = session.receive(second)
        second = session.send("second, with its id", join_request(g, asked.member_id), on="b")
    await_rebalance(session, g)
    described(session, "while it joins", g)
    heartbeat = HeartbeatRequest(g, leader.generation, leader.id)
    session.ask("heartbeat of the leader meanwhile", heartbeat, version=3)
    sync = SyncGroupRequest(g, leader.generation, leader.id)
    session.ask("sync of the leader meanwhile", sync, version=3)
    session.ask("leader comes back", join_request(g, leader.id), on="a")
    joined = session.receive(second)
    described(session, "after both joined", g)
    session.ask("follower asks again", join_request(g, joined.member_id), on="b")
    third = session.send("third", join_request(g), on="c")
    if session.version >= 4:
        asked = session.receive(third)
        third = session.send("third, with its id", join_request(g, asked.member_id), on="c")
    await_rebalance(session, g)
    waiting = session.send("leader, for the third", join_request(g, leader.id), on="a")
    session.ask("second, for the third", join_request(g, joined.member_id), on="b")
    session.receive(waiting)
    session.receive(third)
    described(session, "after three joined", g)
    fourth = session.ask("fourth", join_request(g), on="d")
    session.ask("fourth, with an id", join_request(g, fourth.member_id or "somebody"), on="d")


@script(ApiKey.JOIN_GROUP, versions=range(INSTANCES_FROM_JOIN, 10))
def join_group_statically(session: Session) -> None:
    g = group(session, "g")
    first = session.ask("first", join_request(g, instance="one"))
    session.ask(
        "synced", SyncGroupRequest(g, first.generation_id, first.member_id, "one"), version=5
    )
    described(session, "after the first", g)
    session.ask("first again", join_request(g, first.member_id, instance="one"))
    again = session.ask("restarted", join_request(g, instance="one"))
    described(session, "after the restart", g)
    session.ask("the old one", join_request(g, first.member_id, instance="one"))
    old = HeartbeatRequest(g, first.generation_id, first.member_id, "one")
    session.ask("heartbeat of the old one", old, version=4)
    new = HeartbeatRequest(g, again.generation_id, again.member_id, "one")
    session.ask("heartbeat of the new one", new, version=4)
    session.ask("restarted, other metadata", join_request(g, instance="one", protocols=("sticky",)))
    described(session, "after other metadata", g)
    session.ask("unknown instance, known member", join_request(g, again.member_id, instance="two"))
    session.ask("known instance, unknown member", join_request(g, "somebody", instance="one"))
    for label, instance in (
        ("empty", ""), ("bad", "a b"), ("dots", ".."), ("long", "x" * 249), ("too long", "x" * 250)
    ):  # fmt: skip
        other = session.name(f"instance-{label.replace(' ', '-')}")
        session.ask(f"{label} instance", join_request(other, instance=instance))


@script(ApiKey.SYNC_GROUP)
def sync_group(session: Session) -> None:
    g = group(session, "g")

    def ask(
        label: str, generation: int, member: str, *given: str, on: str = "", **more: str | None
    ) -> object:
        parts = [SyncGroupRequestAssignment(each, b"part of " + label.encode()) for each in given]
        request = SyncGroupRequest(
            more.get("group", g) or "", generation, member, more.get("instance"),
            more.get("kind"), more.get("protocol"), parts,
        )  # fmt: skip
        if session.version == 5 and "protocol" not in more:
            request.protocol_type, request.protocol_name = "consumer", "range"
        return session.send(label, request, on=on)

    def done(label: str, generation: int, member: str, *given: str, **more: str | None) -> None:
        session.receive(ask(label, generation, member, *given, **more))  # type: ignore[arg-type]

    done("no group", 1, "x", group="")
    done("unknown group", 1, "x", group=session.name("none"))
    first, second = members(session, g, "first", "second", is_synced=False)
    now = first.generation
    done("unknown member", now, "somebody")
    done("no member", now, "")
    for generation in (now + 1, now - 1, -1, 0, INT32_MAX):
        done(f"generation {generation}", generation, first.id, first.id)
    if session.version >= 5:
        done("other type", now, second.id, kind="connect", protocol="range")
        done("other protocol", now, second.id, kind="consumer", protocol="sticky")
        done("no type, no protocol", now, "somebody", kind=None, protocol=None)
    done("unknown instance", now, first.id, instance="one")
    waiting = ask("follower waits", now, second.id, on="b")
    done("leader", now, first.id, first.id, "somebody else")
    session.receive(waiting)  # type: ignore[arg-type]
    done("leader again", now, first.id, first.id, second.id)
    done("follower again", now, second.id)
    done("old generation of a stable group", now - 1, second.id)
    described(session, "afterwards", g)


@script(ApiKey.HEARTBEAT)
def heartbeat(session: Session) -> None:
    g = group(session, "g")
    session.ask("no group", HeartbeatRequest("", 1, "x"))
    session.ask("unknown group", HeartbeatRequest(session.name("none"), 1, "x"))
    first, _ = members(session, g, "first", "second", is_synced=False)
    session.ask("before the sync", HeartbeatRequest(g, first.generation, first.id))
    h = group(session, "h")
    third, fourth = members(session, h, "third", "fourth")
    session.ask("member", HeartbeatRequest(h, third.generation, third.id))
    session.ask("other member", HeartbeatRequest(h, fourth.generation, fourth.id))
    session.ask("unknown member", HeartbeatRequest(h, third.generation, "somebody"))
    session.ask("no member", HeartbeatRequest(h, third.generation, ""))
    for generation in (third.generation + 1, third.generation - 1, -1, 0, INT32_MAX):
        session.ask(f"generation {generation}", HeartbeatRequest(h, generation, third.id))
    session.ask("unknown instance", HeartbeatRequest(h, third.generation, third.id, "one"))
    session.ask("empty instance", HeartbeatRequest(h, third.generation, third.id, ""))
    session.connection("newcomer").send(join_request(h), 3)
    await_rebalance(session, h)
    session.ask("while another joins", HeartbeatRequest(h, third.generation, third.id))
    session.ask("while another joins, old", HeartbeatRequest(h, third.generation - 1, third.id))


@script(ApiKey.LEAVE_GROUP)
def leave_group(session: Session) -> None:
    g = group(session, "g")
    first, second, third = members(session, g, "first", "second", "third")

    def ask(label: str, group_id: str, *who: tuple[str, str | None]) -> None:
        if session.version >= MEMBER_LISTS_FROM:
            people = [MemberIdentity(*each) for each in who]
            session.ask(label, LeaveGroupRequest(group_id, "", people))
        elif len(who) == 1 and who[0][1] is None:
            session.ask(label, LeaveGroupRequest(group_id, who[0][0]))

    ask("no group", "", (first.id, None))
    ask("unknown group", session.name("none"), (first.id, None))
    ask("unknown member", g, ("somebody", None))
    ask("no member", g, ("", None))
    ask("nobody", g)
    ask("nobody of an unknown group", session.name("none"))
    ask("unknown instance", g, ("", "one"))
    ask("known member, unknown instance", g, (first.id, "one"))
    ask("two unknown", g, ("somebody", None), ("", "one"))
    described(session, "before", g)
    ask("first", g, (first.id, None))
    ask("first again", g, (first.id, None))
    described(session, "after the first", g)
    ask("one twice", g, (second.id, None), (second.id, None))
    ask("two, one gone", g, (first.id, None), (second.id, None))
    ask("last", g, (third.id, None))
    described(session, "after all", g)
    ask("of an empty group", g, (third.id, None))
    if session.version < MEMBER_LISTS_FROM:
        return
    h = group(session, "h")
    static = session.once_ready(join_request(h, instance="one"), 5)
    session.names.define("member", static.member_id, "static")
    ask("static, by instance", h, ("", "one"))
    ask("static, again", h, ("", "one"))
    static = session.once_ready(join_request(h, instance="two"), 5)
    session.names.define("member", static.member_id, "other static")
    ask("static, wrong member", h, ("somebody", "two"))
    ask("static, member alone", h, (static.member_id, None))
    static = session.once_ready(join_request(h, instance="two"), 5)
    session.names.define("member", static.member_id, "third static")
    ask("static, both", h, (static.member_id, "two"))
