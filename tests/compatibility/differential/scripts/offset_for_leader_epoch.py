"""OffsetForLeaderEpoch: the only epoch of a new topic, and others."""

from __future__ import annotations

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)


def question(
    topic: str, *partitions: tuple[int, int, int], replica: int = -1
) -> OffsetForLeaderEpochRequest:
    """Partitions as (index, current epoch, asked epoch)."""
    asked = [OffsetForLeaderPartition(*each) for each in partitions]
    return OffsetForLeaderEpochRequest(replica, [OffsetForLeaderTopic(topic, asked)])


@script(ApiKey.OFFSET_FOR_LEADER_EPOCH)
def offset_for_leader_epoch(session: Session) -> None:
    empty, full = session.topic("empty").name, session.topic("full", 2)
    session.append(full, batch(b"a", b"b"))
    session.append(full, batch(b"c"))
    for name in (empty, full.name):
        shown = name.removeprefix(session.name(""))
        for current in (-1, 0, 1, -2):
            for asked in (-1, 0, 1, 5, -2, 2**31 - 1):
                label = f"{shown}, current {current}, asked {asked}"
                session.ask(label, question(name, (0, current, asked)))
    for replica in (-1, -2, -3, 0, 1, 7):
        session.ask(f"replica {replica}", question(full.name, (0, 0, 0), replica=replica))
    for index in (2, -1, 2**31 - 1):
        session.ask(f"partition {index}", question(full.name, (index, -1, 0)))
    for name in ("", ".", "a b", "x" * 250, session.name("none")):
        session.ask(f"topic {session.names.in_text(name)[:30]!r}", question(name, (0, -1, 0)))
    session.ask("no topics", OffsetForLeaderEpochRequest(-1, []))
    session.ask("no partitions", question(full.name))
    session.ask("a partition twice", question(full.name, (0, -1, 0), (0, -1, 1)))
    session.ask("good and bad", question(full.name, (0, -1, 0), (9, -1, 0), (1, -1, 0)))
    one, none = (
        question(full.name, (0, -1, 0)).topics[0],
        question(session.name("none"), (0, -1, 0)).topics[0],
    )
    session.ask("two topics", OffsetForLeaderEpochRequest(-1, [none, one]))
    session.ask("a topic twice", OffsetForLeaderEpochRequest(-1, [one, one]))
