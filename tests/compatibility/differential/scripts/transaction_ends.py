"""WriteTxnMarkers, TxnOffsetCommit: what coordinators and groups have to do with transactions."""

from __future__ import annotations

from collections.abc import Sequence

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.consumer_groups import joining
from tests.compatibility.differential.scripts.group_members import group, members
from tests.compatibility.differential.scripts.group_offsets import fetch
from tests.compatibility.differential.scripts.transactional import (
    Commit,
    Places,
    Producer,
    add_offsets,
    commit_offsets,
    described,
    enlist,
    finish,
    new_producer,
    store,
    stored,
)
from tests.compatibility.differential.session import Session, Topic

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

VERSIONED_FROM = 2  # markers name the version of their transaction
MEMBERS_FROM = 3
GROWING_FROM = 5  # the transaction grows with what is committed


@script(ApiKey.WRITE_TXN_MARKERS)
def write_txn_markers(session: Session) -> None:
    topic, none = session.topic("t", 4), session.name("none")
    one, two = new_producer(session, "one"), new_producer(session, "two")
    for producer in (one, two):
        enlist(session, producer, (topic.name, [0, 1, 2]))
        for partition in (0, 1, 2):
            store(session, producer, topic, partition)

    def marker(
        producer: Producer,
        *places: Places,
        commit: bool = True,
        coordinator: int = 0,
        level: int = 0,
    ) -> WritableTxnMarker:
        topics = [WritableTxnMarkerTopic(*each) for each in places]
        version = level if session.version >= VERSIONED_FROM else 0
        return WritableTxnMarker(producer.id, producer.epoch, commit, topics, coordinator, version)

    def ask(label: str, *markers: WritableTxnMarker) -> None:
        session.ask(label, WriteTxnMarkersRequest(markers))

    t = topic.name
    ask("nothing")
    ask("no topics", marker(one))
    ask("no partitions", marker(one, (t, [])))
    ask("unknown topic", marker(one, (none, [0])))
    ask("unknown topic, epoch -1", marker(one._replace(epoch=-1), (none, [0])))
    ask("unknown partition", marker(one, (t, [9, -1])))
    for name in ("", ".", "a b"):
        ask(f"topic {name!r}", marker(one, (name, [0])))
    ask("older epoch", marker(one._replace(epoch=-1), (t, [0])))
    stored(session, "before", topic)
    ask("commit", marker(one, (t, [0])))
    ask("commit again", marker(one, (t, [0])))
    ask("abort of the other", marker(two, (t, [0]), commit=False))
    stored(session, "commit and abort", topic)
    ask("good and bad", marker(one, (t, [1, 9]), (none, [0])))
    ask("two markers", marker(one, (t, [2])), marker(two, (t, [1, 2]), commit=False))
    ask("a marker twice", marker(one, (t, [3])), marker(one, (t, [3])))
    # A partition twice in one marker is not asked: Kafka never answers it.
    ask("newer coordinator", marker(one, (t, [3]), coordinator=7))
    ask("older coordinator", marker(one, (t, [3]), coordinator=6))
    ask("negative coordinator", marker(one, (t, [3]), coordinator=-1))
    ask("newer epoch", marker(one._replace(epoch=3), (t, [3]), coordinator=7))
    ask("older epoch than that", marker(one._replace(epoch=2), (t, [3]), coordinator=7))
    ask("nobody", marker(one._replace(id=-1, epoch=-1), (t, [3])))
    ask("unknown producer", marker(one._replace(id=one.id + 100_000), (t, [3])))
    for level in (1, 2, 3, -1):
        ask(f"level {level}", marker(two._replace(epoch=level + 5), (t, [3]), level=level))
        ask(f"level {level} again", marker(two._replace(epoch=level + 5), (t, [3]), level=level))
    for partition in range(4):
        stored(session, f"in {partition}", topic, partition)
    described(session, "what the coordinator knows", one, two)


