"""OffsetCommit, OffsetFetch, OffsetDelete."""

from __future__ import annotations

from collections.abc import Sequence

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.group_members import group, members
from tests.compatibility.differential.session import Session, Topic

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)

UNKNOWN_ID = b"0123456789abcdef"
GROUPS_FROM = 8
Commit = tuple[int, int, int, str | None]  # partition, offset, leader epoch, metadata
Parts = Sequence[tuple[Topic, Sequence[Commit]]]


def commit(
    group_id: str,
    *topics: tuple[Topic, Sequence[Commit]],
    generation: int = -1,
    member: str = "",
    instance: str | None = None,
    retention_ms: int = -1,
) -> OffsetCommitRequest:
    chosen = [
        OffsetCommitRequestTopic(
            topic.name, topic.id, [OffsetCommitRequestPartition(*each) for each in commits]
        )
        for topic, commits in topics
    ]
    return OffsetCommitRequest(group_id, generation, member, instance, retention_ms, chosen)


def fetch(
    version: int,
    group_id: str,
    topics: Sequence[tuple[Topic, Sequence[int]]] | None,
    *,
    member: str | None = None,
    epoch: int = -1,
    stable: bool = False,
) -> OffsetFetchRequest:
    if version < GROUPS_FROM:
        named = None if topics is None else [OffsetFetchRequestTopic(t.name, p) for t, p in topics]
        return OffsetFetchRequest(group_id, named, (), stable)
    own = fetch_group(group_id, topics, member, epoch)
    return OffsetFetchRequest("", (), [own], stable)


def fetch_group(
    group_id: str,
    topics: Sequence[tuple[Topic, Sequence[int]]] | None,
    member: str | None = None,
    epoch: int = -1,
) -> OffsetFetchRequestGroup:
    named = (
        None if topics is None else [OffsetFetchRequestTopics(t.name, t.id, p) for t, p in topics]
    )
    return OffsetFetchRequestGroup(group_id, member, epoch, named)


def store(session: Session, group_id: str, *topics: tuple[Topic, Sequence[Commit]]) -> None:
    """Commit without a word."""
    session.once_ready(
        commit(group_id, *topics), 9, lambda answer: answer.topics[0].partitions[0].error_code
    )


def stored(session: Session, label: str, group_id: str) -> None:
    session.ask(label, fetch(8, group_id, None), version=8)


