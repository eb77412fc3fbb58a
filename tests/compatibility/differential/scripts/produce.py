"""Produce: good batches, every kind of bad one, and places that do not exist."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tests.compatibility.differential.batches import (
    TIME_MS,
    batch,
    changed,
    changed_blindly,
    mixed,
    old_message_set,
    with_body,
)
from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session, Topic

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

UNKNOWN_ID = b"0123456789abcdef"


def produce(
    topic: Topic, *data: tuple[int, bytes | bytearray | None], acks: int = -1, **more: object
) -> ProduceRequest:
    """Batches as (partition, bytes)."""
    partitions = [PartitionProduceData(index, records) for index, records in data]
    transactional_id = more.get("transactional_id")
    assert transactional_id is None or isinstance(transactional_id, str)
    timeout_ms = more.get("timeout_ms", 10_000)
    assert isinstance(timeout_ms, int)
    topics = [TopicProduceData(topic.name, topic.id, partitions)]
    return ProduceRequest(transactional_id, acks, timeout_ms, topics)


def stored(session: Session, label: str, topic: Topic) -> None:
    """What became of it all, as a consumer sees it."""
    wanted = FetchPartition(0, -1, 0, -1, -1, 1 << 20)
    request = FetchRequest(max_bytes=1 << 20, topics=[FetchTopic(topic.name, topic.id, [wanted])])
    session.ask(label, request, version=11)


GOOD = batch(b"one")


@script(ApiKey.PRODUCE)
def produce_good(session: Session) -> None:
    topic = session.topic("t", 2)
    for acks in (-1, 1):
        session.ask(f"one batch, acks {acks}", produce(topic, (0, GOOD), acks=acks))
    session.ask("acks 0", produce(topic, (0, GOOD), acks=0), may_be_silent=True)
    session.ask("two partitions", produce(topic, (0, GOOD), (1, batch(b"x", b"y"))))
    session.ask("two partitions, other order", produce(topic, (1, GOOD), (0, GOOD)))
    for codec in (1, 2, 3, 4):
        session.ask(f"codec {codec}", produce(topic, (0, batch(b"a", b"b" * 50, codec=codec))))
    session.ask(
        "keys and headers", produce(topic, (0, batch(b"v", key=b"k", headers=(("h", b"1"),))))
    )
    session.ask("null value", produce(topic, (0, batch(None, key=b"k"))))
    session.ask("empty value and key", produce(topic, (0, batch(b"", key=b""))))
    session.ask("null header value", produce(topic, (0, batch(b"v", headers=(("h", None),)))))
    session.ask("timeout 0", produce(topic, (0, GOOD), timeout_ms=0))
    session.ask("timeout -1", produce(topic, (0, GOOD), timeout_ms=-1))
    session.ask("base offset 77", produce(topic, (0, batch(b"a", b"b", base_offset=77))))
    session.ask("leader epoch 9", produce(topic, (0, batch(b"a", leader_epoch=9))))
    session.ask("transactional id, plain batch", produce(topic, (0, GOOD), transactional_id="x"))
    session.ask("empty transactional id", produce(topic, (0, GOOD), transactional_id=""))
    stored(session, "what was stored", topic)


@script(ApiKey.PRODUCE)
def produce_to_wrong_places(session: Session) -> None:
    topic = session.topic("t", 2)
    for acks in (2, -2, 127, -128):
        session.ask(f"acks {acks}", produce(topic, (0, GOOD), acks=acks))
    session.ask("acks 2, nothing to store", ProduceRequest(None, 2, 1000, []))
    session.ask("acks 2, several", produce(topic, (0, GOOD), (9, GOOD), (1, GOOD + GOOD), acks=2))
    session.ask("acks 2, zstd", produce(topic, (0, batch(b"a", codec=4)), acks=2))
    for acks in (-1, 1, 0):
        for index in (2, -1, 2**31 - 1):
            request = produce(topic, (index, GOOD), acks=acks)
            label = f"partition {index}, acks {acks}"
            session.ask(label, request, may_be_silent=acks == 0)
    stranger = Topic(session.name("none"), UNKNOWN_ID)
    session.ask("unknown topic", produce(stranger, (0, GOOD)))
    session.ask("unknown topic, two partitions", produce(stranger, (0, GOOD), (1, GOOD)))
    session.ask("unknown topic, acks 0", produce(stranger, (0, GOOD), acks=0), may_be_silent=True)
    for name in ("", ".", "a b", "x" * 250, "__cluster_metadata"):
        session.ask(f"topic {name[:40]!r}", produce(Topic(name, bytes(16)), (0, GOOD)))
    session.ask("no topics", ProduceRequest(None, -1, 1000, []))
    session.ask("no topics, acks 0", ProduceRequest(None, 0, 1000, []), may_be_silent=True)
    session.ask("no partitions", produce(topic))
    # Null records are not asked: Kafka never answers them.
    session.ask("empty records", produce(topic, (0, b"")))
    session.ask("good and bad", produce(topic, (0, GOOD), (5, GOOD), (1, GOOD)))
    stranger_part = produce(stranger, (0, GOOD)).topic_data[0]
    own_part = produce(topic, (0, GOOD)).topic_data[0]
    session.ask("two topics", ProduceRequest(None, -1, 1000, [stranger_part, own_part]))
    unasked = ProduceRequest(None, 0, 1000, [stranger_part, own_part])
    session.ask("two topics, acks 0", unasked, may_be_silent=True)
    stored(session, "what was stored", topic)
    for label, first, second in (
        ("a partition twice", [(0, GOOD), (0, GOOD)], []),
        ("a topic twice", [(0, GOOD)], [(0, GOOD)]),
        ("a topic in two parts", [(0, GOOD)], [(1, GOOD)]),
    ):
        fresh = session.topic(label.replace(" ", "-"), 2)
        parts = [produce(fresh, *each).topic_data[0] for each in (first, second) if each]
        session.ask(label, ProduceRequest(None, -1, 1000, parts))


def bad_batches(key: bytes | None) -> Iterator[tuple[str, bytes | bytearray]]:
    """Label and bytes; each is wrong in one way."""
    good, two = batch(b"one", key=key), batch(b"one", b"two", key=key)
    value_at = 5 + len(key or b"")  # in the records: where the length of the first value is
    yield "checksum off by one", changed_blindly(good, crc=1)
    yield "last bit flipped", good[:-1] + bytes([good[-1] ^ 1])
    yield "cut off by one", good[:-1]
    yield "cut off in the header", good[:40]
    yield "one byte", good[:1]
    yield "twelve bytes", good[:12]
    yield "sixteen bytes", good[:16]
    yield "one byte too many", good + b"\0"
    yield "twenty bytes too many", good + bytes(20)
    yield "two batches", good + two
    yield "a good one and a cut-off one", good + two[:30]
    for length in (0, -1, 1, 13, 48, 49, 2**31 - 1, -(2**31)):
        yield f"length {length}", changed_blindly(good, batch_length=length)
    for magic in (0, 1, 3, 127, 255):
        yield f"magic byte {magic}", changed_blindly(good, magic=magic)
    yield "message set 0", old_message_set(0)
    yield "message set 1", old_message_set(1)
    for count in (0, -1, 1, 3, 2**31 - 1):
        yield f"records count {count}", changed(two, records_count=count)
    for delta in (0, -1, 2, 2**31 - 1):
        yield f"last offset delta {delta}", changed(two, last_offset_delta=delta)
    yield "no records at all", with_body(changed(good, records_count=0), lambda _: b"")
    yield "count 1, no bytes", with_body(good, lambda _: b"")
    for attributes in (5, 6, 7):
        yield f"codec {attributes}", changed(good, attributes=attributes)
    for codec in (1, 2, 3, 4):
        yield f"not what codec {codec} makes", changed(good, attributes=codec)
        squeezed = batch(b"a" * 50, b"b" * 50, key=key, codec=codec)
        yield f"codec {codec} cut off", with_body(squeezed, lambda body: body[:-3])
        yield f"codec {codec} with more behind it", with_body(squeezed, lambda body: body + b"xx")
        yield f"codec {codec}, count 3", changed(squeezed, records_count=3, last_offset_delta=2)
        yield f"codec {codec}, count 1", changed(squeezed, records_count=1, last_offset_delta=0)
    yield "control batch", batch(b"\0\0\0\0", key=b"\0\0\0\0", is_control=True)
    yield "log append time bit", changed(good, attributes=8)
    yield "delete horizon bit", changed(good, attributes=0x40)
    yield "unused attributes", changed(good, attributes=0x80)
    yield "all unused attributes", changed(good, attributes=-128)
    yield "base offset -1", changed(good, base_offset=-1)
    yield "base offset 5 in two", changed(two, base_offset=5)
    yield "body with a byte too many", with_body(good, lambda body: body + b"\0")
    yield "body without its last byte", with_body(good, lambda body: body[:-1])
    yield "record length 0", with_body(good, lambda body: b"\0" + body[1:])
    yield "record length too large", with_body(good, lambda body: b"\x7e" + body[1:])
    yield "record length negative", with_body(good, lambda body: b"\x01" + body[1:])
    yield "record attributes 1", with_body(good, lambda body: body[:1] + b"\1" + body[2:])
    yield "record offset delta 1", with_body(good, lambda body: body[:3] + b"\2" + body[4:])
    yield "key length -2", with_body(good, lambda body: body[:4] + b"\3" + body[5:])
    yield "key length large", with_body(good, lambda body: body[:4] + b"\x7e" + body[5:])
    yield (
        "value length large",
        with_body(good, lambda body: body[:value_at] + b"\x7e" + body[value_at + 1 :]),
    )
    yield "headers count -1", with_body(good, lambda body: body[:-1] + b"\1")
    yield "headers count 1", with_body(good, lambda body: body[:-1] + b"\2")
    yield "base timestamp -1", batch(b"x", key=key, time_ms=-1)
    yield "base timestamp -2", batch(b"x", key=key, time_ms=-2)
    yield "timestamp 0", batch(b"x", key=key, time_ms=0)
    yield "max timestamp too small", changed(two, max_timestamp=0)
    yield "max timestamp too large", changed(two, max_timestamp=TIME_MS + 99)
    yield "max timestamp -1", changed(two, max_timestamp=-1)
    yield "timestamp in the year 33658", batch(b"x", key=key, time_ms=10**15)


BAD = dict(bad_batches(None))
BAD_WITH_KEYS = dict(bad_batches(b"key"))


# Each has a partition of its own, so that one which is stored moves no other.
@script(ApiKey.PRODUCE, versions=[3, 7, 8, 9, 12, 13])
def produce_bad_batches(session: Session) -> None:
    topic = session.topic("t", len(BAD))
    for index, (label, data) in enumerate(BAD.items()):
        session.ask(label, produce(topic, (index, data)))
    other = session.topic("other", 2)
    bad, old = changed_blindly(GOOD, crc=1), old_message_set(1)
    session.ask("good behind bad", produce(other, (0, bad), (1, GOOD)))
    session.ask("bad, acks 0", produce(other, (0, bad), acks=0), may_be_silent=True)
    session.ask("old, acks 0", produce(other, (0, old), acks=0), may_be_silent=True)
    session.ask("two batches, acks 1", produce(other, (0, GOOD + GOOD), acks=1))
    stored(session, "what was stored", other)


@script(ApiKey.PRODUCE)
def produce_to_compacted(session: Session) -> None:
    topic = session.topic("t", 1, {"cleanup.policy": "compact"})
    session.ask("no key", produce(topic, (0, batch(b"v"))))
    session.ask("key", produce(topic, (0, batch(b"v", key=b"k"))))
    session.ask("empty key", produce(topic, (0, batch(b"v", key=b""))))
    session.ask("tombstone", produce(topic, (0, batch(None, key=b"k"))))
    session.ask("two without key of four", produce(topic, (0, mixed(b"k", None, b"", None))))
    for codec in (1, 2, 3, 4):
        session.ask(f"no key, codec {codec}", produce(topic, (0, batch(b"v", codec=codec))))
        session.ask(f"key, codec {codec}", produce(topic, (0, batch(b"v", key=b"k", codec=codec))))
    stored(session, "what was stored", topic)


@script(ApiKey.PRODUCE, versions=[3, 13])
def produce_bad_batches_to_compacted(session: Session) -> None:
    topic = session.topic("t", len(BAD), {"cleanup.policy": "compact"})
    for index, (label, data) in enumerate(BAD_WITH_KEYS.items()):
        session.ask(label, produce(topic, (index, data)))


@script(ApiKey.PRODUCE)
def produce_with_settings(session: Session) -> None:
    small = session.topic("small", 1, {"max.message.bytes": "100"})
    for size in (20, 28, 29, 30, 31, 32, 33, 34, 35, 200, 5000):
        session.ask(f"value of {size} bytes", produce(small, (0, batch(b"x" * size))))
    session.ask("squeezed below the limit", produce(small, (0, batch(b"x" * 500, codec=1))))
    session.ask("two batches, each below", produce(small, (0, batch(b"x" * 20) + batch(b"x" * 20))))
    stored(session, "what was stored in small", small)
    stamped = session.topic("stamped", 1, {"message.timestamp.type": "LogAppendTime"})
    session.ask("log append time", produce(stamped, (0, GOOD)))
    session.ask("log append time, two records", produce(stamped, (0, batch(b"a", b"b", codec=1))))
    session.ask("log append time, no time", produce(stamped, (0, batch(b"a", time_ms=-1))))
    stored(session, "what was stored with times", stamped)
    near = {"message.timestamp.before.max.ms": "1000", "message.timestamp.after.max.ms": "1000"}
    bounded = session.topic("bounded", 1, near)
    session.ask("too early", produce(bounded, (0, GOOD)))
    session.ask("two too early", produce(bounded, (0, batch(b"a", b"b"))))
    session.ask("too late", produce(bounded, (0, batch(b"a", time_ms=10**15))))
    session.ask("no time", produce(bounded, (0, batch(b"a", time_ms=-1))))
    session.ask("too early, codec 1", produce(bounded, (0, batch(b"a", b"b", codec=1))))
    squeezing = session.topic("squeezing", 1, {"compression.type": "gzip"})
    session.ask("recompressed", produce(squeezing, (0, batch(b"a", b"b"))))
    session.ask("recompressed from zstd", produce(squeezing, (0, batch(b"a", b"b", codec=4))))
    plain = session.topic("plain", 1, {"compression.type": "uncompressed"})
    session.ask("decompressed", produce(plain, (0, batch(b"a", b"b", codec=1))))
    stored(session, "what was stored uncompressed", plain)
    safe = session.topic("safe", 1, {"min.insync.replicas": "2"})
    for acks in (-1, 1):
        session.ask(f"too few replicas, acks {acks}", produce(safe, (0, GOOD), acks=acks))
    stored(session, "what was stored with too few replicas", safe)


def new_producer(session: Session) -> int:
    producer_id: int = session.once_ready(InitProducerIdRequest(None, 60_000), 4).producer_id
    return producer_id


@script(ApiKey.PRODUCE)
def produce_idempotently(session: Session) -> None:
    topic = session.topic("t", 2)
    producer_id = new_producer(session)

    def send(label: str, sequence: int, epoch: int = 0, count: int = 1, **more: int) -> None:
        values = [b"v"] * count
        producer = (more.get("producer_id", producer_id), epoch, sequence)
        data = batch(*values, producer=producer)
        session.ask(
            label, produce(topic, (more.get("partition", 0), data), acks=more.get("acks", -1))
        )

    send("first", 0)
    send("first again", 0)
    send("second", 1, count=3)
    send("second again", 1, count=3)
    send("part of the second", 2, count=1)
    send("second, but longer", 1, count=4)
    send("a gap", 9)
    send("negative sequence", -1)
    send("sequence -2", -2)
    for sequence in range(4, 10):
        send(f"sequence {sequence}", sequence)
    send("older than the window", 0)
    send("the oldest in the window", 5)
    send("acks 1", 10, acks=1)
    send("acks 1 again", 10, acks=1)
    send("newer epoch, wrong sequence", 5, epoch=1)
    send("newer epoch", 0, epoch=1)
    send("older epoch", 11)
    send("negative epoch", 1, epoch=-1)
    send("epoch -2", 1, epoch=-2)
    send("highest epoch", 0, epoch=32767)
    send("unknown producer", 0, producer_id=producer_id + 100_000)
    send("unknown producer, later sequence", 7, producer_id=producer_id + 100_001)
    send("no producer, but a sequence", 0, producer_id=-1)
    send("no producer, no epoch, but a sequence", 0, epoch=-1, producer_id=-1)
    two = batch(b"a", producer=(producer_id, 0, 0)) + batch(b"b", producer=(producer_id, 0, 1))
    session.ask("two batches of a producer", produce(topic, (1, two)))
    send("last sequence on the other", 2**31 - 1, partition=1)
    other = producer_id + 100_002
    send("last sequence first", 2**31 - 1, producer_id=other)
    send("wrapped to 0", 0, producer_id=other)
    send("wrapped, a gap", 5, producer_id=other)
    stored(session, "what was stored", topic)
    send("producer -2", 0, producer_id=-2)


@script(ApiKey.PRODUCE)
def produce_transactionally_without(session: Session) -> None:
    """Batches that claim a transaction which was not begun."""
    topic = session.topic("t")
    producer_id = new_producer(session)
    data = batch(b"v", producer=(producer_id, 0, 0), is_transactional=True)
    session.ask("no transactional id", produce(topic, (0, data)))
    without_producer = batch(b"v", is_transactional=True)
    session.ask("no producer", produce(topic, (0, without_producer)))
    session.ask("no producer, no transactional id", produce(topic, (0, without_producer), acks=1))
    marker = struct.pack(">hi", 0, 1)
    control = batch(
        marker,
        key=b"\0\0\0\1",
        is_control=True,
        is_transactional=True,
        producer=(producer_id, 0, -1),
    )
    session.ask("marker", produce(topic, (0, control)))
    stored(session, "what was stored", topic)
