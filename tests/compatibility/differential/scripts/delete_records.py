"""DeleteRecords: to an offset, to the end, too far."""

from __future__ import annotations

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.list_offsets import question
from tests.compatibility.differential.session import Session, Topic

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)


def delete(
    topic: str, *partitions: tuple[int, int], timeout_ms: int = 10_000
) -> DeleteRecordsRequest:
    asked = [DeleteRecordsPartition(*each) for each in partitions]
    return DeleteRecordsRequest([DeleteRecordsTopic(topic, asked)], timeout_ms)


def filled(session: Session, name: str, **configs: str) -> Topic:
    topic = session.topic(name, 2, {key.replace("_", "."): value for key, value in configs.items()})
    for _ in range(3):
        session.append(topic, batch(b"a", b"b", key=b"k"))
    return topic


@script(ApiKey.DELETE_RECORDS)
def delete_records(session: Session) -> None:
    topic = filled(session, "t").name
    for offset in (0, 1, 3, 2, 3, -2, 7, 2**63 - 1, -(2**63), 6, 5, -1):
        label = f"to {offset} #{len(session.answers)}"
        session.ask(label, delete(topic, (0, offset)))
        session.ask(f"{label}: earliest", question(topic, (0, -2, -1)), version=5)
        session.ask(f"{label}: largest time", question(topic, (0, -3, -1)), version=7)
    session.ask("empty partition to 0", delete(topic, (1, 0)))
    session.ask("empty partition to -1", delete(topic, (1, -1)))
    session.ask("empty partition to 1", delete(topic, (1, 1)))
    for index in (2, -1, 2**31 - 1):
        session.ask(f"partition {index}", delete(topic, (index, 0)))
    for name in ("", ".", "a b", "x" * 250, session.name("none"), "__cluster_metadata"):
        session.ask(f"topic {session.names.in_text(name)[:30]!r}", delete(name, (0, 0)))
    session.ask("no topics", DeleteRecordsRequest([], 1000))
    session.ask("no partitions", delete(topic))
    session.ask("a partition twice", delete(topic, (1, 0), (1, 5)))
    session.ask("good and bad", delete(topic, (1, 0), (9, 0)))
    session.ask("timeout 0", delete(topic, (1, 0), timeout_ms=0))
    session.ask("timeout -1", delete(topic, (1, 0), timeout_ms=-1))
    part = delete(topic, (1, 0)).topics[0]
    session.ask("a topic twice", DeleteRecordsRequest([part, part], 1000))
    compacted = filled(session, "compacted", cleanup_policy="compact").name
    session.ask("compacted", delete(compacted, (0, 1)))
    both = filled(session, "both", cleanup_policy="compact,delete").name
    session.ask("compacted and deleted", delete(both, (0, 1)))
