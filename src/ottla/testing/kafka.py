"""What one test does with Kafka: topics of its own, writing, reading, comparing.

Promises  names are the test's own, so tests may run at the same time on one cluster; what `topic`
          made is deleted when the test ends. `produce` returns when everything is acknowledged.
Leaves    the protocol to confluent-kafka.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any

from ottla.testing.broker import as_settings
from ottla.testing.clients import Clients, load
from ottla.testing.differences import counted, difference, listed, shown
from ottla.testing.records import Record, Rows, as_record, rows_of

PATIENCE_S = 30.0  # with what must be answered
TIMEOUT_S = 10.0  # with what may come later
REPORT_S = 5.0  # for what failing tests show, also of a broker that they have killed
POLL_S = 0.05
DUMPED_RECORDS = 20


class Kafka:
    """What one test does with a cluster; the fixture `kafka` is one of these."""

    def __init__(self, bootstrap_servers: str | Clients, prefix: str | None = None) -> None:
        if isinstance(bootstrap_servers, str):
            bootstrap_servers = Clients(bootstrap_servers)
        self._clients = bootstrap_servers
        self.prefix = f"test-{token_hex(4)}-" if prefix is None else prefix
        self.topics: dict[str, str] = {}  # by the name that the test gave

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect, as `host:port`."""
        return self._clients.bootstrap_servers

    @property
    def admin(self) -> Any:
        """An AdminClient of confluent-kafka."""
        return self._clients.admin

    def name(self, name: str) -> str:
        """A name that no other test has: for groups, transactional ids, and the like."""
        return self.prefix + name

    def topic(
        self, name: str = "topic", partitions: int = 1, config: Mapping[str, Any] | None = None
    ) -> str:
        """Create a topic; its full name. Other methods take the short one as well."""
        new_topic = load("confluent_kafka.admin", "NewTopic")
        full = self.name(name)
        wanted = new_topic(full, partitions, config=as_settings(config))
        self.admin.create_topics([wanted])[full].result(PATIENCE_S)
        self._wait_for(full)
        self.topics[name] = full
        return full

    def _wait_for(self, topic: str) -> None:
        """Apache Kafka answers for a new topic before its brokers know of it."""
        end_s = time.monotonic() + PATIENCE_S
        while self.admin.list_topics(topic, timeout=PATIENCE_S).topics[topic].error is not None:
            if time.monotonic() > end_s:
                raise RuntimeError(f"topic {topic} was created and is not there")
            time.sleep(0.05)

    def produce(self, topic: str, rows: Rows) -> list[Record]:
        """Write records, and wait until all are acknowledged; the records, with their offsets.

        `rows` is a list, or a single row: text is one record.
        """
        records = [as_record(row) for row in rows_of(rows)]
        full = self.topics.get(topic, topic)
        delivered: list[Record] = []
        failed: list[str] = []

        def note(error: Any, message: Any) -> None:
            if error is None:
                delivered.append(from_message(message))
            else:
                failed.append(error.str())

        for record in records:
            self._send(full, record, note)
        self._clients.producer.flush(PATIENCE_S)
        if failed or len(self._clients.producer):
            what = failed[0] if failed else f"not acknowledged within {PATIENCE_S:g} s"
            raise RuntimeError(f"writing to {full}: {what}")
        return delivered

    def _send(self, topic: str, record: Record, note: Any) -> None:
        extra = {"timestamp": record.timestamp_ms} if record.timestamp_ms >= 0 else {}
        if record.partition >= 0:
            extra["partition"] = record.partition
        producer = self._clients.producer
        while True:
            try:
                producer.produce(
                    topic, record.value, record.key,
                    headers=list(record.headers), on_delivery=note, **extra,
                )  # fmt: skip
                return
            except BufferError:
                producer.poll(POLL_S)

    def consume(self, topic: str, n: int | None = None, timeout: float = TIMEOUT_S) -> list[Record]:
        """The first `n` records of a topic, waiting for them; without `n` all that there are now.

        Every call begins at the start. Records of several partitions come partition by partition.
        AssertionError if they do not come within `timeout` seconds.
        """
        __tracebackhide__ = True
        full = self.topics.get(topic, topic)
        found = self._read(full, n or 0, timeout)
        if n is not None and len(found) < n:
            lines = [f"expected {n} records in {topic} within {timeout:g} s, found {len(found)}"]
            raise AssertionError("\n".join(lines + listed([f"  {shown(each)}" for each in found])))
        return found[:n]

    def assert_messages(
        self,
        topic: str,
        expected: Rows,
        *,
        any_order: bool = False,
        timeout: float = TIMEOUT_S,
    ) -> None:
        """A topic holds these records, and no others; waits for them to come."""
        __tracebackhide__ = True
        rows = rows_of(expected)
        found = self._read(self.topics.get(topic, topic), len(rows), timeout)
        problem = difference(found, rows, any_order=any_order)
        if problem is not None:
            raise AssertionError(f"{topic}: {problem}")

    def _read(
        self, topic: str, at_least: int, timeout: float, patience_s: float = PATIENCE_S
    ) -> list[Record]:
        """Up to the end of every partition, which `patience_s` is for, and then on until there are
        `at_least` so many, or the time is up."""
        partition = load("confluent_kafka", "TopicPartition")
        start = load("confluent_kafka", "OFFSET_BEGINNING")
        consumer = self._clients.consumer(READER)
        try:
            numbers = consumer.list_topics(topic, timeout=patience_s).topics[topic].partitions
            if not numbers:
                raise AssertionError(f"there is no topic {topic}")
            consumer.assign([partition(topic, number, start) for number in numbers])
            found = read_to_end(consumer, set(numbers), patience_s)
            found += read_more(consumer, at_least - len(found), timeout)
        finally:
            consumer.close()
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def wait_lag_zero(self, group: str, topic: str, timeout: float = TIMEOUT_S) -> None:
        """Until the group has committed everything that is in the topic now."""
        __tracebackhide__ = True
        full = self.topics.get(topic, topic)
        partition = load("confluent_kafka", "TopicPartition")
        consumer = self._clients.consumer({"group.id": group, "enable.auto.commit": False})
        try:
            numbers = consumer.list_topics(full, timeout=PATIENCE_S).topics[full].partitions
            places = [partition(full, number) for number in numbers]
            ends = [consumer.get_watermark_offsets(each, PATIENCE_S)[1] for each in places]
            deadline_s = time.monotonic() + timeout
            while (lag := sum(lags(committed := consumer.committed(places, PATIENCE_S), ends))) > 0:
                if time.monotonic() > deadline_s:
                    nothing = all(each.offset < 0 for each in committed)
                    why = " and has committed nothing" if nothing else ""
                    raise AssertionError(f"group {group} lags {counted(lag)} in {topic}{why}")
                time.sleep(POLL_S)
        finally:
            consumer.close()

    def dump(self) -> str:
        """What is in the topics of this test: for the report of a failure."""
        parts = []
        for name, full in self.topics.items():
            found = self._read(full, 0, 0, REPORT_S)
            left_out = max(0, len(found) - DUMPED_RECORDS)
            lines = [f"{name} ({full}): {counted(len(found))}", *(["  ..."] if left_out else [])]
            parts += [*lines, *(f"  {shown(each)}" for each in found[left_out:])]
        return "\n".join(parts)

    def close(self) -> None:
        """Delete the topics that were made here."""
        if self.topics:
            futures = self.admin.delete_topics(list(self.topics.values()), request_timeout=1)
            for future in futures.values():
                future.exception(PATIENCE_S)  # it may be gone already, or the whole broker
            self.topics.clear()


