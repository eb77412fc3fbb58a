"""Quotas set by one client hold for another: it receives throttle times, and is throttled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from tests.compatibility.clients.foreign import librdkafka
from tests.compatibility.clients.foreign.client import PATIENCE_S
from tests.support.raw_client import RawClient
from tests.support.waiting import wait_until

from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.xdist_group("quotas")


@pytest.fixture(scope="module")
def limited() -> Iterator[RunningBroker]:
    """A broker of its own, because quotas hold for all clients. It measures over three seconds, so
    that no client waits for long."""
    with RunningBroker(config={"quota.window.num": "3"}) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-20_000:]


def set_quota(bootstrap: str, key: str, value: float | None, **names: str | None) -> None:
    entity = [EntityData(kind.replace("_", "-"), name) for kind, name in names.items()]
    entry = EntryData(entity, [OpData(key, value or 0.0, value is None)])
    with RawClient(bootstrap, client_id="admin") as client:
        (answer,) = client.ask(AlterClientQuotasRequest([entry]), 1).entries
        assert answer.error_code == 0, answer


class Throttles:
    """Throttle times that a client of librdkafka has received, from its statistics."""

    def __init__(self) -> None:
        self.longest_ms = 0

    def settings(self, client_id: str) -> dict[str, Any]:
        return {"client.id": client_id, "statistics.interval.ms": 50, "stats_cb": self._note}

    def _note(self, text: str) -> None:
        for broker in json.loads(text)["brokers"].values():
            self.longest_ms = max(self.longest_ms, broker["throttle"]["max"])


def test_a_producer_of_librdkafka_is_slowed_down(limited: RunningBroker, topic: str) -> None:
    set_quota(limited.bootstrap_servers, "producer_byte_rate", 100_000, client_id="writer")
    reported = Throttles()
    producer = Producer(
        {
            "bootstrap.servers": limited.bootstrap_servers, "linger.ms": 0,
            **librdkafka.QUIET, **reported.settings("writer"),
        }
    )  # fmt: skip

    def is_reported() -> bool:
        producer.produce(topic, b"x" * 90_000)
        return producer.poll(0.05) >= 0 and reported.longest_ms > 500

    wait_until(is_reported, "the throttle time was reported")
    producer.purge()


def test_a_consumer_of_librdkafka_is_slowed_down_and_loses_nothing(
    limited: RunningBroker, topic: str
) -> None:
    settings = {"bootstrap.servers": limited.bootstrap_servers, "batch.num.messages": 1}
    producer = Producer({**settings, **librdkafka.QUIET})
    for _ in range(200):
        producer.produce(topic, b"x" * 10_000)
    assert producer.flush(PATIENCE_S) == 0
    set_quota(limited.bootstrap_servers, "consumer_byte_rate", 100_000, client_id="reader")
    reported = Throttles()
    with librdkafka.consumer(limited.bootstrap_servers, **reported.settings("reader")) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        found = librdkafka.read(reader, 25)
        while not reported.longest_ms and len(found) < 200:
            found += librdkafka.read(reader, 1)
        assert reported.longest_ms > 0
        set_quota(limited.bootstrap_servers, "consumer_byte_rate", None, client_id="reader")
        found += librdkafka.read(reader, 200 - len(found))
        assert [each.offset() for each in found] == list(range(200))


def test_requests_may_take_only_a_share_of_the_time(limited: RunningBroker) -> None:
    set_quota(limited.bootstrap_servers, "request_percentage", 0.01, client_id="asker")
    with RawClient(limited.bootstrap_servers, client_id="asker") as client:
        waits: list[int] = []
        while not any(waits) and len(waits) < 1000:
            waits.append(client.ask(MetadataRequest(None), 12).throttle_time_ms)
        assert 0 < waits[-1] <= 1000
        assert client.ask(MetadataRequest(None), 12).topics is not None


def test_an_address_that_opens_too_many_connections_is_refused(limited: RunningBroker) -> None:
    set_quota(limited.bootstrap_servers, "connection_creation_rate", 5, ip=None)
    tries = refused = 0
    while refused < 10:
        tries += 1
        try:
            with RawClient(limited.bootstrap_servers) as client:
                client.ask(MetadataRequest([]), 12)
        except OSError:
            refused += 1
        assert tries < 500, "no connection is refused"
    set_quota_when_let_in(limited)
    for _ in range(20):
        with RawClient(limited.bootstrap_servers) as client:
            client.ask(MetadataRequest([]), 12)


def set_quota_when_let_in(limited: RunningBroker) -> None:
    def is_set() -> bool:
        try:
            set_quota(limited.bootstrap_servers, "connection_creation_rate", None, ip=None)
        except OSError:
            return False
        return True

    wait_until(is_set, "a connection is let in")


def test_quotas_survive_a_kill(limited: RunningBroker, topic: str) -> None:
    set_quota(limited.bootstrap_servers, "producer_byte_rate", 1_000, client_id="after")
    limited.kill()
    limited.start()
    settings = {"bootstrap.servers": limited.bootstrap_servers, **librdkafka.QUIET}
    reported = Throttles()
    producer = Producer({**settings, **reported.settings("after")})
    producer.produce(topic, b"x" * 10_500)
    producer.flush(PATIENCE_S)
    wait_until(lambda: producer.poll(0.05) >= 0 and reported.longest_ms > 0, "it is throttled")
