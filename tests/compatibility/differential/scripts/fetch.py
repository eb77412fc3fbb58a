"""Fetch without sessions: offsets, sizes, epochs, isolation, and places that do not exist."""

from __future__ import annotations

from collections.abc import Sequence

from tests.compatibility.differential.batches import TIME_MS, batch
from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session, Topic

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)

UNKNOWN_ID = b"0123456789abcdef"
ENOUGH = 1 << 20


def wanted(
    partition: int = 0, offset: int = 0, max_bytes: int = ENOUGH, **more: int
) -> FetchPartition:
    return FetchPartition(
        partition,
        more.get("epoch", -1),
        offset,
        more.get("last_epoch", -1),
        more.get("log_start", -1),
        max_bytes,
    )


def fetch(
    topic: Topic,
    *partitions: FetchPartition,
    max_bytes: int = ENOUGH,
    isolation: int = 0,
    fetch_session: tuple[int, int] = (0, -1),
    forgotten: Sequence[tuple[Topic, int]] = (),
    **more: int,
) -> FetchRequest:
    topics = [FetchTopic(topic.name, topic.id, partitions)] if partitions else []
    return FetchRequest(
        max_wait_ms=more.get("max_wait_ms", 0),
        min_bytes=more.get("min_bytes", 0),
        max_bytes=max_bytes,
        isolation_level=isolation,
        session_id=fetch_session[0],
        session_epoch=fetch_session[1],
        topics=topics,
        forgotten_topics_data=[
            ForgottenTopic(each.name, each.id, [index]) for each, index in forgotten
        ],
    )


def filled(session: Session, name: str, partitions: int = 1) -> Topic:
    topic = session.topic(name, partitions)
    for index in range(partitions):
        session.append(topic, batch(b"a", b"b", b"c"), index)
        session.append(topic, batch(b"d", time_ms=TIME_MS + 10), index)
        session.append(topic, batch(b"e", b"f", codec=1, time_ms=TIME_MS + 20), index)
    return topic


@script(ApiKey.FETCH)
def fetch_records(session: Session) -> None:
    topic = filled(session, "t", 2)
    for offset in (0, 1, 2, 3, 4, 5, 6, 7, 100, -1, -2, 2**63 - 1, -(2**63)):
        session.ask(f"offset {offset}", fetch(topic, wanted(offset=offset)))
    for size in (0, 1, 60, 61, 89, 90, 91, 159, 160, 170, 1000, -1, -(2**31), 2**31 - 1):
        session.ask(f"partition bytes {size}", fetch(topic, wanted(max_bytes=size)))
        session.ask(f"bytes {size}", fetch(topic, wanted(), max_bytes=size))
        two = fetch(topic, wanted(0), wanted(1), max_bytes=size)
        session.ask(f"two partitions, bytes {size}", two)
        both = fetch(topic, wanted(0, 0, size), wanted(1, 0, size))
        session.ask(f"two partitions, each bytes {size}", both)
    for isolation in (1, 2, -1):
        session.ask(f"isolation {isolation}", fetch(topic, wanted(), isolation=isolation))
        request = fetch(topic, wanted(offset=6), isolation=isolation)
        session.ask(f"isolation {isolation} at the end", request)
    for size in (0, 61, 100, 160):
        both = fetch(topic, wanted(0), wanted(1), max_bytes=size, isolation=1)
        session.ask(f"two partitions, committed, bytes {size}", both)
    for epoch in (0, 1, -2, 2**31 - 1):
        session.ask(f"epoch {epoch}", fetch(topic, wanted(epoch=epoch)))
        session.ask(f"epoch {epoch}, beyond the end", fetch(topic, wanted(offset=99, epoch=epoch)))
    for epoch in (0, 1, -2):
        session.ask(f"last epoch {epoch}", fetch(topic, wanted(offset=2, last_epoch=epoch)))
        session.ask(f"last epoch {epoch} at 0", fetch(topic, wanted(last_epoch=epoch)))
        session.ask(
            f"last epoch {epoch}, beyond", fetch(topic, wanted(offset=50, last_epoch=epoch))
        )
    session.ask("log start 3", fetch(topic, wanted(log_start=3)))
    session.ask("log start 99", fetch(topic, wanted(log_start=99)))
    for bytes_ in (0, 1, 10_000, -1, 2**31 - 1):
        request = fetch(topic, wanted(offset=6), min_bytes=bytes_, max_wait_ms=20)
        session.ask(f"at the end, min bytes {bytes_}", request)
        request = fetch(topic, wanted(), min_bytes=bytes_, max_wait_ms=20)
        session.ask(f"min bytes {bytes_}", request)
    session.ask("max wait -1", fetch(topic, wanted(offset=6), min_bytes=1, max_wait_ms=-1))
    session.ask("min bytes 1, no wait", fetch(topic, wanted(offset=6), min_bytes=1))


