"""What one client writes, every other client reads, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from tests.compatibility.clients.clients import EVERY_CLIENT, EVERY_PAIR, KAFKA_PYTHON, RING
from tests.compatibility.clients.conftest import ClientOf
from tests.compatibility.clients.foreign.client import How, Record
from tests.compatibility.clients.foreign.kafka_python import missing_codecs

from ottla.testing.broker import RunningBroker

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
START_MS = 1_700_000_000_000


@cache
def records_of(codec: str) -> list[Record]:
    """Everything a record can be: null and empty are different things, and stay so."""
    number = CODECS.index(codec)
    at_ms = START_MS + number
    return [
        Record(b"", b"", (), at_ms),
        Record(None, b"tombstone", (), at_ms + 1_000),
        Record(b"no key", None, (("trace", b"1"),), at_ms + 2_000),
        Record(
            b"headers", b"k",
            (("same", b"1"), ("same", b"2"), ("empty", b""), ("", b"no name"), ("\u20ac", b"\xff")),
            at_ms - 5_000,
        ),
        Record(codec.encode() * 20_000, b"long", (), at_ms),
        *(Record(b"%d" % each, b"k%d" % (each % 7), (), at_ms + each) for each in range(100)),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def written(broker: RunningBroker, client_of: ClientOf) -> Callable[[str], str]:
    """The topic into which this client has written with every codec, once."""

    @cache
    def write(writer: str) -> str:
        topic = f"codecs-of-{writer}"
        client = client_of(writer, broker.bootstrap_servers)
        for codec in CODECS:
            client.produce(topic, records_of(codec), How(codec))
        return topic

    return write


@pytest.mark.parametrize(("writer", "reader"), EVERY_PAIR)
def test_every_codec_passes_from_client_to_client(
    broker: RunningBroker,
    client_of: ClientOf,
    written: Callable[[str], str],
    writer: str,
    reader: str,
) -> None:
    if KAFKA_PYTHON in (writer, reader) and (missing := missing_codecs()):
        pytest.skip(f"kafka-python has no library for {', '.join(missing)}")
    sent = [record for codec in CODECS for record in records_of(codec)]
    stored = client_of(reader, broker.bootstrap_servers).consume(written(writer), len(sent))
    assert [each.offset for each in stored] == list(range(len(sent)))
    assert [each.record for each in stored] == sent


@pytest.mark.parametrize("acks", ["0", "1", "all"])
@pytest.mark.parametrize(("writer", "reader"), RING)
def test_every_kind_of_acknowledgement_stores_the_records(
    broker: RunningBroker, client_of: ClientOf, topic: str, writer: str, reader: str, acks: str
) -> None:
    sent = [Record(b"%d" % each, None, (), START_MS + each) for each in range(50)]
    offsets = client_of(writer, broker.bootstrap_servers).produce(topic, sent, How(acks=acks))
    assert acks == "0" or offsets == list(range(50))
    stored = client_of(reader, broker.bootstrap_servers).consume(topic, 50)
    assert [each.record for each in stored] == sent


@pytest.mark.parametrize("writer", EVERY_CLIENT)
def test_records_without_a_time_get_the_producers(
    broker: RunningBroker, client_of: ClientOf, topic: str, writer: str
) -> None:
    client = client_of(writer, broker.bootstrap_servers)
    client.produce(topic, [Record(b"now")])
    (stored,) = client.consume(topic, 1)
    assert stored.record.timestamp_ms > START_MS
