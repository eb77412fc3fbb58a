"""ListOffsets: offsets by time and by name, and everything that can be wrong with the question."""

from __future__ import annotations

from tests.compatibility.differential.batches import TIME_MS, batch
from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.talk import Talk

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
def list_offsets(talk: Talk) -> None:
    empty = talk.topic("empty")
    full = talk.topic("full", 2)
    talk.append(full, batch(b"a", b"b", b"c"))
    talk.append(full, batch(b"d", b"e", time_ms=TIME_MS + 1000))
    talk.append(full, batch(b"f", time_ms=TIME_MS + 500))
    talk.append(full, batch(b"g", b"h", time_ms=TIME_MS + 2000, codec=1))
    for topic in (empty, full):
        shown = topic.name.removeprefix(talk.name(""))
        for name, special in SPECIAL.items():
            for isolation in (0, 1):
                request = question(topic.name, (0, special, -1), isolation=isolation)
                talk.ask(f"{name} of {shown}, isolation {isolation}", request)
        for after in (-1, 0, 1, 2, 3, 499, 500, 501, 1000, 1001, 1002, 2000, 2001, 2002):
            request = question(topic.name, (0, TIME_MS + after, -1))
            talk.ask(f"{after} ms of {shown}", request)
        talk.ask(f"time 0 of {shown}", question(topic.name, (0, 0, -1)))
    timeless = talk.topic("timeless")
    for _ in range(2):
        talk.append(timeless, batch(b"a", time_ms=-1))
    talk.ask("max timestamp without any", question(timeless.name, (0, -3, -1)))
    for epoch in (0, 1, -2, 2**31 - 1):
        talk.ask(f"epoch {epoch}", question(full.name, (0, -1, epoch)))
        talk.ask(f"time with epoch {epoch}", question(full.name, (0, TIME_MS, epoch)))
    for replica in (-1, -2, -3, 0, 1, 2):
        request = question(full.name, (0, -1, -1), replica=replica)
        talk.ask(f"latest for replica {replica}", request)
        request = question(full.name, (0, -2, -1), replica=replica)
        talk.ask(f"earliest for replica {replica}", request)
        request = question(full.name, (0, TIME_MS, -1), replica=replica)
        talk.ask(f"time for replica {replica}", request)
    talk.ask("isolation 2", question(full.name, (0, -1, -1), isolation=2))
    talk.ask("isolation -1", question(full.name, (0, -1, -1), isolation=-1))


@script(ApiKey.LIST_OFFSETS)
def list_offsets_after_deletion(talk: Talk) -> None:
    """The log begins in its first segment; what is looked for may be in the second one."""
    topic = talk.topic("t", 1, {"segment.ms": "86400000"})
    talk.append(topic, batch(b"a", time_ms=TIME_MS + 10))
    talk.append(topic, batch(b"b"))
    talk.append(topic, batch(b"c", time_ms=TIME_MS + 2 * 86_400_000))
    deleted = DeleteRecordsTopic(topic.name, [DeleteRecordsPartition(0, 1)])
    talk.quietly(DeleteRecordsRequest([deleted], 10_000), 2)
    for after in (0, 5, 10, 11, 2 * 86_400_000):
        talk.ask(f"{after} ms", question(topic.name, (0, TIME_MS + after, -1)))
    for name, special in SPECIAL.items():
        talk.ask(name, question(topic.name, (0, special, -1)))


@script(ApiKey.LIST_OFFSETS)
def list_offsets_of_wrong_places(talk: Talk) -> None:
    topic = talk.topic("t", 2).name
    for index in (1, 2, -1, 2**31 - 1, -(2**31)):
        talk.ask(f"partition {index}", question(topic, (index, -1, -1)))
    names = ("", ".", "..", "a b", "a/b", "é", "x" * 249, "x" * 250, "__cluster_metadata")
    for name in (*names, talk.name("none")):
        talk.ask(
            f"topic {talk.names.in_text(name)[:40]!r}, {len(name) > 249}",
            question(name, (0, -1, -1)),
        )
    talk.ask("unknown with an epoch", question(talk.name("none"), (0, -1, 5)))
    talk.ask("no topics", ListOffsetsRequest(-1, 0, []))
    talk.ask("no partitions", question(topic))
    talk.ask("a partition twice", question(topic, (0, -1, -1), (0, -2, -1)))
    talk.ask("a partition twice and another", question(topic, (0, -1, -1), (1, 0, -1), (0, -1, -1)))
    talk.ask("an unknown partition twice", question(topic, (7, -1, -1), (7, -1, -1)))
    twice = question(topic, (0, -1, -1)).topics[0]
    talk.ask("a topic twice", ListOffsetsRequest(-1, 0, [twice, twice]))
    other = question(topic, (1, -2, -1)).topics[0]
    talk.ask("a topic in two parts", ListOffsetsRequest(-1, 0, [twice, other]))
    talk.ask("good and bad", question(topic, (0, -1, -1), (9, -1, -1), (1, -1, 3), (-5, -7, -1)))
    stranger = question(talk.name("none"), (0, -1, -1), (1, -2, -1)).topics[0]
    talk.ask("two topics", ListOffsetsRequest(-1, 0, [stranger, twice]))
    talk.ask("two topics, other order", ListOffsetsRequest(-1, 0, [twice, stranger]))
