"""A topic and a group of other people's consumers that read it; which kinds of those there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewPartitions
from tests.compatibility.clients.clients import AIOKAFKA, JAVAS, KAFKA_PYTHON, LIBRDKAFKA
from tests.compatibility.clients.foreign.client import PATIENCE_S
from tests.compatibility.clients.foreign.librdkafka import QUIET
from tests.compatibility.clients.group_member import MortalReader
from tests.compatibility.clients.group_readers import READERS, JavaReader, Reader, wait_until
from tests.compatibility.clients.topics import admin_of, only
from tests.support.oracle import OracleOf
from tests.support.raw_client import RawClient

PARTITIONS = 6

CONSUMER = {"group.protocol": "consumer"}
CLASSIC = {"group.protocol": "classic", "heartbeat.interval.ms": 500, "session.timeout.ms": 45_000}
COOPERATIVE = {**CLASSIC, "partition.assignment.strategy": "cooperative-sticky"}
JAVA_COOPERATIVE = {
    **CLASSIC,
    "partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}


def kind(client: str, settings: Mapping[str, Any], name: str = "") -> Any:
    marks = [pytest.mark.java] if client in JAVAS else []
    return pytest.param(client, settings, marks=marks, id=f"{client}{name}")


PROTOCOLS = [
    kind(LIBRDKAFKA, CLASSIC),
    kind(LIBRDKAFKA, CONSUMER, "-consumer"),
    kind(KAFKA_PYTHON, {}),
    kind(AIOKAFKA, {}),
    *(kind(release, CLASSIC) for release in JAVAS),
    *(kind(release, CONSUMER, "-consumer") for release in JAVAS),
]
KINDS = [
    *PROTOCOLS,
    kind(LIBRDKAFKA, COOPERATIVE, "-cooperative"),
    *(kind(release, JAVA_COOPERATIVE, "-cooperative") for release in JAVAS),
]


class Group:
    """A topic, its records, and a group that reads it."""

    def __init__(
        self, bootstrap: str, name: str, readers: list[Reader], oracle_of: OracleOf
    ) -> None:
        self.bootstrap, self.name, self.readers = bootstrap, name, readers
        self._oracle_of = oracle_of
        self._partitions = PARTITIONS
        self.sent: list[bytes] = []
        with RawClient(bootstrap) as client:
            client.create_topic(name, PARTITIONS)

    def grow(self, partitions: int) -> None:
        admin = admin_of(self.bootstrap)
        only(admin.create_partitions([NewPartitions(self.name, partitions)]))
        self._partitions = partitions

    def send(self, count: int) -> None:
        """So many records to each partition, all of them different."""
        producer = Producer({"bootstrap.servers": self.bootstrap, **QUIET})
        for partition in range(self._partitions):
            first = len(self.sent)
            self.sent += [b"%d" % at for at in range(first, first + count)]
            for value in self.sent[first:]:
                producer.produce(self.name, value, partition=partition)
        assert producer.flush(PATIENCE_S) == 0

    def reader(self, client: str, **settings: Any) -> Reader:
        place = (self.bootstrap, f"group-{self.name}", self.name)
        if client in READERS:
            return self.add(READERS[client](*place, **settings))
        return self.add(JavaReader(self._oracle_of(client), *place, **settings))

    def mortal_reader(self, client: str, **settings: Any) -> MortalReader:
        reader = MortalReader(client, self.bootstrap, f"group-{self.name}", self.name, **settings)
        self.readers.append(reader)
        return reader

    def add(self, reader: Reader) -> Reader:
        self.readers.append(reader)
        return reader

    def leave(self, reader: Reader) -> None:
        self.readers.remove(reader)
        reader.leave()

    def wait_read(self, by: list[Reader]) -> None:
        """Until everything that was sent has been read, and each record once."""
        wait_until(lambda: sum(len(each.records) for each in by) >= len(self.sent), by)
        read = [record for each in by for record in each.records]
        assert sorted(read) == sorted(self.sent)