@script(ApiKey.FETCH)
def fetch_from_wrong_places(session: Session) -> None:
    topic, other = filled(session, "t", 2), filled(session, "other")
    empty = session.topic("empty")
    for index in (2, -1, 2**31 - 1):
        session.ask(f"partition {index}", fetch(topic, wanted(index)))
        session.ask(f"partition {index} with an epoch", fetch(topic, wanted(index, epoch=5)))
    session.ask("good and bad", fetch(topic, wanted(0), wanted(7), wanted(1, 99)))
    session.ask("bad, with patience", fetch(topic, wanted(7), min_bytes=1, max_wait_ms=60_000))
    late = fetch(topic, wanted(0, 99), min_bytes=1, max_wait_ms=60_000)
    session.ask("beyond the end, with patience", late)
    stranger = Topic(session.name("none"), UNKNOWN_ID)
    session.ask("unknown topic", fetch(stranger, wanted()))
    patient = fetch(stranger, wanted(), min_bytes=1, max_wait_ms=60_000)
    session.ask("unknown topic, with patience", patient)
    for name in ("", ".", "a b", "x" * 250, "__cluster_metadata"):
        session.ask(f"topic {name[:40]!r}", fetch(Topic(name, bytes(16)), wanted()))
    session.ask("nothing", fetch(topic))
    no_partitions = FetchRequest(topics=[FetchTopic(topic.name, topic.id, [])])
    session.ask("no partitions", no_partitions)
    session.ask("nothing, max bytes 0", fetch(topic, max_bytes=0))
    session.ask("empty topic", fetch(empty, wanted()))
    session.ask("empty topic, offset 1", fetch(empty, wanted(0, 1)))
    session.ask("a partition twice", fetch(topic, wanted(0), wanted(0, 3)))
    session.ask("a bad partition twice", fetch(topic, wanted(9), wanted(9)))
    several = [fetch(each, wanted()).topics[0] for each in (stranger, topic, other, topic)]
    session.ask("topics, one twice", FetchRequest(topics=several))
    session.ask("three topics", FetchRequest(topics=several[:3]))
    session.ask(
        "a topic in two parts",
        FetchRequest(topics=[*fetch(topic, wanted(1)).topics, *several[1:2]]),
    )
    session.ask("forgotten without a session", fetch(topic, wanted(), forgotten=[(topic, 1)]))
    for replica in (-1, -2, -3):
        request = fetch(topic, wanted())
        request.replica_id = replica
        session.ask(f"replica {replica}", request)
        request = fetch(topic, wanted())
        request.replica_state = ReplicaState(replica, -1)
        session.ask(f"replica state {replica}", request)
    for cluster_id in (None, "", "somebody else's"):
        request = fetch(topic, wanted())
        request.cluster_id = cluster_id
        session.ask(f"cluster id {cluster_id!r}", request)
    request = fetch(topic, wanted())
    request.rack_id = "a rack"
    session.ask("rack", request)


@script(ApiKey.FETCH)
def fetch_as_follower(session: Session) -> None:
    """What a broker gets that is none of this topic's replicas."""
    topic = filled(session, "t")
    for replica in (0, 1, 2, 2**31 - 1):
        for offset in (0, 6, 99):
            request = fetch(topic, wanted(0, offset, epoch=0))
            request.replica_id = replica
            session.ask(f"replica {replica} at {offset}", request)
            request = fetch(topic, wanted(0, offset, epoch=0))
            request.replica_state = ReplicaState(replica, -1)
            session.ask(f"replica state {replica} at {offset}", request)
        request = fetch(topic, wanted(0, 0))
        request.replica_state = ReplicaState(replica, 99)
        session.ask(f"replica state {replica}, epoch 99", request)


@script(ApiKey.FETCH)
def fetch_after_changes(session: Session) -> None:
    zstd = session.topic("zstd", 1, {"compression.type": "zstd"})
    session.append(zstd, batch(b"a" * 10, codec=4))
    session.ask("topic with zstd", fetch(zstd, wanted()))
    mixed = session.topic("mixed")
    session.append(mixed, batch(b"a" * 10, codec=4))
    session.ask("zstd by a producer", fetch(mixed, wanted()))
    stamped = session.topic("stamped", 1, {"message.timestamp.type": "LogAppendTime"})
    session.append(stamped, batch(b"a", b"b"))
    session.ask("log append time", fetch(stamped, wanted()))
    small = session.topic("small", 1, {"segment.bytes": str(1 << 20)})
    for value in (b"x" * 700_000, b"y" * 700_000, b"z"):
        session.append(small, batch(value))
    for offset in (0, 1, 2, 3):
        session.ask(f"two segments, offset {offset}", fetch(small, wanted(0, offset, 1000)))
        session.ask(
            f"two segments, much, offset {offset}",
            fetch(small, wanted(0, offset, 1 << 22), max_bytes=1 << 22),
        )