READER = {
    "group.id": "ottla-testing",  # librdkafka wants a name; no group is joined
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "fetch.wait.max.ms": 10,
}


def read_to_end(consumer: Any, reading: set[int], patience_s: float) -> list[Record]:
    """All that is in these partitions now."""
    end_of_partition = load("confluent_kafka", "KafkaError")._PARTITION_EOF
    found: list[Record] = []
    deadline_s = time.monotonic() + patience_s
    while reading and time.monotonic() < deadline_s:
        message = consumer.poll(POLL_S)
        if message is None:
            continue
        error = message.error()
        if error is None:
            found.append(from_message(message))
        elif error.code() == end_of_partition:
            reading.discard(message.partition())
    return found


def read_more(consumer: Any, count: int, timeout: float) -> list[Record]:
    """So many records that come later, or as many as come in time."""
    found: list[Record] = []
    deadline_s = time.monotonic() + timeout
    while len(found) < count and time.monotonic() < deadline_s:
        message = consumer.poll(POLL_S)
        if message is not None and message.error() is None:
            found.append(from_message(message))
    return found


def lags(committed: Sequence[Any], ends: Sequence[int]) -> list[int]:
    return [end - max(0, each.offset) for each, end in zip(committed, ends, strict=True)]


def from_message(message: Any) -> Record:
    return Record(
        message.value(),
        message.key(),
        tuple(message.headers() or ()),
        message.topic(),
        message.partition(),
        message.offset(),
        message.timestamp()[1],
    )