@script(ApiKey.TXN_OFFSET_COMMIT)
def txn_offset_commit(session: Session) -> None:
    topic, other, none = session.topic("t", 3), session.topic("other"), session.name("none")
    g = group(session, "g")
    one = new_producer(session, "one")
    t, usual = topic.name, [(0, 5, -1, "")]

    def ask(
        label: str, producer: Producer, *topics: tuple[str, Sequence[Commit]], group_id: str = g
    ) -> None:
        session.ask(label, commit_offsets(producer, group_id, *topics))

    if session.version < GROWING_FROM:
        ask("not enlisted", one, (t, usual))
        session.once_ready(add_offsets(one, g), 3)
    ask("unknown transactional id", Producer(session.name("unknown"), one.id, 0), (t, usual))
    ask("somebody else", one._replace(id=one.id + 100_000), (t, usual))
    for epoch in (1, -1, 32767):
        ask(f"epoch {epoch}", one._replace(epoch=epoch), (t, usual))
    committed(session, "before", g, topic)
    ask("one", one, (t, usual))
    committed(session, "one: stored", g, topic)
    ask("several", one, (t, [(1, 7, 0, "x"), (2, 8, 3, None)]), (other.name, usual))
    ask("one again, later", one, (t, [(0, 6, 2, "later")]))
    for offset in (0, -1, -2, 2**63 - 1):
        ask(f"offset {offset}", one, (t, [(1, offset, -1, "")]))
    for size in (4096, 4097):
        ask(f"metadata of {size}", one, (t, [(2, 1, -1, "m" * size)]))
    ask("unknown topic", one, (none, usual))
    ask("unknown partition", one, (t, [(3, 1, -1, ""), (-1, 1, -1, "")]))
    ask("good and bad", one, (none, usual), (t, [(0, 7, -1, ""), (9, 1, -1, "")]))
    for name in ("", ".", "a b", "__cluster_metadata"):
        ask(f"topic {name!r}", one, (name, usual))
    ask("nothing", one)
    ask("no partitions", one, (t, []))
    ask("no partitions of an unknown topic", one, (none, []), (t, usual))
    ask("an unknown topic twice", one, (none, usual), (none, [(1, 1, -1, "")]))
    ask("a partition twice", one, (t, [(0, 8, -1, ""), (0, 9, -1, "")]))
    ask("a topic twice", one, (t, [(0, 10, -1, "")]), (t, [(0, 11, -1, "")]))
    ask("no group", one, (t, usual), group_id="")
    ask("no group, nothing", one, group_id="")
    described(session, "open", one)
    committed(session, "open: stored", g, topic)
    finish(session, one, is_commit=True)
    committed(session, "committed", g, topic)


def committed(session: Session, label: str, group_id: str, topic: Topic) -> None:
    """To those who wait for the end of transactions, and to those who do not."""
    places = [(topic, [0, 1, 2])]
    session.ask(label, fetch(8, group_id, places), version=8)
    session.ask(f"{label}, stable", fetch(8, group_id, places, stable=True), version=8)


@script(ApiKey.TXN_OFFSET_COMMIT)
def txn_offset_commit_ended_in_other_ways(session: Session) -> None:
    topic = session.topic("t", 3)
    g, h = group(session, "g"), group(session, "h")
    one, usual = new_producer(session, "one"), (topic.name, [(0, 5, -1, "")])

    def begin(group_id: str) -> None:
        if session.version < GROWING_FROM:
            session.once_ready(add_offsets(one, group_id), 3)

    begin(g)
    session.ask("to be aborted", commit_offsets(one, g, usual))
    committed(session, "to be aborted: stored", g, topic)
    finish(session, one, is_commit=False)
    committed(session, "aborted", g, topic)
    if session.version < GROWING_FROM:
        session.ask("after the end", commit_offsets(one, g, usual))
    first, second = members(session, h, "first", "second")
    begin(h)

    def ask(label: str, generation: int, member: str, instance: str | None = None) -> None:
        if session.version >= MEMBERS_FROM:
            request = commit_offsets(
                one, h, usual, generation=generation, member=member, instance=instance
            )
            session.ask(label, request)

    now = first.generation
    ask("member", now, first.id)
    ask("other member", now, second.id)
    ask("unknown member", now, "somebody")
    ask("no member", now, "")
    ask("no generation", -1, first.id)
    ask("older", now - 1, first.id)
    ask("newer", now + 1, first.id)
    ask("unknown instance", now, first.id, "one")
    ask("nobody, generation -2", -2, "")
    session.ask("nobody", commit_offsets(one, h, usual))
    finish(session, one, is_commit=True)
    committed(session, "of members", h, topic)
    new_producer(session, "one")
    session.ask("fenced", commit_offsets(one, h, usual))


@script(ApiKey.TXN_OFFSET_COMMIT, versions=range(MEMBERS_FROM, 6))
def txn_offset_commit_to_a_consumer_group(session: Session) -> None:
    topic, g, one = session.topic("t", 3), group(session, "g"), new_producer(session, "one")
    session.once_ready(joining(g, "somebody-0123456789", topic.name), 1)
    if session.version < GROWING_FROM:
        session.once_ready(add_offsets(one, g), 3)
    for member in ("", "somebody-0123456789", "nobody"):
        for epoch in (3, 2, 1, 0, -1, -2):
            usual = (topic.name, [(0, epoch + 10, -1, "")])
            request = commit_offsets(one, g, usual, generation=epoch, member=member)
            session.ask(f"{member!r} in {epoch}", request)
    finish(session, one, is_commit=True)
    committed(session, "committed", g, topic)
