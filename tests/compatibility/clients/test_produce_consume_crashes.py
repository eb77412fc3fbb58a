"""kill -9 in the middle of everything: nothing acknowledged is lost, nothing is stored twice."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from tests.compatibility.clients.clients import (
    AIOKAFKA,
    EVERY_CLIENT,
    JAVAS,
    KAFKA_PYTHON,
    KEEPING,
    LIBRDKAFKA,
    NAMES,
)
from tests.compatibility.clients.conftest import ClientOf
from tests.compatibility.clients.foreign import librdkafka
from tests.compatibility.clients.foreign.client import PATIENCE_S, How, Record
from tests.compatibility.clients.topics import create_topic
from tests.support.waiting import wait_until

from ottla.testing.broker import RunningBroker
from ottla.testing.ports import non_ephemeral_port

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("crashes")]


@pytest.fixture(scope="module")
def mortal() -> Iterator[RunningBroker]:
    """A broker that these tests may kill; it is running again when the next one begins."""
    with RunningBroker(config=KEEPING, port=non_ephemeral_port()) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-20_000:]


@pytest.mark.parametrize("name", EVERY_CLIENT)
def test_what_was_acknowledged_is_there_after_a_kill(
    mortal: RunningBroker, client_of: ClientOf, topic: str, name: str
) -> None:
    client = client_of(name, mortal.bootstrap_servers)
    sent = [Record(b"%d" % each, b"k", (("h", b"v"),), 1_700_000_000_000) for each in range(200)]
    for first in range(0, 200, 50):
        assert client.produce(topic, sent[first : first + 50], How("lz4"))[0] == first
    mortal.kill()
    mortal.start()
    stored = client.consume(topic, 200)
    assert [each.record for each in stored] == sent
    assert client.bounds(topic) == (0, 200)
    assert client.produce(topic, [Record(b"after")]) == [200]


def test_a_producer_continues_through_kills(
    mortal: RunningBroker, client_of: ClientOf, topic: str
) -> None:
    """It sends again what was not acknowledged, and no record is stored twice."""
    create_topic(mortal.bootstrap_servers, topic)
    acknowledged: dict[bytes, int] = {}
    settings = {
        "bootstrap.servers": mortal.bootstrap_servers, "enable.idempotence": True, "linger.ms": 1,
        "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100, "retry.backoff.ms": 20,
        **librdkafka.QUIET,
    }  # fmt: skip
    producer = Producer(settings)

    def delivered(error: object, message: Message) -> None:
        assert error is None
        acknowledged[message.value()] = message.offset()

    total = 0
    for _ in range(2):
        until = len(acknowledged) + 200
        while len(acknowledged) < until:  # so that some are in flight when it is killed
            producer.produce(topic, b"%d" % total, on_delivery=delivered)
            total += 1
            producer.poll(0 if total % 20 else 0.005)
        mortal.kill()
        mortal.start()
    assert producer.flush(PATIENCE_S) == 0
    assert len(acknowledged) == total
    stored = client_of("kafka-python", mortal.bootstrap_servers).consume(topic, total)
    assert [each.record.value for each in stored] == [b"%d" % each for each in range(total)]
    assert {each.record.value: each.offset for each in stored} == acknowledged


# Small batches and no double sending, in each client's own words.
STEADY: Mapping[str, Mapping[str, Any]] = {
    LIBRDKAFKA: {"enable.idempotence": True, "batch.num.messages": 5},
    KAFKA_PYTHON: {"enable_idempotence": True, "batch_size": 100},
    AIOKAFKA: {"enable_idempotence": True, "max_batch_size": 100},
    **{each: {"enable.idempotence": "true", "batch.size": "100"} for each in JAVAS},
}


@pytest.mark.parametrize("name", EVERY_CLIENT)
def test_every_client_sends_again_what_was_under_way(
    mortal: RunningBroker, client_of: ClientOf, topic: str, name: str
) -> None:
    create_topic(mortal.bootstrap_servers, topic)
    client = client_of(name, mortal.bootstrap_servers)
    sent = [Record(b"%d" % each) for each in range(3000)]
    with ThreadPoolExecutor(1) as writer:
        offsets = writer.submit(client.produce, topic, sent, How(extra=STEADY[name]))
        reader = client_of(LIBRDKAFKA, mortal.bootstrap_servers)
        wait_until(lambda: offsets.done() or reader.bounds(topic)[1] > 100, "it has begun")
        mortal.kill()
        mortal.start()
        assert offsets.result() == list(range(3000))
    stored = reader.consume(topic, 3000)
    assert [each.record.value for each in stored] == [each.value for each in sent]
    assert reader.bounds(topic) == (0, 3000)


def test_a_reader_continues_through_kills(
    mortal: RunningBroker, client_of: ClientOf, topic: str
) -> None:
    client = client_of("confluent-kafka", mortal.bootstrap_servers)
    settings = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100}
    create_topic(mortal.bootstrap_servers, topic)
    with librdkafka.consumer(mortal.bootstrap_servers, **settings) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        for round_ in range(2):
            client.produce(topic, [Record(b"%d" % each) for each in range(10)])
            found = read_through_errors(reader, 10)
            assert [each.offset() for each in found] == list(range(10 * round_, 10 * round_ + 10))
            mortal.kill()
            mortal.start()


def read_through_errors(reader: Consumer, count: int) -> list[Message]:
    """A lost connection is reported as an error, and the client reconnects by itself."""
    found: list[Message] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline_s:
        found += [each for each in reader.consume(count, 0.5) if each.error() is None]
    return found


@pytest.mark.java
def test_every_client_sees_the_same_offsets_by_time_after_a_kill(
    mortal: RunningBroker, client_of: ClientOf, topic: str
) -> None:
    """Indexes are rebuilt from the records."""
    writer = client_of("confluent-kafka", mortal.bootstrap_servers)
    for at in range(20):
        writer.produce(topic, [Record(b"x" * 1000, timestamp_ms=1_700_000_000_000 + at)] * 10)
    mortal.kill()
    mortal.start()
    for name in NAMES:
        client = client_of(name, mortal.bootstrap_servers)
        assert client.offset_for_time(topic, 1_700_000_000_013) == 130, name