@script(ApiKey.OFFSET_COMMIT)
def offset_commit(session: Session) -> None:
    topic, other = session.topic("t", 3), session.topic("other")
    g = group(session, "g")
    none = Topic(session.name("none"), UNKNOWN_ID)
    one: Commit = (0, 5, -1, "")
    session.ask("one", commit(g, (topic, [one])))
    session.ask("several", commit(g, (topic, [(1, 7, 0, "x"), (2, 8, 3, None)]), (other, [one])))
    stored(session, "several: stored", g)
    for offset in (0, -1, -2, 2**63 - 1, -(2**63)):
        session.ask(f"offset {offset}", commit(g, (topic, [(0, offset, -1, "")])))
    for epoch in (0, 7, -2, 2**31 - 1):
        session.ask(f"epoch {epoch}", commit(g, (topic, [(0, 1, epoch, "")])))
    for size in (4096, 4097, 10_000):
        session.ask(f"metadata of {size}", commit(g, (topic, [(0, 1, -1, "m" * size)])))
    session.ask("metadata of 2000 wide signs", commit(g, (topic, [(0, 1, -1, "é" * 2000)])))
    session.ask("metadata of 3000 wide signs", commit(g, (topic, [(0, 1, -1, "é" * 3000)])))
    for partition in (3, -1, 2**31 - 1):
        session.ask(f"partition {partition}", commit(g, (topic, [(partition, 1, -1, "")])))
    session.ask("unknown topic", commit(g, (none, [one])))
    session.ask("known and unknown", commit(g, (none, [one]), (topic, [one])))
    session.ask("unknown, twice", commit(g, (none, [one]), (none, [one, (1, 1, -1, "")])))
    both = ((none, [one]), (topic, [one]))
    session.ask(
        "unknown, and refused by the group", commit(session.name("nobodys"), *both, generation=1)
    )
    session.ask("good and bad", commit(g, (topic, [one, (9, 1, -1, ""), (1, 1, -1, "m" * 5000)])))
    for name in ("", ".", "a b", "__cluster_metadata"):
        session.ask(f"topic {name!r}", commit(g, (Topic(name, bytes(16)), [one])))
    session.ask("nothing", commit(g))
    session.ask("no partitions", commit(g, (topic, [])))
    session.ask("no partitions of an unknown topic", commit(g, (none, []), (topic, [one])))
    session.ask("a partition twice", commit(g, (topic, [(0, 1, -1, ""), (0, 2, -1, "")])))
    session.ask("a topic twice", commit(g, (topic, [(1, 1, -1, "")]), (topic, [(1, 2, -1, "")])))
    session.ask(
        "a topic in two parts", commit(g, (topic, [(1, 3, -1, "")]), (topic, [(2, 4, -1, "")]))
    )
    session.ask("no group", commit("", (topic, [one])))
    # If it was stored, the group has no prefix of this script: other scripts must not find it.
    session.quietly(DeleteGroupsRequest([""]), 2)
    session.ask("long group", commit(session.name("x" * 1000), (topic, [one])))
    for retention_ms in (0, 1, 10_000, -2):
        request = commit(session.name("r"), (topic, [one]), retention_ms=retention_ms)
        session.ask(f"retention {retention_ms}", request)
    stored(session, "stored", g)
    session.ask("simple with a member", commit(g, (topic, [one]), member="somebody"))
    session.ask("simple with a generation", commit(g, (topic, [one]), generation=1))
    session.ask("simple with both", commit(g, (topic, [one]), generation=1, member="somebody"))
    session.ask("generation 0", commit(g, (topic, [one]), generation=0))
    session.ask("generation -2", commit(g, (topic, [one]), generation=-2))
    session.ask("with an instance", commit(g, (topic, [one]), instance="one"))
    unknown = session.name("unknown")
    session.ask(
        "unknown group, generation", commit(unknown, (topic, [one]), generation=1, member="m")
    )
    session.ask("unknown group, simple", commit(unknown, (topic, [one])))


@script(ApiKey.OFFSET_COMMIT)
def offset_commit_of_members(session: Session) -> None:
    topic = session.topic("t", 2)
    g = group(session, "g")
    one: Commit = (0, 5, -1, "")
    first, second = members(session, g, "first", "second")
    now = first.generation

    def ask(label: str, generation: int, member: str, instance: str | None = None) -> None:
        request = commit(g, (topic, [one]), generation=generation, member=member, instance=instance)
        session.ask(label, request)

    ask("member", now, first.id)
    ask("other member", now, second.id)
    ask("unknown member", now, "somebody")
    ask("no member", now, "")
    ask("simple", -1, "")
    ask("simple of a member", -1, first.id)
    ask("older", now - 1, first.id)
    ask("newer", now + 1, first.id)
    ask("unknown instance", now, first.id, "one")
    stored(session, "stored", g)
    h = group(session, "h")
    (third,) = members(session, h, "third", is_synced=False)
    request = commit(h, (topic, [one]), generation=third.generation, member=third.id)
    session.ask("before the sync", request)


