"""ListOffsets: offsets by time and by name, and everything that can be wrong with the question."""

from __future__ import annotations

from tests.compatibility.differential.batches import TIME_MS, batch
from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

SPECIAL = {
    "latest": -1, "earliest": -2, "max timestamp": -3, "earliest local": -4,
    "latest tiered": -5, "earliest pending upload": -6, "-7": -7, "lowest": -(2**63),
    "highest": 2**63 - 1,
}  # fmt: skip


def question(
    topic: str, *partitions: tuple[int, int, int], isolation: int = 0, replica: int = -1
) -> ListOffsetsRequest:
    """Partitions as (index, timestamp, leader epoch)."""
    asked = [ListOffsetsPartition(index, epoch, time) for index, time, epoch in partitions]
    return ListOffsetsRequest(replica, isolation, [ListOffsetsTopic(topic, asked)], 1000)


@script(ApiKey.LIST_OFFSETS)
def list_offsets(session: Session) -> None:
    empty = session.topic("empty")
    full = session.topic("full", 2)
    session.append(full, batch(b"a", b"b", b"c"))
    session.append(full, batch(b"d", b"e", time_ms=TIME_MS + 1000))
    session.append(full, batch(b"f", time_ms=TIME_MS + 500))
    session.append(full, batch(b"g", b"h", time_ms=TIME_MS + 2000, codec=1))
    for topic in (empty, full):
        shown = topic.name.removeprefix(session.name(""))
        for name, special in SPECIAL.items():
            for isolation in (0, 1):
                request = question(topic.name, (0, special, -1), isolation=isolation)
                session.ask(f"{name} of {shown}, isolation {isolation}", request)
        for after in (-1, 0, 1, 2, 3, 499, 500, 501, 1000, 1001, 1002, 2000, 2001, 2002):
            request = question(topic.name, (0, TIME_MS + after, -1))
            session.ask(f"{after} ms of {shown}", request)
        session.ask(f"time 0 of {shown}", question(topic.name, (0, 0, -1)))
    timeless = session.topic("timeless")
    for _ in range(2):
        session.append(timeless, batch(b"a", time_ms=-1))
    session.ask("max timestamp without any", question(timeless.name, (0, -3, -1)))
    for epoch in (0, 1, -2, 2**31 - 1):
        session.ask(f"epoch {epoch}", question(full.name, (0, -1, epoch)))
        session.ask(f"time with epoch {epoch}", question(full.name, (0, TIME_MS, epoch)))
    for replica in (-1, -2, -3, 0, 1, 2):
        request = question(full.name, (0, -1, -1), replica=replica)
        session.ask(f"latest for replica {replica}", request)
        request = question(full.name, (0, -2, -1), replica=replica)
        session.ask(f"earliest for replica {replica}", request)
        request = question(full.name, (0, TIME_MS, -1), replica=replica)
        session.ask(f"time for replica {replica}", request)
    session.ask("isolation 2", question(full.name, (0, -1, -1), isolation=2))
    session.ask("isolation -1", question(full.name, (0, -1, -1), isolation=-1))


@script(ApiKey.LIST_OFFSETS)
def list_offsets_after_deletion(session: Session) -> None:
    """The log begins in its first segment; what is looked for may be in the second one."""
    topic = session.topic("t", 1, {"segment.ms": "86400000"})
    session.append(topic, batch(b"a", time_ms=TIME_MS + 10))
    session.append(topic, batch(b"b"))
    session.append(topic, batch(b"c", time_ms=TIME_MS + 2 * 86_400_000))
    deleted = DeleteRecordsTopic(topic.name, [DeleteRecordsPartition(0, 1)])
    session.quietly(DeleteRecordsRequest([deleted], 10_000), 2)
    for after in (0, 5, 10, 11, 2 * 86_400_000):
        session.ask(f"{after} ms", question(topic.name, (0, TIME_MS + after, -1)))
    for name, special in SPECIAL.items():
        session.ask(name, question(topic.name, (0, special, -1)))


@script(ApiKey.LIST_OFFSETS)
def list_offsets_of_wrong_places(session: Session) -> None:
    topic = session.topic("t", 2).name
    for index in (1, 2, -1, 2**31 - 1, -(2**31)):
        session.ask(f"partition {index}", question(topic, (index, -1, -1)))
    names = ("", ".", "..", "a b", "a/b", "é", "x" * 249, "x" * 250, "__cluster_metadata")
    for name in (*names, session.name("none")):
        session.ask(
            f"topic {session.names.in_text(name)[:40]!r}, {len(name) > 249}",
            question(name, (0, -1, -1)),
        )
    session.ask("unknown with an epoch", question(session.name("none"), (0, -1, 5)))
    session.ask("no topics", ListOffsetsRequest(-1, 0, []))
    session.ask("no partitions", question(topic))
    session.ask("a partition twice", question(topic, (0, -1, -1), (0, -2, -1)))
    session.ask(
        "a partition twice and another", question(topic, (0, -1, -1), (1, 0, -1), (0, -1, -1))
    )
    session.ask("an unknown partition twice", question(topic, (7, -1, -1), (7, -1, -1)))
    twice = question(topic, (0, -1, -1)).topics[0]
    session.ask("a topic twice", ListOffsetsRequest(-1, 0, [twice, twice]))
    other = question(topic, (1, -2, -1)).topics[0]
    session.ask("a topic in two parts", ListOffsetsRequest(-1, 0, [twice, other]))
    session.ask("good and bad", question(topic, (0, -1, -1), (9, -1, -1), (1, -1, 3), (-5, -7, -1)))
    stranger = question(session.name("none"), (0, -1, -1), (1, -2, -1)).topics[0]
    session.ask("two topics", ListOffsetsRequest(-1, 0, [stranger, twice]))
    session.ask("two topics, other order", ListOffsetsRequest(-1, 0, [twice, stranger]))
