"""DeleteRecords: to an offset, to the end, too far."""

from __future__ import annotations

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.list_offsets import question
from tests.compatibility.differential.talk import Talk, Topic

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


def filled(talk: Talk, name: str, **configs: str) -> Topic:
    topic = talk.topic(name, 2, {key.replace("_", "."): value for key, value in configs.items()})
    for _ in range(3):
        talk.append(topic, batch(b"a", b"b", key=b"k"))
    return topic


@script(ApiKey.DELETE_RECORDS)
def delete_records(talk: Talk) -> None:
    topic = filled(talk, "t").name
    for offset in (0, 1, 3, 2, 3, -2, 7, 2**63 - 1, -(2**63), 6, 5, -1):
        label = f"to {offset} #{len(talk.answers)}"
        talk.ask(label, delete(topic, (0, offset)))
        talk.ask(f"{label}: earliest", question(topic, (0, -2, -1)), version=5)
        talk.ask(f"{label}: largest time", question(topic, (0, -3, -1)), version=7)
    talk.ask("empty partition to 0", delete(topic, (1, 0)))
    talk.ask("empty partition to -1", delete(topic, (1, -1)))
    talk.ask("empty partition to 1", delete(topic, (1, 1)))
    for index in (2, -1, 2**31 - 1):
        talk.ask(f"partition {index}", delete(topic, (index, 0)))
    for name in ("", ".", "a b", "x" * 250, talk.name("none"), "__cluster_metadata"):
        talk.ask(f"topic {talk.names.in_text(name)[:30]!r}", delete(name, (0, 0)))
    talk.ask("no topics", DeleteRecordsRequest([], 1000))
    talk.ask("no partitions", delete(topic))
    talk.ask("a partition twice", delete(topic, (1, 0), (1, 5)))
    talk.ask("good and bad", delete(topic, (1, 0), (9, 0)))
    talk.ask("timeout 0", delete(topic, (1, 0), timeout_ms=0))
    talk.ask("timeout -1", delete(topic, (1, 0), timeout_ms=-1))
    part = delete(topic, (1, 0)).topics[0]
    talk.ask("a topic twice", DeleteRecordsRequest([part, part], 1000))
    compacted = filled(talk, "compacted", cleanup_policy="compact").name
    talk.ask("compacted", delete(compacted, (0, 1)))
    both = filled(talk, "both", cleanup_policy="compact,delete").name
    talk.ask("compacted and deleted", delete(both, (0, 1)))
