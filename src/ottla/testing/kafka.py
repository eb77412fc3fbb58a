"""What one test does with Kafka: topics of its own, writing, reading, comparing.

Promises  names are the test's own, so tests may run at the same time on one cluster; its topics and
          groups are deleted when the test ends. `produce` returns when everything is acknowledged.
Leaves    the protocol to confluent-kafka.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any

from ottla.testing.async_broker import AsyncBroker
from ottla.testing.broker import RunningBroker, as_settings
from ottla.testing.clients import Clients, load
from ottla.testing.differences import counted, difference, listed, shown
from ottla.testing.external import problem_with
from ottla.testing.given import require_count, require_name, require_seconds
from ottla.testing.leftovers import ClusterLeftovers
from ottla.testing.received import POLL_S, NoSuchTopic, NotReadToTheEnd, from_message, read_topic
from ottla.testing.records import Record, Rows, as_record, rows_of

REQUEST_TIMEOUT_S = 30.0  # with what must be answered
TIMEOUT_S = 10.0  # with what may come later
REPORT_S = 5.0  # for what failing tests show, also of a broker that they have killed
DISK_MS = 5_000  # to ask for the reason of a refused write
DUMPED_RECORDS = 20


class Kafka:
    """The operations of one test on a cluster; the fixture `kafka` is one of these."""

    def __init__(
        self,
        bootstrap_servers: str | Clients | RunningBroker | AsyncBroker,
        prefix: str | None = None,
        *,
        broker: RunningBroker | None = None,
        is_alone: bool = False,
    ) -> None:
        """Use a cluster by its address, or a broker of this package.

        `prefix` begins the names of topics and groups (default: a random one).

        `broker` is the one at this address, if it is ours: errors say when it is not running.
        `is_alone` means that no other client uses the cluster: `close` deletes every topic
        and group that is new.
        """
        __tracebackhide__ = True
        if isinstance(bootstrap_servers, AsyncBroker):
            bootstrap_servers = bootstrap_servers.broker
        if isinstance(bootstrap_servers, RunningBroker):
            broker, bootstrap_servers = bootstrap_servers, bootstrap_servers.bootstrap_servers
        if not bootstrap_servers:
            raise ValueError("no address of a broker: was it started?")
        if not isinstance(bootstrap_servers, str | Clients):
            raise TypeError(f"{bootstrap_servers!r} is neither an address nor a broker")
        self._has_own_clients = isinstance(bootstrap_servers, str)
        if isinstance(bootstrap_servers, str):
            bootstrap_servers = Clients(bootstrap_servers)
        self._clients = bootstrap_servers
        self._broker = broker
        self._was_reached = False  # a cluster that is not ours
        self.prefix = f"test-{token_hex(4)}-" if prefix is None else prefix
        self.topics: dict[str, str] = {}  # by the name that the test gave
        self._names: dict[str, str] = {}  # given out by `name`
        self._leftovers = ClusterLeftovers(lambda: self.admin, self.prefix, is_alone=is_alone)

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
        __tracebackhide__ = True
        require_name(name, "topic or group")
        return self._names.setdefault(name, self.prefix + name)

    def topic(
        self, name: str = "topic", partitions: int = 1, config: Mapping[str, Any] | None = None
    ) -> str:
        """Create a topic; its full name. Other methods take the short one as well."""
        __tracebackhide__ = True
        self._require(name)
        if not isinstance(partitions, int):
            raise TypeError(f"partitions={partitions!r} is not a number; settings are config=")
        require_count("partitions", partitions, 1)
        new_topic = load("confluent_kafka.admin", "NewTopic")
        full = self.prefix + name
        wanted = new_topic(full, partitions, config=as_settings(config))
        try:
            self.admin.create_topics([wanted])[full].result(REQUEST_TIMEOUT_S)
        except (load("confluent_kafka", "KafkaException"), TimeoutError) as error:
            raise RuntimeError(f"topic {name} cannot be created: {self._why(error)}") from None
        self._wait_for(full)
        self.topics[name] = full
        return full

    def _wait_for(self, topic: str) -> None:
        """Apache Kafka answers for a new topic before its brokers know of it."""
        end_s = time.monotonic() + REQUEST_TIMEOUT_S
        while (
            self.admin.list_topics(topic, timeout=REQUEST_TIMEOUT_S).topics[topic].error is not None
        ):
            if time.monotonic() > end_s:
                raise RuntimeError(f"topic {topic} was created and is not there")
            time.sleep(0.05)

    def _require(self, topic: str) -> None:
        """A broker that can answer, before clients retry until their timeouts."""
        __tracebackhide__ = True
        require_name(topic, "topic")
        if self._broker is not None and not self._broker.is_running:
            raise RuntimeError(self._why(""))
        if self._broker is None and not self._was_reached:
            if (problem := problem_with(self.bootstrap_servers)) is not None:
                raise RuntimeError(problem)
            self._was_reached = True

    def _why(self, error: Exception | str) -> str:
        """The reason of an error as text; a broker that is not running comes first."""
        if self._broker is not None and not self._broker.is_running:
            code = self._broker.exit_code
            return f"the broker is not running (exit code {code}); its method start() starts it"
        if self._broker is not None and self._broker.is_paused:
            return "the broker is paused; its method resume() continues it"
        if isinstance(error, TimeoutError):
            return f"no answer within {REQUEST_TIMEOUT_S:g} s"
        reason = error if isinstance(error, str) else error.args[0]
        return str(reason.str() if hasattr(reason, "str") else reason)

    def _unknown(self, topic: str) -> str:
        """The error message about a topic that does not exist."""
        topics = ", ".join(self.topics) or "none"
        return (
            f"there is no topic {topic}; kafka.topic() creates one. Topics of this test: {topics}"
        )

    def _writable(self, topic: str) -> str:
        """The full name. Brokers create topics when they are written to: a name that is not the
        test's own would stay behind, and the next test would find the records."""
        __tracebackhide__ = True
        self._require(topic)
        full = self.topics.get(topic, topic)
        if full in self.topics.values() or full.startswith(self.prefix):
            return full
        if full not in self.admin.list_topics(timeout=REQUEST_TIMEOUT_S).topics:
            raise RuntimeError(self._unknown(topic))
        return full

    def produce(self, topic: str, rows: Rows) -> list[Record]:
        """Write records, and wait until all are acknowledged; the records, with their offsets.

        `rows` is a list, or a single row: text is one record.
        """
        __tracebackhide__ = True
        full = self._writable(topic)
        records = list(map(as_record, rows_of(rows)))
        delivered: list[Record] = []
        failed: list[str] = []

        def note(error: Any, message: Any) -> None:
            if error is None:
                delivered.append(from_message(message))
            else:
                failed.append(reason_of(error))

        try:
            for record in records:
                self._send(full, record, note)
        except load("confluent_kafka", "KafkaException") as error:
            self._forget_unwritten()
            about = self._missing_partition(full, records)
            raise RuntimeError(f"writing to {topic}: {about or self._why(error)}") from None
        self._clients.producer.flush(REQUEST_TIMEOUT_S)
        if failed or len(self._clients.producer):
            what = failed[0] if failed else f"not acknowledged within {REQUEST_TIMEOUT_S:g} s"
            self._forget_unwritten()
            about = self._missing_partition(full, records)
            raise RuntimeError(
                f"writing to {topic}: {about or self._why(what)}{self._refusal(full)}"
            )
        return delivered

    def _missing_partition(self, full: str, records: Sequence[Record]) -> str | None:
        """If writing failed because of it: librdkafka does not say which one it was."""
        named = max((each.partition for each in records), default=-1)
        if named < 0 or (self._broker is not None and not self._broker.is_running):
            return None
        count = len(self.admin.list_topics(full, timeout=REQUEST_TIMEOUT_S).topics[full].partitions)
        return (
            f"there is no partition {named}, there are 0 to {count - 1}" if named >= count else None
        )

    def _forget_unwritten(self) -> None:
        """Records of a call that has failed are not written later, among those of another one."""
        self._clients.producer.purge()
        self._clients.producer.flush(POLL_S)
        self._clients.end("Producer")

    def _refusal(self, full: str) -> str:
        """Why a topic may not take records, to be appended to the error."""
        if self._broker is not None and (not self._broker.is_running or self._broker.is_paused):
            return ""
        try:
            topics = self.admin.list_topics(full, timeout=REQUEST_TIMEOUT_S).topics
        except load("confluent_kafka", "KafkaException"):
            return ""
        for each in topics[full].partitions.values():
            if each.leader < 0:
                return f"; partition {each.id} has no leader"
            if len(each.isrs) < len(each.replicas):
                return f"; partition {each.id}: {len(each.isrs)} of {len(each.replicas)} in sync"
        leaders = {each.leader for each in topics[full].partitions.values()}
        for problem in map(self._disk_problem, sorted(leaders)):
            if problem is not None:
                return f"; {problem}"
        return ""

    def _disk_problem(self, broker_id: int) -> str | None:
        from ottla.client.admin.log_directories import disk_problem
        from ottla.client.cluster.cluster import Cluster
        from ottla.client.errors import ClientError
        from ottla.client.settings import ClientSettings

        settings = ClientSettings(self.bootstrap_servers, default_api_timeout_ms=DISK_MS)
        try:
            with Cluster(settings) as cluster:
                return disk_problem(cluster, broker_id)
        except ClientError:
            return None

    def _send(self, topic: str, record: Record, note: Any) -> None:
        __tracebackhide__ = True
        timestamp_ms = record.timestamp_ms
        if timestamp_ms < 0 and self._broker is not None and self._broker.ahead_s:
            timestamp_ms = self._broker.clock.now_ms()  # by our own clock it would be an old record
        extra = {"timestamp": timestamp_ms} if timestamp_ms >= 0 else {}
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
        self._require(topic)
        if n is not None:
            require_count("n", n, 0)
        require_seconds("timeout", timeout)
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
        self._require(topic)
        require_seconds("timeout", timeout)
        rows = rows_of(expected)
        found = self._read(self.topics.get(topic, topic), len(rows), timeout)
        problem = difference(found, rows, any_order=any_order)
        if problem is not None:
            raise AssertionError(f"{topic}: {problem}")

    def _read(
        self,
        topic: str,
        at_least: int,
        timeout: float,
        request_timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> list[Record]:
        __tracebackhide__ = True
        try:
            return read_topic(self._clients, topic, at_least, timeout, request_timeout_s)
        except NoSuchTopic:
            raise AssertionError(self._unknown(topic)) from None
        except NotReadToTheEnd as error:
            raise RuntimeError(f"reading {topic}: {self._why(str(error))}") from None
        except load("confluent_kafka", "KafkaException") as error:
            raise RuntimeError(f"reading {topic}: {self._why(error)}") from None

    def wait_lag_zero(self, group: str, topic: str, timeout: float = TIMEOUT_S) -> None:
        """Until the group has committed everything that is in the topic now.

        AssertionError if it has not within `timeout` seconds.
        """
        __tracebackhide__ = True
        self._require(topic)
        require_name(group, "group")
        require_seconds("timeout", timeout)
        group = self._names.get(group, group)
        full = self.topics.get(topic, topic)
        partition = load("confluent_kafka", "TopicPartition")
        consumer = self._clients.consumer({"group.id": group, "enable.auto.commit": False})
        try:
            numbers = consumer.list_topics(full, timeout=REQUEST_TIMEOUT_S).topics[full].partitions
            if not numbers:
                raise AssertionError(self._unknown(topic))
            partitions = [partition(full, number) for number in numbers]
            ends = [
                consumer.get_watermark_offsets(each, REQUEST_TIMEOUT_S)[1] for each in partitions
            ]
            deadline_s = time.monotonic() + timeout
            while (
                lag := sum(
                    lags(committed := consumer.committed(partitions, REQUEST_TIMEOUT_S), ends)
                )
            ) > 0:
                if time.monotonic() > deadline_s:
                    nothing = all(each.offset < 0 for each in committed)
                    why = " and has committed nothing" if nothing else ""
                    raise AssertionError(f"group {group} lags {counted(lag)} in {topic}{why}")
                time.sleep(POLL_S)
        finally:
            consumer.close()

    def dump(self) -> str:
        """What is in the topics of this test: for the report of a failure."""
        if self._broker is not None and (self._broker.is_paused or not self._broker.is_running):
            return self._why("")
        parts = []
        for name, full in self.topics.items():
            found = self._read(full, 0, 0, REPORT_S)
            left_out = max(0, len(found) - DUMPED_RECORDS)
            lines = [f"{name} ({full}): {counted(len(found))}", *(["  ..."] if left_out else [])]
            parts += [*lines, *(f"  {shown(each)}" for each in found[left_out:])]
        return "\n".join(parts)

    def close(self) -> None:
        """Delete the topics and groups of this test."""
        # When brokers end and start, clients ask again for topics that they know, and so create
        # those that were deleted.
        if self._has_own_clients:
            self._clients.end("Producer")
        self._leftovers.remove(self.topics.values())
        if self._has_own_clients:
            self._clients.end("AdminClient")
        self.topics.clear()


def reason_of(error: Any) -> str:
    """The reason why a record was refused."""
    library = load("confluent_kafka", "KafkaError")
    advice = {
        library.INVALID_RECORD: "; a compacted topic takes only records with a key",
        library.MSG_SIZE_TOO_LARGE: "; the limit is the setting max.message.bytes of the topic",
    }
    return f"{error.str()}{advice.get(error.code(), '')}"


def lags(committed: Sequence[Any], ends: Sequence[int]) -> list[int]:
    return [end - max(0, each.offset) for each, end in zip(committed, ends, strict=True)]
