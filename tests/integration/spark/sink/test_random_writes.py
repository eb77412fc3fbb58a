"""Random batches of a stream on a real broker, without Spark: tasks that fail, are lost or come
late, drivers that die at any step, are aborted or taken over. Each batch is written exactly once.

The model is the list of rows that were decided. They can be seen from the next start of a driver
on, at the latest, and nothing but them ever; no transaction stays open after a write has ended.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import StringType, StructField, StructType
from tests.integration.spark.sink.test_writers import Target, rows, task, travelled
from tests.support.waiting import wait_until

from ottla.base.fault_points import SinkPoint
from ottla.base.ids import TopicPartition
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Retries
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.settings import READ_UNCOMMITTED
from ottla.protocol.records.batch import iterate_headers
from ottla.spark.process_model import BATCH_ID, QUERY_ID
from ottla.spark.sink import driver, task_writer
from ottla.spark.sink.errors import SinkTakenOver
from ottla.spark.sink.names import task_id
from ottla.spark.sink.outcomes import TransactionOutcome, outcome_of
from ottla.spark.sink.setup import set_up
from ottla.spark.sink.task_writer import TaskAttempt, TaskWriter
from ottla.spark.sink.writers import StreamWriter, new_batch_writer

pytestmark = pytest.mark.xdist_group("apache-kafka")

TASKS = 2
AFTER_THE_DECISION = frozenset(
    {SinkPoint.DECIDED, SinkPoint.FIRST_COMMITTED, SinkPoint.ALL_COMMITTED, SinkPoint.DONE}
)


class Died(BaseException):
    """The process ends here: nothing of it catches this."""


class Points:
    """Dies at one point, if a test requests it."""

    def __init__(self) -> None:
        self.armed: SinkPoint | None = None

    def reach(self, point: SinkPoint) -> None:
        if point is self.armed:
            raise Died


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Points:
    points = Points()
    for module in (driver, task_writer):
        monkeypatch.setattr(module, "reach", points.reach)
    return points


@pytest.fixture
def target(servers: str, new_topic: Callable[..., str], cluster: Cluster) -> Target:
    return Target(servers, new_topic(), cluster)


class Stream:
    """One query with its checkpoint: a batch is tried until a driver has come to its end."""

    def __init__(self, target: Target, points: Points, random: Random) -> None:
        self.target, self.points, self.random = target, points, random
        self.setup = target.setup(sinkName=f"random-{target.topic}", chunkBytes="1")
        self.decided: list[str] = []
        self.earlier: list[StreamWriter] = []

    def run_batch(self, number: int) -> None:
        wanted = [[f"{number}-{each}-{row}" for row in "ab"] for each in range(TASKS)]
        if self.random.random() < 0.2:
            wanted[0] = []
        while not self.tried(number, wanted):
            pass
        assert self.target.committed() == sorted(self.decided)
        assert self.target.open_ids() == []

    def tried(self, number: int, wanted: list[list[str]]) -> bool:
        """Whether Spark has received that the batch is written."""
        writer = travelled(StreamWriter(self.setup))
        assert self.target.open_ids() == [], "a start ends what others left"
        self.late_attempt(number)
        self.earlier.append(writer)
        ending = self.random.choice(("commit", "commit", "die", "abort", "vanish"))
        messages = [self.run_task(writer, number, at, each) for at, each in enumerate(wanted)]
        if ending == "commit":
            StreamWriter(self.setup).commit(messages, number)
            self.note(number, wanted)
            return True
        if ending == "abort":
            StreamWriter(self.setup).abort([*messages, None], number)
            assert self.target.open_ids() == []
        if ending == "die":
            self.die(messages, number, wanted)
        return False

    def die(self, messages: list[Any], number: int, wanted: list[list[str]]) -> None:
        self.points.armed = self.random.choice((SinkPoint.DECIDING, *AFTER_THE_DECISION))
        try:
            StreamWriter(self.setup).commit(messages, number)
        except Died:
            if self.points.armed in AFTER_THE_DECISION:
                self.note(number, wanted)
            if self.random.random() < 0.3:  # or only the commit failed, and Spark aborts
                self.points.armed = None
                StreamWriter(self.setup).abort(messages, number)
                assert self.target.open_ids() == []
                assert self.target.committed() == sorted(self.decided)
        finally:
            self.points.armed = None

    def note(self, number: int, wanted: list[list[str]]) -> None:
        new = [value for each in wanted for value in each]
        if not any(value.startswith(f"{number}-") for value in self.decided):
            self.decided += new

    # Tasks

    def write(self, writer: StreamWriter, number: int, at: int, batches: Any, attempt: int) -> Any:
        query = f"query-{self.target.topic}"
        with task(at, attempt, {QUERY_ID: query, BATCH_ID: str(number)}):
            return travelled(travelled(writer).write(batches))

    def run_task(self, writer: StreamWriter, number: int, at: int, values: list[str]) -> Any:
        """The message of the attempt that counts; others fail, or send no message."""
        attempt = 0
        while (fate := self.random.choice(("counts", "counts", "fails", "lost"))) != "counts":
            if fate == "lost":
                self.write(writer, number, at, batches_of(values), attempt)
            else:
                self.fail_task(writer, number, at, values, attempt)
            attempt += self.random.choice((0, 1))  # a stage that runs again counts again
        return self.write(writer, number, at, batches_of(values), attempt)

    def fail_task(
        self, writer: StreamWriter, number: int, at: int, values: list[str], attempt: int
    ) -> None:
        def failing() -> Iterator[pa.RecordBatch]:
            yield from batches_of(values)
            raise Died

        before = set(self.target.open_ids())
        try:
            self.write(writer, number, at, failing(), attempt)
        except Died:
            assert set(self.target.open_ids()) == before

    def late_attempt(self, number: int) -> None:
        """Of a driver that was taken over: it leaves nothing."""
        if self.earlier and self.random.random() < 0.3:
            late = self.random.choice(self.earlier)
            with pytest.raises(SinkTakenOver):
                self.write(late, number + 1, 0, rows("late"), 0)
            assert self.target.open_ids() == []


def batches_of(values: list[str]) -> Iterator[pa.RecordBatch]:
    return (batch for value in values for batch in rows(value))


@pytest.mark.parametrize("seed", range(4))
def test_each_batch_is_written_once_whatever_happens_to_tasks_and_drivers(
    target: Target, points: Points, seed: int
) -> None:
    stream = Stream(target, points, Random(seed))
    for number in range(2):
        stream.run_batch(number)


def test_tasks_take_ids_of_their_own_also_before_their_transactions_are_open(
    target: Target,
) -> None:
    writer = new_batch_writer(target.setup())
    assert writer.started is not None
    sink, taken = writer.started.sink, []
    for partition, attempt in ((1, 0), (0, 1), (3, 2)):
        with task(partition, attempt):
            message: Any = writer.write(rows("v"))
        taken.append(message.transaction.transactional_id)
    assert taken == [task_id(sink, 1, 0, 0), task_id(sink, 0, 0, 1), task_id(sink, 3, 0, 2)]
    writer.abort([])


def test_what_became_of_a_transaction_is_known_at_once_where_its_topics_are(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pause(_retries: Retries, _why: str) -> None:
        raise AssertionError("nothing has to be waited for")

    writer = new_batch_writer(target.setup())
    with task(0):
        message: Any = writer.write(rows("a", "b"))
    writer.commit([message])
    assert target.committed() == ["a", "b"]
    monkeypatch.setattr(Retries, "pause", pause)
    assert outcome_of(target.cluster, message.transaction, 0) == TransactionOutcome(True)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts what the process has open")
@pytest.mark.parametrize("fails", [False, True])
def test_a_task_closes_its_connections_however_it_ends(target: Target, fails: bool) -> None:
    """The process of a task may run many more, and keep what they raised."""
    setup = target.setup(chunkBytes="1")
    started = new_batch_writer(setup).started

    def some_rows() -> Iterator[pa.RecordBatch]:
        yield from rows("a")
        yield from rows("b")
        if fails:
            raise Died

    before = open_files()
    kept: list[object] = []
    for attempt in range(3):
        writer = TaskWriter(setup, started, TaskAttempt(0, attempt))
        kept.append(writer)
        try:
            writer.write(some_rows())
        except Died as error:
            kept.append(error)
        assert open_files() == before


def test_rows_without_a_key_fill_a_batch_before_the_next_partition(
    target: Target,
) -> None:
    schema = StructType([StructField("value", StringType())])
    texts = {"kafka.bootstrap.servers": target.servers, "topic": target.topic}
    limit, count, size = 10_000, 100, 500
    setup = set_up(schema, {**texts, "kafka.batch.size": str(limit), "delivery": "at-least-once"})
    values = pa.record_batch({"value": pa.array(["v" * size] * count, pa.string())})
    with task(0):
        new_batch_writer(setup).write(iter([values]))
    places = [TopicPartition(target.topic, each) for each in range(3)]
    ends = latest_offsets(target.cluster, places, READ_UNCOMMITTED)
    assert sum(ends.values()) == count
    assert all(ends.values()), "each receives rows"
    sizes = [size for each in places for size in batch_sizes(target.cluster, each, ends[each])]
    assert all(each <= limit for each in sizes)
    assert len(sizes) <= 1.5 * count * size / limit, "batches are nearly full"


def batch_sizes(cluster: Cluster, partition: TopicPartition, end: int) -> list[int]:
    return [
        header.batch_length
        for fetched in fetch_range(cluster, partition, 0, end, isolation_level=READ_UNCOMMITTED)
        for _, header in iterate_headers(fetched.data)
    ]


def test_the_records_of_a_transaction_are_reported_with_batches_and_gaps(target: Target) -> None:
    """Several batches to one partition, and those of another task in between."""
    setup = target.setup(chunkBytes="1", **{"kafka.batch.size": "1000"})
    writer = new_batch_writer(setup)
    chunk, count = 20, 3
    places = [TopicPartition(target.topic, each) for each in range(3)]

    def has_records() -> bool:
        return any(latest_offsets(target.cluster, places, READ_UNCOMMITTED).values())

    def large_chunks(name: str) -> Iterator[pa.RecordBatch]:
        for number in range(count):
            values = [f"{name}{number:03}{row:03}" + "v" * 200 for row in range(chunk)]
            keys = pa.array([b"the same"] * chunk, pa.binary())
            yield pa.record_batch({"key": keys, "value": pa.array(values, pa.string())})
            if name == "outer" and number < count - 1:
                wait_until(has_records, "the first batch is written")
                inner.append(writer.write(large_chunks("inner")))

    inner: list[Any] = []
    with task(0):
        outer: Any = writer.write(large_chunks("outer"))
    reported = [message.transaction.written for message in (outer, *inner)]
    assert [len(each) for each in reported] == [1, 1, 1]
    ranges = [(each.first_offset, each.last_offset, each.records) for (each,) in reported]
    whole = chunk * count
    assert [records for _, _, records in ranges] == [whole] * 3
    assert ranges[0][:2] == (0, 3 * whole - 1), "all others lie in between"
    assert [last - first + 1 for first, last, _ in ranges[1:]] == [whole, whole]
    writer.commit([outer, inner[0]])
    assert len(target.committed()) == 2 * whole
    assert target.open_ids() == []