@script(ApiKey.OFFSET_FETCH)
def offset_fetch(session: Session) -> None:
    topic, other = session.topic("t", 3), session.topic("other")
    g = group(session, "g")
    none = Topic(session.name("none"), UNKNOWN_ID)
    store(session, g, (topic, [(0, 5, 2, "five"), (1, 6, -1, None)]), (other, [(0, 7, 0, "")]))

    def ask(
        label: str,
        group_id: str,
        topics: Sequence[tuple[Topic, Sequence[int]]] | None,
        member: str | None = None,
        epoch: int = -1,
        stable: bool = False,
    ) -> None:
        request = fetch(
            session.version, group_id, topics, member=member, epoch=epoch, stable=stable
        )
        session.ask(label, request)

    ask("one", g, [(topic, [0])])
    ask("several", g, [(topic, [0, 1, 2]), (other, [0])])
    ask("all", g, None)
    ask("nothing", g, [])
    ask("no partitions", g, [(topic, [])])
    ask("unknown partition", g, [(topic, [9, -1])])
    ask("unknown topic", g, [(none, [0])])
    ask("known and unknown", g, [(none, [0]), (topic, [0])])
    ask("a partition twice", g, [(topic, [0, 0])])
    ask("a topic twice", g, [(topic, [0]), (topic, [0])])
    ask("a topic in two parts", g, [(topic, [0]), (topic, [1])])
    ask("stable", g, [(topic, [0])], stable=True)
    ask("all, stable", g, None, stable=True)
    unknown = session.name("unknown")
    ask("unknown group", unknown, [(topic, [0])])
    ask("unknown group, all", unknown, None)
    ask("no group", "", [(topic, [0])])
    ask("with a member", g, [(topic, [0])], member="somebody", epoch=1)
    ask("with a member, no epoch", g, [(topic, [0])], member="somebody")
    ask("with an epoch, no member", g, [(topic, [0])], epoch=3)
    ask("unknown group with a member", unknown, [(topic, [0])], member="somebody", epoch=1)
    for name in ("", ".", "a b"):
        ask(f"topic {name!r}", g, [(Topic(name, bytes(16)), [0])])
    if session.version < GROUPS_FROM:
        return
    session.ask("no groups", OffsetFetchRequest("", (), [], False))
    two = [fetch_group(g, [(topic, [0])]), fetch_group(unknown, [(topic, [0])])]
    session.ask("two groups", OffsetFetchRequest("", (), two, False))
    session.ask("two groups, stable", OffsetFetchRequest("", (), two, True))
    twice = [fetch_group(g, [(topic, [0])]), fetch_group(g, None)]
    session.ask("a group twice", OffsetFetchRequest("", (), twice, False))
    bad = [fetch_group("", [(topic, [0])]), fetch_group(g, [(topic, [0])])]
    session.ask("good and bad", OffsetFetchRequest("", (), bad, False))


@script(ApiKey.OFFSET_DELETE)
def offset_delete(session: Session) -> None:
    topic, other = session.topic("t", 3), session.topic("other")
    g = group(session, "g")
    commits: list[Commit] = [(0, 5, -1, ""), (1, 6, -1, ""), (2, 7, -1, "")]
    store(session, g, (topic, commits), (other, [(0, 7, -1, "")]))

    def ask(label: str, group_id: str, *topics: tuple[str, list[int]]) -> None:
        chosen = [
            OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(each) for each in indexes])
            for name, indexes in topics
        ]
        session.ask(label, OffsetDeleteRequest(group_id, chosen))

    none = session.name("none")
    ask("one", g, (topic.name, [0]))
    ask("one again", g, (topic.name, [0]))
    ask("unknown partition", g, (topic.name, [9, -1]))
    ask("unknown topic", g, (none, [0]))
    ask("good and bad", g, (none, [0]), (topic.name, [1, 9]))
    ask("no name", g, ("", [0]))
    ask("nothing", g)
    ask("no partitions", g, (topic.name, []))
    ask("no partitions of an unknown topic", g, (none, []), (topic.name, [9]))
    ask("a partition twice", g, (topic.name, [2, 2]))
    ask("a topic twice", g, (other.name, [0]), (other.name, [0]))
    ask("unknown group", none, (topic.name, [0]))
    ask("unknown group, nothing", none)
    ask("no group", "", (topic.name, [0]))
    stored(session, "stored", g)
    h = group(session, "h")
    store(session, h, (topic, commits))
    members(session, h, "first")
    ask("of members, not subscribed", h, (topic.name, [0]))
    subscribed = "subscribed"
    ask("of members, subscribed", h, (subscribed, [0]))
    stored(session, "stored by members", h)
