"""The writers that Spark calls, called here in its place: pickled, tried again, committed late.

Spark's processes are played by one: what travels between them is pickled on its way, and tasks have
Spark's own context.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType
from tests.integration.spark.sink.committed_records import committed, committed_values

from ottla.base.ids import TopicPartition
from ottla.client.admin.transactions import list_transactions
from ottla.client.cluster.cluster import Cluster
from ottla.client.producing.producer import BatchProducer
from ottla.config.options import InvalidOption
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.spark.process_model import BATCH_ID, JOB_GROUP, QUERY_ID, WRITE_PLANNER
from ottla.spark.sink.decisions import (
    DECISION,
    UNKNOWN,
    CommitDecision,
    Origin,
    encode_decision,
    key_of,
)
from ottla.spark.sink.errors import InvalidRows, SinkError, SinkTakenOver
from ottla.spark.sink.messages import TaskWritten
from ottla.spark.sink.names import driver_id
from ottla.spark.sink.plan import BatchOfQuery
from ottla.spark.sink.setup import SinkSetup, set_up
from ottla.spark.sink.writers import (
    BatchWriter,
    StreamWriter,
    batch_of_task,
    batch_of_write,
    new_batch_writer,
    new_stream_writer,
    origin_of_task,
)

pytestmark = pytest.mark.xdist_group("apache-kafka")

SCHEMA = StructType([StructField("key", BinaryType()), StructField("value", StringType())])
T = TypeVar("T")


def travelled(value: T) -> T:
    """As the other process gets it."""
    copied: T = pickle.loads(pickle.dumps(value))
    return copied


@contextmanager
def task(
    partition: int, attempt: int = 0, properties: Mapping[str, str] | None = None
) -> Iterator[None]:
    context = TaskContext()
    context._partitionId, context._attemptNumber = partition, attempt
    context._localProperties = dict(properties or {})
    TaskContext._setTaskContext(context)
    try:
        yield
    finally:
        TaskContext._setTaskContext(None)


def rows(*values: str) -> Iterator[pa.RecordBatch]:
    keys = pa.array([value.encode() for value in values], pa.binary())
    yield pa.record_batch({"key": keys, "value": pa.array(values, pa.string())})


class Target:
    def __init__(self, servers: str, topic: str, cluster: Cluster) -> None:
        self.servers, self.topic, self.cluster = servers, topic, cluster
        self._left_open = set(self._all_open_ids())  # by other tests on the same node

    def setup(self, **options: str) -> SinkSetup:
        texts = {"kafka.bootstrap.servers": self.servers, "topic": self.topic, **options}
        return travelled(set_up(SCHEMA, texts))

    def committed(self) -> list[str]:
        return committed_values(self.servers, self.topic)

    def open_ids(self) -> list[str]:
        return [each for each in self._all_open_ids() if each not in self._left_open]

    def _all_open_ids(self) -> list[str]:
        listed = list_transactions(self.cluster, states=["Ongoing"])
        return [each.transactional_id for each in listed]


@pytest.fixture
def target(servers: str, new_topic: Callable[..., str], cluster: Cluster) -> Target:
    return Target(servers, new_topic(), cluster)


def write(writer: Any, partition: int, *values: str, attempt: int = 0) -> Any:
    with task(partition, attempt):
        return travelled(travelled(writer).write(rows(*values)))


def stream_write(
    writer: StreamWriter, batch: int, partition: int, *values: str, attempt: int = 0
) -> Any:
    properties = {QUERY_ID: f"query-{writer.setup.options.topic}", BATCH_ID: str(batch)}
    with task(partition, attempt, properties):
        return travelled(travelled(writer).write(rows(*values)))


# Batches


def test_a_batch_is_seen_when_it_is_committed_and_not_before(target: Target) -> None:
    writer = new_batch_writer(target.setup())
    messages = [write(writer, 0, "a", "b"), write(writer, 1, "c")]
    assert [each.rows for each in messages] == [2, 1]
    assert target.committed() == []
    travelled(writer).commit([*messages, None])
    assert target.committed() == ["a", "b", "c"]
    assert target.open_ids() == []


def test_a_batch_that_is_aborted_leaves_nothing_open(target: Target) -> None:
    writer = new_batch_writer(target.setup())
    reported = write(writer, 0, "a")
    write(writer, 1, "of a task that Spark never heard of again")
    assert len(target.open_ids()) == 2
    travelled(writer).abort([reported, None])
    assert target.open_ids() == []
    assert target.committed() == []
    writer.abort([])  # once more, without any message


def test_a_task_without_rows_has_no_transaction(target: Target) -> None:
    writer = new_batch_writer(target.setup())
    with task(0):
        empty = writer.write(iter(()))
    assert isinstance(empty, TaskWritten)
    assert (empty.rows, empty.transaction) == (0, None)
    writer.commit([empty, write(writer, 1, "a")])
    assert target.committed() == ["a"]


def test_of_two_attempts_the_reported_one_is_committed(target: Target) -> None:
    writer = new_batch_writer(target.setup())
    write(writer, 0, "lost")
    messages = [write(writer, 0, "counts", attempt=1)]
    writer.commit(messages)
    assert target.committed() == ["counts"]
    assert target.open_ids() == []


def test_a_write_with_a_version_is_written_once_however_often_it_is_tried(target: Target) -> None:
    options = {"txnAppId": f"job-{target.topic}", "txnVersion": "7"}
    for _ in range(2):
        setup = target.setup(**options)
        assert batch_of_write(setup).batch == 7
        assert batch_of_write(setup) == batch_of_write(setup)
        writer = new_batch_writer(setup)
        messages = [write(writer, 0, "a"), write(writer, 1, "b")]
        writer.commit(messages)
    assert [each.transaction for each in messages] == [None, None], "skipped"
    assert target.committed() == ["a", "b"]
    later = new_batch_writer(target.setup(**{**options, "txnVersion": "8"}))
    later.commit([write(later, 0, "c")])
    assert target.committed() == ["a", "b", "c"]


def test_a_write_that_will_be_skipped_is_warned_of(
    target: Target, caplog: pytest.LogCaptureFixture
) -> None:
    """A program that gives a version again, for other rows, would see success and no rows."""
    options = {"txnAppId": f"app-{target.topic}", "txnVersion": "7"}
    writer = new_batch_writer(target.setup(**options))
    writer.commit([write(writer, 0, "a")])
    assert caplog.text == ""
    for version in ("7", "6"):
        caplog.clear()
        new_batch_writer(target.setup(**{**options, "txnVersion": version}))
        assert "these rows are not written: the write of txnAppId" in caplog.text
        assert f"txnVersion {version}, and" in caplog.text


def test_writes_without_a_version_differ_from_one_another(target: Target) -> None:
    setup = target.setup()
    first, second = batch_of_write(setup), batch_of_write(setup)
    assert first.query != second.query
    assert first.batch == second.batch == 0
    assert not first.skips_older


def test_at_least_once_decides_nothing_and_is_seen_at_once(target: Target) -> None:
    writer = new_batch_writer(target.setup(delivery="at-least-once"))
    assert writer.started is None
    message = write(writer, 0, "a", "b")
    assert (message.rows, message.transaction, message.started) == (2, None, None)
    assert target.committed() == ["a", "b"]
    writer.commit([message])
    writer.abort([message])
    assert target.committed() == ["a", "b"]


def test_an_attempt_that_comes_after_its_write_has_ended_leaves_nothing(target: Target) -> None:
    writer = new_batch_writer(target.setup())
    writer.commit([write(writer, 0, "a")])
    with pytest.raises(SinkTakenOver):
        write(writer, 1, "late")
    assert target.open_ids() == []
    assert target.committed() == ["a"]


# Streams


def test_each_batch_of_a_stream_is_written_once_also_if_it_is_replayed(target: Target) -> None:
    setup = target.setup(sinkName=f"stream-{target.topic}")
    for batch, value in ((0, "a"), (0, "a"), (1, "b"), (1, "b")):
        writer = travelled(StreamWriter(setup))  # a restarted driver, for each
        assert writer.is_started
        message = stream_write(writer, batch, 0, value)
        assert message.wanted == BatchOfQuery(f"query-{target.topic}", batch)
        StreamWriter(setup).commit([message], batch)
    assert target.committed() == ["a", "b"]


def test_a_stream_that_dies_between_its_tasks_and_its_commit_is_written_by_the_next(
    target: Target,
) -> None:
    setup = target.setup(sinkName=f"stream-{target.topic}")
    dead = travelled(StreamWriter(setup))
    lost = stream_write(dead, 0, 0, "a")
    assert len(target.open_ids()) == 1
    writer = travelled(StreamWriter(setup))
    assert target.open_ids() == [], "the next driver has put that in order"
    again = stream_write(writer, 0, 0, "a")
    with pytest.raises(SinkError):
        StreamWriter(setup).commit([lost], 0)
    StreamWriter(setup).commit([again], 0)
    assert target.committed() == ["a"]


def test_an_aborted_batch_of_a_stream_can_be_written_again(target: Target) -> None:
    setup = target.setup(sinkName=f"stream-{target.topic}")
    writer = travelled(StreamWriter(setup))
    StreamWriter(setup).abort([stream_write(writer, 0, 0, "a"), None], 0)
    assert target.open_ids() == []
    again = travelled(StreamWriter(setup))
    StreamWriter(setup).commit([stream_write(again, 0, 0, "a")], 0)
    assert target.committed() == ["a"]


def test_a_stream_writer_starts_where_spark_plans_and_only_once(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = target.setup(sinkName=f"stream-{target.topic}")
    assert not new_stream_writer(setup).is_started
    monkeypatch.setattr("sys.argv", ["python", WRITE_PLANNER])
    writer = new_stream_writer(setup)
    assert writer.is_started
    assert writer.started is not None
    driver = writer.started.driver
    assert travelled(writer).started == writer.started
    writer.start()
    assert writer.started.driver == driver
    with pytest.raises(InvalidOption, match="sinkName"):
        new_stream_writer(target.setup())
    least = new_stream_writer(target.setup(delivery="at-least-once"))
    assert (least.is_started, least.started) == (True, None)


def test_a_task_outside_of_a_stream_is_refused() -> None:
    with pytest.raises(SinkError, match="writeStream"):
        batch_of_task()
    some: list[dict[str, str]] = [{}, {QUERY_ID: "q"}, {BATCH_ID: "1"}]
    for properties in some:
        with task(0, properties=properties), pytest.raises(SinkError, match="writeStream"):
            batch_of_task()
    with task(0, properties={QUERY_ID: "q", BATCH_ID: "12"}):
        assert batch_of_task() == BatchOfQuery("q", 12)


def test_a_job_group_of_a_program_is_not_taken_for_the_run_of_a_query() -> None:
    run = "422e2f4d-fced-4c8e-a191-cff2487c38c3"
    assert origin_of_task() == UNKNOWN
    for group, expected in ((run, run), ("nightly", ""), (None, "")):
        known = {QUERY_ID: "q"} if group is None else {QUERY_ID: "q", JOB_GROUP: group}
        with task(0, properties=known):
            assert origin_of_task() == Origin("q", expected)
    with task(0, properties={JOB_GROUP: run}):
        assert origin_of_task() == UNKNOWN


# Setting up


def test_options_and_columns_are_checked_before_anything_is_written() -> None:
    servers = {"kafka.bootstrap.servers": "127.0.0.1:1"}
    made = set_up(SCHEMA, {**servers, "topic": "t", "kafka.linger.ms": "5", "chunkBytes": "77"})
    assert made.options.topic == "t"
    assert made.options.chunk_bytes == 77
    assert made.settings.bootstrap_servers == "127.0.0.1:1"
    assert made.columns.topic == "t"
    with pytest.raises(InvalidRows):
        set_up(StructType([StructField("key", BinaryType())]), {**servers, "topic": "t"})
    with pytest.raises((InvalidOption, InvalidRows)):
        set_up(SCHEMA, servers)
    with pytest.raises(InvalidOption):
        set_up(SCHEMA, {**servers, "topic": "t", "delivery": "perhaps"})
    versioned = {"txnAppId": "app", "txnVersion": "1", "delivery": "at-least-once"}
    with pytest.raises(InvalidOption, match="txnVersion need delivery=exactly-once"):
        set_up(SCHEMA, {**servers, "topic": "t", **versioned})
    with pytest.raises(InvalidOption):
        set_up(SCHEMA, {"topic": "t"})


def test_a_writer_is_what_spark_expects() -> None:
    assert BatchWriter.__mro__[1].__name__ == "DataSourceArrowWriter"
    assert StreamWriter.__mro__[1].__name__ == "DataSourceStreamArrowWriter"


# More than one of everything


def test_rows_of_many_chunks_are_one_transaction_with_its_first_and_last_offsets(
    target: Target,
) -> None:
    writer = new_batch_writer(target.setup(chunkBytes="1"))
    with task(2):
        message = writer.write(batch for value in "abcdefgh" for batch in rows(value))
    assert isinstance(message, TaskWritten)
    assert message.rows == 8
    assert message.transaction is not None
    assert len(target.open_ids()) == 1
    written = message.transaction.written
    assert sum(each.records for each in written) == 8
    for each in written:
        assert (each.topic, each.first_offset) == (target.topic, 0)
        assert each.last_offset == each.records - 1
    writer.commit([message])
    assert target.committed() == list("abcdefgh")
    later = new_batch_writer(target.setup())
    again = write(later, 0, *"abcdefgh")
    assert again.transaction is not None
    for each in again.transaction.written:
        assert each.first_offset > 0
        assert each.last_offset - each.first_offset == each.records - 1
    later.abort([again])


def test_an_attempt_does_not_end_the_transaction_of_another(target: Target) -> None:
    """Spark may count attempts again: the same task and attempt writes twice."""
    writer = new_batch_writer(target.setup())
    first = write(writer, 0, "first")
    second = write(writer, 0, "second")
    assert first.transaction.transactional_id != second.transaction.transactional_id
    assert len(target.open_ids()) == 2
    writer.commit([first])
    assert target.committed() == ["first"]
    assert target.open_ids() == []


def test_a_task_that_fails_leaves_nothing_open(target: Target) -> None:
    writer = new_batch_writer(target.setup(chunkBytes="1"))

    def failing() -> Iterator[pa.RecordBatch]:
        yield from rows("a")
        raise RuntimeError("of the query")

    with task(0), pytest.raises(RuntimeError, match="of the query"):
        writer.write(failing())
    assert target.open_ids() == []
    message = write(writer, 0, "b", attempt=1)
    writer.commit([message])
    assert target.committed() == ["b"]


def test_a_decision_that_was_under_way_when_the_write_was_aborted_does_not_count(
    target: Target,
) -> None:
    """The record is written, its transaction is open: the driver that aborts takes it back."""
    sink = f"stream-{target.topic}"
    setup = target.setup(sinkName=sink)
    writer = travelled(StreamWriter(setup))
    message = stream_write(writer, 0, 0, "a")
    started = message.started
    decision = CommitDecision(sink, message.wanted.query, 0, (message.transaction,))
    batch = build_batch(
        [Record(0, 0, key_of(DECISION, sink), encode_decision(decision))], is_transactional=True
    )
    topic = TopicPartition(setup.options.decisions_topic, 0)
    with BatchProducer(target.cluster, started.driver, driver_id(sink)) as producer:
        producer.send(topic, batch, 1)
        producer.flush()
    StreamWriter(setup).abort([message], 0)
    assert target.open_ids() == []
    assert target.committed() == []
    again = travelled(StreamWriter(setup))
    assert again.started is not None
    assert again.started.state.decision is None
    StreamWriter(setup).commit([stream_write(again, 0, 0, "a")], 0)
    assert target.committed() == ["a"]


def test_rows_go_to_the_topics_and_partitions_that_they_name(
    target: Target, new_topic: Callable[..., str]
) -> None:
    other = new_topic()
    schema = StructType([
        StructField("topic", StringType()), StructField("partition", IntegerType()),
        StructField("value", StringType()),
    ])  # fmt: skip
    setup = travelled(set_up(schema, {"kafka.bootstrap.servers": target.servers}))
    writer = new_batch_writer(setup)
    named = pa.record_batch(
        {
            "topic": pa.array([target.topic, other, target.topic], pa.string()),
            "partition": pa.array([2, 0, 1], pa.int32()),
            "value": pa.array(["a", "b", "c"], pa.string()),
        }
    )
    with task(0):
        message = writer.write(iter([named]))
    writer.commit([message])
    found = [(each.partition, each.value) for each in committed(target.servers, target.topic)]
    assert found == [(1, "c"), (2, "a")]
    assert committed_values(target.servers, other) == ["b"]
